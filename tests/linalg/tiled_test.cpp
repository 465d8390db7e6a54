#include "linalg/tiled.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

namespace subspectra::linalg::tiled_test {
namespace {

Matrix random_matrix(Index rows, Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, cols, [&] { return normal(generator); });
}

Matrix random_positive(Index n, unsigned seed) {
  const Matrix x = random_matrix(2 * n, n, seed);
  return x.transpose() * x / static_cast<double>(2 * n);
}

Matrix lower(const Matrix& a) { return a.triangularView<Eigen::Lower>(); }

constexpr Index kSizes[] = {1, 3, 64, 129, 300, 520};  // below, at and across panels (64) and tiles (256)
constexpr Index kLarge =
    1600;  // wider panels (128), and tiles of a rank update that do not start at the diagonal

TEST(Tiled, RankUpdateTouchesTheLowerTriangleAlone) {
  for (const Index n : kSizes) {
    const Matrix a = random_matrix(n, 7, 1), start = random_matrix(n, n, 2);
    Matrix c = start;
    rank_update_lower(-0.5, a, c, 2);
    EXPECT_LT((lower(c) - lower(start - 0.5 * a * a.transpose())).norm(), 1e-11) << n;
    EXPECT_EQ((c - start).triangularView<Eigen::StrictlyUpper>().toDenseMatrix().norm(), 0.0) << n;
  }
}

TEST(Tiled, ProductsAgreeWithPlainOnes) {
  const Matrix a = random_matrix(40, 700, 3), b = random_matrix(40, 5, 4), wide = random_matrix(700, 600, 5);
  Matrix c(700, 5), e(40, 600);
  gemm_tiled(2.0, Op::kTranspose, a, b, 0.0, c, 2);
  EXPECT_LT((c - 2.0 * a.transpose() * b).norm(), 1e-10);
  gemm_tiled(1.0, Op::kNone, a, wide, 0.0, e, 2);
  EXPECT_LT((e - a * wide).norm(), 1e-9);
  Vector y(700);
  gemv_transposed(a, b.col(0), y, 2);
  EXPECT_LT((y - a.transpose() * b.col(0)).norm(), 1e-11);
}

TEST(Tiled, CholeskyAndInverseAgreeWithTheDefinition) {
  for (const Index n : kSizes) {
    const Matrix a = random_positive(n, 6), c = random_matrix(n, 3, 7);
    Matrix l = a;
    ASSERT_TRUE(cholesky_tiled(l, 2));
    EXPECT_LT((l * l.transpose() - a).norm(), 1e-12 * a.norm() * 10) << n;
    Matrix inverse = a, u = c;
    const auto t = invert_positive(inverse, u, 1e-12, 2);
    ASSERT_TRUE(t) << n;
    mirror_lower(inverse);
    EXPECT_LT((inverse * a - Matrix::Identity(n, n)).norm(), 1e-9) << n;
    EXPECT_LT((u - inverse * c).norm(), 1e-9 * u.norm()) << n;
    EXPECT_LT((*t - c.transpose() * u).norm(), 1e-9 * t->norm()) << n;
    Matrix alone = a;
    ASSERT_TRUE(invert_positive(alone, 1));
    mirror_lower(alone);
    EXPECT_EQ(alone, inverse) << "the threads changed a bit";
  }
}

TEST(Tiled, LargeMatricesTakeOtherPanelsAndMoreTiles) {
  const Matrix g = random_matrix(kLarge, kLarge, 9), c = random_matrix(kLarge, 1, 10);
  Matrix a = 0.5 * (g + g.transpose());
  a.diagonal().array() += 2.0 * std::sqrt(static_cast<double>(kLarge));  // all eigenvalues are positive
  const Vector x = random_matrix(kLarge, 1, 11), ax = a * x;
  Matrix l = a;
  ASSERT_TRUE(cholesky_tiled(l, 2));
  EXPECT_LT((l * (l.transpose() * x) - ax).norm(), 1e-12 * ax.norm());
  Matrix inverse = a, u = c;
  ASSERT_TRUE(invert_positive(inverse, u, 1e-12, 2));
  mirror_lower(inverse);
  EXPECT_LT((inverse * ax - x).norm(), 1e-11 * x.norm());
  EXPECT_LT((a * u - c).norm(), 1e-11 * c.norm());
  Matrix alone = a;
  ASSERT_TRUE(invert_positive(alone, 1));
  mirror_lower(alone);
  EXPECT_EQ(alone, inverse) << "the threads changed a bit";
  Matrix sum = a;
  rank_update_lower(2.0, c, sum, 2);
  EXPECT_LT((lower(sum) - lower(a + 2.0 * c * c.transpose())).norm(), 1e-12 * sum.norm());
}

TEST(Tiled, NearlyDependentColumnsCostNoMoreDigitsThanTheyMust) {
  // Smooth columns and a small ridge, as pixels are: kappa is 1e13. The backward error must stay at rounding
  // level (solving with explicit inverses of diagonal blocks gives 2e-14 here).
  constexpr Index kCount = 500;
  Matrix a(kCount, kCount);
  for (Index j = 0; j < kCount; ++j) {
    for (Index i = 0; i < kCount; ++i) a(i, j) = std::exp(-static_cast<double>((i - j) * (i - j)) / 1800.0);
  }
  a.diagonal().array() += 1e-11;
  Matrix l = a;
  ASSERT_TRUE(cholesky_tiled(l, 2));
  EXPECT_LT((l * l.transpose() - a).norm(), 2e-15 * a.norm());
}

TEST(Tiled, SingularMatricesAreNotInverted) {
  Matrix a = random_positive(200, 8);
  a.row(150) = a.row(20);
  a.col(150) = a.col(20);
  Matrix l = a, p = a, c(200, 0);
  EXPECT_FALSE(invert_positive(p, c, 1e-13, 2));
  a(3, 3) = -1.0;
  EXPECT_FALSE(cholesky_tiled(a, 2));
}

TEST(Tiled, AFactorizationStopsWhenAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), 1e9);
  Matrix a = Matrix::Identity(300, 300);
  EXPECT_THROW(static_cast<void>(invert_positive(a, 2, &control)), Stopped);
  a.setIdentity();
  EXPECT_THROW(static_cast<void>(cholesky_tiled(a, 1, &control)), Stopped);
  a.setIdentity();
  const RunControl calm;
  EXPECT_TRUE(invert_positive(a, 2, &calm));
}

}  // namespace
}  // namespace subspectra::linalg::tiled_test
