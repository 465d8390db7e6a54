/// Greedy search beside the least that any code must do, in the same process: dense passes against DGEMM of
/// the same size, searches from data against passes of X'x.
///     cmake --preset bench && cmake --build --preset bench && build/bench/bench_search_greedy [CASE...]
/// Cases: two-class many-class data backward wide sparse (default: all but wide).
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "linalg/tiled.hpp"
#include "search/greedy.hpp"
#include "spectral/renormalize.hpp"

namespace {

using namespace subspectra;  // NOLINT(google-build-using-namespace)
using linalg::Op;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of processor time for one thread, so that other work on the machine does not count; of the clock
/// for several.
double cost_now_s(int threads) {
  if (threads != 1) return now_s();
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double shortest(int runs, int threads, const auto& work) {
  double best = 1e300;
  for (int run = 0; run < runs; ++run) {
    const double start = cost_now_s(threads);
    work();
    best = std::min(best, cost_now_s(threads) - start);
  }
  return best;
}

double peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void check(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "wrong answer: {}\n", what);
  std::exit(1);
}

/// Covariance of 2 n random walks with noise, and r mean vectors: neighbours are correlated, as pixels are.
std::unique_ptr<Pencil> random_pencil(Index n, Index r) {
  Random random(7);
  Matrix x(2 * n, n);
  for (Index i = 0; i < x.rows(); ++i) {
    double walk = 0.0;
    for (Index j = 0; j < n; ++j) {
      walk = 0.95 * walk + random.normal();
      x(i, j) = walk + 0.5 * random.normal();
    }
  }
  Matrix b(n, n);
  linalg::syrk(1.0 / static_cast<double>(x.rows()), Op::kTranspose, x, 0.0, b);
  Matrix m(n, r);
  for (auto& value : m.reshaped()) value = 0.1 * random.normal();
  return factor_pencil(std::move(m), std::move(b));
}

SearchUnits all_units(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  return SearchUnits::singles(all, {});
}

/// DGEMM and the passes in turn, the least of each: a quiet moment of the machine serves both alike.
void dual_pass_beside_gemm(Index n, Index r, double bar) {
  const auto pencil = random_pencil(n, r);
  const auto units = all_units(n);
  Random random(3);
  Matrix a(n, n), c(n, n);
  for (auto& value : a.reshaped()) value = random.uniform();
  DualPass first;
  for (const int threads : {1, 0}) {
    const GreedyOptions options{.threads = threads};
    double gemm = 1e300, forward = 1e300, backward = 1e300, both = 1e300;
    for (int run = 0; run < (n > 3000 ? 3 : 8); ++run) {
      const auto least = [&](double& cost, const auto& work) {
        cost = std::min(cost, shortest(1, threads, work));
      };
      DualPass apart, together;
      least(gemm, [&] { linalg::gemm_tiled(1.0, Op::kNone, a, a, 0.0, c, threads); });
      least(forward, [&] { apart.forward = forward_pass(*pencil, units, options, {}); });
      least(backward, [&] { apart.backward = backward_pass(*pencil, units, options, {}); });
      least(gemm, [&] { linalg::gemm_tiled(1.0, Op::kNone, a, a, 0.0, c, threads); });
      least(both, [&] { together = dual_pass(*pencil, units, options, {}); });
      if (first.forward.order.empty()) first = apart;
      for (const auto& found : {apart, together}) {
        check(found.forward.order == first.forward.order, "the threads changed the forward order");
        check(found.backward.order == first.backward.order, "the threads changed the backward order");
      }
    }
    fmt::print(
        "  {:<12} DGEMM {:8.1f} ms ({:.0f} GFLOP/s); dual pass {:.2f} DGEMMs (bar {:.1f}); forward alone {:.2f}, backward alone {:.2f}\n",
        threads == 1 ? "one thread" : "all threads", 1e3 * gemm,
        2e-9 * std::pow(static_cast<double>(n), 3) / gemm, both / gemm, bar, forward / gemm, backward / gemm);
  }
}

Dataset random_table(Index rows, Index features, int classes, double shift) {
  Random random(11);
  DatasetParts data;
  data.source = "random";
  data.names = FeatureNames(features);
  data.dense.resize(rows, features);
  for (auto& x : data.dense.reshaped()) x = random.normal();
  data.labels = Labels{.name = "class", .classes = {}, .codes = {}};
  for (int c = 0; c < classes; ++c) data.labels->classes.push_back(fmt::format("c{}", c));
  for (Index i = 0; i < rows; ++i) {
    data.labels->codes.push_back(static_cast<int>(i % classes));
    for (Index j = 0; j < 30; ++j)
      data.dense(i, j * 97 % features) += shift * static_cast<double>(i % classes);
  }
  return data;
}

void forward_from_data(Index rows, Index features, Index k) {
  const double before = peak_bytes();
  const auto data = random_table(rows, features, 2, 0.3);
  const auto units = all_units(features);
  const double with_data = peak_bytes();
  const double x_bytes = 8.0 * static_cast<double>(data.values().packed().size());
  Vector v = Vector::Ones(rows), out(features);
  for (const int threads : {1, 0}) {
    const double pass =
        shortest(10, threads, [&] { linalg::gemv_transposed(data.values().packed(), v, out, threads); });
    const double search = shortest(3, threads, [&] {
      const auto pencil = lda_pencil(data, 0.01, threads);
      const auto found = forward_pass(*pencil, units, {.most = k, .threads = threads}, {});
      check(found.most == k, "forward from data");
    });
    fmt::print("  {:<12} X'x {:.1f} ms ({:.1f} GB/s); search {:.0f} ms = {:.2f} x {} passes (bar 2.5)\n",
               threads == 1 ? "one thread" : "all threads", 1e3 * pass, 1e-9 * x_bytes / pass, 1e3 * search,
               search / (pass * static_cast<double>(k)), k);
  }
  fmt::print(
      "  peak memory beyond the table: {:.0f} MB; 3 p k doubles are {:.0f} MB; the table {:.0f} MB ({:.0f} MB measured)\n",
      1e-6 * (peak_bytes() - with_data), 24e-6 * static_cast<double>(features * k), 1e-6 * x_bytes,
      1e-6 * (with_data - before));
}

void backward_from_data(Index rows, Index features, double limit_s) {
  const auto data = random_table(rows, features, 2, 0.3);
  const auto pencil = lda_pencil(data, 0.05, 0);
  const auto units = all_units(features);
  const RunControl control({}, limit_s);
  const double start = now_s();
  const auto found = backward_pass(*pencil, units, {}, control);
  fmt::print("  {} x {}: {:.1f} s, down to k = {} ({})\n", rows, features, now_s() - start, found.least,
             status_name(found.status));
}

/// Word counts with Zipf frequencies: about `words` of them a row.
Dataset text_table(Index rows, Index features, Index words) {
  Random random(5);
  std::vector<Eigen::Triplet<double>> entries;
  const double scale = std::log(static_cast<double>(features));
  DatasetParts data;
  data.source = "text";
  data.is_sparse = true;
  data.names = FeatureNames(features);
  data.labels = Labels{.name = "class", .classes = {"a", "b"}, .codes = {}};
  for (Index i = 0; i < rows; ++i) {
    const int label = static_cast<int>(i % 2);
    data.labels->codes.push_back(label);
    for (Index w = 0; w < words; ++w) {
      auto word = static_cast<Index>(std::exp(random.uniform() * scale)) - 1;  // density 1/rank
      if (label == 1 && random.uniform() < 0.02) word = 1000 + static_cast<Index>(random.below(20));
      entries.emplace_back(static_cast<int>(i), static_cast<int>(std::min(word, features - 1)), 1.0);
    }
  }
  SparseMatrix x(rows, features);
  x.setFromTriplets(entries.begin(), entries.end());
  x.makeCompressed();
  data.sparse.swap(x);
  return data;
}

void forward_sparse(Index rows, Index features, Index k) {
  const auto data = text_table(rows, features, 100);
  const auto units = all_units(features);
  const double before = peak_bytes();
  const double start = now_s();
  const auto pencil = lda_pencil(data, 1e-3, 0);
  const auto found = forward_pass(*pencil, units, {.most = k}, {});
  Index stored = 0;
  for (Index j = 0; j < features; ++j) stored += data.values().entries(j);
  const double work = static_cast<double>(stored) * static_cast<double>(k) +
                      0.5 * static_cast<double>(features) * static_cast<double>(k * k);
  fmt::print(
      "  {} x {}, {} stored: {:.2f} s, {:.2f} ns per (nonzeros k + p k^2/2), peak memory beyond the table {:.0f} MB (p k doubles: {:.0f} MB), k = {}\n",
      rows, features, stored, now_s() - start, 1e9 * (now_s() - start) / work, 1e-6 * (peak_bytes() - before),
      8e-6 * static_cast<double>(features * k), found.most);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases(argv + 1, argv + argc);
  if (cases.empty()) cases = {"data", "sparse", "backward", "many-class", "two-class"};
  const auto wanted = [&](const char* name) {
    return std::find(cases.begin(), cases.end(), name) != cases.end();
  };
  if (wanted("data")) {
    fmt::print("forward from data, 200 x 54,613, k = 50\n");
    forward_from_data(200, 54613, 50);
  }
  if (wanted("sparse")) {
    fmt::print("forward, sparse text, k = 20\n");
    forward_sparse(20000, 250000, 20);
    forward_sparse(20000, 1000000, 20);
  }
  if (wanted("backward")) {
    fmt::print("backward from data\n");
    backward_from_data(200, 5000, kInfinity);
  }
  if (wanted("wide")) {
    fmt::print("backward from data, wide\n");
    backward_from_data(100, 54613, 3600.0);
  }
  if (wanted("many-class")) {
    fmt::print("10 classes (r = 9), dual pass, all k, dense n = 1024\n");
    dual_pass_beside_gemm(1024, 9, 4.0);
  }
  if (wanted("two-class")) {
    fmt::print("2 classes, dual pass, all k, dense n = 2048\n");
    dual_pass_beside_gemm(2048, 1, 2.0);
    fmt::print("2 classes, dual pass, all k, dense n = 4096\n");
    dual_pass_beside_gemm(4096, 1, 1.6);
  }
  return 0;
}
