#include <subspectra/qalpha.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/options.hpp"
#include "core/text.hpp"
#include "qalpha/criteria.hpp"
#include "qalpha/kernel.hpp"
#include "qalpha/qalpha.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"
#include "select/start.hpp"

namespace subspectra {
namespace {

/// One Q over all rows of the table is what a start can be given for.
template <class M>
constexpr bool kHasOneQ = !kHasBlocks<M> && !requires(M own) {
  own.kernel;
};

template <class M>
void require_qalpha(const M& own) {
  if (own.start.given() && !kHasOneQ<M>) {
    throw InvalidArgument(
        {.field = "start",
         .rule = fmt::format("is a matrix, but method {} {}", M::kTraits.name,
                             kHasBlocks<M> ? "has a Q for every pair of classes"
                                           : "has its Q in the space of the kernel, not over the rows"),
         .way_out = "name a start, or use a method with one Q over the rows, such as qalpha"});
  }
  const auto require = [](bool holds, std::string_view field, double value, std::string_view rule) {
    if (!holds)
      throw InvalidArgument({.field = std::string(field),
                             .value = fmt::to_string(value),
                             .rule = fmt::format("{{value}}, but {} is needed", rule)});
  };
  if constexpr (requires { own.clusters; }) require_at_least(own.clusters, 1, "clusters");
  require_at_least(own.restarts, 1, "restarts");
  if constexpr (requires { own.gamma; }) {
    require_at_least(own.within_vectors, 1, "within_vectors");
    require_at_least(own.between_vectors, 0, "between_vectors");
  }
  require_at_least(own.max_iterations, 1, "max_iterations");
  constexpr double kMostGamma = 1e100;
  if constexpr (requires { own.gamma; })
    require(own.gamma >= 0.0 && own.gamma <= kMostGamma, "gamma", own.gamma, "a number from 0 to 1e100");
  require(own.tolerance >= 0.0 && std::isfinite(own.tolerance), "tolerance", own.tolerance,
          "0 or a positive number");
  if constexpr (requires { own.supervision; })
    require(own.supervision >= 0.0 && own.supervision <= 1.0, "supervision", own.supervision,
            "a number from 0 to 1");
  if constexpr (requires { own.kernel; }) {
    require(own.kernel_tolerance >= 0.0 && own.kernel_tolerance < 1.0, "kernel_tolerance",
            own.kernel_tolerance, "a fraction from 0 to below 1");
    if (own.start.is(QAlphaStart::kOnes)) {
      throw InvalidArgument({.field = "start",
                             .value = "ones",
                             .rule = "{value}: the space of a kernel has no vector of ones",
                             .way_out = "use ⟨start equal⟩ or random"});
    }
  }
}
/// Classes that have rows, at least two.
void require_classes(const Dataset& data, std::string_view method) {
  Index present = 0;
  if (data.labels()) {
    for (const Index count : data.labels()->counts()) present += count > 0 ? 1 : 0;
  }
  if (present < 2) {
    throw BadInput(
        {.file = data.source()},
        fmt::format(
            "method {} needs labelled rows of two classes or more, and there {}; name the label column with ⟨target⟩ (an empty label is an unlabelled row), or use qalpha",
            method, present == 1 ? "is one class" : "are none"));
  }
}

/// Whether some feature is not orthogonal to the vector of ones. Where none is, a column of ones in Q would
/// be a direction lost.
bool sees_ones(const FeatureRows& rows) {
  if (rows.centred()) return false;
  constexpr double kRounding = 1e-12;
  const Vector limits = (kRounding * rows.roots().norm()) * rows.squared_norms().cwiseSqrt();
  std::atomic<bool> seen = false;
  rows.project(rows.roots(), rows.whole(), [&](Index first, const Matrix& tile) {
    if ((tile.col(0).array().abs() > limits.segment(first, tile.rows()).array()).any()) seen = true;
  });
  return seen;
}

/// Unit norms are the rule; features as given enter G, and its norms, with their eighth power.
void require_moderate(const FeatureRows& rows, const Dataset& data) {
  const double longest = std::sqrt(rows.squared_norms().maxCoeff());
  if (longest >= kShortestRow && longest <= kLongestRow) return;
  throw BadInput(
      {.file = data.source()},
      fmt::format(
          "⟨no_normalize⟩: the longest feature has norm {:.3g}, outside of {:.0e} to {:.0e}, where its powers stay exact; leave ⟨no_normalize⟩ out, or divide all features by a constant, which changes no weight",
          longest, kShortestRow, kLongestRow));
}

/// `by_class`: `asked` is for every class with itself, else for all rows.
void add_warnings(const QAlphaFit& fit, const RelevanceReport& report, Index asked, bool by_class,
                  bool stopped, std::vector<std::string>& warnings) {
  if (by_class && fit.least_clusters < fit.clusters) {
    warnings.push_back(fmt::format(
        "⟨within_vectors {}⟩ is more than a class of few rows (or of low rank) allows: the classes have {} to {} directions",
        asked, fit.least_clusters, fit.clusters));
  } else if (fit.clusters < asked) {
    warnings.push_back(fmt::format("{} {} is more than the rank of the data allows: {} {} used",
                                   by_class ? "⟨within_vectors⟩" : "⟨clusters⟩", asked, fit.clusters,
                                   fit.clusters == 1 ? "direction is" : "directions are"));
  }
  if (report.negative > 0) {
    warnings.push_back(fmt::format(
        "{} negative, down to {:.3g} (the largest is {:.3g}): {}",
        report.negative == 1 ? std::string("1 weight is") : fmt::format("{} weights are", report.negative),
        fit.weights.minCoeff(), fit.weights.maxCoeff(),
        "such a feature lowers the coherence of the clusters and ranks last"));
  }
  if (fit.cycles) {
    warnings.emplace_back(
        "the iteration ended in a cycle of two: alpha and Q are no joint ascent for this criterion");
  }
  if (stopped) {
    warnings.push_back(fmt::format("stopped after {}: the weights are on their way from the start still",
                                   counted(std::ssize(fit.trace), "iteration")));
  } else if (!fit.resolved) {
    warnings.emplace_back(
        "the two largest eigenvalues of G nearly agree: the weights are one mixture of their eigenvectors");
  }
}

/// Without degrees the Laplacian is another method.
std::string_view warning_of_centred(LaplacianShift shift) {
  return shift == LaplacianShift::kDegree
             ? "centred features have no degrees, so that this is method qalpha; ⟨no_normalize⟩ keeps them (for values that are not negative)"
             : "centred features have no degrees, so that the Laplacian is a mere shift, which flattens the weights; ⟨no_normalize⟩ keeps them (for values that are not negative)";
}

/// `plain`: of a criterion that (6) and Lemma 13 are about.
RelevanceReport report_of(const FeatureRows& rows, const QAlphaFit& fit, bool plain) {
  RelevanceReport report;
  report.objective = fit.objective;
  const Vector squares = rows.squared_norms();
  report.trace = fit.weights.dot(squares);
  report.equal_trace = squares.sum() / std::sqrt(static_cast<double>(rows.features()));
  report.eigenvalues.assign(fit.eigenvalues.begin(), fit.eigenvalues.end());
  report.clusters = fit.clusters;
  constexpr double kRounding = 1e-9;  // of the largest weight: what the eigenvector is exact to
  report.negative = (fit.weights.array() < -kRounding * fit.weights.maxCoeff()).count();
  report.starts = fit.starts;
  report.products = fit.products;
  const auto cut = weight_cut(fit.weights);
  report.cut = cut.k;
  report.cut_ratio = cut.ratio;
  if (plain) {
    if (const auto energy = affinity_energy(rows, fit.weights)) {
      report.affinity_energy = *energy;
      report.residual_energy = std::max(0.0, *energy - fit.objective);
    }
  }
  if (cut.k > 0 && plain && fit.objective > 0.0) {
    const auto bound = irrelevant_bound(rows, fit, cut);
    report.weight_below = bound.sum;
    report.bound = bound.sharper;
    report.bound_lemma = bound.lemma;
  } else if (cut.k > 0) {
    const auto order = weight_order(fit.weights);
    for (auto i = static_cast<std::size_t>(cut.k); i < order.size(); ++i)
      report.weight_below += fit.weights[order[i]];
  }
  report.passes = rows.passes();
  return report;
}

/// Q(0) as it was given, a row for every row of the table and a column for every one of Q. Its columns are
/// made orthonormal, which changes no weight: what they span is what counts.
Matrix first_q(const Start& start, const FeatureRows& rows, Index clusters, std::uint64_t memory_limit,
               Selection& selection) {
  Matrix q = given_start(start, memory_limit, selection);
  const auto refuse = [](std::string rule, std::string way_out) {
    throw InvalidArgument({.field = "start", .rule = std::move(rule), .way_out = std::move(way_out)});
  };
  if (q.rows() != rows.samples() || q.cols() != clusters) {
    refuse(fmt::format(
               "is {} x {} ({}), but Q is {} x {}: a row for every row that is used, and ⟨clusters⟩ columns",
               q.rows(), q.cols(), start_name(start), rows.samples(), clusters),
           "give a matrix of that shape");
  }
  Matrix orthonormal = q;
  const Index rank = qalpha::orthonormalize(orthonormal);
  if (rank < clusters) {
    refuse(fmt::format("has {} of {} columns that are independent ({})", rank, clusters, start_name(start)),
           "give independent columns, or fewer ⟨clusters⟩");
  }
  constexpr double kRounding = 1e-8;
  if ((orthonormal - q).cwiseAbs().maxCoeff() > kRounding) {
    selection.warnings.push_back(fmt::format(
        "⟨start⟩: the columns of {} were made orthonormal, as those of Q are; what they span is the same",
        start_name(start)));
  }
  return q;
}

template <class M>
Selection run_qalpha(M own, const Problem& problem, const RunControl& control) {
  (void)problem
      .pencil();  // judges the sets of the ranking later; a table it refuses is refused before the work
  Selection selection = answer_of(own);
  const int threads = problem.options().threads;
  QAlphaRun run{.seed = problem.options().seed, .memory_limit = problem.options().memory_limit.bytes};
  std::vector<int> codes;
  if constexpr (kHasBlocks<M>) {
    require_classes(problem.data(), M::kTraits.name);
    codes = problem.data().labels()->codes;
  }
  const FeatureRows given(problem.data(), problem.candidates(), !own.no_normalize, codes, threads,
                          run.memory_limit);
  if (own.no_normalize) require_moderate(given, problem.data());
  std::optional<FeatureRows> mapped;
  std::optional<KernelFactor> factor;
  if constexpr (requires { own.kernel; }) {
    factor = kernel_factor(given, own, run.memory_limit, control);
    mapped.emplace(std::move(factor->r), threads);
  }
  const FeatureRows& rows = mapped ? *mapped : given;
  if constexpr (kHasOneQ<M>) {
    if (own.start.given())
      run.given_start = first_q(own.start, rows, own.clusters, run.memory_limit, selection);
  }
  if (own.start.is(QAlphaStart::kOnes) && !kHasBlocks<M> && !sees_ones(rows)) {
    own.start = QAlphaStart::kEqual;
    record_of(selection) = options_json(own);
    selection.warnings.emplace_back(
        "⟨start ones⟩: features without a mean, as centring leaves them, are orthogonal to it, so that the start is that of ⟨start equal⟩; ⟨no_normalize⟩ keeps the means");
  }
  const auto fit = fit_qalpha(rows, own, run, control);
  auto report = report_of(rows, fit, kIsPlain<M>);
  if (factor) {
    report.kernel_rank = rows.samples();
    report.kernel_error = factor->error;
    report.passes = given.passes() + rows.passes();
  }
  if constexpr (requires { own.clusters; }) {
    add_warnings(fit, report, own.clusters, false, control.should_stop(), selection.warnings);
  } else {
    add_warnings(fit, report, own.within_vectors, true, control.should_stop(), selection.warnings);
  }
  if constexpr (requires { own.laplacian_shift; }) {
    if (rows.centred()) selection.warnings.emplace_back(warning_of_centred(own.laplacian_shift));
  }
  const auto p = static_cast<Index>(problem.candidates().size());
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (Index i = 0; i < p; ++i)
    selection.weights[problem.candidates()[static_cast<std::size_t>(i)]] = fit.weights[i];
  for (const Index i : weight_order(fit.weights))
    selection.ranking.push_back(problem.candidates()[static_cast<std::size_t>(i)]);
  for (const double objective : fit.trace)
    selection.trace.push_back({.objective = objective, .features = {}});
  selection.relevance = std::move(report);
  selection.status = control.status_or(fit.converged ? Status::kConverged : Status::kIterationLimit);
  return selection;
}

}  // namespace

void QAlpha::validate() const { require_qalpha(*this); }
Selection QAlpha::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaBasic::validate() const { require_qalpha(*this); }
Selection QAlphaBasic::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaRitz::validate() const { require_qalpha(*this); }
Selection QAlphaRitz::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaLaplacian::validate() const { require_qalpha(*this); }
Selection QAlphaLaplacian::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaGap::validate() const { require_qalpha(*this); }
Selection QAlphaGap::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaSupervised::validate() const { require_qalpha(*this); }
Selection QAlphaSupervised::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaSemi::validate() const { require_qalpha(*this); }
Selection QAlphaSemi::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

void QAlphaOfKernel::validate() const { require_qalpha(*this); }
Selection QAlphaOfKernel::run(const Problem& problem, const RunControl& control) const {
  return run_qalpha(*this, problem, control);
}

}  // namespace subspectra
