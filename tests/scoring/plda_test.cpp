#include "scoring/plda.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>
#include <stop_token>

#include <subspectra/error.hpp>
#include "oracle.hpp"

namespace subspectra::plda_test {
namespace {

ScoringProblem problem_of(const DatasetParts& data, int threads = 1) {
  std::vector<Index> columns(static_cast<std::size_t>(data.features()));
  std::iota(columns.begin(), columns.end(), Index{0});
  return make_scoring_problem(data, columns, threads);
}

Matrix dense(const ScoringProblem& problem, const ScoringFit& fit) {
  Matrix b = Matrix::Zero(problem.columns(), problem.discriminants());
  b(fit.b.rows, Eigen::all) = fit.b.values;
  return b;
}

// Oracle: the same iteration with p x p matrices and the class means of the table in any units, Sigma_b^k by
// projecting the K rows sqrt(n_c) (mean_c - mean), eigenvectors of the full p x p pencil.
struct Naive {
  Matrix b;
  double objective = 0.0;
  double lambda_max = 0.0;
};
Naive naive_plda(const Matrix& table, const std::vector<int>& codes, int classes, double lambda) {
  const auto n = static_cast<double>(table.rows());
  const Index p = table.cols();
  const Matrix x = table.rowwise() - table.colwise().mean();
  Matrix means = Matrix::Zero(classes, p);
  Vector counts = Vector::Zero(classes);
  for (Index i = 0; i < x.rows(); ++i) {
    means.row(codes[static_cast<std::size_t>(i)]) += x.row(i);
    counts[codes[static_cast<std::size_t>(i)]] += 1.0;
  }
  Vector variance = Vector::Zero(p);
  for (Index i = 0; i < x.rows(); ++i) {
    const int c = codes[static_cast<std::size_t>(i)];
    variance += (x.row(i) - means.row(c) / counts[c]).cwiseAbs2().transpose() / n;
  }
  const Vector sigma = variance.cwiseSqrt();
  const Matrix m = counts.cwiseSqrt().cwiseInverse().asDiagonal() * means;  // (Y'Y)^{-1/2} Y'X
  Naive result;
  result.b = Matrix::Zero(p, classes - 1);
  for (Index k = 0; k < classes - 1; ++k) {
    Matrix projector = Matrix::Identity(classes, classes);
    if (k > 0) {
      const Matrix done = m * result.b.leftCols(k);
      projector -= done * done.completeOrthogonalDecomposition().pseudoInverse();
    }
    const Matrix between = m.transpose() * projector * m / n;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> pencil(between,
                                                                  variance.asDiagonal().toDenseMatrix());
    Vector b = pencil.eigenvectors().col(p - 1);
    Index at = 0;
    sigma.cwiseProduct(b).cwiseAbs().maxCoeff(&at);
    if (b[at] < 0.0) b = -b;
    if (k == 0) result.lambda_max = 2.0 * (between * b).cwiseQuotient(sigma).cwiseAbs().maxCoeff();
    double value = -kInfinity;
    for (int step = 0; step < 100'000; ++step) {
      const Vector c = between * b;
      Vector d(p);
      for (Index j = 0; j < p; ++j) {
        const double soft = std::max(0.0, std::abs(c[j]) - lambda * sigma[j] / 2.0);
        d[j] = std::copysign(soft, c[j]) / variance[j];
      }
      const double length = std::sqrt(variance.dot(d.cwiseAbs2()));
      b = length > 0.0 ? Vector(d / length) : Vector::Zero(p);
      const double next = b.dot(between * b) - lambda * sigma.dot(b.cwiseAbs());
      if (length == 0.0 || std::abs(next - value) <= 1e-15 * std::abs(next)) {
        value = next;
        break;
      }
      value = next;
    }
    result.b.col(k) = b;
    result.objective += value;
    if (b.isZero(0.0)) break;
  }
  return result;
}

TEST(Plda, IsTheDenseIterationInTheUnitsOfTheTable) {
  for (const int classes : {2, 3, 5}) {
    for (const double fraction : {0.0, 0.1, 0.4, 0.8}) {
      SCOPED_TRACE(::testing::Message() << classes << " classes, lambda " << fraction << " lambda_max");
      DatasetParts data = oracle::random_classes(30, 40, classes, 41 + static_cast<std::uint64_t>(classes));
      data.dense.col(3) *= 50.0;
      const ScoringProblem problem = problem_of(data);
      const auto solver = plda_solver(problem, {.tolerance = 1e-15});
      const double lambda = fraction * solver->lambda_max();
      const Naive naive = naive_plda(data.dense, data.labels->codes, classes, lambda);
      const ScoringFit fit = solver->fit(lambda, {});
      EXPECT_TRUE(fit.converged);
      EXPECT_LT(fit.gap, 0.0);
      EXPECT_NEAR(fit.objective, naive.objective, 1e-9 * naive.lambda_max);
      ASSERT_FALSE(fit.trace.empty());
      EXPECT_DOUBLE_EQ(fit.trace.back(), fit.objective);
      // In the units of the table: b_j = (row j of B)/scale. Compared by sigma_j b_j, which is of order 1;
      // the steps shrink linearly, so the square root of the tolerance is what the vectors agree to.
      const Matrix b = problem.scales.cwiseInverse().asDiagonal() * dense(problem, fit);
      const Vector spread = problem.scales / std::sqrt(30.0);
      EXPECT_LT((spread.asDiagonal() * (b - naive.b)).cwiseAbs().maxCoeff(), 1e-5);
      const Matrix theta_gram = fit.scores.transpose() * problem.class_weights.asDiagonal() * fit.scores;
      EXPECT_LT((theta_gram - Matrix::Identity(classes - 1, classes - 1)).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
}

TEST(Plda, EveryStepRaisesTheCriterion) {
  const DatasetParts data = oracle::random_classes(40, 60, 4, 47);
  const ScoringProblem problem = problem_of(data);
  const auto solver = plda_solver(problem, {.tolerance = 1e-13});
  for (const double fraction : {0.05, 0.3, 0.6, 0.9}) {
    SCOPED_TRACE(fraction);
    const ScoringFit fit = solver->fit(fraction * solver->lambda_max(), {});
    EXPECT_TRUE(fit.converged);
    EXPECT_EQ(static_cast<Index>(fit.trace.size()), fit.iterations);
    int falls = 0;
    for (std::size_t i = 1; i < fit.trace.size(); ++i) {
      falls += fit.trace[i] < fit.trace[i - 1] - 1e-12 * solver->lambda_max() ? 1 : 0;
    }
    EXPECT_LE(falls, 2);  // at most where the second and the third discriminant begin
  }
}

TEST(Plda, TheConstraintIsActiveAndTheDiscriminantsAreUncorrelatedBetweenTheClasses) {
  const DatasetParts data = oracle::random_classes(60, 20, 4, 53);
  const ScoringProblem problem = problem_of(data);
  const auto solver = plda_solver(problem, {});
  const ScoringFit fit = solver->fit(0.0, {});
  const Matrix b = dense(problem, fit);
  const auto scatter = oracle::scatter(problem.x, data.labels->codes, 4);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(scatter.within.diagonal().dot(b.col(k).cwiseAbs2()), 1.0, 1e-12);
    // At lambda = 0 the discriminants are eigenvectors of the pencil (Sigma_b, diag Sigma_w).
    for (Index i = 0; i < k; ++i) EXPECT_NEAR(b.col(i).dot(scatter.between * b.col(k)), 0.0, 1e-9);
  }
}

TEST(Plda, FromLambdaMaxOnThereIsNothing) {
  for (const int classes : {2, 3, 5}) {
    SCOPED_TRACE(classes);
    const DatasetParts data = oracle::random_classes(30, 40, classes, 59);
    const ScoringProblem problem = problem_of(data);
    const auto solver = plda_solver(problem, {});
    const ScoringFit none = solver->fit(solver->lambda_max(), {});
    EXPECT_TRUE(none.b.rows.empty());
    EXPECT_EQ(none.objective, 0.0);
    EXPECT_TRUE(none.converged);
    EXPECT_TRUE(none.scores.allFinite());
    // Two in a thousand below it there is something; and nothing from there up to where the first step ends
    // it.
    EXPECT_FALSE(solver->fit(0.998 * solver->lambda_max(), {}).b.rows.empty());
    const double first_step = naive_plda(data.dense, data.labels->codes, classes, 1e9).lambda_max;
    EXPECT_LT(solver->lambda_max(), first_step);
    for (int i = 1; i <= 50; ++i) {
      const double lambda = solver->lambda_max() + i / 50.0 * (first_step - solver->lambda_max());
      EXPECT_TRUE(solver->fit(lambda * (1.0 + 1e-12), {}).b.rows.empty()) << lambda;
    }
    // The oracle's 2 max |c_j|/sigma_j is where the first step becomes 0.
    const auto one = plda_solver(problem, {.max_iterations = 1});
    EXPECT_FALSE(one->fit(first_step * (1.0 - 1e-9), {}).b.rows.empty());
    EXPECT_TRUE(one->fit(first_step * (1.0 + 1e-9), {}).b.rows.empty());
  }
}

TEST(Plda, RescalingColumnsRescalesRowsOfBAndNothingElse) {
  const DatasetParts data = oracle::random_classes(30, 40, 3, 61);
  DatasetParts scaled = data;
  for (Index j = 0; j < 40; ++j) scaled.dense.col(j) *= std::pow(10.0, static_cast<double>(j % 9 - 4));
  scaled.dense.col(0) *= 1e150;
  scaled.dense.col(1) *= 1e-150;
  const ScoringProblem one = problem_of(data);
  const ScoringProblem two = problem_of(scaled);
  const auto a = plda_solver(one, {.tolerance = 1e-13});
  const auto b = plda_solver(two, {.tolerance = 1e-13});
  EXPECT_NEAR(a->lambda_max() / b->lambda_max(), 1.0, 1e-11);
  const ScoringFit first = a->fit(0.3 * a->lambda_max(), {});
  const ScoringFit second = b->fit(0.3 * a->lambda_max(), {});
  EXPECT_EQ(first.b.rows, second.b.rows);
  EXPECT_LT((dense(one, first) - dense(two, second)).cwiseAbs().maxCoeff(),
            1e-5 * dense(one, first).cwiseAbs().maxCoeff());
}

TEST(Plda, WeightsAreRepeatedRows) {
  DatasetParts data = oracle::random_classes(24, 30, 3, 67);
  std::vector<int> times(24);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int>(1 + (i * 5) % 3);
  const ScoringProblem repeated = problem_of(oracle::repeated(data, times));
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 24).cast<double>();
  const ScoringProblem weighted = problem_of(data);
  const auto a = plda_solver(repeated, {.tolerance = 1e-13});
  const auto b = plda_solver(weighted, {.tolerance = 1e-13});
  EXPECT_NEAR(a->lambda_max() / b->lambda_max(), 1.0, 1e-11);
  const ScoringFit first = a->fit(0.2 * a->lambda_max(), {});
  const ScoringFit second = b->fit(0.2 * a->lambda_max(), {});
  EXPECT_EQ(first.b.rows, second.b.rows);
  EXPECT_NEAR(first.objective, second.objective, 1e-10 * a->lambda_max());
}

TEST(Plda, PerfectSeparatorsDuplicatesAndManySmallClassesAreFine) {
  for (const int classes : {2, 14}) {
    SCOPED_TRACE(classes);
    DatasetParts data = oracle::random_classes(28, 300, classes, 71);  // p >> N; K = N/2
    for (Index i = 0; i < 28; ++i) data.dense(i, 5) = data.labels->codes[static_cast<std::size_t>(i)] % 2;
    data.dense.col(7) = data.dense.col(0);
    const ScoringProblem problem = problem_of(data);
    const auto solver = plda_solver(problem, {});
    for (const double fraction : {0.01, 0.2, 0.99}) {
      const ScoringFit fit = solver->fit(fraction * solver->lambda_max(), {});
      EXPECT_TRUE(fit.b.values.allFinite());
      EXPECT_TRUE(fit.scores.allFinite());
      const Matrix b = dense(problem, fit);
      // Equal columns stay equal; one that separates perfectly is always among the chosen.
      EXPECT_LT((b.row(0) - b.row(7)).cwiseAbs().maxCoeff(), 1e-9 * b.cwiseAbs().maxCoeff());
      EXPECT_GT(b.row(5).cwiseAbs().maxCoeff(), 0.0);
    }
  }
  DatasetParts single = oracle::random_classes(12, 20, 3, 73);
  for (int& code : single.labels->codes) code = 0;
  single.labels->codes[3] = 1;
  single.labels->codes[4] = single.labels->codes[5] = 2;
  const ScoringProblem problem = problem_of(single);
  EXPECT_TRUE(plda_solver(problem, {})->fit(0.1, {}).b.values.allFinite());
  // Fewer columns than discriminants: the ones beyond the rank are 0.
  const DatasetParts narrow = oracle::random_classes(40, 2, 5, 79);
  const ScoringProblem few = problem_of(narrow);
  const ScoringFit fit = plda_solver(few, {})->fit(0.0, {});
  EXPECT_TRUE(fit.b.values.allFinite());
  EXPECT_TRUE(fit.b.values.rightCols(2).isZero(0.0));
}

TEST(Plda, SaysWhenItWasEndedAndRunsAllIterationsWithToleranceZero) {
  const DatasetParts data = oracle::random_classes(30, 40, 4, 83);
  const ScoringProblem problem = problem_of(data);
  const auto two = plda_solver(problem, {.max_iterations = 2, .tolerance = 0.0});
  ScoringFit fit = two->fit(0.1 * two->lambda_max(), {});
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.iterations, 3 * 2);  // "steps for one discriminant": the others have theirs, too
  for (Index k = 0; k < 3; ++k) EXPECT_GT(fit.b.values.col(k).norm(), 0.0);
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  const auto solver = plda_solver(problem, {});
  fit = solver->fit(0.1 * solver->lambda_max(), control);
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.iterations, 0);
  EXPECT_TRUE(fit.b.values.allFinite());
  EXPECT_THROW((void)plda_solver(problem, {.tolerance = -1.0}), InvalidArgument);
  EXPECT_THROW((void)plda_solver(problem, {.max_iterations = 0}), InvalidArgument);
  EXPECT_THROW((void)solver->fit(-1.0, {}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra::plda_test
