/// AISTATS15, Theorem 3: without noise and with alpha towards 0, rvm-row finds the solution of Y Theta = X B
/// with the fewest rows where the group lasso does not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "reproduce/papers.hpp"
#include "scoring/gloss.hpp"
#include "scoring/reweighted.hpp"

namespace subspectra::reproduce {
namespace {

constexpr Index kRows = 40, kColumns = 120, kClasses = 9, kSupport = 6;
constexpr double kNoise = 1e-8;  ///< lambda N and alpha: "towards 0"

/// A problem whose sparsest exact solution has the rows 0..D-1: Y Theta = X B with D <= L. The targets are
/// orthonormal and X_1..D spans them; the other columns are random, but lean towards the targets so that
/// the group lasso is tempted.
ScoringProblem noiseless_problem(std::uint64_t seed) {
  Random random(seed);
  const auto normal = [&](Index rows, Index columns) {
    Matrix m(rows, columns);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) m(i, j) = random.normal();
    }
    return m;
  };
  ScoringProblem problem;
  problem.codes.resize(kRows);
  for (Index i = 0; i < kRows; ++i)
    problem.codes[static_cast<std::size_t>(i)] = static_cast<int>(i % kClasses);
  problem.root_weights = Vector::Ones(kRows);
  problem.class_weights = Vector::Zero(kClasses);
  for (const int code : problem.codes) problem.class_weights[code] += 1.0;
  const Matrix basis = score_basis(problem.class_weights);
  problem.scores = problem.class_weights.array().rsqrt().matrix().asDiagonal() * basis.leftCols(kSupport);
  Matrix all(kRows, kSupport);
  for (Index i = 0; i < kRows; ++i)
    all.row(i) = problem.scores.row(problem.codes[static_cast<std::size_t>(i)]);
  problem.targets = all;
  problem.x = normal(kRows, kColumns) + 1.5 * problem.targets * normal(kSupport, kColumns);
  problem.x.leftCols(kSupport) = problem.targets * normal(kSupport, kSupport);
  problem.x.rowwise() -= problem.x.colwise().mean();
  problem.x.colwise().normalize();
  problem.scales = Vector::Ones(kColumns);
  for (Index j = 0; j < kColumns; ++j) problem.features.push_back(j);
  return problem;
}

bool only_the_true_rows(const RowSparseMatrix& b) {
  return static_cast<Index>(b.rows.size()) == kSupport && b.rows.back() == kSupport - 1;
}

/// Rows whose norm is not small beside the largest: a solver's zeros.
RowSparseMatrix large_rows(const RowSparseMatrix& b) {
  RowSparseMatrix kept;
  const Vector norms = b.values.rowwise().norm();
  for (std::size_t i = 0; i < b.rows.size(); ++i) {
    if (norms[static_cast<Index>(i)] > 1e-4 * norms.maxCoeff()) kept.rows.push_back(b.rows[i]);
  }
  return kept;
}

}  // namespace

void sparsest_solution(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  const Index runs = options.runs > 0 ? options.runs : options.quick ? 10 : 100;
  result.settings = {{"rows", kRows},
                     {"columns", kColumns},
                     {"discriminants", kSupport},
                     {"support", kSupport},
                     {"problems", runs}};
  result.protocol = {
      fmt::format(
          "Y Theta ({} x {}, orthonormal) is an exact combination of {} of the {} columns of X, {} of them random and leaning towards Y Theta; {} such problems.",
          kRows, kSupport, kSupport, kColumns, kColumns - kSupport, runs),
      fmt::format(
          "rvm-row with lambda N = alpha = {:.0e}; the group lasso (gloss) at a lambda of 1e-4 of its largest, its rows below 1e-4 of the largest not counted. Recovered: exactly the true rows.",
          kNoise)};
  Index rvm = 0, lasso = 0, done = 0;
  double lasso_rows = 0.0;
  for (; done < runs && !control.should_stop(); ++done) {
    control.report(result.id, static_cast<double>(done) / static_cast<double>(runs));
    const ScoringProblem problem = noiseless_problem(options.seed + static_cast<std::uint64_t>(done));
    const RvmRow rvm_row{.alpha = kNoise, .prune = 1e-4, .max_iterations = 20000, .tolerance = 1e-8};
    const auto fit =
        rvm_row_solver(problem, rvm_row, options.threads)->fit(kNoise / static_cast<double>(kRows), control);
    if (only_the_true_rows(fit.b)) ++rvm;
    const auto gloss = gloss_solver(problem, {.tolerance = 1e-8}, options.threads);
    ScoringFit group;
    for (const double part : {0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4})
      group = gloss->fit(part * gloss->lambda_max(), control);
    const RowSparseMatrix rows = large_rows(group.b);
    lasso_rows += static_cast<double>(rows.rows.size());
    if (only_the_true_rows(rows)) ++lasso;
  }
  const auto count = static_cast<double>(std::max<Index>(done, 1));
  result.results = {
      {.series = "rvm-row recovers",
       .published = 1.0,
       .statement =
           "a single stationary point, guaranteed to be a maximally row sparse solution (Theorem 3, under its condition on the spread of the true columns)",
       .obtained = static_cast<double>(rvm) / count},
      {.series = "group lasso recovers", .obtained = static_cast<double>(lasso) / count},
      {.series = "rows of the group lasso", .obtained = lasso_rows / count}};
  result.status = done < runs ? control.status_or(Status::kInterrupted) : Status::kHeuristic;
}

}  // namespace subspectra::reproduce
