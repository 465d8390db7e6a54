#include "classify/gp_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::gp {
namespace {

constexpr double kLargest = 1e100;

double squared(double x) { return x * x; }

/// Squared distances of the rows of z: the lower triangle by |z_i|^2 + |z_j|^2 - 2 z_i'z_j (never below 0;
/// exactly 0 on the diagonal), the upper one its mirror.
void squared_distances(const Matrix& z, Matrix& d, int threads) {
  const Index n = z.rows();
  d.resize(n, n);
  d.setZero();
  if (z.cols() == 0) return;
  linalg::rank_update_lower(-2.0, z, d, threads);
  const Vector squares = z.rowwise().squaredNorm();
  for_tiles(n, threads, [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      const Index below = n - j - 1;
      auto column = d.col(j).tail(below).array();
      column = (column + squares.tail(below).array() + squares[j]).max(0.0);
      d(j, j) = 0.0;
    }
  });
  linalg::mirror_lower(d);
}

}  // namespace

void for_tiles(Index n, int threads, const std::function<void(Index, Index)>& body) {
  parallel_for((n + kTile - 1) / kTile, threads,
               [&](Index t) { body(t * kTile, std::min(kTile, n - t * kTile)); });
}

Matrix scaled_rows(const MatrixRef& rows, const VectorRef& centre, const VectorRef& lengthscales) {
  Matrix z(rows.rows(), rows.cols());
  for (Index d = 0; d < rows.cols(); ++d) {
    const double l = lengthscales[lengthscales.size() == 1 ? 0 : d];
    z.col(d) = ((rows.col(d).array() - centre[d]) / l).max(-kLargest).min(kLargest);
  }
  return z;
}

TrainingKernel::TrainingKernel(const MatrixRef& rows, int threads)
    : centre_(Vector::Zero(rows.cols())), threads_(threads) {
  if (rows.rows() > 0) centre_ = rows.colwise().mean();
  centred_ = rows.rowwise() - centre_.transpose();
  const double largest = centred_.size() > 0 ? centred_.cwiseAbs().maxCoeff() : 0.0;
  if (largest > 0.0) unit_ = largest;
}

double TrainingKernel::median_distance() const {
  constexpr Index kMost = 512;
  const Index n = rows();
  std::vector<Index> some;
  const Index count = std::min(n, kMost);
  some.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) some.push_back(i * n / count);
  if (count < 2) return 1.0;
  Matrix d;
  squared_distances(centred_(some, Eigen::all) / unit_, d, threads_);
  std::vector<double> distances;
  distances.reserve(static_cast<std::size_t>(count * (count - 1) / 2));
  double sum = 0.0;
  for (Index j = 0; j < count; ++j) {
    for (Index i = j + 1; i < count; ++i) {
      distances.push_back(std::sqrt(d(i, j)));
      sum += distances.back();
    }
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  if (*middle > 0.0) return *middle * unit_;
  return sum > 0.0 ? sum / static_cast<double>(distances.size()) * unit_ : 1.0;
}

Vector TrainingKernel::spreads() const {
  Vector result(columns());
  const double factor = std::sqrt(2.0 / static_cast<double>(std::max<Index>(rows(), 1)));
  for (Index d = 0; d < columns(); ++d) result[d] = factor * centred_.col(d).stableNorm();
  return result;
}

void TrainingKernel::need_distances() {
  if (distances_.rows() == rows()) return;
  squared_distances(scaled_rows(centred_, Vector::Zero(columns()), Vector::Constant(1, unit_)), distances_,
                    threads_);
}

void TrainingKernel::evaluate(const GpKernel& kernel, Matrix& k) {
  const Index n = rows();
  const double s2 = kernel.signal * kernel.signal;
  double factor = -0.5;
  const Matrix* d = &k;
  if (kernel.ard()) {
    squared_distances(scaled_rows(centred_, Vector::Zero(columns()), kernel.lengthscales), k, threads_);
  } else {
    need_distances();
    k.resize(n, n);
    d = &distances_;
    factor = -0.5 * squared(unit_ / kernel.lengthscales[0]);
  }
  for_tiles(n, threads_, [&](Index first, Index count) {
    k.middleCols(first, count).array() = s2 * (factor * d->middleCols(first, count).array()).exp();
  });
}

Matrix TrainingKernel::cross(const GpKernel& kernel, const MatrixRef& inputs) const {
  const Matrix z = scaled_rows(centred_, Vector::Zero(columns()), kernel.lengthscales);
  const Matrix other = scaled_rows(inputs, centre_, kernel.lengthscales);
  Matrix k(z.rows(), other.rows());
  linalg::gemm(-2.0, linalg::Op::kNone, z, linalg::Op::kTranspose, other, 0.0, k);
  k.colwise() += z.rowwise().squaredNorm();
  k.rowwise() += other.rowwise().squaredNorm().transpose();
  return kernel.signal * kernel.signal * (-0.5 * k.array().max(0.0)).exp();
}

Vector TrainingKernel::gradient(const GpKernel& kernel, const Matrix& m) {
  const Index n = rows();
  Vector sums(n);  // of the columns, which are the rows
  Vector by_distance(n);
  for_tiles(n, threads_, [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      sums[j] = m.col(j).sum();
      if (!kernel.ard()) by_distance[j] = m.col(j).dot(distances_.col(j));
    }
  });
  Vector gradient(kernel.lengthscales.size() + 1);
  gradient[gradient.size() - 1] = 2.0 * sums.sum();
  if (!kernel.ard()) {
    gradient[0] = by_distance.sum() * squared(unit_ / kernel.lengthscales[0]);
    return gradient;
  }
  const Matrix z = scaled_rows(centred_, Vector::Zero(columns()), kernel.lengthscales);
  Matrix product(n, z.cols());
  // M is symmetric: its transpose lets the rows of the product be shared out.
  linalg::gemm_tiled(1.0, linalg::Op::kTranspose, m, z, 0.0, product, threads_);
  for (Index d = 0; d < z.cols(); ++d)
    gradient[d] = 2.0 * (sums.dot(z.col(d).cwiseAbs2()) - z.col(d).dot(product.col(d)));
  return gradient;
}

}  // namespace subspectra::gp
