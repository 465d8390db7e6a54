#pragma once
/// All eigenpairs of a symmetric matrix. This room is the only one that computes eigenpairs and singular
/// values, and its sources the only ones that include a library's decompositions. Which routine answers:
///
///   wanted                                     by
///   all pairs                                  symmetric_eigen: LAPACK, divide and conquer
///   all pairs of few rows, again and again     small_symmetric_eigen: Eigen, QL without workspaces
///   either, by size                            spectrum: up to kFewRows rows the second, beyond the first
///   the leading few, dense                     leading_pairs (leading.hpp): symmetric_eigen up to kDenseRows
///   rows
///                                              or for many pairs, beyond restarted Lanczos (Spectra)
///   the first, a near guess at hand            leading_vector_near (leading.hpp): Lanczos from the guess
///   the leading few of an operator             leading_eigenpairs (lanczos.hpp): Lanczos with thick restarts
///   the leading few while it changes by ranks  refine_pairs (followed_pairs.hpp): Rayleigh-Ritz on what was
///   known singular values                            svd.hpp: Jacobi
///
/// Two routines give the same pairs with other last digits, so a caller keeps the one it has.
#include <optional>

#include "core/types.hpp"

namespace subspectra::linalg {

struct SymmetricEigen {
  Vector values;          ///< ascending
  Matrix vectors;         ///< columns, or empty
  bool converged = true;  ///< false (only small_symmetric_eigen): what is here is no answer
};

/// By LAPACK; the lower triangle is read. Throws Error on a non-finite entry.
[[nodiscard]] SymmetricEigen symmetric_eigen(Matrix a, bool vectors);

/// By Eigen, on the stack up to 16 rows: for the few rows of a matrix between classes, which searches
/// decompose at every step. Throws nothing: an entry that is not finite makes it not converge.
[[nodiscard]] SymmetricEigen small_symmetric_eigen(const Matrix& a, bool vectors);

/// By size: a few rows are done before LAPACK has its workspaces.
inline constexpr Index kFewRows = 50;
[[nodiscard]] SymmetricEigen spectrum(const Matrix& a, bool vectors);

/// Of the matrix with this diagonal (n) and these entries beside it (n - 1), by Eigen.
[[nodiscard]] SymmetricEigen tridiagonal_eigen(const VectorRef& diagonal, const VectorRef& beside);

/// The eigenvalues of A x = lambda B x, B positive definite, ascending; nothing where they were not found.
/// By Eigen.
[[nodiscard]] std::optional<Vector> generalized_eigenvalues(const Matrix& a, const Matrix& b);

}  // namespace subspectra::linalg
