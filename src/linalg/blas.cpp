#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include <subspectra/error.hpp>
#include "linalg/tiled.hpp"

// The archive holds Fortran LAPACK but not LAPACKE; the hidden lengths of character arguments come last. The
// names with a trailing underscore and gotoblas_* are OpenBLAS's own.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t uplo_length);
void gotoblas_init(void);
void gotoblas_quit(void);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace subspectra::linalg {
namespace {

// --- the core type
// ----------------------------------------------------------------------------------------------

/// Plain characters: these are written before the constructors of this library's C++ objects have run.
struct CoreChoice {
  std::array<char, 32> openblas_alone{};  ///< what OpenBLAS detected, empty when the user chose
  bool by_user = false;
  bool by_us = false;
};
CoreChoice core_choice;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

#if defined(__x86_64__)
/// Width in bits of the vectors that the kernels of a core type use. Names not listed are older or unknown:
/// 128.
int kernel_width(std::string_view core) {
  for (const std::string_view name : {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
    if (core == name) return 512;
  }
  for (const std::string_view name : {"Haswell", "Zen"}) {
    if (core == name) return 256;
  }
  return 128;
}

/// The core type whose kernels fit what this CPU (and its operating system) can execute; null when any will
/// do.
const char* deserved_core() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
  }
  return nullptr;
}
#endif

/// An environment variable set for a moment and then put back.
class BriefVariable {
 public:
  BriefVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      was_set_ = true;
      std::string_view(old).copy(old_.data(), old_.size() - 1);
    }
    ::setenv(name, value, 1);
  }
  BriefVariable(const BriefVariable&) = delete;
  BriefVariable& operator=(const BriefVariable&) = delete;
  ~BriefVariable() { was_set_ ? ::setenv(name_, old_.data(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  bool was_set_ = false;
  std::array<char, 64> old_{};
};

/// OpenBLAS 0.3.21 knows CPUs by model number and gives those it does not know SSE kernels ("Prescott"). We
/// start it ourselves, look at what it chose and, if the CPU can do more and the user has not chosen, start
/// it again with OPENBLAS_CORETYPE set for just that moment: child processes and other copies of OpenBLAS see
/// no difference. Priority 101 comes before OpenBLAS's own constructor, which then finds everything done;
/// should it ever come after, the second start still has its effect. It is started with one thread, so that
/// its pool is never made: sharing out the work is ours. See docs/blas.md.
__attribute__((constructor(101))) void choose_core_type() {
  const BriefVariable one_thread("OPENBLAS_NUM_THREADS", "1");
  const char* wish = std::getenv(kCoreVariable);
  core_choice.by_user = wish != nullptr && *wish != '\0';
  gotoblas_init();
#if defined(__x86_64__)
  if (!core_choice.by_user) {
    const std::string_view alone = openblas_get_corename();
    alone.copy(core_choice.openblas_alone.data(), core_choice.openblas_alone.size() - 1);
    const char* deserved = deserved_core();
    if (deserved != nullptr && kernel_width(alone) < kernel_width(deserved)) {
      gotoblas_quit();
      const BriefVariable core(kCoreVariable, deserved);
      gotoblas_init();
      core_choice.by_us = true;
    }
  }
#endif
  openblas_set_num_threads(1);
}

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
  cblas_dgemv(CblasColMajor, transpose(op_a), blas_int(a.rows()), blas_int(a.cols()), alpha, a.data(),
              leading(a), x.data(), 1, beta, y.data(), 1);
}

void syrk(double alpha, Op op_a, const MatrixRef& a, double beta, MutableMatrix c) {
  const Index n = rows(a, op_a);
  require(c.rows() == n && c.cols() == n, "syrk");
  if (n == 0) return;
  cblas_dsyrk(CblasColMajor, CblasLower, transpose(op_a), blas_int(n), blas_int(cols(a, op_a)), alpha,
              a.data(), leading(a), beta, c.data(), leading(c));
  mirror_lower(c);
}

void syrk_lower(double alpha, const MatrixRef& a, MutableMatrix c) {
  require(c.rows() == a.rows() && c.cols() == a.rows(), "syrk_lower");
  if (c.size() == 0) return;
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, blas_int(c.rows()), blas_int(a.cols()), alpha,
              a.data(), leading(a), 1.0, c.data(), leading(c));
}

bool cholesky(MutableMatrix a) {
  require(a.rows() == a.cols(), "cholesky");
  if (a.size() == 0) return true;
  const int n = blas_int(a.rows());
  const int stride = leading(a);
  int info = 0;
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
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transpose(op_l), CblasNonUnit, blas_int(b.rows()),
              blas_int(b.cols()), 1.0, l.data(), leading(l), b.data(), leading(b));
}

void solve_lower_right(const MatrixRef& l, MutableMatrix b) {
  require(l.rows() == l.cols() && l.rows() == b.cols(), "solve_lower_right");
  if (b.size() == 0) return;
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, blas_int(b.rows()),
              blas_int(b.cols()), 1.0, l.data(), leading(l), b.data(), leading(b));
}

BlasInfo blas_info() {
  BlasInfo info;
  const std::string config =
      openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Prescott ..."
  info.library = config.substr(0, config.find(' ', config.find(' ') + 1));
  info.core_type = openblas_get_corename();
  info.openblas_alone = core_choice.openblas_alone.data();
  info.chosen_by = core_choice.by_user ? kCoreVariable : core_choice.by_us ? "subspectra" : "openblas";
  return info;
}

}  // namespace subspectra::linalg
