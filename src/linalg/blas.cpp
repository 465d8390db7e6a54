#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <subspectra/error.hpp>
#include "linalg/blas_start.hpp"
#include "linalg/tiled.hpp"

// The archive holds Fortran LAPACK but not LAPACKE; the hidden lengths of character arguments come last.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t uplo_length);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace subspectra::linalg {
namespace {

// --- arguments
// --------------------------------------------------------------------------------------------------

int blas_int(Index value) {
  if (value > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("a matrix of {} rows or columns is too large for BLAS, whose limit is {}", value,
                            std::numeric_limits<int>::max()));
  }
  return static_cast<int>(value);
}

template <class M>
int leading(const M& m) {  // of one column the stride may be anything; BLAS wants it sane
  return blas_int(std::max<Index>({1, m.rows(), m.outerStride()}));
}

CBLAS_TRANSPOSE transpose(Op op) { return op == Op::kNone ? CblasNoTrans : CblasTrans; }
Index rows(const MatrixRef& m, Op op) { return op == Op::kNone ? m.rows() : m.cols(); }
Index cols(const MatrixRef& m, Op op) { return op == Op::kNone ? m.cols() : m.rows(); }

void require(bool sizes_fit, const char* kernel) {
  if (!sizes_fit)
    throw Error(fmt::format("linalg::{}: the sizes of the arguments do not fit together", kernel));
}

constexpr Index kTile = 32;  // two tiles of doubles (16 KiB) stay in the first-level cache

}  // namespace

void mirror_lower(MutableMatrix c) {
  const Index n = c.rows();
  for (Index j = 0; j < n; j += kTile) {
    const Index width = std::min(kTile, n - j);
    for (Index b = 0; b < width; ++b) {
      for (Index a = 0; a < b; ++a) c(j + a, j + b) = c(j + b, j + a);
    }
    for (Index i = j + width; i < n; i += kTile) {
      const Index height = std::min(kTile, n - i);
      for (Index a = 0; a < height; ++a) {
        for (Index b = 0; b < width; ++b) c(j + b, i + a) = c(i + a, j + b);
      }
    }
  }
}

void gemm(double alpha, Op op_a, const MatrixRef& a, Op op_b, const MatrixRef& b, double beta,
          MutableMatrix c) {
  const Index inner = cols(a, op_a);
  require(rows(a, op_a) == c.rows() && inner == rows(b, op_b) && cols(b, op_b) == c.cols(), "gemm");
  if (c.size() == 0) return;
  const InBlas inside;
  cblas_dgemm(CblasColMajor, transpose(op_a), transpose(op_b), blas_int(c.rows()), blas_int(c.cols()),
              blas_int(inner), alpha, a.data(), leading(a), b.data(), leading(b), beta, c.data(), leading(c));
}

void gemv(double alpha, Op op_a, const MatrixRef& a, const VectorRef& x, double beta, MutableVector y) {
  require(rows(a, op_a) == y.size() && cols(a, op_a) == x.size(), "gemv");
  if (y.size() == 0) return;
  if (x.size() == 0) {  // BLAS returns early here and would leave y unscaled
    if (beta == 0.0) {
      y.setZero();
    } else {
      y *= beta;
    }
    return;
  }
  const InBlas inside;
  cblas_dgemv(CblasColMajor, transpose(op_a), blas_int(a.rows()), blas_int(a.cols()), alpha, a.data(),
              leading(a), x.data(), 1, beta, y.data(), 1);
}

void syrk(double alpha, Op op_a, const MatrixRef& a, double beta, MutableMatrix c) {
  const Index n = rows(a, op_a);
  require(c.rows() == n && c.cols() == n, "syrk");
  if (n == 0) return;
  const InBlas inside;
  cblas_dsyrk(CblasColMajor, CblasLower, transpose(op_a), blas_int(n), blas_int(cols(a, op_a)), alpha,
              a.data(), leading(a), beta, c.data(), leading(c));
  mirror_lower(c);
}

void syrk_lower(double alpha, const MatrixRef& a, MutableMatrix c) {
  require(c.rows() == a.rows() && c.cols() == a.rows(), "syrk_lower");
  if (c.size() == 0) return;
  const InBlas inside;
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, blas_int(c.rows()), blas_int(a.cols()), alpha,
              a.data(), leading(a), 1.0, c.data(), leading(c));
}

bool cholesky(MutableMatrix a) {
  require(a.rows() == a.cols(), "cholesky");
  if (a.size() == 0) return true;
  const int n = blas_int(a.rows());
  const int stride = leading(a);
  int info = 0;
  const InBlas inside;
  dpotrf_("L", &n, a.data(), &stride, &info, 1);
  if (info != 0) return false;
  for (Index j = 0; j < n; ++j) {
    if (!(a(j, j) > 0.0) || !std::isfinite(a(j, j))) return false;  // dpotrf lets NaN through
    a.col(j).head(j).setZero();
  }
  return true;
}

void solve_lower(const MatrixRef& l, Op op_l, MutableMatrix b) {
  require(l.rows() == l.cols() && l.rows() == b.rows(), "solve_lower");
  if (b.size() == 0) return;
  const InBlas inside;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transpose(op_l), CblasNonUnit, blas_int(b.rows()),
              blas_int(b.cols()), 1.0, l.data(), leading(l), b.data(), leading(b));
}

void solve_lower_right(const MatrixRef& l, MutableMatrix b) {
  require(l.rows() == l.cols() && l.rows() == b.cols(), "solve_lower_right");
  if (b.size() == 0) return;
  const InBlas inside;
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, blas_int(b.rows()),
              blas_int(b.cols()), 1.0, l.data(), leading(l), b.data(), leading(b));
}

BlasInfo blas_info() {
  const CoreChoice& choice = start_blas();
  BlasInfo info;
  const std::string config =
      openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Prescott ..."
  info.library = config.substr(0, config.find(' ', config.find(' ') + 1));
  info.core_type = openblas_get_corename();
  info.openblas_alone = choice.openblas_alone;
  info.chosen_by = choice.by_user ? "OPENBLAS_CORETYPE" : choice.by_us ? "subspectra" : "openblas";
  return info;
}

}  // namespace subspectra::linalg
