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

/// Oracle: the whole spectrum of the p x p correlations.
double naive_fraction(const DatasetParts& data) {
  const Matrix within = oracle::scatter(data.dense, data.labels->codes, data.labels->class_count()).within;
  const Vector per_unit = within.diagonal().cwiseSqrt().cwiseInverse();
  const Vector values =
      Eigen::SelfAdjointEigenSolver<Matrix>(Matrix(per_unit.asDiagonal() * within * per_unit.asDiagonal()))
          .eigenvalues();
  const double largest = values.maxCoeff();
  if (values.minCoeff() > 1e-10 * largest) return 0.0;
  double smallest = kInfinity;
  for (const double value : values) {
    if (value > 1e-10 * largest) smallest = std::min(smallest, value);
  }
  return std::max(1e-3 * smallest, 1e-6 * largest);
}

TEST(Ridge, IsZeroForAWellConditionedMatrixAndAsAskedOtherwise) {
  const DatasetParts data = oracle::random_classes(50, 8, 3, 1);
  EXPECT_EQ(resolve_ridge(data, all_features(data), {}, 1).amount, RidgeAmount());
  EXPECT_EQ(resolve_ridge(data, all_features(data), {0.25}, 1).amount, RidgeAmount(0.25));
  EXPECT_EQ(resolve_ridge(data, all_features(data), {.value = {}, .fraction = 0.5}, 1).amount,
            RidgeAmount(0.0, 0.5));
}

TEST(Ridge, AutoIsAThousandthOfTheSmallestNonzeroEigenvalueOfTheCorrelationsOnEitherRoute) {
  for (const auto& [n, p] : {std::pair<Index, Index>{30, 10}, {12, 40}, {20, 20}}) {
    SCOPED_TRACE(p);
    DatasetParts data = oracle::random_classes(n, p, 2, 7);
    data.dense.col(3) =
        data.dense.col(1) - 2.0 * data.dense.col(2);  // dependent, so singular also when p < N
    const auto ridge = resolve_ridge(data, all_features(data), {}, 2);
    EXPECT_EQ(ridge.amount.value, 0.0);
    EXPECT_GT(ridge.amount.fraction, 0.0);
    EXPECT_NEAR(ridge.amount.fraction, naive_fraction(data), 1e-8 * ridge.amount.fraction);
    EXPECT_NE(ridge.note.find("singular"), std::string::npos);
    EXPECT_NEAR(resolve_ridge(oracle::as_sparse(data), all_features(data), {}, 1).amount.fraction,
                ridge.amount.fraction, 1e-8 * ridge.amount.fraction);
    for (Index j = 0; j < p; ++j) data.dense.col(j) *= std::pow(10.0, j % 13 - 6);  // other units
    EXPECT_NEAR(resolve_ridge(data, all_features(data), {}, 2).amount.fraction, ridge.amount.fraction,
                1e-8 * ridge.amount.fraction);
  }
}

/// Condition of the correlations of a column and its copy with a deviation d of its own: some 2/d^2.
TEST(Ridge, ActsFromAConditionOfTenToTheTenOnAndNamesTheCopies) {
  for (const double deviation : {1e-3, 1e-4, 1e-6, 1e-8}) {
    SCOPED_TRACE(deviation);
    DatasetParts data = oracle::random_classes(40, 3, 2, 5);
    const DatasetParts noise = oracle::random_classes(40, 1, 2, 6);
    data.dense.col(2) = 1e5 * (data.dense.col(0) + deviation * noise.dense.col(0));
    const auto ridge = resolve_ridge(data, all_features(data), {}, 1);
    EXPECT_EQ(ridge.amount.fraction > 0.0, deviation < 1e-5) << ridge.note;
    EXPECT_EQ(ridge.note.find("'x0' and 'x2'") != std::string::npos, deviation < 1e-5) << ridge.note;
  }
}

/// Where the correlations are never formed, too: a copy in another unit, one with its sign turned and seven
/// digits, and one that is too far from it.
TEST(Ridge, NamesTheCopiesAmongMoreColumnsThanRows) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    DatasetParts data = oracle::random_classes(20, 300, 3, seed);
    data.dense.col(200) = 1e6 * data.dense.col(7);
    data.dense.col(9) = -data.dense.col(250) + 1e-7 * data.dense.col(3);
    data.dense.col(11) = data.dense.col(12) + 1e-3 * data.dense.col(13);
    for (const bool sparse : {false, true}) {
      const auto ridge = sparse ? resolve_ridge(oracle::as_sparse(data), all_features(data), {}, 1)
                                : resolve_ridge(data, all_features(data), {}, 1);
      EXPECT_NE(ridge.note.find("'x7' and 'x200'"), std::string::npos) << ridge.note;
      EXPECT_NE(ridge.note.find("'x9' and 'x250'"), std::string::npos) << ridge.note;
      EXPECT_EQ(ridge.note.find("'x11'"), std::string::npos) << ridge.note;
    }
  }
  EXPECT_EQ(resolve_ridge(oracle::random_classes(20, 300, 3, 4),
                          all_features(oracle::random_classes(20, 300, 3, 4)), {}, 1)
                .note.find("copies"),
            std::string::npos);
}

TEST(Ridge, AColumnThatDoesNotVaryWithinAClassHasItsTotalVariance) {
  DatasetParts data = oracle::random_classes(40, 3, 2, 5);
  for (Index i = 0; i < 40; ++i) data.dense(i, 1) = 0.1 * data.labels->codes[static_cast<std::size_t>(i)];
  const Moments moments = compute_moments(Dataset(data), Moments::SecondOrder::kDiagonal, 1);
  const Vector variances = ridge_variances(moments);
  const double mean = data.dense.col(1).mean();
  EXPECT_NEAR(variances[1], (data.dense.col(1).array() - mean).square().mean(), 1e-15);
  EXPECT_EQ(variances[0], moments.within_variances()[0]);
  const auto ridge = resolve_ridge(data, all_features(data), {}, 1);
  EXPECT_GT(ridge.amount.fraction, 0.0);
  EXPECT_NE(ridge.note.find("perfectly"), std::string::npos) << ridge.note;
  EXPECT_NE(ridge.note.find("x1"), std::string::npos) << ridge.note;
}

TEST(Ridge, WeightsCountAsRepetitions) {
  DatasetParts data = oracle::random_classes(10, 25, 2, 9);
  const std::vector<int> times = {1, 2, 1, 3, 1, 1, 2, 1, 1, 2};
  const DatasetParts many = oracle::repeated(data, times);
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 10).cast<double>();
  const double expected = resolve_ridge(many, all_features(many), {}, 1).amount.fraction;
  EXPECT_NEAR(resolve_ridge(data, all_features(data), {}, 1).amount.fraction, expected, 1e-8 * expected);
}

TEST(Ridge, PerfectSeparationGetsAPositiveRidgeAndTooMuchMemoryIsRefused) {
  DatasetParts data = oracle::random_classes(6, 2, 2, 1);
  for (Index i = 0; i < 6; ++i) data.dense.row(i).setConstant(data.labels->codes[i]);
  EXPECT_GT(resolve_ridge(data, {0, 1}, {}, 1).amount.fraction, 0.0);
  try {
    (void)resolve_ridge(data, {0, 1}, {}, 1, /*memory_limit=*/16);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ridge = {.fraction = F}"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace subspectra
