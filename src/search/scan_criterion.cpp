#include "search/scan_criterion.hpp"

#include <algorithm>
#include <cmath>

#include "eigen/symmetric.hpp"
#include "search/rank_one.hpp"

namespace subspectra::search {
namespace {

/// Rows of `lead` numbers, count of them used, times the q-th row of `axes`: out_i = sum_p axes(q, p) u_p,i.
void along_axis(const Matrix& axes, Index q, const double* u, std::int64_t lead, std::int64_t count,
                double* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = axes(q, 0) * u[i];
  for (Index p = 1; p < axes.cols(); ++p) {
    const double factor = axes(q, p);
    const double* const row = u + p * lead;
    for (std::int64_t i = 0; i < count; ++i) out[i] += factor * row[i];
  }
}

}  // namespace

SmallSpectrum ScanCriterion::spectrum(const Matrix& t) const {
  SmallSpectrum at;
  if (r_ == 2) {  // a rotation
    const double half = 0.5 * (t(0, 0) - t(1, 1)), middle = 0.5 * (t(0, 0) + t(1, 1)), beside = t(1, 0);
    const double distance = std::hypot(half, beside);
    const double angle = 0.5 * std::atan2(beside, half), c = std::cos(angle), s = std::sin(angle);
    at.values = Vector{{std::max(0.0, middle + distance), std::max(0.0, middle - distance)}};
    at.axes = Matrix{{c, s}, {-s, c}};
    return at;
  }
  const auto eigen = linalg::spectrum(t, true);
  at.values = eigen.values.reverse().cwiseMax(0.0);
  at.axes = eigen.vectors.rowwise().reverse().transpose();
  return at;
}

double ScanCriterion::value(const SmallSpectrum& at) const {
  return largest_ ? at.values[0] : at.values.array().log1p().sum();
}

/// det(I + T) moves by at most a fraction sum_q |dT|/(1 + lambda_q) <= r |dT|, |dT| of some 2^-52 lambda_1.
double ScanCriterion::rounding() const { return 8.0 * kEpsilon * static_cast<double>(r_) * scale_; }

/// Without i, T becomes T - yy', y = U_i/sqrt(P_ii): log det(I + T) falls by -log(1 - y'(I + T)^{-1}y), and
/// lambda_max is the larger root of the secular equation, in closed form for r = 2.
void ScanCriterion::losses(const SmallSpectrum& at, const double* u, std::int64_t lead, const double* diag,
                           std::int64_t count, double* out) {
  const auto wide = static_cast<std::size_t>(count);
  row_.resize(wide * static_cast<std::size_t>(r_));
  for (Index q = 0; q < r_; ++q) {
    double* const row = row_.data() + q * count;
    along_axis(at.axes, q, u, lead, count, row);
    for (std::int64_t i = 0; i < count; ++i) row[i] = row[i] * row[i] / diag[i];
  }
  const double* const first = row_.data();
  if (!largest_) {
    const double least = rounding();
    std::fill(out, out + count, 0.0);
    for (Index q = 0; q < r_; ++q) {
      const double factor = 1.0 / (1.0 + at.values[q]);
      for (std::int64_t i = 0; i < count; ++i) out[i] += first[q * count + i] * factor;
    }
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = std::max(0.0, -std::log1p(-std::min(out[i], 1.0 - kEpsilon)) - least);
    return;
  }
  if (r_ == 2) {
    const double t1 = at.values[0], t2 = at.values[1];
    const double* const second = first + count;
    for (std::int64_t i = 0; i < count; ++i) {
      const double a = t1 - first[i], b = t2 - second[i], half = 0.5 * (a - b);
      out[i] = std::max(0.0, t1 - (0.5 * (a + b) + std::sqrt(half * half + first[i] * second[i])));
    }
    return;
  }
  Vector squares(r_);
  for (std::int64_t i = 0; i < count; ++i) {
    for (Index q = 0; q < r_; ++q) squares[q] = first[q * count + i];
    out[i] = std::max(0.0, at.values[0] - largest_after_rank_one(at.values, squares, -1.0));
  }
}

double ScanCriterion::with_one_more(const SmallSpectrum& at, const double* rows, std::int64_t lead,
                                    double diag) const {
  Vector squares(r_);
  for (Index q = 0; q < r_; ++q) {
    double inner = 0.0;
    for (Index p = 0; p < r_; ++p) inner += at.axes(q, p) * rows[p * lead];
    squares[q] = inner * inner / diag;
  }
  if (largest_) return largest_after_rank_one(at.values, squares, 1.0);
  return value(at) + std::log1p((squares.array() / (1.0 + at.values.array())).sum());
}

/// wilks: log det(I + T_I + C'G^{-1}C) - log det(I + T_I) = log det(G + C (I + T_I)^{-1} C') - log det G.
/// largest: with lambda > lambda_max(T_I), lambda_max(T_I + C'G^{-1}C) > lambda exactly if G - C (lambda -
/// T_I)^{-1} C' is not positive definite (both are Schur complements of [[G, C], [C', lambda - T_I]]).
PairForm ScanCriterion::keep_form(const SmallSpectrum& at, double limit) const {
  PairForm form;
  form.axes = at.axes;
  form.signs = Vector::Constant(r_, largest_ ? -1.0 : 1.0);
  if (!largest_) {
    form.theta = std::exp(limit - (slack_ * std::abs(limit) + rounding()) - value(at));
    for (Index q = 0; q < r_; ++q) form.axes.row(q) /= std::sqrt(1.0 + at.values[q]);
    return form;
  }
  const double lambda = limit * (1.0 - slack_);
  if (!(lambda > at.values[0] * (1.0 + 16.0 * kEpsilon)) || !(lambda > 0.0)) {
    form.all = true;
    return form;
  }
  form.sign = -1.0;
  for (Index q = 0; q < r_; ++q) form.axes.row(q) /= std::sqrt(lambda - at.values[q]);
  return form;
}

/// wilks: log det(I + T_T - U'P^{-1}U) - log det(I + T_T) = log det(P - U (I + T_T)^{-1} U') - log det P.
/// largest: [[P, U], [U', T_T - lambda]] has as many positive eigenvalues as P and T_T - U'P^{-1}U - lambda
/// together, and as T_T - lambda and P - U (T_T - lambda)^{-1} U' together. With a single eigenvalue of T_T
/// above lambda a pair leaves one there exactly if the last matrix is positive definite.
PairForm ScanCriterion::drop_form(const SmallSpectrum& at, double limit) const {
  PairForm form;
  form.axes = at.axes;
  form.signs = Vector::Constant(r_, -1.0);
  if (!largest_) {
    form.theta = std::exp(limit - (slack_ * std::abs(limit) + rounding()) - value(at));
    for (Index q = 0; q < r_; ++q) form.axes.row(q) /= std::sqrt(1.0 + at.values[q]);
    return form;
  }
  const double lambda = limit * (1.0 - slack_);
  if (!(lambda > at.values[1]) || !(lambda > 0.0)) {
    form.all = true;
    return form;
  }
  for (Index q = 0; q < r_; ++q) {
    const double distance = std::max(std::abs(at.values[q] - lambda), 1e-15 * lambda);
    if (q > 0) form.signs[q] = 1.0;
    form.axes.row(q) /= std::sqrt(distance);
  }
  if (!(at.values[0] > lambda)) form.all = true;  // closed, but for what it was lowered by
  return form;
}

}  // namespace subspectra::search
