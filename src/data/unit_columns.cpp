#include "data/unit_columns.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "data/moments.hpp"

namespace subspectra {

Vector unit_columns(const Dataset& data, const std::vector<Index>& features, const Vector& root_weights,
                    int threads, Matrix& x) {
  const auto q = static_cast<Index>(features.size());
  const Vector weights = root_weights.array().square();
  const double total = weights.sum();
  Vector scales(q);
  constexpr Index kTile = 64;
  parallel_for((q + kTile - 1) / kTile, threads, [&](Index tile) {
    const Index end = std::min(q, (tile + 1) * kTile);
    for (Index j = tile * kTile; j < end; ++j) {
      auto column = x.col(j);
      column = data.values().column(features[static_cast<std::size_t>(j)]);
      // To a largest entry of about 1 first: neither 1e200 nor 1e-200 survives being squared.
      const double largest = column.cwiseAbs().maxCoeff();
      const double unit = largest > 0.0 ? std::exp2(std::ilogb(largest)) : 1.0;
      column /= unit;
      // A mean is taken twice: the second pass removes what an offset of many digits leaves.
      for (int pass = 0; pass < 2; ++pass) column.array() -= weights.dot(column) / total;
      column.array() *= root_weights.array();
      const double spread = column.cwiseAbs().maxCoeff();
      const double norm = spread > 0.0 ? spread * (column / spread).norm() : 0.0;
      if (norm > 0.0) {
        column /= norm;
      } else {
        column.setZero();
      }
      scales[j] = norm * unit;
    }
  });
  return scales;
}

UnitColumns::UnitColumns(const Dataset& data, const std::vector<Index>& features, const Vector& root_weights,
                         int threads)
    : values_(data.values()), features_(features), root_weights_(root_weights) {
  const Moments moments = compute_total_moments(data, Moments::SecondOrder::kDiagonal, threads);
  const Vector means = moments.mean(), variances = moments.within_variances();
  means_ = means(features_);
  // The weights of the rows sum to N here.
  scales_ = (variances(features_) * static_cast<double>(values_.rows())).cwiseSqrt();
  constexpr double kFar = 1e4;  // deviations from zero: X'r would lose digits that the centred column has
  if (((means_.array().abs() > kFar * variances(features_).array().sqrt()) && (scales_.array() > 0.0))
          .any()) {
    values_ = values_.with_each_value([means](Index j, double x) { return x - means[j]; });
    means_.setZero();
  }
}

void UnitColumns::column(Index i, linalg::MutableVector out) const {
  if (!(scales_[i] > 0.0)) {
    out.setZero();
    return;
  }
  out = values_.column(features_[static_cast<std::size_t>(i)]);
  out.array() = (out.array() - means_[i]) * root_weights_.array() / scales_[i];
}

void UnitColumns::transposed_times(const MatrixRef& r, linalg::MutableMatrix out, int threads) const {
  const Matrix weighted = r.array().colwise() * root_weights_.array();
  const Vector sums = weighted.colwise().sum();
  Matrix all(values_.features(), r.cols());
  values_.transposed_times(MatrixRef(weighted), all, threads);
  for (Index i = 0; i < columns(); ++i) {
    if (scales_[i] > 0.0) {
      out.row(i) =
          (all.row(features_[static_cast<std::size_t>(i)]) - means_[i] * sums.transpose()) / scales_[i];
    } else {
      out.row(i).setZero();
    }
  }
}

Vector root_weights(const Dataset& data) {
  const Index n = data.rows();
  Vector roots(n);
  double total = 0.0;
  for (Index i = 0; i < n; ++i) total += data.weight(i);
  for (Index i = 0; i < n; ++i) roots[i] = std::sqrt(data.weight(i) * static_cast<double>(n) / total);
  return roots;
}

}  // namespace subspectra
