#include "search/nested_path.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <utility>
#include <vector>

#include "pencils.hpp"
#include "search/greedy.hpp"

namespace subspectra {
namespace {

TEST(NestedPath, ValuesAlongAFullPathOf500AgreeWithReSolves) {
  const auto pair = oracle::random_factor_pair(500, 2, 3, 1e6);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(500);
  const Matrix a = pair.m * pair.m.transpose();
  for (const bool forward : {true, false}) {
    const auto pass = forward ? forward_pass(*pencil, units, {}, {}) : backward_pass(*pencil, units, {}, {});
    const NestedPath path(*pencil, units, pass.order, 500, {});
    ASSERT_EQ(path.reached(), 500);
    for (const Index k : {1, 2, 7, 40, 123, 250, 377, 499, 500}) {
      const std::vector<Index> set(pass.order.begin(), pass.order.begin() + k);
      const double value = oracle::set_value(a, pair.b, set, Criterion::kLargest);
      EXPECT_NEAR(path.objective(k), value, 1e-8 * value) << k;
    }
  }
}

TEST(NestedPath, LoadingsAreTheEigenvectorsOfTheSet) {
  const auto pair = oracle::random_factor_pair(10, 3, 1);
  const auto units = oracle::all_units(10);
  const std::vector<Index> order = {7, 2, 9, 0, 4, 1, 3, 5, 6, 8};
  const Matrix a = pair.m * pair.m.transpose();
  const auto factor = factor_pencil(pair.m, pair.b);
  const auto dense = matrix_pencil(a, pair.b, 0.0, 0);  // without a factor
  for (const Pencil* pencil : {factor.get(), dense.get()}) {
    const NestedPath path(*pencil, units, order, 10, {});
    for (const Index k : {1, 4, 10}) {
      const auto entry = path.entry(k);
      const Matrix a_s = a(entry.features, entry.features), b_s = pair.b(entry.features, entry.features);
      const Vector x = entry.loadings.view().col(0);
      EXPECT_NEAR(x.dot(b_s * x), 1.0, 1e-10);
      EXPECT_LT((a_s * x - entry.objective * b_s * x).norm(), 1e-8 * entry.objective);
      EXPECT_EQ(x.maxCoeff(), x.cwiseAbs().maxCoeff());
    }
  }
}

/// Values and loadings of every size against the definition: x'B_S x = 1, A_S x = B_S X diag(values).
void expect_solutions(const PathEntry& entry, const Matrix& a, const Matrix& b) {
  const Matrix a_s = a(entry.features, entry.features), b_s = b(entry.features, entry.features);
  const Matrix x = entry.loadings.view();
  const Matrix inner = x.transpose() * b_s * x, values = x.transpose() * a_s * x;
  EXPECT_LT((inner - Matrix::Identity(x.cols(), x.cols())).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((a_s * x - b_s * x * values).norm(), 1e-8 * entry.objective * x.norm());
  for (Index j = 0; j < x.cols(); ++j) EXPECT_EQ(x.col(j).maxCoeff(), x.col(j).cwiseAbs().maxCoeff());
}

TEST(NestedPath, EverySizeAtOnceGivesWhatEverySizeAloneGives) {
  for (const auto& [n, r] : {std::pair<Index, Index>{150, 1}, {200, 3}, {131, 9}}) {
    SCOPED_TRACE(r);
    const auto pair = oracle::random_factor_pair(n, r, 5, 1e4);
    const auto pencil = factor_pencil(pair.m, pair.b);
    const auto units = oracle::all_units(n);
    const Matrix a = pair.m * pair.m.transpose();
    std::vector<Index> order(static_cast<std::size_t>(n)), sizes;
    for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = (i * 37 + 5) % n;
    for (Index k = 1; k <= n; ++k) sizes.push_back(k);
    for (const Index components : {Index{0}, Index{2}}) {
      const NestedPath path(*pencil, units, order, n, {.components = components});
      const auto entries = path.entries(sizes);
      ASSERT_EQ(entries.size(), sizes.size());
      for (const Index k : {1, 2, 5, 64, 127, 128, 129, 130}) {
        SCOPED_TRACE(k);
        const auto& entry = entries[static_cast<std::size_t>(k - 1)];
        const auto alone = path.entry(k);
        EXPECT_EQ(entry.features, alone.features);
        EXPECT_EQ(entry.objective, alone.objective);
        ASSERT_EQ(entry.loadings.cols(), alone.loadings.cols());
        EXPECT_LT((entry.loadings.view() - alone.loadings.view()).norm(),
                  1e-9 * alone.loadings.view().norm());
        if (components == 0) expect_solutions(entry, a, pair.b);
      }
      const auto some = path.entries({3, 100, n});
      EXPECT_EQ(some[1].features, entries[99].features);
      EXPECT_LT((some[1].loadings.view() - entries[99].loadings.view()).norm(), 1e-9);
    }
    EXPECT_TRUE(NestedPath(*pencil, units, order, n, {}).entries({}).empty());
  }
}

TEST(NestedPath, DirectionsThatCarryNothingAreLeftOutOfEverySize) {
  auto pair = oracle::random_factor_pair(140, 3, 8);
  pair.m.col(2) = 2.0 * pair.m.col(0);  // two directions
  pair.m.topRows(5).setZero();          // and none in the first sets
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(140);
  std::vector<Index> sizes;
  for (Index k = 1; k <= 140; ++k) sizes.push_back(k);
  const NestedPath path(*pencil, units, units.features(), 140, {});
  const auto entries = path.entries(sizes);
  EXPECT_EQ(entries[3].loadings.cols(), 0);
  EXPECT_EQ(entries[5].loadings.cols(), 1);
  EXPECT_EQ(entries[6].loadings.cols(), 2);
  EXPECT_EQ(entries[139].loadings.cols(), 2);
  expect_solutions(entries[139], pair.m * pair.m.transpose(), pair.b);
}

TEST(NestedPath, LongPathsWithoutAFactorHaveTheLeadingPairOfEverySize) {
  for (const bool identity : {false, true}) {
    SCOPED_TRACE(identity);
    const Index n = 160;
    const auto pair = oracle::random_factor_pair(n, 60, 9, 1e3);
    const Matrix a = pair.m * pair.m.transpose(), b = identity ? Matrix(Matrix::Identity(n, n)) : pair.b;
    const auto pencil = identity ? covariance_pencil(a) : matrix_pencil(a, b, 0.0, 0);
    const auto units = oracle::all_units(n);
    std::vector<Index> order(static_cast<std::size_t>(n)), sizes;
    for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = (i * 37 + 5) % n;
    for (Index k = 1; k <= n; ++k) sizes.push_back(k);
    const auto entries = NestedPath(*pencil, units, order, n, {}).entries(sizes);
    for (const Index k : {1, 2, 30, 48, 49, 50, 80, 113, 159, 160}) {
      SCOPED_TRACE(k);
      const auto& entry = entries[static_cast<std::size_t>(k - 1)];
      const double value = oracle::set_value(a, b, entry.features, Criterion::kLargest);
      EXPECT_NEAR(entry.objective, value, 1e-9 * value);
      expect_solutions(entry, a, b);
    }
  }
}

TEST(NestedPath, LongPathsOfVariancesAloneFindTheLargest) {
  Vector variances =
      Vector::LinSpaced(200, 1.0, 2.0);  // uncorrelated features: every vector is a unit vector
  variances[150] = 3.0;
  variances[170] = 3.0;  // twice the same value
  const auto pencil = covariance_pencil(variances.asDiagonal());
  const auto units = oracle::all_units(200);
  const NestedPath path(*pencil, units, units.features(), 200, {});
  for (Index k = 1; k <= 200; ++k) EXPECT_NEAR(path.objective(k), variances.head(k).maxCoeff(), 1e-12);
}

TEST(NestedPath, UnitsThatDependOnEarlierOnesArePassedOver) {
  const auto pair = oracle::random_factor_pair(5, 1, 2);
  const std::vector<Index> twice = {0, 1, 2, 3, 4, 1, 3};
  const auto pencil = factor_pencil(pair.m(twice, Eigen::all), pair.b(twice, twice));
  const auto units = oracle::all_units(7);
  const NestedPath path(*pencil, units, {1, 5, 0, 3, 6, 2, 4}, 6, {.pivot_floor = 1e-12});
  EXPECT_EQ(path.chosen(), (std::vector<Index>{1, 0, 3, 2, 4}));
  EXPECT_EQ(path.dependent(), (std::vector<Index>{5, 6}));
}

}  // namespace
}  // namespace subspectra
