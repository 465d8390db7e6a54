#include "search/pool.hpp"

#include <algorithm>
#include <cmath>

#include "core/fingerprint.hpp"

namespace subspectra::search {

Pool Pool::fresh_copy() const {
  Pool copy = *this;
  copy.is_fresh_copy_ = true;
  return copy;
}

bool Pool::offer(std::vector<Index> units, double value) {
  if (!std::isfinite(value)) return false;
  const auto better = [](const RankedSet& a, const RankedSet& b) {
    const double scale = kTieFraction * std::max(std::abs(a.value), std::abs(b.value));
    return std::abs(a.value - b.value) > scale ? a.value > b.value : a.units < b.units;
  };
  RankedSet set{std::move(units), value};
  const bool full = static_cast<Index>(sets_.size()) >= capacity_;
  // Ties of ties would lead away from what has been seen: a set that enters for its units alone ties with the
  // largest value that ever stood in its place.
  const auto ties_at_most = [](double found, double seen) {
    return found >= seen - kTieFraction * std::abs(seen);
  };
  if (full && (!better(set, sets_.back()) || !ties_at_most(set.value, threshold_))) return false;
  Fingerprint fingerprint;
  fingerprint.add(set.units.data(), set.units.size() * sizeof(Index));
  const std::uint64_t hash = fingerprint.number();
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (hashes_[i] == hash && sets_[i].units == set.units) return false;
  }
  if (full) {
    sets_.pop_back();
    hashes_.pop_back();
  }
  // By insertion: a tie within a fraction is no strict order, so that no sorting algorithm may be asked.
  auto at = sets_.end();
  while (at != sets_.begin() && better(set, *(at - 1))) {
    if (at - 1 == sets_.begin() && !ties_at_most(set.value, best_seen_)) break;
    --at;
  }
  best_seen_ = std::max(best_seen_, set.value);
  hashes_.insert(hashes_.begin() + (at - sets_.begin()), hash);
  if (is_fresh_copy_) entered_.push_back(set);
  sets_.insert(at, std::move(set));
  if (static_cast<Index>(sets_.size()) >= capacity_) threshold_ = std::max(threshold_, sets_.back().value);
  return true;
}

}  // namespace subspectra::search
