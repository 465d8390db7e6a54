#pragma once
/// Level-3 kernels shared out over threads: the work is cut into tiles by size alone and each tile is one
/// single-threaded BLAS call, so that the bits of the result do not depend on the number of threads.
#include "subspectra/linalg/blas.hpp"

namespace subspectra::linalg {

/// C += alpha A A' in the lower triangle of C (n x n, A n x k). The upper triangle inside the diagonal tiles
/// is overwritten and has no meaning.   n^2 k flops.
void rank_update_lower(double alpha, const MatrixRef& a, MutableMatrix c, int threads);

/// C = alpha op(A) B + beta C, cut into column tiles of C (kNone) or row tiles of C (kTranspose: the columns
/// of A, so that a wide table is read once, in order).
void gemm_tiled(double alpha, Op op_a, const MatrixRef& a, const MatrixRef& b, double beta, MutableMatrix c,
                int threads);

/// y = A'x over column tiles of A: one pass over the memory of A.
void gemv_transposed(const MatrixRef& a, const VectorRef& x, MutableVector y, int threads);

/// A = L L' (lower triangle read and written; the upper one is set to zero). False when a pivot is not
/// positive; A is destroyed then.   n^3/3 flops.
[[nodiscard]] bool cholesky_tiled(MutableMatrix a, int threads);

/// The lower triangle of L^{-T} L^{-1} = (L L')^{-1} for lower triangular L; L is overwritten by L^{-1}.
/// 2 n^3/3 flops.
[[nodiscard]] Matrix inverse_from_cholesky(MutableMatrix l, int threads);

/// Upper triangle <- lower triangle.
void mirror_lower(MutableMatrix c);

}  // namespace subspectra::linalg
