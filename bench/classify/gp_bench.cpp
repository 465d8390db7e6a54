/// The Gaussian process beside a Cholesky factor and a DGEMM of the same size: one Laplace gradient, one EP
/// sweep with its refresh, one EP gradient, and what all length-scales of ARD add.
///
///     build/bench/bench_classify_gp [N ...]          (default 500 1000 2000)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "classify/gp.hpp"
#include "core/random.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiled.hpp"

using namespace subspectra;

namespace {

/// The shortest of three runs, in seconds by the clock.
template <class Work>
double shortest(Work work) {
  double best = kInfinity;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void measure(Index n) {
  constexpr Index kP = 64;
  constexpr int kThreads = 1;
  Random random(1);
  Matrix x(n, kP);
  Vector y(n);
  for (Index i = 0; i < n; ++i) {
    y[i] = i % 2 == 0 ? 1.0 : -1.0;
    for (Index d = 0; d < kP; ++d) x(i, d) = random.normal() + (d < 5 ? 0.8 * y[i] : 0.0);
  }
  Matrix a = x * x.transpose();
  a.diagonal().array() += static_cast<double>(n);
  Matrix l;
  const double cholesky = shortest([&] {
    l = a;
    if (!linalg::cholesky_tiled(l, kThreads)) fmt::print("no factor\n");
  });
  Matrix c(n, n);
  const double gemm =
      shortest([&] { linalg::gemm(1.0, linalg::Op::kNone, a, linalg::Op::kNone, l, 0.0, c); });
  fmt::print("N = {}, p = {}, one thread: Cholesky {:.4f} s, DGEMM {:.4f} s\n", n, kP, cholesky, gemm);

  const GpKernel common{.lengthscales = Vector::Constant(1, 11.0), .signal = 2.0};
  const GpKernel ard{.lengthscales = Vector::Constant(kP, 11.0), .signal = 2.0};
  GpEvidence found;
  const double laplace =
      shortest([&] { found = gp_evidence(x, y, common, GpApproximation::kLaplace, kThreads); });
  const auto steps = static_cast<double>(found.posterior.iterations);
  fmt::print(
      "  Laplace gradient, {:.0f} Newton steps from nothing: {:.4f} s = {:.2f} Cholesky factors (their flops: {:.0f})\n",
      steps, laplace, laplace / cholesky, steps + 4.0);
  const double each = shortest([&] { found = gp_evidence(x, y, ard, GpApproximation::kLaplace, kThreads); });
  fmt::print("  the same, {} length-scales: {:.4f} s, {:.2f} times\n", kP, each, each / laplace);
  const double ep = shortest([&] { found = gp_evidence(x, y, common, GpApproximation::kEp, kThreads); });
  const auto sweeps = static_cast<double>(found.posterior.iterations);
  // Flops: sweeps x (1/3 + 7/3) N^3, the first refresh 7/3 N^3, the inverse N^3; a DGEMM has 2 N^3.
  const double dgemms = (sweeps * 8.0 / 3.0 + 10.0 / 3.0) / 2.0;
  fmt::print(
      "  EP gradient, {:.0f} sweeps from nothing: {:.4f} s = {:.2f} DGEMMs, {:.2f} times those of its flops ({:.2f}); a sweep {:.2f} DGEMMs\n",
      sweeps, ep, ep / gemm, ep / gemm / dgemms, dgemms, ep / gemm / dgemms * 4.0 / 3.0);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Index> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::stol(argv[i]));
  if (sizes.empty()) sizes = {500, 1000, 2000};
  for (const Index n : sizes) measure(n);
  return 0;
}
