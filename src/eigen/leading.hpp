#pragma once
/// The leading eigenpairs of a dense symmetric matrix.
#include <vector>

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

/// The leading pairs of many leading principal blocks A_kk of one matrix that is positive semidefinite to
/// rounding, k from an ascending list: values, and unit vectors of k entries, of either sign. 64 sizes at a
/// time take their Lanczos steps together, each from the vector of the last size before them, on the inverse
/// of sigma I - A_kk: with sigma a little above lambda_max of the largest of them the leading value stands
/// far from the others, and the leading blocks of one Cholesky factor invert all of them. Values are x'Ax;
/// where a residual shows that the inverse was none the steps are taken on A itself. Cost: some 8 steps a
/// size (on A itself 20 to 100) of 2 k^2 flops at nearly the speed of DGEMM.
struct BlockPairs {
  Vector values;
  std::vector<Vector> vectors;
};
[[nodiscard]] BlockPairs leading_pairs_of_blocks(const MatrixRef& a, const std::vector<Index>& sizes,
                                                 int threads);

/// Turns every column so that its largest entry in absolute value is positive.
void make_largest_positive(Matrix& vectors);

}  // namespace subspectra
