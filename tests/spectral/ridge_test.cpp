#include "spectral/ridge.hpp"

#include <gtest/gtest.h>

#include "oracle.hpp"

namespace subspectra {
namespace {

std::vector<Index> all_features(const DatasetParts& data) {
  std::vector<Index> all;
  for (Index j = 0; j < data.features(); ++j) all.push_back(j);
  return all;
}

/// Oracle: the whole spectrum of the p x p matrix.
double naive_ridge(const DatasetParts& data) {
  const Matrix within = oracle::scatter(data.dense, data.labels->codes, data.labels->class_count()).within;
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(within).eigenvalues();
  const double threshold = static_cast<double>(values.size()) * 0x1p-52 * values.maxCoeff();
  if (values.minCoeff() > threshold) return 0.0;
  double smallest = kInfinity;
  for (const double value : values) {
    if (value > threshold) smallest = std::min(smallest, value);
  }
  return 1e-3 * smallest;
}

TEST(Ridge, IsZeroForAFullRankMatrixAndAsAskedOtherwise) {
  const DatasetParts data = oracle::random_classes(50, 8, 3, 1);
  EXPECT_EQ(resolve_ridge(data, all_features(data), {}, 1).value, 0.0);
  EXPECT_EQ(resolve_ridge(data, all_features(data), {0.25}, 1).value, 0.25);
}

TEST(Ridge, AutoIsAThousandthOfTheSmallestNonzeroEigenvalueOnEitherRoute) {
  for (const auto& [n, p] : {std::pair<Index, Index>{30, 10}, {12, 40}, {20, 20}}) {
    SCOPED_TRACE(p);
    DatasetParts data = oracle::random_classes(n, p, 2, 7);
    data.dense.col(3) =
        data.dense.col(1) - 2.0 * data.dense.col(2);  // dependent, so singular also when p < N
    const auto ridge = resolve_ridge(data, all_features(data), {}, 2);
    EXPECT_GT(ridge.value, 0.0);
    EXPECT_NEAR(ridge.value, naive_ridge(data), 1e-8 * ridge.value);
    EXPECT_NE(ridge.note.find("singular"), std::string::npos);
    EXPECT_NEAR(resolve_ridge(oracle::as_sparse(data), all_features(data), {}, 1).value, ridge.value,
                1e-8 * ridge.value);
  }
}

TEST(Ridge, WeightsCountAsRepetitions) {
  DatasetParts data = oracle::random_classes(10, 25, 2, 9);
  const std::vector<int> times = {1, 2, 1, 3, 1, 1, 2, 1, 1, 2};
  const DatasetParts many = oracle::repeated(data, times);
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 10).cast<double>();
  const double expected = resolve_ridge(many, all_features(many), {}, 1).value;
  EXPECT_NEAR(resolve_ridge(data, all_features(data), {}, 1).value, expected, 1e-8 * expected);
}

TEST(Ridge, PerfectSeparationGetsAPositiveRidgeAndTooMuchMemoryIsRefused) {
  DatasetParts data = oracle::random_classes(6, 2, 2, 1);
  for (Index i = 0; i < 6; ++i) data.dense.row(i).setConstant(data.labels->codes[i]);
  EXPECT_GT(resolve_ridge(data, {0, 1}, {}, 1).value, 0.0);
  try {
    (void)resolve_ridge(data, {0, 1}, {}, 1, /*memory_limit=*/16);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ridge = VALUE"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace subspectra
