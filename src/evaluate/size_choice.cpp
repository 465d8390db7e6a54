#include "evaluate/size_choice.hpp"

#include <cmath>
#include <limits>

namespace subspectra {

std::optional<SizeChoice> one_standard_error_rule(std::span<const JudgedSize> sizes) {
  if (sizes.empty()) return std::nullopt;
  SizeChoice choice;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i].error < sizes[choice.best].error) choice.best = i;
  }
  const JudgedSize& best = sizes[choice.best];
  const double most = best.error + (std::isfinite(best.standard_error) ? best.standard_error : 0.0);
  while (!(sizes[choice.one_standard_error].error <= most)) ++choice.one_standard_error;
  return choice;
}

double RunningMean::standard_error() const {
  return count_ < 2.0 ? std::numeric_limits<double>::quiet_NaN()
                      : std::sqrt(squares_ / (count_ - 1.0) / count_);
}

}  // namespace subspectra
