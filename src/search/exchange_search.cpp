#include "search/exchange_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace subspectra::search {
namespace {

/// `units` without `out`, ascending.
std::vector<Index> set_without(std::vector<Index> units, Index out) {
  units.erase(std::find(units.begin(), units.end(), out));
  return units;
}

/// `units` with `in` in place of `out`, ascending.
std::vector<Index> exchanged(const std::vector<Index>& units, Index out, Index in) {
  auto changed = set_without(units, out);
  changed.insert(std::lower_bound(changed.begin(), changed.end(), in), in);
  return changed;
}

bool holds(const std::vector<Index>& ascending, Index unit) {
  return std::binary_search(ascending.begin(), ascending.end(), unit);
}

}  // namespace

ExchangeWalk walk_by_exchanges(RankedSet start, ExchangeRule& rule, Index most, const RunControl& control,
                               const std::function<void(const RankedSet&)>& visited) {
  ExchangeWalk walk{.end = std::move(start)};
  while (walk.exchanges < most && !control.should_stop()) {
    auto next = rule.next(walk.end);
    if (!next) break;
    walk.end = std::move(*next);
    ++walk.exchanges;
    if (visited) visited(walk.end);
  }
  return walk;
}

bool CheapestLosses::affordable(Index units, Index k, const ExchangeTuning& tuning) {
  const auto size = static_cast<double>(k);
  return static_cast<double>(units) * size * size * size <= tuning.affordable_flops;
}

std::optional<RankedSet> CheapestLosses::next(const RankedSet& at) {
  const auto k = static_cast<Index>(at.units.size());
  std::vector<std::pair<double, Index>> leaving;
  for (const Index u : at.units) {
    if (k == 1 || holds(units_.include, u)) continue;
    leaving.emplace_back(-explorer_.value(set_without(at.units, u)), u);
  }
  if (k == 1 && units_.include.empty()) leaving.emplace_back(0.0, at.units.front());
  std::sort(leaving.begin(), leaving.end());
  leaving.resize(std::min(leaving.size(), tuning_.leaving));
  RankedSet better = at;
  for (const auto& [value, out] : leaving) {
    for (Index in = 0; in < units_.count(); ++in) {
      if (holds(at.units, in)) continue;
      if (control_.should_stop()) return std::nullopt;
      auto units = exchanged(at.units, out, in);
      const double worth = explorer_.value(units);
      if (worth > better.value * (1.0 + kTieFraction)) better = {std::move(units), worth};
    }
  }
  if (better.units == at.units) return std::nullopt;
  return better;
}

/// The best set of one unit more, or of one less; nothing where there is none.
std::optional<std::vector<Index>> Detours::changed(const std::vector<Index>& set, bool enters) const {
  std::vector<Index> best;
  double most = -kInfinity;
  const auto offer = [&](std::vector<Index> units) {
    const double value = explorer_.value(units);
    if (!(value > most)) return;
    most = value;
    best = std::move(units);
  };
  if (enters) {
    for (Index in = 0; in < units_.count(); ++in) {
      if (holds(set, in)) continue;
      auto units = set;
      units.insert(std::lower_bound(units.begin(), units.end(), in), in);
      offer(std::move(units));
    }
  } else if (set.size() > 1) {
    for (const Index out : set) {
      if (!holds(units_.include, out)) offer(set_without(set, out));
    }
  }
  if (best.empty() || control_.should_stop()) return std::nullopt;
  return best;
}

std::optional<RankedSet> Detours::next(const RankedSet& at) {
  for (Index length = 1; length <= tuning_.detour; ++length) {
    for (const bool up : {true, false}) {
      std::optional<std::vector<Index>> set = at.units;
      for (Index step = 0; set && step < 2 * length; ++step) set = changed(*set, up == (step < length));
      if (!set || *set == at.units) continue;
      RankedSet there{std::move(*set), 0.0};
      there.value = explorer_.value(there.units);
      CheapestLosses rule(explorer_, units_, tuning_, control_);
      RankedSet end = walk_by_exchanges(std::move(there), rule, tuning_.most, control_).end;
      if (end.value > at.value * (1.0 + kTieFraction)) return end;
    }
  }
  return std::nullopt;
}

std::optional<RankedSet> LowestOfTies::next(const RankedSet& at) {
  for (auto out = at.units.rbegin(); out != at.units.rend(); ++out) {
    if (holds(units_.include, *out)) continue;
    for (Index in = 0; in < *out; ++in) {
      if (holds(at.units, in) || !explorer_.alike(*out, in)) continue;
      auto units = exchanged(at.units, *out, in);
      const double value = explorer_.value(units);
      if (std::abs(value - at.value) > kTieFraction * at.value) continue;
      return RankedSet{std::move(units), value};
    }
  }
  return std::nullopt;
}

}  // namespace subspectra::search
