#include "classify/correlation_shrinkage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/blas.hpp"

namespace subspectra {
namespace {

double intensity_of(double uncertain, double squares, double degrees) {
  if (!(squares > 0.0)) return 0.0;
  constexpr double kNone = 1e-9;  // rounding left of as many classes as rows
  if (!(degrees > kNone)) return 1.0;
  return std::min(1.0, uncertain / degrees / squares);
}

double degrees_of(const Moments& moments, double concentration) {
  return 1.0 / concentration - static_cast<double>((moments.class_weights().array() > 0.0).count());
}

}  // namespace

CorrelationShrinkage::CorrelationShrinkage(const Dataset& rows, const std::vector<Index>& features,
                                           const Moments& moments, const MatrixRef& within) {
  constexpr Index kBlockRows = 512;  // some thousand features are some megabytes then
  const auto k = static_cast<Index>(features.size());
  const auto& codes = rows.labels()->codes;
  const double total = moments.total_weight();
  const Vector per_unit = (within.diagonal().array() > 0.0)
                              .select(within.diagonal().array().max(1e-300).sqrt().inverse(), 0.0)
                              .matrix();
  uncertainties_ = correlations_ = Matrix::Zero(k, k);
  degrees_ = 0.0;
  if (k == 0) return;
  double concentration = 0.0;  // sum h^2
  std::vector<Index> block;
  for (Index first = 0; first < rows.rows(); first += kBlockRows) {
    block.resize(static_cast<std::size_t>(std::min(kBlockRows, rows.rows() - first)));
    std::iota(block.begin(), block.end(), first);
    Matrix z = rows.values().block(block, features);
    for (Index i = 0; i < z.rows(); ++i) {
      const int code = codes[static_cast<std::size_t>(first + i)];
      const double share = code < 0 ? 0.0 : rows.weight(first + i) / total;
      concentration += share * share;
      if (share > 0.0) {
        z.row(i) = (z.row(i).transpose() - moments.class_means().col(code))
                       .cwiseProduct(per_unit)
                       .cwiseAbs2()
                       .transpose() *
                   std::sqrt(share);
      } else {
        z.row(i).setZero();
      }
    }
    linalg::syrk(1.0, linalg::Op::kTranspose, z, 1.0, uncertainties_);
  }
  correlations_ = per_unit.asDiagonal() * within * per_unit.asDiagonal();
  correlations_.diagonal().setZero();
  uncertainties_ = (uncertainties_ - correlations_.cwiseAbs2()).cwiseMax(0.0);
  uncertainties_.diagonal().setZero();
  degrees_ = degrees_of(moments, concentration);
}

double CorrelationShrinkage::intensity(const std::vector<Index>* places) const {
  const double uncertain = places == nullptr ? uncertainties_.sum() : uncertainties_(*places, *places).sum();
  const double squares =
      places == nullptr ? correlations_.squaredNorm() : correlations_(*places, *places).squaredNorm();
  return intensity_of(uncertain, squares, degrees_);
}

double shrinkage_by_rows(const Dataset& rows, const CovarianceOperator& within, int threads) {
  constexpr Index kPanel = 1024;
  const Index k = rows.features(), n = rows.rows();
  const double total = within.moments().total_weight();
  Vector shares = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    if (rows.labels()->codes[static_cast<std::size_t>(i)] >= 0) shares[i] = rows.weight(i) / total;
  }
  Vector unit = within.diagonal().cwiseMax(1e-300).cwiseSqrt();
  for (double& one : unit) one = one > 2e-150 ? one : 1.0;  // no variance: its column is zero
  const CovarianceOperator correlations = within.in_units_of(unit);
  Vector of_row = Vector::Zero(n);             // sum over the features of h z^2
  double fourth_powers = 0.0, diagonal = 0.0;  // sum q_ii, sum r_ii^2
  std::vector<Index> panel;
  for (Index first = 0; first < k; first += kPanel) {
    panel.resize(static_cast<std::size_t>(std::min(kPanel, k - first)));
    std::iota(panel.begin(), panel.end(), first);
    const Matrix squares = correlations.centred(panel).cwiseAbs2();
    of_row += squares.rowwise().sum();
    diagonal += squares.colwise().sum().squaredNorm();
    for (Index i = 0; i < n; ++i) {
      if (shares[i] > 0.0) fourth_powers += squares.row(i).squaredNorm() / shares[i];
    }
  }
  double sum_q = 0.0;
  for (Index i = 0; i < n; ++i) {
    if (shares[i] > 0.0) sum_q += of_row[i] * of_row[i] / shares[i];
  }
  panel.resize(static_cast<std::size_t>(k));
  std::iota(panel.begin(), panel.end(), Index{0});
  const double squares = correlations.gram(panel, threads).squaredNorm() - diagonal;
  const double uncertain = std::max(0.0, sum_q - fourth_powers - squares);
  return intensity_of(uncertain, squares, degrees_of(within.moments(), shares.squaredNorm()));
}

}  // namespace subspectra
