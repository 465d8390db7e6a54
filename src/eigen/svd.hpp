#pragma once
/// Singular values and vectors of small matrices, by Jacobi's rotations (Eigen): to full relative accuracy,
/// where the eigenvalues of A'A would lose half of the digits.
#include "core/types.hpp"

namespace subspectra::linalg {

struct Svd {
  Vector values;  ///< descending
  Matrix u, v;    ///< A = U diag(values) V'
};

/// U has min(rows, columns) columns, and so has V; V only if wanted.
[[nodiscard]] Svd thin_svd(const Matrix& a, bool with_v);

/// Of a square matrix: U and V are orthogonal even where A is singular.
[[nodiscard]] Svd square_svd(const Matrix& a);

}  // namespace subspectra::linalg
