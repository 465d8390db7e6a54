#include "select/qalpha_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/text.hpp"
#include "qalpha/kernel.hpp"
#include "qalpha/qalpha.hpp"

namespace subspectra {
namespace {

void require_at_least(Index value, Index least, std::string_view field) {
  if (value < least)
    throw InvalidArgument({.field = std::string(field),
                           .value = fmt::to_string(value),
                           .rule = fmt::format("{{value}}, but {} or more is needed", least)});
}

constexpr bool has_blocks(QAlphaVariant variant) {
  return variant == QAlphaVariant::kSupervised || variant == QAlphaVariant::kSemi;
}

/// The options of one variant; what another one has is left out.
template <QAlphaVariant kVariant, bool kKernel = false>
struct QAlphaMethod {
  QAlphaOptions fit{.variant = kVariant,
                    .start = has_blocks(kVariant) ? QAlphaStart::kOnes : QAlphaStart::kEqual};
  bool no_normalize = false;
  QAlphaKernel kernel;
  double kernel_tolerance = 1e-4;

  void validate() const {
    require_at_least(fit.clusters, 1, "clusters");
    require_at_least(fit.restarts, 1, "restarts");
    require_at_least(fit.within_vectors, 1, "within_vectors");
    require_at_least(fit.between_vectors, 0, "between_vectors");
    require_at_least(fit.max_iterations, 1, "max_iterations");
    const auto require = [](bool holds, std::string_view field, double value, std::string_view rule) {
      if (!holds)
        throw InvalidArgument({.field = std::string(field),
                               .value = fmt::to_string(value),
                               .rule = fmt::format("{{value}}, but {} is needed", rule)});
    };
    constexpr double kMostGamma = 1e100;
    require(fit.gamma >= 0.0 && fit.gamma <= kMostGamma, "gamma", fit.gamma, "a number from 0 to 1e100");
    require(fit.tolerance >= 0.0 && std::isfinite(fit.tolerance), "tolerance", fit.tolerance,
            "0 or a positive number");
    require(fit.supervision >= 0.0 && fit.supervision <= 1.0, "supervision", fit.supervision,
            "a number from 0 to 1");
    require(kernel_tolerance >= 0.0 && kernel_tolerance < 1.0, "kernel_tolerance", kernel_tolerance,
            "a fraction from 0 to below 1");
    if (kKernel && fit.start == QAlphaStart::kOnes) {
      throw InvalidArgument({.field = "start",
                             .value = "ones",
                             .rule = "{value}: the space of a kernel has no vector of ones",
                             .way_out = "use ⟨start equal⟩ or random"});
    }
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    if constexpr (kVariant != QAlphaVariant::kSupervised)
      field("clusters", o.fit.clusters, "columns of Q: the directions in which the rows are to be coherent");
    if constexpr (kKernel) {
      field(
          "kernel", o.kernel,
          "of two features x, y: x'y; (x'y + C)^D; exp(-|x - y|^2/(2 SIGMA^2)); or the sum over sections of LENGTH successive rows of (x_s'y_s)^2");
      field("kernel_tolerance", o.kernel_tolerance,
            "beyond 2,000 features the kernel matrix is factored until this fraction of its trace is left");
    }
    if constexpr (has_blocks(kVariant)) {
      field("gamma", o.fit.gamma, "weight of the energy between classes, which is subtracted");
      field("within_vectors", o.fit.within_vectors, "columns of Q for a class with itself");
      field("between_vectors", o.fit.between_vectors,
            "columns of Q for two classes; 0 leaves these terms out");
    }
    if constexpr (kVariant == QAlphaVariant::kSemi) {
      field(
          "supervision", o.fit.supervision,
          "weight of the supervised criterion, from 0 (labels ignored) to 1 (rows without a label ignored)");
    }
    if constexpr (kVariant == QAlphaVariant::kLaplacian) {
      field("laplacian_shift", o.fit.laplacian_shift,
            "d of L = A - D + d I: the largest row sum of A, or its largest diagonal entry");
    }
    field("start", o.fit.start,
          "of Q: the leading eigenvectors at equal weights, random, or the former behind a column of ones");
    field("restarts", o.fit.restarts, "so many starts, all but the first random; the best objective is kept");
    field("no_normalize", o.no_normalize, "features as given, neither centred nor scaled to unit norm");
    field("max_iterations", o.fit.max_iterations, "stop after so many iterations");
    field("tolerance", o.fit.tolerance,
          "stop when the weights, of unit norm, move by less than this; 0 runs all iterations");
  }
};

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

void add_warnings(const QAlphaFit& fit, const RelevanceReport& report, Index asked, const FeatureRows& rows,
                  const QAlphaOptions& options, bool stopped, std::vector<std::string>& warnings) {
  const bool by_class = options.variant == QAlphaVariant::kSupervised;
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
  if (options.variant == QAlphaVariant::kLaplacian && rows.centred()) {
    warnings.emplace_back(
        options.laplacian_shift == LaplacianShift::kDegree
            ? "centred features have no degrees, so that this is method qalpha; ⟨no_normalize⟩ keeps them (for values that are not negative)"
            : "centred features have no degrees, so that the Laplacian is a mere shift, which flattens the weights; ⟨no_normalize⟩ keeps them (for values that are not negative)");
  }
}

RelevanceReport report_of(const FeatureRows& rows, const QAlphaFit& fit, QAlphaVariant variant) {
  RelevanceReport report;
  report.objective = fit.objective;
  const Vector squares = rows.squared_norms();
  report.trace = fit.weights.dot(squares);
  report.equal_trace = squares.sum() / std::sqrt(static_cast<double>(rows.features()));
  report.eigenvalues = fit.eigenvalues;
  report.clusters = fit.clusters;
  constexpr double kRounding = 1e-9;  // of the largest weight: what the eigenvector is exact to
  report.negative = (fit.weights.array() < -kRounding * fit.weights.maxCoeff()).count();
  report.starts = fit.starts;
  report.products = fit.products;
  const auto cut = weight_cut(fit.weights);
  report.cut = cut.k;
  report.cut_ratio = cut.ratio;
  const bool plain =
      variant == QAlphaVariant::kPower || variant == QAlphaVariant::kBasic || variant == QAlphaVariant::kRitz;
  if (plain) {  // the only criteria that (6) and Lemma 13 are about
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

template <class Method, bool kKernel>
void run_qalpha(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
                Selection& selection) {
  Method own;
  set_options(own, texts);
  own.validate();
  selection.method_options = options_json(own);
  QAlphaOptions options = own.fit;
  options.seed = input.options.seed;
  options.memory_limit = input.options.memory_limit.bytes;
  const int threads = input.options.threads;
  std::vector<int> codes;
  if (has_blocks(options.variant)) {
    require_classes(input.data, selection.method);
    codes = input.data.labels()->codes;
  }
  const FeatureRows given(input.data, input.candidates, !own.no_normalize, codes, threads,
                          options.memory_limit);
  if (own.no_normalize) require_moderate(given, input.data);
  std::optional<FeatureRows> mapped;
  std::optional<KernelFactor> factor;
  if constexpr (kKernel) {
    const bool exact = given.features() <= kExactKernelFeatures;
    factor =
        kernel_factor(given, own.kernel, exact ? 0.0 : own.kernel_tolerance, options.memory_limit, control);
    mapped.emplace(std::move(factor->r), threads);
  }
  const FeatureRows& rows = mapped ? *mapped : given;
  if (options.start == QAlphaStart::kOnes && !has_blocks(options.variant) && !sees_ones(rows)) {
    options.start = own.fit.start = QAlphaStart::kEqual;
    selection.method_options = options_json(own);
    selection.warnings.emplace_back(
        "⟨start ones⟩: features without a mean, as centring leaves them, are orthogonal to it, so that the start is that of ⟨start equal⟩; ⟨no_normalize⟩ keeps the means");
  }
  const auto fit = fit_qalpha(rows, options, control);
  auto report = report_of(rows, fit, options.variant);
  if (factor) {
    report.kernel_rank = rows.samples();
    report.kernel_error = factor->error;
    report.passes = given.passes() + rows.passes();
  }
  add_warnings(fit, report,
               options.variant == QAlphaVariant::kSupervised ? options.within_vectors : options.clusters,
               rows, options, control.should_stop(), selection.warnings);
  const auto p = static_cast<Index>(input.candidates.size());
  selection.weights = Vector::Zero(input.data.features());
  for (Index i = 0; i < p; ++i)
    selection.weights[input.candidates[static_cast<std::size_t>(i)]] = fit.weights[i];
  for (const Index i : weight_order(fit.weights))
    selection.ranking.push_back(input.candidates[static_cast<std::size_t>(i)]);
  for (const double objective : fit.trace)
    selection.trace.push_back({.objective = objective, .features = {}});
  selection.relevance = std::move(report);
  selection.status = control.status_or(fit.converged ? Status::kConverged : Status::kIterationLimit);
}

template <QAlphaVariant kVariant, bool kKernel = false>
MethodInfo qalpha_method(std::string_view name, std::string_view summary) {
  using Method = QAlphaMethod<kVariant, kKernel>;
  constexpr bool kLabels = kVariant == QAlphaVariant::kSupervised;
  return {.name = name,
          .summary = summary,
          .needs_labels = kLabels,
          .variance = !kLabels,
          .options = describe_options<Method>(),
          .run = run_qalpha<Method, kKernel>};
}

}  // namespace

std::vector<MethodInfo> qalpha_methods() {
  return {
      qalpha_method<QAlphaVariant::kPower>(
          "qalpha", "spectral relevance weights: features that together make the rows cluster"),
      qalpha_method<QAlphaVariant::kBasic>("qalpha-basic",
                                           "Q-alpha with all eigenvectors found anew in every iteration"),
      qalpha_method<QAlphaVariant::kRitz>("qalpha-ritz",
                                          "Q-alpha with the directions in order; the same weights as qalpha"),
      qalpha_method<QAlphaVariant::kLaplacian>("qalpha-laplacian",
                                               "Q-alpha on the Laplacian of the affinities, for values >= 0"),
      qalpha_method<QAlphaVariant::kGap>("qalpha-gap",
                                         "Q-alpha for the gap between leading and other energy"),
      qalpha_method<QAlphaVariant::kSupervised>(
          "qalpha-supervised", "Q-alpha with classes: coherent within each one, not between two"),
      qalpha_method<QAlphaVariant::kSemi>("qalpha-semi", "Q-alpha with labels for some of the rows"),
      qalpha_method<QAlphaVariant::kPower, true>(
          "qalpha-kernel", "Q-alpha on a kernel of the features: interactions beyond pairs"),
  };
}

}  // namespace subspectra
