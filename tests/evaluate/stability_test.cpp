#include "evaluate/stability.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace subspectra {
namespace {

// Oracle: the published formulas over the dense 0/1 matrix Z (M x p).
TEST(Stability, AgreesWithThePublishedFormulas) {
  const Index p = 8;
  const std::vector<std::vector<Index>> sets = {{0, 1, 2}, {0, 1, 3}, {0, 2, 5}, {0, 1, 2, 7}, {1, 2, 3}};
  const double m = 5;
  Matrix z = Matrix::Zero(5, p);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const Index f : sets[i]) z(static_cast<Index>(i), f) = 1;
  }
  const Vector h = z.colwise().mean();
  const double kbar = z.sum() / m;
  const double denominator = kbar / p * (1 - kbar / p);
  const double phi = 1 - (m / (m - 1) * h.array() * (1 - h.array())).mean() / denominator;
  Vector contribution(5);
  for (Index i = 0; i < 5; ++i) {
    const double ki = z.row(i).sum();
    contribution[i] = (z.row(i).dot(h) / p - ki * kbar / (p * p) +
                       phi / 2 * (2 * kbar * ki / (p * p) - ki / p - kbar / p + 1)) /
                      denominator;
  }
  const double variance = 4 / (m * m) * (contribution.array() - contribution.mean()).square().sum();
  const auto found = nogueira_stability(sets, p);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->index, phi, 1e-13);
  EXPECT_NEAR(found->interval.first, phi - 1.959963984540054 * std::sqrt(variance), 1e-12);
  EXPECT_NEAR(found->interval.second, std::min(1.0, phi + 1.959963984540054 * std::sqrt(variance)), 1e-12);
}

TEST(Stability, TheIntervalStaysWithinWhatTheIndexCanBe) {
  // Disjoint sets of unequal size: the index is near its least value, -1/(M-1), and the raw interval below
  // it.
  for (const std::vector<std::vector<Index>>& sets :
       {std::vector<std::vector<Index>>{{0}, {1, 2, 3, 4, 5}}, {{0, 1, 2}, {3}, {4, 5, 6, 7}}}) {
    const auto found = nogueira_stability(sets, 8);
    ASSERT_TRUE(found);
    const double least = -1.0 / (static_cast<double>(sets.size()) - 1.0);
    EXPECT_GE(found->index, least - 1e-12);
    EXPECT_GE(found->interval.first, least);
    EXPECT_LE(found->interval.first, found->index + 1e-12);
    EXPECT_LE(found->interval.second, 1.0);
  }
  EXPECT_NEAR(nogueira_stability({{0, 1}, {2, 3}}, 4)->index, -1.0, 1e-12) << "two complementary sets";
}

TEST(Stability, IsOneForEqualSetsAndNothingForOneSet) {
  EXPECT_NEAR(nogueira_stability({{1, 4}, {1, 4}, {1, 4}}, 10)->index, 1.0, 1e-15);
  EXPECT_EQ(nogueira_stability({{0, 1}, {0, 1}}, 2)->index, 1.0) << "every feature chosen";
  EXPECT_FALSE(nogueira_stability({{1, 4}}, 10));
}

}  // namespace
}  // namespace subspectra
