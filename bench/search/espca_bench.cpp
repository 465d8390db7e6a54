/// Exact sparse PCA on one thread: what is proven, in how many nodes and how much processor time.
///     cmake --preset bench && cmake --build --preset bench --target bench_search_espca &&
///     build/bench/bench_search_espca [FOLDER [limit in seconds]]       every problem
///     build/bench/bench_search_espca bounds FOLDER                      what each bound saves
/// FOLDER holds pitprops_corr.csv, wine.csv, nakayama.npz and usps.npz; without it only Sonar and synthetic
/// problems run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <queue>
#include <string>
#include <vector>

#include "io/read.hpp"
#include "io/read_matrix.hpp"
#include "search/exact_hooks.hpp"
#include "search/explorer.hpp"
#include "search/greedy.hpp"
#include "sparse_pca_setup.hpp"

namespace {

using namespace subspectra;  // NOLINT(google-build-using-namespace)
using bench::covariance;
using bench::gaussian;
using bench::now_s;

Matrix correlation(const Matrix& x) {
  Matrix s = covariance(x);
  const Vector scale = s.diagonal().cwiseSqrt().cwiseInverse();
  s = (scale.asDiagonal() * s * scale.asDiagonal()).eval();
  s.diagonal().setOnes();
  return (0.5 * (s + s.transpose())).eval();
}
/// 300 rows of noise and three factors of standard deviation 1.5, 1 and 0.7.
Matrix factors(Index n) {
  Vector strength(3);
  strength << 1.5, 1.0, 0.7;
  return gaussian(300, n, 11) + gaussian(300, 3, 12) * strength.asDiagonal() * gaussian(3, n, 13);
}

struct Problem {
  std::string name;
  Matrix a;
  std::vector<Index> sizes;
  double known = 0.0;  ///< the optimum of the last size, where it is known
};

std::vector<Index> upto(Index least, Index most) {
  std::vector<Index> sizes(static_cast<std::size_t>(most - least + 1));
  std::iota(sizes.begin(), sizes.end(), least);
  return sizes;
}

std::vector<Problem> problems(const std::string& folder) {
  std::vector<Problem> all;
  const auto table = [&](const std::string& name) {
    return read_dataset(folder + "/" + name).values().packed();
  };
  if (!folder.empty()) {
    const Matrix pitprops = read_square_matrix(folder + "/pitprops_corr.csv").values;
    all.push_back({"pitprops", pitprops, upto(1, 5), 3.406155});
    all.push_back({"pitprops", pitprops, upto(6, 10), 4.172638});
    const Matrix wine = correlation(table("wine.csv"));
    all.push_back({"wine correlation", wine, upto(1, 5), 3.439778});
    all.push_back({"wine correlation", wine, upto(6, 10), 4.594293});
  }
  all.push_back({"Sonar correlation", correlation(read_dataset("sonar").values().matrix()), upto(1, 40)});
  all.push_back({"factors correlation", correlation(factors(100)), upto(1, 40)});
  all.push_back({"factors covariance", covariance(factors(100)), upto(1, 40)});
  if (!folder.empty()) {
    const Matrix genes = table("nakayama.npz");
    all.push_back({"genes correlation", correlation(genes.leftCols(101)), upto(1, 40)});
    const Matrix wide = correlation(genes.leftCols(270));
    for (const Index k : {10, 20, 40, 80, 135}) all.push_back({"genes correlation", wide, {k}});
    const Matrix raw = covariance(genes.leftCols(270));
    for (const Index k : {10, 20}) all.push_back({"genes covariance", raw, {k}});
    const Matrix digits = covariance(table("usps.npz"));
    for (const Index k : {10, 20, 40, 80, 128}) all.push_back({"USPS covariance", digits, {k}});
    for (const Index k : {10, 20})
      all.push_back({"genes correlation", correlation(genes.leftCols(1000)), {k}});
  }
  for (const Index k : {10, 15, 20, 25})
    all.push_back({"noise, 100 rows", correlation(gaussian(100, 50, 1)), {k}});
  for (const Index k : {10, 20, 50})
    all.push_back({"noise, 200 rows", correlation(gaussian(200, 100, 2)), {k}});
  return all;
}

struct Outcome {
  double value = 0.0, upper = 0.0, seconds = 0.0;
  std::uint64_t nodes = 0;
};

/// The open node with the largest bound first, from the sets of both greedy passes, until `limit_s`.
Outcome solve(const Pencil& pencil, const SearchUnits& units, Index k, double limit_s,
              const std::vector<GreedyPass>& greedy, int off) {
  const ExactRun options{.k = {k, k}, .threads = 1};
  ExactHooks hooks;
  if (off >= 0) hooks.bounds.turn_off(static_cast<ExactBound>(off));
  Outcome outcome;
  const double start = now_s();
  const RunControl control;
  const RunControl no_limits;
  const auto explorer = search::perron_explorer(pencil, units, options, no_limits, hooks);
  search::Pool pool(1);
  for (const auto& pass : greedy) {
    std::vector<Index> set(pass.order.begin(), pass.order.begin() + k);
    std::sort(set.begin(), set.end());
    const double value = explorer->value(set);
    pool.offer(std::move(set), value);
  }
  const search::Cutoff cutoff(explorer->slack(), 0.0);
  search::OpenNode root{.k = k};
  for (Index u = 0; u < units.count(); ++u) root.free.push_back(static_cast<std::int32_t>(u));
  root.bound = explorer->bound(root);
  const auto less = [](const search::OpenNode& a, const search::OpenNode& b) { return a.bound < b.bound; };
  std::priority_queue<search::OpenNode, std::vector<search::OpenNode>, decltype(less)> open(less);
  open.push(std::move(root));
  while (!open.empty() && now_s() - start < limit_s) {
    const auto node = open.top();
    open.pop();
    if (node.bound <= cutoff.exact(pool.threshold())) continue;
    search::VisitFindings found(pool);
    explorer->explore(node, explorer->budget(), cutoff, control, found);
    pool = found.pool;
    outcome.nodes += found.nodes;
    for (auto& left : found.open) open.push(std::move(left));
  }
  outcome.value = pool.best();
  outcome.upper = open.empty() ? outcome.value : std::max(outcome.value, open.top().bound);
  outcome.seconds = now_s() - start;
  return outcome;
}

void print(const Problem& problem, double limit_s, int off, const char* note) {
  const auto pencil = covariance_pencil(problem.a);
  const Index n = problem.a.rows();
  std::vector<Index> candidates(static_cast<std::size_t>(n));
  std::iota(candidates.begin(), candidates.end(), Index{0});
  const auto units = SearchUnits::singles(candidates, {});
  const RunControl control;
  const std::vector<GreedyPass> greedy = {forward_variance_pass(*pencil, units, {.threads = 1}, control),
                                          backward_variance_pass(*pencil, units, {.threads = 1}, control)};
  double slowest = 0.0, widest = 0.0;
  std::uint64_t nodes = 0;
  Outcome last;
  for (const Index k : problem.sizes) {
    last = solve(*pencil, units, k, limit_s, greedy, off);
    slowest = std::max(slowest, last.seconds);
    widest = std::max(widest, last.upper / last.value - 1.0);
    nodes = std::max(nodes, last.nodes);
  }
  if (problem.known > 0.0 && std::abs(last.value - problem.known) > 1e-6) {
    fmt::print(stderr, "wrong answer: {} k = {}: {} and not {}\n", problem.name, problem.sizes.back(),
               last.value, problem.known);
    std::exit(1);
  }
  const auto k = problem.sizes.size() == 1
                     ? fmt::format("{}", problem.sizes[0])
                     : fmt::format("{}..{}", problem.sizes.front(), problem.sizes.back());
  fmt::print("| {:<20} | {:>4} | {:>6} | {:>14.6f} | {:>8} | {:>8} | {:>8.3f} |{}\n", problem.name, n, k,
             last.value, widest > 0.0 ? fmt::format("{:.1f} %", 100.0 * widest) : "proven", nodes, slowest,
             note);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool bounds = argc > 1 && std::string(argv[1]) == "bounds";
  const std::string folder = argc > (bounds ? 2 : 1) ? argv[bounds ? 2 : 1] : "";
  const double limit_s = argc > (bounds ? 3 : 2) ? std::atof(argv[bounds ? 3 : 2]) : 60.0;
  fmt::print("largest over the sizes: nodes, seconds of processor time on one thread\n");
  fmt::print("| problem | n | k | value at the last k | gap | nodes | s |{}\n", bounds ? " without |" : "");
  fmt::print("|---|---|---|---|---|---|---|{}\n", bounds ? "---|" : "");
  for (auto& problem : problems(folder)) {
    if (!bounds) {
      print(problem, limit_s, -1, "");
      continue;
    }
    const Index n = problem.a.rows();
    const Index k = problem.sizes.back();
    if (n < 50 || n > 300 || k < 10 || (problem.sizes.size() == 1 && k != 20 && k != 80 && n >= 100))
      continue;
    problem.sizes = {k};
    problem.known = 0.0;
    print(problem, limit_s, -1, " nothing |");
    print(problem, limit_s, static_cast<int>(ExactBound::kFixOut), " fixing out |");
    print(problem, limit_s, static_cast<int>(ExactBound::kSuperset), " superset |");
    print(problem, limit_s, static_cast<int>(ExactBound::kFloor), " floor |");
    print(problem, limit_s, static_cast<int>(ExactBound::kResidual), " residual |");
  }
}
