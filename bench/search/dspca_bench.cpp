/// The semidefinite relaxation of sparse PCA: a step against one eigendecomposition of the same size, and how
/// many steps close the gap.
///     cmake --preset bench && cmake --build --preset bench --target bench_search_dspca &&
///     build/bench/bench_search_dspca [largest n]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "eigen/symmetric.hpp"
#include "search/dspca.hpp"
#include "sparse_pca_setup.hpp"

namespace {

using namespace subspectra;  // NOLINT(google-build-using-namespace)
using bench::now_s;

/// 2 n rows of noise and two factors.
Matrix two_factors(Index n) {
  Random random(static_cast<std::uint64_t>(n));
  Matrix x = bench::gaussian(2 * n, n, random);
  for (Index i = 0; i < x.rows(); ++i) {
    const double a = random.normal(), b = random.normal();
    x.row(i).head(n / 5).array() += 0.7 * a;
    x.row(i).tail(n / 3).array() += 0.4 * b;
  }
  return x;
}

void measure(Index n) {
  const Matrix s = bench::covariance(two_factors(n));
  const RunControl control;
  const Index repeats = std::max<Index>(3, 20000 / n);
  double start = now_s(), checksum = 0.0;
  for (Index i = 0; i < repeats; ++i) checksum += linalg::symmetric_eigen(s, true).values[0];
  const double eigen = (now_s() - start) / static_cast<double>(repeats);

  constexpr Index kSteps = 40;
  DspcaSolver all_steps(s, {.max_iterations = kSteps, .tolerance = 0.0});
  start = now_s();
  const auto some = all_steps.of_size(n / 5, control);
  const double step = (now_s() - start) / static_cast<double>(some.iterations);

  DspcaSolver solver(s, {});
  start = now_s();
  const auto solved = solver.of_size(n / 5, control);
  const double whole = now_s() - start;
  fmt::print(
      "  n = {:<5} eigendecomposition {:8.2f} ms, step {:8.2f} ms = {:4.2f} of it; k = {}: {} steps, {:.2f} s, gap {:.1e}{}\n",
      n, 1e3 * eigen, 1e3 * step, step / eigen, n / 5, solved.iterations, whole,
      (solved.dual - solved.primal) / solved.dual, checksum == -1.0 ? " " : "");
}

}  // namespace

int main(int argc, char** argv) {
  const long most = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 400;
  fmt::print("dspca, one thread, processor time\n");
  for (const Index n : {25, 50, 100, 200, 400, 800}) {
    if (n <= most) measure(n);
  }
  return 0;
}
