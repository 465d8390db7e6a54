#include "qalpha/qalpha.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/memory.hpp"
#include "core/streams.hpp"
#include "eigen/lanczos.hpp"
#include "qalpha/criteria.hpp"

namespace subspectra {
namespace {

/// The sign an eigenvector lacks: a positive sum, and where that is rounding alone a positive largest entry.
void fix_sign(Vector& alpha, Matrix& image) {
  const double sum = alpha.sum();
  Index largest = 0;
  alpha.cwiseAbs().maxCoeff(&largest);
  const double decides = std::abs(sum) > 1e-12 * alpha.cwiseAbs().sum() ? sum : alpha[largest];
  if (decides < 0.0) {
    alpha = -alpha;
    image = -image;
  }
}

[[noreturn]] void refuse_ones() {
  throw InvalidArgument({.field = "start",
                         .value = "ones",
                         .rule = "{value}: centred features are orthogonal to it",
                         .way_out = "use ⟨start equal⟩, or ⟨no_normalize⟩"});
}

/// One run from one start.
template <class M>
QAlphaFit fit_from(const FeatureRows& rows, const M& method, const QAlphaRun& run, Index number,
                   const RunControl& control) {
  Random random(run.seed, streams::qalpha_start(number));
  const auto criterion = qalpha::criterion_of(rows, method);
  const QAlphaStart kind = number == 0 ? method.start.kind : QAlphaStart::kRandom;
  // Beside other columns one that no feature sees would be a direction lost.
  if (kind == QAlphaStart::kOnes && rows.centred() && !kHasBlocks<M>) refuse_ones();
  const bool given = number == 0 && run.given_start.size() > 0;
  criterion->start({.kind = kind, .given = given ? &run.given_start : nullptr}, random);
  // Nearly equal weights, so that a symmetry of the data cannot hide the leading eigenvector.
  const Index p = rows.features();
  Vector start(p), before, before_that;
  for (Index i = 0; i < p; ++i) start[i] = 1.0 + 1e-3 * random.normal();
  Matrix image = criterion->follow_for(start);  // of `start`
  if (criterion->null()) {
    if (kind == QAlphaStart::kOnes) refuse_ones();
    throw InvalidArgument({.field = "start",
                           .subject = "no feature",
                           .rule = "has anything in common with the start of Q",
                           .way_out = "use ⟨start random⟩"});
  }
  QAlphaFit fit;
  LanczosOptions lanczos{
      .least_products = 2, .threads = rows.threads(), .stop = [&] { return control.should_stop(); }};
  // alpha'G alpha rises with every product, however early the eigenvector is left; so on the way it is found
  // no more exactly than it still moves, and to full accuracy at the end (or always, where all steps were
  // asked for).
  constexpr double kFull = 1e-10, kFirst = 1e-3, kOfChange = 0.2;
  const bool exact = !(method.tolerance > 0.0);
  const CarriedOperator product{.image = [&](const Vector& x) { return criterion->image(x); },
                                .multiply = [&](const Vector& x, const Matrix& wx, Vector& y,
                                                Matrix* wy) { criterion->multiply(x, wx, y, wy); }};
  const auto solve = [&](double tolerance) {
    lanczos.tolerance = tolerance;
    lanczos.first_image = image.size() > 0 ? &image : nullptr;
    auto pairs = leading_eigenpairs(p, product, start, lanczos, random);
    fit.products += pairs.products;
    fit.resolved = pairs.converged;
    fit.objective = pairs.values[0];
    fit.weights = pairs.vectors.col(0);
    image = std::move(pairs.image);
    fix_sign(fit.weights, image);
  };
  double change = kFirst / kOfChange;
  const double finest = exact ? kFull : std::max(kFull, kOfChange * method.tolerance);
  for (Index iteration = 1; iteration <= method.max_iterations; ++iteration) {
    const double wanted = exact ? kFull : std::max(finest, kOfChange * change);
    solve(wanted);
    const auto moved = [&] { return before.size() > 0 ? (fit.weights - before).norm() : change; };
    change = moved();
    if (!exact && before.size() > 0 && change <= method.tolerance && wanted > finest) {
      start = fit.weights;  // it may stand still only because it was left early
      solve(finest);
      change = moved();
    }
    control.report("qalpha", static_cast<double>(iteration) / static_cast<double>(method.max_iterations),
                   [&] { return fmt::format("iteration {}  objective {:.6g}", iteration, fit.objective); });
    fit.converged = before.size() > 0 && change <= method.tolerance && !exact;
    fit.cycles = !exact && !fit.converged && before_that.size() > 0 &&
                 (fit.weights - before_that).norm() <= method.tolerance;
    const bool last =
        fit.converged || fit.cycles || iteration == method.max_iterations || control.should_stop();
    if (last && !exact) {
      start = fit.weights;
      solve(kFull);
    }
    fit.trace.push_back(fit.objective);
    if (last) break;
    before_that = std::move(before);
    before = fit.weights;
    start = fit.weights;
    criterion->advance(fit.weights, image);
    image = criterion->follow_for(start);
  }
  fit.clusters = criterion->directions();  // a random start may have had more than the data
  fit.least_clusters = criterion->least_directions();
  fit.q = criterion->q();
  fit.eigenvalues = criterion->eigenvalues(fit.weights);
  return fit;
}

template <class M>
void check(const FeatureRows& rows, const M& method, std::uint64_t memory_limit) {
  const auto p = static_cast<double>(rows.features()), q = static_cast<double>(rows.samples());
  double columns = 0.0;
  if constexpr (kHasBlocks<M>) {
    const auto k = static_cast<double>(rows.classes().count());
    columns += k * (static_cast<double>(method.within_vectors) +
                    (k - 1.0) * static_cast<double>(method.between_vectors));
  }
  if constexpr (requires { method.clusters; }) columns += static_cast<double>(method.clusters);
  constexpr double kVectors = 24.0;  // basis, iterates and what the table is centred with
  constexpr double kParts = 32.0;    // partial sums, and the image of every vector of the basis
  require_memory(8.0 * (p * (columns + kVectors) + kParts * q * columns), "Q-alpha on so many features",
                 kHasBlocks<M> ? "use fewer ⟨between_vectors⟩, or leave features out (⟨exclude⟩)"
                               : "use fewer ⟨clusters⟩, or leave features out (⟨exclude⟩)",
                 memory_limit);
  // Of few rows Q(0) and the energy come from the matrix itself; the answer must not depend on the limit.
  if (qalpha::affinity_affordable(rows)) {
    require_memory(rows.affinity_bytes(), "the affinity matrix of Q-alpha, rows x rows,", "give fewer rows",
                   memory_limit);
  }
  if constexpr (std::is_same_v<M, QAlphaGap>) {
    require_memory(8.0 * 4.0 * q * q, "the affinity matrix of qalpha-gap, rows x rows,",
                   "use qalpha, which needs none", memory_limit);
  }
}

}  // namespace

template <class M>
QAlphaFit fit_qalpha(const FeatureRows& rows, const M& method, const QAlphaRun& run,
                     const RunControl& control) {
  check(rows, method, run.memory_limit);
  QAlphaFit best;
  std::vector<double> starts;
  Index products = 0;
  bool resolved = true;
  for (Index number = 0; number < std::max<Index>(1, method.restarts); ++number) {
    if (number > 0 && control.should_stop()) break;
    QAlphaFit fit = fit_from(rows, method, run, number, control);
    starts.push_back(fit.objective);
    products += fit.products;
    resolved = resolved && fit.resolved;
    if (number == 0 || fit.objective > best.objective) best = std::move(fit);
  }
  best.starts = std::move(starts);
  best.products = products;
  best.resolved = resolved;
  best.passes = rows.passes();
  return best;
}

template QAlphaFit fit_qalpha(const FeatureRows&, const QAlpha&, const QAlphaRun&, const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaBasic&, const QAlphaRun&, const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaRitz&, const QAlphaRun&, const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaLaplacian&, const QAlphaRun&,
                              const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaGap&, const QAlphaRun&, const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaSupervised&, const QAlphaRun&,
                              const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaSemi&, const QAlphaRun&, const RunControl&);
template QAlphaFit fit_qalpha(const FeatureRows&, const QAlphaOfKernel&, const QAlphaRun&, const RunControl&);

std::vector<Index> weight_order(const VectorRef& weights) {
  std::vector<Index> order(static_cast<std::size_t>(weights.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return weights[a] > weights[b]; });
  if (order.empty()) return order;
  // Duplicates have the same weight but for rounding, which depends on where they stand.
  const double same = 1e-11 * weights.cwiseAbs().maxCoeff();
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && weights[*(last - 1)] - weights[*last] <= same) ++last;
    std::sort(first, last);
    first = last;
  }
  return order;
}

WeightCut weight_cut(const VectorRef& weights) {
  // Less is no fall: the largest gap among weights that noise alone tells apart is of this size.
  constexpr double kFloor = 0.01, kLeastFall = 1.1;
  WeightCut cut;
  const auto order = weight_order(weights);
  if (order.size() < 2 || !(weights[order[0]] > 0.0)) return cut;
  const double floor = kFloor * weights[order[0]];
  for (std::size_t i = 0; i + 1 < order.size() && weights[order[i]] > floor; ++i) {
    const double ratio = weights[order[i]] / std::max(weights[order[i + 1]], floor);
    if (ratio > cut.ratio) cut = {static_cast<Index>(i + 1), ratio};
  }
  if (cut.ratio < kLeastFall) cut.k = 0;
  return cut;
}

std::optional<double> affinity_energy(const FeatureRows& rows, const VectorRef& alpha) {
  if (!qalpha::affinity_affordable(rows)) return std::nullopt;
  return rows.affinity(alpha).squaredNorm();
}

IrrelevantBound irrelevant_bound(const FeatureRows& rows, const QAlphaFit& fit, const WeightCut& cut) {
  IrrelevantBound bound;
  const auto order = weight_order(fit.weights);
  Vector below = Vector::Zero(rows.features());
  for (auto i = static_cast<std::size_t>(cut.k); i < order.size(); ++i) {
    below[order[i]] = 1.0;
    bound.sum += fit.weights[order[i]];
  }
  // 1'G 1 = |A_1 Q|^2 with the indicator of those below as weights.
  const Matrix w = rows.project_combine(fit.q, rows.whole(), [&](Index first, Index count, Matrix& tile) {
    tile.array().colwise() *= below.segment(first, count).array();
  });
  bound.sharper = std::sqrt(w.squaredNorm() / fit.objective);
  if (const auto energy = affinity_energy(rows, below)) bound.lemma = std::sqrt(*energy / fit.objective);
  return bound;
}

}  // namespace subspectra
