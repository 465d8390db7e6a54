#include "search/scheduler.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "linalg/tiled.hpp"

namespace subspectra::search {

Scheduler::Scheduler(const Explorer& explorer, const SearchUnits& units, const ExactRun& run)
    : explorer_(explorer),
      run_(run),
      units_(units.count()),
      root_kept_(units.include.begin(), units.include.end()),
      own_tree_nodes_(static_cast<std::size_t>(run.k.hi - run.k.lo + 1), 0) {
  for (Index u = 0; u < units.count(); ++u) {
    if (!std::binary_search(units.include.begin(), units.include.end(), u))
      root_free_.push_back(static_cast<std::int32_t>(u));
  }
}

void Scheduler::plant_roots(SearchState& state, const RunControl& control) {
  std::optional<double> bound;
  const auto forced = static_cast<Index>(root_kept_.size());
  for (Index k = run_.k.lo; k <= run_.k.hi; ++k) {
    if (k < forced || k > units_) continue;
    OpenNode root{.k = k, .kept = root_kept_, .free = root_free_};
    if (!bound || !explorer_.bound_ignores_size()) bound = root_bound(root, control);
    root.bound = *bound;
    state.open.add(std::move(root));
  }
}

double Scheduler::root_bound(const OpenNode& root, const RunControl& control) const {
  if (control.should_stop()) return explorer_.quick_bound(root);
  try {
    return explorer_.bound(root);
  } catch (const linalg::Stopped&) {
    return explorer_.quick_bound(root);
  }
}

void Scheduler::begin(const SearchState& state, bool resumed) {
  own_trees_ = !resumed && explorer_.shares_sizes() && run_.k.hi > run_.k.lo;
  nodes_before_ = state.nodes;
}

bool Scheduler::out_of_nodes(const SearchState& state) const {
  return run_.asked.node_limit > 0 && state.nodes - nodes_before_ >= run_.asked.node_limit;
}

bool Scheduler::may_go_on_alone(Index k) const {
  return !own_trees_ || own_tree_nodes_[place(k)] < explorer_.own_tree_nodes();
}

std::vector<NodeVisit> Scheduler::next_round(SearchState& state) const {
  std::vector<NodeVisit> visits;
  const std::size_t most = explorer_.visits();
  std::uint64_t left = run_.asked.node_limit > 0 ? run_.asked.node_limit - (state.nodes - nodes_before_)
                                                 : std::numeric_limits<std::uint64_t>::max();
  const auto add = [&](QueuedNode node) {
    const auto budget = std::min(left, explorer_.budget());
    visits.push_back({std::move(node), budget});
    left -= budget;
  };
  state.open.drop_closed(state.incumbents);
  std::size_t own = 0;
  for (Index k = run_.k.lo; k <= run_.k.hi; ++k) own += state.open.has(k) ? 1 : 0;
  const std::uint64_t affordable = (left - 1) / explorer_.budget() + 1;
  const auto shared = std::min<std::uint64_t>(most - std::min(own, most / 2), affordable);
  for (auto& node : state.open.take_shared(static_cast<std::size_t>(shared), state.round))
    add(std::move(node));
  const auto sizes = static_cast<std::uint64_t>(run_.k.hi - run_.k.lo + 1);
  const std::uint64_t first = state.round % sizes;
  for (bool any = true; any && visits.size() < most && left > 0;) {
    any = false;
    for (std::uint64_t i = 0; i < sizes && visits.size() < most && left > 0; ++i) {
      const Index k = run_.k.lo + static_cast<Index>((first + i) % sizes);
      if (!state.open.has(k) || !may_go_on_alone(k)) continue;
      add(state.open.take(k));
      any = true;
    }
  }
  return visits;
}

void Scheduler::join_sizes(SearchState& state) {
  own_trees_ = false;
  OpenNode common;
  const auto open = state.open.open_bounds();
  if (std::count_if(open.begin(), open.end(), [](double bound) { return bound > -kInfinity; }) < 2) return;
  for (Index k = run_.k.lo; k <= run_.k.hi; ++k) {
    const double bound = open[place(k)];
    if (bound == -kInfinity) continue;
    state.open.clear(k);
    if (common.k == 0) {
      common = {.k = k, .kept = root_kept_, .free = root_free_, .bound = bound};
    } else {
      common.also_serves.push_back({.k = k, .bound = bound});
    }
  }
  state.open.add(std::move(common));
}

void Scheduler::count(Index k, std::uint64_t nodes) {
  if (own_trees_) own_tree_nodes_[place(k)] += nodes;
}

}  // namespace subspectra::search
