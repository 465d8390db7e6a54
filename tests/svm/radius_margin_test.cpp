#include "svm/radius_margin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "classify/row_map.hpp"
#include "oracle.hpp"
#include "svm/rfe.hpp"
#include "synth/weston.hpp"

namespace subspectra {
namespace {

/// Oracle: the smallest ball is the circumscribed one of some subset of the points; the smallest of those
/// that hold all points. Points x = columns of the factor of K.
double radius_by_enumeration(const Matrix& k) {
  const auto n = static_cast<int>(k.rows());
  double best = kInfinity;
  for (int mask = 1; mask < (1 << n); ++mask) {
    std::vector<Index> set;
    for (int i = 0; i < n; ++i) {
      if ((mask >> i) & 1) set.push_back(i);
    }
    // Centre sum_i b_i x_i with equal distance to the points of the set: 2 K_SS b + mu 1 = diag, sum b = 1.
    const auto m = static_cast<Index>(set.size());
    Matrix system = Matrix::Zero(m + 1, m + 1);
    Vector right(m + 1);
    system.topLeftCorner(m, m) = 2.0 * k(set, set);
    system.col(m).head(m).setOnes();
    system.row(m).head(m).setOnes();
    for (Index i = 0; i < m; ++i)
      right[i] = k(set[static_cast<std::size_t>(i)], set[static_cast<std::size_t>(i)]);
    right[m] = 1.0;
    const Vector solved = system.fullPivLu().solve(right);
    Vector b = Vector::Zero(n);
    for (Index i = 0; i < m; ++i) b[set[static_cast<std::size_t>(i)]] = solved[i];
    const double centre = b.dot(k * b);
    double farthest = 0.0;
    for (Index i = 0; i < n; ++i) farthest = std::max(farthest, k(i, i) - 2.0 * k.row(i).dot(b) + centre);
    best = std::min(best, farthest);
  }
  return best;
}

TEST(RadiusMargin, TheBallIsTheSmallestOfAllSubsetsAndHoldsEveryPoint) {
  for (const Index dimension : {1, 2, 3, 12}) {
    const Matrix x = oracle::random_classes(9, dimension, 2, 11).dense;
    Matrix k = x * x.transpose();
    k.diagonal().array() += dimension < 9 ? 1e-2 : 0.0;
    const EnclosingBall ball = enclosing_ball(k);
    const double expected = radius_by_enumeration(k);
    EXPECT_NEAR(ball.squared_radius, expected, 1e-9 * expected) << dimension;
    EXPECT_NEAR(ball.beta.sum(), 1.0, 1e-12);
    EXPECT_GE(ball.beta.minCoeff(), 0.0);
    const double centre = ball.beta.dot(k * ball.beta);
    const Vector far = k.diagonal() - 2.0 * k * ball.beta + Vector::Constant(9, centre);
    EXPECT_LE(far.maxCoeff(), ball.squared_radius + ball.gap + 1e-12 * expected);
  }
  // Two points, and the same point several times.
  const Matrix two = (Matrix(2, 1) << 1.0, 5.0).finished();
  EXPECT_NEAR(enclosing_ball(two * two.transpose()).squared_radius, 4.0, 1e-11);
  EXPECT_NEAR(enclosing_ball(Matrix::Ones(4, 4)).squared_radius, 0.0, 1e-15);
}

TEST(RadiusMargin, TheGradientAgreesWithDifferences) {
  for (const int classes : {2, 4}) {
    for (const Index features : {5, 30}) {
      for (const double cost : {0.05, 2.0}) {
        SCOPED_TRACE(::testing::Message() << classes << " classes, " << features << " features, C " << cost);
        const DatasetParts data = oracle::random_classes(20, features, classes, 13);
        const Matrix z = standardize_rows(data.dense).z;
        RadiusMarginBound bound(z, machine_labels(data.labels->codes), cost, 1);
        Vector s(features);
        for (Index j = 0; j < features; ++j) s[j] = 0.2 + 0.1 * static_cast<double>(j % 7);
        (void)bound.value(s);
        const Vector gradient = bound.at_last().gradient;
        for (Index j = 0; j < features; ++j) {
          constexpr double kStep = 1e-4;
          Vector up = s, down = s;
          up[j] += kStep;
          down[j] -= kStep;
          const double difference = (bound.value(up) - bound.value(down)) / (2.0 * kStep);
          // The second derivative of R^2 jumps where a point joins the ball: the step's size is what is left.
          EXPECT_NEAR(difference, gradient[j], 2e-3 * gradient.cwiseAbs().maxCoeff());
        }
      }
    }
  }
}

TEST(RadiusMargin, TheNormIsThatOfTheHardMarginMachine) {
  // Two points at +1 and -1 along one feature: K + I/(2C) has the margin machine a = 1/(2 + 1/C)... in closed
  // form.
  Matrix z(2, 1);
  z << 1.0, -1.0;
  for (const double cost : {0.5, 10.0}) {
    RadiusMarginBound bound(z, machine_labels({0, 1}), cost, 1);
    (void)bound.value(Vector::Ones(1));
    const RadiusMargin at = bound.at_last();
    // alpha_1 = alpha_2 = alpha: max 2 alpha - alpha^2 (4 + 2 lambda)/2, W^2 = 2 alpha = 2/(2 + lambda).
    const double lambda = 0.5 / cost;
    EXPECT_NEAR(at.squared_norm, 2.0 / (2.0 + lambda), 1e-12);
    EXPECT_NEAR(at.squared_radius, 1.0 + lambda / 2.0, 1e-12);
  }
}

TEST(RadiusMargin, ItFindsTheRelevantFeaturesOfWestonsLinearProblemAndNeverRises) {
  const DatasetParts data = synth::WestonLinear{.rows = 100, .seed = 3}.make().parts();
  const RadiusMarginFit fit =
      fit_radius_margin(standardize_rows(data.dense).z, data.labels->codes, {.C = 0.1}, 1);
  for (std::size_t i = 1; i < fit.trace.size(); ++i) EXPECT_LT(fit.trace[i], fit.trace[i - 1]);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.scales.squaredNorm(), static_cast<double>(data.features()), 1e-9);
  // x_1..x_6 are relevant; three of them say nearly the same as the other three.
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(fit.ranking[i], 6) << i;
  const RadiusMarginFit two =
      fit_radius_margin(standardize_rows(data.dense).z, data.labels->codes, {.C = 0.1}, 2);
  EXPECT_EQ(fit.ranking, two.ranking);
  EXPECT_EQ(fit.trace, two.trace);
}

TEST(RadiusMargin, DegenerateTablesAreRanked) {
  DatasetParts data = oracle::random_classes(12, 20, 2, 6);
  data.dense.col(4) = data.dense.col(9);
  data.dense.row(2) = data.dense.row(5);
  for (auto& code : data.labels->codes) code = 0;
  data.labels->codes.front() = 1;  // a class of one
  for (const double cost : {1e-4, 1.0, 1e4}) {
    const RadiusMarginFit fit = fit_radius_margin(standardize_rows(data.dense).z, data.labels->codes,
                                                  {.C = cost, .max_iterations = 30}, 0);
    EXPECT_TRUE(fit.scales.allFinite());
    EXPECT_EQ(std::set<Index>(fit.ranking.begin(), fit.ranking.end()).size(), 20U);
    EXPECT_NEAR(fit.scales[4], fit.scales[9], 1e-6);
    for (std::size_t i = 1; i < fit.trace.size(); ++i) EXPECT_LT(fit.trace[i], fit.trace[i - 1]);
  }
}

TEST(RadiusMargin, AStopIsHeeded) {
  const DatasetParts data = oracle::random_classes(30, 40, 2, 6);
  std::stop_source source;
  source.request_stop();
  const RadiusMarginFit fit = fit_radius_margin(standardize_rows(data.dense).z, data.labels->codes,
                                                {.C = 1.0}, 0, RunControl(source.get_token(), kInfinity));
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.trace.size(), 1U);
  EXPECT_EQ(fit.ranking.size(), 40U);
}

}  // namespace
}  // namespace subspectra
