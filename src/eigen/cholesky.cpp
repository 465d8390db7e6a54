#include "eigen/cholesky.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <subspectra/error.hpp>
#include "linalg/blas_start.hpp"
#include "linalg/tiled.hpp"

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dlarft_(const char* direct, const char* storev, const int* n, const int* k, const double* v,
             const int* ldv, const double* tau, double* t, const int* ldt, std::size_t direct_length,
             std::size_t storev_length);
void dlarfb_(const char* side, const char* trans, const char* direct, const char* storev, const int* m,
             const int* n, const int* k, const double* v, const int* ldv, const double* t, const int* ldt,
             double* c, const int* ldc, double* work, const int* ldwork, std::size_t side_length,
             std::size_t trans_length, std::size_t direct_length, std::size_t storev_length);
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

Matrix square_factor(const MatrixRef& m, const RunControl* control) {
  constexpr int kPanel = 32, kAtOnce = 128;  // LAPACK's own, so that its bits come out
  if (std::max(m.rows(), m.cols()) > std::numeric_limits<int>::max())
    throw Error("square_factor: the matrix is larger than LAPACK can address");
  Matrix a = m.transpose();
  const int rows = static_cast<int>(a.rows()), columns = static_cast<int>(a.cols());
  if (rows == 0 || columns == 0) return Matrix::Zero(m.rows(), m.rows());
  const int steps = std::min(rows, columns);
  Vector tau(steps);
  Matrix triangle(kPanel, kPanel);
  const int length = std::max(columns, kAtOnce) * kPanel, stride = kPanel;
  std::vector<double> work(static_cast<std::size_t>(length));
  int info = 0;
  const InBlas inside;
  for (int j = 0; j < steps;) {
    if (control != nullptr && control->should_stop()) throw Stopped();
    const int left = rows - j;
    const int width = steps - j <= kAtOnce ? columns - j : kPanel, behind = columns - j - width;
    double* const panel = &a(j, j);
    dgeqrf_(&left, &width, panel, &rows, &tau[j], work.data(), &length, &info);
    if (behind > 0) {
      dlarft_("F", "C", &left, &width, panel, &rows, &tau[j], triangle.data(), &stride, 1, 1);
      dlarfb_("L", "T", "F", "C", &left, &behind, &width, panel, &rows, triangle.data(), &stride,
              &a(j, j + width), &rows, work.data(), &behind, 1, 1, 1, 1);
    }
    j += width;
  }
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
