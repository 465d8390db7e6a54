#include "search/incumbents.hpp"

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "search/exchange_search.hpp"

namespace subspectra::search {

Incumbents::Incumbents(const ExactRun& run, const Cutoff& cutoff) : cutoff_(cutoff) {
  for (Index k = run.k.lo; k <= run.k.hi; ++k) sizes_.push_back({.k = k, .pool = Pool(run.asked.pool)});
}

void Incumbents::offer_start(const std::vector<std::vector<RankedSet>>& start, const Explorer& explorer) {
  for (std::size_t i = 0; i < std::min(start.size(), sizes_.size()); ++i) {
    for (const auto& set : start[i]) sizes_[i].pool.offer(set.units, explorer.value(set.units));
  }
}

void Incumbents::improve_by_exchanges(const Explorer& explorer, const SearchUnits& units,
                                      const ExchangeTuning& tuning, int threads, const RunControl& control) {
  parallel_for(static_cast<Index>(sizes_.size()), threads, [&](Index i) {
    auto& size = sizes_[static_cast<std::size_t>(i)];
    if (size.pool.sets().empty() || !CheapestLosses::affordable(units.count(), size.k, tuning)) return;
    CheapestLosses rule(explorer, units, tuning, control);
    static_cast<void>(
        walk_by_exchanges(size.pool.sets().front(), rule, tuning.most, control,
                          [&](const RankedSet& set) { size.pool.offer(set.units, set.value); }));
  });
}

std::vector<Index> Incumbents::improve_by_detours(const std::vector<char>& which, const Explorer& explorer,
                                                  const SearchUnits& units, const ExchangeTuning& tuning,
                                                  int threads, const RunControl& control) {
  std::vector<char> better(sizes_.size(), 0);
  parallel_for(static_cast<Index>(sizes_.size()), threads, [&](Index i) {
    auto& size = sizes_[static_cast<std::size_t>(i)];
    if (which[static_cast<std::size_t>(i)] == 0 || size.pool.sets().empty() ||
        !CheapestLosses::affordable(units.count(), size.k, tuning))
      return;
    const double before = size.pool.best();
    Detours rule(explorer, units, tuning, control);
    static_cast<void>(
        walk_by_exchanges(size.pool.sets().front(), rule, tuning.most, control,
                          [&](const RankedSet& set) { size.pool.offer(set.units, set.value); }));
    better[static_cast<std::size_t>(i)] = size.pool.best() > before ? 1 : 0;
  });
  std::vector<Index> sizes;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (better[i] != 0) sizes.push_back(sizes_[i].k);
  }
  return sizes;
}

void Incumbents::prefer_lowest_of_ties(const Explorer& explorer, const SearchUnits& units) {
  const RunControl unstoppable;  // the answer of a stopped search must not depend on when it was stopped
  for (auto& size : sizes_) {
    if (size.pool.sets().empty()) continue;
    LowestOfTies rule(explorer, units);
    const auto walk =
        walk_by_exchanges(size.pool.sets().front(), rule, std::numeric_limits<Index>::max(), unstoppable);
    size.pool.offer(walk.end.units, walk.end.value);
  }
}

bool Incumbents::merge(Index k, const SizeFindings& found) {
  auto& size = at(k);
  size.discarded = std::max(size.discarded, found.discarded);
  const double best = size.pool.best();
  for (const auto& set : found.pool.entered()) size.pool.offer(set.units, set.value);
  return size.pool.best() > best;
}

void Incumbents::offer(Index k, const std::vector<RankedSet>& sets) {
  for (const auto& set : sets) at(k).pool.offer(set.units, set.value);
}

bool Incumbents::closes(Index k, double bound) {
  auto& size = at(k);
  const double threshold = size.pool.threshold();
  if (bound > cutoff_.with_gap(threshold)) return false;
  if (bound > cutoff_.exact(threshold)) size.discarded = std::max(size.discarded, bound);
  return true;
}

double Incumbents::upper_bound(Index k, double open) const {
  const auto& size = of(k);
  const double bound = std::max({size.pool.best(), size.discarded, open});
  // Closer than a tie is what a search proves.
  return bound <= size.pool.best() * (1.0 + kTieFraction) ? size.pool.best() : bound;
}

bool Incumbents::discarded_too_much(Index k) const {
  const auto& size = of(k);
  return size.discarded > cutoff_.with_gap(size.pool.threshold());
}

}  // namespace subspectra::search
