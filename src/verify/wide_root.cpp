#include "verify/wide_root.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "eigen/symmetric.hpp"
#include "verify/class_rows.hpp"
#include "verify/set_judge.hpp"

namespace subspectra::verify {
namespace {

Long threshold_of(double bound) { return bound + kBeyond * std::abs(static_cast<Long>(bound)) + 1e-20L; }

}  // namespace

WideRoot::WideRoot(const Dataset& data, const std::vector<Index>& features, const RidgeAmount& ridge,
                   Criterion criterion)
    : criterion_(criterion) {
  const ClassRows rows(data, features);
  const Index n = rows.x.rows(), p = rows.x.cols();
  LongMatrix m = between_factor(rows), z(p, n);  // column i of z: row i of the table
  for (Index j = 0; j < p; ++j) {
    const Long added = ridge_of(rows, j, ridge);
    if (!(added > 0.0L)) {
      unusable_ = "without a ridge the within-class covariance of more features than rows is singular";
      return;
    }
    const Long per_unit = 1.0L / std::sqrt(added);
    for (Index c = 0; c < m.cols; ++c) m(j, c) *= per_unit;
    for (Index i = 0; i < n; ++i) z(j, i) = std::sqrt(rows.weight(i)) * rows.deviation(i, j) * per_unit;
  }
  LongMatrix w = transposed_product(z, z);
  for (Index i = 0; i < n; ++i) w(i, i) += 1.0L;
  const auto r = upper_cholesky(w);
  if (!r) {
    unusable_ = "the products of the rows overflow";
    return;
  }
  const LongMatrix h = inverse(*r);
  // T is what M'M leaves, which may be as many times larger as |W| says. What long sums round off grows like
  // the root of their length.
  const Long condition = column_norm(w);
  error_.relative =
      2.0L * std::sqrt(condition) * inverse_residual(w, h) +
      8.0L * (static_cast<Long>(n) + std::sqrt(static_cast<Long>(p))) * kLongEpsilon * condition;
  constexpr Long kMostError = 1e-7L;
  if (!(error_.relative <= kMostError)) {
    unusable_ = "the ridge is too small beside the variances for the digits of this check";
    return;
  }
  const LongMatrix y = transposed_product(z, m), hy = transposed_product(h, y);
  const LongMatrix explained = transposed_product(y, hy);
  t_ = transposed_product(m, m);
  for (std::size_t i = 0; i < t_.values.size(); ++i) t_.values[i] -= explained.values[i];
  LongMatrix u = m;
  for (Index c = 0; c < u.cols; ++c) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < p; ++j) u(j, c) -= z(j, i) * hy(i, c);
    }
  }
  std::vector<Long> inverse_diagonal(static_cast<std::size_t>(p), 1.0L), column(inverse_diagonal.size());
  for (Index i = 0; i < n; ++i) {
    std::fill(column.begin(), column.end(), 0.0L);
    for (Index l = 0; l < n; ++l) {
      const Long by = h(l, i);
      const Long* const row = z.column(l);
      for (Index j = 0; j < p; ++j) column[static_cast<std::size_t>(j)] += by * row[j];
    }
    for (Index j = 0; j < p; ++j)
      inverse_diagonal[static_cast<std::size_t>(j)] -= column[static_cast<std::size_t>(j)] * z(j, i);
  }
  const Index size = t_.rows;
  without_ = LongMatrix(size * size, p);
  for (Index j = 0; j < p; ++j) {
    Long trace = 0.0L, square = 1.0L;
    for (Index c = 0; c < m.cols; ++c) trace += m(j, c) * m(j, c);
    for (Index i = 0; i < n; ++i) square += z(j, i) * z(j, i);
    traces_.push_back(trace);
    trace_of_each_.push_back(trace / square);
    const Long diagonal = inverse_diagonal[static_cast<std::size_t>(j)];
    Long* const t = without_.column(j);
    for (Index b = 0; b < size; ++b) {
      for (Index a = 0; a < size; ++a)
        t[a + b * size] = t_(a, b) - (diagonal > 0.0L ? u(j, a) * u(j, b) / diagonal : 0.0L);
    }
  }
  std::sort(traces_.begin(), traces_.end(), std::greater<>());
  std::sort(trace_of_each_.begin(), trace_of_each_.end(), std::greater<>());
}

bool WideRoot::settles(Index k, Index forced, double bound) const {
  const Long threshold = threshold_of(bound);
  const Index size = t_.rows;
  if (criterion_at_most(criterion_, t_.values.data(), size, error_, threshold)) return true;
  if (forced == 0) {
    if (k == 1) return trace_at_most(criterion_, trace_of_each_.front(), 1, error_, threshold);
    const Long sum = std::accumulate(traces_.begin(), traces_.begin() + k, 0.0L);
    if (trace_at_most(criterion_, sum, size, error_, threshold)) return true;
  }
  Index needed = 0;
  for (Index j = 0; j < without_.cols && needed <= k; ++j) {
    if (criterion_at_most(criterion_, without_.column(j), size, error_, threshold)) ++needed;
  }
  return needed > k;
}

WideVariances::WideVariances(const Dataset& data, const std::vector<Index>& features) {
  Matrix x = data.values().columns(features);
  Vector w = Vector::Ones(data.rows());
  if (!data.weights().empty()) w = Eigen::Map<const Vector>(data.weights().data(), data.rows());
  w /= w.sum();
  for (int pass = 0; pass < 2; ++pass) {
    const Vector mean = x.transpose() * w;
    x.rowwise() -= mean.transpose();
  }
  x = (w.cwiseSqrt().asDiagonal() * x).eval();
  for (Index j = 0; j < x.cols(); ++j) sums_.push_back(x.col(j).squaredNorm());
  std::sort(sums_.begin(), sums_.end(), std::greater<>());
  std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
  largest_ = kInfinity;
  if (x.rows() > kMostRows) return;
  Matrix products = Matrix::Zero(x.rows(), x.rows());
  products.selfadjointView<Eigen::Lower>().rankUpdate(x);
  const Vector values = linalg::spectrum(Matrix(products.selfadjointView<Eigen::Lower>()), false).values;
  largest_ = values[values.size() - 1];
}

bool WideVariances::settles(Index k, double bound) const {
  constexpr double kRounding = 1e-12;
  const double most = std::min(largest_, sums_[static_cast<std::size_t>(k - 1)]) * (1.0 + kRounding);
  return most <= static_cast<double>(threshold_of(bound));
}

}  // namespace subspectra::verify
