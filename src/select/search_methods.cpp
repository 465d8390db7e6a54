#include "select/search_methods.hpp"

#include "select/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "search/certificate.hpp"
#include "search/greedy.hpp"
#include "search/nested_path.hpp"
#include "search/swaps.hpp"
#include "search/threshold.hpp"
#include "select/sparse_pca_methods.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace {

struct Passes {
  bool forward = true, backward = true;
};

NestedPathOptions path_options(const Problem& problem) {
  return {.criterion = problem.options().criterion,
          .components = problem.options().components,
          .pivot_floor = 0.0,
          .threads = problem.options().threads,
          .memory_limit = problem.options().memory_limit.bytes};
}

/// The sets of one pass that the answer may use.
struct ScoredPass {
  const char* name;
  Index least, most;
  NestedPath path;
};

void warn_of_dependent(const Problem& problem, const std::vector<Index>& units, Selection& selection) {
  if (units.empty()) return;
  const auto features = problem.units().features(units);
  selection.warnings.push_back(
      fmt::format("{} of the chosen features and {} passed over: {}",
                  units.size() == 1 ? "1 candidate is a linear combination"
                                    : fmt::format("{} candidates are linear combinations", units.size()),
                  units.size() == 1 ? "was" : "were", problem.data().names().some(features)));
}

/// Exchanges at every size, on single features.
void improve(const Problem& problem, Index swaps, const RunControl& control, Selection& selection) {
  Index sizes = 0;
  for (auto& entry : selection.sets()) {
    if (control.should_stop()) break;
    auto better = improve_by_swaps(
        problem.pencil(), entry.features, problem.candidates(), problem.include(),
        {.criterion = problem.options().criterion, .most = swaps, .threads = problem.options().threads},
        control);
    if (better.exchanges == 0) continue;
    ++sizes;
    auto fitted = renormalize(problem.pencil(), better.support, problem.options().criterion,
                              problem.options().components, problem.options().threads);
    entry.features = std::move(better.support);
    entry.objective = fitted.objective;
    entry.loadings = fitted.discriminants.vectors;
    entry.pass = "swaps";
  }
  record_of(selection)["swapped_sizes"] = sizes;
}

void run_passes(const Passes& passes, const Problem& problem, Index swaps, const RunControl& control,
                Selection& selection) {
  const GreedyOptions options{.criterion = problem.options().criterion,
                              .least = problem.k().lo,
                              .most = problem.k().hi,
                              .threads = problem.options().threads,
                              .memory_limit = problem.options().memory_limit.bytes};
  std::vector<ScoredPass> scored;
  selection.status = Status::kOptimal;  // worst() of what follows
  RootLosses root{.value = kInfinity};  // until a pass has got there
  bool have_root = false;
  const auto take = [&](const char* name, const GreedyPass& pass) {
    selection.status = worst(selection.status, pass.status);
    if (pass.most < 1) return;
    NestedPath path(problem.pencil(), problem.units(), pass.order, std::min(pass.most, problem.k().hi),
                    path_options(problem));
    const Index most = std::min(path.reached(), pass.most);
    scored.push_back({name, std::max(pass.least, Index{1}), most, std::move(path)});
  };
  RootLosses* const wanted = problem.options().certify ? &root : nullptr;
  DualPass found;
  if (passes.forward && passes.backward) {
    found = dual_pass(problem.pencil(), problem.units(), options, control, wanted);
  } else if (passes.forward) {
    found.forward = forward_pass(problem.pencil(), problem.units(), options, control);
  } else {
    found.backward = backward_pass(problem.pencil(), problem.units(), options, control, wanted);
  }
  if (passes.forward) {
    const auto& pass = found.forward;
    warn_of_dependent(problem, pass.dependent, selection);
    if (pass.status == Status::kRankLimit) {
      selection.warnings.push_back(fmt::format(
          "no more than {} linearly independent {}; larger k were left out (a ridge, ⟨ridge⟩, makes them possible)",
          pass.most, problem.units().single ? "features exist" : "groups exist"));
    }
    take("forward", pass);
  }
  if (passes.backward) {
    if (found.infeasible.empty()) {
      have_root = problem.options().certify && root.losses.size() > 0 && std::isfinite(root.value);
      take("backward", found.backward);
    } else {
      selection.warnings.push_back(fmt::format("no backward pass: {}", found.infeasible));
    }
  } else if (problem.options().certify && problem.pencil().factor() != nullptr && !control.should_stop() &&
             root_affordable(problem.pencil(), static_cast<Index>(problem.candidates().size()))) {
    try {
      root = root_losses(problem.pencil(), problem.units(), options);
      have_root = true;
    } catch (const Infeasible&) {  // B is singular: the bounds that start from all candidates do not exist
    }
  }
  for (Index k = problem.k().lo; k <= problem.k().hi; ++k) {
    const ScoredPass* best = nullptr;
    for (const auto& pass : scored) {
      if (k < pass.least || k > pass.most) continue;
      // Of two that agree to rounding the first, forward, is kept.
      if (best == nullptr || pass.path.objective(k) > best->path.objective(k) * (1.0 + 1e-9)) best = &pass;
    }
    if (best == nullptr) continue;
    selection.sets().push_back(best->path.entry(k));
    selection.sets().back().pass = best->name;
  }
  if (swaps > 0) {
    if (!problem.units().single) {
      selection.warnings.emplace_back("⟨swaps⟩ exchanges single features; with ⟨groups⟩ it does nothing");
    } else {
      improve(problem, swaps, control, selection);
    }
  }
  certify(problem, have_root ? &root : nullptr, control, selection);
  if (!selection.sets().empty()) {
    const KRange sizes{selection.sets().front().k(), selection.sets().back().k()};
    offer_sdp_bounds(problem, sizes.lo, sdp_bounds(problem, sizes, control), selection);
  }
}

/// The passes of a method, with its exchanges where it has them.
template <class Greedy>
Selection greedy(const Greedy& own, Passes passes, const Problem& problem, const RunControl& control) {
  Selection selection = answer_of(own);
  Index swaps = 0;
  if constexpr (requires { own.swaps; }) swaps = own.swaps;
  record_of(selection)["swaps"] =
      swaps;  // said by all of them, though the variance is searched without exchanges
  run_passes(passes, problem, swaps, control, selection);
  return selection;
}

void require_swaps(Index swaps) {
  if (swaps < 0)
    throw InvalidArgument({.field = "swaps", .value = std::to_string(swaps), .rule = "must not be negative"});
}

}  // namespace

void Gslda::validate() const { require_swaps(swaps); }
void ForwardLda::validate() const { require_swaps(swaps); }
void BackwardLda::validate() const { require_swaps(swaps); }

Selection Gslda::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = true}, problem, control);
}
Selection ForwardLda::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = false}, problem, control);
}
Selection BackwardLda::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = false, .backward = true}, problem, control);
}
Selection Gspca::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = true}, problem, control);
}
Selection ForwardPca::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = false}, problem, control);
}
Selection BackwardPca::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = false, .backward = true}, problem, control);
}

/// The sets of the k largest loadings; objective and loadings renormalized unless asked otherwise.
Selection St::run(const Problem& problem, const RunControl& control) const {
  Selection selection = answer_of(*this);
  if (!problem.units().single)
    throw InvalidArgument(
        {.field = "groups", .rule = ": st ranks single features", .way_out = "use a greedy method"});
  const Vector v =
      global_vector(problem.pencil(), problem.candidates(), threshold, problem.options().threads);
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i) {
    selection.weights[problem.candidates()[i]] = std::abs(v[static_cast<Index>(i)]);
  }
  selection.ranking = problem.candidates();
  std::stable_sort(selection.ranking.begin(), selection.ranking.end(),
                   [&](Index a, Index b) { return selection.weights[a] > selection.weights[b]; });
  selection.status = control.status_or(Status::kHeuristic);
  if (!no_renormalize)
    return selection;  // the sets of a ranking are made, renormalized, for every method that ranks
  // x on the set, cut from the global vector of the pencil in x, whichever vector was thresholded.
  const Vector x = threshold == ThresholdOn::kX ? v
                                                : global_vector(problem.pencil(), problem.candidates(),
                                                                ThresholdOn::kX, problem.options().threads);
  std::vector<Index> order = problem.include();
  for (const Index j : selection.ranking) {
    if (!std::binary_search(problem.include().begin(), problem.include().end(), j)) order.push_back(j);
  }
  for (Index k = problem.k().lo; k <= problem.k().hi; ++k) {
    PathEntry entry;
    entry.features.assign(order.begin(), order.begin() + k);
    std::sort(entry.features.begin(), entry.features.end());
    Vector cut(k);
    for (Index i = 0; i < k; ++i) {
      const auto at = std::lower_bound(problem.candidates().begin(), problem.candidates().end(),
                                       entry.features[static_cast<std::size_t>(i)]);
      cut[i] = x[at - problem.candidates().begin()];
    }
    entry.objective = rayleigh_quotient(problem.pencil(), entry.features, cut, problem.options().threads);
    const double norm =
        problem.pencil().b_is_identity()
            ? cut.norm()
            : std::sqrt(cut.dot(problem.pencil().block(entry.features, problem.options().threads) * cut));
    Index largest = 0;
    cut.cwiseAbs().maxCoeff(&largest);
    entry.loadings = cut * ((cut[largest] < 0.0 ? -1.0 : 1.0) / (norm > 0.0 ? norm : 1.0));
    selection.sets().push_back(std::move(entry));
  }
  certify(problem, nullptr, control, selection);
  return selection;
}

void greedy_sets(const Problem& problem, Index swaps, const RunControl& control, Selection& selection) {
  run_passes({true, true}, problem, swaps, control, selection);
}

void certify(const Problem& problem, const RootLosses* root, const RunControl& control,
             Selection& selection) {
  if (selection.sets().empty() || !problem.options().certify) return;
  const KRange k{selection.sets().front().k(), selection.sets().back().k()};
  const auto bounds = certificate(problem.pencil(), problem.units(), root,
                                  {.criterion = problem.options().criterion,
                                   .k = k,
                                   .lower = problem.options().bounds,
                                   .threads = problem.options().threads,
                                   .control = &control});
  for (auto& entry : selection.sets()) {
    const auto& at = bounds[static_cast<std::size_t>(entry.k() - k.lo)];
    if (entry.k() == problem.units().count()) {  // there is only this one
      entry.upper_bound = entry.objective;
      entry.bound = "inclusion";
    } else if (const auto* best = at.best_upper()) {
      // A bound that rounding took below the value of a set it bounds is that value.
      entry.upper_bound = std::max(best->second, entry.objective);
      if (*entry.upper_bound - entry.objective <= 2e-10 * entry.objective)
        entry.upper_bound = entry.objective;
      entry.bound = best->first;
    }
    if (problem.options().bounds) entry.bounds = at;
  }
  // No set is conditioned worse than all candidates together (interlacing): only beyond that each is looked
  // at.
  const bool all_trusted =
      root != nullptr &&
      static_cast<double>(problem.candidates().size()) * root->correlation_inverse <= kTrustedCondition;
  if (!all_trusted) withdraw_unsure(problem, selection);
  mark_proven(selection);
}

void withdraw_unsure(const Problem& problem, Selection& selection) {
  std::vector<std::string> sizes;
  for (auto& entry : selection.sets()) {
    if (!entry.certified()) continue;
    const double error = rounding_of_value(problem.pencil(), entry.features, problem.options().threads);
    if (error <= 0.0) continue;
    sizes.push_back(fmt::to_string(entry.k()));
    if (std::isfinite(error)) {
      entry.upper_bound = entry.objective * (1.0 + error);
    } else {
      entry.upper_bound.reset();
      entry.bound.clear();
    }
  }
  if (sizes.empty()) return;
  if (selection.status == Status::kOptimal) selection.status = Status::kHeuristic;
  selection.warnings.push_back(fmt::format(
      "nothing is certified at k = {}: features there are so nearly combinations of each other (the condition of their correlations exceeds {:.0e}) that rounding leaves too few digits; leave near-copies out (⟨exclude⟩), or give a ridge (⟨ridge VALUE⟩)",
      join_some(sizes), kTrustedCondition));
}

void mark_proven(Selection& selection) {
  const auto proven = [](const PathEntry& entry) {
    const auto gap = entry.known_gap();
    return gap && *gap <= kCertifiedGap;
  };
  if (selection.status == Status::kHeuristic && !selection.sets().empty() &&
      std::all_of(selection.sets().begin(), selection.sets().end(), proven)) {
    selection.status = Status::kOptimal;
  }
}

}  // namespace subspectra
