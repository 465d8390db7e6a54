/// rvm-entry: each weighted lasso is optimal, the cost falls, and the end is a fixed point of dense formulas.
#include "subspectra/scoring/rvm_entry.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "classes.hpp"

namespace subspectra {
namespace {

using oracle::dense_rows;
using oracle::gaussian_classes;
using oracle::scoring_problem;

TEST(RvmEntry, TheCostNeverRises) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto problem = scoring_problem(gaussian_classes(40, seed % 2 == 0 ? 120 : 20, 3, seed));
    RvmEntryOptions options{.alpha = seed == 3 ? 0.05 : 0.0, .lasso_tolerance = 1e-12};
    options.iterations = {.max_iterations = 25, .tolerance = 0.0, .threads = 1};
    const auto solver = rvm_entry_solver(problem, options);
    for (const double part : {0.2, 0.05, 0.01}) {
      const auto trace = solver->fit(part * solver->lambda_max(), {}).trace;
      ASSERT_EQ(trace.size(), 25U);
      for (std::size_t i = 1; i < trace.size(); ++i)
        ASSERT_LE(trace[i], trace[i - 1] + 1e-9 * std::abs(trace[i - 1])) << i;
    }
  }
}

TEST(RvmEntry, EndsAtAFixedPoint) {
  const auto problem = scoring_problem(gaussian_classes(40, 60, 3, 5));
  const double n = 40.0;
  RvmEntryOptions options{.lasso_tolerance = 1e-13};
  options.iterations = {.max_iterations = 2000, .tolerance = 1e-9, .threads = 1};
  const auto solver = rvm_entry_solver(problem, options);
  const double lambda = 0.05 * solver->lambda_max();
  const auto fit = solver->fit(lambda, {});
  ASSERT_TRUE(fit.converged);
  ASSERT_FALSE(fit.b.rows.empty());
  const Matrix b = dense_rows(fit.b, 60);
  const Matrix targets = scored_classes(problem, fit.scores);
  EXPECT_LE((targets.transpose() * targets - Matrix::Identity(2, 2)).cwiseAbs().maxCoeff(), 1e-10);
  for (Index k = 0; k < 2; ++k) {
    // The variances at the fixed point solve gamma = |b|/sqrt(z(gamma)).
    Vector gamma = b.col(k).cwiseAbs();
    Vector z(60);
    for (int round = 0; round < 5000; ++round) {
      const Matrix inverse =
          (lambda * n * Matrix::Identity(40, 40) + problem.x * gamma.asDiagonal() * problem.x.transpose())
              .inverse();
      z = (problem.x.transpose() * inverse * problem.x).diagonal();
      const Vector next = b.col(k).cwiseAbs().array() / z.array().sqrt();
      if ((next - gamma).cwiseAbs().maxCoeff() < 1e-13) break;
      gamma = next;
    }
    const Vector slope = 2.0 / n * problem.x.transpose() * (targets.col(k) - problem.x * b.col(k));
    for (Index i = 0; i < 60; ++i) {
      const double weight = 2.0 * lambda * std::sqrt(z[i]);
      if (b(i, k) != 0.0) {
        EXPECT_NEAR(slope[i], std::copysign(weight, b(i, k)), 1e-5 * weight);
      } else {
        EXPECT_LE(std::abs(slope[i]), weight * (1.0 + 1e-5));
      }
    }
  }
}

TEST(RvmEntry, FromItsLargestLambdaOnNothingIsLeft) {
  const auto problem = scoring_problem(gaussian_classes(30, 100, 4, 9));
  for (const double alpha : {0.0, 1e-3, 1.0, 1e3}) {
    const auto solver = rvm_entry_solver(problem, {.alpha = alpha});
    EXPECT_TRUE(solver->fit(solver->lambda_max(), {}).b.rows.empty()) << alpha;
  }
}

/// z_i = 1/alpha for all i as alpha grows: what is left is the lasso with the penalty lambda N/sqrt(alpha).
TEST(RvmEntry, WithAHugeAlphaItIsTheLasso) {
  const auto problem = scoring_problem(gaussian_classes(40, 80, 2, 3));
  const double alpha = 1e8, n = 40.0, level = 0.3;
  RvmEntryOptions options{.alpha = alpha, .lasso_tolerance = 1e-12};
  options.iterations.threads = 1;
  const double penalty = level * (problem.x.transpose() * problem.targets).cwiseAbs().maxCoeff();
  const auto solver = rvm_entry_solver(problem, options);
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
