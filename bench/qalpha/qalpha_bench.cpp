/// Q-alpha against the number of features, against the algorithm that forms G, and on sparse text.
///
///     build/bench/bench_qalpha_qalpha [growth|explicit|text ...]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "eigen/lanczos.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "qalpha/qalpha.hpp"

using namespace subspectra;

namespace {

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

std::vector<Index> all_of(Index p) {
  std::vector<Index> all(static_cast<std::size_t>(p));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// Rows in `clusters` groups that differ in the first `relevant` features; the others are noise.
Dataset clusters(Index rows, Index p, Index relevant, Index groups) {
  DatasetParts data;
  data.dense.resize(rows, p);
  for (Index j = 0; j < p; ++j) {
    Random random(1, static_cast<std::uint64_t>(j));
    std::vector<double> centre;
    for (Index g = 0; g < groups; ++g) centre.push_back(random.uniform());
    for (Index i = 0; i < rows; ++i) {
      data.dense(i, j) = j < relevant ? centre[static_cast<std::size_t>(i % groups)] + 0.1 * random.normal()
                                      : random.normal();
    }
  }
  return data;
}

/// One design at every size; `relevant(p)` features of p share the groups.
template <class Relevant>
void growth_of(const char* design, Relevant relevant) {
  fmt::print("  {}:\n", design);
  std::vector<double> log_p, log_s;
  for (const Index p : {10000, 100000, 1000000}) {
    const Dataset data = clusters(100, p, relevant(p), 6);
    const double start = cpu_s();
    const FeatureRows rows(data, all_of(p), true, {}, 1);
    const auto fit = fit_qalpha(rows, QAlpha{.clusters = 6}, {}, RunControl());
    const double seconds = cpu_s() - start;
    log_p.push_back(std::log(static_cast<double>(p)));
    log_s.push_back(std::log(seconds));
    fmt::print(
        "    p = {:7}: {:8.3f} s, {} iterations{}, {} products, {} passes, {:.2f} ns an entry and pass", p,
        seconds, fit.trace.size(), fit.converged ? "" : " (the limit)", fit.products, fit.passes,
        1e9 * seconds / (100.0 * static_cast<double>(p) * static_cast<double>(fit.passes)));
    if (log_p.size() > 1) {
      const std::size_t i = log_p.size() - 1;
      fmt::print(", slope {:.2f}", (log_s[i] - log_s[i - 1]) / (log_p[i] - log_p[i - 1]));
    }
    fmt::print("\n");
  }
  // Sizes at equal distances: least squares joins the ends.
  fmt::print("    slope of the line through all three {:.2f}\n",
             (log_s.back() - log_s.front()) / (log_p.back() - log_p.front()));
}

void growth() {
  fmt::print("qalpha, 100 rows, k = 6, one thread, processor time (bars: slope 1.2, 200 passes)\n");
  growth_of("one feature in fifty is relevant", [](Index p) { return p / 50; });
  growth_of("200 features are relevant at every p", [](Index) { return Index{200}; });
}

/// Definition 2 with G formed, as well as that can be done: the Gram matrix of the features once, G from it
/// in one sweep a step into memory that is kept, and its leading eigenvector by the same Lanczos as ours.
Vector explicit_weights(const FeatureRows& rows, Index k, int steps) {
  const Index p = rows.features(), samples = rows.samples();
  const Matrix m = rows.tile(0, p);  // q x p
  Matrix inner = Matrix::Zero(p, p);
  linalg::syrk(1.0, linalg::Op::kTranspose, m, 0.0, inner);
  Matrix a(samples, samples);
  linalg::syrk(1.0, linalg::Op::kNone, m, 0.0, a);
  Matrix q = linalg::symmetric_eigen(a, true).vectors.rightCols(k);
  Vector alpha = Vector::Constant(p, 1.0 / std::sqrt(static_cast<double>(p)));
  Matrix y(p, k), g(p, p);
  Random random(1);
  for (int step = 0; step < steps; ++step) {
    linalg::gemm(1.0, linalg::Op::kTranspose, m, linalg::Op::kNone, q, 0.0, y);
    for (Index j = 0; j < p; ++j) {
      g.col(j) = y(j, 0) * y.col(0);
      for (Index c = 1; c < k; ++c) g.col(j) += y(j, c) * y.col(c);
      g.col(j).array() *= inner.col(j).array();
    }
    alpha = leading_eigenpairs(
                p, [&](const Vector& x, Vector& gx) { linalg::gemv(1.0, linalg::Op::kNone, g, x, 0.0, gx); },
                alpha, {.least_products = 2, .threads = 1}, random)
                .vectors.col(0);
    if (alpha.sum() < 0.0) alpha = -alpha;
    Matrix z(samples, k);
    const Matrix weighted = alpha.asDiagonal() * y;
    linalg::gemm(1.0, linalg::Op::kNone, m, linalg::Op::kNone, weighted, 0.0, z);
    q = z;
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < j; ++i) q.col(j) -= q.col(i).dot(q.col(j)) * q.col(i);
      q.col(j).normalize();
    }
  }
  return alpha;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void against_explicit() {
  constexpr Index kP = 7129, kQ = 72, kK = 2;
  constexpr int kSteps = 5, kRounds = 7;
  const Dataset data = clusters(kQ, kP, 100, 2);
  // In turn, the same number of times: a fit of milliseconds depends on what else the machine does.
  std::vector<double> ours, theirs, ratios;
  double difference = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    double start = cpu_s();
    const FeatureRows rows(data, all_of(kP), true, {}, 1);
    const auto fit = fit_qalpha(rows, QAlpha{.clusters = kK, .max_iterations = kSteps, .tolerance = 0.0}, {},
                                RunControl());
    ours.push_back(cpu_s() - start);
    start = cpu_s();
    const Vector alpha = explicit_weights(rows, kK, kSteps);
    theirs.push_back(cpu_s() - start);
    ratios.push_back(theirs.back() / ours.back());
    difference = std::max(difference, (alpha - fit.weights).cwiseAbs().maxCoeff());
  }
  fmt::print(
      "qalpha, {} x {}, k = {}, {} steps, medians of {} rounds: {:.3f} s; with G formed {:.2f} s, {:.0f} times ({:.0f} to {:.0f}; bar 100); largest difference of the weights {:.1e}\n",
      kQ, kP, kK, kSteps, kRounds, median(ours), median(theirs), median(ratios),
      *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
      difference);
}

/// Rows of 100 words each, word w with a frequency of 1/w, in 4 topics that favour words of their own.
Dataset text(Index documents, Index words) {
  constexpr Index kPerRow = 100, kTopics = 4;
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(static_cast<std::size_t>(documents * kPerRow));
  for (Index i = 0; i < documents; ++i) {
    Random random(3, static_cast<std::uint64_t>(i));
    std::vector<Index> used;
    while (static_cast<Index>(used.size()) < kPerRow) {
      // 1/w on 1..words: w = words^u.
      auto word = static_cast<Index>(std::pow(static_cast<double>(words), random.uniform())) - 1;
      if (word >= 1000 && word < 5000 && random.uniform() < 0.5)
        word = word / kTopics * kTopics + i % kTopics;
      if (std::find(used.begin(), used.end(), word) == used.end()) used.push_back(word);
    }
    for (const Index word : used)
      entries.emplace_back(static_cast<int>(i), static_cast<int>(word),
                           1.0 + std::floor(3.0 * random.uniform()));
  }
  DatasetParts data;
  data.is_sparse = true;
  data.sparse.resize(documents, words);
  data.sparse.setFromTriplets(entries.begin(), entries.end());
  data.sparse.makeCompressed();
  return data;
}

void sparse_text() {
  for (const auto& [documents, words] : {std::pair<Index, Index>{20000, 1000000}, {200000, 10000000}}) {
    const Dataset data = text(documents, words);
    std::vector<Index> present;
    Index stored = 0;
    for (Index j = 0; j < words; ++j) {
      stored += data.values().entries(j);
      if (data.values().entries(j) > 0) present.push_back(j);
    }
    const double table = 12.0 * static_cast<double>(stored) + 4.0 * static_cast<double>(words);
    const double before = peak_bytes();
    const auto clock = std::chrono::steady_clock::now();
    const FeatureRows rows(data, present, true, {}, 0);
    const auto fit = fit_qalpha(rows, QAlpha{.clusters = 4}, {}, RunControl());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
    const double bar = 3.0 * table + 30.0 * 8.0 * static_cast<double>(present.size());
    fmt::print(
        "qalpha on text, {} x {} ({} words occur): {:.1f} s, {} iterations, {} passes; table {:.2f} GB, peak {:.2f} GB before the fit, {:.2f} GB after (bar {:.2f} GB: three tables and 30 vectors)\n",
        documents, words, present.size(), seconds, fit.trace.size(), fit.passes, 1e-9 * table, 1e-9 * before,
        1e-9 * peak_bytes(), 1e-9 * bar);
    std::fflush(stdout);  // the larger one takes minutes
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases(argv + 1, argv + argc);
  if (cases.empty()) cases = {"growth", "explicit"};
  for (const auto& name : cases) {
    if (name == "growth") growth();
    if (name == "explicit") against_explicit();
    if (name == "text") sparse_text();
  }
  return 0;
}
