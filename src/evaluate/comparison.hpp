#pragma once
/// Differences of errors over the same folds.
#include <span>
#include <vector>

#include <subspectra/evaluate.hpp>

namespace subspectra {

/// Rows, by weight, of the mean training and the mean held-out set.
struct SplitSizes {
  double train = 0.0, test = 0.0;
  [[nodiscard]] double rows() const { return train + test; }
};

/// The standard error of the mean of n differences over held-out sets whose training sets overlap: the
/// corrected resampled variance (1/n + test/train) s^2 of Nadeau and Bengio, "Inference for the
/// generalization error", Machine Learning 52, 2003. NaN below two.
[[nodiscard]] double corrected_standard_error(std::span<const double> differences, const SplitSizes& sizes);

/// One method at the size chosen for it.
struct JudgedMethod {
  std::string name;
  Index k = 0;
  double error = 0.0;               ///< over all held-out rows
  std::vector<double> fold_errors;  ///< the same folds for all
  std::vector<double> row_errors;   ///< the same rows for all, a sample where they are many; NaN: never asked
};

/// The standard error that the rows alone leave to the mean of a - b over `rows` of them: a few folds that
/// happen to err alike say nothing of other rows. For answers that are right or wrong it is McNemar's,
/// sqrt((b + c)/n - ((b - c)/n)^2)/sqrt(n) with b and c rows that one of the two gets wrong alone.
[[nodiscard]] double standard_error_of_rows(std::span<const double> a, std::span<const double> b,
                                            double rows);

/// The methods by rising error, those listed first before equals.
[[nodiscard]] std::vector<MethodRank> rank_methods(const std::vector<JudgedMethod>& methods,
                                                   const SplitSizes& sizes);
/// Every pair, in that order.
[[nodiscard]] std::vector<MethodComparison> compare_methods(const std::vector<JudgedMethod>& methods,
                                                            const SplitSizes& sizes);

}  // namespace subspectra
