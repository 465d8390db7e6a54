#include "cluster/kmeans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

Matrix random_points(Index n, Index d, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(n, d, [&] { return normal(generator); });
}

double sum_of_squares(const Matrix& points, const Vector& weights, const std::vector<int>& labels,
                      int clusters) {
  double sum = 0.0;
  for (int c = 0; c < clusters; ++c) {
    Vector mean = Vector::Zero(points.cols());
    double total = 0.0;
    for (Index i = 0; i < points.rows(); ++i) {
      if (labels[static_cast<std::size_t>(i)] != c) continue;
      mean += weights[i] * points.row(i).transpose();
      total += weights[i];
    }
    if (total == 0.0) continue;
    mean /= total;
    for (Index i = 0; i < points.rows(); ++i) {
      if (labels[static_cast<std::size_t>(i)] == c)
        sum += weights[i] * (points.row(i).transpose() - mean).squaredNorm();
    }
  }
  return sum;
}

/// Oracle: every one of the K^n ways to label the points.
double best_by_enumeration(const Matrix& points, const Vector& weights, int clusters) {
  std::vector<int> labels(static_cast<std::size_t>(points.rows()), 0);
  double best = kInfinity;
  while (true) {
    best = std::min(best, sum_of_squares(points, weights, labels, clusters));
    std::size_t i = 0;
    while (i < labels.size() && ++labels[i] == clusters) labels[i++] = 0;
    if (i == labels.size()) return best;
  }
}

TEST(KMeans, FindsTheBestPartitionOfTinyData) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    const Matrix points = random_points(8, 2, seed);
    Vector weights = Vector::Ones(8);
    if (seed % 2 == 1) weights << 1, 2, 3, 1, 0.5, 2, 1, 4;
    for (const int clusters : {1, 2, 3}) {
      const auto found =
          kmeans(points, weights, {.clusters = clusters, .restarts = 60, .seed = seed}, RunControl());
      const double best = best_by_enumeration(points, weights, clusters);
      EXPECT_NEAR(found.within, best, 1e-12 * best);
      EXPECT_NEAR(found.within, sum_of_squares(points, weights, found.labels, clusters), 1e-12 * best);
      EXPECT_TRUE(found.converged);
      EXPECT_EQ(found.sums.size(), 60U);
    }
  }
}

TEST(KMeans, GroupsAreNumberedByTheirFirstPointAndCentresAreMeans) {
  const Matrix points = random_points(40, 3, 3);
  const auto found = kmeans(points, Vector(), {.clusters = 5}, RunControl());
  ASSERT_EQ(found.clusters(), 5);
  int next = 0;
  for (const int label : found.labels) {
    EXPECT_LE(label, next);
    next = std::max(next, label + 1);
  }
  for (int c = 0; c < 5; ++c) {
    Vector sum = Vector::Zero(3);
    for (Index i = 0; i < 40; ++i) {
      if (found.labels[static_cast<std::size_t>(i)] == c) sum += points.row(i).transpose();
    }
    const auto size = static_cast<double>(found.sizes[static_cast<std::size_t>(c)]);
    EXPECT_LT((sum / size - found.centres.row(c).transpose()).norm(), 1e-13);
  }
}

TEST(KMeans, AWeightIsARepeatedPoint) {
  const Matrix points = random_points(9, 2, 7);
  Vector weights(9);
  weights << 1, 3, 1, 2, 1, 1, 4, 1, 2;
  Matrix repeated(static_cast<Index>(weights.sum()), 2);
  std::vector<Index> from;
  for (Index i = 0; i < 9; ++i) {
    for (int r = 0; r < static_cast<int>(weights[i]); ++r) {
      repeated.row(static_cast<Index>(from.size())) = points.row(i);
      from.push_back(i);
    }
  }
  const auto weighted = kmeans(points, weights, {.clusters = 3, .restarts = 50}, RunControl());
  const auto all = kmeans(repeated, Vector(), {.clusters = 3, .restarts = 50}, RunControl());
  EXPECT_NEAR(weighted.within, all.within, 1e-12);
  for (std::size_t i = 0; i < from.size(); ++i)
    EXPECT_EQ(all.labels[i], weighted.labels[static_cast<std::size_t>(from[i])]);
}

TEST(KMeans, OneGroupAndAsManyAsPoints) {
  const Matrix points = random_points(12, 2, 1);
  const auto one = kmeans(points, Vector(), {.clusters = 1}, RunControl());
  EXPECT_EQ(one.sizes, std::vector<Index>{12});
  EXPECT_NEAR(one.within, (points.rowwise() - points.colwise().mean()).squaredNorm(), 1e-12);
  const auto all = kmeans(points, Vector(), {.clusters = 12}, RunControl());
  EXPECT_EQ(all.clusters(), 12);
  EXPECT_EQ(all.within, 0.0);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(all.labels[static_cast<std::size_t>(i)], i);
}

TEST(KMeans, EqualPointsStayTogetherAndLimitTheGroups) {
  Matrix points(9, 1);
  points << 0, 1, 0, 1, 5, 5, 0, 1, 5 + 1e-13;
  const auto found = kmeans(points, Vector(), {.clusters = 7}, RunControl());
  EXPECT_EQ(found.labels, (std::vector<int>{0, 1, 0, 1, 2, 2, 0, 1, 2}));
  const auto same = kmeans(Matrix::Constant(4, 2, 3.0), Vector(), {.clusters = 2}, RunControl());
  EXPECT_EQ(same.clusters(), 1);
  EXPECT_EQ(kmeans(Matrix(3, 0), Vector(), {.clusters = 2}, RunControl()).clusters(), 1);
}

TEST(KMeans, DoesNotDependOnThreadsAndRestartsOnlyHelp) {
  const Matrix points = random_points(300, 4, 5);
  const auto one =
      kmeans(points, Vector(), {.clusters = 6, .restarts = 12, .seed = 9, .threads = 1}, RunControl());
  const auto two =
      kmeans(points, Vector(), {.clusters = 6, .restarts = 12, .seed = 9, .threads = 3}, RunControl());
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_EQ(one.within, two.within);
  EXPECT_EQ(one.sums, two.sums);
  EXPECT_EQ(one.within, *std::min_element(one.sums.begin(), one.sums.end()));
  const auto few = kmeans(points, Vector(), {.clusters = 6, .restarts = 3, .seed = 9}, RunControl());
  EXPECT_TRUE(std::equal(few.sums.begin(), few.sums.end(), one.sums.begin()));
  EXPECT_GE(few.within, one.within);
}

TEST(KMeans, RefusesWhatItCannotDo) {
  const Matrix points = random_points(4, 2, 0);
  const auto run = [&](const KMeansOptions& options, const Vector& weights) {
    (void)kmeans(points, weights, options, RunControl());
  };
  EXPECT_THROW(run({.clusters = 0}, {}), InvalidArgument);
  EXPECT_THROW(run({.clusters = 5}, {}), InvalidArgument);
  EXPECT_THROW(run({.restarts = 0}, {}), InvalidArgument);
  EXPECT_THROW(run({}, Vector::Zero(4)), InvalidArgument);
  EXPECT_THROW(run({}, Vector::Ones(3)), InvalidArgument);
}

}  // namespace
}  // namespace subspectra
