#include "verify/long_algebra.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace subspectra::verify {

Long dot(const Long* x, const Long* y, Index n) {
  Long even = 0.0L, odd = 0.0L;  // two chains: an addition waits for the one before it
  Index i = 0;
  for (; i + 1 < n; i += 2) {
    even += x[i] * y[i];
    odd += x[i + 1] * y[i + 1];
  }
  if (i < n) even += x[i] * y[i];
  return even + odd;
}

LongMatrix in_long(const Matrix& a) {
  LongMatrix result(a.rows(), a.cols());
  std::copy(a.data(), a.data() + a.size(), result.values.begin());
  return result;
}

Matrix in_double(const LongMatrix& a) {
  Matrix result(a.rows, a.cols);
  std::transform(a.values.begin(), a.values.end(), result.data(),
                 [](Long value) { return static_cast<double>(value); });
  return result;
}

LongMatrix part(const LongMatrix& a, const std::vector<Index>& at, bool symmetric) {
  const auto n = static_cast<Index>(at.size());
  LongMatrix result(n, symmetric ? n : a.cols);
  for (Index j = 0; j < result.cols; ++j) {
    const Long* const from = a.column(symmetric ? at[static_cast<std::size_t>(j)] : j);
    for (Index i = 0; i < n; ++i) result(i, j) = from[at[static_cast<std::size_t>(i)]];
  }
  return result;
}

std::optional<LongMatrix> upper_cholesky(const LongMatrix& a) {
  LongMatrix r(a.rows, a.cols);
  for (Index j = 0; j < a.cols; ++j) {
    Long* const column = r.column(j);
    for (Index i = 0; i < j; ++i) column[i] = (a(i, j) - dot(r.column(i), column, i)) / r(i, i);
    const Long pivot = a(j, j) - dot(column, column, j);
    if (!(pivot > 0.0L)) return std::nullopt;
    column[j] = std::sqrt(pivot);
  }
  return r;
}

LongMatrix solve_transposed(const LongMatrix& r, LongMatrix b) {
  for (Index c = 0; c < b.cols; ++c) {
    Long* const x = b.column(c);
    for (Index i = 0; i < r.cols; ++i) x[i] = (x[i] - dot(r.column(i), x, i)) / r(i, i);
  }
  return b;
}

LongMatrix inverse(const LongMatrix& r) {
  const Index n = r.cols;
  LongMatrix identity(n, n);
  for (Index i = 0; i < n; ++i) identity(i, i) = 1.0L;
  const LongMatrix y = solve_transposed(r, std::move(identity));  // R^{-T}, lower: its rows start late
  LongMatrix result(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      result(i, j) = dot(y.column(i) + j, y.column(j) + j, n - j);  // above row j one of them is 0
      result(j, i) = result(i, j);
    }
  }
  return result;
}

LongMatrix transposed_product(const LongMatrix& x, const LongMatrix& y) {
  LongMatrix result(x.cols, y.cols);
  for (Index j = 0; j < y.cols; ++j) {
    for (Index i = 0; i < x.cols; ++i) result(i, j) = dot(x.column(i), y.column(j), x.rows);
  }
  return result;
}

std::vector<Long> eigenvalues(LongMatrix a) {
  const Index n = a.rows;
  constexpr int kMostSweeps = 60;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    Long off = 0.0L, all = 0.0L;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        all += a(i, j) * a(i, j);
        if (i != j) off += a(i, j) * a(i, j);
      }
    }
    if (!(off > kLongEpsilon * kLongEpsilon * all)) break;
    for (Index q = 1; q < n; ++q) {
      for (Index p = 0; p < q; ++p) {
        if (a(p, q) == 0.0L) continue;
        const Long theta = (a(q, q) - a(p, p)) / (2.0L * a(p, q));
        const Long t = (theta < 0.0L ? -1.0L : 1.0L) / (std::abs(theta) + std::hypot(theta, 1.0L));
        const Long c = 1.0L / std::hypot(t, 1.0L), s = t * c;
        for (Index i = 0; i < n; ++i) {
          const Long x = a(i, p), y = a(i, q);
          a(i, p) = c * x - s * y;
          a(i, q) = s * x + c * y;
        }
        for (Index i = 0; i < n; ++i) {
          const Long x = a(p, i), y = a(q, i);
          a(p, i) = c * x - s * y;
          a(q, i) = s * x + c * y;
        }
      }
    }
  }
  std::vector<Long> values;
  for (Index i = 0; i < n; ++i) values.push_back(a(i, i));
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

Long column_norm(const LongMatrix& a) {
  Long largest = 0.0L;
  for (Index j = 0; j < a.cols; ++j) {
    Long sum = 0.0L;
    for (Index i = 0; i < a.rows; ++i) sum += std::abs(a(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

Long inverse_residual(const LongMatrix& a, const LongMatrix& x) {
  Long sum = 0.0L;
  for (Index j = 0; j < x.cols; ++j) {
    for (Index i = 0; i < a.cols; ++i) {
      const Long off = dot(a.column(i), x.column(j), a.rows) - (i == j ? 1.0L : 0.0L);
      sum += off * off;
    }
  }
  return std::sqrt(sum);
}

bool criterion_at_most(Criterion criterion, const Long* t, Index r, const LongError& error, Long threshold) {
  const auto entry = [&](Index i, Index j) { return t[i + j * r]; };
  if (criterion == Criterion::kTrace || (r == 1 && criterion == Criterion::kLargest)) {
    Long trace = 0.0L;
    for (Index i = 0; i < r; ++i) trace += entry(i, i);
    return trace * (1.0L + error.relative) + static_cast<Long>(r) * error.absolute <= threshold;
  }
  // largest: t I - T is positive definite; wilks: log det(I + T) from its factor.
  const bool wilks = criterion == Criterion::kWilks;
  const Long shift = wilks ? 1.0L : (threshold - error.absolute) / (1.0L + error.relative);
  const Long sign = wilks ? 1.0L : -1.0L;
  constexpr Index kFew = 16;
  std::array<Long, kFew * kFew> few;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::vector<Long> many(r > kFew ? static_cast<std::size_t>(r * r) : 0);
  Long* const factor = r > kFew ? many.data() : few.data();
  Long log_det = 0.0L;
  for (Index j = 0; j < r; ++j) {
    Long* const column = factor + j * r;
    for (Index i = 0; i < j; ++i) {
      const Long* const other = factor + i * r;
      column[i] = (sign * entry(i, j) - dot(other, column, i)) / other[i];
    }
    const Long pivot = shift + sign * entry(j, j) - dot(column, column, j);
    if (!(pivot > 0.0L)) return false;
    column[j] = std::sqrt(pivot);
    if (wilks) log_det += std::log(pivot);
  }
  return !wilks || log_det + static_cast<Long>(r) * (error.relative + error.absolute) <= threshold;
}

bool trace_at_most(Criterion criterion, Long trace, Index r, const LongError& error, Long threshold) {
  const auto size = static_cast<Long>(r);
  const Long most = std::max(0.0L, trace * (1.0L + error.relative) + size * error.absolute);
  return (criterion == Criterion::kWilks ? size * std::log1p(most / size) : most) <= threshold;
}

}  // namespace subspectra::verify
