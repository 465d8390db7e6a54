#include "search/scan_kernels.hpp"

// Under sanitizers (whose runtime is not up when the loader resolves clones) and other compilers: the
// portable build alone.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SUBSPECTRA_CLONES
#endif

namespace subspectra::search::kernels {

SUBSPECTRA_CLONES
void gather_rank_one(const double* __restrict a, std::int64_t lead, const std::int32_t* __restrict at,
                     std::int64_t count, const double* __restrict q, double scale, double* __restrict packed,
                     double* __restrict out, std::int64_t out_lead) {
  for (std::int64_t j = 0; j < count; ++j) packed[j] = q[at[j]];
  for (std::int64_t i = 0; i < count; ++i) {
    const double* __restrict row = a + at[i] * lead;
    double* __restrict to = out + i * out_lead;
    const double factor = packed[i] * scale;
    for (std::int64_t j = 0; j < count; ++j) to[j] = row[at[j]] - factor * packed[j];
  }
}

SUBSPECTRA_CLONES
void gather(const double* __restrict a, std::int64_t lead, const std::int32_t* __restrict at,
            std::int64_t count, double* __restrict out, std::int64_t out_lead) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double* __restrict row = a + at[i] * lead;
    double* __restrict to = out + i * out_lead;
    for (std::int64_t j = 0; j < count; ++j) to[j] = row[at[j]];
  }
}

SUBSPECTRA_CLONES
void pivot(double* __restrict a, std::int64_t lead, std::int64_t p, std::int64_t count) {
  const double* __restrict q = a + p * lead;
  const double inverse = 1.0 / q[p];
  for (std::int64_t i = p + 1; i < count; ++i) {
    double* __restrict row = a + i * lead;
    const double factor = q[i] * inverse;
    for (std::int64_t j = p + 1; j < count; ++j) row[j] -= factor * q[j];
  }
}

SUBSPECTRA_CLONES
void subtract(double* __restrict x, const double* __restrict q, double factor, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] -= factor * q[i];
}

SUBSPECTRA_CLONES
void drop_diagonal(const double* __restrict diag, const double* __restrict q, double inverse,
                   double* __restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = diag[i] - q[i] * q[i] * inverse;
}

SUBSPECTRA_CLONES
double best_pair_margin(const double* __restrict g, const double* __restrict s, const double* __restrict xs,
                        const double* __restrict dot, double s_i, double x_i, double limit, double sign,
                        std::int64_t count) {
  double best = -1.0;
#ifndef __clang__  // which vectorizes it unasked, and knows no such pragma
#pragma GCC ivdep
#endif
  for (std::int64_t j = 0; j < count; ++j) {
    const double rho = g[j] * s[j] * s_i;
    const double margin = sign * ((x_i + xs[j] - 2.0 * rho * dot[j]) - limit * (1.0 - rho * rho));
    best = margin > best ? margin : best;
  }
  return best;
}

SUBSPECTRA_CLONES
double best_determinant_margin(const double* __restrict g, const double* __restrict s,
                               const double* __restrict h, const double* __restrict dot, double s_i,
                               double h_i, double sign, double theta, std::int64_t count) {
  double best = -1.0;
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (std::int64_t j = 0; j < count; ++j) {
    const double rho = g[j] * s[j] * s_i;
    const double beside = rho + dot[j];
    const double margin = sign * (h_i * h[j] - beside * beside) - theta * (1.0 - rho * rho);
    best = margin > best ? margin : best;
  }
  return best;
}

}  // namespace subspectra::search::kernels
