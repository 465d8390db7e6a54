#pragma once
/// What the benchmarks of sparse PCA share: the clock and the matrices.
#include <cstdint>
#include <ctime>

#include "core/random.hpp"
#include "linalg/blas.hpp"

namespace subspectra::bench {

/// Seconds of processor time of this thread.
inline double now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Independent N(0, 1).
inline Matrix gaussian(Index rows, Index cols, Random& random) {
  Matrix x(rows, cols);
  for (auto& e : x.reshaped()) e = random.normal();
  return x;
}
inline Matrix gaussian(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return gaussian(rows, cols, random);
}

/// Of the columns, divisor N.
inline Matrix covariance(Matrix x) {
  x.rowwise() -= x.colwise().mean().eval();
  Matrix s(x.cols(), x.cols());
  linalg::syrk(1.0 / static_cast<double>(x.rows()), linalg::Op::kTranspose, x, 0.0, s);
  return s;
}

}  // namespace subspectra::bench
