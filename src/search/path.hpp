#pragma once
/// One set a size: what a search finds, with what is known of it.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// Bounds for sets of one size, each with its name.
struct SizeBounds {
  using Named = std::pair<std::string, double>;
  std::vector<Named> upper;                       ///< no such set has a larger criterion
  std::vector<Named> lower_any;                   ///< every such set has at least this
  std::vector<Named> lower_best;                  ///< the best such set has at least this
  [[nodiscard]] const Named* best_upper() const;  ///< the smallest; null when there is none
};

/// A certificate is complete when the bound meets the value to this fraction.
inline constexpr double kCertifiedGap = 1e-9;

/// A set that was found beside the best one (`pool`).
struct PoolSet {
  std::vector<Index> features;  ///< ascending
  double objective = 0.0;
};

struct PathEntry {
  std::vector<Index> features;  ///< ascending columns of the data set
  std::vector<Index> units;     ///< ascending groups (`groups`); empty when features are chosen one by one
  double objective = 0.0;       ///< the criterion recomputed on the set
  std::optional<double> upper_bound;  ///< no set of this size has a larger objective
  std::string bound;                  ///< the name of the bound that gave it: "single-drop", "perron", ...
  std::optional<SizeBounds> bounds;   ///< all of them, under `bounds`
  std::optional<double> given_objective;  ///< `refit`: of the loadings that were given
  std::string pass;                       ///< "forward", "backward", "swaps", "exact" or ""
  std::vector<PoolSet> pool;              ///< the best sets of this size, this one first, under `pool`
  std::optional<std::size_t> record;      ///< in Selection::lambda_path, whose set this is
  Matrix loadings;                        ///< k x r, x'B_S x = 1, the largest entry of each column positive
  /// The size that `k` counts: groups where there are any, else features.
  [[nodiscard]] Index k() const { return static_cast<Index>(units.empty() ? features.size() : units.size()); }
  /// (upper_bound - objective)/objective; 0 when both are 0, nothing when only the objective is 0 or no bound
  /// exists.
  [[nodiscard]] std::optional<double> gap() const;
};

/// What a search through a tree did.
struct SearchCounts {
  std::uint64_t nodes = 0, incumbent_updates = 0, open_nodes = 0;
};

}  // namespace subspectra
