#pragma once
/// What people ask of a size that cross-validation chose, as text: evaluate and fit end with it.
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/evaluate.hpp>

namespace subspectra::cli {

/// What a reader of a run that was cut short has to know before any number; "" of a whole one.
[[nodiscard]] std::string cut_short_text(const Evaluation& evaluation);

/// Indented by two; "" where no size could be judged.
[[nodiscard]] std::string choice_text(const EvaluationChoice& choice,
                                      const std::vector<std::string>& classes);

/// The rows of a table by true class (row) and class named (column); of very many classes the most frequent
/// mistakes.
[[nodiscard]] std::string confusion_text(const DenseMatrix& confusion, const std::vector<std::string>& truths,
                                         const std::vector<std::string>& answers, std::string_view indent);

/// Several methods by their errors, with the differences over the same folds.
[[nodiscard]] std::string ranking_text(const Evaluation& evaluation);

/// "0.2757 ± 0.0078"; without a standard error, as of a single held-out set, the number and a dash.
[[nodiscard]] std::string with_error(double value, double standard_error);

}  // namespace subspectra::cli
