/// rvm-row at the size of the largest gene table of AISTATS15 (180 x 54,613, four classes), in products X X'
/// of that size, and how it, rvm-entry and gloss grow with the number of columns.
///
///     build/bench/bench_scoring_rvm [size|growth ...]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "linalg/tiled.hpp"
#include "scoring/gloss.hpp"
#include "scoring/reweighted.hpp"
#include "scoring/rvm_entry.hpp"
#include "synth/gaussian_classes.hpp"

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
  std::vector<Index> all;
  for (Index j = 0; j < p; ++j) all.push_back(j);
  return all;
}

/// One product X X' as a DSYRK, processor time, the least of five.
double product_s(const Matrix& x) {
  Matrix c(x.rows(), x.rows());
  double least = kInfinity;
  for (int run = 0; run < 5; ++run) {
    const double start = cpu_s();
    linalg::syrk(1.0, linalg::Op::kNone, x, 0.0, c);
    least = std::min(least, cpu_s() - start);
  }
  return least;
}

void at_size() {
  const Dataset data =
      synth::GaussianClasses{
          .rows = 180, .features = 54613, .classes = 4, .informative = 30, .separation = 0.8, .seed = 1}
          .make();
  const double table = 8.0 * static_cast<double>(data.values().packed().size());
  const double before = peak_bytes();
  const ScoringProblem problem = make_scoring_problem(data, all_of(data.features()), 1);
  const double product = product_s(problem.x);
  fmt::print("rvm-row, 180 x 54,613, K = 4; one product X X' (DSYRK) {:.1f} ms, one thread, processor time\n",
             1e3 * product);
  for (const auto update : {RvmUpdate::kFast, RvmUpdate::kEm}) {
    const bool fast = update == RvmUpdate::kFast;
    for (const double part : {0.1, 0.01}) {
      RvmRow options{.rvm_update = update, .max_iterations = fast ? 5000 : 100, .tolerance = 1e-5};
      const auto solver = rvm_row_solver(problem, options, 1);
      const double lambda = part * solver->lambda_max();
      options.max_iterations = 3;
      const double first_start = cpu_s();
      static_cast<void>(rvm_row_solver(problem, options, 1)->fit(lambda, {}));
      const double first = (cpu_s() - first_start) / 3.0;
      const double start = cpu_s();
      const auto fit = solver->fit(lambda, {});
      const double total = cpu_s() - start;
      double columns = 0.0;
      for (const Index q : fit.working)
        columns += static_cast<double>(q) / static_cast<double>(problem.columns());
      fmt::print(
          "  {} lambda {:.3g} of the largest: {} iterations ({}), {} features; an iteration at the start {:.1f} products, all {:.1f} (bars 6 and 150), {:.2f} s\n    columns in play: ",
          fast ? "fast" : "em  ", part, fit.iterations, fit.converged ? "converged" : "stopped",
          fit.b.rows.size(), first / product, total / product, total);
      for (std::size_t i = 0; i < fit.working.size(); i = i < 5 ? i + 1 : 2 * i)
        fmt::print("{}:{} ", i + 1, fit.working[i]);
      fmt::print("\n    passes over all columns: {:.1f}\n", columns);
    }
  }
  const auto gloss = gloss_solver(problem, {}, 1);
  const double top = gloss->lambda_max();
  static_cast<void>(gloss->fit(0.5 * top, {}));
  const double start = cpu_s();
  const auto fit = gloss->fit(0.45 * top, {});
  fmt::print("  gloss, one lambda, warm: {:.3f} s, {} features, {:.1f} products\n", cpu_s() - start,
             fit.b.rows.size(), (cpu_s() - start) / product);
  fmt::print("  peak memory {:.2f} tables beyond the table itself (bar 1.5)\n",
             (peak_bytes() - before) / table);
}

void growth() {
  fmt::print("seconds against the number of columns, 180 rows, K = 4, one thread, processor time\n");
  const std::vector<Index> sizes = {5000, 10000, 20000, 50000};
  struct Contestant {
    const char* name;
    std::unique_ptr<ScoringSolver> (*solver)(const ScoringProblem&);
    double smallest;  ///< of the largest lambda
    int lambdas;      ///< down to it; one: that one alone
    std::vector<double> seconds{};
  };
  std::vector<Contestant> contestants = {
      {"rvm-row",
       [](const ScoringProblem& problem) {
         return rvm_row_solver(problem, {.max_iterations = 1000, .tolerance = 1e-6}, 1);
       },
       0.05, 1},
      {"rvm-entry", [](const ScoringProblem& problem) { return rvm_entry_solver(problem, {}, 1); }, 0.005, 1},
      {"gloss (30 lambdas)", [](const ScoringProblem& problem) { return gloss_solver(problem, {}, 1); }, 0.2,
       30}};
  for (const Index p : sizes) {
    const Dataset data =
        synth::GaussianClasses{
            .rows = 180, .features = p, .classes = 4, .informative = 30, .separation = 0.8, .seed = 1}
            .make();
    const ScoringProblem problem = make_scoring_problem(data, all_of(p), 1);
    fmt::print("  p = {:6}:", p);
    for (Contestant& one : contestants) {
      const double start = cpu_s();
      const auto solver = one.solver(problem);
      const double top = solver->lambda_max();
      std::size_t features = 0;
      for (int i = 1; i <= one.lambdas; ++i) {
        const double part = std::pow(one.smallest, static_cast<double>(i) / one.lambdas);
        features = solver->fit(top * part, {}).b.rows.size();
      }
      one.seconds.push_back(cpu_s() - start);
      fmt::print("  {} {:.3f} s, {} features", one.name, one.seconds.back(), features);
    }
    fmt::print("\n");
  }
  const double ratio = std::log(static_cast<double>(sizes.back()) / static_cast<double>(sizes.front()));
  fmt::print("  growth (bar p^1.1):");
  for (const Contestant& one : contestants)
    fmt::print("  {} p^{:.2f}", one.name, std::log(one.seconds.back() / one.seconds.front()) / ratio);
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases(argv + 1, argv + argc);
  if (cases.empty()) cases = {"size", "growth"};
  for (const auto& name : cases) {
    if (name == "size") at_size();
    if (name == "growth") growth();
  }
  return 0;
}
