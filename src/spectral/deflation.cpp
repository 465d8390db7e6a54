#include "spectral/deflation.hpp"

namespace subspectra {

Matrix deflated_covariance(const MatrixRef& a, const std::vector<Index>& support, const VectorRef& loadings) {
  Vector x = Vector::Zero(a.rows());
  for (Index i = 0; i < loadings.size(); ++i) x[support[static_cast<std::size_t>(i)]] = loadings[i];
  const Vector ax = a * x;
  const double variance = x.dot(ax);
  Matrix out = a - ax * x.transpose() - x * ax.transpose() + variance * x * x.transpose();
  return 0.5 * (out + out.transpose());
}

Dataset deflated(const Dataset& table, const std::vector<Index>& support, const VectorRef& loadings) {
  const Matrix part = table.values().columns(support);
  const Matrix changed = part - (part * loadings) * loadings.transpose();
  return {table.details(), table.values().with_columns(support, changed)};
}

}  // namespace subspectra
