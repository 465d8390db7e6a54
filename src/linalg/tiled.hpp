#pragma once
/// Level-3 kernels shared out over threads: the work is cut into tiles by size alone and each tile is one
/// single-threaded BLAS call, so that the bits of the result do not depend on the number of threads.
#include <exception>
#include <optional>

#include <subspectra/run_control.hpp>
#include "linalg/blas.hpp"

namespace subspectra::linalg {

/// Out of a factorization whose RunControl said stop; what it worked on is lost.
struct Stopped final : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

/// C += alpha A A' in the lower triangle of C (n x n, A n x k); the upper one is left alone.   n^2 k flops.
void rank_update_lower(double alpha, const MatrixRef& a, MutableMatrix c, int threads);

/// C = alpha op(A) B + beta C, cut into column tiles of C (kNone) or row tiles of C (kTranspose: the columns
/// of A, so that a wide table is read once, in order).
void gemm_tiled(double alpha, Op op_a, const MatrixRef& a, const MatrixRef& b, double beta, MutableMatrix c,
                int threads);

/// y = A'x over column tiles of A: one pass over the memory of A.
void gemv_transposed(const MatrixRef& a, const VectorRef& x, MutableVector y, int threads);

/// A = L L' (lower triangle read and written; the upper one is set to zero). False when a pivot is not
/// positive; A is destroyed then.   n^3/3 flops. Throws Stopped when `control` says stop, a tile later.
[[nodiscard]] bool cholesky_tiled(MutableMatrix a, int threads, const RunControl* control = nullptr);

/// C <- L^{-1} C or L^{-T} C, L lower triangular, panel by panel: L is read once, in order, and nearly all of
/// it by DGEMM. On one thread.
void solve_lower_panels(const MatrixRef& l, Op op, MutableMatrix c);

/// A <- A^{-1} in the lower triangle of a symmetric positive definite A, C <- A^{-1} C (n x r); gives T =
/// C'A^{-1}C for the C that came in. Nothing when a pivot is not above `pivot_floor` times its diagonal
/// entry; A and C are destroyed then. A = L L', W = L^{-1}, A^{-1} = W'W: n^3 flops, nearly all of them
/// DGEMM's. What is above the diagonal is lost; n^2/4 doubles of scratch. Throws Stopped as
/// cholesky_tiled().
[[nodiscard]] std::optional<Matrix> invert_positive(MutableMatrix a, MutableMatrix c, double pivot_floor,
                                                    int threads, const RunControl* control = nullptr);

/// The inverse alone, for any positive pivots.
[[nodiscard]] bool invert_positive(MutableMatrix a, int threads, const RunControl* control = nullptr);

/// Upper triangle <- lower triangle.
void mirror_lower(MutableMatrix c);

}  // namespace subspectra::linalg
