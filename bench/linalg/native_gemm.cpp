// Compiled with -march=native. Eigen gets another name here, so that none of its templates, compiled for this
// CPU, can be chosen by the linker for the rest of the program.
#define Eigen EigenNative
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "native_gemm.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace native {

void eigen_gemm(int n, const double* a, const double* b, double* c) {
  using Map = EigenNative::Map<EigenNative::MatrixXd>;
  using ConstMap = EigenNative::Map<const EigenNative::MatrixXd>;
  Map(c, n, n).noalias() = ConstMap(a, n, n) * ConstMap(b, n, n);
}

// Twelve chains: latency 4 times 2 units asks for at least eight. asm keeps them apart and in registers.
double fma_flops(long rounds) {
  constexpr int kChains = 12;
#if defined(__AVX512F__)
  constexpr int kLanes = 8;
  __m512d x[kChains];
  const __m512d factor = _mm512_set1_pd(0.999999);
  for (auto& v : x) v = factor;
  for (long r = 0; r < rounds; ++r) {
    for (auto& v : x) {
      v = _mm512_fmadd_pd(v, factor, factor);
      asm volatile("" : "+v"(v));
    }
  }
#elif defined(__AVX2__) && defined(__FMA__)
  constexpr int kLanes = 4;
  __m256d x[kChains];
  const __m256d factor = _mm256_set1_pd(0.999999);
  for (auto& v : x) v = factor;
  for (long r = 0; r < rounds; ++r) {
    for (auto& v : x) {
      v = _mm256_fmadd_pd(v, factor, factor);
      asm volatile("" : "+x"(v));
    }
  }
#else
  constexpr int kLanes = 1;
  double x[kChains] = {};
  for (long r = 0; r < rounds; ++r) {
    for (auto& v : x) {
      v = v * 0.999999 + 0.5;
      asm volatile("" : "+m"(v));
    }
  }
#endif
  return 2.0 * kLanes * kChains * static_cast<double>(rounds);
}

}  // namespace native
