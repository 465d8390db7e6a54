#include "scoring/sulda.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>
#include <stop_token>

#include <subspectra/error.hpp>
#include "oracle.hpp"
#include "run_program.hpp"

namespace subspectra::sulda_test {
namespace {

ScoringProblem problem_of(const DatasetParts& data) {
  std::vector<Index> columns(static_cast<std::size_t>(data.features()));
  std::iota(columns.begin(), columns.end(), Index{0});
  return make_scoring_problem(data, columns, 1);
}

Matrix dense(const ScoringProblem& problem, const ScoringFit& fit) {
  Matrix b = Matrix::Zero(problem.columns(), problem.discriminants());
  b(fit.b.rows, Eigen::all) = fit.b.values;
  return b;
}

// Oracle: X B* straight from the normal equations of (10), (X'X + X'P_Y X) B = X'Y Theta, by a
// pseudo-inverse.
Matrix optimum_of_10(const ScoringProblem& problem, const DatasetParts& data) {
  Matrix y = Matrix::Zero(problem.rows(), data.labels->class_count());
  for (Index i = 0; i < y.rows(); ++i) y(i, data.labels->codes[static_cast<std::size_t>(i)]) = 1.0;
  const Matrix onto = y * y.completeOrthogonalDecomposition().pseudoInverse();
  const Matrix& x = problem.x;
  const Matrix normal = x.transpose() * x + x.transpose() * onto * x;
  Eigen::CompleteOrthogonalDecomposition<Matrix> solver;
  solver.setThreshold(1e-10);
  solver.compute(normal);
  return x * solver.solve(x.transpose() * y * problem.scores);
}

TEST(Sulda, SolvesTheEquationsOf10WithAtMostRankManyNonzeros) {
  struct Shape {
    Index n, p;
    int classes;
    bool duplicates;
  };
  for (const auto& [n, p, classes, duplicates] :
       {Shape{20, 60, 2, false}, Shape{24, 40, 3, false}, Shape{30, 12, 3, false}, Shape{30, 12, 4, true},
        Shape{20, 50, 3, true}, Shape{28, 90, 14, false}, Shape{12, 12, 2, false}, Shape{12, 11, 2, false}}) {
    SCOPED_TRACE(::testing::Message() << n << " x " << p << ", " << classes << " classes");
    DatasetParts data = oracle::random_classes(n, p, classes, 7);
    if (duplicates) {
      data.dense.col(1) = data.dense.col(0);
      data.dense.col(5) = 2.0 * data.dense.col(3) - data.dense.col(4);
    }
    const ScoringProblem problem = problem_of(data);
    const Matrix z = optimum_of_10(problem, data);
    const Index rank = std::min(n - 1, p - (duplicates ? 2 : 0));
    if (rank == n - 1) {
      EXPECT_LT((z - problem.targets / 2.0).cwiseAbs().maxCoeff(), 1e-9);
    }
    Vector values(2);
    for (const SuldaRoute route : {SuldaRoute::kSimplex, SuldaRoute::kSplitting}) {
      const auto solver = sulda_solver(problem, {}, 1, {.route = route});
      EXPECT_EQ(solver->lambda_max(), 0.0);
      const ScoringFit fit = solver->fit(1.0, {});
      EXPECT_EQ(fit.lambda, 0.0);
      EXPECT_TRUE(fit.converged) << fit.gap;
      EXPECT_GE(fit.gap, 0.0);
      EXPECT_LE(fit.gap, 1e-9);
      const Matrix b = dense(problem, fit);
      EXPECT_LT((problem.x * b - z).cwiseAbs().maxCoeff(), 1e-8);
      for (Index k = 0; k < b.cols(); ++k) EXPECT_LE((b.col(k).array() != 0.0).count(), rank);
      EXPECT_NEAR(fit.objective, b.lpNorm<1>(), 1e-12 * fit.objective);
      EXPECT_EQ(fit.scores, problem.scores);
      values[route == SuldaRoute::kSimplex ? 0 : 1] = fit.objective;
    }
    EXPECT_NEAR(values[0] / values[1], 1.0, 1e-8);
  }
}

TEST(Sulda, TakesOneOfEqualColumns) {
  // Half of a coefficient on each of two copies has the norm of the whole on one of them.
  DatasetParts data = oracle::random_classes(40, 8, 3, 11);
  data.dense.col(6) = data.dense.col(2);
  data.dense.col(7) = data.dense.col(2);
  const ScoringProblem problem = problem_of(data);
  for (const SuldaRoute route : {SuldaRoute::kSimplex, SuldaRoute::kSplitting}) {
    const ScoringFit fit = sulda_solver(problem, {}, 1, {.route = route})->fit(0.0, {});
    const Matrix b = dense(problem, fit);
    for (Index c = 0; c < b.cols(); ++c) {
      EXPECT_LE((b.col(c).array() != 0.0).count(), 6) << "discriminant " << c;
      const int copies = (b(2, c) != 0.0) + (b(6, c) != 0.0) + (b(7, c) != 0.0);
      EXPECT_LE(copies, 1) << "discriminant " << c;
    }
  }
}

TEST(Sulda, GrowsItsSetOfColumnsToTheOptimumOverAllOfThem) {
  const DatasetParts data = oracle::random_classes(30, 3000, 3, 11);
  const ScoringProblem problem = problem_of(data);
  const ScoringFit simplex = sulda_solver(problem, {}, 2, {.route = SuldaRoute::kSimplex})->fit(0.0, {});
  const ScoringFit splitting = sulda_solver(problem, {}, 2, {.route = SuldaRoute::kSplitting})->fit(0.0, {});
  EXPECT_TRUE(simplex.converged);
  EXPECT_GT(simplex.trace.size(), 2U);  // more than one round for a discriminant
  EXPECT_TRUE(splitting.converged);
  EXPECT_NEAR(simplex.objective / splitting.objective, 1.0, 1e-8);
  EXPECT_EQ(simplex.b.rows, splitting.b.rows);
}

// Oracle: HiGHS through SciPy, on X beta = T/2 itself.
TEST(Sulda, HasTheValueOfAnotherSolverOfLinearPrograms) {
  const DatasetParts data = oracle::random_classes(25, 80, 3, 13);
  const ScoringProblem problem = problem_of(data);
  const ScoringFit fit = sulda_solver(problem, {})->fit(0.0, {});
  const testing::ScratchDirectory folder;
  std::ostringstream text;
  text << std::setprecision(17);
  for (Index i = 0; i < problem.rows(); ++i) {
    for (Index j = 0; j < problem.columns(); ++j) text << problem.x(i, j) << ' ';
    for (Index k = 0; k < 2; ++k) text << problem.targets(i, k) / 2.0 << ' ';
    text << '\n';
  }
  const std::string path = folder.write("equations.txt", text.str());
  const std::string script = R"(
import sys
try:
    import numpy as np
    from scipy.optimize import linprog
except ImportError:
    sys.exit(77)
table = np.loadtxt(sys.argv[1])
x, z = table[:, :-2], table[:, -2:]
total = 0.0
for k in range(2):
    # the last row is minus the sum of the others
    answer = linprog(np.ones(2 * x.shape[1]), A_eq=np.hstack([x, -x])[:-1], b_eq=z[:-1, k], method='highs')
    assert answer.status == 0, answer.message
    total += answer.fun
print(repr(float(total)))
)";
  const auto run = testing::run_words({SUBSPECTRA_PYTHON, "-c", script, path});
  if (run.code == 77 || run.code == 127) GTEST_SKIP() << "no SciPy";
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NEAR(std::stod(run.out) / fit.objective, 1.0, 1e-6);  // HiGHS stops at 1e-7
}

TEST(Sulda, DegenerateTablesAreFine) {
  DatasetParts data = oracle::random_classes(20, 70, 2, 17);
  for (Index i = 0; i < 20; ++i) data.dense(i, 4) = data.labels->codes[static_cast<std::size_t>(i)];
  data.dense.col(9) *= 1e150;
  data.dense.col(10) *= 1e-150;
  ScoringProblem problem = problem_of(data);
  // One column is the target itself: T/2 = X beta with |beta|_1 = 1/2, and no unit-norm columns do it with
  // less.
  for (const SuldaRoute route : {SuldaRoute::kSimplex, SuldaRoute::kSplitting}) {
    const ScoringFit fit = sulda_solver(problem, {}, 0, {.route = route})->fit(0.0, {});
    EXPECT_EQ(fit.b.rows, (std::vector<Index>{4}));
    EXPECT_NEAR(fit.objective, 0.5, 1e-10);
    EXPECT_TRUE(fit.converged);
  }
  data = oracle::random_classes(12, 30, 2, 19);  // a class of one, and weights
  data.labels->codes.assign(12, 0);
  data.labels->codes[7] = 1;
  data.weights = Vector::LinSpaced(12, 0.5, 2.0);
  problem = problem_of(data);
  const ScoringFit fit = sulda_solver(problem, {})->fit(0.0, {});
  EXPECT_TRUE(fit.converged);
  EXPECT_LT((problem.x * dense(problem, fit) - problem.targets / 2.0).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Sulda, IsStillFeasibleWhenItWasEndedEarly) {
  const DatasetParts data = oracle::random_classes(30, 400, 3, 23);
  const ScoringProblem problem = problem_of(data);
  std::stop_source stop;
  stop.request_stop();
  const RunControl stopped(stop.get_token(), kInfinity);
  for (const SuldaRoute route : {SuldaRoute::kSimplex, SuldaRoute::kSplitting}) {
    for (const Index limit : {1, 7}) {
      SCOPED_TRACE(limit);
      const auto solver = sulda_solver(problem, {.max_iterations = limit}, 0, {.route = route});
      for (const ScoringFit& fit : {solver->fit(0.0, {}), solver->fit(0.0, stopped)}) {
        EXPECT_FALSE(fit.converged);
        EXPECT_GT(fit.gap, 1e-6);
        EXPECT_LE(fit.gap, 1.0);
        EXPECT_LT((problem.x * dense(problem, fit) - problem.targets / 2.0).cwiseAbs().maxCoeff(), 1e-8);
      }
    }
  }
  EXPECT_THROW((void)sulda_solver(problem, {.tolerance = -1.0}), InvalidArgument);
  EXPECT_THROW((void)sulda_solver(problem, {.max_iterations = 0}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra::sulda_test
