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

/// Which rows a repeat of this evaluation holds out.
[[nodiscard]] SplitOptions splits_of(const EvaluateOptions& options);

/// Throws BadInput when the table has no labels, or one class only; `command` needs them.
void require_class_labels(const Dataset& data, std::string_view command);

/// The sizes of a method by the rule of evaluate and fit: `rows` are those of the method, ascending. Without
/// rows the sizes are 0.
[[nodiscard]] EvaluationChoice choose_k(const std::string& method, std::span<const EvaluationRow> rows);

/// `data` has passed check_values. Throws BadInput when a class has fewer rows than folds.
[[nodiscard]] Evaluation evaluate_methods(const Dataset& data, const std::vector<Method>& methods,
                                          const SelectOptions& selection, const PrepareOptions& prepare,
                                          const Classifier& classifier, const EvaluateOptions& options,
                                          const RunControl& control);

}  // namespace subspectra
