#include "select/exact_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <system_error>

#include "core/atomic_file.hpp"
#include "core/text.hpp"
#include "device/plugin.hpp"
#include "search/exact.hpp"
#include "search/precise_search.hpp"
#include "select/column_parts.hpp"
#include "select/record.hpp"
#include "select/search_methods.hpp"
#include "select/select.hpp"
#include "select/sparse_pca_methods.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

namespace {

/// The options of both methods are one list: Espca's as those of Eslda, for which all that follows is
/// written.
Eslda as_searched(const Espca& own) { return options_as<Eslda>(own); }

void require_search_options(const Eslda& own) {
  constexpr Index kLargestPool = 1000;
  if (own.pool < 1 || own.pool > kLargestPool)
    throw InvalidArgument({.field = "pool",
                           .value = fmt::to_string(own.pool),
                           .rule = fmt::format("{{value}}, but 1 to {} sets are possible", kLargestPool)});
  if (!(own.gap >= 0.0) || !std::isfinite(own.gap)) {
    throw InvalidArgument(
        {.field = "gap",
         .value = fmt::to_string(own.gap),
         .rule = "{value}, but 0 or a positive fraction is needed, as in 0.01 for one percent"});
  }
  if (!(own.checkpoint_every >= 0.0)) {
    throw InvalidArgument({.field = "checkpoint_every",
                           .value = fmt::to_string(own.checkpoint_every),
                           .rule = "{value}, but a number of seconds from 0 up is needed"});
  }
  std::error_code ignored;
  if (std::filesystem::is_fifo(own.checkpoint, ignored)) {
    throw InvalidArgument({.field = "checkpoint",
                           .value = own.checkpoint,
                           .rule = "{value} is a pipe, and a state is written again and again",
                           .way_out = "name a file"});
  }
  for (const auto* path : {&own.checkpoint, &own.resume}) {
    if (*path != "-") continue;
    throw InvalidArgument({.field = path == &own.resume ? "resume" : "checkpoint",
                           .value = *path,
                           .rule = "{value}, but the state of a search needs a file of its own"});
  }
}

constexpr Index kStartSwaps = 100;

/// The units that are best alone, the forced ones before them: a set of any size at no cost.
std::vector<Index> by_single_scores(const Problem& problem) {
  std::vector<double> scores;
  for (const auto& members : problem.units().members) {
    double score = 0.0;
    for (const Index j : members) score += problem.pencil().a_diagonal()[j] / problem.pencil().diagonal()[j];
    scores.push_back(score);
  }
  for (const Index u : problem.units().include) scores[static_cast<std::size_t>(u)] = kInfinity;
  std::vector<Index> order(scores.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  return order;
}

/// The sets of a greedy search, as units, for every size: what the tree has to beat. Sizes that the search
/// was stopped before get the units that are best alone, so that every size has an answer.
std::vector<std::vector<RankedSet>> known_sets(const Problem& problem, const KRange& sizes,
                                               const std::vector<PathEntry>& path) {
  std::vector<Index> unit_of(static_cast<std::size_t>(problem.data().features()), -1);
  for (Index u = 0; u < problem.units().count(); ++u) {
    for (const Index j : problem.units().members[static_cast<std::size_t>(u)])
      unit_of[static_cast<std::size_t>(j)] = u;
  }
  std::vector<std::vector<RankedSet>> start(static_cast<std::size_t>(sizes.count()));
  for (const auto& entry : path) {
    RankedSet set;
    for (const Index j : entry.features) set.units.push_back(unit_of[static_cast<std::size_t>(j)]);
    std::sort(set.units.begin(), set.units.end());
    set.units.erase(std::unique(set.units.begin(), set.units.end()), set.units.end());
    const auto k = static_cast<Index>(set.units.size());
    if (sizes.contains(k)) start[static_cast<std::size_t>(k - sizes.lo)].push_back(std::move(set));
  }
  if (std::all_of(start.begin(), start.end(), [](const auto& sets) { return !sets.empty(); })) return start;
  const auto order = by_single_scores(problem);
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto k = static_cast<std::ptrdiff_t>(sizes.lo) + static_cast<std::ptrdiff_t>(i);
    if (!start[i].empty() || k > std::ssize(order)) continue;
    RankedSet set{.units = {order.begin(), order.begin() + k}};
    std::sort(set.units.begin(), set.units.end());
    start[i].push_back(std::move(set));
  }
  return start;
}

PathEntry entry_of(const Problem& problem, const ExactSize& size, ExactSearch how, Index pool) {
  const auto& best = size.pool.front();
  PathEntry entry;
  entry.features = problem.units().features(best.units);
  if (!problem.units().single) {
    for (const Index u : best.units)
      entry.units.push_back(problem.units().group[static_cast<std::size_t>(u)]);
    std::sort(entry.units.begin(), entry.units.end());
  }
  auto fitted = renormalize(problem.pencil(), entry.features, problem.options().criterion,
                            problem.options().components, problem.options().threads);
  // A sweep knows its values to all digits, where features nearly depend on each other, too.
  const bool knows = how == ExactSearch::kSweep;
  entry.objective = knows ? best.value : fitted.objective;
  entry.loadings = fitted.discriminants.vectors;
  entry.pass = "exact";
  // The value of the search and the one recomputed differ by rounding; the bound keeps its distance.
  if (std::isfinite(size.upper_bound)) {
    entry.upper_bound =
        size.upper_bound <= best.value ? entry.objective : std::max(entry.objective, size.upper_bound);
    entry.bound = "branch-and-bound";
  }
  if (pool > 1) {
    for (const auto& set : size.pool) {
      const auto features = problem.units().features(set.units);
      const double objective = &set == &best ? entry.objective
                               : knows       ? set.value
                                       : renormalize(problem.pencil(), features, problem.options().criterion,
                                                     1, problem.options().threads)
                                             .objective;
      entry.pool.push_back({features, objective});
    }
  }
  return entry;
}

/// `bounds`: what is known without a search, beside what the search proved.
void add_bounds(const Problem& problem, const std::map<Index, double>& sdp, const RunControl& control,
                Selection& selection) {
  Selection known;
  known.sets() = selection.sets();
  RootLosses root;
  const bool have_root = problem.pencil().factor() != nullptr;
  if (have_root) {
    root = root_losses(problem.pencil(), problem.units(),
                       {.criterion = problem.options().criterion,
                        .least = problem.k().lo,
                        .most = problem.k().hi,
                        .threads = problem.options().threads,
                        .memory_limit = problem.options().memory_limit.bytes});
  }
  certify(problem, have_root ? &root : nullptr, control, known);
  for (std::size_t i = 0; i < selection.sets().size(); ++i) {
    auto& entry = selection.sets()[i];
    entry.bounds = std::move(known.sets()[i].bounds);
    if (entry.bounds && entry.upper_bound) entry.bounds->upper.emplace_back(entry.bound, *entry.upper_bound);
  }
  offer_sdp_bounds(problem, sdp, selection);
}

/// What there is to prove where B over all candidates is singular to doubles, so that no search of theirs can
/// start: the greedy sets, which settle() proves or replaces by leaps and bounds in 31 digits. These find the
/// sets of a pool, and those that a greedy search lacks. Where 31 digits are too few as well, a ridge makes
/// sets of the greedy ones all the same, of which nothing is certified. False: there is nothing to take.
bool take_greedy_sets(const Problem& problem, Index pool, Selection& greedy, const RunControl& control,
                      Selection& selection) {
  const Pencil& pencil = problem.pencil();
  const bool all_sizes = std::ssize(greedy.sets()) == problem.k().count();
  if (pencil.b_is_identity()) return false;
  if (!pencil.ridged() &&
      !PreciseInverse::of(pencil, problem.units().features(), problem.options().criterion))
    return false;
  if (all_sizes && pool == 1 && pencil.ridged()) {
    selection.sets() = std::move(greedy.sets());
  } else {
    for (const Index k : problem.k().sizes()) {
      const auto known = std::find_if(greedy.sets().begin(), greedy.sets().end(),
                                      [&](const PathEntry& entry) { return entry.k() == k; });
      PathEntry entry;
      if (known != greedy.sets().end()) entry = std::move(*known);
      if (pool > 1 || entry.features.empty()) {
        const std::size_t wanted = possible_sets(problem, k, pool);
        auto best =
            precise_best(pencil, problem.units(), problem.options().criterion, k, {}, wanted, control);
        if (best.sets.size() < wanted) return false;
        replace_set(problem, best.sets.front(), entry);
        if (pool > 1) entry.pool = std::move(best.sets);
      }
      selection.sets().push_back(std::move(entry));
    }
  }
  for (auto& entry : selection.sets()) entry.pass = "exact";
  return true;
}

/// The answer to candidates whose covariance is singular to doubles; false where there is none.
bool search_precisely(const Problem& problem, Index pool, Selection& greedy, const RunControl& control,
                      Selection& selection) {
  Selection found;
  try {
    if (!take_greedy_sets(problem, pool, greedy, control, found)) return false;
    found.status = control.status_or(Status::kHeuristic);
    (void)settle(problem, nullptr, Proof::kFromAll, control, found, pool);
  } catch (const Infeasible&) {  // a set that has digits in 31 and no loadings in doubles
    return false;
  }
  mark_proven(found);
  selection.status = found.status;
  selection.sets() = std::move(found.sets());
  std::move(found.warnings.begin(), found.warnings.end(), std::back_inserter(selection.warnings));
  selection.search = SearchCounts{};
  return true;
}

/// Sizes that are searched together.
struct SizesTogether {
  KRange sizes;
  ExactSearch how;
};

/// The sizes asked for as ranges without a gap: one search proves a range, and none has to prove what nobody
/// asked for. Small sizes that a sweep is through with at once are searched apart from those that need a
/// tree, unless the state of `one_search` is to be kept.
std::vector<SizesTogether> searches_for(const Problem& problem, bool one_search, bool by_card,
                                        const ExactHooks& hooks) {
  std::vector<SizesTogether> ranges;
  for (const Index size : problem.k().sizes()) {
    const auto suited = [&](const KRange& k) {
      return by_card && suits_card(problem.pencil(), problem.units(), k);
    };
    const auto how = [&](const KRange& k) {
      return suited(k) ? ExactSearch::kSweep
                       : exact_search_for(problem.pencil(), problem.units(), k, hooks.search);
    };
    // What a card can do is no part of a search that it cannot.
    const bool next = !ranges.empty() && ranges.back().sizes.hi == size - 1 &&
                      (one_search || !suited(ranges.back().sizes) || suited(KRange(size)));
    KRange longer = next ? ranges.back().sizes : KRange(size);
    longer.hi = size;
    if (next && (one_search || how(longer) == ranges.back().how)) {
      ranges.back() = {longer, how(longer)};
    } else {
      ranges.push_back({KRange(size), how(KRange(size))});
    }
  }
  return ranges;
}

/// The card that is asked for, where there are sets that it can try; nothing where the processor is to do it.
/// An automatic one is not even looked for unless the sets would keep the processor busy for seconds.
std::shared_ptr<const device::Device> card_for(const Problem& problem, const ExactHooks& hooks,
                                               Selection& selection) {
  constexpr double kWorthACard = 1e10;
  const device::Wish wish = device::parse_wish(problem.options().device);
  double sets = 0.0;
  for (const Index size : problem.k().sizes()) {
    if (suits_card(problem.pencil(), problem.units(), KRange(size)) &&
        (wish.card || exact_search_for(problem.pencil(), problem.units(), KRange(size), hooks.search) ==
                          ExactSearch::kSweep))
      sets += sets_to_sweep(problem.units(), KRange(size));
  }
  if (wish.card && !(sets > 0.0)) {
    selection.warnings.emplace_back(
        "the card has no part in this search: it tries sets of two to four single features, at most one of them included");
    return nullptr;
  }
  if (!wish.card && !(sets > kWorthACard)) return nullptr;
  std::string why;
  auto card = device::open_wished(wish, why);
  if (card) {
    for (const auto& note : card->notes()) selection.warnings.push_back(note);
  }
  return card;
}

/// What it searches, where it is not by the tree.
void tell_how(const Problem& problem, const std::vector<SizesTogether>& searches, const RunControl& control,
              Selection& selection) {
  double sets = 0.0;
  for (const auto& [sizes, how] : searches) {
    if (how == ExactSearch::kSweep) sets += sets_to_sweep(problem.units(), sizes);
  }
  if (!(sets > 0.0)) return;
  const bool all = std::all_of(searches.begin(), searches.end(),
                               [](const auto& search) { return search.how == ExactSearch::kSweep; });
  record_of(selection)["search"] = all ? "all sets" : "small sizes: all sets; others: a tree";
  control.report("exact search", -1.0,
                 [&] { return fmt::format("{:.3g} sets, the last two or three features at once", sets); });
}

/// What a sweep leaves: sizes of which no set exists, and sets that are none by the rule on dependent
/// features though their features do not depend on each other to 31 digits, so that a bound has to hold them.
void tell_of_dependent_sets(const Problem& problem, const std::vector<ExactSearch>& ways,
                            const ExactResult& result, double gap, Selection& selection) {
  const std::vector<Index> sizes = problem.k().sizes();
  for (std::size_t i = 0; i < result.sizes.size(); ++i) {
    if (ways[i] != ExactSearch::kSweep || !result.sizes[i].pool.empty()) continue;
    if (selection.status > Status::kRankLimit) break;  // stopped before one was found
    selection.status = Status::kRankLimit;
    selection.warnings.push_back(fmt::format(
        "no {} linearly independent features exist; larger k were left out, too (a ridge, ⟨ridge⟩, makes them possible)",
        sizes[i]));
    break;
  }
  std::vector<std::string> open;
  for (const auto& entry : selection.sets()) {
    const auto left = entry.known_gap();
    if (!left || *left > gap * (1.0 + 1e-9) + 1e-9) open.push_back(fmt::to_string(entry.k()));
  }
  if (selection.status != Status::kGapReached || open.empty()) return;
  selection.status = Status::kHeuristic;
  selection.warnings.push_back(fmt::format(
      "nothing is certified at k = {}: other features are so nearly combinations of each other that doubles have no digits for their sets, which may be better; leave near-copies out (⟨exclude⟩), or give a {}",
      join_some(open), larger_ridge(problem.ridge())));
}

/// Whether a ridge keeps the features of every set apart, so that a sweep's proof stands on the sets alone.
/// Without one some set may be so nearly dependent that doubles do not know whether it is one.
bool ridge_keeps_apart(const Problem& problem) {
  constexpr double kSafeFraction = 1e-7;
  double largest = 0.0;
  for (const Index j : problem.units().features())
    largest = std::max(largest, problem.pencil().diagonal()[j]);
  const RidgeAmount ridge = problem.ridge();
  return std::max(ridge.fraction, largest > 0.0 ? ridge.value / largest : 0.0) >= kSafeFraction;
}

/// Sets that were all tried, and of which nothing can be proven all the same.
void withdraw_proofs(const Problem& problem, Selection& selection) {
  std::vector<std::string> sizes;
  for (auto& entry : selection.sets()) {
    if (entry.k() < 2 || !entry.upper_bound) continue;  // one feature depends on nothing
    entry.upper_bound.reset();
    entry.bound.clear();
    sizes.push_back(fmt::to_string(entry.k()));
  }
  if (sizes.empty()) return;
  selection.status = worst(selection.status, Status::kHeuristic);
  selection.warnings.push_back(fmt::format(
      "nothing is certified at k = {}: all sets were tried, but without a ridge the features of some may depend on each other so nearly that doubles have no digits for them; give a {}",
      join_some(sizes), larger_ridge(problem.ridge())));
}

/// settle() for the sets of each way of searching: what doubles must know of is not the same.
bool settle_searches(const Problem& problem, const std::vector<ExactSearch>& how, Index pool,
                     const RunControl& control, Selection& selection) {
  bool trusted = true;
  std::vector<PathEntry> sets = std::move(selection.sets());
  selection.sets().clear();
  for (std::size_t first = 0; first < sets.size();) {
    std::size_t last = first;
    Selection part;
    part.status = selection.status;
    for (; last < sets.size() && how[last] == how[first]; ++last)
      part.sets().push_back(std::move(sets[last]));
    const bool swept = how[first] == ExactSearch::kSweep, apart = ridge_keeps_apart(problem);
    constexpr Index kMostTogether = 2'000;  // whose condition can be had
    const Index candidates = problem.units().count();
    const bool may_be_regular = problem.rows().matrices() != nullptr || candidates < problem.data().rows();
    const bool from_all = !swept || (!apart && may_be_regular && candidates <= kMostTogether);
    const Proof proof = from_all ? Proof::kFromAll : Proof::kFromTheSets;
    trusted = settle(problem, nullptr, proof, control, part, pool) && trusted;
    if (!from_all && !apart) withdraw_proofs(problem, part);
    selection.status = worst(selection.status, part.status);
    std::move(part.sets().begin(), part.sets().end(), std::back_inserter(selection.sets()));
    std::move(part.warnings.begin(), part.warnings.end(), std::back_inserter(selection.warnings));
    first = last;
  }
  return trusted;
}

void search_tree(const Problem& problem, const Eslda& own, const ExactHooks& hooks, const RunControl& control,
                 Selection& selection) {
  require_writable(own.checkpoint);  // now, and not when hours would be lost
  PartWork* const parts = problem.options().part_work;
  if (parts != nullptr && own.gap > 0.0)
    throw InvalidArgument(
        {.field = "gap",
         .value = fmt::to_string(own.gap),
         .rule =
             "{value}: what a gap leaves out depends on what is known when, and parts do not know of each other",
         .way_out = "leave it out beside ⟨part I/N⟩"});
  int number_of_search = 0;
  const bool one_search = !(own.checkpoint.empty() && own.resume.empty());
  const auto card = parts != nullptr ? nullptr : card_for(problem, hooks, selection);
  const std::vector<SizesTogether> searches = searches_for(problem, one_search, card != nullptr, hooks);
  if (searches.size() > 1 && one_search) {
    throw InvalidArgument(
        {.field = own.resume.empty() ? "checkpoint" : "resume",
         .rule = fmt::format("holds the state of one search, and the sizes {} take {} of them",
                             problem.k().text(), searches.size()),
         .way_out = "ask for sizes without a gap, as in ⟨k 1:20⟩"});
  }
  SelectOptions quick = problem.options();
  quick.certify = quick.bounds = false;
  quick.components = 1;
  const Problem unbounded = problem.with_options(quick);
  Selection greedy;
  const bool can_swap = problem.units().single && problem.pencil().factor() != nullptr;
  try {
    const bool wide = searches.front().how == ExactSearch::kSweep;
    greedy_sets(unbounded, can_swap ? kStartSwaps : 0, wide, control, greedy);
  } catch (const Infeasible&) {  // too large for the passes, or singular: the search itself says so then
  }

  // Before the search, which may use up the time: it is asked for, and where the search is stopped it is
  // often the better bound.
  const bool one_part = runs_one_part(problem.options());
  const auto sdp = one_part ? std::map<Index, double>() : sdp_bounds(problem, problem.k(), control);
  tell_how(problem, searches, control, selection);
  ExactResult result;
  std::vector<ExactSearch> ways;     // by size
  result.status = Status::kOptimal;  // worst() of what follows
  try {
    for (const auto& [sizes, way] : searches) {
      // A limit counts the nodes of all; a search without any has its known sets and their bounds.
      Eslda asked = own;
      if (own.node_limit > 0)
        asked.node_limit = own.node_limit > result.nodes ? own.node_limit - result.nodes : 1;
      auto found = exact_search(problem.pencil(), problem.units(), known_sets(problem, sizes, greedy.sets()),
                                {.criterion = problem.options().criterion,
                                 .k = sizes,
                                 .asked = std::move(asked),
                                 .threads = problem.options().threads,
                                 .memory_limit = problem.options().memory_limit.bytes,
                                 .exchange = !can_swap,
                                 .card = card,
                                 .parts = parts,
                                 .part_name = fmt::format("search{}", number_of_search++)},
                                control, hooks);
      if (!found.card.empty()) record_of(selection)["card"] = found.card;
      if (!found.card_problem.empty())
        selection.warnings.push_back(fmt::format("{} did not try the sets, the processor did: {}",
                                                 card->description(), found.card_problem));
      ways.insert(ways.end(), found.sizes.size(), way);
      result.sizes.insert(result.sizes.end(), std::make_move_iterator(found.sizes.begin()),
                          std::make_move_iterator(found.sizes.end()));
      result.status = worst(result.status, found.status);
      result.nodes += found.nodes;
      result.incumbent_updates += found.incumbent_updates;
      result.open_nodes += found.open_nodes;
      result.checkpoint_problem = found.checkpoint_problem;
    }
  } catch (const Infeasible&) {
    if (one_part) {  // nothing to search, as they will find who put the parts together
      selection.status = control.status_or(Status::kOptimal);
      return;
    }
    if (!own.resume.empty() || !search_precisely(problem, own.pool, greedy, control, selection)) throw;
    return;
  }
  if (one_part) {
    selection.status = control.status_or(result.status);
    return;
  }
  std::vector<ExactSearch> how;  // by set
  for (std::size_t i = 0; i < result.sizes.size(); ++i) {
    if (result.sizes[i].pool.empty()) continue;
    selection.sets().push_back(entry_of(problem, result.sizes[i], ways[i], own.pool));
    how.push_back(ways[i]);
  }
  if (std::any_of(selection.sets().begin(), selection.sets().end(),
                  [](const PathEntry& entry) { return !entry.upper_bound; })) {
    selection.warnings.emplace_back(
        how.back() == ExactSearch::kSweep
            ? "the search was stopped before all sets were tried, and without a ridge nothing is known of those that were not; give it more time, or leave features out (⟨exclude⟩)"
            : "the search was stopped before its first bound, which takes a factorization over all candidates; give it more time, or leave features out (⟨exclude⟩)");
  }
  if (!result.checkpoint_problem.empty()) {
    selection.warnings.push_back(
        fmt::format("the last checkpoint is missing or old: {}", result.checkpoint_problem));
  }
  selection.status = result.status;
  if (!settle_searches(problem, how, own.pool, control, selection)) mark_proven(selection);
  tell_of_dependent_sets(problem, ways, result, own.gap, selection);
  if (problem.options().bounds) add_bounds(problem, sdp, control, selection);
  selection.search = SearchCounts{result.nodes, result.incumbent_updates, result.open_nodes};
}

/// A table's pencil computes what it is asked for from the rows, again and again. What is searched exactly is
/// small enough to stand as a matrix, and the passes, exchanges and loadings of every size read it there.
/// Null where the pencil is a matrix already, or too large.
std::shared_ptr<const Pencil> as_matrix(const Problem& problem) {
  constexpr Index kMost = 4000, kAlways = 1000;
  const Index p = problem.pencil().size();
  if (problem.pencil().rows() == nullptr || problem.pencil().factor() == nullptr || p > kMost) return nullptr;
  if (p > kAlways && p > 2 * problem.pencil().rows()->rows())
    return nullptr;  // the rows are the smaller thing
  return dense_copy(problem.pencil(), problem.options().threads);
}

}  // namespace

Selection search_exactly(const Eslda& own, const Problem& problem, const RunControl& control,
                         const ExactHooks& hooks) {
  Selection selection = answer_of(own);
  const auto matrix = as_matrix(problem);
  search_tree(matrix ? problem.with_pencil(matrix) : problem, own, hooks, control, selection);
  return selection;
}

void Eslda::validate() const { require_search_options(*this); }
void Espca::validate() const { require_search_options(as_searched(*this)); }

Selection Eslda::run(const Problem& problem, const RunControl& control) const {
  return search_exactly(*this, problem, control);
}
Selection Espca::run(const Problem& problem, const RunControl& control) const {
  return search_exactly(as_searched(*this), problem, control);
}

}  // namespace subspectra
