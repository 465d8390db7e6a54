/// Expectation propagation with sites in natural parameters (docs/theory/gp.md, Eq. 9 to 13).
#include <algorithm>
#include <cmath>

#include "classify/gp_solver.hpp"
#include "classify/probit.hpp"
#include "core/parallel.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::gp {
namespace {

/// The marginal without its own site, as natural parameters. No data can make it wider than the prior, which
/// is what rounding is kept from.
struct Cavity {
  double precision = 0.0, shift = 0.0;
};
Cavity cavity(double mean, double variance, double site_precision, double site_shift, double prior_variance) {
  return {.precision = std::max(1.0 / variance - site_precision, 1.0 / prior_variance),
          .shift = mean / variance - site_shift};
}

/// rows <- rows L^{-T}, a block of columns at a time: what the columns before it give is a product, which
/// runs three times as fast as the triangular solve of the whole.
void solve_right(const Matrix& l, Matrix& rows) {
  constexpr Index kBlock = 96;
  for (Index j = 0; j < l.cols(); j += kBlock) {
    const Index size = std::min(kBlock, l.cols() - j);
    auto block = rows.middleCols(j, size);
    if (j > 0) {
      linalg::gemm(-1.0, linalg::Op::kNone, rows.leftCols(j), linalg::Op::kTranspose, l.block(j, 0, size, j),
                   1.0, block);
    }
    linalg::solve_lower_right(l.block(j, j, size, size), block);
  }
}

}  // namespace

/// V' = K root L^{-T} by row tiles, Sigma = K - V'V in the lower triangle, mu = K weights.
void Solver::refresh() {
  const int threads = kernel_.threads();
  const Index n = k_.rows();
  gaussian_.root = precision_.cwiseSqrt();
  assemble_b(k_, gaussian_.root, b_, threads);
  factor_b(b_, threads);
  scratch_.resize(n, n);
  constexpr Index kRows = 256;  // of one thread: enough for products at full speed
  parallel_for((n + kRows - 1) / kRows, threads, [&](Index t) {
    const Index first = t * kRows;
    const Index count = std::min(kRows, n - first);
    Matrix rows = k_.middleRows(first, count) * gaussian_.root.asDiagonal();
    solve_right(b_, rows);
    scratch_.middleRows(first, count) = rows;
  });
  sigma_ = k_;
  linalg::rank_update_lower(-1.0, scratch_, sigma_, threads);
  constexpr double kLeast = 1e-14;  // of the prior variance: rounding
  sigma_.diagonal() = sigma_.diagonal().cwiseMax(kLeast * prior_variance_);
  gaussian_.weights = site_weights(k_, b_, gaussian_.root, shift_, threads);
  mu_ = product(k_, gaussian_.weights, threads);
}

/// The sites in order. A new site changes Sigma by -c s s', s its column, c = dtau/(1 + dtau s_i), and mu by
/// e s, e = (dshift - dtau mu_i)/(1 + dtau s_i). What lies before the site is not looked at again in this
/// sweep, so that the pass runs like a factorization: the sites of a block update one another at once, and
/// what comes after the block gets their updates together, S = P L^{-T} with L_kj = c_j s_j[k] and
/// Sigma -= S diag(c) S'.   N^3/3 flops, nearly all of them DGEMM's.
double Solver::sweep() {
  constexpr Index kBlock = 64;
  const Index n = k_.rows();
  const int threads = kernel_.threads();
  double change = 0.0;
  for (Index i0 = 0; i0 < n; i0 += kBlock) {
    const Index size = std::min(kBlock, n - i0);
    Matrix s = sigma_.block(i0, i0, size, size);
    Matrix l = Matrix::Identity(size, size);
    Vector c(size), e(size);
    for (Index j = 0; j < size; ++j) {
      const Index i = i0 + j;
      const Index after = size - j;
      for (Index h = 0; h < j; ++h) s.col(j).tail(after) -= l(j, h) * s.col(h).tail(after);
      const double variance = std::max(s(j, j), 1e-14 * prior_variance_);
      const Cavity without = cavity(mu_[i], variance, precision_[i], shift_[i], prior_variance_);
      const ProbitSite site = probit_site(y_[i], without.shift / without.precision, 1.0 / without.precision);
      const double d_precision = site.precision - precision_[i];
      const double d_shift = site.shift - shift_[i];
      const double grown = 1.0 + d_precision * variance;
      c[j] = d_precision / grown;
      e[j] = (d_shift - d_precision * mu_[i]) / grown;
      l.col(j).tail(after - 1) = c[j] * s.col(j).tail(after - 1);
      mu_.segment(i + 1, after - 1) += e[j] * s.col(j).tail(after - 1);
      precision_[i] = site.precision;
      shift_[i] = site.shift;
      change = std::max({change, std::abs(c[j]) * variance, std::abs(e[j]) * std::sqrt(variance)});
    }
    const Index first = i0 + size;
    const Index rest = n - first;
    if (rest == 0) continue;
    scratch_.resize(n, n);
    auto trailing = scratch_.topLeftCorner(rest, size);
    for_tiles(rest, threads, [&](Index row, Index count) {
      Matrix part = sigma_.block(first + row, i0, count, size);
      linalg::solve_lower_right(l, part);
      trailing.middleRows(row, count) = part;
    });
    mu_.tail(rest) += trailing * e;
    for (const double sign : {1.0, -1.0}) {
      Matrix scaled(rest, size);
      Index used = 0;
      for (Index j = 0; j < size; ++j) {
        if (sign * c[j] > 0.0) scaled.col(used++) = std::sqrt(sign * c[j]) * trailing.col(j);
      }
      if (used > 0) {
        linalg::rank_update_lower(-sign, scaled.leftCols(used), sigma_.bottomRightCorner(rest, rest),
                                  threads);
      }
    }
  }
  return change;
}

/// log Z = 1/2 shift'mu - sum log L_ii + sum_i [log Zhat_i + nu_-^2/(2 tau_-) - log(tau_- v_i)/2 - mu_i^2/(2
/// v_i)] with the cavities (tau_-, nu_-) and marginals (mu_i, v_i): the terms of the prior, the sites and the
/// tilted distributions. It is stationary in the sites at the fixed point.
GpPosterior Solver::expectation_propagation(const std::function<bool()>& give_up) {
  constexpr Index kMostSweeps = 200;
  constexpr double kClose = 1e-8;
  GpPosterior posterior;
  refresh();
  while (posterior.iterations < kMostSweeps && !posterior.converged) {
    if (give_up && give_up()) throw GivenUp();
    ++posterior.iterations;
    posterior.converged = sweep() <= kClose;
    refresh();
  }
  double sum = 0.5 * shift_.dot(mu_) - half_log_determinant(b_);
  for (Index i = 0; i < y_.size(); ++i) {
    const double variance = sigma_(i, i);
    const Cavity without = cavity(mu_[i], variance, precision_[i], shift_[i], prior_variance_);
    const double mean = without.shift / without.precision;
    sum += probit_site(y_[i], mean, 1.0 / without.precision).log_normalizer +
           0.5 * (without.shift * mean - std::log(without.precision * variance) - mu_[i] * mu_[i] / variance);
  }
  posterior.log_marginal_likelihood = sum;
  posterior.site_precision = precision_;
  posterior.site_shift = shift_;
  return posterior;
}

}  // namespace subspectra::gp
