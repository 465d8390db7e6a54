#include "eigen/cholesky.hpp"

#include <Eigen/QR>

namespace subspectra::linalg {

CholeskyFactor::CholeskyFactor(const Matrix& a) : factor_(a), positive_(factor_.info() == Eigen::Success) {}

Matrix CholeskyFactor::solve_lower(Matrix right) const {
  factor_.matrixL().solveInPlace(right);
  return right;
}

Matrix CholeskyFactor::solve(Matrix right) const {
  factor_.solveInPlace(right);
  return right;
}

Vector CholeskyFactor::solve(Vector right) const {
  factor_.solveInPlace(right);
  return right;
}

Matrix orthonormal_basis(const MatrixRef& a) {
  const Eigen::HouseholderQR<Matrix> basis(a);
  return basis.householderQ() * Matrix::Identity(a.rows(), a.cols());
}

}  // namespace subspectra::linalg
