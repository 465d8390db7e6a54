#include "search/exact_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "io/part_file.hpp"
#include "search/search_parts.hpp"

namespace subspectra::search {
namespace {

/// Fewer visits at a time where their matrices are large: the answer is the same.
int visits_at_a_time(const Explorer& explorer, const ExactRun& run, double share_of_memory) {
  const int threads = resolve_threads(run.threads);
  const double bytes = explorer.visit_bytes();
  if (!(bytes > 0.0)) return threads;
  const double room = share_of_memory * static_cast<double>(memory_budget(run.memory_limit));
  return static_cast<int>(std::clamp(room / bytes, 1.0, static_cast<double>(threads)));
}

/// `bound` holds for the size as well, and the best set stays below what is proven.
void lower_bound_of(ExactSize& size, double bound) {
  size.upper_bound = std::min(size.upper_bound, bound);
  if (!size.pool.empty()) size.upper_bound = std::max(size.upper_bound, size.pool.front().value);
}

}  // namespace

ExactEngine::ExactEngine(const Explorer& explorer, const SearchUnits& units, const ExactRun& run,
                         const RunControl& control, const EngineTuning& tuning)
    : explorer_(explorer),
      units_(units),
      run_(run),
      control_(control),
      tuning_(tuning),
      cutoff_(explorer.slack(), run.asked.gap),
      state_(run, cutoff_),
      scheduler_(explorer, units, run),
      journal_(state_, explorer, control, tuning.heartbeat_s),
      checkpoint_(explorer, units, run),
      open_bytes_(
          (run.asked.checkpoint.empty() ? tuning.open_nodes_share : tuning.open_nodes_share_with_checkpoint) *
          static_cast<double>(memory_budget(run.memory_limit))),
      workers_(visits_at_a_time(explorer, run, tuning.visits_share)) {}

ExactResult ExactEngine::run(const std::vector<std::vector<RankedSet>>& start,
                             const std::vector<double>& known_bounds) {
  scheduler_.plant_roots(state_, control_);
  if (checkpoint_.resumes()) checkpoint_.resume(state_);
  scheduler_.begin(state_, checkpoint_.resumes());
  state_.incumbents.offer_start(start, explorer_);
  if (run_.exchange) {
    state_.incumbents.improve_by_exchanges(explorer_, units_, tuning_.exchange, run_.threads, control_);
  }
  journal_.tell_start();
  const Status status = run_.parts != nullptr ? search_in_parts() : search(false);
  checkpoint_.save(state_);
  return answer(status, known_bounds);
}

Status ExactEngine::explore_alone(const SearchState& cut, const OpenNode& node) {
  state_.incumbents = cut.incumbents;
  state_.open.add(node);
  scheduler_.begin(state_, true);  // sizes have had their own trees before the cut
  return search(false);
}

/// Where sizes share a tree, it is that one that is cut: a node of it serves all of them.
bool ExactEngine::at_the_cut() const {
  return !scheduler_.own_trees() && state_.open.count() >= tuning_.cut_nodes;
}

Status ExactEngine::search_in_parts() {
  const Status before = search(true);
  if (before != Status::kOptimal) return before;
  SearchParts parts(*run_.parts, run_.part_name, state_);
  if (run_.parts->merging()) {
    parts.take_in(units_.count(), state_);
    return Status::kOptimal;
  }
  ExactRun alone = run_;
  alone.parts = nullptr;
  alone.threads = 1;
  const RunControl silent = control_.silent();
  const auto own = parts.own_nodes();
  std::atomic<std::size_t> done = 0;
  std::atomic<bool> stopped = false;
  parallel_for(static_cast<Index>(own.size()), workers_, [&](Index i) {
    if (stopped) return;
    const std::size_t node = own[static_cast<std::size_t>(i)];
    ExactEngine engine(explorer_, units_, alone, silent, tuning_);
    if (engine.explore_alone(state_, parts.node(node)) != Status::kOptimal) {
      stopped = true;
      return;
    }
    parts.keep(node, engine.state());
    const double share = static_cast<double>(++done) / static_cast<double>(own.size());
    control_.report("exact search", share,
                    [&] { return fmt::format("{} of {} subtrees", done.load(), own.size()); });
  });
  return stopped ? control_.status_or(Status::kInterrupted) : Status::kOptimal;
}

/// Rounds, until nothing is open or a limit is hit.
Status ExactEngine::search(bool to_the_cut) {
  checkpoint_.start_clock(control_.elapsed_s());
  while (state_.open.anything_open(state_.incumbents)) {
    if (to_the_cut && at_the_cut()) break;
    const auto stop = control_.check_limits();
    if (stop != RunControl::Stop::kGoOn || scheduler_.out_of_nodes(state_))
      return control_.status_or(Status::kNodeLimit);
    const auto visits = scheduler_.next_round(state_);
    if (visits.empty()) {  // every size that is open has had its share in a tree of its own
      improve_open_sizes();
      scheduler_.join_sizes(state_);
      continue;
    }
    auto findings = explore(visits);
    merge(visits, findings);
    if (run_.k.lo == run_.k.hi && state_.round == 1) improve_open_sizes();
    state_.open.drop_closed(state_.incumbents);
    journal_.tell_closed();
    journal_.heartbeat();
    checkpoint_.save_if_due(state_, control_);
  }
  return Status::kOptimal;
}

/// Sizes that have turned out to be hard are worth a better set to beat than the start has.
void ExactEngine::improve_open_sizes() {
  if (!explorer_.shares_sizes()) return;
  const auto open = state_.open.open_bounds();
  std::vector<char> which(open.size());
  std::transform(open.begin(), open.end(), which.begin(),
                 [](double bound) { return bound > -kInfinity ? 1 : 0; });
  for (const Index k : state_.incumbents.improve_by_detours(which, explorer_, units_, tuning_.exchange,
                                                            run_.threads, control_)) {
    ++state_.incumbent_updates;
    journal_.tell_better(k);
  }
}

/// Every visit with the sets known now, side by side.
std::vector<VisitFindings> ExactEngine::explore(const std::vector<NodeVisit>& visits) const {
  std::vector<VisitFindings> findings;
  findings.reserve(visits.size());
  for (const auto& visit : visits) {
    findings.emplace_back(state_.incumbents.of(visit.from.node.k).pool);
    for (const auto& size : visit.from.node.also_serves)
      findings.back().also_served.emplace_back(state_.incumbents.of(size.k).pool);
  }
  parallel_for(static_cast<Index>(visits.size()), workers_, [&](Index i) {
    const auto& visit = visits[static_cast<std::size_t>(i)];
    auto& found = findings[static_cast<std::size_t>(i)];
    if (control_.should_stop()) {
      found.open.push_back(visit.from.node);
      return;
    }
    explorer_.explore(visit.from.node, visit.budget, cutoff_, control_, found);
  });
  return findings;
}

/// What the visits of a round found and left, in their order.
void ExactEngine::merge(const std::vector<NodeVisit>& visits, std::vector<VisitFindings>& findings) {
  ++state_.round;
  std::vector<Index> better;  // sizes
  const auto merge_size = [&](Index k, const SizeFindings& found) {
    if (!state_.incumbents.merge(k, found)) return;
    ++state_.incumbent_updates;
    better.push_back(k);
  };
  for (std::size_t i = 0; i < visits.size(); ++i) {
    const auto& from = visits[i].from.node;
    auto& found = findings[i];
    const auto nodes = std::max<std::uint64_t>(1, found.nodes);
    state_.nodes += nodes;
    scheduler_.count(from.k, nodes);
    merge_size(from.k, found);
    for (std::size_t j = 0; j < from.also_serves.size(); ++j)
      merge_size(from.also_serves[j].k, found.also_served[j]);
    for (auto& node : found.open) {
      if (from.also_serves.empty()) node.bound = std::min(node.bound, from.bound);
      state_.open.add(std::move(node));
    }
  }
  state_.open.drop_closed_shared(state_.incumbents);
  // Only now are all nodes back that the bounds are taken over.
  for (const Index k : better) journal_.tell_better(k);
  if (!state_.open.depth_first() && state_.open.bytes() > open_bytes_) state_.open.go_depth_first();
}

ExactResult ExactEngine::answer(Status status, const std::vector<double>& known_bounds) {
  auto& incumbents = state_.incumbents;
  incumbents.prefer_lowest_of_ties(explorer_, units_);
  ExactResult answer;
  answer.nodes = state_.nodes;
  answer.incumbent_updates = state_.incumbent_updates;
  answer.resumed = checkpoint_.resumes();
  answer.checkpoint_problem = checkpoint_.trouble();
  state_.open.drop_closed_shared(incumbents);
  state_.open.drop_closed(incumbents);
  answer.open_nodes = state_.open.count();
  const auto open = state_.open.open_bounds();
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto& size = incumbents.sizes()[i];
    ExactSize entry;
    for (auto set : size.pool.sets()) {
      set.value = explorer_.monotone_image_to_criterion(set.value);
      entry.pool.push_back(std::move(set));
    }
    const double bound = incumbents.upper_bound(size.k, open[i]);
    if (!entry.pool.empty()) {
      entry.upper_bound =
          bound <= size.pool.best() ? entry.pool.front().value : explorer_.monotone_image_to_criterion(bound);
    } else if (open[i] > -kInfinity) {
      entry.upper_bound = explorer_.monotone_image_to_criterion(bound);
    }
    answer.sizes.push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < known_bounds.size(); ++i) lower_bound_of(answer.sizes[i], known_bounds[i]);
  share_bounds(answer.sizes);
  answer.status = Status::kOptimal;
  for (std::size_t i = 0; i < open.size(); ++i) {
    auto& entry = answer.sizes[i];
    const auto& size = incumbents.sizes()[i];
    // A bound from outside the tree may be the proof.
    if (run_.asked.pool == 1 && !entry.pool.empty() &&
        entry.upper_bound <= entry.pool.front().value * (1.0 + kTieFraction)) {
      entry.upper_bound = entry.pool.front().value;
    } else if (open[i] > -kInfinity) {
      answer.status = worst(answer.status, status);
    } else if (!entry.pool.empty() &&
               size.discarded > size.pool.threshold() * (1.0 + kTieFraction)) {  // of the last in the pool
      answer.status = worst(answer.status, Status::kGapReached);
    }
  }
  return answer;
}

/// What is proven for one size bounds its neighbours: every set of k lies in one of k + 1, which is no worse;
/// and where Explorer::bound_of_next() says so, the other way round.
void ExactEngine::share_bounds(std::vector<ExactSize>& sizes) const {
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const Index k = run_.k.lo + static_cast<Index>(i) - 1;
    lower_bound_of(sizes[i], explorer_.bound_of_next(k, sizes[i - 1].upper_bound));
  }
  for (std::size_t i = sizes.size(); i-- > 1;) lower_bound_of(sizes[i - 1], sizes[i].upper_bound);
}

}  // namespace subspectra::search
