#include "select/exact_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "search/exact.hpp"
#include "select/search_methods.hpp"
#include "select/sparse_pca_methods.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

void ExactMethodOptions::validate() const {
  constexpr Index kLargestPool = 1000;
  if (pool < 1 || pool > kLargestPool)
    throw InvalidArgument({.field = "pool",
                           .value = fmt::to_string(pool),
                           .rule = fmt::format("{{value}}, but 1 to {} sets are possible", kLargestPool)});
  if (!(gap >= 0.0) || !std::isfinite(gap)) {
    throw InvalidArgument(
        {.field = "gap",
         .value = fmt::to_string(gap),
         .rule = "{value}, but 0 or a positive fraction is needed, as in 0.01 for one percent"});
  }
  if (!(checkpoint_every >= 0.0)) {
    throw InvalidArgument({.field = "checkpoint_every",
                           .value = fmt::to_string(checkpoint_every),
                           .rule = "{value}, but a number of seconds from 0 up is needed"});
  }
  for (const auto* path : {&checkpoint, &resume}) {
    if (*path != "-") continue;
    throw InvalidArgument({.field = path == &resume ? "resume" : "checkpoint",
                           .value = *path,
                           .rule = "{value}, but the state of a search needs a file of its own"});
  }
}

namespace {

constexpr Index kStartSwaps = 100;

/// The units that are best alone, the forced ones before them: a set of any size at no cost.
std::vector<Index> by_single_scores(const SelectionInput& input) {
  std::vector<double> scores;
  for (const auto& members : input.units.members) {
    double score = 0.0;
    for (const Index j : members) score += input.pencil.a_diagonal()[j] / input.pencil.diagonal()[j];
    scores.push_back(score);
  }
  for (const Index u : input.units.include) scores[static_cast<std::size_t>(u)] = kInfinity;
  std::vector<Index> order(scores.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  return order;
}

/// The sets of a greedy search, as units, for every size: what the tree has to beat. Sizes that the search
/// was stopped before get the units that are best alone, so that every size has an answer.
std::vector<std::vector<RankedSet>> known_sets(const SelectionInput& input,
                                               const std::vector<PathEntry>& path) {
  std::vector<Index> unit_of(static_cast<std::size_t>(input.data.features()), -1);
  for (Index u = 0; u < input.units.count(); ++u) {
    for (const Index j : input.units.members[static_cast<std::size_t>(u)])
      unit_of[static_cast<std::size_t>(j)] = u;
  }
  std::vector<std::vector<RankedSet>> start(static_cast<std::size_t>(input.k.hi - input.k.lo + 1));
  for (const auto& entry : path) {
    RankedSet set;
    for (const Index j : entry.features) set.units.push_back(unit_of[static_cast<std::size_t>(j)]);
    std::sort(set.units.begin(), set.units.end());
    set.units.erase(std::unique(set.units.begin(), set.units.end()), set.units.end());
    const auto k = static_cast<Index>(set.units.size());
    if (k >= input.k.lo && k <= input.k.hi)
      start[static_cast<std::size_t>(k - input.k.lo)].push_back(std::move(set));
  }
  if (std::all_of(start.begin(), start.end(), [](const auto& sets) { return !sets.empty(); })) return start;
  const auto order = by_single_scores(input);
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto k = static_cast<std::ptrdiff_t>(input.k.lo) + static_cast<std::ptrdiff_t>(i);
    if (!start[i].empty() || k > std::ssize(order)) continue;
    RankedSet set{.units = {order.begin(), order.begin() + k}};
    std::sort(set.units.begin(), set.units.end());
    start[i].push_back(std::move(set));
  }
  return start;
}

PathEntry entry_of(const SelectionInput& input, const ExactSize& size, Index pool) {
  const auto& best = size.pool.front();
  PathEntry entry;
  entry.features = input.units.features(best.units);
  if (!input.units.single) {
    for (const Index u : best.units) entry.units.push_back(input.units.group[static_cast<std::size_t>(u)]);
    std::sort(entry.units.begin(), entry.units.end());
  }
  auto fitted = renormalize(input.pencil, entry.features, input.options.criterion, input.options.components,
                            input.options.threads);
  entry.objective = fitted.objective;
  entry.loadings = std::move(fitted.discriminants.vectors);
  entry.pass = "exact";
  // The value of the search and the one recomputed differ by rounding; the bound keeps its distance.
  if (std::isfinite(size.upper_bound)) {
    entry.upper_bound =
        size.upper_bound <= best.value ? entry.objective : std::max(entry.objective, size.upper_bound);
    entry.bound = "branch-and-bound";
  }
  if (pool > 1) {
    for (const auto& set : size.pool) {
      const auto features = input.units.features(set.units);
      const double objective = &set == &best ? entry.objective
                                             : renormalize(input.pencil, features, input.options.criterion, 1,
                                                           input.options.threads)
                                                   .objective;
      entry.pool.push_back({features, objective});
    }
  }
  return entry;
}

/// `bounds`: what is known without a search, beside what the search proved.
void add_bounds(const SelectionInput& input, const std::vector<double>& sdp, const RunControl& control,
                Selection& selection) {
  Selection known;
  known.path = selection.path;
  RootLosses root;
  const bool have_root = input.pencil.factor() != nullptr;
  if (have_root) {
    root = root_losses(input.pencil, input.units,
                       {.criterion = input.options.criterion,
                        .least = input.k.lo,
                        .most = input.k.hi,
                        .threads = input.options.threads,
                        .memory_limit = input.options.memory_limit.bytes});
  }
  certify(input, have_root ? &root : nullptr, control, known);
  for (std::size_t i = 0; i < selection.path.size(); ++i) {
    auto& entry = selection.path[i];
    entry.bounds = std::move(known.path[i].bounds);
    if (entry.bounds && entry.upper_bound) entry.bounds->upper.emplace_back(entry.bound, *entry.upper_bound);
  }
  offer_sdp_bounds(input, input.k.lo, sdp, selection);
}

void search(const SelectionInput& input, const ExactMethodOptions& own, const RunControl& control,
            Selection& selection) {
  SelectionOptions quick = input.options;
  quick.certify = quick.bounds = false;
  quick.components = 1;
  const SelectionInput greedy_input{.data = input.data,
                                    .options = quick,
                                    .pencil = input.pencil,
                                    .candidates = input.candidates,
                                    .include = input.include,
                                    .units = input.units,
                                    .k = input.k};
  Selection greedy;
  const bool can_swap = input.units.single && input.pencil.factor() != nullptr;
  try {
    greedy_sets(greedy_input, {.swaps = can_swap ? kStartSwaps : 0}, control, greedy);
  } catch (const Infeasible&) {  // too large for the passes, or singular: the search itself says so then
  }

  // Before the search, which may use up the time: it is asked for, and where the search is stopped it is
  // often the better bound.
  const auto sdp = sdp_bounds(input, input.k, control);
  const auto result = exact_search(input.pencil, input.units, known_sets(input, greedy.path),
                                   {.criterion = input.options.criterion,
                                    .k = input.k,
                                    .pool = own.pool,
                                    .gap = own.gap,
                                    .node_limit = own.node_limit,
                                    .threads = input.options.threads,
                                    .memory_limit = input.options.memory_limit.bytes,
                                    .exchange = !can_swap,
                                    .checkpoint = own.checkpoint,
                                    .checkpoint_s = own.checkpoint_every,
                                    .resume = own.resume},
                                   control);
  for (const auto& size : result.sizes) {
    if (!size.pool.empty()) selection.path.push_back(entry_of(input, size, own.pool));
  }
  if (std::any_of(selection.path.begin(), selection.path.end(),
                  [](const PathEntry& entry) { return !entry.upper_bound; })) {
    selection.warnings.emplace_back(
        "the search was stopped before its first bound, which takes a factorization over all candidates; give it more time, or leave features out (⟨exclude⟩)");
  }
  if (input.options.bounds) add_bounds(input, sdp, control, selection);
  if (!result.checkpoint_problem.empty()) {
    selection.warnings.push_back(
        fmt::format("the last checkpoint is missing or old: {}", result.checkpoint_problem));
  }
  selection.status = result.status;
  selection.search = SearchCounts{result.nodes, result.incumbent_updates, result.open_nodes};
}

/// A table's pencil computes what it is asked for from the rows, again and again. What is searched exactly is
/// small enough to stand as a matrix, and the passes, exchanges and loadings of every size read it there.
/// Null where the pencil is a matrix already, or too large.
std::unique_ptr<Pencil> as_matrix(const SelectionInput& input) {
  constexpr Index kMost = 4000, kAlways = 1000;
  const Index p = input.pencil.size();
  if (input.pencil.rows() == nullptr || input.pencil.factor() == nullptr || p > kMost) return nullptr;
  if (p > kAlways && p > 2 * input.pencil.rows()->rows()) return nullptr;  // the rows are the smaller thing
  std::vector<Index> all(static_cast<std::size_t>(p));
  std::iota(all.begin(), all.end(), Index{0});
  return factor_pencil(*input.pencil.factor(), input.pencil.block(all, input.options.threads));
}

void run_exact(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
               Selection& selection) {
  ExactMethodOptions own;
  set_options(own, texts);
  own.validate();
  selection.method_options = options_json(own);
  const auto matrix = as_matrix(input);
  const SelectionInput dense{.data = input.data,
                             .options = input.options,
                             .pencil = matrix ? *matrix : input.pencil,
                             .candidates = input.candidates,
                             .include = input.include,
                             .units = input.units,
                             .k = input.k};
  search(dense, own, control, selection);
}

}  // namespace

std::vector<MethodInfo> exact_methods() {
  return {
      {.name = "eslda",
       .summary = "exact sparse LDA: the best set of every size, proven, or the best so far with a bound",
       .takes_matrices = true,
       .takes_groups = true,
       .proves = true,
       .options = describe_options<ExactMethodOptions>(),
       .run = run_exact},
      {.name = "espca",
       .summary =
           "exact sparse PCA: the set with the largest variance, proven, or the best so far with a bound; needs no labels",
       .needs_labels = false,
       .variance = true,
       .takes_matrices = true,
       .takes_groups = true,
       .proves = true,
       .options = describe_options<ExactMethodOptions>(),
       .run = run_exact}};
}

}  // namespace subspectra
