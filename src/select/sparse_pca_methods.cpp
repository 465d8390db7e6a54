#include "select/sparse_pca_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "search/dspca.hpp"
#include "search/spca.hpp"
#include "select/record.hpp"
#include "select/search_methods.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

SpcaRidge OptionCodec<SpcaRidge>::parse(std::string_view text) {
  if (text == "auto") return {};
  if (text == "inf") return {.automatic = false, .value = kInfinity};
  try {
    const double value = OptionCodec<double>::parse(text);
    if (value >= 0.0) return {.automatic = false, .value = value};
  } catch (const InvalidArgument&) {  // answered below, with the whole rule
  }
  throw InvalidArgument("auto, inf or a number from 0 up is needed");
}
std::string OptionCodec<SpcaRidge>::format(const SpcaRidge& ridge) {
  if (ridge.automatic) return "auto";
  return fmt::to_string(ridge.value);  // "inf" as well
}
nlohmann::json OptionCodec<SpcaRidge>::json(const SpcaRidge& ridge) {
  if (ridge.automatic || std::isinf(ridge.value)) return format(ridge);
  return ridge.value;
}

namespace {

void validate_effort(Index max_iterations, double tolerance) {
  if (max_iterations < 1)
    throw InvalidArgument({.field = "max_iterations",
                           .value = fmt::to_string(max_iterations),
                           .rule = "{value}, but 1 or more is needed"});
  if (!(tolerance >= 0.0 && tolerance < 1.0)) {
    throw InvalidArgument({.field = "tolerance",
                           .value = fmt::to_string(tolerance),
                           .rule = "{value}, but 0 or a fraction below 1 is needed, as in 1e-4"});
  }
}

}  // namespace

void Spca::validate() const {
  require_lambda_grid(lambdas, lambda_ratio);
  if (!(l2.value >= 0.0))
    throw InvalidArgument(
        {.field = "l2", .value = fmt::to_string(l2.value), .rule = "{value}, but 0 <= l2 is needed"});
  if (lambda.cross_validated()) {
    throw InvalidArgument({.field = "lambda",
                           .value = "cv",
                           .rule = "{value}: spca has no labels to be wrong about",
                           .way_out = "use ⟨k⟩, a number, or ⟨lambda auto:F⟩"});
  }
  validate_effort(max_iterations, tolerance);
}

void Dspca::validate() const {
  if (!(rho >= 0.0))
    throw InvalidArgument({.field = "rho",
                           .value = fmt::to_string(rho),
                           .rule = "{value}, but 0 or a positive number is needed"});
  validate_effort(max_iterations, tolerance);
}

namespace {

/// Objective and loadings of a set, as for any other method; cross-validation has no use for them.
PathEntry entry_of_component(const Problem& problem, std::vector<Index> features) {
  PathEntry entry;
  entry.features = std::move(features);
  if (!problem.options().certify) return entry;
  auto fitted = renormalize(problem.pencil(), entry.features, problem.options().criterion, 1,
                            problem.options().threads);
  entry.objective = fitted.objective;
  entry.loadings = fitted.discriminants.vectors;
  return entry;
}

std::vector<Index> columns_at(const Problem& problem, std::vector<Index> places) {
  for (Index& j : places) j = problem.candidates()[static_cast<std::size_t>(j)];
  return places;
}

/// Both look for directions of large variance in A alone: beside a B their sets and bounds would mean
/// nothing.
void refuse_pair(const Problem& problem, const MethodTraits& method) {
  if (problem.pencil().b_is_identity()) return;
  throw InvalidArgument({.field = "method",
                         .value = std::string(method.name),
                         .subject = std::string(method.name),
                         .rule = "is for a table or a single covariance (⟨covariance⟩), not for a pair",
                         .way_out = "gspca and espca take ⟨between⟩ and ⟨within⟩"});
}

/// The sizes of the range that no lambda gave, said; an answer that lacks some is not proven as a whole.
void tell_missing(const KRange& k, Selection& selection) {
  std::vector<std::string> missing;
  for (const Index size : k.sizes()) {
    const bool found = std::any_of(selection.sets().begin(), selection.sets().end(),
                                   [&](const PathEntry& entry) { return entry.k() == size; });
    if (!found) missing.push_back(std::to_string(size));
  }
  if (missing.empty()) return;
  selection.status = worst(selection.status, Status::kHeuristic);
  if (k.lo < k.hi && !selection.sets().empty()) {
    selection.warnings.push_back(fmt::format(
        "no lambda leaves exactly {} features: {} left out (features that vary together enter together; gspca has every size)",
        join_some(missing), missing.size() == 1 ? "this size is" : "these sizes are"));
  }
}

}  // namespace

Selection Spca::run(const Problem& problem, const RunControl& control) const {
  refuse_pair(problem, kTraits);
  Spca own = *this;  // with the ridge that is used
  if (!problem.include().empty()) {
    throw InvalidArgument({.field = "include",
                           .rule = ": spca chooses by a penalty, which can leave out any feature",
                           .way_out = "gspca and espca take ⟨include⟩"});
  }
  const bool from_rows = problem.pencil().rows() != nullptr;
  if (own.l2.automatic) {
    const bool wide = from_rows && static_cast<Index>(problem.candidates().size()) > problem.data().rows();
    own.l2 = {.automatic = false, .value = wide ? kInfinity : own.l2.value};
  }
  Selection selection = answer_of(own);
  const auto table =
      from_rows ? spca_table(problem.data(), problem.candidates(), problem.options().threads,
                             problem.options().memory_limit.bytes)
                : spca_table(problem.pencil().a_block(problem.candidates(), problem.options().threads));
  SpcaSolver solver(table, own, problem.options().threads);
  std::vector<SpcaFit> fits;
  const LambdaChoice& choice = own.lambda;
  if (choice.kind == LambdaChoice::Kind::kPath) {
    fits = spca_path(solver, problem.k().lo, problem.k().hi, own.lambdas, own.lambda_ratio, control);
  } else {
    const double fraction = choice.value > 0.0 ? choice.value : kAutoFraction;
    const double used =
        choice.kind == LambdaChoice::Kind::kValue ? choice.value : fraction * solver.lambda_max();
    selection.size_fixed = true;
    fits.push_back(solver.fit({used}, control));
  }
  selection.status = Status::kHeuristic;
  auto list = nlohmann::json::array();
  std::vector<Index> sizes;
  for (const auto& fit : fits) {
    sizes.push_back(static_cast<Index>(fit.support().size()));
    list.push_back({{"lambda", fit.lambdas[0]},
                    {"features", sizes.back()},
                    {"iterations", fit.iterations},
                    {"converged", fit.converged}});
  }
  record_of(selection)["fits"] = std::move(list);
  const SpcaFit* largest = nullptr;
  const auto take = [&](const SpcaFit& fit) {
    selection.sets().push_back(entry_of_component(problem, columns_at(problem, fit.support())));
    if (!fit.converged) selection.status = worst(selection.status, Status::kIterationLimit);
    largest = &fit;
  };
  if (selection.size_fixed) {
    if (sizes[0] > 0) take(fits[0]);
    if (sizes[0] == 0) {
      selection.warnings.push_back(
          fmt::format("no feature is left at lambda {:.4g}; a smaller one keeps some", fits[0].lambdas[0]));
    }
  } else {
    for (const auto& [size, number] : fits_by_size(sizes, problem.k(), selection.warnings))
      take(fits[number]);
  }
  selection.status = worst(selection.status, control.status_or(selection.status));
  if (largest == nullptr) return selection;
  const Status reached = selection.status;
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i)
    selection.weights[problem.candidates()[i]] = std::abs(largest->b(static_cast<Index>(i), 0));
  for (const double objective : largest->trace) selection.trace.push_back({.objective = objective});
  certify(problem, nullptr, control, selection);
  if (!selection.size_fixed && reached != Status::kInterrupted && reached != Status::kTimeLimit)
    tell_missing(problem.k(), selection);
  return selection;
}

namespace {

/// The set of a given penalty: the entries of the leading eigenvector that are not small.
std::vector<Index> not_small(const DspcaSolution& solution, const std::vector<Index>& include) {
  constexpr double kSmall = 1e-2;  // of the largest: a first-order method leaves no exact zeros
  const Vector sizes = solution.leading.cwiseAbs();
  const auto count = static_cast<Index>((sizes.array() > kSmall * sizes.maxCoeff()).count());
  return dspca_support(solution, std::max(count, static_cast<Index>(include.size())), include);
}

}  // namespace

Selection Dspca::run(const Problem& problem, const RunControl& control) const {
  refuse_pair(problem, kTraits);
  Selection selection = answer_of(*this);
  const auto n = static_cast<Index>(problem.candidates().size());
  if (n > DspcaSolver::kMostFeatures) {
    throw InvalidArgument(fmt::format(
        "dspca: {} features vary, but every step decomposes a matrix of that size and no more than {} are taken; leave some out with ⟨exclude⟩, or use gspca, espca or spca",
        n, DspcaSolver::kMostFeatures));
  }
  std::vector<Index> include;
  for (const Index j : problem.include()) {
    include.push_back(std::lower_bound(problem.candidates().begin(), problem.candidates().end(), j) -
                      problem.candidates().begin());
  }
  DspcaSolver solver(problem.pencil().a_block(problem.candidates(), problem.options().threads), *this,
                     problem.options().memory_limit.bytes);
  selection.status = Status::kHeuristic;
  auto list = nlohmann::json::array();
  std::map<Index, double> bounds;
  const auto take = [&](const DspcaSolution& solution, std::vector<Index> places) {
    const auto k = static_cast<Index>(places.size());
    list.push_back({{"k", k},
                    {"rho", solution.rho},
                    {"primal", solution.primal},
                    {"dual", solution.dual},
                    {"iterations", solution.iterations},
                    {"converged", solution.converged}});
    if (!solution.converged) selection.status = worst(selection.status, Status::kIterationLimit);
    if (problem.options().certify) bounds[k] = dspca_bound(solution, k, problem.options().threads);
    selection.sets().push_back(entry_of_component(problem, columns_at(problem, std::move(places))));
  };
  if (std::isfinite(rho)) {
    selection.size_fixed = true;
    const auto solution = solver.of_penalty(rho, control);
    take(solution, not_small(solution, include));
  } else {
    double done = 0.0;
    for (const Index k : problem.k().sizes()) {
      const auto solution = solver.of_size(k, control);
      take(solution, dspca_support(solution, k, include));
      if (control.should_stop()) break;
      control.report("dspca", ++done / static_cast<double>(problem.k().count()));
    }
  }
  record_of(selection)["relaxation"] = std::move(list);
  selection.status = worst(selection.status, control.status_or(selection.status));
  certify(problem, nullptr, control, selection);
  offer_sdp_bounds(problem, bounds, selection);
  return selection;
}

std::map<Index, double> sdp_bounds(const Problem& problem, const KRange& sizes, const RunControl& control) {
  constexpr double kWork = 2e10;  // flops of all steps: some seconds
  constexpr Index kSteps = 200, kFewest = 20;
  std::map<Index, double> bounds;
  if (!problem.options().bounds || !problem.options().certify || !problem.units().single ||
      !problem.pencil().b_is_identity() || problem.pencil().factor() != nullptr) {
    return bounds;
  }
  const auto n = static_cast<double>(problem.candidates().size());
  const double steps = kWork / (10.0 * n * n * n * static_cast<double>(sizes.count()));
  if (steps < static_cast<double>(kFewest) || n > static_cast<double>(DspcaSolver::kMostFeatures))
    return bounds;
  DspcaSolver solver(
      problem.pencil().a_block(problem.candidates(), problem.options().threads),
      {.max_iterations = static_cast<Index>(std::min(steps, static_cast<double>(kSteps))), .tolerance = 1e-5},
      problem.options().memory_limit.bytes);
  for (const Index k : sizes.sizes()) {
    if (control.should_stop()) break;
    bounds[k] = dspca_bound(solver.of_size(k, control), k, problem.options().threads);
  }
  return bounds;
}

void offer_sdp_bounds(const Problem& problem, const std::map<Index, double>& bounds, Selection& selection) {
  for (auto& entry : selection.sets()) {
    const auto at = bounds.find(entry.k());
    // All features together: there is one set, and its bound is its value.
    if (at == bounds.end() || entry.k() == problem.units().count()) continue;
    // A bound that rounding took below the value of a set it bounds is that value; by more than rounding it
    // is none.
    constexpr double kRounding = 1e-6;
    const double bound = at->second;
    if (!std::isfinite(bound) || bound < entry.objective * (1.0 - kRounding)) continue;
    const double value = std::max(bound, entry.objective);
    if (entry.bounds) entry.bounds->upper.emplace_back("sdp", value);
    if (entry.upper_bound && !(value < *entry.upper_bound)) continue;
    entry.upper_bound = value;
    entry.bound = "sdp";
  }
  mark_proven(selection);
}

}  // namespace subspectra
