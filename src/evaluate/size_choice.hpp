#pragma once
/// How many features, from the errors at every size: the one rule of `evaluate`, `fit` and the permutations.
#include <optional>
#include <span>

#include "core/types.hpp"

namespace subspectra {

/// One size of one method.
struct JudgedSize {
  Index k = 0;
  double error = 0.0;
  double standard_error = 0.0;  ///< not finite: of a single held-out set, and counted as 0
};

/// Places among the sizes that were judged.
struct SizeChoice {
  std::size_t best = 0;                ///< the first of those with the smallest error
  std::size_t one_standard_error = 0;  ///< the first whose error is at most one standard error above it
};

/// `sizes` by ascending k; nothing of none.
[[nodiscard]] std::optional<SizeChoice> one_standard_error_rule(std::span<const JudgedSize> sizes);

/// Mean and variance of a stream of values (Welford), so that a hundred thousand folds take no memory.
class RunningMean {
 public:
  void add(double value) {
    count_ += 1.0;
    const double difference = value - mean_;
    mean_ += difference / count_;
    squares_ += difference * (value - mean_);
  }
  [[nodiscard]] double standard_error() const;  ///< of the mean; NaN below two values

 private:
  double count_ = 0.0, mean_ = 0.0, squares_ = 0.0;
};

}  // namespace subspectra
