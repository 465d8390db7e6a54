#pragma once
/// Every selection method by name. A method is one function from a complete table to scores or sets; what all
/// methods share (constraints, the path, its objectives and loadings, warnings) is done once in
/// select_features.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/greedy.hpp"
#include "search/units.hpp"
#include "select/selection.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

/// What a method works on: a table without missing values and what may be chosen from it.
struct SelectionInput {
  const Dataset& data;
  const SelectionOptions& options;
  const Pencil& pencil;           ///< what sets are judged by: LDA, or PCA where the method asks for it
  std::vector<Index> candidates;  ///< ascending: neither constant nor excluded
  std::vector<Index> include;     ///< ascending subset of candidates
  SearchUnits units;              ///< the candidates one by one, or the groups of `groups`
  KRange k;                       ///< resolved, in units: 1 <= lo <= hi <= units.count()
};

/// Covariance input instead of a table: a pair (A, B), or A alone (B = I).
struct MatrixProblem {
  std::string source;
  FeatureNames names;
  Matrix a;
  std::optional<Matrix> b;
};

struct MethodInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool needs_labels = true;
  bool two_classes_only = false;
  bool variance = false;        ///< judged by the covariance of the set (PCA), labels or not
  bool takes_matrices = false;  ///< runs on a MatrixProblem
  bool takes_groups = false;    ///< moves groups as a whole
  bool proves = false;          ///< an exact search: stopped early it has an answer and a bound
  /// Whether these options decide how many features there are, so that `k` does not (may be empty: never).
  std::function<bool(const OptionTexts&)> fixes_size = {};
  std::vector<OptionDescription> options;  ///< the method's own
  /// Fills weights and ranking (rankers) or path sets (searches), status, method_options, warnings.
  std::function<void(const SelectionInput&, const OptionTexts&, const RunControl&, Selection&)> run;
};

[[nodiscard]] const std::vector<MethodInfo>& methods();
/// Throws InvalidArgument with near names.
[[nodiscard]] const MethodInfo& find_method(std::string_view name);
/// The method used when none is named.
[[nodiscard]] std::string_view default_method(bool has_labels);

/// Upper bounds (and under `bounds` the lower ones) for every entry of the path; the status becomes optimal
/// when all gaps are closed. `root` may be null.
void certify(const SelectionInput& input, const RootLosses* root, const RunControl& control,
             Selection& selection);

/// Runs `method` on `data`, which has no missing values (see prepare.hpp). `texts` may hold any method's
/// options; this one takes its own. Throws InvalidArgument, BadInput (labels), Infeasible (constraints),
/// Error (memory).
[[nodiscard]] Selection select_features(const Dataset& data, const MethodInfo& method,
                                        const SelectionOptions& options, const OptionTexts& texts,
                                        const RunControl& control);
/// The same on matrices, for methods that take them.
[[nodiscard]] Selection select_features(const MatrixProblem& problem, const MethodInfo& method,
                                        const SelectionOptions& options, const OptionTexts& texts,
                                        const RunControl& control);
/// The table a MatrixProblem stands for: its names and source, no rows.
[[nodiscard]] Dataset placeholder(const MatrixProblem& problem);

/// Variational renormalization of given supports, as a Selection with one entry each: objective and loadings
/// on every set. Where loadings are given too, their own quotient stands in `given_objective`.
struct GivenSet {
  std::vector<std::string> names;
  Vector loadings;  ///< empty, or one a name
};
[[nodiscard]] Selection refit_sets(const Dataset& data, const std::vector<GivenSet>& sets,
                                   const SelectionOptions& options);
[[nodiscard]] Selection refit_sets(const MatrixProblem& problem, const std::vector<GivenSet>& sets,
                                   const SelectionOptions& options);

}  // namespace subspectra
