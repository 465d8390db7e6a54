#include "eigen/symmetric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include <subspectra/error.hpp>
#include "core/random.hpp"
#include "eigen/leading.hpp"
#include "eigen/svd.hpp"

namespace subspectra::linalg {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix random_matrix(Index rows, Index cols, Random& random) {
  Matrix m(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) m(i, j) = random.normal();
  }
  return m;
}

Matrix random_symmetric(Index n, Random& random) {
  const Matrix x = random_matrix(n, n, random);
  return x + x.transpose();
}

TEST(SymmetricEigen, PairsHaveSmallResidualsAndVectorsAreOrthonormal) {
  Random random(6);
  for (const Index n : {0, 1, 2, 3, 10, 65, 200}) {
    const Matrix x = random_matrix(n, n, random);
    const Matrix a = x + x.transpose();
    Matrix lower_only = a.triangularView<Eigen::Lower>();
    const auto [values, vectors, converged] = symmetric_eigen(lower_only, true);
    EXPECT_TRUE(converged);
    ASSERT_EQ(values.size(), n);
    ASSERT_EQ(vectors.rows(), n);
    const double tol = 10.0 * kEps * static_cast<double>(n + 1) * (a.norm() + 1.0);
    EXPECT_LE((a * vectors - vectors * values.asDiagonal()).norm(), tol);
    EXPECT_LE((vectors.transpose() * vectors - Matrix::Identity(n, n)).norm(), tol);
    for (Index i = 1; i < n; ++i) EXPECT_LE(values[i - 1], values[i]);
    const auto values_only = symmetric_eigen(a, false);
    EXPECT_EQ(values_only.vectors.size(), 0);
    EXPECT_LE((values_only.values - values).norm(), tol);
  }
}

TEST(SymmetricEigen, KeepsVeryLargeAndVerySmallScales) {
  for (const double scale : {1e-150, 1.0, 1e150}) {
    Matrix a(2, 2);
    a << 2.0, 1.0, 1.0, 2.0;
    const auto values = symmetric_eigen(a * scale, true).values;
    EXPECT_NEAR(values[0] / scale, 1.0, 10.0 * kEps);
    EXPECT_NEAR(values[1] / scale, 3.0, 10.0 * kEps);
  }
}

TEST(SymmetricEigen, NamesTheEntryThatIsNotFinite) {
  Matrix a = Matrix::Identity(4, 4);
  a(3, 1) = std::nan("");
  try {
    static_cast<void>(symmetric_eigen(a, true));
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("(3, 1)"), std::string::npos) << e.what();
  }
}

// The routines share no code: each is the oracle of the other.
TEST(SmallSymmetricEigen, AgreesWithLapackOnBothSidesOfItsSizes) {
  Random random(7);
  for (const Index n : {1, 2, 5, 16, 17, 50, 51, 80}) {
    const Matrix a = random_symmetric(n, random);
    const auto lapack = symmetric_eigen(a, false);
    const double tol = 10.0 * kEps * static_cast<double>(n + 1) * (a.norm() + 1.0);
    for (const auto& found : {small_symmetric_eigen(a, true), spectrum(a, true)}) {
      EXPECT_TRUE(found.converged);
      EXPECT_LE((found.values - lapack.values).norm(), tol) << n;
      EXPECT_LE((a * found.vectors - found.vectors * found.values.asDiagonal()).norm(), tol) << n;
    }
    EXPECT_EQ(small_symmetric_eigen(a, false).vectors.size(), 0);
  }
}

TEST(SmallSymmetricEigen, SaysThatItDidNotConverge) {
  Matrix a = Matrix::Identity(4, 4);
  a(3, 1) = a(1, 3) = std::nan("");
  EXPECT_FALSE(small_symmetric_eigen(a, false).converged);
}

TEST(Tridiagonal, IsTheMatrixItStandsFor) {
  Random random(8);
  const Vector diagonal = random_matrix(9, 1, random), beside = random_matrix(8, 1, random);
  Matrix a = diagonal.asDiagonal();
  a.diagonal(-1) = beside;
  a.diagonal(1) = beside;
  const auto found = tridiagonal_eigen(diagonal, beside);
  EXPECT_LE((a * found.vectors - found.vectors * found.values.asDiagonal()).norm(), 1e-13);
}

// Oracle: with B = L L' they are the eigenvalues of L^{-1} A L^{-T}; here B is diagonal.
TEST(GeneralizedEigenvalues, AreThoseOfTheScaledMatrix) {
  Random random(9);
  const Matrix a = random_symmetric(6, random);
  const Vector b = Vector::LinSpaced(6, 1.0, 3.0), scale = b.cwiseSqrt().cwiseInverse();
  const auto found = generalized_eigenvalues(a, b.asDiagonal());
  ASSERT_TRUE(found);
  const Vector wanted = symmetric_eigen(scale.asDiagonal() * a * scale.asDiagonal(), false).values;
  EXPECT_LE((*found - wanted).norm(), 1e-13);
}

TEST(LeadingPairs, AreTheLastOfAllOnBothSidesOfTheSwitchToLanczos) {
  Random random(10);
  for (const Index n : {1, 12, 256, 257, 300}) {
    const Matrix x = random_matrix(n, n + 5, random);
    const Matrix a = x * x.transpose() / static_cast<double>(n);
    const auto all = symmetric_eigen(a, false);
    const Index count = std::min<Index>(3, n);
    const subspectra::LeadingPairs found = leading_pairs(a, 3);
    ASSERT_EQ(found.values.size(), count);
    for (Index j = 0; j < count; ++j) {
      EXPECT_NEAR(found.values[j], all.values[n - 1 - j], 1e-10 * all.values[n - 1]) << n;
      EXPECT_LE((a * found.vectors.col(j) - found.values[j] * found.vectors.col(j)).norm(),
                1e-8 * all.values[n - 1])
          << n;
      Index largest = 0;
      found.vectors.col(j).cwiseAbs().maxCoeff(&largest);
      EXPECT_GT(found.vectors(largest, j), 0.0);
    }
  }
}

TEST(LeadingVectorNear, FindsTheLeaderEvenFromAGuessThatIsOrthogonalToIt) {
  for (const Index n : {4, 40}) {
    Matrix a = Matrix::Identity(n, n);
    a(n - 1, n - 1) = 5.0;
    for (const Index guess : {Index{0}, n - 1}) {
      const Vector found = leading_vector_near(a, Vector::Unit(n, guess));
      EXPECT_NEAR(std::abs(found[n - 1]), 1.0, 1e-10);
    }
  }
}

TEST(Svd, PutsTheMatrixTogetherAgain) {
  Random random(11);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{7, 3}, {3, 7}, {4, 4}}) {
    const Matrix a = random_matrix(rows, cols, random);
    const Svd svd = thin_svd(a, true);
    EXPECT_LE((svd.u * svd.values.asDiagonal() * svd.v.transpose() - a).norm(), 1e-13);
    EXPECT_EQ(thin_svd(a, false).v.size(), 0);
  }
  const Svd singular = square_svd(Matrix::Ones(3, 3));
  EXPECT_LE((singular.u.transpose() * singular.u - Matrix::Identity(3, 3)).norm(), 1e-13);
  EXPECT_LE((singular.v.transpose() * singular.v - Matrix::Identity(3, 3)).norm(), 1e-13);
}

}  // namespace
}  // namespace subspectra::linalg
