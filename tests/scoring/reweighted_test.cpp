/// Reweighted ridge regression against textbook formulas with every matrix formed and inverted.
#include "scoring/reweighted.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "classes.hpp"

namespace subspectra::reweighted_test {
namespace {

using oracle::dense_rows;
using oracle::gaussian_classes;
using oracle::scoring_problem;

struct Naive {
  Matrix b;
  std::vector<char> gone;
};

/// The rule of the paper's (20) and (24), or of the fast update, feature by feature.
Naive naive_rvm(const ScoringProblem& problem, double lambda, const RvmRow& options, Index iterations) {
  const Index n = problem.rows(), p = problem.columns();
  const double noise = lambda * static_cast<double>(n);
  const double alpha = std::isfinite(options.alpha) ? options.alpha : noise;
  const auto count = static_cast<double>(problem.discriminants());
  Vector gamma = Vector::Ones(p);
  Naive result{.b = {}, .gone = std::vector<char>(static_cast<std::size_t>(p), 0)};
  for (Index t = 0; t < iterations; ++t) {
    const Matrix k = problem.x * gamma.asDiagonal() * problem.x.transpose();
    const Matrix ridge = (noise * Matrix::Identity(n, n) + k).inverse();
    const Matrix spread = (alpha * Matrix::Identity(n, n) + k).inverse();
    result.b = gamma.asDiagonal() * problem.x.transpose() * ridge * problem.targets;
    if (t + 1 == iterations) break;
    Vector next(p);
    for (Index i = 0; i < p; ++i) {
      const double z = problem.x.col(i).dot(spread * problem.x.col(i));
      const double square = result.b.row(i).squaredNorm() / count;
      next[i] = options.rvm_update == RvmUpdate::kFast ? std::sqrt(square / z)
                                                       : square + gamma[i] - gamma[i] * gamma[i] * z;
      if (gamma[i] == 0.0) next[i] = 0.0;
    }
    const double threshold = options.prune * std::max(next.maxCoeff(), noise);
    for (Index i = 0; i < p; ++i) {
      if (options.prune > 0.0 && next[i] <= threshold) {
        next[i] = 0.0;
        result.gone[static_cast<std::size_t>(i)] = 1;
      }
    }
    gamma = next;
  }
  return result;
}

void expect_falling(const std::vector<double>& trace) {
  for (std::size_t i = 1; i < trace.size(); ++i)
    ASSERT_LE(trace[i], trace[i - 1] + 1e-10 * std::abs(trace[i - 1])) << i;
}

TEST(RvmRow, AgreesWithEveryMatrixFormed) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{30, 60}, {60, 20}}) {
    const auto problem = scoring_problem(gaussian_classes(rows, columns, 3, 7));
    for (const auto update : {RvmUpdate::kFast, RvmUpdate::kEm}) {
      for (const double alpha : {kInfinity, 0.37}) {
        for (const double prune : {0.0, 1e-6, 1e-3}) {
          SCOPED_TRACE(fmt::format("{} x {}, alpha {}, prune {}", rows, columns, alpha, prune));
          const RvmRow options{
              .alpha = alpha, .prune = prune, .rvm_update = update, .max_iterations = 40, .tolerance = 0.0};
          const auto solver = rvm_row_solver(problem, options, 2);
          const double lambda = 0.1 * solver->lambda_max();
          const ScoringFit fit = solver->fit(lambda, {});
          const Naive naive = naive_rvm(problem, lambda, options, 40);
          EXPECT_EQ(fit.iterations, 40);
          EXPECT_LE((dense_rows(fit.b, columns) - naive.b).cwiseAbs().maxCoeff(),
                    1e-6 * naive.b.cwiseAbs().maxCoeff());
          std::vector<Index> support;
          for (Index i = 0; i < columns; ++i) {
            if (naive.gone[static_cast<std::size_t>(i)] == 0) support.push_back(i);
          }
          EXPECT_EQ(fit.b.rows, support);
        }
      }
    }
  }
}

TEST(RvmRow, TheCostNeverRises) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto problem = scoring_problem(gaussian_classes(40, seed % 2 == 0 ? 150 : 25, 4, seed));
    for (const auto update : {RvmUpdate::kFast, RvmUpdate::kEm}) {
      for (const double alpha : {kInfinity, 1e-3, 10.0}) {
        const auto solver = rvm_row_solver(
            problem,
            {.alpha = alpha, .prune = 0.0, .rvm_update = update, .max_iterations = 150, .tolerance = 0.0}, 1);
        for (const double part : {0.5, 0.05, 1e-3})
          expect_falling(solver->fit(part * solver->lambda_max(), {}).trace);
      }
    }
  }
}

TEST(RvmRow, ReportsTheCostOfThePaper) {
  const auto problem = scoring_problem(gaussian_classes(25, 40, 3, 3));
  const double lambda = 0.004;
  const auto fit =
      rvm_row_solver(problem, {.alpha = 0.2, .prune = 0.0, .max_iterations = 1, .tolerance = 0.0}, 1)
          ->fit(lambda, {});
  const Matrix b = dense_rows(fit.b, 40);
  const Matrix k = 0.2 * Matrix::Identity(25, 25) + problem.x * problem.x.transpose();  // gamma = 1
  const double expected = (problem.targets - problem.x * b).squaredNorm() / 25.0 +
                          lambda * (b.squaredNorm() + 2.0 * std::log(k.determinant()));
  EXPECT_NEAR(fit.objective, expected, 1e-10 * std::abs(expected));
}

TEST(RvmRow, FromItsLargestLambdaOnNothingIsLeft) {
  const auto problem = scoring_problem(gaussian_classes(30, 200, 3, 5));
  for (const double alpha : {kInfinity, 0.1, 1.0, 100.0}) {
    const auto solver =
        rvm_row_solver(problem, {.alpha = alpha, .max_iterations = 20000, .tolerance = 1e-9}, 1);
    EXPECT_TRUE(solver->fit(1.2 * solver->lambda_max(), {}).b.rows.empty()) << alpha;
    EXPECT_FALSE(solver->fit(0.5 * solver->lambda_max(), {}).b.rows.empty()) << alpha;
  }
}

/// Row norms settle long before small variances have fallen to nothing. What is still on its way out then is
/// not part of the answer: the features are those that are left when the iteration goes on for very long.
TEST(RvmRow, FeaturesOnTheirWayOutAreNotCounted) {
  std::size_t surplus = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto problem = scoring_problem(gaussian_classes(60, seed % 2 == 0 ? 150 : 40, 4, seed));
    for (const auto update : {RvmUpdate::kFast, RvmUpdate::kEm}) {
      const auto solver =
          rvm_row_solver(problem, {.rvm_update = update, .max_iterations = 5000, .tolerance = 1e-5}, 1);
      // The fast rule: (24) would need a million iterations to say the same.
      const RvmRow patient{.max_iterations = 200000, .tolerance = 1e-12};
      for (const double part : {0.3, 0.1}) {
        const double lambda = part * solver->lambda_max();
        const auto fit = solver->fit(lambda, {});
        expect_falling(fit.trace);
        const Vector norms = fit.b.values.rowwise().norm();
        ASSERT_GT(norms.size(), 0);
        EXPECT_GT(norms.minCoeff(), 1e-3 * norms.maxCoeff()) << seed;
        if (update == RvmUpdate::kEm) continue;
        const auto expected = rvm_row_solver(problem, patient, 1)->fit(lambda, {}).b.rows;
        EXPECT_TRUE(std::includes(fit.b.rows.begin(), fit.b.rows.end(), expected.begin(), expected.end()))
            << seed;
        surplus += fit.b.rows.size() - expected.size();
      }
    }
  }
  EXPECT_LE(surplus, 1U);  // of 12 sets; one may fall too slowly to be seen
}

/// Lemma 2: a rotation of the scores turns B and nothing else.
TEST(RvmRow, AnyValidScoresGiveTheSameRows) {
  auto problem = scoring_problem(gaussian_classes(40, 90, 4, 11));
  const RvmRow options{.max_iterations = 300, .tolerance = 0.0};
  const double lambda = 0.1 * rvm_row_solver(problem, options, 1)->lambda_max();
  const auto before = rvm_row_solver(problem, options, 1)->fit(lambda, {});
  const Matrix turn = Eigen::HouseholderQR<Matrix>(Matrix::Random(3, 3)).householderQ();
  problem.scores *= turn;
  problem.targets *= turn;
  const auto after = rvm_row_solver(problem, options, 1)->fit(lambda, {});
  ASSERT_EQ(before.b.rows, after.b.rows);
  EXPECT_LE((before.b.values * turn - after.b.values).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_NEAR(before.objective, after.objective, 1e-10 * std::abs(before.objective));
}

/// Theorem 2 for given variances: min_B (1/N)|T - XB|^2 + lambda sum |b_i|^2/gamma_i = sum_k 1/(N (1 +
/// nu_k)), nu_k the eigenvalues of (Sigma_w + lambda Gamma^{-1})^{-1} Sigma_b; and for two classes (Theorem
/// 1) the best multiple of any direction u leaves 1/N - h(v), h(v) = v/(N (1 + v)), v = u'Sigma_b u/u'Sigma_w
/// u.
TEST(OptimalScoring, IsFishersCriterionSquashed) {
  const DatasetParts data = gaussian_classes(35, 12, 4, 2);
  const auto problem = scoring_problem(data);
  const double n = 35.0, lambda = 0.01;
  const Matrix sums = class_sums(problem, problem.x);
  const Matrix between = sums.transpose() * problem.class_weights.cwiseInverse().asDiagonal() * sums / n;
  const Matrix within = problem.x.transpose() * problem.x / n - between;
  const JeffreysRow once{.max_iterations = 1, .tolerance = 0.0};
  const Matrix b = dense_rows(jeffreys_row_solver(problem, once, 1)->fit(lambda, {}).b, 12);  // gamma = 1
  const double value = (problem.targets - problem.x * b).squaredNorm() / n + lambda * b.squaredNorm();
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> pairs(
      between, within + lambda * Matrix::Identity(12, 12), Eigen::EigenvaluesOnly | Eigen::Ax_lBx);
  double expected = 0.0;
  for (Index k = 0; k < 3; ++k) expected += 1.0 / (n * (1.0 + pairs.eigenvalues()[11 - k]));
  EXPECT_NEAR(value, expected, 1e-12);

  const DatasetParts two = gaussian_classes(30, 8, 2, 4);
  const auto pair = scoring_problem(two);
  const Matrix pair_sums = class_sums(pair, pair.x);
  const Matrix a = pair_sums.transpose() * pair.class_weights.cwiseInverse().asDiagonal() * pair_sums / 30.0;
  const Matrix w = pair.x.transpose() * pair.x / 30.0 - a;
  Random random(9);
  for (int trial = 0; trial < 100; ++trial) {
    Vector u(8);
    for (auto& entry : u) entry = random.normal();
    const Vector image = pair.x * u;
    const Vector t = pair.targets.col(0);
    const double best = (t - t.dot(image) / image.squaredNorm() * image).squaredNorm() / 30.0;
    const double v = u.dot(a * u) / u.dot(w * u);
    EXPECT_NEAR(best, 1.0 / 30.0 - v / (30.0 * (1.0 + v)), 1e-12);
  }
}

TEST(RvmRow, ThreadsDoNotChangeABit) {
  const auto problem = scoring_problem(gaussian_classes(50, 3000, 3, 1));
  const auto run = [&](int threads) {
    return rvm_row_solver(problem, {.max_iterations = 30, .tolerance = 0.0}, threads)->fit(0.002, {});
  };
  const auto one = run(1);
  for (const int threads : {2, 8}) {
    const auto many = run(threads);
    EXPECT_EQ(one.b.rows, many.b.rows);
    EXPECT_EQ(one.b.values, many.b.values);
    EXPECT_EQ(one.trace, many.trace);
  }
}

TEST(RvmRow, CopiesShareTheirWeight) {
  DatasetParts data = gaussian_classes(40, 30, 3, 8);
  data.dense.col(20) = data.dense.col(0);
  const auto fit = rvm_row_solver(scoring_problem(data), {})->fit(0.0005, {});
  const Matrix b = dense_rows(fit.b, 30);
  EXPECT_GT(b.row(0).norm(), 0.0);
  EXPECT_LE((b.row(0) - b.row(20)).norm(), 1e-10 * b.row(0).norm());
}

TEST(RvmRow, WarmStartsGoUpThePath) {
  const auto problem = scoring_problem(gaussian_classes(60, 400, 4, 6));
  const auto solver = rvm_row_solver(problem, {}, 0, true);
  EXPECT_TRUE(solver->rising());
  std::vector<Index> before;
  for (const double part : {1e-3, 1e-2, 0.1, 0.5}) {
    const auto fit = solver->fit(part * solver->lambda_max(), {});
    if (part > 1e-3) {
      EXPECT_TRUE(std::includes(before.begin(), before.end(), fit.b.rows.begin(), fit.b.rows.end()));
    }
    expect_falling(fit.trace);
    before = fit.b.rows;
  }
}

TEST(Jeffreys, TheCostNeverRises) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto problem = scoring_problem(gaussian_classes(40, seed % 2 == 0 ? 120 : 20, 3, seed));
    for (const double part : {0.5, 0.05, 1e-3}) {
      const auto rows = jeffreys_row_solver(
          problem, {.epsilon = 1e-6, .prune = 0.0, .max_iterations = 100, .tolerance = 0.0}, 1);
      expect_falling(rows->fit(part * rows->lambda_max(), {}).trace);
      const auto entries = jeffreys_entry_solver(
          problem, {.epsilon = 1e-6, .prune = 0.0, .max_iterations = 100, .tolerance = 0.0}, 1);
      expect_falling(entries->fit(part * entries->lambda_max(), {}).trace);
    }
  }
}

/// At the end every feature that is left satisfies the stationarity of (1/N)|T - XB|^2 + lambda sum
/// log(|b_i|^2 + eps).
TEST(Jeffreys, EndsAtAStationaryPoint) {
  const auto problem = scoring_problem(gaussian_classes(50, 80, 3, 12));
  const JeffreysRow options{.max_iterations = 5000, .tolerance = 1e-12};
  const auto solver = jeffreys_row_solver(problem, options, 1);
  const double lambda = 0.05 * solver->lambda_max();
  const auto fit = solver->fit(lambda, {});
  ASSERT_FALSE(fit.b.rows.empty());
  const Matrix residual = problem.targets - fitted_values(problem, fit.b);
  for (std::size_t i = 0; i < fit.b.rows.size(); ++i) {
    const auto row = fit.b.values.row(static_cast<Index>(i));
    const Eigen::RowVectorXd slope = -2.0 / 50.0 * problem.x.col(fit.b.rows[i]).transpose() * residual +
                                     2.0 * lambda / (row.squaredNorm() + options.epsilon) * row;
    EXPECT_LE(slope.norm(), 1e-7);
  }
}

TEST(Reweighted, StrangeTables) {
  const auto finite = [](const ScoringFit& fit) {
    EXPECT_TRUE(fit.b.values.allFinite());
    EXPECT_TRUE(std::isfinite(fit.objective));
  };
  const auto all_kinds = [&](const ScoringProblem& problem) {
    for (const double part : {1.0, 0.1, 1e-4}) {
      const auto rvm = rvm_row_solver(problem, {});
      finite(rvm->fit(part * rvm->lambda_max(), {}));
      const auto rows = jeffreys_row_solver(problem, {});
      finite(rows->fit(part * rows->lambda_max(), {}));
      const auto entries = jeffreys_entry_solver(problem, {});
      finite(entries->fit(part * entries->lambda_max(), {}));
    }
  };
  all_kinds(scoring_problem(gaussian_classes(30, 5, 14, 1)));    // K = 14, p < K
  all_kinds(scoring_problem(gaussian_classes(20, 500, 10, 2)));  // K = N/2, classes of one row
  all_kinds(scoring_problem(gaussian_classes(3, 2, 2, 3)));
  DatasetParts scales = gaussian_classes(20, 6, 2, 4);
  scales.dense.col(0) *= 1e150;
  scales.dense.col(1) *= 1e-150;
  scales.dense.col(2).setConstant(3.0);
  all_kinds(scoring_problem(scales));
  DatasetParts separated = gaussian_classes(12, 4, 3, 5);
  for (Index i = 0; i < 12; ++i) separated.dense(i, 1) = separated.labels->codes[static_cast<std::size_t>(i)];
  all_kinds(scoring_problem(separated));
}

}  // namespace
}  // namespace subspectra::reweighted_test
