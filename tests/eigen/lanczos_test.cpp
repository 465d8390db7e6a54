#include "eigen/lanczos.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace subspectra {
namespace {

Matrix symmetric(const Vector& values, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const Matrix z = Matrix::NullaryExpr(values.size(), values.size(), [&] { return normal(generator); });
  const Matrix q = Eigen::HouseholderQR<Matrix>(z).householderQ();
  return q * values.asDiagonal() * q.transpose();
}

OperatorPairs pairs_of(const Matrix& a, const LanczosOptions& options, const Vector& start) {
  Random random(1);
  return leading_eigenpairs(
      a.rows(), [&](const Vector& x, Vector& y) { y = a * x; }, start, options, random);
}

double residual(const Matrix& a, const OperatorPairs& pairs) {
  return (a * pairs.vectors - pairs.vectors * pairs.values.asDiagonal()).cwiseAbs().maxCoeff();
}

TEST(Lanczos, FindsTheAlgebraicallyLargestValueOfAnIndefiniteMatrix) {
  for (const Index n : {1, 2, 5, 40, 300}) {
    Vector values = Vector::LinSpaced(n, -3.0, 1.0);
    values[n - 1] = 1.2;
    const Matrix a = symmetric(values, 3);
    const auto pairs = pairs_of(a, {}, Vector::Ones(n));
    EXPECT_TRUE(pairs.converged) << n;
    EXPECT_NEAR(pairs.values[0], 1.2, 1e-12) << n;
    EXPECT_LT(residual(a, pairs), 1e-9);
    if (n > 1) {
      EXPECT_NEAR(pairs_of(a, {.magnitude = true}, Vector::Ones(n)).values[0], -3.0, 1e-12);
    }
  }
}

TEST(Lanczos, RestartsUntilACloselyNeighbouredPairIsApart) {
  Vector values = Vector::LinSpaced(400, 0.0, 1.0);
  values[399] = 1.003;
  const Matrix a = symmetric(values, 5);
  const auto pairs = pairs_of(a, {.basis = 8}, Vector::Ones(400));
  EXPECT_TRUE(pairs.converged);
  EXPECT_GT(pairs.products, 16);
  EXPECT_NEAR(pairs.values[0], 1.003, 1e-12);
}

TEST(Lanczos, FindsSeveralPairsAndRepeatedValues) {
  Vector values = Vector::LinSpaced(60, 0.0, 1.0);
  values.tail(6) << 3.0, 3.0, 4.0, -6.0, 5.0, 5.5;
  const Matrix a = symmetric(values, 7);
  const auto pairs = pairs_of(a, {.count = 4, .magnitude = true}, Vector::Ones(60));
  Vector expected(4);
  expected << -6.0, 5.5, 5.0, 4.0;
  EXPECT_LT((pairs.values - expected).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT(residual(a, pairs), 1e-8);
  EXPECT_LT((pairs.vectors.transpose() * pairs.vectors - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(),
            1e-12);
  // An invariant space that is too small is left by a random vector.
  const Matrix identity = Matrix::Identity(9, 9);
  EXPECT_LT((pairs_of(identity, {.count = 3}, Vector::Ones(9)).values - Vector::Ones(3)).norm(), 1e-12);
}

// A = C C', image C'x. The spectrum lies far from zero, where the errors of carried images grow fastest.
TEST(Lanczos, CarriedImagesGiveTheSamePairsWithFewerPasses) {
  Vector values = Vector::LinSpaced(300, 1.0, 2.0);
  values[299] = 2.01;
  const Matrix a = symmetric(values, 9), c = a.llt().matrixL();
  const Vector start = Vector::LinSpaced(300, 1.0, 3.0);  // not of unit length
  const Matrix first = c.transpose() * start;
  Index passes = 0;
  const CarriedOperator op{.image =
                               [&](const Vector& x) {
                                 ++passes;
                                 return Matrix(c.transpose() * x);
                               },
                           .multiply =
                               [&](const Vector&, const Matrix& wx, Vector& y, Matrix* wy) {
                                 ++passes;
                                 y = c * wx;
                                 if (wy != nullptr) *wy = c.transpose() * y;
                               }};
  Random random(1);
  const auto carried = leading_eigenpairs(300, op, start, {.first_image = &first, .basis = 12}, random);
  const auto plain = pairs_of(a, {.basis = 12}, start);
  EXPECT_TRUE(carried.converged);
  EXPECT_GT(carried.products, 24);  // through restarts
  EXPECT_NEAR(static_cast<double>(carried.products), static_cast<double>(plain.products), 2.0);
  EXPECT_LE(passes, carried.products + (carried.products + 1) / 2);
  EXPECT_NEAR(carried.values[0], plain.values[0], 1e-12);
  EXPECT_LT(residual(a, carried), 1e-10);
  EXPECT_LT((carried.image - c.transpose() * carried.vectors).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Lanczos, AWarmStartTakesFewProductsAndNeverFallsBelowItsQuotient) {
  Vector values = Vector::LinSpaced(200, 0.0, 1.0);
  values[199] = 2.0;
  const Matrix a = symmetric(values, 9);
  const auto cold = pairs_of(a, {}, Vector::Ones(200));
  Vector near = cold.vectors.col(0);
  near[3] += 1e-6;
  const auto warm = pairs_of(a, {}, near);
  EXPECT_LT(warm.products, cold.products);
  Vector start = Vector::Ones(200);
  for (Index most = 1; most < 6; ++most) {
    const auto early = pairs_of(a, {.most_products = most}, start);
    EXPECT_GE(early.values[0], start.dot(a * start) / start.squaredNorm() - 1e-12);
    EXPECT_EQ(early.products, most);
    start = early.vectors.col(0);
  }
  EXPECT_EQ(pairs_of(Matrix::Zero(5, 5), {}, Vector::Ones(5)).values[0], 0.0);
}

}  // namespace
}  // namespace subspectra
