#include "spectral/renormalize.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include <subspectra/error.hpp>
#include "oracle.hpp"
#include "spectral/pencil.hpp"

namespace subspectra::renormalize_test {
namespace {

std::vector<Index> first(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// Oracle: eigenvalues of the dense pair, 600 x 600, which the route through 40 rows never makes.
TEST(Renormalize, SetsOfMoreFeaturesThanRowsHaveTheValuesOfTheDensePair) {
  const DatasetParts data = oracle::random_classes(40, 600, 3, 4);
  for (const RidgeAmount ridge : {RidgeAmount(0.3), RidgeAmount(0.0, 0.01)}) {
    const auto pencil = lda_pencil(data, ridge, 1);
    auto scatter = oracle::scatter(data.dense, data.labels->codes, 3);
    scatter.within.diagonal() *= 1.0 + ridge.fraction;
    scatter.within.diagonal().array() += ridge.value;
    const Vector values = oracle::generalized_eigenvalues(scatter.between, scatter.within);
    const auto found = renormalize(*pencil, first(600), Criterion::kTrace, 0, 2);
    ASSERT_EQ(found.discriminants.values.size(), 2);
    EXPECT_NEAR(found.objective, values[0] + values[1], 1e-9 * values[0]);
    EXPECT_NEAR(found.discriminants.values[1], values[1], 1e-9 * values[0]);
    const Matrix x = found.discriminants.vectors;
    EXPECT_LT((x.transpose() * scatter.within * x - Matrix::Identity(2, 2)).norm(), 1e-8);
    EXPECT_LT((x.transpose() * scatter.between * x - Matrix(found.discriminants.values.asDiagonal())).norm(),
              1e-8 * values[0]);
    const auto one = renormalize(*pencil, first(600), Criterion::kTrace, 1, 2);
    EXPECT_EQ(one.discriminants.vectors.cols(), 1);
    EXPECT_EQ(one.objective, found.objective);
  }
}

TEST(Renormalize, ComponentsOfMoreFeaturesThanRowsAreThoseOfTheCovariance) {
  const DatasetParts data = oracle::random_classes(40, 600, 2, 4);
  const auto pencil = pca_pencil(data, 1);
  const Matrix centred = data.dense.rowwise() - data.dense.colwise().mean();
  const Matrix covariance = centred.transpose() * centred / 40.0;
  const auto found = renormalize(*pencil, first(600), Criterion::kLargest, 2, 2);
  const Matrix x = found.discriminants.vectors;
  ASSERT_EQ(x.cols(), 2);
  EXPECT_LT((x.transpose() * x - Matrix::Identity(2, 2)).norm(), 1e-10);
  EXPECT_LT((covariance * x - x * found.discriminants.values.asDiagonal()).norm(),
            1e-8 * found.discriminants.values[0]);
  EXPECT_EQ(found.objective, found.discriminants.values[0]);
}

TEST(Renormalize, WithoutARidgeMoreFeaturesThanRowsAreRefusedBeforeTheWork) {
  const DatasetParts data = oracle::random_classes(20, 4000, 2, 4);
  EXPECT_THROW((void)renormalize(*lda_pencil(data, 0.0, 1), first(4000), Criterion::kTrace, 0, 1),
               Infeasible);
}

}  // namespace
}  // namespace subspectra::renormalize_test
