#include "scoring/gloss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <subspectra/error.hpp>
#include "classes.hpp"
#include "core/random.hpp"
#include "scoring/sfd.hpp"

namespace subspectra {
namespace {

using oracle::all_features;
using oracle::dense_rows;
using oracle::gaussian_classes;

TEST(Gloss, IsOptimalInTheScaleOfItsOwnObjective) {
  const DatasetParts data = gaussian_classes(60, 120, 4, 1);
  const ScoringProblem problem = make_scoring_problem(data, all_features(data), 1);
  const auto gloss = gloss_solver(problem, {.tolerance = 1e-13}, 1);
  const auto n = static_cast<double>(problem.rows());
  const double top = gloss->lambda_max();
  EXPECT_NEAR(top, 2.0 / n * (problem.x.transpose() * problem.targets).rowwise().norm().maxCoeff(), 1e-14);
  EXPECT_TRUE(gloss->fit(1.0001 * top, RunControl()).b.rows.empty());
  for (const double part : {0.8, 0.4, 0.1, 0.02}) {
    const double lambda = part * top;
    const ScoringFit fit = gloss->fit(lambda, RunControl());
    const Matrix b = dense_rows(fit.b, 120);
    const Matrix residual = problem.targets - problem.x * b;
    EXPECT_TRUE(fit.converged);
    EXPECT_EQ(fit.lambda, lambda);
    EXPECT_EQ(fit.scores, problem.scores);
    EXPECT_NEAR(fit.objective, residual.squaredNorm() / n + lambda * b.rowwise().norm().sum(), 1e-12);
    EXPECT_LE(fit.gap, 1e-13);
    // A step on one row, N/2 times the objective: b_i <- soft(x_i'R + b_i, N lambda/2). None goes anywhere.
    const Matrix products = problem.x.transpose() * residual;
    for (Index i = 0; i < b.rows(); ++i) {
      const Eigen::RowVectorXd z = products.row(i) + b.row(i);
      const Eigen::RowVectorXd next = z * std::max(0.0, 1.0 - 0.5 * n * lambda / z.norm());
      EXPECT_LE((next - b.row(i)).norm(), 1e-6);
    }
  }
}

TEST(Gloss, TurnsWithTheScores) {
  const DatasetParts data = gaussian_classes(50, 80, 3, 2);
  const ScoringProblem problem = make_scoring_problem(data, all_features(data), 1);
  ScoringProblem turned = problem;
  Matrix rotation(2, 2);
  rotation << std::cos(0.7), -std::sin(0.7), std::sin(0.7), std::cos(0.7);
  turned.scores = problem.scores * rotation;
  turned.targets = problem.targets * rotation;
  const auto a = gloss_solver(problem, {.tolerance = 1e-13}, 1);
  const auto b = gloss_solver(turned, {.tolerance = 1e-13}, 1);
  const double lambda = 0.3 * a->lambda_max();
  const ScoringFit first = a->fit(lambda, RunControl()), second = b->fit(lambda, RunControl());
  EXPECT_NEAR(first.objective, second.objective, 1e-12);
  EXPECT_LE((dense_rows(first.b, 80) * rotation - dense_rows(second.b, 80)).norm(), 1e-5);
}

TEST(Gloss, TakesTwoRowsAndOneColumn) {
  DatasetParts data;
  data.dense.resize(2, 1);
  data.dense << 1.0, 4.0;
  data.labels = Labels::from_texts("class", {"a", "b"});
  const ScoringProblem problem = make_scoring_problem(data, {0}, 1);
  const auto gloss = gloss_solver(problem, {}, 1);
  const ScoringFit fit = gloss->fit(0.5 * gloss->lambda_max(), RunControl());
  ASSERT_EQ(fit.b.rows.size(), 1U);
  EXPECT_NEAR(std::abs(fit.b.values(0, 0)), 0.5, 1e-7);  // x'T = +/-1, halved by soft thresholding
}

TEST(SparseFisher, IsTheLassoOnLabelsOfPlusAndMinusOne) {
  const DatasetParts data = gaussian_classes(40, 70, 2, 3);
  const ScoringProblem problem = make_scoring_problem(data, all_features(data), 1);
  const auto sfd = sfd_solver(problem, {.tolerance = 1e-13}, 1);
  Vector y(40);
  for (Index i = 0; i < 40; ++i)
    y[i] = problem.scores(problem.codes[static_cast<std::size_t>(i)], 0) > 0.0 ? 1.0 : -1.0;
  y.array() -= y.mean();
  EXPECT_NEAR(sfd->lambda_max(), 2.0 * (problem.x.transpose() * y).cwiseAbs().maxCoeff(), 1e-12);
  const double lambda = 0.2 * sfd->lambda_max();
  const ScoringFit fit = sfd->fit(lambda, RunControl());
  const Vector w = dense_rows(fit.b, 70);
  const Vector residual = y - problem.x * w;
  EXPECT_FALSE(fit.b.rows.empty());
  EXPECT_NEAR(fit.objective, residual.squaredNorm() + lambda * w.lpNorm<1>(), 1e-10);
  const Vector gradient = 2.0 * (problem.x.transpose() * residual);
  for (Index i = 0; i < 70; ++i) {
    if (w[i] != 0.0) {
      EXPECT_NEAR(gradient[i], std::copysign(lambda, w[i]), 1e-4);
    } else {
      EXPECT_LE(std::abs(gradient[i]), lambda + 1e-4);
    }
  }
  EXPECT_LE((scored_classes(problem, fit.scores).col(0) - y).norm(), 1e-12);
}

TEST(SparseFisher, IsForTwoClasses) {
  const DatasetParts data = gaussian_classes(40, 10, 3, 3);
  const ScoringProblem problem = make_scoring_problem(data, all_features(data), 1);
  EXPECT_THROW((void)sfd_solver(problem, {}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra
