#include "search/row_bounded_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace subspectra::search {

void RowBoundedMatrix::resize(Index rows) {
  stride = rows::padded(rows);
  off_diagonal.assign(static_cast<std::size_t>(rows * stride), 0.0);
  diagonal.assign(static_cast<std::size_t>(stride), 0.0);
}

void RowBoundedMatrix::set(const Matrix& matrix) {
  resize(matrix.rows());
  for (Index i = 0; i < matrix.rows(); ++i) {
    std::copy_n(matrix.col(i).data(), matrix.rows(), row(i));
    diagonal[static_cast<std::size_t>(i)] = matrix(i, i);
    row(i)[i] = 0.0;
  }
}

Matrix RowBoundedMatrix::dense(Index rows) const {
  Matrix m(rows, rows);
  for (Index i = 0; i < rows; ++i) {
    std::copy_n(row(i), rows, m.col(i).data());
    m(i, i) = diagonal[static_cast<std::size_t>(i)];
  }
  return m;
}

void RowBoundedMatrix::first_guess(Index rows, double smallest) {
  const auto wide = static_cast<std::size_t>(stride);
  d.assign(wide, 0.0);
  threshold.assign(wide, 0.0);
  sum.assign(wide, 0.0);
  double largest = 0.0;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double all = 0.0;
    for (Index j = 0; j < rows; ++j) all += std::abs(row(i)[j]);
    d[at] = std::sqrt(all / static_cast<double>(rows) + std::abs(diagonal[at]));
    largest = std::max(largest, d[at]);
  }
  for (Index i = 0; i < rows; ++i) {
    auto& e = d[static_cast<std::size_t>(i)];
    e = largest > 0.0 ? std::max(e / largest, smallest) : 1.0;
  }
}

void RowBoundedMatrix::carry(const RowBoundedMatrix& from, Index rows, Index first, Index width) {
  const auto wide = static_cast<std::size_t>(stride);
  const auto without = [&](const std::vector<double>& a, std::vector<double>& b) {
    b.assign(wide, 0.0);
    std::copy_n(a.data(), first, b.data());
    std::copy_n(a.data() + first + width, rows - first - width, b.data() + first);
  };
  without(from.d, d);
  without(from.threshold, threshold);
  sum.assign(wide, 0.0);
  worst = from.worst;
}

void RowBoundedMatrix::keep(const RowBoundedMatrix& from, Index rows, Index first, Index width,
                            double pivot) {
  resize(rows - width);
  std::vector<double> v(static_cast<std::size_t>(stride), 0.0);
  std::copy_n(from.row(first), first, v.data());
  std::copy_n(from.row(first) + first + 1, rows - first - 1, v.data() + first);
  for (Index i = 0; i < rows - 1; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index old = i < first ? i : i + 1;
    double* out = row(i);
    const double* in = from.row(old);
    std::copy_n(in, first, out);
    std::copy_n(in + first + 1, rows - first - 1, out + first);
    const double f = v[at] / pivot;
    rows::add_scaled(out, v.data(), f, stride, out);
    out[i] = 0.0;
    diagonal[at] = from.diagonal[static_cast<std::size_t>(old)] + f * v[at];
  }
}

double RowBoundedMatrix::measure(Index rows, double* top) const {
  double largest = -kInfinity;
  *top = -kInfinity;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    largest = std::max(largest, diagonal[at] + sum[at] / d[at]);
    *top = std::max(*top, diagonal[at]);
  }
  return largest;
}

void RowBoundedMatrix::relax(Index rows, double reference, double smallest) {
  double largest = 0.0;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    d[at] = std::sqrt(d[at] * (sum[at] / (reference - diagonal[at])));
    largest = std::max(largest, d[at]);
  }
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    d[at] = largest > 0.0 ? std::max(d[at] / largest, smallest) : 1.0;
    threshold[at] = largest > 0.0 ? threshold[at] / largest : 0.0;
  }
}

void RowBoundedMatrix::drop(const std::vector<Index>& stay) {
  const auto n = static_cast<Index>(stay.size());
  const Index wide = rows::padded(n);
  Index same = 0;
  while (same < n && stay[static_cast<std::size_t>(same)] == same) ++same;  // these columns do not move
  for (Index i = 0; i < n; ++i) {
    const double* in = row(stay[static_cast<std::size_t>(i)]);
    double* out = off_diagonal.data() + i * wide;
    std::copy(in, in + same, out);  // out <= in: never overtakes what is still to be read
    for (Index j = same; j < n; ++j) out[j] = in[stay[static_cast<std::size_t>(j)]];
    std::fill(out + n, out + wide, 0.0);
  }
  for (auto* v : {&diagonal, &d, &threshold, &sum}) {
    for (Index i = same; i < n; ++i)
      (*v)[static_cast<std::size_t>(i)] = (*v)[static_cast<std::size_t>(stay[static_cast<std::size_t>(i)])];
    v->resize(static_cast<std::size_t>(wide));
    std::fill(v->begin() + n, v->end(), 0.0);
  }
  stride = wide;
}

}  // namespace subspectra::search
