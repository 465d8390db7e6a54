/// Oracle: the matrices that the pencils stand for, formed by the definition.
#include "spectral/pencil.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <subspectra/error.hpp>
#include "oracle.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra::pencil_test {
namespace {

Matrix normal_matrix(Index rows, Index columns, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

TEST(MatrixPencil, ALargeMatrixOfLowRankHasAFactorOfThatRank) {
  for (const Index rank : {1, 2, 9, 17}) {
    for (const double spread : {1.0, 1e4}) {
      SCOPED_TRACE(testing::Message() << rank << " spread " << spread);
      Matrix m = normal_matrix(200, rank, 3);
      for (Index i = 0; i < 200; ++i) m.row(i) *= std::pow(spread, static_cast<double>(i % 3));
      m.row(11) = m.row(4);  // a copy
      m.row(12) = -2.0 * m.row(4);
      m.row(13).setZero();
      const Matrix a = m * m.transpose();
      const auto pencil = matrix_pencil(a, Matrix::Identity(200, 200), RidgeAmount());
      ASSERT_NE(pencil->factor(), nullptr);
      const Matrix& factor = *pencil->factor();
      EXPECT_EQ(factor.cols(), rank);
      const Vector unit = a.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
      EXPECT_LT(
          (unit.asDiagonal() * (factor * factor.transpose() - a) * unit.asDiagonal()).cwiseAbs().maxCoeff(),
          1e-12);
      EXPECT_EQ(factor.row(13).cwiseAbs().maxCoeff(), 0.0);
    }
  }
}

TEST(MatrixPencil, ALargeMatrixOfHighRankHasNoneAndAnIndefiniteOneIsRefused) {
  const Matrix m = normal_matrix(200, 60, 4), low = normal_matrix(200, 2, 5);
  const Matrix b = Matrix::Identity(200, 200);
  EXPECT_EQ(matrix_pencil(m * m.transpose(), b, RidgeAmount())->factor(), nullptr);
  EXPECT_EQ(matrix_pencil(low * low.transpose(), b, RidgeAmount(), 0)->factor(), nullptr);
  EXPECT_EQ(matrix_pencil(low * low.transpose(), b, RidgeAmount(), 1)->factor(), nullptr);
  Matrix bent = low * low.transpose();
  bent -= 0.01 * m.col(0) * m.col(0).transpose();
  EXPECT_THROW((void)matrix_pencil(bent, b, RidgeAmount()), BadInput);
  Matrix hidden = low * low.transpose();  // no diagonal entry shows it
  hidden(3, 5) = hidden(5, 3) = 2.0 * std::sqrt(hidden(3, 3) * hidden(5, 5));
  EXPECT_THROW((void)matrix_pencil(hidden, b, RidgeAmount()), BadInput);
}

TEST(LdaPencil, MoreClassesThanFeaturesHaveAFactorOfAsManyColumnsAsFeatures) {
  for (const int classes : {4, 33, 34, 50}) {
    SCOPED_TRACE(classes);
    const DatasetParts data = oracle::random_classes(120, 4, classes, 7);
    const auto pencil = lda_pencil(Dataset(data), RidgeAmount(), 1);
    const Matrix& factor = *pencil->factor();
    EXPECT_EQ(factor.cols(), classes > 33 ? 4 : classes - 1);
    const Matrix between = oracle::scatter(data.dense, data.labels->codes, classes).between;
    EXPECT_LT((factor * factor.transpose() - between).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(CovarianceOperator, ABlockOfAKeptOneIsThatOfTheColumns) {
  const DatasetParts data = oracle::random_classes(400, 300, 3, 6);
  const Dataset table(data);
  const Matrix within = oracle::scatter(data.dense, data.labels->codes, 3).within;
  const CovarianceOperator rows(table, CovarianceOperator::Centring::kByClass, 1);
  std::vector<Index> most, some = {299, 3, 120, 4};
  for (Index j = 1; j < 300; ++j) most.push_back(j);
  const Matrix first = rows.block(most, 1);  // is kept
  EXPECT_LT((first - within(most, most)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(rows.block(most, 2), first);
  EXPECT_LT((rows.block(some, 1) - within(some, some)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(rows.block(some, 1)(1, 2), first(2, 119));
  const std::vector<Index> with_another = {0, 7};  // not among the kept
  EXPECT_LT((rows.block(with_another, 1) - within(with_another, with_another)).cwiseAbs().maxCoeff(), 1e-12);
  const Vector scale = Vector::LinSpaced(300, 0.5, 2.0);
  const Matrix scaled = rows.in_units_of(scale).block(some, 1);
  for (Index a = 0; a < 4; ++a) {
    for (Index b = 0; b < 4; ++b) {
      const Index i = some[static_cast<std::size_t>(a)], j = some[static_cast<std::size_t>(b)];
      EXPECT_NEAR(scaled(a, b), within(i, j) / (scale[i] * scale[j]), 1e-12);
    }
  }
}

}  // namespace
}  // namespace subspectra::pencil_test
