#include "verify/set_judge.hpp"

#include <algorithm>
#include <cmath>

namespace subspectra::verify {
namespace {

/// A set whose value is not known to this fraction is not decided by it.
constexpr double kLeastDigits = 1e-6;

}  // namespace

void SetJudge::begin(double bound, std::set<std::vector<Index>> known) {
  bound_ = bound;
  known_ = std::move(known);
  found_.reset();
  condition_ = 0.0;
}

bool SetJudge::judge(const std::vector<Index>& places) {
  if (!known_.empty()) {
    std::vector<Index> sorted = places;
    std::sort(sorted.begin(), sorted.end());
    if (known_.contains(sorted)) return false;
  }
  DenseValue dense = dense_value(pair_, places, criterion_);
  if (!dense.feasible) return false;
  if (dense.value - dense.allowance() > bound_) {
    found_ = {places, std::move(dense)};
    return true;
  }
  if (dense.sharp > kLeastDigits &&
      dense.value + dense.allowance() > bound_ + kLeastDigits * std::abs(bound_))
    condition_ = std::max(condition_, dense.condition);
  return false;
}

BoundAnswer SetJudge::answer(BoundAnswer::End otherwise) const {
  if (found_) return {.end = BoundAnswer::End::kFound, .found = found_};
  if (otherwise == BoundAnswer::End::kNone && condition_ > 0.0)
    return {.end = BoundAnswer::End::kUndecided, .condition = condition_};
  return {.end = otherwise};
}

}  // namespace subspectra::verify
