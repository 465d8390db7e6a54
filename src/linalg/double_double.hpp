#pragma once
/// Numbers of about 31 digits, each the sum of two doubles (Dekker 1971; Hida, Li, Bailey 2001): for the few
/// values that must be right where a double has no digit left. Some twenty flops an operation. Relies on
/// rounding to nearest without reassociation, as the whole library is compiled.
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/types.hpp"

namespace subspectra::linalg {

struct DoubleDouble {
  double hi = 0.0, lo = 0.0;  ///< |lo| <= 2^-53 |hi|

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double value) : hi(value) {}  // NOLINT(google-explicit-constructor): a number is one
  constexpr DoubleDouble(double high, double low) : hi(high), lo(low) {}

  /// a + b exactly.
  static DoubleDouble sum(double a, double b) {
    const double s = a + b;
    const double from_b = s - a;
    return {s, (a - (s - from_b)) + (b - from_b)};
  }
  /// a + b exactly, |a| >= |b|.
  static DoubleDouble ordered_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
  }
  /// a b exactly, by halves of 26 bits; no fused product, which plain x86-64 does not have.
  static DoubleDouble product(double a, double b) {
    constexpr double kSplit = 134217729.0;  // 2^27 + 1
    const double p = a * b, x = kSplit * a, y = kSplit * b;
    const double a1 = x - (x - a), b1 = y - (y - b);
    const double a2 = a - a1, b2 = b - b1;
    return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
  }

  friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    DoubleDouble s = sum(a.hi, b.hi);
    const DoubleDouble t = sum(a.lo, b.lo);
    s = ordered_sum(s.hi, s.lo + t.hi);
    return ordered_sum(s.hi, s.lo + t.lo);
  }
  friend DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }
  friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + (-b); }
  friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble p = product(a.hi, b.hi);
    return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
  }
  friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.hi / b.hi;
    DoubleDouble rest = a - b * first;
    const double second = rest.hi / b.hi;
    rest = rest - b * second;
    return DoubleDouble(first) + DoubleDouble(second) + DoubleDouble(rest.hi / b.hi);
  }
  DoubleDouble& operator+=(const DoubleDouble& b) { return *this = *this + b; }
  DoubleDouble& operator-=(const DoubleDouble& b) { return *this = *this - b; }

  [[nodiscard]] double rounded() const { return hi; }
};

/// Pre: a > 0. One Newton step from the root in double.
[[nodiscard]] inline DoubleDouble square_root(const DoubleDouble& a) {
  const double x = std::sqrt(a.hi);
  const DoubleDouble rest = a - DoubleDouble::product(x, x);
  return DoubleDouble::sum(x, rest.hi / (2.0 * x));
}

/// By columns.
struct DoubleDoubleMatrix {
  Index rows = 0, cols = 0;
  std::vector<DoubleDouble> values;

  DoubleDoubleMatrix() = default;
  DoubleDoubleMatrix(Index n, Index m)
      : rows(n), cols(m), values(static_cast<std::size_t>(n) * static_cast<std::size_t>(m)) {}
  explicit DoubleDoubleMatrix(const MatrixRef& of) : DoubleDoubleMatrix(of.rows(), of.cols()) {
    for (Index j = 0; j < cols; ++j) {
      for (Index i = 0; i < rows; ++i) (*this)(i, j) = of(i, j);
    }
  }
  [[nodiscard]] DoubleDouble& operator()(Index i, Index j) {
    return values[static_cast<std::size_t>(j * rows + i)];
  }
  [[nodiscard]] const DoubleDouble& operator()(Index i, Index j) const {
    return values[static_cast<std::size_t>(j * rows + i)];
  }
  [[nodiscard]] Matrix rounded() const {
    Matrix out(rows, cols);
    for (Index j = 0; j < cols; ++j) {
      for (Index i = 0; i < rows; ++i) out(i, j) = (*this)(i, j).rounded();
    }
    return out;
  }
};

/// The lower factor of a positive definite matrix in its lower triangle; false where a pivot is not positive.
[[nodiscard]] inline bool cholesky(DoubleDoubleMatrix& b) {
  const Index n = b.rows;
  for (Index j = 0; j < n; ++j) {
    for (Index m = 0; m < j; ++m) {
      const DoubleDouble factor = b(j, m);
      for (Index i = j; i < n; ++i) b(i, j) -= b(i, m) * factor;
    }
    if (!(b(j, j).hi > 0.0)) return false;
    const DoubleDouble root = square_root(b(j, j));
    b(j, j) = root;
    for (Index i = j + 1; i < n; ++i) b(i, j) = b(i, j) / root;
  }
  return true;
}

/// c <- L^{-1} c, L in the lower triangle of `l`.
inline void solve_lower(const DoubleDoubleMatrix& l, DoubleDoubleMatrix& c) {
  for (Index j = 0; j < c.cols; ++j) {
    for (Index m = 0; m < l.rows; ++m) {
      const DoubleDouble x = c(m, j) = c(m, j) / l(m, m);
      for (Index i = m + 1; i < l.rows; ++i) c(i, j) -= l(i, m) * x;
    }
  }
}

/// c'c.
[[nodiscard]] inline DoubleDoubleMatrix inner_products(const DoubleDoubleMatrix& c) {
  DoubleDoubleMatrix t(c.cols, c.cols);
  for (Index j = 0; j < c.cols; ++j) {
    for (Index i = 0; i <= j; ++i) {
      DoubleDouble sum;
      for (Index m = 0; m < c.rows; ++m) sum += c(m, i) * c(m, j);
      t(i, j) = t(j, i) = sum;
    }
  }
  return t;
}

}  // namespace subspectra::linalg
