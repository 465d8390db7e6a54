/// Moments beside the least that any code must do with the same table in the same run: kDiagonal against one
/// pass over the memory, kFull against one DSYRK of the same size. One thread and all.
///     cmake --preset bench && cmake --build --preset bench && build/bench/bench_data_moments
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "core/random.hpp"
#include "data/moments.hpp"
#include "linalg/blas.hpp"

namespace {

using namespace subspectra;  // NOLINT(google-build-using-namespace)

/// Wall-clock time, or with one thread its processor time: what others do on a shared machine counts less in
/// it.
double now_s(int threads) {
  timespec now{};
  ::clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The shortest of several runs.
double shortest(int threads, const auto& work) {
  double best = 1e300;
  double total = 0.0;
  for (int run = 0; run < 10 || total < 2.0; ++run) {
    const double start = now_s(threads);
    work();
    const double s = now_s(threads) - start;
    best = std::min(best, s);
    total += s;
  }
  return best;
}

Dataset random_data(Index rows, Index features) {
  Random random(1);
  DatasetParts data;
  data.dense.resize(rows, features);
  for (auto& x : data.dense.reshaped()) x = random.uniform();
  data.labels = Labels{.name = "class", .classes = {"a", "b"}, .codes = {}};
  for (Index i = 0; i < rows; ++i) data.labels->codes.push_back(static_cast<int>(random.below(2)));
  return data;
}

void check(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "wrong answer: {}\n", what);
  std::exit(1);
}

void diagonal(Index rows, Index features) {
  const auto data = random_data(rows, features);
  const auto m = compute_moments(data, Moments::SecondOrder::kDiagonal);
  check(std::abs(m.within_variances().mean() + m.between_variances().mean() - 1.0 / 12.0) < 1e-3,
        "variances");
  volatile double sink = 0.0;
  const double pass = shortest(1, [&] { sink = data.values().packed().sum(); });
  fmt::print("kDiagonal {} x {}: one pass over the memory {:.1f} ms ({:.1f} GB/s)\n", rows, features,
             1e3 * pass, 8e-9 * static_cast<double>(data.values().packed().size()) / pass);
  for (const int threads : {1, 0}) {
    const double s = shortest(threads, [&] {
      sink = compute_moments(data, Moments::SecondOrder::kDiagonal, threads).total_weight();
    });
    fmt::print("  {:<12}{:8.1f} ms = {:.2f} passes\n", threads == 1 ? "one thread" : "all threads", 1e3 * s,
               s / pass);
  }
}

void full(Index rows, Index features) {
  using linalg::Op;
  const auto data = random_data(rows, features);
  Matrix product(features, features);
  const double syrk =
      shortest(1, [&] { linalg::syrk(1.0, Op::kTranspose, data.values().packed(), 0.0, product); });
  const double gemm = shortest(1, [&] {
    linalg::gemm(1.0, Op::kTranspose, data.values().packed(), Op::kNone, data.values().packed(), 0.0,
                 product);
  });
  const auto m = compute_moments(data, Moments::SecondOrder::kFull);
  const Vector mean = data.values().packed().colwise().mean();
  const Matrix factor = m.between_factor();
  const Matrix sum = m.within_covariance() + factor * factor.transpose() + mean * mean.transpose();
  check((sum - product / static_cast<double>(rows)).cwiseAbs().maxCoeff() < 1e-12, "covariance");
  fmt::print("kFull {} x {}: one DSYRK {:.1f} ms, one DGEMM {:.1f} ms\n", rows, features, 1e3 * syrk,
             1e3 * gemm);
  volatile double sink = 0.0;
  for (const int threads : {1, 0}) {
    const double s = shortest(
        threads, [&] { sink = compute_moments(data, Moments::SecondOrder::kFull, threads).total_weight(); });
    fmt::print("  {:<12}{:8.1f} ms = {:.2f} DSYRK = {:.2f} DGEMM\n",
               threads == 1 ? "one thread" : "all threads", 1e3 * s, s / syrk, s / gemm);
  }
}

}  // namespace

int main() {
  diagonal(200, 54613);
  diagonal(100000, 100);
  full(2000, 1000);
  full(100000, 60);
  return 0;
}
