#include "search/threshold.hpp"

#include <algorithm>
#include <cmath>

#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/elimination.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace {

using linalg::Op;

/// v' of the largest eigenvalue of a small symmetric matrix.
Vector top_vector(const Matrix& t) { return linalg::small_symmetric_eigen(t, true).vectors.rightCols(1); }

/// Z Z' = Q Lambda Q' over some columns, with V = Z'Q Lambda^{-1/2} never formed: Z'Z = V Lambda V'.
struct RowSpectrum {
  Matrix z;  ///< N x n
  linalg::SymmetricEigen eigen;

  RowSpectrum(const CovarianceOperator& rows, const std::vector<Index>& features, int threads)
      : z(rows.centred(features)) {
    Matrix gram = Matrix::Zero(z.rows(), z.rows());
    linalg::rank_update_lower(1.0, z, gram, threads);
    eigen = linalg::symmetric_eigen(std::move(gram), true);
  }
  /// (shift I + Z'Z)^power x = shift^power x + Z'Q [((Lambda + shift)^power - shift^power)/Lambda] Q'Z x.
  [[nodiscard]] Matrix power(double shift, double exponent, const Matrix& x) const {
    const double at_zero = std::pow(shift, exponent);
    const double floor = 1e-14 * std::max(0.0, eigen.values[eigen.values.size() - 1]);
    Vector factor(eigen.values.size());
    for (Index i = 0; i < factor.size(); ++i) {
      const double value = std::max(0.0, eigen.values[i]);
      factor[i] = value > floor ? (std::pow(value + shift, exponent) - at_zero) / value : 0.0;
    }
    Matrix zx(z.rows(), x.cols()), inner(z.rows(), x.cols());
    linalg::gemm(1.0, Op::kNone, z, Op::kNone, x, 0.0, zx);
    linalg::gemm(1.0, Op::kTranspose, eigen.vectors, Op::kNone, zx, 0.0, inner);
    inner = factor.asDiagonal() * inner;
    linalg::gemm(1.0, Op::kNone, eigen.vectors, Op::kNone, inner, 0.0, zx);
    Matrix out = x;
    linalg::gemm(1.0, Op::kTranspose, z, Op::kNone, zx, at_zero, out);
    return out;
  }
};

}  // namespace

Vector global_vector(const Pencil& pencil, const std::vector<Index>& features, ThresholdOn which,
                     int threads) {
  const auto n = static_cast<Index>(features.size());
  const bool few_rows = pencil.rows() != nullptr && n > pencil.rows()->rows();
  if (pencil.b_is_identity()) {
    if (!few_rows) return leading_pairs(pencil.a_block(features, threads), 1).vectors.col(0);
    const RowSpectrum spectrum(*pencil.rows(), features, threads);
    Vector x(n);
    linalg::gemv(1.0, Op::kTranspose, spectrum.z, spectrum.eigen.vectors.rightCols(1).col(0), 0.0, x);
    return x.normalized();
  }
  if (pencil.factor() != nullptr && few_rows && pencil.shift() > 0.0) {
    const RowSpectrum spectrum(*pencil.rows(), features, threads);
    const Matrix m = (*pencil.factor())(features, Eigen::all);
    const Matrix u = spectrum.power(pencil.shift(), -1.0, m);  // B^{-1} M
    const Matrix t = m.transpose() * u;
    const Vector v = top_vector(0.5 * (t + t.transpose()));
    const double scale = 1.0 / std::sqrt(std::max(v.dot(t * v), 1e-300));
    const Matrix x = u * v * scale;
    if (which == ThresholdOn::kY) return spectrum.power(pencil.shift(), 0.5, x).col(0);
    Matrix in_table = x;
    pencil.to_table_units(features, in_table);
    return in_table.col(0);
  }
  Vector x = renormalize(pencil, features, Criterion::kLargest, 1, threads).discriminants.vectors.col(0);
  if (which == ThresholdOn::kX) return x;
  x = pencil.from_table_units(features, x);
  const auto eigen = linalg::symmetric_eigen(pencil.block(features, threads), true);
  const Vector inner = eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal() * (eigen.vectors.transpose() * x);
  return eigen.vectors * inner;
}

}  // namespace subspectra
