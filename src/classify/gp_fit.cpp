/// Hyperparameters of the Gaussian process: L-BFGS on the log marginal likelihood, restarts and bounds.
#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>

#include <subspectra/error.hpp>
#include <subspectra/rankers.hpp>
#include "classify/gp_solver.hpp"
#include "classify/lda.hpp"
#include "core/memory.hpp"
#include "core/random.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {

LengthScales OptionCodec<LengthScales>::parse(std::string_view text) {
  LengthScales scales;
  while (true) {
    const auto comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    double value = 0.0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc() || end != word.data() + word.size() || !(value > 0.0) || !std::isfinite(value))
      throw InvalidArgument("a positive number, or several with commas between, is needed");
    scales.values.push_back(value);
    if (comma == std::string_view::npos) return scales;
    text.remove_prefix(comma + 1);
  }
}
std::string OptionCodec<LengthScales>::format(const LengthScales& value) {
  return fmt::format("{}", fmt::join(value.values, ","));
}
nlohmann::json OptionCodec<LengthScales>::json(const LengthScales& value) {
  if (value.values.empty()) return {};
  if (value.values.size() == 1) return value.values.front();
  return value.values;
}

namespace gp {
namespace {

/// Hyperparameters as the optimizer sees them: log l (one, or each), then log s.
std::vector<double> to_point(const GpKernel& kernel) {
  std::vector<double> point;
  for (Index d = 0; d < kernel.lengthscales.size(); ++d) point.push_back(std::log(kernel.lengthscales[d]));
  point.push_back(std::log(kernel.signal));
  return point;
}

GpKernel to_kernel(const double* point, std::size_t size) {
  const auto scales = static_cast<Index>(size) - 1;
  return {.lengthscales = Eigen::Map<const Vector>(point, scales).array().exp(),
          .signal = std::exp(point[size - 1])};
}

struct Bounds {
  double lengthscale = 1.0;  ///< the typical one: the median distance
  static constexpr double kScaleRange = 1e3, kLeastSignal = 1e-2, kMostSignal = 1e2, kAroundStart = 10.0;

  [[nodiscard]] std::vector<double> lower(const GpKernel& start) const {
    return limit(start, 1.0 / kScaleRange, kLeastSignal, 1.0 / kAroundStart,
                 [](double a, double b) { return std::min(a, b); });
  }
  [[nodiscard]] std::vector<double> upper(const GpKernel& start) const {
    return limit(start, kScaleRange, kMostSignal, kAroundStart,
                 [](double a, double b) { return std::max(a, b); });
  }

 private:
  template <class Wider>
  [[nodiscard]] std::vector<double> limit(const GpKernel& start, double range, double signal, double around,
                                          Wider wider) const {
    std::vector<double> result;
    for (Index d = 0; d < start.lengthscales.size(); ++d)
      result.push_back(std::log(wider(lengthscale * range, start.lengthscales[d] * around)));
    result.push_back(std::log(wider(signal, start.signal * around)));
    return result;
  }
};

/// The best point of an optimization, and what the optimizer's calls need.
struct Search {
  Solver& solver;
  const RunControl& control;
  nlopt_opt optimizer = nullptr;
  GpMachine best;
  bool found = false;
  std::exception_ptr failure = {};

  /// Once a point is known, a stop ends the evaluation of another one: GivenUp.
  double evaluate(const GpKernel& kernel, Vector* gradient) {
    GpPosterior posterior = solver.solve(kernel, gradient, [this] { return found && control.should_stop(); });
    const double value = posterior.log_marginal_likelihood;
    if (!found || value > best.posterior.log_marginal_likelihood) {
      best.kernel = kernel;
      best.posterior = std::move(posterior);
      found = true;
    }
    return value;
  }
};

/// Called from C: no exception may pass.
double objective(unsigned size, const double* point, double* gradient, void* data) {
  auto& search = *static_cast<Search*>(data);
  try {
    if (!search.control.should_stop()) {
      Vector derivatives;
      const double value =
          search.evaluate(to_kernel(point, size), gradient != nullptr ? &derivatives : nullptr);
      if (gradient != nullptr) std::copy(derivatives.begin(), derivatives.end(), gradient);
      ++search.best.evaluations;
      search.control.report("gaussian process", -1.0, [&] {
        return fmt::format("evaluation {}  log marginal likelihood {:.4f}", search.best.evaluations,
                           search.best.posterior.log_marginal_likelihood);
      });
      return value;
    }
  } catch (const GivenUp&) {
    // The best point stands.
  } catch (...) {
    search.failure = std::current_exception();
  }
  nlopt_force_stop(search.optimizer);
  if (gradient != nullptr) std::fill(gradient, gradient + size, 0.0);
  return search.best.posterior.log_marginal_likelihood;
}

struct OptimizerDeleter {
  void operator()(nlopt_opt_s* optimizer) const { nlopt_destroy(optimizer); }
};

// What an options struct says by its type rather than by a field.
template <GpApproximation approximation>
GpApproximation approximation_of(const GpClassifier<approximation>&) {
  return approximation;
}
GpApproximation approximation_of(const GpArd& options) { return options.approximation; }
template <GpApproximation approximation>
bool one_scale_a_column(const GpClassifier<approximation>& options) {
  return options.ard;
}
bool one_scale_a_column(const GpArd&) { return true; }
template <GpApproximation approximation>
Prior prior_of(const GpClassifier<approximation>& options) {
  return options.prior;
}
Prior prior_of(const GpArd&) { return Prior::kEmpirical; }

/// One start. Leaves the best point of this and earlier starts in `search`.
template <class Options>
void climb(Search& search, const GpKernel& start, const Bounds& bounds, const Options& options) {
  std::vector<double> point = to_point(start);
  const std::vector<double> lower = bounds.lower(start), upper = bounds.upper(start);
  const std::unique_ptr<nlopt_opt_s, OptimizerDeleter> optimizer(
      nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(point.size())));
  if (!optimizer) throw Error("the optimizer of the hyperparameters could not be set up: memory is short");
  constexpr unsigned kPairs = 10;  // of steps and gradients that stand for the second derivatives
  nlopt_set_max_objective(optimizer.get(), objective, &search);
  nlopt_set_lower_bounds(optimizer.get(), lower.data());
  nlopt_set_upper_bounds(optimizer.get(), upper.data());
  nlopt_set_vector_storage(optimizer.get(), kPairs);
  nlopt_set_ftol_rel(optimizer.get(), options.tolerance);
  nlopt_set_maxeval(optimizer.get(), static_cast<int>(options.max_iterations));
  search.optimizer = optimizer.get();
  search.solver.reset();
  const double before = search.found ? search.best.posterior.log_marginal_likelihood : -kInfinity;
  double value = 0.0;
  const nlopt_result ended = nlopt_optimize(optimizer.get(), point.data(), &value);
  if (search.failure) std::rethrow_exception(search.failure);
  // Other negative results than these say that rounding leaves no ascent: the best point stands.
  const bool cut = ended == NLOPT_MAXEVAL_REACHED || ended == NLOPT_FORCED_STOP ||
                   ended == NLOPT_OUT_OF_MEMORY || ended == NLOPT_INVALID_ARGS;
  if (search.best.posterior.log_marginal_likelihood > before) search.best.converged = !cut;
}

/// The start number `restart` > 0: length-scales e^(N(0,1)) and s e^(N(0,1)/2) times those of the first one.
GpKernel random_start(const GpKernel& first, std::uint64_t seed, Index restart, Index positive) {
  Random random(seed, streams::gp_restart(positive, restart));
  GpKernel start = first;
  const double common = random.normal();  // a common length-scale moves as a whole, with ARD half of the way
  const double part = first.ard() ? 0.5 : 1.0;
  for (double& l : start.lengthscales)
    l *= std::exp(part * common + (first.ard() ? part * random.normal() : 0.0));
  start.signal *= std::exp(0.5 * random.normal());
  return start;
}

/// Into the bounds of the data, which those around a random start would only widen.
void keep_within(const Bounds& bounds, GpKernel& kernel) {
  for (double& l : kernel.lengthscales)
    l = std::clamp(l, bounds.lengthscale / 100.0, bounds.lengthscale * 100.0);
  kernel.signal = std::clamp(kernel.signal, 10.0 * Bounds::kLeastSignal, 0.1 * Bounds::kMostSignal);
}

template <class Options>
GpMachine train(TrainingKernel& kernel, const std::vector<int>& codes, Index positive, double distance,
                const Options& options, std::uint64_t seed, const RunControl& control) {
  constexpr double kUsualSignal = 2.0;
  const Index p = kernel.columns();
  const bool list = options.lengthscale.values.size() > 1;
  const bool ard = (one_scale_a_column(options) || list) && p > 1;
  Vector y(kernel.rows());
  for (Index i = 0; i < y.size(); ++i) y[i] = codes[static_cast<std::size_t>(i)] == positive ? 1.0 : -1.0;
  Solver solver(kernel, std::move(y), approximation_of(options));
  Search search{.solver = solver, .control = control, .best = {.positive = positive}};
  const Bounds bounds{.lengthscale = distance};

  GpKernel first;
  first.signal = std::isfinite(options.signal) ? options.signal : kUsualSignal;
  if (list) {
    first.lengthscales = Eigen::Map<const Vector>(options.lengthscale.values.data(),
                                                  static_cast<Index>(options.lengthscale.values.size()));
  } else {
    const double l = options.lengthscale.values.empty() ? distance : options.lengthscale.values.front();
    first.lengthscales = Vector::Constant(1, l);
  }
  const bool fixed = options.hyperparameters == Hyperparameters::kFixed;
  if (ard && !list) {
    // From the best common length-scale, so that more hyperparameters never end below fewer.
    if (!fixed && options.lengthscale.values.empty()) {
      climb(search, first, bounds, options);
      if (search.found) first = search.best.kernel;
      // What counts from now on has one length-scale a column.
      search.found = false;
      search.best.converged = false;
    }
    first.lengthscales = Vector::Constant(p, first.lengthscales[0]);
  }
  if (fixed || control.should_stop()) {
    solver.reset();
    search.evaluate(first, nullptr);
    search.best.converged = fixed && search.best.posterior.converged;
    return search.best;
  }
  for (Index restart = 0; restart < std::max<Index>(options.restarts, 1); ++restart) {
    if (restart > 0 && control.should_stop()) break;
    GpKernel start = first;
    if (restart > 0) {
      start = random_start(first, seed, restart, positive);
      keep_within(bounds, start);
    }
    climb(search, start, bounds, options);
  }
  if (!search.found) search.evaluate(first, nullptr);  // stopped before anything was looked at
  return search.best;
}

template <class Options>
void check(const MatrixRef& rows, const std::vector<int>& codes, Index classes, const Options& options,
           std::uint64_t memory_limit) {
  const auto given = static_cast<Index>(options.lengthscale.values.size());
  if (given > 1 && given != rows.cols()) {
    throw InvalidArgument(
        {.field = "lengthscale",
         .value = OptionCodec<LengthScales>::format(options.lengthscale),
         .rule = fmt::format("lists {}, but there {} {}", given, rows.cols() == 1 ? "is" : "are",
                             counted(rows.cols(), "input feature")),
         .way_out = "give one number for all, or one a feature in ascending order"});
  }
  if (static_cast<Index>(codes.size()) != rows.rows())
    throw InvalidArgument(fmt::format("{} class codes for {} rows", codes.size(), rows.rows()));
  for (const int code : codes) {
    if (code < 0 || code >= classes)
      throw InvalidArgument(fmt::format("class code {} is outside 0..{}", code, classes - 1));
  }
  const auto n = static_cast<double>(rows.rows());
  const double squares = approximation_of(options) == GpApproximation::kLaplace ? 3.5 : 5.5;
  require_memory(8.0 * (squares * n * n + 4.0 * n * static_cast<double>(rows.cols())),
                 fmt::format("a Gaussian process on {}", counted(rows.rows(), "row")),
                 "its matrices are rows x rows: train on fewer rows, or use ⟨classifier svm⟩", memory_limit);
}

}  // namespace
}  // namespace gp

GpEvidence gp_evidence(const MatrixRef& rows, const VectorRef& y, const GpKernel& kernel,
                       GpApproximation approximation, int threads) {
  if (y.size() != rows.rows() ||
      (kernel.lengthscales.size() != 1 && kernel.lengthscales.size() != rows.cols())) {
    throw InvalidArgument(fmt::format("{} labels and {} length-scales do not fit {} rows of {} columns",
                                      y.size(), kernel.lengthscales.size(), rows.rows(), rows.cols()));
  }
  gp::TrainingKernel training(rows, threads);
  gp::Solver solver(training, y, approximation);
  GpEvidence evidence;
  evidence.posterior = solver.solve(kernel, &evidence.gradient);
  return evidence;
}

template <class Options>
GpRule fit_gp(const MatrixRef& rows, const std::vector<int>& codes, Index classes, const Options& options,
              const GpContext& context, const RunControl& control) {
  const auto begin = std::chrono::steady_clock::now();
  gp::check(rows, codes, classes, options, context.memory_limit);
  GpRule rule;
  rule.approximation = gp::approximation_of(options);
  rule.inputs = rows;
  rule.codes = codes;
  rule.shares = Vector::Zero(classes);
  for (const int code : codes) rule.shares[code] += 1.0 / static_cast<double>(rows.rows());
  rule.priors = class_priors(rule.shares, gp::prior_of(options));
  std::vector<Index> present;
  for (Index c = 0; c < classes; ++c) {
    if (rule.shares[c] > 0.0) present.push_back(c);
  }
  if (present.size() == 2)
    present.erase(present.begin());  // one machine: the later class against the other
  else if (present.size() == 1)
    present.clear();
  gp::TrainingKernel kernel(rows, context.threads);
  const double distance = kernel.median_distance();
  bool converged = true;
  for (const Index c : present) {
    rule.machines.push_back(gp::train(kernel, codes, c, distance, options, context.seed, control));
    converged = converged && rule.machines.back().converged;
  }
  rule.status = control.status_or(converged ? Status::kConverged : Status::kIterationLimit);
  rule.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return rule;
}

template <class Options>
GpRule fit_projected_gp(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                        const MatrixRef& b, const Options& options, const GpContext& context,
                        const RunControl& control) {
  Vector mean = Vector::Zero(rows.cols());
  if (rows.rows() > 0) mean = rows.colwise().mean();
  Matrix z(rows.rows(), b.cols());
  linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - mean.transpose(), linalg::Op::kNone, b, 0.0, z);
  GpRule rule = fit_gp(z, codes, classes, options, context, control);
  rule.centre = std::move(mean);
  rule.projection = b;
  return rule;
}

template GpRule fit_gp(const MatrixRef&, const std::vector<int>&, Index, const GpLaplace&, const GpContext&,
                       const RunControl&);
template GpRule fit_gp(const MatrixRef&, const std::vector<int>&, Index, const GpEp&, const GpContext&,
                       const RunControl&);
template GpRule fit_gp(const MatrixRef&, const std::vector<int>&, Index, const GpArd&, const GpContext&,
                       const RunControl&);
template GpRule fit_projected_gp(const MatrixRef&, const std::vector<int>&, Index, const MatrixRef&,
                                 const GpLaplace&, const GpContext&, const RunControl&);
template GpRule fit_projected_gp(const MatrixRef&, const std::vector<int>&, Index, const MatrixRef&,
                                 const GpEp&, const GpContext&, const RunControl&);

}  // namespace subspectra
