#include "classify/row_map.hpp"

#include <cmath>

#include "classify/model_reader.hpp"
#include "core/matrix_json.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

Index RowMap::width() const { return has_projection ? projection.cols() : centre.size(); }

Matrix RowMap::operator()(const MatrixRef& rows) const {
  Matrix z = rows.rowwise() - centre.transpose();
  if (has_projection) {
    Matrix projected(rows.rows(), projection.cols());
    linalg::gemm(1.0, linalg::Op::kNone, z, linalg::Op::kNone, projection, 0.0, projected);
    z = std::move(projected);
  }
  if (scale.size() > 0) z *= scale.asDiagonal();
  return z;
}

nlohmann::json projection_json(const RowMap& map) {
  return map.has_projection ? to_json(map.projection) : nlohmann::json();
}

RowMap read_projection(const ModelReader& reader, Index k) {
  RowMap map;
  map.centre = Vector::Zero(k);
  const nlohmann::json& matrix = reader.at("projection");
  map.has_projection = !matrix.is_null();
  if (map.has_projection) map.projection = reader.matrix("projection", k, ModelReader::width(matrix));
  return map;
}

StandardizedRows standardize_rows(const MatrixRef& rows) {
  const Index n = rows.rows();
  StandardizedRows result;
  result.centre = rows.colwise().mean();
  result.z = rows.rowwise() - result.centre.transpose();
  result.inverse_scale = Vector::Zero(rows.cols());
  for (Index j = 0; j < rows.cols(); ++j) {
    constexpr double kRounding = 1e-14;                            // of the column's size: it is constant
    const double largest = result.z.col(j).cwiseAbs().maxCoeff();  // divided by it no square overflows
    if (!(largest > kRounding * std::abs(result.centre[j]))) {
      result.z.col(j).setZero();
      continue;
    }
    const double deviation = (result.z.col(j) / largest).norm() / std::sqrt(static_cast<double>(n));
    result.inverse_scale[j] = 1.0 / deviation / largest;
    result.z.col(j) *= result.inverse_scale[j];
  }
  return result;
}

Matrix squared_distances(const MatrixRef& a, const MatrixRef& b) {
  const Vector a_squares = a.rowwise().squaredNorm(), b_squares = b.rowwise().squaredNorm();
  Matrix distances(a.rows(), b.rows());
  linalg::gemm(-2.0, linalg::Op::kNone, a, linalg::Op::kTranspose, b, 0.0, distances);
  for (Index j = 0; j < b.rows(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) {
      const double value = a_squares[i] + b_squares[j] + distances(i, j);
      distances(i, j) = std::isnan(value) ? kInfinity : std::max(0.0, value);
    }
  }
  return distances;
}

}  // namespace subspectra
