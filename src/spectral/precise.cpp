#include "spectral/precise.hpp"

#include <algorithm>
#include <cmath>

#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

using linalg::DoubleDouble;
using linalg::DoubleDoubleMatrix;

std::optional<PreciseBlock> precise_lda_block(const Dataset& data, const std::vector<Index>& features,
                                              const RidgeAmount& ridge, const std::vector<char>& still) {
  constexpr double kMostProducts = 5e7;
  const Index n = data.rows();
  const auto k = static_cast<Index>(features.size());
  const auto& codes = data.labels()->codes;
  if (0.5 * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(k) > kMostProducts)
    return std::nullopt;

  std::vector<DoubleDouble> weight(data.labels()->classes.size());
  DoubleDouble total;
  for (Index i = 0; i < n; ++i) {
    const int c = codes[static_cast<std::size_t>(i)];
    if (c < 0) continue;
    weight[static_cast<std::size_t>(c)] += data.weight(i);
    total += data.weight(i);
  }
  std::vector<std::size_t> present;
  for (std::size_t c = 0; c < weight.size(); ++c) {
    if (weight[c].hi > 0.0) present.push_back(c);
  }
  if (present.size() < 2) return std::nullopt;
  PreciseBlock block{.b = {k, k}, .m = {k, static_cast<Index>(present.size()) - 1}, .a = {}};
  DoubleDoubleMatrix z(n, k);  // rows less their class means, times their weight's root where there are any
  for (Index j = 0; j < k; ++j) {
    const Vector x = data.values().column(features[static_cast<std::size_t>(j)]);
    std::vector<DoubleDouble> mean(weight.size());
    DoubleDouble grand;
    std::vector<std::optional<double>> only(weight.size());  // the one value of a class, NaN where others are
    for (Index i = 0; i < n; ++i) {
      const int c = codes[static_cast<std::size_t>(i)];
      if (c < 0 || !(data.weight(i) > 0.0)) continue;
      const auto at = static_cast<std::size_t>(c);
      mean[at] += DoubleDouble::product(data.weight(i), x[i]);
      if (only[at].value_or(x[i]) == x[i]) {
        only[at] = x[i];
      } else {
        only[at] = std::nan("");
      }
    }
    for (std::size_t c = 0; c < mean.size(); ++c) {
      grand += mean[c];
      if (!(weight[c].hi > 0.0)) continue;
      // What rounding leaves of the mean of equal values would be a variance beside a tiny ridge.
      mean[c] = only[c] && !std::isnan(*only[c]) ? DoubleDouble(*only[c]) : mean[c] / weight[c];
    }
    grand = grand / total;
    // The K columns sqrt(n_c/N) (mu_c - mu) less the direction in which they vanish, as in lda_pencil().
    const auto share = [&](std::size_t c) { return square_root(weight[c] / total); };
    const auto scaled = [&](std::size_t c) { return share(c) * (mean[c] - grand); };
    for (Index c = 0; c < block.m.cols; ++c) {
      const std::size_t from = present[static_cast<std::size_t>(c) + 1];
      block.m(j, c) =
          scaled(from) - scaled(present[0]) * (share(from) / (DoubleDouble(1.0) + share(present[0])));
    }
    for (Index i = 0; i < n; ++i) {
      const int c = codes[static_cast<std::size_t>(i)];
      if (c >= 0) z(i, j) = DoubleDouble(x[i]) - mean[static_cast<std::size_t>(c)];
    }
  }
  for (Index j = 0; j < k; ++j) {
    std::vector<DoubleDouble> weighted(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) weighted[static_cast<std::size_t>(i)] = z(i, j) * data.weight(i);
    for (Index i = 0; i <= j; ++i) {
      DoubleDouble sum;
      for (Index row = 0; row < n; ++row) sum += z(row, i) * weighted[static_cast<std::size_t>(row)];
      block.b(i, j) = block.b(j, i) = sum / total;
    }
  }
  for (Index j = 0; j < k; ++j) {
    DoubleDouble variance = block.b(j, j);
    if (still[static_cast<std::size_t>(j)] != 0) {
      for (Index c = 0; c < block.m.cols; ++c) variance += block.m(j, c) * block.m(j, c);
    }
    block.b(j, j) += DoubleDouble(ridge.value) + variance * ridge.fraction;
  }
  return block;
}

namespace {

/// log det(I + C'C) = log det(R'R), R the factor of [C; I] = QR by Gram and Schmidt, the largest column
/// first: the product C'C would lose what is small beside its largest eigenvalue.
double log_det_of_one_more(const DoubleDoubleMatrix& c) {
  using Column = std::vector<DoubleDouble>;
  const auto inner = [](const Column& x, const Column& y) {
    DoubleDouble sum;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  std::vector<Column> columns(static_cast<std::size_t>(c.cols));
  for (Index j = 0; j < c.cols; ++j) {
    Column& column = columns[static_cast<std::size_t>(j)];
    for (Index i = 0; i < c.rows; ++i) column.push_back(c(i, j));
    for (Index i = 0; i < c.cols; ++i) column.emplace_back(i == j ? 1.0 : 0.0);
  }
  double log_det = 0.0;
  while (!columns.empty()) {
    std::size_t largest = 0;
    for (std::size_t j = 1; j < columns.size(); ++j) {
      if (inner(columns[j], columns[j]).hi > inner(columns[largest], columns[largest]).hi) largest = j;
    }
    const Column pivot = std::move(columns[largest]);
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(largest));
    const DoubleDouble square = inner(pivot, pivot);
    log_det += std::log1p((square - 1.0).rounded());
    for (int again = 0; again < 2; ++again) {  // twice is enough
      for (Column& column : columns) {
        const DoubleDouble factor = inner(pivot, column) / square;
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= factor * pivot[i];
      }
    }
  }
  return log_det;
}

}  // namespace

double precise_criterion(Criterion criterion, const DoubleDoubleMatrix& t) {
  if (criterion == Criterion::kTrace) {
    DoubleDouble trace;
    for (Index i = 0; i < t.rows; ++i) trace += t(i, i);
    return trace.rounded();
  }
  if (criterion == Criterion::kLargest)
    return t.rows == 1 ? t(0, 0).rounded()
                       : linalg::small_symmetric_eigen(t.rounded(), false).values.maxCoeff();
  DoubleDoubleMatrix one_more = t;  // log det(I + T) from its factor: the small eigenvalues keep their digits
  for (Index i = 0; i < t.rows; ++i) one_more(i, i) += 1.0;
  if (!cholesky(one_more)) return 0.0;
  double log_det = 0.0;
  for (Index i = 0; i < t.rows; ++i) log_det += 2.0 * std::log1p(((one_more(i, i) - 1.0)).rounded());
  return log_det;
}

std::optional<PreciseValue> precise_value(PreciseBlock block, Criterion criterion) {
  constexpr double kUnit = 0x1p-100;  // of one operation, with room for the sums over the rows
  const Index k = block.b.rows;
  Vector diagonal(k);
  for (Index i = 0; i < k; ++i) diagonal[i] = block.b(i, i).rounded();
  if (!cholesky(block.b)) return std::nullopt;
  PreciseValue result;
  // tr(D^{1/2} B^{-1} D^{1/2}) = |L^{-1} D^{1/2}|_F^2; a few digits of it suffice.
  const Matrix l = block.b.rounded();
  Matrix inverse = diagonal.cwiseSqrt().asDiagonal();
  linalg::solve_lower(l, linalg::Op::kNone, inverse);
  result.correlation_inverse = inverse.squaredNorm();
  result.error = 4.0 * kEpsilon * static_cast<double>(std::max<Index>(block.m.cols, 4)) +
                 kUnit * static_cast<double>(k) * static_cast<double>(k) * result.correlation_inverse;
  if (!(result.error < 1.0)) return std::nullopt;
  DoubleDoubleMatrix t;
  const bool factor = block.a.rows == 0;
  if (factor) {
    solve_lower(block.b, block.m);
    t = inner_products(block.m);
  } else {
    DoubleDoubleMatrix half = std::move(block.a);  // L^{-1} A, then L^{-1} (L^{-1} A)'
    solve_lower(block.b, half);
    t = DoubleDoubleMatrix(k, k);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < k; ++i) t(i, j) = half(j, i);
    }
    solve_lower(block.b, t);
  }
  result.value = factor && criterion == Criterion::kWilks ? log_det_of_one_more(block.m)
                                                          : precise_criterion(criterion, t);
  // log det(I + T) also depends on what is small beside the largest part of T, which is known to the
  // condition times u; beside the largest column of C where it is taken from there.
  double trace = 0.0;
  for (Index i = 0; i < t.rows; ++i) trace += std::abs(t(i, i).rounded());
  if (criterion == Criterion::kWilks && t.rows > 1)
    result.error += kUnit * static_cast<double>(t.rows) * (factor ? std::sqrt(trace) : trace) *
                    std::max(1.0, result.correlation_inverse) / std::max(std::abs(result.value), 1e-300);
  return result;
}

}  // namespace subspectra
