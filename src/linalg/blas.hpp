#pragma once
/// Dense kernels at the speed the CPU has: thin, typed doors to OpenBLAS/LAPACK, which is linked in
/// statically with its core type chosen by us (docs/blas.md). Every call is single-threaded and gives the
/// same bits each time; parallel code cuts its work into tiles of fixed size and calls these inside. Products
/// larger than a few dozen entries go through here and not through Eigen's operator*, which is compiled for
/// plain x86-64.
#include <string>

#include "core/types.hpp"

namespace subspectra::linalg {

using MutableMatrix =
    Eigen::Ref<Matrix>;  ///< inner stride 1, any outer stride: blocks are passed without a copy
using MutableVector = Eigen::Ref<Vector>;

// Results never overlap arguments: c, y and b must share no entry with a, l and x. Any size may be 0. With
// beta = 0 the old contents of the result are not read (NaN there does no harm). Sizes that do not fit
// together throw Error.
enum class Op { kNone, kTranspose };

/// C = alpha op(A) op(B) + beta C.   2 m n k flops.
void gemm(double alpha, Op op_a, const MatrixRef& a, Op op_b, const MatrixRef& b, double beta,
          MutableMatrix c);
/// y = alpha op(A) x + beta y.       Bound by reading A once.
void gemv(double alpha, Op op_a, const MatrixRef& a, const VectorRef& x, double beta, MutableVector y);
/// C = alpha A A' + beta C (kNone) or alpha A'A + beta C (kTranspose); both triangles of C are written,
/// exactly equal.
void syrk(double alpha, Op op_a, const MatrixRef& a, double beta, MutableMatrix c);
/// C += alpha A A' in the lower triangle alone.
void syrk_lower(double alpha, const MatrixRef& a, MutableMatrix c);
/// A = L L': the lower triangle becomes L, the upper one is set to zero. False (A destroyed) when a pivot is
/// not positive.
[[nodiscard]] bool cholesky(MutableMatrix a);
/// B <- L^{-1} B or L^{-T} B with L lower triangular.
void solve_lower(const MatrixRef& l, Op op_l, MutableMatrix b);
/// B <- B L^{-T} with L lower triangular.
void solve_lower_right(const MatrixRef& l, MutableMatrix b);

/// "OpenBLAS 0.3.21, SkylakeX kernels (chosen by Subspectra; OpenBLAS alone: Prescott), ..." for --version.
struct BlasInfo {
  std::string library;         ///< "OpenBLAS 0.3.21"
  std::string core_type;       ///< "SkylakeX"
  std::string chosen_by;       ///< "OPENBLAS_CORETYPE", "subspectra" or "openblas"
  std::string openblas_alone;  ///< what OpenBLAS detected by itself; empty when OPENBLAS_CORETYPE was set
};
[[nodiscard]] BlasInfo blas_info();

}  // namespace subspectra::linalg
