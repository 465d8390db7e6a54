#include "search/factor_problem.hpp"

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "eigen/cholesky.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/rounding.hpp"
#include "spectral/discriminants.hpp"

namespace subspectra::search {
namespace {

/// M with M M' = A for a positive semidefinite A whose units are comparable; no column is zero.
Matrix root_of(const Matrix& a) {
  const auto eigen = linalg::spectrum(a, true);
  const double floor = kEpsilon * static_cast<double>(a.rows()) * std::max(eigen.values.maxCoeff(), 0.0);
  const Index rank = std::max<Index>(1, (eigen.values.array() > floor).count());
  return eigen.vectors.rightCols(rank) * eigen.values.tail(rank).cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

constexpr Index kTiledInverseFrom = 100;       ///< rows: from here on the tiled inverse is faster
constexpr Index kStoppableInverseFrom = 1500;  ///< below, the inverse is a matter of a tenth of a second
constexpr Index kStoppableStepsFrom = 800;     ///< from here on a stop is heard between the steps, too

/// D with B - diag(D) > 0 that comes close to the largest sum of P_ii D_i, P = B^{-1}: Newton's method on
/// sum P_ii D_i + mu log det(B - diag(D)), mu falling. The gradient is P_ii - mu X_ii, the Hessian -mu X o X
/// with X = (B - diag(D))^{-1}.   O(n^3) a step, two dozen steps.
Vector diagonal_minorant(const Matrix& b, const Matrix& inverse) {
  const Index n = b.rows();
  const Vector weights = inverse.diagonal();
  const double least = linalg::spectrum(b, false).values.minCoeff();
  if (!(least > 0.0)) return {};
  Vector d = Vector::Constant(n, 0.5 * least);
  const auto rest = [&](const Vector& at) { return linalg::CholeskyFactor(b - Matrix(at.asDiagonal())); };
  double mu = weights.dot(d) / static_cast<double>(n);
  for (int round = 0; round < 8; ++round, mu *= 0.25) {
    for (int step = 0; step < 4; ++step) {
      const auto llt = rest(d);
      if (!llt.positive()) return {};
      const Matrix x = llt.solve(Matrix(Matrix::Identity(n, n)));
      const Vector gradient = weights - mu * x.diagonal();
      const Vector move = linalg::CholeskyFactor(mu * x.cwiseProduct(x)).solve(gradient);
      double length = 1.0;
      Vector next = d + move;
      while (length > 1e-6 && (!(next.minCoeff() > 0.0) || !rest(next).positive())) {
        length *= 0.5;
        next = d + length * move;
      }
      if (length <= 1e-6) break;
      const bool small = (next - d).norm() < 1e-2 * d.norm();
      d = next;
      if (small) break;
    }
  }
  // As far as it goes: the smallest eigenvalue of B against diag(D), less than rounding may have added.
  const Vector scale = d.cwiseSqrt().cwiseInverse();
  const double room = linalg::spectrum(scale.asDiagonal() * b * scale.asDiagonal(), false).values.minCoeff();
  return d * (room * (1.0 - 1e-12) - 1e-14 * static_cast<double>(n));
}

}  // namespace

Matrix without_null_columns(const Matrix& m) {
  const auto eigen = linalg::spectrum(m.transpose() * m, true);
  const double floor = 1e-14 * std::max(eigen.values.maxCoeff(), 0.0);
  const Index rank = std::max<Index>(1, (eigen.values.array() > floor).count());
  return m * eigen.vectors.rightCols(rank);
}

bool inverted(Matrix& a, int threads, const RunControl& control) {
  if (a.rows() >= kTiledInverseFrom) {
    if (!linalg::invert_positive(a, threads, a.rows() > kStoppableInverseFrom ? &control : nullptr))
      return false;
    linalg::mirror_lower(a);
    return true;
  }
  const linalg::CholeskyFactor llt(a);
  if (!llt.positive()) return false;
  const Matrix w = llt.solve_lower(Matrix::Identity(a.rows(), a.rows()));
  a.noalias() = w.transpose() * w;
  return true;
}

double trace_bound(const Pencil& pencil, const SearchUnits& units, const ExactRun& run) {
  const auto features = units.features();
  const auto n = static_cast<Index>(features.size());
  if (n > kStoppableInverseFrom) return kInfinity;
  Matrix inverse = pencil.block(features, run.threads);
  const Vector scale = inverse.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite()) return kInfinity;
  inverse = scale.asDiagonal() * inverse * scale.asDiagonal();
  const double norm = inverse.norm();
  const RunControl unstoppable;
  if (!inverted(inverse, run.threads, unstoppable)) return kInfinity;
  const double rounding = 1e-10 + rounding_of_bounds(n, rows_of_moments(pencil), norm * inverse.norm());
  double trace = 0.0;
  double rank = static_cast<double>(n);
  if (pencil.factor() != nullptr) {
    const Matrix m = scale.asDiagonal() * (*pencil.factor())(features, Eigen::all);
    Matrix u(n, m.cols());
    linalg::gemm_tiled(1.0, linalg::Op::kNone, inverse, m, 0.0, u, run.threads);
    trace = u.cwiseProduct(m).sum();
    rank = std::min(rank, static_cast<double>(m.cols()));
  } else {
    const Matrix a = pencil.a_block(features, run.threads);
    trace = (scale.asDiagonal() * a * scale.asDiagonal()).cwiseProduct(inverse).sum();
  }
  if (!std::isfinite(trace) || !(rounding < 1.0)) return kInfinity;
  trace = std::max(0.0, trace) * (1.0 + rounding);
  return run.criterion == Criterion::kWilks ? rank * std::log1p(trace / rank) : trace;
}

FactorProblem::FactorProblem(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                             const RunControl& control, const ExactHooks& exact_hooks)
    : single(units.single), criterion(run.criterion), hooks(exact_hooks) {
  std::vector<Index> features;
  for (const auto& members : units.members) {
    first.push_back(static_cast<Index>(features.size()));
    features.insert(features.end(), members.begin(), members.end());
    if (members.size() != 1) single = false;
  }
  const auto n = static_cast<Index>(features.size());
  first.push_back(n);
  // B, its inverse, and what one visit holds; more visits at a time where there is room (visit_bytes()).
  require_memory(8.0 * 8.0 * static_cast<double>(n) * static_cast<double>(n),
                 "an exact search over all candidates",
                 "leave features out (⟨exclude⟩), or search greedily (gslda)", run.memory_limit);
  const auto ask = [&] {
    if (n > kStoppableStepsFrom && control.should_stop()) throw linalg::Stopped();
  };
  ask();
  b = pencil.block(features, run.threads);
  ask();
  const Vector scale = b.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite())
    throw Infeasible("a candidate has no variance within the classes; use ⟨ridge auto⟩ or a number");
  b = scale.asDiagonal() * b * scale.asDiagonal();
  ask();
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) b(i, j) = 0.5 * (b(i, j) + b(j, i));
  }
  linalg::mirror_lower(b);
  ask();
  m = pencil.factor() != nullptr
          ? without_null_columns(scale.asDiagonal() * (*pencil.factor())(features, Eigen::all))
          : root_of(scale.asDiagonal() * pencil.a_block(features, run.threads) * scale.asDiagonal());
  ask();
  Matrix inverse = b;
  // 1/P_ii is what remains of column i given the others, of a unit diagonal.
  if (!inverted(inverse, run.threads, control) || !(inverse.diagonal().maxCoeff() * kDependentPivot < 1.0)) {
    throw Infeasible(
        pencil.ridged()
            ? "the within-class covariance of the candidates is singular to rounding, with this ridge, too, so that no proof can start from all of them; use a larger ridge, exclude features, or search greedily (⟨method forward-lda⟩)"
            : "the within-class covariance of the candidates is singular, so that no proof can start from all of them; use ⟨ridge auto⟩ (or a number), exclude features, or search greedily (⟨method forward-lda⟩)");
  }
  slack = std::max(1e-12, rounding_of_bounds(n, rows_of_moments(pencil), b.norm() * inverse.norm()));
  ask();
  whole = of(m.transpose() * (inverse * m));
  level_bytes = hooks.tuning.engine.level_bytes(run.memory_limit);
  if (single && is_trace() && n <= hooks.tuning.factor.most_for_minorant &&
      (uses(ExactBound::kDropSum) || uses(ExactBound::kGainSum))) {
    minorant = diagonal_minorant(b, inverse);
  }
}

std::optional<Residual> FactorProblem::residual(const OpenNode& node, const RunControl& control) const {
  const auto kept = rows_of(node.kept), free = rows_of(node.free);
  Residual at{.g = b(free, free), .c = m(free, Eigen::all), .kept = Matrix::Zero(m.cols(), m.cols())};
  if (!kept.empty()) {
    const linalg::CholeskyFactor llt(b(kept, kept));
    if (!llt.positive()) return std::nullopt;
    const Matrix w = llt.solve_lower(b(kept, free));
    const Matrix y = llt.solve_lower(m(kept, Eigen::all));
    at.g.noalias() -= w.transpose() * w;
    at.c.noalias() -= w.transpose() * y;
    at.kept.noalias() += y.transpose() * y;
  }
  at.p = at.g;
  if (at.p.rows() > 0 && !inverted(at.p, 1, control)) return std::nullopt;
  at.u = at.p * at.c;
  return at;
}

std::vector<VisitSize> sizes_of(const OpenNode& node, const Cutoff& cutoff, VisitFindings& findings) {
  std::vector<VisitSize> sizes;
  sizes.push_back({node.k, node.bound, Limits(cutoff, findings)});
  for (std::size_t i = 0; i < node.also_serves.size(); ++i)
    sizes.push_back(
        {node.also_serves[i].k, node.also_serves[i].bound, Limits(cutoff, findings.also_served[i])});
  return sizes;
}

OpenNode open_node(const std::vector<ServedSize>& sizes, std::vector<std::int32_t> kept,
                   std::vector<std::int32_t> free) {
  OpenNode node{.k = sizes.front().k, .kept = std::move(kept), .free = std::move(free)};
  node.bound = sizes.front().bound;
  node.also_serves.assign(sizes.begin() + 1, sizes.end());
  std::sort(node.kept.begin(), node.kept.end());
  std::sort(node.free.begin(), node.free.end());
  return node;
}

double FactorProblem::visit_bytes() const {
  const auto n = static_cast<double>(b.rows());
  return 8.0 * 6.0 * n * n + std::min(level_bytes, 8.0 * 2.0 * n * n * n);
}

std::size_t FactorProblem::most_depth(Index free) const {
  const double block = 2.0 * 8.0 * static_cast<double>(std::max<Index>(1, free * free));
  return static_cast<std::size_t>(std::max(2.0, level_bytes / block));
}

bool FactorProblem::alike(Index u, Index v) const {
  const auto start = [&](Index unit) { return first[static_cast<std::size_t>(unit)]; };
  const Index rows = start(u + 1) - start(u);
  if (rows != start(v + 1) - start(v)) return false;
  const double a = m.middleRows(start(u), rows).norm(), b_norm = m.middleRows(start(v), rows).norm();
  return std::abs(a - b_norm) <= kTieFraction * std::max(a, b_norm);
}

double FactorProblem::monotone_image_to_criterion(double value) const {
  return criterion == Criterion::kWilks && m.cols() == 1 ? std::log1p(std::max(0.0, value)) : value;
}

std::vector<Index> FactorProblem::rows(const std::vector<Index>& units) const {
  std::vector<Index> result;
  for (const Index u : units) {
    for (Index i = first[static_cast<std::size_t>(u)]; i < first[static_cast<std::size_t>(u) + 1]; ++i)
      result.push_back(i);
  }
  return result;
}

double FactorProblem::of(const Matrix& t) const {
  if (is_trace()) return std::max(0.0, t.trace());
  return criterion_value(criterion, linalg::spectrum(t, false).values.cwiseMax(0.0));
}

double FactorProblem::value(const std::vector<Index>& units) const {
  const auto at = rows(units);
  const linalg::CholeskyFactor llt(b(at, at));
  if (!llt.positive()) return -kInfinity;
  const Matrix y = llt.solve_lower(m(at, Eigen::all));
  if (is_trace()) return y.squaredNorm();
  return of(y.rows() < y.cols() ? Matrix(y * y.transpose()) : Matrix(y.transpose() * y));  // but for zeros
}

}  // namespace subspectra::search
