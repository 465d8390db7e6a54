/// The best sets of one size (explorer.hpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "explorer.hpp"

namespace subspectra::search {

bool Pool::offer(std::vector<Index> units, double value) {
  if (!std::isfinite(value)) return false;
  for (const auto& set : sets_) {
    if (set.units == units) return false;
  }
  const auto better = [](const RankedSet& a, const RankedSet& b) {
    const double scale = kTieFraction * std::max(std::abs(a.value), std::abs(b.value));
    return std::abs(a.value - b.value) > scale ? a.value > b.value : a.units < b.units;
  };
  RankedSet set{std::move(units), value};
  const bool full = static_cast<Index>(sets_.size()) >= capacity_;
  if (full && !better(set, sets_.back())) return false;
  if (full) sets_.pop_back();
  // By insertion: a tie within a fraction is no strict order, so that no sorting algorithm may be asked.
  auto at = sets_.end();
  while (at != sets_.begin() && better(set, *(at - 1))) --at;
  sets_.insert(at, std::move(set));
  if (static_cast<Index>(sets_.size()) >= capacity_) threshold_ = sets_.back().value;
  return true;
}

}  // namespace subspectra::search
