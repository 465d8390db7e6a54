#include "select/sparse_pca_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
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
  return std::isinf(ridge.value) ? "inf" : OptionCodec<double>::format(ridge.value);
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

void SpcaMethodOptions::validate() const {
  grid.validate();
  if (grid.lambda.cross_validated()) {
    throw InvalidArgument({.field = "lambda",
                           .value = "cv",
                           .rule = "{value}: spca has no labels to be wrong about",
                           .way_out = "use ⟨k⟩, a number, or auto:FRACTION"});
  }
  validate_effort(max_iterations, tolerance);
}

void DspcaMethodOptions::validate() const {
  if (!(rho >= 0.0))
    throw InvalidArgument({.field = "rho",
                           .value = fmt::to_string(rho),
                           .rule = "{value}, but 0 or a positive number is needed"});
  validate_effort(max_iterations, tolerance);
}

namespace {

/// Objective and loadings of a set, as for any other method; cross-validation has no use for them.
PathEntry entry_of_component(const SelectionInput& input, std::vector<Index> features) {
  PathEntry entry;
  entry.features = std::move(features);
  if (!input.options.certify) return entry;
  auto fitted = renormalize(input.pencil, entry.features, input.options.criterion, 1, input.options.threads);
  entry.objective = fitted.objective;
  entry.loadings = std::move(fitted.discriminants.vectors);
  return entry;
}

std::vector<Index> columns_at(const SelectionInput& input, std::vector<Index> places) {
  for (Index& j : places) j = input.candidates[static_cast<std::size_t>(j)];
  return places;
}

/// Both look for directions of large variance in A alone: beside a B their sets and bounds would mean
/// nothing.
void refuse_pair(const SelectionInput& input, const Selection& selection) {
  if (input.pencil.b_is_identity()) return;
  throw InvalidArgument({.field = "method",
                         .value = selection.method,
                         .subject = selection.method,
                         .rule = "is for a table or a single covariance (⟨covariance⟩), not for a pair",
                         .way_out = "gspca and espca take ⟨between⟩ and ⟨within⟩"});
}

/// The sizes of the range that no lambda gave, said; an answer that lacks some is not proven as a whole.
void tell_missing(const KRange& k, Selection& selection) {
  std::vector<std::string> missing;
  for (Index size = k.lo; size <= k.hi; ++size) {
    const bool found = std::any_of(selection.path.begin(), selection.path.end(),
                                   [&](const PathEntry& entry) { return entry.k() == size; });
    if (!found) missing.push_back(std::to_string(size));
  }
  if (missing.empty()) return;
  selection.status = worst(selection.status, Status::kHeuristic);
  if (k.lo < k.hi && !selection.path.empty()) {
    selection.warnings.push_back(fmt::format(
        "no lambda leaves exactly {} features: {} left out (features that vary together enter together; gspca has every size)",
        join_some(missing), missing.size() == 1 ? "this size is" : "these sizes are"));
  }
}

void run_spca(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
              Selection& selection) {
  refuse_pair(input, selection);
  SpcaMethodOptions own;
  set_options(own, texts);
  own.validate();
  if (!input.include.empty()) {
    throw InvalidArgument({.field = "include",
                           .rule = ": spca chooses by a penalty, which can leave out any feature",
                           .way_out = "gspca and espca take ⟨include⟩"});
  }
  const bool from_rows = input.pencil.rows() != nullptr;
  if (own.l2.automatic) {
    const bool wide = from_rows && static_cast<Index>(input.candidates.size()) > input.data.rows();
    own.l2 = {.automatic = false, .value = wide ? kInfinity : own.l2.value};
  }
  selection.method_options = options_json(own);
  const auto table = from_rows ? spca_table(input.data, input.candidates, input.options.threads,
                                            input.options.memory_limit.bytes)
                               : spca_table(input.pencil.a_block(input.candidates, input.options.threads));
  Spca solver(table, {.l2 = own.l2.value,
                      .tolerance = own.tolerance,
                      .max_iterations = own.max_iterations,
                      .threads = input.options.threads});
  std::vector<SpcaFit> fits;
  const auto& choice = own.grid.lambda;
  if (choice.kind == LambdaChoice::Kind::kPath) {
    fits = spca_path(solver, input.k.lo, input.k.hi, own.grid.lambdas, own.grid.lambda_ratio, control);
  } else {
    const double fraction = choice.value > 0.0 ? choice.value : own.grid.auto_fraction;
    const double lambda =
        choice.kind == LambdaChoice::Kind::kValue ? choice.value : fraction * solver.lambda_max();
    selection.size_fixed = true;
    fits.push_back(solver.fit({lambda}, control));
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
  selection.method_options["fits"] = std::move(list);
  const SpcaFit* largest = nullptr;
  const auto take = [&](const SpcaFit& fit) {
    selection.path.push_back(entry_of_component(input, columns_at(input, fit.support())));
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
    for (const auto& [size, number] : fits_by_size(sizes, input.k, selection.warnings)) take(fits[number]);
  }
  selection.status = worst(selection.status, control.status_or(selection.status));
  if (largest == nullptr) return;
  const Status reached = selection.status;
  selection.weights = Vector::Zero(input.data.features());
  for (std::size_t i = 0; i < input.candidates.size(); ++i)
    selection.weights[input.candidates[i]] = std::abs(largest->b(static_cast<Index>(i), 0));
  for (const double objective : largest->trace) selection.trace.push_back({.objective = objective});
  certify(input, nullptr, control, selection);
  if (!selection.size_fixed && reached != Status::kInterrupted && reached != Status::kTimeLimit)
    tell_missing(input.k, selection);
}

/// The set of a given penalty: the entries of the leading eigenvector that are not small.
std::vector<Index> not_small(const DspcaSolution& solution, const std::vector<Index>& include) {
  constexpr double kSmall = 1e-2;  // of the largest: a first-order method leaves no exact zeros
  const Vector sizes = solution.leading.cwiseAbs();
  const auto count = static_cast<Index>((sizes.array() > kSmall * sizes.maxCoeff()).count());
  return dspca_support(solution, std::max(count, static_cast<Index>(include.size())), include);
}

void run_dspca(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
               Selection& selection) {
  refuse_pair(input, selection);
  DspcaMethodOptions own;
  set_options(own, texts);
  own.validate();
  selection.method_options = options_json(own);
  const auto n = static_cast<Index>(input.candidates.size());
  if (n > Dspca::kMostFeatures) {
    throw InvalidArgument(fmt::format(
        "dspca: {} features vary, but every step decomposes a matrix of that size and no more than {} are taken; leave some out with ⟨exclude⟩, or use gspca, espca or spca",
        n, Dspca::kMostFeatures));
  }
  std::vector<Index> include;
  for (const Index j : input.include) {
    include.push_back(std::lower_bound(input.candidates.begin(), input.candidates.end(), j) -
                      input.candidates.begin());
  }
  Dspca solver(input.pencil.a_block(input.candidates, input.options.threads),
               {.tolerance = own.tolerance,
                .max_iterations = own.max_iterations,
                .memory_limit = input.options.memory_limit.bytes});
  selection.status = Status::kHeuristic;
  auto list = nlohmann::json::array();
  std::vector<double> bounds;
  const auto take = [&](const DspcaSolution& solution, std::vector<Index> places) {
    const auto k = static_cast<Index>(places.size());
    list.push_back({{"k", k},
                    {"rho", solution.rho},
                    {"primal", solution.primal},
                    {"dual", solution.dual},
                    {"iterations", solution.iterations},
                    {"converged", solution.converged}});
    if (!solution.converged) selection.status = worst(selection.status, Status::kIterationLimit);
    if (input.options.certify) bounds.push_back(dspca_bound(solution, k, input.options.threads));
    selection.path.push_back(entry_of_component(input, columns_at(input, std::move(places))));
  };
  if (std::isfinite(own.rho)) {
    selection.size_fixed = true;
    const auto solution = solver.of_penalty(own.rho, control);
    take(solution, not_small(solution, include));
  } else {
    for (Index k = input.k.lo; k <= input.k.hi; ++k) {
      const auto solution = solver.of_size(k, control);
      take(solution, dspca_support(solution, k, include));
      if (control.should_stop()) break;
      control.report("dspca", static_cast<double>(k - input.k.lo + 1) /
                                  static_cast<double>(input.k.hi - input.k.lo + 1));
    }
  }
  selection.method_options["relaxation"] = std::move(list);
  selection.status = worst(selection.status, control.status_or(selection.status));
  certify(input, nullptr, control, selection);
  if (!selection.path.empty()) offer_sdp_bounds(input, selection.path.front().k(), bounds, selection);
}

}  // namespace

std::vector<double> sdp_bounds(const SelectionInput& input, const KRange& sizes, const RunControl& control) {
  constexpr double kWork = 2e10;  // flops of all steps: some seconds
  constexpr Index kSteps = 200, kFewest = 20;
  const Index count = sizes.hi - sizes.lo + 1;
  std::vector<double> bounds(static_cast<std::size_t>(count), kInfinity);
  if (!input.options.bounds || !input.options.certify || !input.units.single ||
      !input.pencil.b_is_identity() || input.pencil.factor() != nullptr) {
    return bounds;
  }
  const auto n = static_cast<double>(input.candidates.size());
  const double steps = kWork / (10.0 * n * n * n * static_cast<double>(count));
  if (steps < static_cast<double>(kFewest) || n > static_cast<double>(Dspca::kMostFeatures)) return bounds;
  Dspca solver(input.pencil.a_block(input.candidates, input.options.threads),
               {.tolerance = 1e-5,
                .max_iterations = static_cast<Index>(std::min(steps, static_cast<double>(kSteps))),
                .memory_limit = input.options.memory_limit.bytes});
  for (Index k = sizes.lo; k <= sizes.hi && !control.should_stop(); ++k) {
    bounds[static_cast<std::size_t>(k - sizes.lo)] =
        dspca_bound(solver.of_size(k, control), k, input.options.threads);
  }
  return bounds;
}

void offer_sdp_bounds(const SelectionInput& input, Index lo, const std::vector<double>& bounds,
                      Selection& selection) {
  for (auto& entry : selection.path) {
    const Index at = entry.k() - lo;
    // All features together: there is one set, and its bound is its value.
    if (at < 0 || at >= static_cast<Index>(bounds.size()) || entry.k() == input.units.count()) continue;
    // A bound that rounding took below the value of a set it bounds is that value; by more than rounding it
    // is none.
    constexpr double kRounding = 1e-6;
    const double bound = bounds[static_cast<std::size_t>(at)];
    if (!std::isfinite(bound) || bound < entry.objective * (1.0 - kRounding)) continue;
    const double value = std::max(bound, entry.objective);
    if (entry.bounds) entry.bounds->upper.emplace_back("sdp", value);
    if (entry.upper_bound && !(value < *entry.upper_bound)) continue;
    entry.upper_bound = value;
    entry.bound = "sdp";
  }
  mark_proven(selection);
}

std::vector<MethodInfo> sparse_pca_methods() {
  return {
      {.name = "spca",
       .summary =
           "sparse PCA by regression: elastic nets on the component, which follows them (Zou et al.); needs no labels",
       .needs_labels = false,
       .variance = true,
       .takes_matrices = true,
       .fixes_size =
           [](const OptionTexts& texts) {
             SpcaMethodOptions own;
             set_options(own, texts);
             return own.grid.lambda.kind != LambdaChoice::Kind::kPath;
           },
       .options = describe_options<SpcaMethodOptions>(),
       .run = run_spca},
      {.name = "dspca",
       .summary =
           "sparse PCA by a semidefinite program (d'Aspremont et al.), with its own bound; needs no labels",
       .needs_labels = false,
       .variance = true,
       .takes_matrices = true,
       .fixes_size =
           [](const OptionTexts& texts) {
             DspcaMethodOptions own;
             set_options(own, texts);
             return std::isfinite(own.rho);
           },
       .options = describe_options<DspcaMethodOptions>(),
       .run = run_dspca}};
}

}  // namespace subspectra
