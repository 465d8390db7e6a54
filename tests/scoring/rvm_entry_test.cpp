/// rvm-entry: each weighted lasso is optimal, the cost falls, and the end is a fixed point of dense formulas.
#include "scoring/rvm_entry.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "classes.hpp"

namespace subspectra {
namespace {

using oracle::dense_rows;
using oracle::gaussian_classes;
using oracle::scoring_problem;

constexpr RvmEntryTuning kExactLassos{.lasso_tolerance = 1e-12};

TEST(RvmEntry, TheCostNeverRises) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto problem = scoring_problem(gaussian_classes(40, seed % 2 == 0 ? 120 : 20, 3, seed));
    const auto solver = rvm_entry_solver(
        problem, {.alpha = seed == 3 ? 0.05 : kInfinity, .max_iterations = 25, .tolerance = 0.0}, 1,
        kExactLassos);
    for (const double part : {0.2, 0.05, 0.01}) {
      const auto trace = solver->fit(part * solver->lambda_max(), {}).trace;
      ASSERT_EQ(trace.size(), 25U);
      for (std::size_t i = 1; i < trace.size(); ++i)
        ASSERT_LE(trace[i], trace[i - 1] + 1e-9 * std::abs(trace[i - 1])) << i;
    }
  }
}

/// Dense formulas over all columns: each weighted lasso's optimality conditions, with the weights that belong
/// to its own answer.
void expect_fixed_point(const ScoringProblem& problem, double lambda, const ScoringFit& fit) {
  const Index rows = problem.rows(), columns = problem.columns(), count = problem.discriminants();
  const auto n = static_cast<double>(rows);
  const Matrix b = dense_rows(fit.b, columns);
  const Matrix targets = scored_classes(problem, fit.scores);
  EXPECT_LE((targets.transpose() * targets - Matrix::Identity(count, count)).cwiseAbs().maxCoeff(), 1e-10);
  for (Index k = 0; k < count; ++k) {
    // The variances at the fixed point solve gamma = |b|/sqrt(z(gamma)).
    const Matrix x = problem.x(Eigen::all, fit.b.rows);
    const Vector sizes = fit.b.values.col(k).cwiseAbs();
    Vector gamma = sizes;
    Matrix inverse;
    for (int round = 0; round < 5000; ++round) {
      inverse =
          (lambda * n * Matrix::Identity(rows, rows) + x * gamma.asDiagonal() * x.transpose()).inverse();
      const Vector next = sizes.array() / (x.transpose() * inverse * x).diagonal().array().sqrt();
      const double change = (next - gamma).cwiseAbs().maxCoeff();
      gamma = next;
      if (change < 1e-13) break;
    }
    const Vector slope = 2.0 / n * problem.x.transpose() * (targets.col(k) - problem.x * b.col(k));
    for (Index i = 0; i < columns; ++i) {
      const double z = problem.x.col(i).dot(inverse * problem.x.col(i));
      const double weight = 2.0 * lambda * std::sqrt(z);
      if (b(i, k) != 0.0) {
        EXPECT_NEAR(slope[i], std::copysign(weight, b(i, k)), 1e-5 * weight);
      } else {
        EXPECT_LE(std::abs(slope[i]), weight * (1.0 + 1e-5)) << i;
      }
    }
  }
}

std::unique_ptr<ScoringSolver> exact_solver(const ScoringProblem& problem) {
  return rvm_entry_solver(problem, {.max_iterations = 2000, .tolerance = 1e-9}, 1, kExactLassos);
}

TEST(RvmEntry, EndsAtAFixedPoint) {
  const auto problem = scoring_problem(gaussian_classes(40, 60, 3, 5));
  const auto solver = exact_solver(problem);
  const double lambda = 0.05 * solver->lambda_max();
  const auto fit = solver->fit(lambda, {});
  ASSERT_TRUE(fit.converged);
  ASSERT_FALSE(fit.b.rows.empty());
  expect_fixed_point(problem, lambda, fit);
}

/// With many columns most iterations are over a few of them: what they end at must be a fixed point over all,
/// and the cost must fall across the changes from few to all and back.
TEST(RvmEntry, EndsAtAFixedPointOfAllColumns) {
  for (const bool twice : {false, true}) {
    DatasetParts data = gaussian_classes(40, 800, 3, 11);
    if (twice) data.dense.rightCols(400) = data.dense.leftCols(400);  // no lasso has one optimum then
    const auto problem = scoring_problem(data);
    const auto solver = exact_solver(problem);
    for (const double part : {0.03, 0.01, 0.003}) {
      const double lambda = part * solver->lambda_max();
      const auto fit = solver->fit(lambda, {});
      ASSERT_TRUE(fit.converged) << part;
      ASSERT_FALSE(fit.b.rows.empty()) << part;
      expect_fixed_point(problem, lambda, fit);
      for (std::size_t i = 1; i < fit.trace.size(); ++i)
        ASSERT_LE(fit.trace[i], fit.trace[i - 1] + 1e-9 * std::abs(fit.trace[i - 1])) << i;
    }
  }
}

/// However few iterations, the last one is over all columns, and its gap is; a stop on the way leaves none.
TEST(RvmEntry, WhereItEndsEarlyItsGapIsOverAllColumnsOrNone) {
  const auto problem = scoring_problem(gaussian_classes(40, 800, 3, 12));
  RvmEntry options;
  const double lambda = 0.005 * rvm_entry_solver(problem, options, 1)->lambda_max();
  for (const Index most : {0, 1, 2, 3, 4, 5, 9}) {
    options.max_iterations = most;
    const auto fit = rvm_entry_solver(problem, options, 1)->fit(lambda, {});
    EXPECT_EQ(fit.iterations, most);
    EXPECT_EQ(static_cast<Index>(fit.trace.size()), most);
    EXPECT_FALSE(fit.converged);
    EXPECT_EQ(fit.gap >= 0.0, most > 0);
  }
  options.max_iterations = 1000;
  for (int reports = 1; reports < 12; ++reports) {
    std::stop_source source;
    int seen = 0;
    const RunControl control(
        source.get_token(), kInfinity,
        [&](const Progress&) {
          if (++seen == reports) source.request_stop();
        },
        0.0);
    const auto solver = rvm_entry_solver(problem, options, 1);
    const auto fit = solver->fit(lambda, control);
    EXPECT_FALSE(fit.converged);
    EXPECT_LE(fit.iterations, reports + 1);
    EXPECT_EQ(fit.gap >= 0.0, fit.iterations <= 3) << reports;
    EXPECT_TRUE(solver->fit(lambda, {}).converged);  // nothing of the stopped run is in the way
  }
}

/// Halving down to such a lambda would never end.
TEST(RvmEntry, TakesAVanishingLambda) {
  const auto problem = scoring_problem(gaussian_classes(20, 50, 3, 2));
  const auto fit =
      rvm_entry_solver(problem, {.alpha = 1.0, .max_iterations = 3, .tolerance = 1e-4}, 1)->fit(1e-300, {});
  EXPECT_LE((scored_classes(problem, fit.scores) - fitted_values(problem, fit.b)).squaredNorm(), 1e-5);
}

TEST(RvmEntry, FromItsLargestLambdaOnNothingIsLeft) {
  const auto problem = scoring_problem(gaussian_classes(30, 100, 4, 9));
  for (const double alpha : {kInfinity, 1e-3, 1.0, 1e3}) {
    const auto solver = rvm_entry_solver(problem, {.alpha = alpha});
    EXPECT_TRUE(solver->fit(solver->lambda_max(), {}).b.rows.empty()) << alpha;
  }
}

/// z_i = 1/alpha for all i as alpha grows: what is left is the lasso with the penalty lambda N/sqrt(alpha).
TEST(RvmEntry, WithAHugeAlphaItIsTheLasso) {
  const auto problem = scoring_problem(gaussian_classes(40, 80, 2, 3));
  const double alpha = 1e8, n = 40.0, level = 0.3;
  const double penalty = level * (problem.x.transpose() * problem.targets).cwiseAbs().maxCoeff();
  const auto solver = rvm_entry_solver(problem, {.alpha = alpha}, 1, kExactLassos);
  const auto fit = solver->fit(penalty * std::sqrt(alpha) / n, {});
  ASSERT_FALSE(fit.b.rows.empty());
  const Matrix b = dense_rows(fit.b, 80);
  const Vector slope =
      problem.x.transpose() * (scored_classes(problem, fit.scores) - problem.x * b);  // K = 2: one column
  for (Index i = 0; i < 80; ++i) {
    if (b(i, 0) != 0.0) {
      EXPECT_NEAR(slope[i], std::copysign(penalty, b(i, 0)), 1e-4 * penalty);
    } else {
      EXPECT_LE(std::abs(slope[i]), penalty * (1.0 + 1e-4));
    }
  }
}

}  // namespace
}  // namespace subspectra
