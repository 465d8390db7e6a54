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
  const bool open = !dense.feasible || (dense.sharp > kLeastDigits / 10.0 &&
                                        std::abs(dense.value - bound_) <= dense.allowance());
  if (open) {  // these digits do not decide
    if (!dense.feasible && has_dependent(places)) return false;
    auto sharper = sharper_value(pair_, places, criterion_);
    if (sharper && sharper->dependent) {
      remember_dependent(places);
      return false;
    }
    if (sharper && sharper->feasible) dense = std::move(*sharper);
  }
  if (!dense.feasible) {
    condition_ = std::max(condition_, 1.0 / kEpsilon);
    return false;
  }
  if (dense.value - dense.allowance() > bound_) {
    found_ = {places, std::move(dense)};
    return true;
  }
  if (dense.sharp > kLeastDigits &&
      dense.value + dense.allowance() > bound_ + kLeastDigits * std::abs(bound_))
    condition_ = std::max(condition_, dense.condition);
  return false;
}

/// Copies are in many sets: what is known of a few features is not asked again.
bool SetJudge::has_dependent(std::vector<Index> places) const {
  std::sort(places.begin(), places.end());
  return std::any_of(dependent_.begin(), dependent_.end(), [&](const auto& few) {
    return std::includes(places.begin(), places.end(), few.begin(), few.end());
  });
}

/// As few of them as still depend on each other.
void SetJudge::remember_dependent(std::vector<Index> places) {
  constexpr std::size_t kMost = 1000;
  if (dependent_.size() >= kMost) return;
  std::sort(places.begin(), places.end());
  for (std::size_t i = places.size(); i-- > 0 && places.size() > 1;) {
    std::vector<Index> fewer = places;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    const auto without = sharper_value(pair_, fewer, criterion_);
    if (without && without->dependent) places = std::move(fewer);
  }
  dependent_.push_back(std::move(places));
}

BoundAnswer SetJudge::answer(BoundAnswer::End otherwise) const {
  if (found_) return {.end = BoundAnswer::End::kFound, .found = found_};
  if (otherwise == BoundAnswer::End::kNone && condition_ > 0.0)
    return {.end = BoundAnswer::End::kUndecided, .condition = condition_};
  return {.end = otherwise};
}

}  // namespace subspectra::verify
