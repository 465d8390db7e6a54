#include "eigen/cholesky.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <limits>
#include <vector>

#include <subspectra/error.hpp>
#include "linalg/blas_start.hpp"

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

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

Matrix square_factor(const MatrixRef& m) {
  if (std::max(m.rows(), m.cols()) > std::numeric_limits<int>::max())
    throw Error("square_factor: the matrix is larger than LAPACK can address");
  Matrix a = m.transpose();
  const int rows = static_cast<int>(a.rows()), columns = static_cast<int>(a.cols()), query = -1;
  if (rows == 0 || columns == 0) return Matrix::Zero(m.rows(), m.rows());
  Vector tau(std::min(rows, columns));
  double best = 0.0;
  int info = 0;
  const InBlas inside;
  dgeqrf_(&rows, &columns, a.data(), &rows, tau.data(), &best, &query, &info);
  std::vector<double> work(static_cast<std::size_t>(std::max(1.0, best)));
  const int length = static_cast<int>(work.size());
  dgeqrf_(&rows, &columns, a.data(), &rows, tau.data(), work.data(), &length, &info);
  Matrix l = Matrix::Zero(m.rows(), m.rows());
  for (Index j = 0; j < std::min<Index>(rows, columns); ++j)
    l.col(j).tail(m.rows() - j) = a.row(j).tail(m.rows() - j).transpose();
  return l;
}

Matrix orthonormal_basis(const MatrixRef& a) {
  const Eigen::HouseholderQR<Matrix> basis(a);
  return basis.householderQ() * Matrix::Identity(a.rows(), a.cols());
}

}  // namespace subspectra::linalg
