#include "scoring/problem.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>
#include <random>

#include "oracle.hpp"

namespace subspectra::problem_test {
namespace {

std::vector<Index> all_columns(const DatasetParts& data) {
  std::vector<Index> columns(static_cast<std::size_t>(data.features()));
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

ScoringProblem problem_of(const DatasetParts& data) {
  return make_scoring_problem(data, all_columns(data), 1);
}

/// Y, straight from the labels.
Matrix indicator(const DatasetParts& data) {
  Matrix y = Matrix::Zero(data.rows(), data.labels->class_count());
  for (Index i = 0; i < y.rows(); ++i) y(i, data.labels->codes[static_cast<std::size_t>(i)]) = 1.0;
  return y;
}

Matrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

TEST(ScoringProblem, ItsColumnsAreCentredWithUnitNormAndItsScoresOrthonormalWithoutTheMean) {
  for (const int classes : {2, 3, 5, 14}) {
    SCOPED_TRACE(classes);
    const DatasetParts data = oracle::random_classes(61, 20, classes, 7);
    const ScoringProblem problem = problem_of(data);
    EXPECT_LT(problem.x.colwise().sum().cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LT((problem.x.colwise().norm().array() - 1.0).abs().maxCoeff(), 1e-13);
    const Matrix y = indicator(data);
    ASSERT_EQ(problem.discriminants(), classes - 1);
    const Matrix t = y * problem.scores;
    EXPECT_LT((t - problem.targets).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((t.transpose() * t - Matrix::Identity(classes - 1, classes - 1)).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LT(t.colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
    // The rule of the rotation: Theta'Y'X X'Y Theta is diagonal and falls.
    const Matrix m = problem.x.transpose() * t;
    const Matrix gram = m.transpose() * m;
    for (Index k = 0; k < gram.rows(); ++k) {
      if (k > 0) {
        EXPECT_LE(gram(k, k), gram(k - 1, k - 1) * (1.0 + 1e-12));
      }
      for (Index i = 0; i < k; ++i) EXPECT_NEAR(gram(i, k), 0.0, 1e-11);
      const Vector column = problem.scores.col(k).cwiseProduct(problem.class_weights.cwiseSqrt());
      EXPECT_GT(column.maxCoeff(), -column.minCoeff());
    }
    // Columns in the user's units.
    for (const Index j : {0, 11}) {
      const Vector centred = data.dense.col(j).array() - data.dense.col(j).mean();
      EXPECT_LT((problem.scales[j] * problem.x.col(j) - centred).cwiseAbs().maxCoeff(), 1e-13);
    }
  }
}

TEST(ScoringProblem, WeightsAreRepeatedRows) {
  DatasetParts data = oracle::random_classes(24, 9, 3, 3);
  std::vector<int> times(24);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int>(1 + (i * 7) % 4);
  const DatasetParts longer = oracle::repeated(data, times);
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 24).cast<double>();
  const ScoringProblem weighted = problem_of(data);
  const ScoringProblem repeated = problem_of(longer);
  EXPECT_NEAR(weighted.root_weights.squaredNorm(), 24.0, 1e-12);
  // Y'Y is of the size of N, and Theta of N^{-1/2}.
  const double ratio = static_cast<double>(longer.rows()) / 24.0;
  EXPECT_LT((ratio * weighted.class_weights - repeated.class_weights).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((weighted.scores / std::sqrt(ratio) - repeated.scores).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((weighted.x.transpose() * weighted.x - repeated.x.transpose() * repeated.x).cwiseAbs().maxCoeff(),
            1e-13);
  EXPECT_LT((weighted.x.transpose() * weighted.targets - repeated.x.transpose() * repeated.targets)
                .cwiseAbs()
                .maxCoeff(),
            1e-13);
  EXPECT_LT((std::sqrt(ratio) * weighted.scales - repeated.scales).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ScoringProblem, ASparseTableIsTheDenseOne) {
  DatasetParts data = oracle::random_classes(30, 12, 3, 5);
  data.dense = (data.dense.array().abs() > 0.8).select(data.dense, 0.0);
  const ScoringProblem dense = problem_of(data);
  const ScoringProblem sparse = problem_of(oracle::as_sparse(data));
  EXPECT_EQ(dense.x, sparse.x);
  EXPECT_EQ(dense.scores, sparse.scores);
  EXPECT_EQ(dense.scales, sparse.scales);
}

TEST(ScoringProblem, AnEmptyClassHasScoreZeroAndCostsADiscriminant) {
  DatasetParts data = oracle::random_classes(30, 6, 3, 9);
  data.labels->classes.insert(data.labels->classes.begin() + 1, "nobody");
  for (int& code : data.labels->codes) code += code > 0 ? 1 : 0;
  const ScoringProblem problem = problem_of(data);
  EXPECT_EQ(problem.discriminants(), 2);
  EXPECT_EQ(problem.class_weights[1], 0.0);
  EXPECT_TRUE(problem.scores.row(1).isZero(0.0));
  EXPECT_TRUE(problem.scores.allFinite());
  const Matrix again = best_scores(problem, problem.targets);
  EXPECT_LT((again - problem.scores).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ScoringProblem, SurvivesAnyScaleAndALargeOffset) {
  const DatasetParts data = oracle::random_classes(40, 5, 3, 11);
  DatasetParts scaled = data;
  scaled.dense.col(0) *= 1e150;
  scaled.dense.col(1) *= 1e-150;
  scaled.dense.col(2) *= 1e300;
  scaled.dense.col(3).array() += 1e6;
  const ScoringProblem plain = problem_of(data);
  const ScoringProblem extreme = problem_of(scaled);
  EXPECT_LT((plain.x - extreme.x).leftCols(3).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((plain.x - extreme.x).cwiseAbs().maxCoeff(), 1e-9);  // 1e6 costs six digits of the table itself
  EXPECT_NEAR(extreme.scales[0] / (1e150 * plain.scales[0]), 1.0, 1e-13);
  EXPECT_NEAR(extreme.scales[1] / (1e-150 * plain.scales[1]), 1.0, 1e-13);
  EXPECT_LT((plain.scores - extreme.scores).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(ScoringProblem, DegenerateTablesAreFine) {
  DatasetParts data = oracle::random_classes(28, 6, 14, 13);  // K = N/2
  data.dense.col(1) = data.dense.col(0);
  for (Index i = 0; i < 28; ++i) data.dense(i, 2) = data.labels->codes[static_cast<std::size_t>(i)];
  ScoringProblem problem = problem_of(data);
  EXPECT_EQ(problem.discriminants(), 13);
  EXPECT_EQ(problem.x.col(0), problem.x.col(1));
  EXPECT_TRUE(problem.scores.allFinite());
  DatasetParts single = oracle::random_classes(10, 4, 2, 17);
  single.labels->codes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  problem = problem_of(single);
  EXPECT_EQ(problem.class_weights[1], 1.0);
  EXPECT_NEAR(problem.targets.squaredNorm(), 1.0, 1e-14);
}

TEST(FittedValues, AreThoseOfTheWholeProduct) {
  const DatasetParts data = oracle::random_classes(30, 12, 3, 19);
  const ScoringProblem problem = problem_of(data);
  RowSparseMatrix b{.rows = {2, 7, 11}, .values = random_matrix(3, 2, 1)};
  b.values(1, 0) = 0.0;
  EXPECT_EQ(b.entries(), 5);
  Matrix full = Matrix::Zero(12, 2);
  full(b.rows, Eigen::all) = b.values;
  EXPECT_LT((fitted_values(problem, b) - problem.x * full).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_TRUE(fitted_values(problem, {.rows = {}, .values = Matrix(0, 2)}).isZero(0.0));
  const Matrix a = random_matrix(30, 4, 2);
  EXPECT_LT((class_sums(problem, a) - indicator(data).transpose() * a).cwiseAbs().maxCoeff(), 1e-13);
}

// Oracle: 2,000 random Theta that satisfy the constraints. None may fit X B better.
TEST(BestScores, AreBetterThanAnyOtherValidOnes) {
  for (const int classes : {2, 3, 5}) {
    SCOPED_TRACE(classes);
    const DatasetParts data = oracle::random_classes(31, 8, classes, 23);
    const ScoringProblem problem = problem_of(data);
    const Index l = classes - 1;
    const Matrix fitted = problem.x * random_matrix(8, l, 3);
    const Matrix y = indicator(data);
    const Matrix best = best_scores(problem, fitted);
    EXPECT_LT((best.transpose() * y.transpose() * y * best - Matrix::Identity(l, l)).cwiseAbs().maxCoeff(),
              1e-13);
    EXPECT_LT((y * best).colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
    const double error = (y * best - fitted).squaredNorm();
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      // Every valid Theta is problem.scores times a rotation.
      const Matrix q = Eigen::HouseholderQR<Matrix>(random_matrix(l, l, 100 + seed)).householderQ();
      const double flip = seed % 2 == 0 ? 1.0 : -1.0;
      ASSERT_LE(error, (y * (flip * problem.scores * q) - fitted).squaredNorm() + 1e-12);
    }
  }
}

TEST(BestScores, NeverGiveTheTrivialScoreForAFitOfLowRank) {
  const DatasetParts data = oracle::random_classes(40, 6, 5, 29);
  const ScoringProblem problem = problem_of(data);
  const Matrix y = indicator(data);
  for (const Index rank : {0, 1, 2}) {
    SCOPED_TRACE(rank);
    Matrix fitted = Matrix::Zero(40, 4);
    fitted.leftCols(rank) = problem.x.leftCols(rank);
    const Matrix best = best_scores(problem, fitted);
    EXPECT_LT((y * best).colwise().sum().cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((best.transpose() * y.transpose() * y * best - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(),
              1e-13);
  }
}

// Lemma 1 of AISTATS15: for p > N and Omega = 0 the direct cost b'Sigma_b b - lambda |b|_1 has no upper end
// on b'Sigma_w b = 1, because along the null space of Sigma_w the quadratic outgrows the penalty.
TEST(DirectCost, GrowsWithoutBoundAlongTheNullSpaceOfTheWithinCovariance) {
  const DatasetParts data = oracle::random_classes(20, 40, 2, 31);
  const ScoringProblem problem = problem_of(data);
  const auto scatter = oracle::scatter(problem.x, data.labels->codes, 2);
  const Eigen::SelfAdjointEigenSolver<Matrix> within(scatter.within);
  const Matrix null = within.eigenvectors().leftCols(40 - 18);  // rank N - K = 18
  ASSERT_LT(within.eigenvalues()[21], 1e-14);
  ASSERT_GT(within.eigenvalues()[22], 1e-6);
  const Vector direction = null * (null.transpose() * (problem.x.transpose() * problem.targets.col(0)));
  ASSERT_GT((direction.array() != 0.0).count(), 39);  // no zeros: not sparse
  const Vector feasible = within.eigenvectors().col(39) / std::sqrt(within.eigenvalues()[39]);
  constexpr double kLambda = 0.1;
  double last = -kInfinity;
  for (double scale = 1e2; scale < 1e9; scale *= 10.0) {
    const Vector b = feasible + scale * direction;
    ASSERT_NEAR(b.dot(scatter.within * b), 1.0, 1e-14 * scale * scale);
    const double cost = b.dot(scatter.between * b) - kLambda * b.lpNorm<1>();
    if (scale > 1e4) {
      EXPECT_GT(cost, 10.0 * std::abs(last));
    }
    last = cost;
  }
  EXPECT_GT(last, 1e10);
}

}  // namespace
}  // namespace subspectra::problem_test
