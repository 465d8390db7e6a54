#include "search/dspca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "search/perron_bound.hpp"
#include "spectral/renormalize.hpp"

// Two copies of X, each with one half of the constraints, are made equal (Boyd et al. 2011, Section 3):
//     X <- the matrix of trace 1 nearest to Z - Y + Sigma/mu, psd        (an eigendecomposition)
//     Z <- X + Y with its entries pulled to zero by a common t           (t = rho/mu, or so that |Z|_1 <= k)
//     Y <- X + Y - Z                                                      (so that |y_ij| <= t)
// U = -mu Y is feasible for the dual after every step, whatever t was, and X, mixed with its own diagonal
// where 1'|X|1 exceeds k, for the primal: every step that is looked at gives a pair of bounds.

namespace subspectra {
namespace {

using linalg::Op;

constexpr double kRelax = 1.6;           // over-relaxation of X; between 1.5 and 1.8 is usual
constexpr Index kLook = 10;              // steps between two looks at the gap
constexpr Index kAdapt = 500;            // steps after which mu stays
constexpr double kImbalance = 3.0;       // of the residuals, before mu is changed
constexpr double kDualOutwards = 1e-10;  // bounds are moved outwards by this fraction
constexpr int kMatrices = 12;            // n x n, at the same time, the eigensolver's included

double largest_dual_eigenvalue(const Matrix& a) {
  return linalg::symmetric_eigen(a, false).values[a.rows() - 1];
}

/// At least lambda_max(a): its computed value, moved by what an eigensolver may lose.
double outer_eigenvalue(const Matrix& a) {
  return largest_dual_eigenvalue(a) + 4.0 * static_cast<double>(a.rows()) * kEpsilon * a.norm();
}

/// The psd matrix of trace 1 nearest to `m`: its eigenvalues less a common theta, as far as they are
/// positive.
Matrix nearest_in_spectraplex(Matrix m) {
  const Index n = m.rows();
  const auto eigen = linalg::symmetric_eigen(std::move(m), true);
  double sum = 0.0, theta = 0.0;
  Index kept = 0;
  for (Index i = n - 1; i >= 0; --i) {
    sum += eigen.values[i];
    const double next = (sum - 1.0) / static_cast<double>(n - i);
    if (!(eigen.values[i] > next)) break;
    theta = next;
    ++kept;
  }
  const Matrix root = eigen.vectors.rightCols(kept) *
                      (eigen.values.tail(kept).array() - theta).max(0.0).sqrt().matrix().asDiagonal();
  Matrix x(n, n);
  linalg::syrk(1.0, Op::kNone, root, 0.0, x);
  return x / x.trace();
}

/// t >= 0 with sum (|v_ij| - t)_+ = radius, 0 where |v|_1 is no larger (Michelot: t rises to it, the entries
/// above it become fewer).
double ball_threshold(const Matrix& v, double radius) {
  const auto a = v.reshaped().array().abs();
  double sum = a.sum();
  if (sum <= radius) return 0.0;
  double t = (sum - radius) / static_cast<double>(v.size());
  while (true) {
    sum = 0.0;
    Index count = 0;
    for (const double e : v.reshaped()) {
      if (std::abs(e) > t) {
        sum += std::abs(e);
        ++count;
      }
    }
    const double next = count > 0 ? (sum - radius) / static_cast<double>(count) : t;
    if (!(next > t * (1.0 + 4.0 * kEpsilon))) return t;
    t = next;
  }
}

double l1(const Matrix& a) { return a.reshaped().array().abs().sum(); }

/// (1 - s) X + s diag(X) with 1'|.|1 <= k: psd and of trace 1 as X is. 1'|diag X|1 = 1 <= k.
Matrix cut_to_size(Matrix x, double k) {
  const double all = l1(x);
  if (all <= k) return x;
  const Vector diagonal = x.diagonal();
  x *= std::max(0.0, 1.0 - (all - k) / (all - 1.0));
  x.diagonal() = diagonal;
  return x;
}

}  // namespace

double DspcaSolver::bytes(Index n) {
  return kMatrices * 8.0 * static_cast<double>(n) * static_cast<double>(n);
}

DspcaSolver::DspcaSolver(Matrix sigma, const Dspca& options, std::uint64_t memory_limit)
    : sigma_(std::move(sigma)), options_(options) {
  options.validate();
  const Index n = sigma_.rows();
  if (n < 1 || n > kMostFeatures) {
    throw InvalidArgument(fmt::format(
        "dspca: {} features, but every step decomposes a matrix of that size and no more than {} are taken; leave features out (⟨exclude⟩), or use gspca, espca or spca",
        n, kMostFeatures));
  }
  require_memory(bytes(n), "the semidefinite relaxation", "leave features out, or use gspca or spca",
                 memory_limit);
  const double largest = sigma_.cwiseAbs().maxCoeff();
  if (largest > 0.0) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    scale_ = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
  }
  sigma_ /= scale_;
  top_ = outer_eigenvalue(sigma_);
}

DspcaSolution DspcaSolver::of_size(Index k, const RunControl& control) {
  if (k < 1 || k > size())
    throw InvalidArgument({.field = "k",
                           .value = fmt::to_string(k),
                           .subject = "dspca: k",
                           .rule = fmt::format("{{value}}, but 1 <= k <= {} is needed", size())});
  return solve({true, static_cast<double>(k)}, control);
}

DspcaSolution DspcaSolver::of_penalty(double rho, const RunControl& control) {
  if (!(rho >= 0.0 && std::isfinite(rho)))
    throw InvalidArgument({.field = "rho",
                           .value = fmt::to_string(rho),
                           .subject = "dspca: rho",
                           .rule = "{value}, but 0 or a positive number is needed"});
  return solve({false, rho / scale_}, control);
}

DspcaSolution DspcaSolver::solve(const Limit& limit, const RunControl& control) {
  const Index n = size();
  const auto pairs = leading_pairs(sigma_, 1);
  const auto objective = [&](const Matrix& x) {
    const double variance = sigma_.cwiseProduct(x).sum();
    return limit.by_size ? variance : variance - limit.value * l1(x);
  };
  DspcaSolution best;
  // Feasible at once: the variable of largest variance alone, and U = 0.
  Index first = 0;
  sigma_.diagonal().maxCoeff(&first);
  best.x = Matrix::Zero(n, n);
  best.x(first, first) = 1.0;
  best.primal = objective(best.x);
  best.u = Matrix::Zero(n, n);
  best.largest = best.dual = top_;
  best.rho = limit.by_size ? 0.0 : limit.value;

  const auto offer_primal = [&](Matrix x) {
    if (limit.by_size) x = cut_to_size(std::move(x), limit.value);
    const double value = objective(x);
    if (!(value > best.primal)) return;
    best.primal = value;
    best.x = std::move(x);
  };
  const auto offer_dual = [&](Matrix u) {
    const double rho = limit.by_size ? u.cwiseAbs().maxCoeff() : limit.value;
    if (!limit.by_size) u = u.cwiseMax(-rho).cwiseMin(rho).eval();
    const double top = outer_eigenvalue(sigma_ + u);
    const double value = limit.by_size ? top + limit.value * rho : top;
    if (!(value < best.dual)) return;
    best.dual = value;
    best.largest = top;
    best.rho = rho;
    best.u = std::move(u);
  };
  if (top_ > 0.0) {
    if (limit.by_size && limit.value == 1.0) {
      // Diagonal X alone, and the diagonal is its own bound: u_ij = -sigma_ij, u_ii = -rho.
      Matrix u = -sigma_;
      u.diagonal().setZero();
      u.diagonal().setConstant(-u.cwiseAbs().maxCoeff());
      offer_dual(std::move(u));
    }
    const Vector v = pairs.vectors.col(0);
    const Matrix whole = v * v.transpose();
    offer_primal(whole);
    if (z_.size() == 0) {
      z_ = limit.by_size ? Matrix(whole * std::min(1.0, limit.value / l1(whole))) : whole;
      y_ = Matrix::Zero(n, n);
      mu_ = top_;
    }
  }
  const auto closed = [&] { return best.dual - best.primal <= options_.tolerance * top_; };
  best.converged = closed();
  while (!best.converged && best.iterations < options_.max_iterations && !control.should_stop()) {
    ++best.iterations;
    const Matrix x = nearest_in_spectraplex(z_ - y_ + sigma_ / mu_);
    Matrix v = kRelax * x + (1.0 - kRelax) * z_ + y_;
    const double t = limit.by_size ? ball_threshold(v, limit.value) : limit.value / mu_;
    const Matrix before = z_;
    z_ = v.array().sign() * (v.array().abs() - t).max(0.0);
    y_ = v - z_;
    if (best.iterations % kLook != 0 && best.iterations != options_.max_iterations) continue;
    offer_primal(x);
    offer_dual(-mu_ * y_);
    best.converged = closed();
    if (best.iterations > kAdapt) continue;
    // |X - Z| and mu |Z - before| say how far the two copies and the multipliers are from rest.
    const double primal = (x - z_).norm() / std::max(x.norm(), z_.norm());
    const double dual = (z_ - before).norm() / std::max(y_.norm(), kEpsilon);
    const double factor = primal > kImbalance * dual ? 2.0 : dual > kImbalance * primal ? 0.5 : 1.0;
    mu_ *= factor;
    y_ /= factor;
  }
  best.leading = leading_pairs(best.x, 1).vectors.col(0);
  best.primal *= scale_;
  best.dual *= scale_ * (best.dual > 0.0 ? 1.0 + kDualOutwards : 1.0 - kDualOutwards);
  best.largest *= scale_ * (best.largest > 0.0 ? 1.0 + kDualOutwards : 1.0 - kDualOutwards);
  best.rho *= scale_;
  best.u *= scale_;
  return best;
}

double dspca_bound(const DspcaSolution& solution, Index k, int threads) {
  double shift = solution.rho * static_cast<double>(k);
  std::vector<Index> all(static_cast<std::size_t>(solution.u.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  if (shift > 0.0) shift = std::min(shift, perron_bounds(solution.u, all, {}, k, k, threads)[0]);
  return solution.largest + shift * (1.0 + kDualOutwards);
}

std::vector<Index> dspca_support(const DspcaSolution& solution, Index k, const std::vector<Index>& include) {
  std::vector<Index> order(static_cast<std::size_t>(solution.leading.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    const bool in_a = std::binary_search(include.begin(), include.end(), a);
    const bool in_b = std::binary_search(include.begin(), include.end(), b);
    if (in_a != in_b) return in_a;
    return std::abs(solution.leading[a]) > std::abs(solution.leading[b]);
  });
  order.resize(static_cast<std::size_t>(k));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace subspectra
