#pragma once
/// Choosing features: what a method is told, what it answers, and the call.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <subspectra/dataset.hpp>
#include <subspectra/export.hpp>
#include <subspectra/method.hpp>
#include <subspectra/options.hpp>
#include <subspectra/run_control.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

/// What to do with a missing value (NaN).
enum class MissingPolicy { kError, kMean, kDrop };
template <>
struct EnumNames<MissingPolicy> {
  static constexpr std::array<std::pair<MissingPolicy, std::string_view>, 3> kNames = {
      {{MissingPolicy::kError, "error"}, {MissingPolicy::kMean, "mean"}, {MissingPolicy::kDrop, "drop"}}};
};

struct PrepareOptions {
  MissingPolicy missing = MissingPolicy::kError;
  bool standardize = false;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("missing", o.missing,
          "what to do with missing values: refuse, put the column's training mean, or drop the row");
    field("standardize", o.standardize,
          "divide every column by its standard deviation (learned on training rows)");
  }
};

/// Features that enter and leave together.
struct FeatureGroups;

/// What every method is told, besides its own options.
struct SelectOptions {
  KRange k;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string groups;
  /// What `groups` names, read once by the caller for the features of its table; null without groups.
  std::shared_ptr<const FeatureGroups> feature_groups;
  Criterion criterion = Criterion::kLargest;
  Index components = 0;
  Ridge ridge;
  bool bounds = false;
  bool certify = true;  ///< not an option: cross-validation, which has no use for bounds, leaves them out
  bool ridge_needed = true;  ///< not an option: nobody asks for the ridge of a fold in which a method fits its own rule
  std::uint64_t seed = 0;
  int threads = 0;
  ByteSize memory_limit;
  PrepareOptions prepare;  ///< of the rows, before the method sees them

  void validate() const;  ///< throws InvalidArgument; k is checked against the candidates later
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("k", o.k, "number of features, one or a range; default 1:min(p, 50)");
    field(
        "include", o.include,
        "features that are always chosen (they count in k): names with commas between, or @FILE with one a line");
    field("exclude", o.exclude,
          "features that are never chosen, and text columns to leave out: names, or @FILE with one a line");
    field(
        "groups", o.groups,
        "CSV file with the header feature,group: the features of a group enter and leave together, and k counts groups");
    field("criterion", o.criterion,
          "the objective of a set S with T = M_S' B_S^-1 M_S: largest eigenvalue, trace, or log det(I + T)");
    field(
        "ridge", o.ridge,
        "number added to the diagonal of the within-class covariance; auto adds 1e-3 times its smallest nonzero eigenvalue when it is singular and nothing otherwise");
    field(
        "components", o.components,
        "loadings kept: discriminants of LDA (0: all, min(classes - 1, k)); principal components, each on a set of its own after deflation (0: one)");
    field("bounds", o.bounds, "all upper and lower bounds of every size, with their names");
    field("seed", o.seed, "of every random choice");
    field("threads", o.threads, "0 uses every core; the answer does not depend on it");
    field("memory_limit", o.memory_limit,
          "refuse work that needs more, for example 4G; default: what is free");
  }
};

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

/// The objective after an iteration, and how many features were still in play where the method drops them.
struct TracePoint {
  double objective = 0.0;
  std::optional<Index> features;
};

/// What is known of relevance weights beside the weights (Q-alpha).
struct RelevanceReport {
  double objective = 0.0;  ///< trace(Q'A'A Q) = alpha'G alpha, or the variant's own criterion
  /// The equivalent form |A - QQ'A|^2 - |A|^2 = -objective, by its terms; where the criterion is the plain
  /// one and A, rows x rows, is affordable.
  std::optional<double> residual_energy, affinity_energy;
  double trace = 0.0;        ///< of A = sum_i alpha_i m_i m_i': what the trace bounds on generalization see
  double equal_trace = 0.0;  ///< the same at equal weights
  std::vector<double> eigenvalues;     ///< of Q'A Q by falling size; empty for blocks of classes
  Index clusters = 0;                  ///< columns of Q that were used
  Index cut = 0;                       ///< features above the largest relative fall of the weights; 0: none
  double cut_ratio = 1.0;              ///< the last weight above over the first below
  double weight_below = 0.0;           ///< sum of the weights below the cut,
  std::optional<double> bound;         ///< at most this: sqrt(1'G 1/objective)
  std::optional<double> bound_lemma;   ///< <= Lemma 13: sqrt(|M_2 M_2'|_F^2/objective)
  Index negative = 0;                  ///< weights below zero
  std::vector<double> starts;          ///< the objective of every start
  Index products = 0, passes = 0;      ///< with G; over the data
  std::optional<Index> kernel_rank;    ///< of the factor of the kernel matrix
  std::optional<double> kernel_error;  ///< trace(V - R R')/trace(V)
};

/// What a search through a tree did.
struct SearchCounts {
  std::uint64_t nodes = 0, incumbent_updates = 0, open_nodes = 0;
};

/// A set for every size, ascending.
struct SizePath {
  std::vector<PathEntry> sets;
  /// PCA with several components: the paths of the second, third, ... one.
  std::vector<std::vector<PathEntry>> further_components;
};

/// Fits along falling lambdas, and the sets they leave.
struct PenaltyPath {
  std::vector<PathEntry> sets;            ///< ascending size; each names its fit
  std::vector<FittedDiscriminants> fits;  ///< falling lambda
  /// The fit that the method stands by: of the largest size asked for, or of the lambda given or chosen.
  std::optional<std::size_t> chosen;
};

/// Components over many features, in which k counts columns.
struct Components {
  std::vector<FittedDiscriminants> fit;  ///< one; none where the rows have no component
};

namespace detail {
struct MethodRecord;  // what the method reports of itself, for the result file
}

/// What any method answers.
struct Selection {
  std::string method;
  Status status = Status::kInterrupted;  // starts pessimistic: every method says how it ended
  double ridge = 0.0;                    ///< the number that was added to diag(B)
  KRange sizes;             ///< that can be: those asked for, less what is below the included ones
  bool size_fixed = false;  ///< a lambda that was given or chosen, or the method, leaves k nothing to say
  std::variant<SizePath, PenaltyPath, Components> answer;
  std::vector<Index> ranking;     ///< best first; empty where the method does not rank
  std::vector<double> weights;    ///< p scores, or empty
  std::vector<TracePoint> trace;  ///< of the fit the method stands by
  std::optional<SearchCounts> search;
  std::optional<RelevanceReport> relevance;
  double prepare_s = 0.0, search_s = 0.0;
  std::vector<std::string> warnings;
  std::shared_ptr<detail::MethodRecord> record;  ///< the method's options as used, for the result file

  /// The sets, ascending size; none for Components.
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<PathEntry>& sets() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<PathEntry>& sets();
  /// The set of this size; throws InvalidArgument where there is none.
  [[nodiscard]] SUBSPECTRA_EXPORT const PathEntry& at(Index k) const;
  /// The fits of a PenaltyPath or of Components; none otherwise.
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<FittedDiscriminants>& fits() const;
  /// The fit the method stands by, or null.
  [[nodiscard]] SUBSPECTRA_EXPORT const FittedDiscriminants* chosen_fit() const;
  /// The fits are what the method is: its rule works in their space.
  [[nodiscard]] bool own_rule() const { return !std::holds_alternative<SizePath>(answer); }
  [[nodiscard]] bool has_answer() const { return !sets().empty() || !fits().empty(); }
  /// As `subspectra.selection/1`.
  [[nodiscard]] SUBSPECTRA_EXPORT std::string to_json(const Dataset& data,
                                                      const SelectOptions& options = {}) const;
};

/// Runs a method on a table. Throws InvalidArgument (options), BadInput (values, labels), Infeasible
/// (constraints that no set satisfies), Error (memory).
[[nodiscard]] SUBSPECTRA_EXPORT Selection select(const Dataset& data, const Method& method,
                                                 const SelectOptions& options = {},
                                                 const RunControl& control = RunControl());

}  // namespace subspectra
