#include "eigen/svd.hpp"

#include <Eigen/SVD>

namespace subspectra::linalg {

Svd thin_svd(const Matrix& a, bool with_v) {
  const unsigned wanted = with_v ? Eigen::ComputeThinU | Eigen::ComputeThinV : Eigen::ComputeThinU;
  const Eigen::JacobiSVD<Matrix> svd(a, wanted);
  Svd result{.values = svd.singularValues(), .u = svd.matrixU(), .v = {}};
  if (with_v) result.v = svd.matrixV();
  return result;
}

Svd square_svd(const Matrix& a) {
  const Eigen::JacobiSVD<Matrix, Eigen::NoQRPreconditioner> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {.values = svd.singularValues(), .u = svd.matrixU(), .v = svd.matrixV()};
}

}  // namespace subspectra::linalg
