#pragma once
/// The way every method is run: constraints, candidates and ridge before it, the sets of a ranking and the
/// warnings after it.
#include <functional>
#include <string>
#include <vector>

#include <subspectra/searches.hpp>

#include "data/prepare.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// `auto`: largest for two classes and without labels (matrices have none), wilks for more.
[[nodiscard]] Criterion resolved_criterion(Criterion asked, const Dataset& data);

/// Throws BadInput where every class has one row, of which nothing can be learned: the column was hardly
/// meant.
void require_rows_of_some_class(const Dataset& data);

/// What answers the problem in place of the method's own `run`; null: nothing does. Tests and fuzzers hand in
/// a search that goes a way of its own (search_exactly).
using MethodRun = std::function<Selection(const Problem&, const RunControl&)>;

/// Runs `method` on rows without missing values. Throws InvalidArgument, BadInput (labels), Infeasible
/// (constraints), Error (memory).
[[nodiscard]] Selection run_method(const RowStatistics& rows, const Method& method,
                                   const SelectOptions& options, const RunControl& control,
                                   const MethodRun& run = nullptr);

/// The ridge that a selection left open, over all columns that it could choose.
[[nodiscard]] RidgeAmount open_ridge(const RowStatistics& rows, const SelectOptions& options);

/// The same on a table without missing values, and on matrices.
[[nodiscard]] Selection select_features(const Dataset& prepared, const Method& method,
                                        const SelectOptions& options, const RunControl& control);
[[nodiscard]] Selection select_features(const MatrixProblem& problem, const Method& method,
                                        const SelectOptions& options, const RunControl& control,
                                        const MethodRun& run = nullptr);

/// What select() of selection.hpp calls without `run`.
[[nodiscard]] Selection select(const Dataset& data, const Method& method, const SelectOptions& options,
                               const RunControl& control, const MethodRun& run);
[[nodiscard]] Selection select(const Covariances& matrices, const Method& method,
                               const SelectOptions& options, const RunControl& control, const MethodRun& run);

/// Discriminants that were fitted on a prepared table in the units of the table it was made from: a prepared
/// column is (x - centre)/scale, so that a coefficient b of it is b/scale of x, but for a constant.
/// Components stay what they are, unit vectors of what was analysed.
void to_table_units(const Preparation& preparation, Selection& selection);

/// Matrices are used as they are: throws InvalidArgument where something is to be done to columns.
void refuse_preparation(const PrepareOptions& options);

/// A set that someone else chose.
struct GivenSet {
  std::vector<std::string> names;
  Vector loadings;  ///< empty, or one a name
};
/// Variational renormalization of given supports, as a Selection with one set each: objective and loadings.
/// Where loadings are given too, their own quotient stands in `given_objective`.
[[nodiscard]] Selection refit_sets(const RowStatistics& rows, const std::vector<GivenSet>& sets,
                                   const SelectOptions& options);
[[nodiscard]] Selection refit_sets(const Dataset& prepared, const std::vector<GivenSet>& sets,
                                   const SelectOptions& options);
[[nodiscard]] Selection refit_sets(const MatrixProblem& problem, const std::vector<GivenSet>& sets,
                                   const SelectOptions& options);

/// Features that enter and leave together, as the options say it: read before, named in an array, or in a
/// file. Null: each by itself. Throws InvalidArgument, BadInput.
[[nodiscard]] std::shared_ptr<const FeatureGroups> groups_of(const SelectOptions& options,
                                                             const FeatureNames& names);

/// The warning where bounds are asked for and `command` shows none.
[[nodiscard]] std::string no_bounds_sentence(std::string_view command);

/// Throws InvalidArgument where a method that is run several times keeps the state of its search in a file
/// : a file holds the state of one.
void require_no_state(const Method& method);

}  // namespace subspectra
