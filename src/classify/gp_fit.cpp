/// Hyperparameters of the Gaussian process: L-BFGS on the log marginal likelihood, restarts and bounds.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include <subspectra/error.hpp>
#include <subspectra/rankers.hpp>
#include "classify/gp_solver.hpp"
#include "classify/lda.hpp"
#include "core/memory.hpp"
#include "core/random.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "linalg/tiled.hpp"
#include "solvers/box_ascent.hpp"

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

/// The bounds of every start of one training: l within 1e-3 to 1e3 times the typical distance of two rows, s
/// within 1e-2 to 1e2; to ten times around a value that was given outside of them.
struct Bounds {
  GpKernel least, most;

  static constexpr double kScaleRange = 1e3, kLeastSignal = 1e-2, kMostSignal = 1e2;

  Bounds(double distance, const Vector& given_lengthscales, double given_signal) {
    least.lengthscales = Vector::Constant(given_lengthscales.size(), distance / kScaleRange);
    most.lengthscales = Vector::Constant(given_lengthscales.size(), distance * kScaleRange);
    least.signal = kLeastSignal;
    most.signal = kMostSignal;
    for (Index d = 0; d < given_lengthscales.size(); ++d)
      widen(given_lengthscales[d], least.lengthscales[d], most.lengthscales[d]);
    widen(given_signal, least.signal, most.signal);
  }

 private:
  static void widen(double given, double& lower, double& upper) {
    constexpr double kAround = 10.0;
    if (given < lower) lower = given / kAround;
    if (given > upper) upper = given * kAround;
  }
};

/// Hyperparameters as the ascent sees them. A length-scale is x = sqrt(c + u), u = r^2/l^2 with r the root
/// mean square of the distances of two rows in this feature: u, what the feature adds to the exponent of the
/// kernel, has no units, and a feature that does not matter is at the bound u = 0 instead of on a plateau
/// that runs to infinity. c keeps dL/dx from vanishing there: 2 x dL/du. Where u is large x is r/l, in which
/// L is closest to a parabola. The signal is log s.
class Coordinates {
 public:
  Coordinates(const GpKernel& shape, const gp::TrainingKernel& rows, double distance, const Bounds& bounds)
      : bounds_(bounds) {
    const Index scales = shape.lengthscales.size();
    spreads_ = scales == 1 ? Vector::Constant(1, distance) : rows.spreads();
    lower_ = point(bounds.most);  // the longest length-scale is the least x
    upper_ = point(bounds.least);
    std::swap(lower_[scales], upper_[scales]);
  }
  [[nodiscard]] const Vector& lower() const { return lower_; }
  [[nodiscard]] const Vector& upper() const { return upper_; }

  [[nodiscard]] Vector point(const GpKernel& kernel) const {
    Vector x(spreads_.size() + 1);
    x.head(spreads_.size()) = (kSoftening + parts(kernel).array()).sqrt();
    x[spreads_.size()] = std::log(kernel.signal);
    return x;
  }
  [[nodiscard]] GpKernel kernel(const Vector& x) const {
    GpKernel kernel{.lengthscales = bounds_.most.lengthscales};
    for (Index d = 0; d < spreads_.size(); ++d) {
      const double part = x[d] * x[d] - kSoftening;
      // Of a bound not a digit is lost, so that features that do not matter have the same length-scale.
      if (x[d] <= lower_[d] || !(part > 0.0)) continue;
      kernel.lengthscales[d] = std::clamp(spreads_[d] / std::sqrt(part), bounds_.least.lengthscales[d],
                                          bounds_.most.lengthscales[d]);
    }
    kernel.signal = std::clamp(std::exp(x[spreads_.size()]), bounds_.least.signal, bounds_.most.signal);
    return kernel;
  }
  /// From derivatives by log l and log s to those by x: dlog l/dx = -x/u.
  [[nodiscard]] Vector gradient(const Vector& x, const GpKernel& kernel, const Vector& by_logarithms) const {
    Vector result = by_logarithms;
    const Vector u = parts(kernel);
    for (Index d = 0; d < u.size(); ++d) result[d] = u[d] > 0.0 ? -by_logarithms[d] * x[d] / u[d] : 0.0;
    return result;
  }
  /// Which of the hyperparameters an optimization has left at a bound.
  void note_bounds(GpMachine& machine) const {
    constexpr double kRounding = 1e-9;
    const auto at = [](double value, double lower, double upper) {
      return value <= lower * (1.0 + kRounding) || value >= upper * (1.0 - kRounding);
    };
    const GpKernel& kernel = machine.kernel;
    machine.lengthscales_at_bound = 0;
    for (Index d = 0; d < kernel.lengthscales.size(); ++d)
      machine.lengthscales_at_bound +=
          at(kernel.lengthscales[d], bounds_.least.lengthscales[d], bounds_.most.lengthscales[d]) ? 1 : 0;
    machine.signal_at_bound = at(kernel.signal, bounds_.least.signal, bounds_.most.signal);
  }
  /// The largest derivative by log x and log s, of those that do not lead out of the bounds.
  [[nodiscard]] double slope(const Vector& x, const Vector& projected_gradient) const {
    Vector by_logarithms = projected_gradient.cwiseAbs();
    by_logarithms.head(spreads_.size()).array() *= x.head(spreads_.size()).array();
    return by_logarithms.maxCoeff();
  }

 private:
  static constexpr double kSoftening = 1e-3;
  [[nodiscard]] Vector parts(const GpKernel& kernel) const {
    return (spreads_.array() / kernel.lengthscales.array()).square();
  }
  Bounds bounds_;
  Vector spreads_, lower_, upper_;
};

/// The best point of an optimization.
struct Search {
  Solver& solver;
  const RunControl& control;
  GpMachine best;
  bool found = false;

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
void climb(Search& search, const GpKernel& start, const Coordinates& coordinates, const Options& options) {
  search.solver.reset();
  const double before = search.found ? search.best.posterior.log_marginal_likelihood : -kInfinity;
  double slope = kInfinity;
  BoxAscent ascent{
      .lower = coordinates.lower(), .upper = coordinates.upper(), .most_evaluations = options.max_iterations};
  ascent.evaluate = [&](const Vector& x, Vector& gradient) {
    if (search.control.should_stop()) throw GivenUp();
    const GpKernel kernel = coordinates.kernel(x);
    Vector by_logarithms;
    const double value = search.evaluate(kernel, &by_logarithms);
    gradient = coordinates.gradient(x, kernel, by_logarithms);
    ++search.best.evaluations;
    search.control.report("gaussian process", -1.0, [&] {
      return fmt::format("evaluation {}  log marginal likelihood {:.4f}", search.best.evaluations,
                         search.best.posterior.log_marginal_likelihood);
    });
    return value;
  };
  ascent.flat = [&](const Vector& x, double value, const Vector& projected_gradient) {
    slope = coordinates.slope(x, projected_gradient);
    return slope <= options.tolerance * (1.0 + std::abs(value));
  };
  AscentEnd end = AscentEnd::kEvaluations;
  try {
    end = ascend(ascent, coordinates.point(start));
  } catch (const GivenUp&) {
    // The best point stands.
  }
  if (!search.found || !(search.best.posterior.log_marginal_likelihood > before)) return;
  // What rounding has ended is as good as double precision allows where all steps were asked for.
  constexpr double kRounding = 1e-6;
  const bool no_better = end == AscentEnd::kRounding &&
                         slope <= kRounding * (1.0 + std::abs(search.best.posterior.log_marginal_likelihood));
  search.best.slope = slope;
  search.best.ended_by_rounding = end == AscentEnd::kRounding && !no_better;
  search.best.converged = search.best.posterior.converged && (end == AscentEnd::kFlat || no_better);
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

/// Well into the bounds: a start at one of them sees little of the rest.
void keep_within(double distance, GpKernel& kernel) {
  constexpr double kScaleRange = 0.1 * Bounds::kScaleRange;
  for (double& l : kernel.lengthscales) l = std::clamp(l, distance / kScaleRange, distance * kScaleRange);
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
  GpKernel first;
  first.signal = std::isfinite(options.signal) ? options.signal : kUsualSignal;
  if (list) {
    first.lengthscales = Eigen::Map<const Vector>(options.lengthscale.values.data(),
                                                  static_cast<Index>(options.lengthscale.values.size()));
  } else {
    const double l = options.lengthscale.values.empty() ? distance : options.lengthscale.values.front();
    first.lengthscales = Vector::Constant(1, l);
  }
  // What was given, not what a stage before has found, widens the bounds: they are the same for all.
  const GpKernel given = first;
  const auto coordinates_of = [&](const GpKernel& shape) {
    const Vector scales = given.lengthscales.size() == shape.lengthscales.size()
                              ? given.lengthscales
                              : Vector::Constant(shape.lengthscales.size(), given.lengthscales[0]);
    return Coordinates(shape, kernel, distance, Bounds(distance, scales, given.signal));
  };
  const bool fixed = options.hyperparameters == Hyperparameters::kFixed;
  if (ard && !list) {
    // From the best common length-scale, so that more hyperparameters never end below fewer.
    if (!fixed && options.lengthscale.values.empty()) {
      climb(search, first, coordinates_of(first), options);
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
  const Coordinates coordinates = coordinates_of(first);
  for (Index restart = 0; restart < std::max<Index>(options.restarts, 1); ++restart) {
    if (restart > 0 && control.should_stop()) break;
    GpKernel start = first;
    if (restart > 0) {
      start = random_start(first, seed, restart, positive);
      keep_within(distance, start);
    }
    climb(search, start, coordinates, options);
  }
  if (!search.found) search.evaluate(first, nullptr);  // stopped before anything was looked at
  coordinates.note_bounds(search.best);
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
