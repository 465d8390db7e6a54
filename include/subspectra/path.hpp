#pragma once
/// What searches and fits answer with: sets of features with their certificates, and fitted discriminants.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <subspectra/export.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

/// Bounds for sets of one size, each with its name.
struct SizeBounds {
  using Named = std::pair<std::string, double>;
  std::vector<Named> upper;                                         ///< no such set has a larger criterion
  std::vector<Named> lower_any;                                     ///< every such set has at least this
  std::vector<Named> lower_best;                                    ///< the best such set has at least this
  [[nodiscard]] SUBSPECTRA_EXPORT const Named* best_upper() const;  ///< the smallest; null when there is none
};

/// A certificate is complete when the bound meets the value to this fraction.
inline constexpr double kCertifiedGap = 1e-9;

/// A set that was found beside the best one.
struct PoolSet {
  std::vector<Index> features;  ///< ascending
  double objective = 0.0;
};

/// A set of one size: the features, what they are worth, and how much better a set of that size could be.
struct PathEntry {
  std::vector<Index> features;        ///< ascending columns of the data set
  std::vector<Index> units;           ///< ascending groups; empty when features are chosen one by one
  double objective = 0.0;             ///< the criterion recomputed on the set
  std::optional<double> upper_bound;  ///< no set of this size has a larger objective
  std::string bound;                  ///< the name of the bound that gave it: "single-drop", "perron", ...
  std::optional<SizeBounds> bounds;   ///< all of them, where they were asked for
  std::optional<double> given_objective;  ///< refit: of the loadings that were given
  std::string pass;                       ///< "forward", "backward", "swaps", "exact" or ""
  std::vector<PoolSet> pool;              ///< the best sets of this size, this one first, where asked for
  std::optional<std::size_t> record;      ///< the fit of a PenaltyPath whose set this is
  DenseMatrix loadings;                   ///< k x r, x'B_S x = 1, the largest entry of each column positive

  /// The size: groups where there are any, else features.
  [[nodiscard]] Index k() const { return static_cast<Index>(units.empty() ? features.size() : units.size()); }
  /// (upper_bound - objective)/objective; 0 when both are 0, nothing when only the objective is 0 or no bound
  /// exists.
  [[nodiscard]] std::optional<double> known_gap() const {
    if (!upper_bound) return std::nullopt;
    if (objective == 0.0) return *upper_bound == 0.0 ? std::optional(0.0) : std::nullopt;
    return (*upper_bound - objective) / objective;
  }
  /// The same as a number: infinity where nothing is known.
  [[nodiscard]] double gap() const { return known_gap().value_or(kInfinity); }
  /// Proven to be the best of its size.
  [[nodiscard]] bool certified() const { return gap() <= kCertifiedGap; }
};

/// Discriminants that a method fitted itself (optimal scoring), at one lambda, or components (pca).
struct FittedDiscriminants {
  double lambda = 0.0;            ///< 0 where the method has none (components)
  std::vector<Index> features;    ///< ascending columns of the data set: the rows of B that are not zero
  DenseMatrix matrix;             ///< |features| x L, in the user's units
  std::vector<double> row_norms;  ///< of these rows in the papers' coordinates, centred columns of unit norm
  Index entries = 0;              ///< that are not zero
  double objective = 0.0;         ///< the method's own, in the papers' scale
  std::optional<double> duality_gap;  ///< relative to the objective at B = 0, where the method has one
  Index iterations = 0;
  bool converged = false;
};

/// What a search through a tree did.
struct SearchCounts {
  std::uint64_t nodes = 0, incumbent_updates = 0, open_nodes = 0;
};

}  // namespace subspectra
