#pragma once
/// The leading eigenpairs of a dense symmetric matrix.
#include "core/types.hpp"

namespace subspectra {

struct LeadingPairs {
  Vector values;   ///< leading one first
  Matrix vectors;  ///< unit columns
};

/// The `count` leading pairs, values descending, unit vectors with their largest entry positive: all pairs by
/// LAPACK up to kDenseRows rows, Lanczos (Spectra) for large ones.
inline constexpr Index kDenseRows = 256;
[[nodiscard]] LeadingPairs leading_pairs(const MatrixRef& a, Index count);

/// The leading eigenvector of a symmetric matrix that is positive semidefinite and has changed little since
/// `guess` was its own: Lanczos steps with full orthogonalization, restarted from the Ritz vector. Cost: 2
/// n^2 flops a step, some 10 to 30 steps, where all pairs take about 10 n^3.
[[nodiscard]] Vector leading_vector_near(const Matrix& a, const Vector& guess);

/// Turns every column so that its largest entry in absolute value is positive.
void make_largest_positive(Matrix& vectors);

}  // namespace subspectra
