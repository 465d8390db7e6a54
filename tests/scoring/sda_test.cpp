#include "scoring/sda.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <subspectra/error.hpp>
#include "classes.hpp"
#include "core/random.hpp"

namespace subspectra {
namespace {

using oracle::dense_rows;
using oracle::gaussian_classes;
using oracle::scoring_problem;

/// Both halves of the alternation, from their definitions with dense matrices: neither may improve the
/// answer.
TEST(Sda, NeitherStepImprovesWhatItFound) {
  for (const double l2 : {1e-6, 1e-3}) {
    const DatasetParts data = gaussian_classes(60, 90, 4, 5);
    const ScoringProblem problem = scoring_problem(data);
    const auto n = static_cast<double>(problem.rows());
    const auto sda = sda_solver(problem, {.l2 = l2, .tolerance = 1e-13}, 1, {.lasso_tolerance = 1e-14});
    const Matrix d = problem.class_weights.asDiagonal();
    for (const double part : {0.6, 0.3, 0.1}) {
      SCOPED_TRACE(part);
      const double lambda = part * sda->lambda_max();
      const ScoringFit fit = sda->fit(lambda, RunControl());
      const Matrix b = dense_rows(fit.b, 90);
      EXPECT_TRUE(fit.converged);
      ASSERT_EQ(b.cols(), 3);
      // Scores: D-orthonormal, and orthogonal to the constant one.
      EXPECT_LE((fit.scores.transpose() * d * fit.scores - Matrix::Identity(3, 3)).norm(), 1e-12);
      EXPECT_LE((fit.scores.transpose() * problem.class_weights).norm(), 1e-12 * n);
      double objective = 0.0;
      Matrix q(4, 1);
      q.setConstant(1.0 / std::sqrt(n));
      for (Index k = 0; k < 3; ++k) {
        const Vector target = scored_classes(problem, fit.scores.col(k));
        const Vector residual = target - problem.x * b.col(k);
        objective += residual.squaredNorm() / n + l2 * b.col(k).squaredNorm() + lambda * b.col(k).lpNorm<1>();
        const Vector gradient = 2.0 / n * (problem.x.transpose() * residual) - 2.0 * l2 * b.col(k);
        for (Index i = 0; i < 90; ++i) {
          if (b(i, k) != 0.0) {
            EXPECT_NEAR(gradient[i], std::copysign(lambda, b(i, k)), 1e-6);
          } else {
            EXPECT_LE(std::abs(gradient[i]), lambda + 1e-6);
          }
        }
        if (b.col(k).norm() > 0.0) {
          Vector theta(4);
          const Vector fitted = problem.x * b.col(k);
          for (int c = 0; c < 4; ++c) {
            double sum = 0.0;
            for (Index i = 0; i < problem.rows(); ++i)
              sum += problem.codes[static_cast<std::size_t>(i)] == c ? fitted[i] : 0.0;
            theta[c] = sum / problem.class_weights[c];
          }
          theta -= q * (q.transpose() * (d * theta));
          theta /= std::sqrt(theta.dot(d * theta));
          EXPECT_LE((theta - fit.scores.col(k)).norm(), 1e-5 * theta.norm());
        }
        q.conservativeResize(4, k + 2);
        q.col(k + 1) = fit.scores.col(k);
      }
      EXPECT_NEAR(fit.objective, objective, 1e-10);
    }
  }
}

TEST(Sda, NeverClimbs) {
  const DatasetParts data = gaussian_classes(80, 40, 3, 7);
  const ScoringProblem problem = scoring_problem(data);
  const auto sda = sda_solver(problem, {}, 1, {.lasso_tolerance = 1e-12});
  const ScoringFit fit = sda->fit(0.2 * sda->lambda_max(), RunControl());
  // Within a discriminant; at the start of the second one the trace rises by its objective.
  int rises = 0;
  for (std::size_t i = 1; i < fit.trace.size(); ++i) rises += fit.trace[i] > fit.trace[i - 1] + 1e-12 ? 1 : 0;
  EXPECT_LE(rises, 1);
  EXPECT_NEAR(fit.trace.back(), fit.objective, 1e-12);
}

/// Clemmensen's algorithm as it is written, with dense matrices and plain coordinate descent.
Matrix direct_sda(const ScoringProblem& problem, double lambda, double l2) {
  const auto n = static_cast<double>(problem.rows());
  const Vector& d = problem.class_weights;
  Matrix y = Matrix::Zero(problem.rows(), d.size());
  for (Index i = 0; i < problem.rows(); ++i) y(i, problem.codes[static_cast<std::size_t>(i)]) = 1.0;
  Matrix q = Matrix::Constant(d.size(), 1, 1.0 / std::sqrt(n));
  Matrix b = Matrix::Zero(problem.columns(), problem.discriminants());
  const auto admissible = [&](Vector theta) -> Vector {
    theta -= q * (q.transpose() * d.cwiseProduct(theta));
    return theta / std::sqrt(theta.dot(d.cwiseProduct(theta)));
  };
  for (Index k = 0; k < b.cols(); ++k) {
    Vector theta = admissible(problem.scores.col(k)), beta = Vector::Zero(b.rows());
    for (int round = 0; round < 300; ++round) {
      Vector residual = y * theta - problem.x * beta;
      for (int sweep = 0; sweep < 300; ++sweep) {
        for (Index j = 0; j < beta.size(); ++j) {
          const double z = problem.x.col(j).dot(residual) + beta[j];
          const double next =
              std::copysign(std::max(0.0, std::abs(z) - 0.5 * n * lambda), z) / (1.0 + n * l2);
          residual += (beta[j] - next) * problem.x.col(j);
          beta[j] = next;
        }
      }
      if (beta.norm() == 0.0) break;
      const Vector before = theta;
      theta = admissible(d.cwiseInverse().cwiseProduct(y.transpose() * (problem.x * beta)));
      if ((theta - before).norm() < 1e-14) break;
    }
    b.col(k) = beta;
    q.conservativeResize(Eigen::NoChange, k + 2);
    q.col(k + 1) = theta;
  }
  return b;
}

TEST(Sda, HasTheSupportOfADirectImplementation) {
  const DatasetParts data = gaussian_classes(40, 30, 3, 12);
  const ScoringProblem problem = scoring_problem(data);
  const auto sda = sda_solver(problem, {.l2 = 1e-4, .tolerance = 1e-13}, 1, {.lasso_tolerance = 1e-14});
  for (const double part : {0.6, 0.3, 0.15}) {  // falling, each from the one before
    const double lambda = part * sda->lambda_max();
    const Matrix found = dense_rows(sda->fit(lambda, RunControl()).b, 30);
    const Matrix expected = direct_sda(problem, lambda, 1e-4);
    EXPECT_LE((found - expected).norm(), 1e-5 * expected.norm()) << part;
    EXPECT_TRUE(((found.array() != 0.0) == (expected.array() != 0.0)).all()) << part;
  }
}

TEST(Sda, IsTheLassoForTwoClassesAndZeroFromLambdaMax) {
  const DatasetParts data = gaussian_classes(30, 50, 2, 8);
  const ScoringProblem problem = scoring_problem(data);
  const auto sda = sda_solver(problem, {}, 1);
  const double top = sda->lambda_max();
  EXPECT_NEAR(top, 2.0 / 30.0 * (problem.x.transpose() * problem.targets).cwiseAbs().maxCoeff(), 1e-14);
  const ScoringFit nothing = sda->fit(1.0001 * top, RunControl());
  EXPECT_TRUE(nothing.converged && nothing.b.rows.empty());
  EXPECT_EQ(nothing.b.values.cols(), 1);
  EXPECT_NEAR(nothing.objective, 1.0 / 30.0, 1e-12);
  const ScoringFit fit = sda->fit(0.5 * top, RunControl());
  EXPECT_FALSE(fit.b.rows.empty());
  EXPECT_LE((fit.scores - problem.scores).norm(), 1e-12);
}

TEST(Sda, GivesTheSameForAnyNumberOfThreads) {
  const DatasetParts data = gaussian_classes(50, 900, 4, 9);
  const ScoringProblem problem = scoring_problem(data);
  std::vector<Matrix> answers;
  for (const int threads : {1, 2, 8}) {
    const auto sda = sda_solver(problem, {}, threads);
    answers.push_back(dense_rows(sda->fit(0.3 * sda->lambda_max(), RunControl()).b, 900));
    EXPECT_EQ(answers.back(), answers.front());
  }
}

TEST(Sda, StopsWhenAskedAndChecksItsOptions) {
  const DatasetParts data = gaussian_classes(40, 30, 3, 10);
  const ScoringProblem problem = scoring_problem(data);
  std::stop_source source;
  source.request_stop();
  const auto sda = sda_solver(problem, {}, 1);
  EXPECT_FALSE(sda->fit(0.01 * sda->lambda_max(), RunControl(source.get_token(), kInfinity)).converged);
  EXPECT_THROW((void)sda_solver(problem, {.tolerance = -1e-3}), InvalidArgument);
  EXPECT_THROW((void)sda_solver(problem, {.max_iterations = 0}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra
