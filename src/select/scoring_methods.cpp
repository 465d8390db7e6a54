#include "select/scoring_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "classify/classifier.hpp"
#include "core/text.hpp"
#include "resample/folds.hpp"
#include "scoring/gloss.hpp"
#include "scoring/lambda_path.hpp"
#include "scoring/plda.hpp"
#include "scoring/rvm_entry.hpp"
#include "scoring/sda.hpp"
#include "scoring/sfd.hpp"
#include "scoring/sulda.hpp"
#include "solvers/lambda_grid.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

namespace {
constexpr std::string_view kAutoPrefix = "auto:";
}  // namespace

LambdaChoice OptionCodec<LambdaChoice>::parse(std::string_view text) {
  if (text == "path") return {};
  if (text == "cv") return {.kind = LambdaChoice::Kind::kCv};
  if (text == "cv-min") return {.kind = LambdaChoice::Kind::kCvMin};
  if (text == "auto") return {.kind = LambdaChoice::Kind::kAuto};
  const bool fraction = text.starts_with(kAutoPrefix);
  try {
    const double value = OptionCodec<double>::parse(fraction ? text.substr(kAutoPrefix.size()) : text);
    if (value > 0.0 && fraction && value < 1.0) return {.kind = LambdaChoice::Kind::kAuto, .value = value};
    if (value > 0.0 && !fraction && std::isfinite(value))
      return {.kind = LambdaChoice::Kind::kValue, .value = value};
  } catch (const InvalidArgument&) {  // said below, with the words that are possible too
  }
  throw InvalidArgument(
      "a positive number, or path, cv, cv-min, auto, or auto:FRACTION (between 0 and 1, of the largest lambda) is needed");
}

std::string OptionCodec<LambdaChoice>::format(const LambdaChoice& choice) {
  switch (choice.kind) {
    case LambdaChoice::Kind::kPath:
      return "path";
    case LambdaChoice::Kind::kCv:
      return "cv";
    case LambdaChoice::Kind::kCvMin:
      return "cv-min";
    case LambdaChoice::Kind::kAuto:
      return choice.value > 0.0 ? std::string(kAutoPrefix) + OptionCodec<double>::format(choice.value)
                                : "auto";
    case LambdaChoice::Kind::kValue:
      break;
  }
  return OptionCodec<double>::format(choice.value);
}

nlohmann::json OptionCodec<LambdaChoice>::json(const LambdaChoice& choice) {
  if (choice.kind == LambdaChoice::Kind::kValue) return choice.value;
  return format(choice);
}

void LambdaOptions::validate() const {
  if (lambdas < 2)
    throw InvalidArgument({.field = "lambdas",
                           .value = fmt::to_string(lambdas),
                           .rule = "{value}, but a grid needs 2 or more"});
  if (!(lambda_ratio > 0.0 && lambda_ratio < 1.0)) {
    throw InvalidArgument({.field = "lambda_ratio",
                           .value = fmt::to_string(lambda_ratio),
                           .rule = "{value}, but a fraction between 0 and 1 is needed, as in 0.001"});
  }
}

namespace {

void require_not_negative(double value, std::string_view field) {
  if (value >= 0.0 && std::isfinite(value)) return;
  throw InvalidArgument({.field = std::string(field),
                         .value = fmt::to_string(value),
                         .rule = "{value}, but 0 or a positive number is needed"});
}

/// 1 and more of the largest would take out everything.
void require_fraction(double value, std::string_view field) {
  if (value >= 0.0 && value < 1.0) return;
  throw InvalidArgument({.field = std::string(field),
                         .value = fmt::to_string(value),
                         .rule = "{value}, but a fraction from 0 to below 1 is needed"});
}

void require_positive_option(double value, std::string_view field) {
  if (value > 0.0) return;
  throw InvalidArgument({.field = std::string(field),
                         .value = fmt::to_string(value),
                         .rule = "{value}, but a positive number is needed"});
}

// Every method is described by what is its own: defaults, options, and the solver made from them.

constexpr std::string_view kIterationsHelp = "stop after so many iterations";
constexpr std::string_view kSweepsHelp = "sweeps over the features in play, for one lambda";
constexpr std::string_view kRowsHelp =
    "stop when no row norm changes by more than this fraction of the largest; 0 runs all iterations";
constexpr std::string_view kPruneHelp =
    "a feature leaves for good when its variance falls below this fraction of the largest; 0 keeps all";
constexpr std::string_view kAlphaHelp = "of the penalty log|alpha I + X Gamma X'|; default lambda N";

using Effort = IterationOptions;  ///< `max_iterations`, `tolerance` and `threads`

struct RvmRow {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 1e-4, .auto_fraction = 0.05};
  static constexpr Effort kEffort{.max_iterations = 5000, .tolerance = 1e-5};
  static constexpr std::string_view kMost = kIterationsHelp, kEnough = kRowsHelp;
  double alpha = kInfinity;
  double prune = RvmOptions{}.prune;
  RvmUpdate rvm_update = RvmUpdate::kFast;

  void validate(LambdaOptions&) const {
    require_positive_option(alpha, "alpha");
    require_fraction(prune, "prune");
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("alpha", o.alpha, kAlphaHelp);
    field("prune", o.prune, kPruneHelp);
    field("rvm_update", o.rvm_update, "rule of the variances: fast, or em, the paper's (24)");
  }
  [[nodiscard]] auto solver(const ScoringProblem& problem, bool path, const Effort& effort) const {
    return rvm_row_solver(problem, {.alpha = std::isfinite(alpha) ? alpha : 0.0,
                                    .prune = prune,
                                    .update = rvm_update,
                                    .warm = path && prune > 0.0,
                                    .iterations = effort});
  }
};

struct RvmEntry {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 1e-4, .auto_fraction = 0.005};
  static constexpr Effort kEffort = RvmEntryOptions{}.iterations;
  static constexpr std::string_view
      kMost = kIterationsHelp,
      kEnough =
          "stop when no entry of B changes by more than this fraction of the largest; 0 runs all iterations";
  double alpha = kInfinity;

  void validate(LambdaOptions&) const { require_positive_option(alpha, "alpha"); }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("alpha", o.alpha, kAlphaHelp);
  }
  [[nodiscard]] auto solver(const ScoringProblem& problem, bool, const Effort& effort) const {
    return rvm_entry_solver(problem, {.alpha = std::isfinite(alpha) ? alpha : 0.0, .iterations = effort});
  }
};

template <bool kRows>
struct Jeffreys {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 1e-4, .auto_fraction = 0.03};
  static constexpr Effort kEffort = JeffreysOptions{}.iterations;
  static constexpr std::string_view kMost = kIterationsHelp, kEnough = kRowsHelp;
  double epsilon = JeffreysOptions{}.epsilon;
  double prune = JeffreysOptions{}.prune;

  void validate(LambdaOptions&) const {
    require_positive_option(epsilon, "epsilon");
    require_fraction(prune, "prune");
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("epsilon", o.epsilon, "of the penalty sum log(|b|^2 + epsilon)");
    field("prune", o.prune, kPruneHelp);
  }
  [[nodiscard]] auto solver(const ScoringProblem& problem, bool, const Effort& effort) const {
    const JeffreysOptions options{epsilon, prune, effort};
    return kRows ? jeffreys_row_solver(problem, options) : jeffreys_entry_solver(problem, options);
  }
};

struct NoOptions {
  static void validate(LambdaOptions&) {}
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
};

struct Gloss : NoOptions {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 0.02};
  static constexpr Effort kEffort{GlossOptions{}.max_sweeps, GlossOptions{}.tolerance};
  static constexpr std::string_view
      kMost = kSweepsHelp,
      kEnough = "stop when the duality gap is below this fraction of the objective at B = 0";
  [[nodiscard]] static auto solver(const ScoringProblem& problem, bool, const Effort& effort) {
    return gloss_solver(problem, {effort.tolerance, effort.max_iterations, effort.threads});
  }
};

struct Sda {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 0.02};
  static constexpr Effort kEffort{SdaOptions{}.max_iterations, SdaOptions{}.tolerance};
  static constexpr std::string_view kMost = "elastic nets for one discriminant",
                                    kEnough = "stop when the scores change by less than this fraction";
  double l2 = SdaOptions{}.l2;

  void validate(LambdaOptions&) const { require_not_negative(l2, "l2"); }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("l2", o.l2, "weight of the squared entries in the elastic net");
  }
  [[nodiscard]] auto solver(const ScoringProblem& problem, bool, const Effort& effort) const {
    SdaOptions options;
    options.l2 = l2;
    options.tolerance = effort.tolerance;
    options.max_iterations = effort.max_iterations;
    options.threads = effort.threads;
    return sda_solver(problem, options);
  }
};

struct Plda : NoOptions {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 0.01};
  static constexpr Effort kEffort{PldaOptions{}.max_iterations, PldaOptions{}.tolerance};
  static constexpr std::string_view
      kMost = "steps for one discriminant",
      kEnough = "stop when a step raises the criterion by less than this fraction; 0 runs all";
  [[nodiscard]] static auto solver(const ScoringProblem& problem, bool, const Effort& effort) {
    PldaOptions options;
    options.tolerance = effort.tolerance;
    options.max_iterations = effort.max_iterations;
    options.threads = effort.threads;
    return plda_solver(problem, options);
  }
};

struct Sulda : NoOptions {
  static constexpr bool kHasLambda = false;
  static constexpr LambdaOptions kGrid{.lambda = {.kind = LambdaChoice::Kind::kValue}};
  static constexpr Effort kEffort{SuldaOptions{}.max_iterations, SuldaOptions{}.tolerance};
  static constexpr std::string_view kMost = "pivots or steps for one discriminant",
                                    kEnough = "duality gap of each discriminant, relative to its l1 norm";
  [[nodiscard]] static auto solver(const ScoringProblem& problem, bool, const Effort& effort) {
    SuldaOptions options;
    options.tolerance = effort.tolerance;
    options.max_iterations = effort.max_iterations;
    options.threads = effort.threads;
    return sulda_solver(problem, options);
  }
};

struct Sfd {
  static constexpr LambdaOptions kGrid{.lambda_ratio = 0.02};
  static constexpr Effort kEffort{SfdOptions{}.max_sweeps, SfdOptions{}.tolerance};
  static constexpr std::string_view
      kMost = kSweepsHelp,
      kEnough = "stop when the duality gap is below this fraction of the objective at w = 0";
  double c = kInfinity;

  void validate(LambdaOptions& grid) const {
    if (!std::isfinite(c)) return;
    if (grid.lambda.kind != LambdaChoice::Kind::kPath) {
      throw InvalidArgument({.field = "C",
                             .value = fmt::to_string(c),
                             .rule = "and ⟨lambda⟩ say the same (lambda = 1/C)",
                             .way_out = "leave one out"});
    }
    require_positive_option(c, "C");
    grid.lambda = {.kind = LambdaChoice::Kind::kValue, .value = 1.0 / c};
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("C", o.c, "weight of the squared errors beside |w|_1, lambda = 1/C");
  }
  [[nodiscard]] static auto solver(const ScoringProblem& problem, bool, const Effort& effort) {
    return sfd_solver(problem, {effort.tolerance, effort.max_iterations, effort.threads});
  }
};

template <class Own>
constexpr bool has_lambda() {
  if constexpr (requires { Own::kHasLambda; }) return Own::kHasLambda;
  return true;
}

/// All options of a method: the lambdas, its own, and when to stop.
template <class Own>
struct ScoringOptions {
  LambdaOptions grid = Own::kGrid;
  Own own;
  Effort effort = Own::kEffort;

  void validate() {
    own.validate(grid);
    if (has_lambda<Own>()) grid.validate();
    require_not_negative(effort.tolerance, "tolerance");
    if (effort.max_iterations < 1) {
      throw InvalidArgument({.field = "max_iterations",
                             .value = fmt::to_string(effort.max_iterations),
                             .rule = "{value}, but 1 or more is needed"});
    }
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    if constexpr (has_lambda<Own>()) LambdaOptions::visit(o.grid, field);
    Own::visit(o.own, field);
    field("max_iterations", o.effort.max_iterations, Own::kMost);
    field("tolerance", o.effort.tolerance, Own::kEnough);
  }
  [[nodiscard]] std::unique_ptr<ScoringSolver> solver(const ScoringProblem& problem, bool path,
                                                      int threads) const {
    Effort all = effort;
    all.threads = threads;
    return own.solver(problem, path, all);
  }
};

/// The grid of a problem. A rising path ends a little below the largest lambda: at it the last variance
/// falls only like 1/t.
std::vector<double> grid_of(const ScoringSolver& solver, const LambdaOptions& grid) {
  constexpr double kBelow = 0.95;
  return lambda_grid(solver.lambda_max() * (solver.rising() ? kBelow : 1.0), grid.lambda_ratio, grid.lambdas);
}

using MakeSolver =
    std::function<std::unique_ptr<ScoringSolver>(const ScoringProblem&, bool path, int threads)>;

FittedDiscriminants record_of(const ScoringProblem& problem, const ScoringFit& fit) {
  FittedDiscriminants record;
  record.lambda = fit.lambda;
  record.matrix = fit.b.values;
  record.row_norms = fit.b.values.rowwise().norm();
  for (std::size_t i = 0; i < fit.b.rows.size(); ++i) {
    const Index j = fit.b.rows[i];
    record.features.push_back(problem.features[static_cast<std::size_t>(j)]);
    record.matrix.row(static_cast<Index>(i)) /= problem.scales[j];
  }
  record.entries = fit.b.entries();
  record.objective = fit.objective;
  if (fit.gap >= 0.0) record.duality_gap = fit.gap;
  record.iterations = fit.iterations;
  record.converged = fit.converged;
  return record;
}

/// What a lambda that leaves no feature gives.
FittedDiscriminants no_discriminants(Index count) {
  FittedDiscriminants none;
  none.matrix = Matrix::Zero(0, count);
  return none;
}

/// Fraction of the test rows that the discriminants' rule gets wrong.
double held_out_error(const Dataset& training, const Dataset& test, const FittedDiscriminants& record) {
  const Matrix posteriors = fit_rule(training, record, Lda{})->log_posteriors(test.columns(record.features));
  double wrong = 0.0, all = 0.0;
  for (Index i = 0; i < posteriors.rows(); ++i) {
    Index predicted = 0;
    posteriors.row(i).maxCoeff(&predicted);
    all += test.weight(i);
    if (predicted != test.labels()->codes[static_cast<std::size_t>(i)]) wrong += test.weight(i);
  }
  return wrong / all;
}

constexpr Index kLambdaFolds = 10;

/// The largest lambda whose error over ten folds is within one standard error of the smallest, or, for
/// kCvMin, is the smallest. What a fold and all rows share is the lambda as a part of the largest one, `top`
/// for all rows: lambda itself weighs more against fewer rows, and its scale differs between the methods.
/// Nothing when the control stopped it before every fold was done.
std::optional<double> cross_validated_lambda(const SelectionInput& input, LambdaChoice::Kind kind,
                                             const MakeSolver& make, double top,
                                             const std::vector<double>& lambdas, const RunControl& control) {
  const Dataset& data = input.data;
  const auto counts = data.labels()->counts();
  Index least = kLambdaFolds;
  for (const Index count : counts) {
    if (count > 0) least = std::min(least, count);
  }
  if (least < 2) {
    throw BadInput(
        {.file = data.source()},
        "⟨lambda cv⟩ holds out rows of every class, and a class has one row only; give ⟨lambda⟩ a value, or leave that class out");
  }
  SplitOptions protocol;
  protocol.cv.folds = least;
  constexpr std::uint64_t kStream = 1ULL << 50U;  // far from those of evaluate
  const auto splits = make_splits(*data.labels(), data.row_groups(), data.source(), protocol,
                                  Random(input.options.seed, kStream));
  Matrix errors(static_cast<Index>(splits.size()), static_cast<Index>(lambdas.size()));
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    const Dataset training = data.with_rows(complement(splits[fold], data.rows()));
    const Dataset test = data.with_rows(splits[fold]);
    const ScoringProblem problem = make_scoring_problem(training, input.candidates, input.options.threads,
                                                        input.options.memory_limit.bytes);
    const auto solver = make(problem, true, input.options.threads);
    const double own_top = solver->lambda_max();
    std::vector<double> own_lambdas = lambdas;
    for (double& lambda : own_lambdas) lambda *= top > 0.0 ? own_top / top : 0.0;
    std::vector<ScoringFit> fits;
    if (own_top > 0.0) fits = fit_lambda_path(*solver, own_lambdas, data.features(), control.silent());
    if (control.should_stop()) return std::nullopt;
    // A rising path may end early with nothing left; no features at those lambdas.
    std::map<double, double> error_at;
    for (const auto& fit : fits)
      error_at[fit.lambda] = held_out_error(training, test, record_of(problem, fit));
    const double nothing = held_out_error(training, test, no_discriminants(problem.discriminants()));
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      const auto found = error_at.find(own_lambdas[l]);
      errors(static_cast<Index>(fold), static_cast<Index>(l)) =
          found == error_at.end() ? nothing : found->second;
    }
    control.report("cross-validate lambda",
                   static_cast<double>(fold + 1) / static_cast<double>(splits.size()));
  }
  const Vector means = errors.colwise().mean();
  Index best = 0;
  means.minCoeff(&best);  // the first of several, the one with the largest lambda
  if (kind == LambdaChoice::Kind::kCvMin) return lambdas[static_cast<std::size_t>(best)];
  const auto folds = static_cast<double>(splits.size());
  const double error =
      std::sqrt((errors.col(best).array() - means[best]).square().sum() / (folds - 1.0) / folds);
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    if (means[static_cast<Index>(l)] <= means[best] + error) return lambdas[l];
  }
  return lambdas[static_cast<std::size_t>(best)];
}

/// Objective and loadings of a set, as for any other method; cross-validation has no use for them.
PathEntry entry_of_record(const SelectionInput& input, const FittedDiscriminants& record,
                          std::size_t number) {
  PathEntry entry;
  entry.features = record.features;
  entry.record = number;
  if (!input.options.certify) return entry;
  auto fitted = renormalize(input.pencil, entry.features, input.options.criterion, input.options.components,
                            input.options.threads);
  entry.objective = fitted.objective;
  entry.loadings = std::move(fitted.discriminants.vectors);
  return entry;
}

/// The records that `k` names.
void choose_sizes(const SelectionInput& input, bool stopped, Selection& selection) {
  std::vector<Index> sizes;
  for (const auto& record : selection.lambda_path)
    sizes.push_back(static_cast<Index>(record.features.size()));
  std::vector<std::string> warnings;
  const auto of_size = fits_by_size(sizes, input.k, warnings);
  if (stopped) warnings = {"stopped before the path over lambda was done: sizes may be missing"};
  selection.warnings.insert(selection.warnings.end(), warnings.begin(), warnings.end());
  if (of_size.empty()) return;
  for (const auto& [size, number] : of_size)
    selection.path.push_back(entry_of_record(input, selection.lambda_path[number], number));
  selection.chosen_record = of_size.rbegin()->second;
}

void run_scoring(const SelectionInput& input, const LambdaOptions& grid, bool has_grid,
                 const MakeSolver& make, const RunControl& control, Selection& selection) {
  if (!input.include.empty()) {
    throw InvalidArgument(
        {.field = "include",
         .rule = fmt::format(": method {} chooses by a penalty, which can leave out any feature",
                             selection.method),
         .way_out = "the greedy and exact methods take ⟨include⟩"});
  }
  const ScoringProblem problem = make_scoring_problem(input.data, input.candidates, input.options.threads,
                                                      input.options.memory_limit.bytes);
  const bool path = grid.lambda.kind == LambdaChoice::Kind::kPath;
  selection.own_rule = true;
  selection.size_fixed = !path;
  if (!path && input.options.k.given()) {
    selection.warnings.push_back(fmt::format(
        "⟨k⟩ is not used: {}",
        has_grid
            ? "lambda decides how many features are kept; without ⟨lambda⟩ a path of them is looked through for the size"
            : "the method has one answer, whatever its size"));
  }
  constexpr double kUnrelated = 1e-24;  // a correlation of 1e-12: rounding
  if (!(largest_product(problem, input.options.threads) > kUnrelated)) {
    selection.warnings.emplace_back(
        "no feature is related to the classes: the mean of every one is the same in all of them, and there is nothing to choose");
    selection.status = Status::kConverged;
    selection.lambda_path.push_back(no_discriminants(problem.discriminants()));
    if (!path) selection.chosen_record = 0;
    return;
  }
  std::vector<ScoringFit> fits;
  if (path) {
    const auto solver = make(problem, true, input.options.threads);
    fits = fit_lambda_path(*solver, grid_of(*solver, grid), input.k.hi, control);
  } else {
    double lambda = grid.lambda.value;
    if (grid.lambda.cross_validated()) {
      const auto solver = make(problem, true, input.options.threads);
      const auto chosen = cross_validated_lambda(input, grid.lambda.kind, make, solver->lambda_max(),
                                                 grid_of(*solver, grid), control);
      if (!chosen) {
        selection.warnings.emplace_back(
            "stopped before the cross-validation of lambda was done: nothing was chosen");
        selection.status = control.status_or(Status::kInterrupted);
        return;
      }
      lambda = *chosen;
    }
    const auto solver = make(problem, false, input.options.threads);
    if (grid.lambda.kind == LambdaChoice::Kind::kAuto) {
      const double fraction = grid.lambda.value > 0.0 ? grid.lambda.value : grid.auto_fraction;
      lambda = fraction * solver->lambda_max();
    }
    fits.push_back(solver->fit(lambda, control));
  }
  selection.status = Status::kConverged;
  for (const auto& fit : fits) selection.lambda_path.push_back(record_of(problem, fit));
  if (path) {
    choose_sizes(input, control.should_stop(), selection);
  } else if (!selection.lambda_path.empty()) {
    selection.chosen_record = 0;
    const auto& record = selection.lambda_path.front();
    constexpr std::size_t kMostJudged = 3000;  // a dense k x k matrix
    if (record.features.empty()) {
      selection.warnings.push_back(
          fmt::format("no feature is left at lambda {:.4g}; a smaller one keeps some", record.lambda));
    } else if (record.features.size() > kMostJudged) {
      selection.warnings.push_back(fmt::format(
          "{} features are too many to judge as one set: no objective is given", record.features.size()));
    } else {
      selection.path.push_back(entry_of_record(input, record, 0));
    }
  }
  // The sets that are shown speak for the status; the other lambdas of the grid were a way to get there.
  for (const auto& entry : selection.path) {
    if (!selection.lambda_path[*entry.record].converged)
      selection.status = worst(selection.status, Status::kIterationLimit);
  }
  if (selection.chosen_record && !selection.lambda_path[*selection.chosen_record].converged)
    selection.status = worst(selection.status, Status::kIterationLimit);
  const auto unfinished = [](const FittedDiscriminants& record) { return !record.converged; };
  if (selection.path.empty() &&
      std::any_of(selection.lambda_path.begin(), selection.lambda_path.end(), unfinished))
    selection.status = worst(selection.status, Status::kIterationLimit);
  selection.status = worst(selection.status, control.status_or(selection.status));
  if (!selection.chosen_record) return;
  const auto& chosen = selection.lambda_path[*selection.chosen_record];
  selection.weights = Vector::Zero(input.data.features());
  for (std::size_t i = 0; i < chosen.features.size(); ++i)
    selection.weights[chosen.features[i]] = chosen.row_norms[static_cast<Index>(i)];
  const auto& fit = fits[*selection.chosen_record];
  for (std::size_t i = 0; i < fit.trace.size(); ++i) {
    selection.trace.push_back(
        {.objective = fit.trace[i],
         .features = i < fit.working.size() ? std::optional(fit.working[i]) : std::nullopt});
  }
}

template <class Own>
ScoringOptions<Own> options_from(const OptionTexts& texts) {
  ScoringOptions<Own> options;
  set_options(options, texts);
  options.validate();
  return options;
}

template <class Own>
MethodInfo scoring_method(std::string_view name, std::string_view summary, bool two_classes_only = false) {
  return {.name = name,
          .summary = summary,
          .two_classes_only = two_classes_only,
          .fixes_size =
              [](const OptionTexts& texts) {
                return options_from<Own>(texts).grid.lambda.kind != LambdaChoice::Kind::kPath;
              },
          .options = describe_options<ScoringOptions<Own>>(),
          .run =
              [](const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
                 Selection& selection) {
                const auto options = options_from<Own>(texts);
                selection.method_options = options_json(options);
                run_scoring(
                    input, options.grid, has_lambda<Own>(),
                    [&](const ScoringProblem& problem, bool path, int threads) {
                      return options.solver(problem, path, threads);
                    },
                    control, selection);
              }};
}

}  // namespace

std::map<Index, std::size_t> fits_by_size(const std::vector<Index>& sizes, const KRange& k,
                                          std::vector<std::string>& warnings) {
  std::map<Index, std::size_t> of_size;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 0 && sizes[i] <= k.hi) of_size[sizes[i]] = i;
  }
  if (of_size.empty()) {
    warnings.push_back(fmt::format(
        "no lambda of the grid leaves between 1 and {} features; raise ⟨k⟩, make the grid finer (⟨lambdas⟩), or give ⟨lambda⟩ a value beyond it",
        k.hi));
    return of_size;
  }
  const Index largest = of_size.rbegin()->first;
  const bool one = k.lo == k.hi;
  if (largest < k.lo) {
    warnings.push_back(fmt::format(
        "no lambda of the grid leaves {} {}; the largest set below has {} (⟨lambdas⟩ makes the grid finer, ⟨lambda_ratio⟩ longer)",
        one ? "exactly" : "at least", counted(k.lo, "feature"), largest));
  }
  std::erase_if(of_size, [&](const auto& fit) { return fit.first != largest && (one || fit.first < k.lo); });
  return of_size;
}

std::vector<MethodInfo> scoring_methods() {
  return {
      scoring_method<RvmRow>("rvm-row", "optimal scoring: relevance vector machine on the rows of B"),
      scoring_method<RvmEntry>("rvm-entry", "optimal scoring: relevance vector machine on the entries of B"),
      scoring_method<Gloss>("gloss", "optimal scoring with a group lasso (convex)"),
      scoring_method<Sda>("sda",
                          "sparse discriminant analysis: elastic nets on scores fitted along with them"),
      scoring_method<Plda>("plda", "Fisher's discriminants with an l1 penalty and a diagonal covariance"),
      scoring_method<Sulda>("sulda", "sparsest in l1 of all uncorrelated LDA solutions (linear programs)"),
      scoring_method<Sfd>("sfd", "sparse Fisher discriminant: a lasso on +/-1 labels, for two classes", true),
      scoring_method<Jeffreys<true>>("jeffreys-row", "optimal scoring: Jeffreys' prior on the rows of B"),
      scoring_method<Jeffreys<false>>("jeffreys-entry",
                                      "optimal scoring: Jeffreys' prior on the entries of B"),
  };
}

}  // namespace subspectra
