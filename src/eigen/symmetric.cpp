#include "eigen/symmetric.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "linalg/blas_start.hpp"

// Fortran LAPACK; the hidden lengths of character arguments come last.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info,
             std::size_t jobz_length, std::size_t uplo_length);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace subspectra::linalg {
namespace {

int lapack_size(Index n) {
  if (n > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("symmetric_eigen: {} rows are more than LAPACK can address", n));
  }
  return static_cast<int>(n);
}

template <class Solver>
SymmetricEigen pairs_of(const Solver& solver, bool vectors) {
  SymmetricEigen result{.values = solver.eigenvalues(), .converged = solver.info() == Eigen::Success};
  if (vectors) result.vectors = solver.eigenvectors();
  return result;
}

}  // namespace

SymmetricEigen symmetric_eigen(Matrix a, bool vectors) {
  if (a.rows() != a.cols())
    throw Error(fmt::format("symmetric_eigen: the matrix is {} x {} and not square", a.rows(), a.cols()));
  const int n = lapack_size(a.rows());
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      if (!std::isfinite(a(i, j))) {
        throw Error(fmt::format("symmetric_eigen: entry ({}, {}) is {}; the eigenvalues need finite entries",
                                i, j, a(i, j)));
      }
    }
  }
  SymmetricEigen result;
  result.values.resize(n);
  if (n == 0) return result;
  const double work_size = vectors ? 1.0 + (6.0 + 2.0 * n) * n : 2.0 * n + 1.0;
  if (work_size > std::numeric_limits<int>::max()) {
    throw Error(fmt::format(
        "symmetric_eigen: all eigenvectors of a {} x {} matrix are more than LAPACK can address; ask for the values alone or for a few leading pairs",
        n, n));
  }
  constexpr double kAsked = 1e6;  // below 8 MB asking would take longer than the work
  if (work_size > kAsked) {
    require_memory(8.0 * work_size,
                   fmt::format("the workspace for the eigenvectors of a {} x {} matrix", n, n),
                   "ask for the values alone or for a few leading pairs");
  }
  const linalg::InBlas inside;
  const char* const job = vectors ? "V" : "N";
  int info = 0;
  const int query = -1;
  double best_work = 0.0;
  int integer_work = 0;
  dsyevd_(job, "L", &n, a.data(), &n, result.values.data(), &best_work, &query, &integer_work, &query, &info,
          1, 1);
  const int work_length = static_cast<int>(std::min<double>(std::max(best_work, work_size), 0x7fffffff));
  std::vector<double> work(static_cast<std::size_t>(work_length));
  std::vector<int> integers(static_cast<std::size_t>(std::max(1, integer_work)));
  dsyevd_(job, "L", &n, a.data(), &n, result.values.data(), work.data(), &work_length, integers.data(),
          &integer_work, &info, 1, 1);
  if (info != 0)
    throw Error(fmt::format("symmetric_eigen: the iteration did not converge (LAPACK dsyevd: {})", info));
  if (vectors) result.vectors = std::move(a);
  return result;
}

SymmetricEigen small_symmetric_eigen(const Matrix& a, bool vectors) {
  constexpr int kOnStack = 16;
  using Few = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kOnStack, kOnStack>;
  const int wanted = vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly;
  if (a.rows() <= kOnStack) return pairs_of(Eigen::SelfAdjointEigenSolver<Few>(Few(a), wanted), vectors);
  return pairs_of(Eigen::SelfAdjointEigenSolver<Matrix>(a, wanted), vectors);
}

SymmetricEigen spectrum(const Matrix& a, bool vectors) {
  return a.rows() > kFewRows ? symmetric_eigen(a, vectors) : small_symmetric_eigen(a, vectors);
}

SymmetricEigen tridiagonal_eigen(const VectorRef& diagonal, const VectorRef& beside) {
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  solver.computeFromTridiagonal(diagonal, beside);
  return pairs_of(solver, true);
}

std::optional<Vector> generalized_eigenvalues(const Matrix& a, const Matrix& b) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(a, b, Eigen::EigenvaluesOnly | Eigen::Ax_lBx);
  if (solver.info() != Eigen::Success) return std::nullopt;
  return solver.eigenvalues();
}

}  // namespace subspectra::linalg
