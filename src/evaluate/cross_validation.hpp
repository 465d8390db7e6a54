#pragma once
/// Honest evaluation: selection, imputation and scaling are repeated inside every training fold.
/// docs/evaluation.md
#include <span>
#include <string>
#include <subspectra/evaluate.hpp>
#include <vector>

#include "classify/classifier.hpp"
#include "data/prepare.hpp"
#include "resample/folds.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {

/// Which rows a repeat of this evaluation holds out, by what it was asked for.
[[nodiscard]] SplitOptions splits_of(const EvaluateOptions& options);

/// Which rows are held out of this table.
struct FittingSplits {
  SplitOptions splits;
  std::string why;  ///< they are not the 5 folds of the default; "" where they are, or were asked for
};
/// Folds that were asked for are those; else 5, or as many as the smallest class has rows. Of a table with a
/// class of one row every row is held out by itself, as long as it is small; in a larger one some fold holds
/// that row.
[[nodiscard]] FittingSplits fitting_splits(const Dataset& data, const EvaluateOptions& options);

/// Throws BadInput when the table has no labels, or one class only; `command` needs them.
void require_class_labels(const Dataset& data, std::string_view command);

/// The sizes of a method by the rule of evaluate and fit: `rows` are those of the method, ascending. Without
/// rows the sizes are 0.
[[nodiscard]] EvaluationChoice choose_k(const std::string& method, std::span<const EvaluationRow> rows);

class PartWork;

/// `data` has passed check_values. Throws BadInput when a class has fewer rows than folds. With `work` the
/// training sets of one part alone are run, which leaves nothing but the status and what is kept there, or
/// none: what all parts have kept becomes the evaluation of one run.
[[nodiscard]] Evaluation evaluate_methods(const Dataset& data, const std::vector<Method>& methods,
                                          const SelectOptions& selection, const PrepareOptions& prepare,
                                          const Classifier& classifier, const EvaluateOptions& options,
                                          const RunControl& control, PartWork* work = nullptr);

}  // namespace subspectra
