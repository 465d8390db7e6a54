#include "search/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::search {
namespace {

constexpr double kLeastWeight = 1e-8;

/// z_i = min(1, v_i/theta) with theta such that their sum is m, no z_i below kLeastWeight.
void capped_to_sum(Vector& v, Index m) {
  const Index n = v.size();
  std::vector<double> sorted(v.data(), v.data() + n);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double rest = 0.0;
  for (const double x : sorted) rest += x;
  // The largest `full` of them at 1: theta = (sum of the others)/(m - full), no smaller than any of those.
  double theta = 0.0;
  for (Index full = 0; full < m; ++full) {
    theta = rest / static_cast<double>(m - full);
    const double next = sorted[static_cast<std::size_t>(full)];
    if (next <= theta) break;
    rest -= next;
  }
  for (Index i = 0; i < n; ++i) {
    const double z =
        theta > 0.0 ? std::min(1.0, v[i] / theta) : static_cast<double>(m) / static_cast<double>(n);
    v[i] = std::max(z, kLeastWeight);
  }
}

/// M^{-1} y with M's Cholesky factor.
void solve(const Matrix& factor, Matrix& y) {
  linalg::solve_lower(factor, linalg::Op::kNone, y);
  linalg::solve_lower(factor, linalg::Op::kTranspose, y);
}

/// A^{-1} of a positive definite matrix; false where it is none.
bool inverse_of(Matrix& a) {
  if (!linalg::invert_positive(a, 1)) return false;
  linalg::mirror_lower(a);
  return true;
}

/// Newton's method on sum weights_i D_i + mu log det(B - diag(D)), mu falling. The gradient is weights_i - mu
/// X_ii, the Hessian -mu X o X with X = (B - diag(D))^{-1}.   O(n^3) a step, two dozen steps.
Vector newton_minorant(const Matrix& b, const Vector& weights, Vector d, double mu, double shrink,
                       int rounds) {
  const Index n = b.rows();
  const auto rest = [&](const Vector& at) { return Matrix(b - Matrix(at.asDiagonal())); };
  for (int round = 0; round < rounds; ++round, mu *= shrink) {
    for (int step = 0; step < 4; ++step) {
      Matrix x = rest(d);
      if (!inverse_of(x)) return {};
      Matrix move = weights - mu * x.diagonal();
      Matrix hessian = mu * x.cwiseProduct(x);
      if (!linalg::cholesky(hessian)) return {};
      solve(hessian, move);
      double length = 1.0;
      Vector next = d + move.col(0);
      const auto inside = [&] {
        if (!(next.minCoeff() > 0.0)) return false;
        Matrix at = rest(next);
        return linalg::cholesky(at);
      };
      while (length > 1e-6 && !inside()) {
        length *= 0.5;
        next = d + length * move.col(0);
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
  d = d * (room * (1.0 - 1e-12) - 1e-14 * static_cast<double>(n));
  return d.minCoeff() > 0.0 ? d : Vector();
}

}  // namespace

Vector diagonal_minorant(const Matrix& b, const Vector& weights) {
  const double least = linalg::spectrum(b, false).values.minCoeff();
  if (!(least > 0.0)) return {};
  const Vector d = Vector::Constant(b.rows(), 0.5 * least);
  return newton_minorant(b, weights, d, weights.dot(d) / static_cast<double>(b.rows()), 0.25, 8);
}

RelaxedBound relaxed_bound(const Matrix& g, const Matrix& c, const Vector& d, Index m, double worth,
                           const RelaxationEffort& effort, Vector& weights) {
  const Index n = g.rows(), r = c.cols();
  RelaxedBound best;
  if (weights.size() != n) weights = Vector::Ones(n);
  capped_to_sum(weights, m);
  const Vector size = g.diagonal().cwiseSqrt();
  // Of a sum of n products, each of which Cauchy's inequality bounds: |W_ij| <= G_ii^(1/2) G_jj^(1/2).
  const double unit = 4.0 * kEpsilon * static_cast<double>(n + 8);
  Matrix matrix(n, n), beta(n, r), product(n, r);
  Vector terms(n);
  std::vector<double> largest;
  for (int step = 0; step < effort.steps; ++step) {
    const Vector root = (weights.array() / d.array()).sqrt();
    for (Index j = 0; j < n; ++j) {
      matrix.col(j).array() = g.col(j).array() * root.array() * root[j];
      matrix(j, j) = 1.0 + (g(j, j) - d[j]) * root[j] * root[j];
    }
    if (!linalg::cholesky(matrix)) break;
    beta = root.asDiagonal() * c;
    solve(matrix, beta);
    beta = root.asDiagonal() * beta;
    linalg::gemm(1.0, linalg::Op::kNone, g, linalg::Op::kNone, beta, 0.0, product);
    product -= d.asDiagonal() * beta;
    double shared = 0.0;
    terms.setZero();
    for (Index q = 0; q < r; ++q) {
      const double reach = unit * beta.col(q).cwiseAbs().dot(size);
      shared += std::max(0.0, beta.col(q).dot(product.col(q))) + reach * beta.col(q).cwiseAbs().dot(size);
      for (Index i = 0; i < n; ++i) {
        const double s = std::abs(c(i, q) - product(i, q)) + reach * size[i] + unit * std::abs(c(i, q));
        terms[i] += s * s / d[i];
      }
    }
    largest.assign(terms.data(), terms.data() + n);
    std::nth_element(largest.begin(), largest.begin() + (m - 1), largest.end(), std::greater<>());
    double sum = shared;
    for (Index i = 0; i < m; ++i) sum += largest[static_cast<std::size_t>(i)];
    sum *= 1.0 + 1e-12;
    best.value = std::max(best.value, shared + weights.dot(terms) - 1e-9 * sum);
    if (sum < best.bound) {
      best.bound = sum;
      best.shared = shared * (1.0 + 1e-12);
      best.terms = terms * (1.0 + 1e-12);
      best.beta = beta;
    }
    if (best.bound <= worth || best.bound - best.value <= effort.precision * best.bound) break;
    if (best.value > worth && step + 1 >= effort.hopeless_steps) break;
    if (!std::isfinite(sum)) break;
    const double power = step < 4 ? 0.5 : 0.75;
    weights = weights.array() * terms.array().pow(power);
    capped_to_sum(weights, m);
  }
  return best;
}

/// The relaxed bound at a fixed beta is convex in D, with the slope -g_i at z: g_i = z_i |r_i|^2/D_i^2 +
/// (1 - z_i) |beta_i|^2, r = C - B beta. D is that of weights, and the weights move towards g.
Vector minorant_for_size(const Matrix& b, const Matrix& c, const Vector& weights, Index m) {
  constexpr int kRounds = 10;
  constexpr double kLeast = 1e-6;
  Vector best_d = diagonal_minorant(b, weights);
  if (best_d.size() == 0 || m < 1 || m >= b.rows()) return best_d;
  const RelaxationEffort effort{.steps = 24, .hopeless_steps = 24, .precision = 2e-3};
  Vector z, best_weights = weights / weights.sum();
  RelaxedBound best = relaxed_bound(b, c, best_d, m, 0.0, effort, z);
  Vector best_z = z;
  double step = 0.5;
  for (int round = 0; round < kRounds && step > 0.02; ++round) {
    const Matrix rest = c - b * best.beta;
    Vector slope = best_z.array() * rest.rowwise().squaredNorm().array() / best_d.array().square() +
                   (1.0 - best_z.array()) * best.beta.rowwise().squaredNorm().array();
    if (!(slope.maxCoeff() > 0.0)) break;
    slope = slope.cwiseMax(kLeast * slope.maxCoeff());
    slope /= slope.sum();
    Vector next = best_weights.array().pow(1.0 - step) * slope.array().pow(step);
    next /= next.sum();
    const Vector d = newton_minorant(b, next, 0.9 * best_d,
                                     0.2 * next.dot(best_d) / static_cast<double>(b.rows()), 0.25, 5);
    if (d.size() == 0) break;
    z = best_z;
    const RelaxedBound at = relaxed_bound(b, c, d, m, 0.0, effort, z);
    if (at.bound < best.bound) {
      best = at;
      best_d = d;
      best_z = z;
      best_weights = next;
      step = std::min(1.0, 1.3 * step);
    } else {
      step *= 0.4;
    }
  }
  return best_d;
}

}  // namespace subspectra::search
