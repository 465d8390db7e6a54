/// Paths of the lasso, of GLOSS and of SDA over a wide table, in processor time of one thread.
///     build/bench/bench_scoring_group_lasso [FOLDER [RATIO [CASE]]]
/// writes the tables and lambdas it used into FOLDER for lasso_bench.py, which runs others on the same ones,
/// and prints one line of JSON. RATIO is the smallest over the largest lambda (0.1). CASE: lasso gloss sda.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "data/dataset.hpp"
#include "io/write.hpp"
#include "scoring/gloss.hpp"
#include "scoring/sda.hpp"
#include "solvers/group_lasso.hpp"

namespace {

using namespace subspectra;  // NOLINT(google-build-using-namespace)

constexpr Index kRows = 150, kColumns = 16'000;

double cpu_s() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<double> path(double largest, double ratio, int count) {
  std::vector<double> lambdas;
  for (int i = 0; i < count; ++i) lambdas.push_back(largest * std::pow(ratio, i / (count - 1.0)));
  return lambdas;
}

/// Four classes whose means differ in 40 features; labels are the class numbers.
Dataset table() {
  Random random(11);
  DatasetParts data;
  data.dense.resize(kRows, kColumns);
  for (auto& value : data.dense.reshaped()) value = random.normal();
  std::vector<std::string> labels;
  for (Index i = 0; i < kRows; ++i) {
    labels.push_back(std::to_string(i % 4));
    for (Index j = 0; j < 40; ++j) data.dense(i, 397 * j) += j % 4 == i % 4 ? 1.0 : 0.0;
  }
  data.labels = Labels::from_texts("class", labels);
  return data;
}

Vector as_vector(const std::vector<double>& v) {
  return Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  const double ratio = argc > 2 ? std::strtod(argv[2], nullptr) : 0.1;
  const std::string only = argc > 3 ? argv[3] : "";
  constexpr int kRuns = 3;
  const RunControl control;
  std::vector<Index> all(kColumns);
  for (Index j = 0; j < kColumns; ++j) all[static_cast<std::size_t>(j)] = j;
  const ScoringProblem problem = make_scoring_problem(table(), all, 1);

  // The lasso's target: 30 columns and noise.
  Random random(12);
  Vector y = Vector::Zero(kRows);
  for (Index j = 0; j < 30; ++j) y += random.normal() * problem.x.col(521 * j);
  for (auto& value : y) value += 0.03 * random.normal();
  y.array() -= y.mean();

  std::vector<double> lasso_lambdas, lasso_objectives, gloss_lambdas, gloss_objectives;
  double lasso_s = kInfinity, gloss_s = kInfinity, sda_s = kInfinity;
  std::size_t lasso_columns = 0, gloss_columns = 0, sda_columns = 0;
  Index lasso_sweeps = 0, gloss_sweeps = 0, sda_nets = 0;
  bool converged = true;
  for (int run = 0; run < kRuns; ++run) {
    if (only.empty() || only == "lasso") {
      lasso_objectives.clear();
      lasso_sweeps = 0;
      const double start = cpu_s();
      GroupLasso lasso(problem.x, {.threads = 1});
      lasso.set_targets(y);
      lasso_lambdas = path(lasso.lambda_max(), ratio, 50);
      for (const double lambda : lasso_lambdas) {
        const GroupLassoSolution s = lasso.solve(lambda, control);
        converged = converged && s.converged;
        lasso_objectives.push_back(s.objective);
        lasso_columns = s.b.rows.size();
        lasso_sweeps += s.sweeps;
      }
      lasso_s = std::min(lasso_s, cpu_s() - start);
    }
    if (only.empty() || only == "gloss") {
      gloss_objectives.clear();
      gloss_sweeps = 0;
      const double start = cpu_s();
      const auto gloss = gloss_solver(problem, {}, 1);
      gloss_lambdas = path(gloss->lambda_max(), ratio, 100);
      for (const double lambda : gloss_lambdas) {
        const ScoringFit fit = gloss->fit(lambda, control);
        converged = converged && fit.converged;
        gloss_objectives.push_back(fit.objective);
        gloss_columns = fit.b.rows.size();
        gloss_sweeps += fit.iterations;
      }
      gloss_s = std::min(gloss_s, cpu_s() - start);
    }
    if (only.empty() || only == "sda") {
      sda_nets = 0;
      const double start = cpu_s();
      const auto sda = sda_solver(problem, {}, 1);
      for (const double lambda : path(sda->lambda_max(), ratio, 100)) {
        const ScoringFit fit = sda->fit(lambda, control);
        converged = converged && fit.converged;
        sda_columns = fit.b.rows.size();
        sda_nets += fit.iterations;
      }
      sda_s = std::min(sda_s, cpu_s() - start);
    }
  }
  if (!folder.empty()) {
    write_npy(folder + "/x.npy", problem.x);
    write_npy(folder + "/y.npy", y);
    write_npy(folder + "/targets.npy", problem.targets);
    write_npy(folder + "/lasso_lambdas.npy", as_vector(lasso_lambdas));
    write_npy(folder + "/lasso_objectives.npy", as_vector(lasso_objectives));
    write_npy(folder + "/gloss_lambdas.npy", as_vector(gloss_lambdas));
    write_npy(folder + "/gloss_objectives.npy", as_vector(gloss_objectives));
  }
  const auto number = [](double value) { return value < kInfinity ? fmt::format("{:.4f}", value) : "null"; };
  fmt::print(
      "{{\"rows\": {}, \"columns\": {}, \"converged\": {}, \"lasso_s\": {}, \"lasso_columns\": {}, \"lasso_sweeps\": {}, \"gloss_s\": {}, \"gloss_columns\": {}, \"gloss_sweeps\": {}, \"sda_s\": {}, \"sda_columns\": {}, \"sda_nets\": {}}}\n",
      kRows, kColumns, converged, number(lasso_s), lasso_columns, lasso_sweeps, number(gloss_s),
      gloss_columns, gloss_sweeps, number(sda_s), sda_columns, sda_nets);
  return converged ? 0 : 1;
}
