#include "select/scoring_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "classify/classifier.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "resample/folds.hpp"
#include "scoring/gloss.hpp"
#include "scoring/lambda_path.hpp"
#include "scoring/plda.hpp"
#include "scoring/reweighted.hpp"
#include "scoring/rvm_entry.hpp"
#include "scoring/sda.hpp"
#include "scoring/sfd.hpp"
#include "scoring/sulda.hpp"
#include "select/record.hpp"
#include "select/start.hpp"
#include "solvers/lambda_grid.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

namespace {
constexpr std::string_view kAutoPrefix = "auto:";
}  // namespace

LambdaChoice OptionCodec<LambdaChoice>::parse(std::string_view text) {
  if (text == "path") return {};
  if (text == "cv") return LambdaChoice::Kind::kCv;
  if (text == "cv-min") return LambdaChoice::Kind::kCvMin;
  if (text == "auto") return LambdaChoice::Kind::kAuto;
  const bool fraction = text.starts_with(kAutoPrefix);
  try {
    const double value = OptionCodec<double>::parse(fraction ? text.substr(kAutoPrefix.size()) : text);
    if (value > 0.0 && fraction && value < 1.0) return {LambdaChoice::Kind::kAuto, value};
    if (value > 0.0 && !fraction && std::isfinite(value)) return {LambdaChoice::Kind::kValue, value};
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
      return choice.value == 0.0 ? "auto" : fmt::format("{}{}", kAutoPrefix, choice.value);
    case LambdaChoice::Kind::kValue:
      break;
  }
  return fmt::to_string(choice.value);
}

nlohmann::json OptionCodec<LambdaChoice>::json(const LambdaChoice& choice) {
  if (choice.kind == LambdaChoice::Kind::kValue) return choice.value;
  return format(choice);
}

void require_lambda_grid(Index lambdas, double lambda_ratio) {
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

template <class M>
constexpr bool kHasLambda = requires(M own) {
  own.lambda;
};

template <class M>
constexpr bool kHasStart = requires(M own) {
  own.start;
};

/// Its columns may be read in blocks.
template <class M>
constexpr bool kReadsBlocks = std::is_same_v<M, Gloss> || std::is_same_v<M, Sfd>;

/// The solver of a method. `path`: it will be asked for one lambda after another.
std::unique_ptr<ScoringSolver> make_solver(const RvmRow& own, const ScoringProblem& problem, bool path,
                                           int threads) {
  return rvm_row_solver(problem, own, threads, path && own.prune > 0.0);
}
std::unique_ptr<ScoringSolver> make_solver(const RvmEntry& own, const ScoringProblem& problem, bool,
                                           int threads) {
  return rvm_entry_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const JeffreysRow& own, const ScoringProblem& problem, bool,
                                           int threads) {
  return jeffreys_row_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const JeffreysEntry& own, const ScoringProblem& problem, bool,
                                           int threads) {
  return jeffreys_entry_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const Gloss& own, const ScoringProblem& problem, bool,
                                           int threads) {
  return gloss_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const Sfd& own, const ScoringProblem& problem, bool, int threads) {
  return sfd_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const Sda& own, const ScoringProblem& problem, bool, int threads) {
  return sda_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const Plda& own, const ScoringProblem& problem, bool,
                                           int threads) {
  return plda_solver(problem, own, threads);
}
std::unique_ptr<ScoringSolver> make_solver(const Sulda& own, const ScoringProblem& problem, bool,
                                           int threads) {
  return sulda_solver(problem, own, threads);
}

/// What a run needs to know of the lambdas, whatever the method.
struct LambdaGrid {
  LambdaChoice lambda;
  Index lambdas = 0;
  double lambda_ratio = 0.0;
  double auto_fraction = 0.0;
  double auto_noise = kInfinity;  ///< times noise_fraction(), where that is less than auto_fraction
  bool has_lambda = true;
};

template <class M>
LambdaGrid grid_of_method(const M& own) {
  if constexpr (kHasLambda<M>) {
    LambdaChoice lambda = own.lambda;
    if constexpr (requires { own.C; }) {
      if (std::isfinite(own.C)) lambda = 1.0 / own.C;
    }
    LambdaGrid grid{lambda, own.lambdas, own.lambda_ratio, M::kAutoFraction};
    if constexpr (requires { M::kAutoNoise; }) grid.auto_noise = M::kAutoNoise;
    return grid;
  } else {
    return {.lambda = LambdaChoice::Kind::kValue, .has_lambda = false};
  }
}

/// What the options of the methods have in common.
template <class M>
void require_scoring_options(const M& own) {
  if constexpr (kHasLambda<M>) require_lambda_grid(own.lambdas, own.lambda_ratio);
  if constexpr (kHasStart<M>) {
    if (!own.start.given() && own.start.kind != StartKind::kEqual) {
      throw InvalidArgument({.field = "start",
                             .value = OptionCodec<Start>::format(own.start),
                             .rule = "{value}: optimal scoring has no such start",
                             .way_out = "leave it out, or give the scores with ⟨start @FILE⟩"});
    }
  }
  require_not_negative(own.tolerance, "tolerance");
  if (own.max_iterations < 1) {
    throw InvalidArgument({.field = "max_iterations",
                           .value = fmt::to_string(own.max_iterations),
                           .rule = "{value}, but 1 or more is needed"});
  }
}

/// The grid of a problem. A rising path ends a little below the largest lambda: at it the last variance
/// falls only like 1/t.
std::vector<double> grid_of(const ScoringSolver& solver, const LambdaGrid& grid) {
  constexpr double kBelow = 0.95;
  return lambda_grid(solver.lambda_max() * (solver.rising() ? kBelow : 1.0), grid.lambda_ratio, grid.lambdas);
}

/// What noise alone reaches, as a part of the largest lambda: of q features without any relation to the
/// classes the largest |x_i'Y Theta|^2 is about (L + 2 sqrt(L log q) + 2 log q)/N (Laurent & Massart's bound
/// on chi-squared with L degrees of freedom), and the largest lambda belongs to the largest that there is. It
/// falls like 1/sqrt(N): many rows tell features apart from noise that few do not.
double noise_fraction(const ScoringProblem& scoring, int threads) {
  const double log_q = std::log(static_cast<double>(std::max<Index>(2, scoring.columns())));
  const auto l = static_cast<double>(scoring.discriminants());
  const double noise = (l + 2.0 * std::sqrt(l * log_q) + 2.0 * log_q) / static_cast<double>(scoring.rows());
  return std::sqrt(noise / largest_product(scoring, threads));
}

using MakeSolver = std::function<std::unique_ptr<ScoringSolver>(const ScoringProblem&, bool path)>;

FittedDiscriminants fitted_record(const ScoringProblem& problem, const ScoringFit& fit) {
  FittedDiscriminants record;
  record.lambda = fit.lambda;
  Matrix matrix = fit.b.values;
  record.row_norms = to_vector(fit.b.values.rowwise().norm());
  for (std::size_t i = 0; i < fit.b.rows.size(); ++i) {
    const Index j = fit.b.rows[i];
    record.features.push_back(problem.features[static_cast<std::size_t>(j)]);
    matrix.row(static_cast<Index>(i)) /= problem.scales[j];
  }
  record.matrix = matrix;
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
  const Matrix posteriors =
      fit_rule(training, record, Lda{})->log_posteriors(test.values().columns(record.features));
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
std::optional<double> cross_validated_lambda(const Problem& problem, LambdaChoice::Kind kind,
                                             const MakeSolver& make, bool may_read_blocks, double top,
                                             const std::vector<double>& lambdas, const Matrix& first_scores,
                                             const RunControl& control) {
  const Dataset& data = problem.data();
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
  const auto splits = make_splits(*data.labels(), data.row_groups(), data.source(), protocol,
                                  Random(problem.options().seed, streams::lambda_folds()));
  Matrix errors(static_cast<Index>(splits.size()), static_cast<Index>(lambdas.size()));
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    const Dataset training = data.with_rows(complement(splits[fold], data.rows()));
    const Dataset test = data.with_rows(splits[fold]);
    ScoringProblem scoring = make_scoring_problem(training, problem.candidates(), problem.options().threads,
                                                  problem.options().memory_limit.bytes, may_read_blocks);
    if (first_scores.size() > 0) start_from_scores(scoring, first_scores);
    const auto solver = make(scoring, true);
    const double own_top = solver->lambda_max();
    std::vector<double> own_lambdas = lambdas;
    for (double& lambda : own_lambdas) lambda *= top > 0.0 ? own_top / top : 0.0;
    std::vector<ScoringFit> fits;
    if (own_top > 0.0) fits = fit_lambda_path(*solver, own_lambdas, data.features(), control.silent());
    if (control.should_stop()) return std::nullopt;
    // A rising path may end early with nothing left; no features at those lambdas.
    std::map<double, double> error_at;
    for (const auto& fit : fits)
      error_at[fit.lambda] = held_out_error(training, test, fitted_record(scoring, fit));
    const double nothing = held_out_error(training, test, no_discriminants(scoring.discriminants()));
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
PathEntry entry_of_record(const Problem& problem, const FittedDiscriminants& record, std::size_t number) {
  PathEntry entry;
  entry.features = record.features;
  entry.record = number;
  if (!problem.options().certify) return entry;
  auto fitted = renormalize(problem.pencil(), entry.features, problem.options().criterion,
                            problem.options().components, problem.options().threads);
  entry.objective = fitted.objective;
  entry.loadings = fitted.discriminants.vectors;
  return entry;
}

/// What the sets of a run that was stopped may still cost: objective and loadings of k features take N k^2 +
/// k^3 multiplications, a fraction of a second together.
class JudgedWhenStopped {
 public:
  JudgedWhenStopped(const Problem& problem, const RunControl& control)
      : problem_(problem), control_(control) {}
  bool affords(std::size_t features) {
    if (!problem_.options().certify || !control_.should_stop()) return true;
    constexpr double kMost = 5e8;
    const auto k = static_cast<double>(features);
    spent_ += (static_cast<double>(problem_.data().rows()) + k) * k * k;
    return spent_ <= kMost;
  }

 private:
  const Problem& problem_;
  const RunControl& control_;
  double spent_ = 0.0;
};

/// The records that `k` names.
void choose_sizes(const Problem& problem, const RunControl& control, Selection& selection) {
  const bool stopped = control.should_stop();
  std::vector<Index> sizes;
  auto& answer = std::get<PenaltyPath>(selection.answer);
  for (const auto& record : answer.fits) sizes.push_back(static_cast<Index>(record.features.size()));
  std::vector<std::string> warnings;
  const auto of_size = fits_by_size(sizes, problem.k(), warnings);
  if (stopped) warnings = {"stopped before the path over lambda was done: sizes may be missing"};
  selection.warnings.insert(selection.warnings.end(), warnings.begin(), warnings.end());
  if (of_size.empty()) return;
  JudgedWhenStopped judged(problem, control);
  for (const auto& [size, number] : of_size) {
    if (!judged.affords(answer.fits[number].features.size())) break;
    answer.sets.push_back(entry_of_record(problem, answer.fits[number], number));
  }
  answer.chosen = of_size.rbegin()->second;
}

template <class M>
Selection run_scoring(const M& own, const Problem& problem, const RunControl& control) {
  Selection selection = answer_of(own);
  const LambdaGrid grid = grid_of_method(own);
  const MakeSolver make = [&](const ScoringProblem& of, bool path) {
    return make_solver(own, of, path, problem.options().threads);
  };
  if (!problem.include().empty()) {
    throw InvalidArgument(
        {.field = "include",
         .rule = fmt::format(": method {} chooses by a penalty, which can leave out any feature",
                             M::kTraits.name),
         .way_out = "the greedy and exact methods take ⟨include⟩"});
  }
  Matrix first_scores;  // where they are given
  std::shared_ptr<const ScoringProblem> shared;
  if constexpr (kHasStart<M>) {
    if (own.start.given()) {
      const auto memory = problem.options().memory_limit.bytes;
      first_scores = given_start(own.start, memory, selection);
      auto started = std::make_shared<ScoringProblem>(make_scoring_problem(
          problem.data(), problem.candidates(), problem.options().threads, memory, kReadsBlocks<M>));
      constexpr double kRounding = 1e-8;
      if (start_from_scores(*started, first_scores) > kRounding) {
        selection.warnings.push_back(fmt::format(
            "⟨start⟩: the scores of {} were made orthogonal to the class weights and orthonormal, as Theta must be",
            start_name(own.start)));
      }
      shared = std::move(started);
    }
  }
  if (!shared) shared = problem.rows().scoring(problem.candidates(), kReadsBlocks<M>);
  const ScoringProblem& scoring = *shared;
  const bool path = grid.lambda.kind == LambdaChoice::Kind::kPath;
  auto& answer = selection.answer.emplace<PenaltyPath>();
  selection.size_fixed = !path;
  if (!path && problem.options().k.given()) {
    selection.warnings.push_back(fmt::format(
        "⟨k⟩ is not used: {}",
        grid.has_lambda
            ? "lambda decides how many features are kept; without ⟨lambda⟩ a path of them is looked through for the size"
            : "the method has one answer, whatever its size"));
  }
  constexpr double kUnrelated = 1e-24;  // a correlation of 1e-12: rounding
  if (!(largest_product(scoring, problem.options().threads) > kUnrelated)) {
    selection.warnings.emplace_back(
        "no feature is related to the classes: the mean of every one is the same in all of them, and there is nothing to choose");
    selection.status = Status::kConverged;
    answer.fits.push_back(no_discriminants(scoring.discriminants()));
    if (!path) answer.chosen = 0;
    return selection;
  }
  std::vector<ScoringFit> fits;
  if (path) {
    const auto solver = make(scoring, true);
    fits = fit_lambda_path(*solver, grid_of(*solver, grid), problem.k().hi, control);
  } else {
    double lambda = grid.lambda.value;
    if (grid.lambda.cross_validated()) {
      const auto solver = make(scoring, true);
      const auto chosen =
          cross_validated_lambda(problem, grid.lambda.kind, make, kReadsBlocks<M>, solver->lambda_max(),
                                 grid_of(*solver, grid), first_scores, control);
      if (!chosen) {
        selection.warnings.emplace_back(
            "stopped before the cross-validation of lambda was done: nothing was chosen");
        selection.status = control.status_or(Status::kInterrupted);
        return selection;
      }
      lambda = *chosen;
    }
    const auto solver = make(scoring, false);
    if (grid.lambda.kind == LambdaChoice::Kind::kAuto) {
      double fraction = grid.lambda.value;
      if (fraction == 0.0) {
        fraction = grid.auto_fraction;
        if (std::isfinite(grid.auto_noise))
          fraction = std::min(fraction, grid.auto_noise * noise_fraction(scoring, problem.options().threads));
      }
      lambda = fraction * solver->lambda_max();
    }
    fits.push_back(solver->fit(lambda, control));
  }
  selection.status = Status::kConverged;
  for (const auto& fit : fits) answer.fits.push_back(fitted_record(scoring, fit));
  if (path) {
    choose_sizes(problem, control, selection);
  } else if (!answer.fits.empty()) {
    answer.chosen = 0;
    const auto& record = answer.fits.front();
    constexpr std::size_t kMostJudged = 3000;  // a dense k x k matrix
    if (record.features.empty()) {
      selection.warnings.push_back(
          fmt::format("no feature is left at lambda {:.4g}; a smaller one keeps some", record.lambda));
    } else if (record.features.size() > kMostJudged) {
      selection.warnings.push_back(fmt::format(
          "{} features are too many to judge as one set: no objective is given", record.features.size()));
    } else if (!JudgedWhenStopped(problem, control).affords(record.features.size())) {
      selection.warnings.push_back(
          fmt::format("stopped before the {} features were judged as one set: no objective is given",
                      record.features.size()));
    } else {
      answer.sets.push_back(entry_of_record(problem, record, 0));
    }
  }
  // The sets that are shown speak for the status; the other lambdas of the grid were a way to get there.
  for (const auto& entry : answer.sets) {
    if (!answer.fits[*entry.record].converged)
      selection.status = worst(selection.status, Status::kIterationLimit);
  }
  if (answer.chosen && !answer.fits[*answer.chosen].converged)
    selection.status = worst(selection.status, Status::kIterationLimit);
  const auto unfinished = [](const FittedDiscriminants& record) { return !record.converged; };
  if (answer.sets.empty() && std::any_of(answer.fits.begin(), answer.fits.end(), unfinished))
    selection.status = worst(selection.status, Status::kIterationLimit);
  selection.status = worst(selection.status, control.status_or(selection.status));
  if (!answer.chosen) return selection;
  const auto& chosen = answer.fits[*answer.chosen];
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (std::size_t i = 0; i < chosen.features.size(); ++i)
    selection.weights[chosen.features[i]] = chosen.row_norms[i];
  const auto& fit = fits[*answer.chosen];
  for (std::size_t i = 0; i < fit.trace.size(); ++i) {
    selection.trace.push_back(
        {.objective = fit.trace[i],
         .features = i < fit.working.size() ? std::optional(fit.working[i]) : std::nullopt});
  }
  return selection;
}

}  // namespace

void RvmRow::validate() const {
  require_positive_option(alpha, "alpha");
  require_fraction(prune, "prune");
  require_scoring_options(*this);
}
void RvmEntry::validate() const {
  require_positive_option(alpha, "alpha");
  require_scoring_options(*this);
}
void Gloss::validate() const { require_scoring_options(*this); }
void Sda::validate() const {
  require_not_negative(l2, "l2");
  require_scoring_options(*this);
  require_fraction(tolerance, "tolerance");
}
void Plda::validate() const { require_scoring_options(*this); }
void Sulda::validate() const { require_scoring_options(*this); }
void Sfd::validate() const {
  if (std::isfinite(C) && lambda.kind != LambdaChoice::Kind::kPath) {
    throw InvalidArgument({.field = "C",
                           .value = fmt::to_string(C),
                           .rule = "and ⟨lambda⟩ say the same (lambda = 1/C)",
                           .way_out = "leave one out"});
  }
  require_positive_option(C, "C");
  require_scoring_options(*this);
}
void JeffreysRow::validate() const {
  require_positive_option(epsilon, "epsilon");
  require_fraction(prune, "prune");
  require_scoring_options(*this);
}
void JeffreysEntry::validate() const {
  require_positive_option(epsilon, "epsilon");
  require_fraction(prune, "prune");
  require_scoring_options(*this);
}

Selection RvmRow::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection RvmEntry::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection Gloss::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection Sda::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection Plda::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection Sulda::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection JeffreysRow::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection JeffreysEntry::run(const Problem& problem, const RunControl& control) const {
  return run_scoring(*this, problem, control);
}
Selection Sfd::run(const Problem& problem, const RunControl& control) const {
  Sfd own = *this;
  if (std::isfinite(C)) own.lambda = 1.0 / C;  // which says the same
  return run_scoring(own, problem, control);
}

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
  const bool one = k.single();
  if (largest < k.lo) {
    warnings.push_back(fmt::format(
        "no lambda of the grid leaves {} {}; the largest set below has {} (⟨lambdas⟩ makes the grid finer, ⟨lambda_ratio⟩ longer)",
        one ? "exactly" : "at least", counted(k.lo, "feature"), largest));
  }
  if (one || !k.contiguous()) {  // for every size the largest set of no more
    std::map<Index, std::size_t> largest_below;
    for (const Index size : k.sizes()) {
      const auto above = of_size.upper_bound(size);
      if (above != of_size.begin()) largest_below.insert(*std::prev(above));
    }
    return largest_below;
  }
  std::erase_if(of_size, [&](const auto& fit) { return fit.first != largest && fit.first < k.lo; });
  return of_size;
}

}  // namespace subspectra
