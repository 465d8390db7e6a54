#include "search/sweep_kernels.hpp"

#include <cstddef>

#include "core/wide_vectors.hpp"

namespace subspectra::search::kernels {
namespace {

/// What a register holds, of SSE2, AVX2 and AVX-512.
using Two = double __attribute__((vector_size(16), aligned(8), may_alias));
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using Eight = double __attribute__((vector_size(64), aligned(8), may_alias));

#define SWEEP_INLINE [[gnu::always_inline]] inline

template <class V>
SWEEP_INLINE const V& at(const double* x) {
  return *reinterpret_cast<const V*>(x);
}
template <class V>
constexpr int kWidth = static_cast<int>(sizeof(V) / sizeof(double));

template <class V>
SWEEP_INLINE double largest_of(const V& x) {
  double numbers[kWidth<V>];  // a copy: the accumulator itself stays in its register
  __builtin_memcpy(numbers, &x, sizeof numbers);
  double largest = numbers[0];
  for (int i = 1; i < kWidth<V>; ++i) largest = numbers[i] > largest ? numbers[i] : largest;
  return largest;
}

constexpr double kLowest = -1.7e308;

template <class V>
SWEEP_INLINE void definite_body(const double* rows, std::int64_t lead, const double* x, const double* d,
                                const SweepFactors& f, std::int64_t count, double* best) {
  V m0, m1, m2, m3;
  m0 = m1 = m2 = m3 = V{} + kLowest;
  for (std::int64_t l = 0; l < count; l += kWidth<V>) {
    const V xl = at<V>(x + l), dl = at<V>(d + l);
    const V b0 = at<V>(rows + l) - f.w1[0] * xl, b1 = at<V>(rows + lead + l) - f.w1[1] * xl,
            b2 = at<V>(rows + 2 * lead + l) - f.w1[2] * xl, b3 = at<V>(rows + 3 * lead + l) - f.w1[3] * xl;
    const V v0 = b0 * b0 - f.p[0] * dl, v1 = b1 * b1 - f.p[1] * dl, v2 = b2 * b2 - f.p[2] * dl,
            v3 = b3 * b3 - f.p[3] * dl;
    m0 = v0 > m0 ? v0 : m0;
    m1 = v1 > m1 ? v1 : m1;
    m2 = v2 > m2 ? v2 : m2;
    m3 = v3 > m3 ? v3 : m3;
  }
  best[0] = largest_of(m0);
  best[1] = largest_of(m1);
  best[2] = largest_of(m2);
  best[3] = largest_of(m3);
}

template <class V>
SWEEP_INLINE void ratio_body(const double* rows1, const double* rows2, std::int64_t lead1, std::int64_t lead2,
                             const double* x1, const double* x2, const double* d1, const double* d2,
                             const SweepFactors& f, std::int64_t count, double* best) {
  for (int r = 0; r < kSweepRows; r += 2) {
    const double *b_row = rows1 + r * lead1, *g_row = rows2 + r * lead2;
    const double p0 = f.p[r] * f.s[r], p1 = f.p[r + 1] * f.s[r + 1];
    V m0, m1;
    m0 = m1 = V{} + kLowest;
    for (std::int64_t l = 0; l < count; l += kWidth<V>) {
      const V x1l = at<V>(x1 + l), x2l = at<V>(x2 + l), d1l = at<V>(d1 + l), d2l = at<V>(d2 + l);
      const V b0 = at<V>(b_row + l) - f.w1[r] * x1l, b1 = at<V>(b_row + lead1 + l) - f.w1[r + 1] * x1l,
              g0 = at<V>(g_row + l) - f.w2[r] * x2l, g1 = at<V>(g_row + lead2 + l) - f.w2[r + 1] * x2l;
      const V v0 = (d2l - f.s[r] * d1l) - (f.q[r] * g0) * g0 + (p0 * b0) * b0,
              v1 = (d2l - f.s[r + 1] * d1l) - (f.q[r + 1] * g1) * g1 + (p1 * b1) * b1;
      m0 = v0 > m0 ? v0 : m0;
      m1 = v1 > m1 ? v1 : m1;
    }
    best[r] = largest_of(m0);
    best[r + 1] = largest_of(m1);
  }
}

template <class V>
SWEEP_INLINE void trace_body(const double* rows1, const double* rows2, std::int64_t lead1, std::int64_t lead2,
                             const double* x1, const double* x2, const double* d1, const double* d2,
                             const SweepFactors& f, std::int64_t count, double* best) {
  for (int r = 0; r < kSweepRows; r += 2) {
    const double *b_row = rows1 + r * lead1, *a_row = rows2 + r * lead2;
    V m0, m1;
    m0 = m1 = V{} + kLowest;
    for (std::int64_t l = 0; l < count; l += kWidth<V>) {
      const V x1l = at<V>(x1 + l), x2l = at<V>(x2 + l), d1l = at<V>(d1 + l), d2l = at<V>(d2 + l);
      const V b0 = at<V>(b_row + l) - f.w1[r] * x1l, b1 = at<V>(b_row + lead1 + l) - f.w1[r + 1] * x1l,
              a0 = at<V>(a_row + l) - f.w1[r] * x2l - f.w2[r] * x1l,
              a1 = at<V>(a_row + lead2 + l) - f.w1[r + 1] * x2l - f.w2[r + 1] * x1l;
      const V v0 = (d2l - f.s[r] * d1l) + b0 * (f.p[r] * b0 - f.q[r] * a0),
              v1 = (d2l - f.s[r + 1] * d1l) + b1 * (f.p[r + 1] * b1 - f.q[r + 1] * a1);
      m0 = v0 > m0 ? v0 : m0;
      m1 = v1 > m1 ? v1 : m1;
    }
    best[r] = largest_of(m0);
    best[r + 1] = largest_of(m1);
  }
}

template <class V>
SWEEP_INLINE double definite_pairs_body(const double* h, const double* d, double p, std::int64_t count) {
  V m = V{} + kLowest;
  for (std::int64_t l = 0; l < count; l += kWidth<V>) {
    const V b = at<V>(h + l), v = b * b - p * at<V>(d + l);
    m = v > m ? v : m;
  }
  return largest_of(m);
}

template <class V>
SWEEP_INLINE double ratio_pairs_body(const double* b, const double* g, const double* d1, const double* d2,
                                     double p, double q, double s, std::int64_t count) {
  V m = V{} + kLowest;
  for (std::int64_t l = 0; l < count; l += kWidth<V>) {
    const V bl = at<V>(b + l), gl = at<V>(g + l);
    const V v = (at<V>(d2 + l) - q * gl * gl) - s * (at<V>(d1 + l) - p * bl * bl);
    m = v > m ? v : m;
  }
  return largest_of(m);
}

template <class V>
SWEEP_INLINE double trace_pairs_body(const double* b, const double* a, const double* d1, const double* d2,
                                     double p, double q, double s, std::int64_t count) {
  V m = V{} + kLowest;
  for (std::int64_t l = 0; l < count; l += kWidth<V>) {
    const V bl = at<V>(b + l), al = at<V>(a + l);
    const V v = (at<V>(d2 + l) - s * at<V>(d1 + l)) + bl * (p * bl - q * al);
    m = v > m ? v : m;
  }
  return largest_of(m);
}

template <class V>
SWEEP_INLINE void add_body(const double* x, double factor, double* out, std::int64_t count) {
  for (std::int64_t l = 0; l < count; l += kWidth<V>)
    *reinterpret_cast<V*>(out + l) = at<V>(out + l) + factor * at<V>(x + l);
}

// One set of functions for an instruction set: the bodies above are compiled anew in each.
#define SWEEP_INSTANCE(SET, NAME, V, TARGET)                                                                \
  TARGET void definite_##SET(const double* rows, std::int64_t lead, const double* x, const double* d,       \
                             const SweepFactors& f, std::int64_t count, double* best) {                     \
    definite_body<V>(rows, lead, x, d, f, count, best);                                                     \
  }                                                                                                         \
  TARGET void ratio_##SET(const double* rows1, const double* rows2, std::int64_t lead1, std::int64_t lead2, \
                          const double* x1, const double* x2, const double* d1, const double* d2,           \
                          const SweepFactors& f, std::int64_t count, double* best) {                        \
    ratio_body<V>(rows1, rows2, lead1, lead2, x1, x2, d1, d2, f, count, best);                              \
  }                                                                                                         \
  TARGET void trace_##SET(const double* rows1, const double* rows2, std::int64_t lead1, std::int64_t lead2, \
                          const double* x1, const double* x2, const double* d1, const double* d2,           \
                          const SweepFactors& f, std::int64_t count, double* best) {                        \
    trace_body<V>(rows1, rows2, lead1, lead2, x1, x2, d1, d2, f, count, best);                              \
  }                                                                                                         \
  TARGET double definite_pairs_##SET(const double* h, const double* d, double p, std::int64_t count) {      \
    return definite_pairs_body<V>(h, d, p, count);                                                          \
  }                                                                                                         \
  TARGET double ratio_pairs_##SET(const double* b, const double* g, const double* d1, const double* d2,     \
                                  double p, double q, double s, std::int64_t count) {                       \
    return ratio_pairs_body<V>(b, g, d1, d2, p, q, s, count);                                               \
  }                                                                                                         \
  TARGET double trace_pairs_##SET(const double* b, const double* a, const double* d1, const double* d2,     \
                                  double p, double q, double s, std::int64_t count) {                       \
    return trace_pairs_body<V>(b, a, d1, d2, p, q, s, count);                                               \
  }                                                                                                         \
  TARGET void add_##SET(const double* x, double factor, double* out, std::int64_t count) {                  \
    add_body<V>(x, factor, out, count);                                                                     \
  }                                                                                                         \
  constexpr SweepKernels k_##SET = {NAME,                                                                   \
                                    definite_##SET,                                                         \
                                    ratio_##SET,                                                            \
                                    trace_##SET,                                                            \
                                    definite_pairs_##SET,                                                   \
                                    ratio_pairs_##SET,                                                      \
                                    trace_pairs_##SET,                                                      \
                                    add_##SET};

SWEEP_INSTANCE(plain, "baseline", Two, )
#if defined(__x86_64__)
SWEEP_INSTANCE(avx2, "AVX2", Four, [[gnu::target("avx2,fma")]])
SWEEP_INSTANCE(avx512, "AVX-512", Eight,
               [[gnu::target("avx512f,avx512dq,avx512vl,fma" SUBSPECTRA_WIDE_VECTORS)]])
#endif

}  // namespace

std::vector<const SweepKernels*> all_sweep_kernels() {
  std::vector<const SweepKernels*> sets = {&k_plain};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&k_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
    sets.push_back(&k_avx512);
#endif
  return sets;
}

const SweepKernels& sweep_kernels() {
  static const SweepKernels& best = *all_sweep_kernels().back();
  return best;
}

}  // namespace subspectra::search::kernels
