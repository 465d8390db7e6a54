/// The way into the exact search: the bounds that are known at once, the explorer that suits the pencil, and
/// the engine.
#include "search/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <subspectra/error.hpp>

#include "core/options.hpp"
#include "device/plugin.hpp"
#include "linalg/tiled.hpp"
#include "search/card_sweep.hpp"
#include "search/certificate.hpp"
#include "search/exact_engine.hpp"
#include "search/exact_hooks.hpp"
#include "search/explorer.hpp"
#include "search/factor_problem.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace search {
namespace {

ExactResult search_once(const Pencil& pencil, const SearchUnits& units,
                        const std::vector<std::vector<RankedSet>>& start, const ExactRun& run,
                        const RunControl& control, const ExactHooks& hooks);

bool by_variance(const Pencil& pencil) { return pencil.b_is_identity() && pencil.factor() == nullptr; }

/// By size, the bounds that need no factorization: with far more candidates than rows the one from single
/// scores is below what all candidates reach together; for PCA the largest variances. O(n log n).
std::vector<double> bounds_at_once(const Pencil& pencil, const SearchUnits& units, const ExactRun& run) {
  std::vector<double> result;
  if (by_variance(pencil)) {
    const auto sums = variance_sums(pencil, units);
    for (Index k = run.k.lo; k <= run.k.hi; ++k) result.push_back(sums[static_cast<std::size_t>(k - 1)]);
    return result;
  }
  for (const auto& size : certificate(pencil, units, nullptr,
                                      {.criterion = run.criterion, .k = run.k, .threads = run.threads})) {
    const auto* upper = size.best_upper();
    result.push_back(upper != nullptr ? upper->second : kInfinity);
  }
  return result;
}

/// A search that was stopped before its first node, and before what it starts from was factorized: the sets
/// and the bounds that are known.
ExactResult unexplored(const Pencil& pencil, const SearchUnits& units,
                       const std::vector<std::vector<RankedSet>>& start, const std::vector<double>& known,
                       const ExactRun& run, const RunControl& control) {
  ExactResult result;
  result.status = control.status_or(Status::kInterrupted);
  const double all = by_variance(pencil) ? kInfinity : trace_bound(pencil, units, run);
  for (std::size_t i = 0; i < known.size(); ++i) {
    Pool pool(run.asked.pool);
    for (const auto& set : i < start.size() ? start[i] : std::vector<RankedSet>()) {
      try {
        const auto features = units.features(set.units);
        pool.offer(set.units, renormalize(pencil, features, run.criterion, 1, run.threads).objective);
      } catch (const Infeasible&) {  // linearly dependent: no answer
      }
    }
    ExactSize size{.pool = pool.sets()};
    size.upper_bound = std::max(std::min(known[i], all), pool.best());
    if (run.k.lo + static_cast<Index>(i) == units.count() && !pool.sets().empty())
      size.upper_bound = pool.best();  // there is only this one
    result.sizes.push_back(std::move(size));
  }
  result.open_nodes = 1;
  return result;
}

}  // namespace
}  // namespace search

double sets_to_sweep(const SearchUnits& units, const KRange& k) {
  const auto forced = static_cast<Index>(units.include.size());
  double sets = 0.0;
  for (Index size = std::max(k.lo, forced); size <= k.hi; ++size) {
    double of_size = 1.0;
    for (Index i = 0; i < size - forced && of_size < 1e300; ++i)
      of_size *= static_cast<double>(units.count() - forced - i) / static_cast<double>(i + 1);
    sets += of_size;
  }
  return sets;
}

bool suits_card(const Pencil& pencil, const SearchUnits& units, const KRange& k) {
  return units.one_each() && units.include.size() <= 1 && !pencil.b_is_identity() &&
         pencil.factor() != nullptr && k.hi >= 2 && k.hi <= search::kMostOnCard &&
         units.count() > search::kMostOnCard;
}

ExactSearch exact_search_for(const Pencil& pencil, const SearchUnits& units, const KRange& k,
                             const std::optional<ExactSearch>& wished) {
  if (!units.one_each() || pencil.b_is_identity()) return ExactSearch::kTree;
  if (wished) return *wished;
  const search::SweepTuning tuning;
  const Index n = units.count();
  if (n < tuning.least_candidates) return ExactSearch::kTree;
  const CovarianceOperator* const rows = pencil.origin().rows();
  if (n > tuning.most_matrix || (rows != nullptr && n > rows->rows())) return ExactSearch::kSweep;
  const auto candidates = static_cast<double>(n);
  return sets_to_sweep(units, k) <= tuning.sets_per_cube * candidates * candidates * candidates
             ? ExactSearch::kSweep
             : ExactSearch::kTree;
}

ExactResult exact_search(const Pencil& pencil, const SearchUnits& units,
                         const std::vector<std::vector<RankedSet>>& start, const ExactRun& run,
                         const RunControl& control) {
  return exact_search(pencil, units, start, run, control, {});
}

ExactResult exact_search(const Pencil& pencil, const SearchUnits& units,
                         const std::vector<std::vector<RankedSet>>& start, const ExactRun& run,
                         const RunControl& control, const ExactHooks& hooks) {
  ExactRun own = run;
  if (own.card && !suits_card(pencil, units, own.k)) own.card = nullptr;
  if (!own.card) return search::search_once(pencil, units, start, own, control, hooks);
  try {
    ExactResult result = search::search_once(pencil, units, start, own, control, hooks);
    result.card = own.card->description();
    return result;
  } catch (const device::Unable& unable) {
    own.card = nullptr;
    ExactResult result = search::search_once(pencil, units, start, own, control, hooks);
    result.card_problem = unable.marked();
    return result;
  }
}

namespace search {
namespace {

ExactResult search_once(const Pencil& pencil, const SearchUnits& units,
                        const std::vector<std::vector<RankedSet>>& start, const ExactRun& run,
                        const RunControl& control, const ExactHooks& hooks) {
  if (run.k.lo < 1 || run.k.hi < run.k.lo || run.k.hi > units.count()) {
    throw InvalidArgument({.field = "k",
                           .value = OptionCodec<KRange>::format(run.k),
                           .subject = "exact_search: k",
                           .rule = "must lie in 1..number of units"});
  }
  if (run.asked.pool < 1)
    throw InvalidArgument(
        {.field = "pool", .value = fmt::to_string(run.asked.pool), .rule = "must be at least 1"});
  if (!(run.asked.gap >= 0.0))
    throw InvalidArgument(
        {.field = "gap", .value = fmt::to_string(run.asked.gap), .rule = "must not be negative"});
  std::unique_ptr<search::Explorer> explorer;
  const auto known = search::bounds_at_once(pencil, units, run);
  // A checkpoint that is to be read or written needs the problem.
  const RunControl unstoppable;
  const bool may_leave = run.asked.checkpoint.empty() && run.asked.resume.empty();
  try {
    const RunControl& at_start = may_leave ? control : unstoppable;
    if (search::by_variance(pencil)) {
      explorer = search::perron_explorer(pencil, units, run, control, hooks);
    } else if (run.card || exact_search_for(pencil, units, run.k, hooks.search) == ExactSearch::kSweep) {
      explorer = search::sweep_explorer(pencil, units, run, at_start, hooks);
    } else {
      explorer = search::factor_explorer(pencil, units, run, at_start, hooks);
    }
  } catch (const linalg::Stopped&) {
    return search::unexplored(pencil, units, start, known, run, control);
  }
  return search::ExactEngine(*explorer, units, run, control, hooks.tuning.engine).run(start, known);
}

}  // namespace
}  // namespace search
}  // namespace subspectra
