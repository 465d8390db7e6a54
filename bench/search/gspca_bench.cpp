/// Greedy sparse PCA beside one DGEMM of the same size and threads: the dual pass (forward and backward,
/// every size) on covariance matrices, and the forward pass from a wide table.
///     cmake --preset bench && cmake --build --preset bench --target bench_search_gspca &&
///     build/bench/bench_search_gspca
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string_view>

#include <subspectra/run_control.hpp>
#include "core/random.hpp"
#include "linalg/tiled.hpp"
#include "search/greedy.hpp"

namespace {

using namespace subspectra;  // NOLINT(google-build-using-namespace)

/// Wall-clock time, or with one thread its processor time: what others do on a shared machine counts less in
/// it.
double now_s(int threads) {
  timespec now{};
  ::clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Matrix gaussian(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix x(rows, cols);
  for (auto& e : x.reshaped()) e = random.normal();
  return x;
}

/// Sample covariance of 2n Gaussian rows whose spectrum is flat, or falls as 1/(1 + j/8) in a random basis.
Matrix covariance(Index n, bool decaying) {
  Matrix x = gaussian(2 * n, n, 1);
  if (decaying) {
    for (Index j = 0; j < n; ++j) x.col(j) /= std::sqrt(1.0 + static_cast<double>(j) / 8.0);
    const Matrix mix = gaussian(n, n, 2) / std::sqrt(static_cast<double>(n));
    Matrix mixed(x.rows(), n);
    linalg::gemm(1.0, linalg::Op::kNone, x, linalg::Op::kNone, mix, 0.0, mixed);
    x = mixed;
  }
  Matrix s(n, n);
  linalg::syrk(1.0 / static_cast<double>(x.rows()), linalg::Op::kTranspose, x, 0.0, s);
  return s;
}

double gemm_s(Index n, int threads) {
  const Matrix a = gaussian(n, n, 3), b = gaussian(n, n, 4);
  Matrix c(n, n);
  double best = 1e300;
  for (int run = 0; run < 8; ++run) {
    const double start = now_s(threads);
    linalg::gemm_tiled(1.0, linalg::Op::kNone, a, b, 0.0, c, threads);
    best = std::min(best, now_s(threads) - start);
  }
  return best;
}

SearchUnits all_single(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  return SearchUnits::singles(all, {});
}

double dual_pass(Index n, bool decaying, int threads) {
  const auto pencil = covariance_pencil(covariance(n, decaying));
  const auto units = all_single(n);
  const RunControl control;
  const GreedyOptions options{.threads = threads};
  const double product = gemm_s(n, threads);
  const double start = now_s(threads);
  const auto forward = forward_variance_pass(*pencil, units, options, control);
  const double middle = now_s(threads);
  RootLosses root;
  const auto backward = backward_variance_pass(*pencil, units, options, control, &root);
  const double end = now_s(threads);
  if (forward.most != n || backward.least != 1) {
    fmt::print(stderr, "wrong answer: a pass is not complete\n");
    std::exit(1);
  }
  fmt::print(
      "  n = {:<5} {:<9} {} thread(s): DGEMM {:6.1f} ms, forward {:6.2f} s = {:5.1f} DGEMM, backward {:6.2f} s = {:5.1f} DGEMM, together {:5.1f}\n",
      n, decaying ? "decaying" : "flat", threads, 1e3 * product, middle - start, (middle - start) / product,
      end - middle, (end - middle) / product, (end - start) / product);
  return end - start;
}

double resident_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void wide(int threads) {
  DatasetParts data;
  data.source = "wide";
  data.dense = gaussian(200, 50000, 5);
  for (Index j = 0; j < 400; ++j) data.dense.col(j) += 0.5 * data.dense.col(49999 - j % 5);
  data.names = FeatureNames(50000);
  const RunControl control;
  const auto units = all_single(50000);
  const double before = resident_mb(), start = now_s(threads);
  const auto pencil = pca_pencil(std::move(data), threads);
  const double middle = now_s(threads);
  const auto pass = forward_variance_pass(*pencil, units, {.most = 30, .threads = threads}, control);
  const double end = now_s(threads);
  fmt::print(
      "  {} thread(s): pencil {:.2f} s, forward k = {}: {:.2f} s, {:.1f} ms a step, memory +{:.0f} MB\n",
      threads, middle - start, pass.most, end - middle, 1e3 * (end - middle) / 30.0, resident_mb() - before);
}

/// Backward from more features than rows: in the space of the rows until as few remain.
void wide_backward(Index rows, Index features, int threads) {
  DatasetParts data;
  data.source = "wide";
  data.dense = gaussian(rows, features, 6);
  data.names = FeatureNames(features);
  const RunControl control;
  const auto pencil = pca_pencil(std::move(data), threads);
  const double start = now_s(threads);
  const auto pass = backward_variance_pass(*pencil, all_single(features), {.threads = threads}, control);
  const double end = now_s(threads);
  fmt::print("  {} x {}, {} thread(s): backward to k = {}: {:.2f} s, {:.2f} ms a step\n", rows, features,
             threads, pass.least, end - start, 1e3 * (end - start) / static_cast<double>(features));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  if (only != "dual") {
    fmt::print("Forward from a table of 200 x 50,000\n");
    for (const int threads : {1, 2}) wide(threads);
    fmt::print("Backward from tables\n");
    wide_backward(200, 2000, 1);
    wide_backward(200, 8000, 1);
  }
  if (only == "wide") return 0;
  fmt::print("Dual pass, every k; at most 80 DGEMM at n = 1024, growth from 512 at most 3.3\n");
  for (const int threads : {1, 2}) {
    for (const bool decaying : {true, false}) {
      const double half = dual_pass(512, decaying, threads);
      const double whole = dual_pass(1024, decaying, threads);
      fmt::print("    growth n^{:.2f}\n", std::log2(whole / half));
    }
  }
  return 0;
}
