#include "select/search_methods.hpp"

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

NestedPathOptions path_options(const SelectionInput& input) {
  return {.criterion = input.options.criterion,
          .components = input.options.components,
          .pivot_floor = 0.0,
          .threads = input.options.threads,
          .memory_limit = input.options.memory_limit.bytes};
}

/// The sets of one pass that the answer may use.
struct ScoredPass {
  const char* name;
  Index least, most;
  NestedPath path;
};

void warn_of_dependent(const SelectionInput& input, const std::vector<Index>& units, Selection& selection) {
  if (units.empty()) return;
  const auto features = input.units.features(units);
  selection.warnings.push_back(
      fmt::format("{} linear combinations of the chosen features and {} passed over: {}",
                  units.size() == 1 ? "1 candidate is a" : fmt::format("{} candidates are", units.size()),
                  units.size() == 1 ? "was" : "were", input.data.names().some(features)));
}

/// Exchanges at every size, on single features.
void improve(const SelectionInput& input, Index swaps, const RunControl& control, Selection& selection) {
  Index sizes = 0;
  for (auto& entry : selection.path) {
    if (control.should_stop()) break;
    auto better = improve_by_swaps(
        input.pencil, entry.features, input.candidates, input.include,
        {.criterion = input.options.criterion, .most = swaps, .threads = input.options.threads}, control);
    if (better.exchanges == 0) continue;
    ++sizes;
    auto fitted = renormalize(input.pencil, better.support, input.options.criterion, input.options.components,
                              input.options.threads);
    entry.features = std::move(better.support);
    entry.objective = fitted.objective;
    entry.loadings = std::move(fitted.discriminants.vectors);
    entry.pass = "swaps";
  }
  selection.method_options["swapped_sizes"] = sizes;
}

void run_passes(const Passes& passes, const SelectionInput& input, const GreedyMethodOptions& own,
                const RunControl& control, Selection& selection) {
  const GreedyOptions options{.criterion = input.options.criterion,
                              .least = input.k.lo,
                              .most = input.k.hi,
                              .threads = input.options.threads,
                              .memory_limit = input.options.memory_limit.bytes};
  std::vector<ScoredPass> scored;
  selection.status = Status::kOptimal;  // worst() of what follows
  RootLosses root{.value = kInfinity};  // until a pass has got there
  bool have_root = false;
  const auto take = [&](const char* name, const GreedyPass& pass) {
    selection.status = worst(selection.status, pass.status);
    if (pass.most < 1) return;
    NestedPath path(input.pencil, input.units, pass.order, std::min(pass.most, input.k.hi),
                    path_options(input));
    const Index most = std::min(path.reached(), pass.most);
    scored.push_back({name, std::max(pass.least, Index{1}), most, std::move(path)});
  };
  RootLosses* const wanted = input.options.certify ? &root : nullptr;
  DualPass found;
  if (passes.forward && passes.backward) {
    found = dual_pass(input.pencil, input.units, options, control, wanted);
  } else if (passes.forward) {
    found.forward = forward_pass(input.pencil, input.units, options, control);
  } else {
    found.backward = backward_pass(input.pencil, input.units, options, control, wanted);
  }
  if (passes.forward) {
    const auto& pass = found.forward;
    warn_of_dependent(input, pass.dependent, selection);
    if (pass.status == Status::kRankLimit) {
      selection.warnings.push_back(fmt::format(
          "no more than {} linearly independent {}; larger k were left out (a ridge, ⟨ridge⟩, makes them possible)",
          pass.most, input.units.single ? "features exist" : "groups exist"));
    }
    take("forward", pass);
  }
  if (passes.backward) {
    if (found.infeasible.empty()) {
      have_root = input.options.certify && root.losses.size() > 0 && std::isfinite(root.value);
      take("backward", found.backward);
    } else {
      selection.warnings.push_back(fmt::format("no backward pass: {}", found.infeasible));
    }
  } else if (input.options.certify && input.pencil.factor() != nullptr && !control.should_stop() &&
             root_affordable(input.pencil, static_cast<Index>(input.candidates.size()))) {
    try {
      root = root_losses(input.pencil, input.units, options);
      have_root = true;
    } catch (const Infeasible&) {  // B is singular: the bounds that start from all candidates do not exist
    }
  }
  for (Index k = input.k.lo; k <= input.k.hi; ++k) {
    const ScoredPass* best = nullptr;
    for (const auto& pass : scored) {
      if (k < pass.least || k > pass.most) continue;
      // Of two that agree to rounding the first, forward, is kept.
      if (best == nullptr || pass.path.objective(k) > best->path.objective(k) * (1.0 + 1e-9)) best = &pass;
    }
    if (best == nullptr) continue;
    selection.path.push_back(best->path.entry(k));
    selection.path.back().pass = best->name;
  }
  if (own.swaps > 0) {
    if (!input.units.single) {
      selection.warnings.emplace_back("⟨swaps⟩ exchanges single features; with ⟨groups⟩ it does nothing");
    } else {
      improve(input, own.swaps, control, selection);
    }
  }
  certify(input, have_root ? &root : nullptr, control, selection);
  if (!selection.path.empty()) {
    const KRange sizes{selection.path.front().k(), selection.path.back().k()};
    offer_sdp_bounds(input, sizes.lo, sdp_bounds(input, sizes, control), selection);
  }
}

auto greedy(Passes passes) {
  return [passes](const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
                  Selection& selection) {
    GreedyMethodOptions own;
    set_options(own, texts);
    if (own.swaps < 0)
      throw InvalidArgument(
          {.field = "swaps", .value = fmt::to_string(own.swaps), .rule = "must not be negative"});
    selection.method_options = options_json(own);
    run_passes(passes, input, own, control, selection);
  };
}

/// The sets of the k largest loadings; objective and loadings renormalized unless asked otherwise.
void run_threshold(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
                   Selection& selection) {
  ThresholdOptions own;
  set_options(own, texts);
  selection.method_options = options_json(own);
  if (!input.units.single)
    throw InvalidArgument(
        {.field = "groups", .rule = ": st ranks single features", .way_out = "use a greedy method"});
  const Vector v = global_vector(input.pencil, input.candidates, own.threshold, input.options.threads);
  selection.weights = Vector::Zero(input.data.features());
  for (std::size_t i = 0; i < input.candidates.size(); ++i) {
    selection.weights[input.candidates[i]] = std::abs(v[static_cast<Index>(i)]);
  }
  selection.ranking = input.candidates;
  std::stable_sort(selection.ranking.begin(), selection.ranking.end(),
                   [&](Index a, Index b) { return selection.weights[a] > selection.weights[b]; });
  selection.status = control.status_or(Status::kHeuristic);
  if (!own.no_renormalize) return;  // the path of a ranking is made, renormalized, by select_features
  // x on the set, cut from the global vector of the pencil in x, whichever vector was thresholded.
  const Vector x = own.threshold == ThresholdOn::kX ? v
                                                    : global_vector(input.pencil, input.candidates,
                                                                    ThresholdOn::kX, input.options.threads);
  std::vector<Index> order = input.include;
  for (const Index j : selection.ranking) {
    if (!std::binary_search(input.include.begin(), input.include.end(), j)) order.push_back(j);
  }
  for (Index k = input.k.lo; k <= input.k.hi; ++k) {
    PathEntry entry;
    entry.features.assign(order.begin(), order.begin() + k);
    std::sort(entry.features.begin(), entry.features.end());
    Vector cut(k);
    for (Index i = 0; i < k; ++i) {
      const auto at = std::lower_bound(input.candidates.begin(), input.candidates.end(),
                                       entry.features[static_cast<std::size_t>(i)]);
      cut[i] = x[at - input.candidates.begin()];
    }
    entry.objective = rayleigh_quotient(input.pencil, entry.features, cut, input.options.threads);
    const double norm =
        input.pencil.b_is_identity()
            ? cut.norm()
            : std::sqrt(cut.dot(input.pencil.block(entry.features, input.options.threads) * cut));
    Index largest = 0;
    cut.cwiseAbs().maxCoeff(&largest);
    entry.loadings = cut * ((cut[largest] < 0.0 ? -1.0 : 1.0) / (norm > 0.0 ? norm : 1.0));
    selection.path.push_back(std::move(entry));
  }
  certify(input, nullptr, control, selection);
}

}  // namespace

void greedy_sets(const SelectionInput& input, const GreedyMethodOptions& own, const RunControl& control,
                 Selection& selection) {
  run_passes({true, true}, input, own, control, selection);
}

void certify(const SelectionInput& input, const RootLosses* root, const RunControl& control,
             Selection& selection) {
  if (selection.path.empty() || !input.options.certify) return;
  const KRange k{selection.path.front().k(), selection.path.back().k()};
  const auto bounds = certificate(input.pencil, input.units, root,
                                  {.criterion = input.options.criterion,
                                   .k = k,
                                   .lower = input.options.bounds,
                                   .threads = input.options.threads,
                                   .control = &control});
  for (auto& entry : selection.path) {
    const auto& at = bounds[static_cast<std::size_t>(entry.k() - k.lo)];
    if (entry.k() == input.units.count()) {  // there is only this one
      entry.upper_bound = entry.objective;
      entry.bound = "inclusion";
    } else if (const auto* best = at.best_upper()) {
      // A bound that rounding took below the value of a set it bounds is that value.
      entry.upper_bound = std::max(best->second, entry.objective);
      if (*entry.upper_bound - entry.objective <= 2e-10 * entry.objective)
        entry.upper_bound = entry.objective;
      entry.bound = best->first;
    }
    if (input.options.bounds) entry.bounds = at;
  }
  mark_proven(selection);
}

void mark_proven(Selection& selection) {
  const auto proven = [](const PathEntry& entry) {
    const auto gap = entry.gap();
    return gap && *gap <= kCertifiedGap;
  };
  if (selection.status == Status::kHeuristic && !selection.path.empty() &&
      std::all_of(selection.path.begin(), selection.path.end(), proven)) {
    selection.status = Status::kOptimal;
  }
}

std::vector<MethodInfo> search_methods() {
  const auto greedy_options = describe_options<GreedyMethodOptions>();
  return {
      {.name = "gslda",
       .summary = "greedy sparse LDA: forward and backward pass, at every size the better set; with a bound",
       .takes_matrices = true,
       .takes_groups = true,
       .options = greedy_options,
       .run = greedy(Passes{true, true})},
      {.name = "forward-lda",
       .summary =
           "greedy sparse LDA, forward: the feature that raises the criterion most enters; any number of columns",
       .takes_matrices = true,
       .takes_groups = true,
       .options = greedy_options,
       .run = greedy(Passes{true, false})},
      {.name = "backward-lda",
       .summary = "greedy sparse LDA, backward: from all features, the one that is missed least leaves",
       .takes_matrices = true,
       .takes_groups = true,
       .options = greedy_options,
       .run = greedy(Passes{false, true})},
      {.name = "gspca",
       .summary =
           "greedy sparse PCA: forward and backward pass, at every size the better set; needs no labels",
       .needs_labels = false,
       .variance = true,
       .takes_matrices = true,
       .takes_groups = true,
       .options = {},
       .run = greedy(Passes{true, true})},
      {.name = "forward-pca",
       .summary = "greedy sparse PCA, forward; needs no labels, any number of columns",
       .needs_labels = false,
       .variance = true,
       .takes_matrices = true,
       .takes_groups = true,
       .options = {},
       .run = greedy(Passes{true, false})},
      {.name = "backward-pca",
       .summary = "greedy sparse PCA, backward; needs no labels",
       .needs_labels = false,
       .variance = true,
       .takes_matrices = true,
       .takes_groups = true,
       .options = {},
       .run = greedy(Passes{false, true})},
      {.name = "st",
       .summary =
           "simple thresholding: the largest loadings of the global discriminant (without labels: of the first principal component)",
       .needs_labels = false,
       .takes_matrices = true,
       .options = describe_options<ThresholdOptions>(),
       .run = run_threshold},
  };
}

}  // namespace subspectra
