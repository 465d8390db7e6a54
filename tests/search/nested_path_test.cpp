#include "search/nested_path.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

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
