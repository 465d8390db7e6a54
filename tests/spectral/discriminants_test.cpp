#include "spectral/discriminants.hpp"

#include <gtest/gtest.h>

#include "oracle.hpp"

namespace subspectra {
namespace {

TEST(Discriminants, SolveTheGeneralizedEigenproblem) {
  for (const int classes : {2, 3, 7}) {
    SCOPED_TRACE(classes);
    const DatasetParts data = oracle::random_classes(80, 6, classes, 11);
    const auto scatter = oracle::scatter(data.dense, data.labels->codes, classes);
    const Matrix l = Eigen::LLT<Matrix>(scatter.within).matrixL();
    // Any factor of A will do: its Cholesky-like square root by eigenvectors.
    const Eigen::SelfAdjointEigenSolver<Matrix> root(scatter.between);
    const Matrix m = root.eigenvectors() * root.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
    const Matrix c = l.triangularView<Eigen::Lower>().solve(m);
    const auto found = discriminants_from_factor(l, c, classes - 1);
    const Vector expected = oracle::generalized_eigenvalues(scatter.between, scatter.within);
    const Index r = std::min<Index>(classes - 1, 6);
    ASSERT_EQ(found.values.size(), r);
    EXPECT_LT((found.values - expected.head(r)).norm(), 1e-10 * expected[0]);
    EXPECT_LT((found.vectors.transpose() * scatter.within * found.vectors - Matrix::Identity(r, r)).norm(),
              1e-10);
    for (Index j = 0; j < r; ++j) {
      const Vector residual =
          scatter.between * found.vectors.col(j) - found.values[j] * scatter.within * found.vectors.col(j);
      EXPECT_LT(residual.norm(), 1e-10);
      Index largest = 0;
      found.vectors.col(j).cwiseAbs().maxCoeff(&largest);
      EXPECT_GT(found.vectors(largest, j), 0.0);
    }
    EXPECT_NEAR(criterion_value(Criterion::kLargest, found.values), expected[0], 1e-10 * expected[0]);
    EXPECT_NEAR(criterion_value(Criterion::kTrace, found.values),
                (scatter.within.inverse() * scatter.between).trace(), 1e-10 * expected[0]);
    EXPECT_NEAR(criterion_value(Criterion::kWilks, found.values),
                std::log((scatter.within + scatter.between).determinant() / scatter.within.determinant()),
                1e-10);
  }
}

TEST(Discriminants, LeaveOutDirectionsThatAreRounding) {
  Matrix c = Matrix::Zero(4, 3);
  c(0, 0) = 2.0;
  c(1, 1) = 1e-9;
  const auto found = discriminants_from_factor(Matrix::Identity(4, 4), c, 0);
  EXPECT_EQ(found.values.size(), 1);
  EXPECT_EQ(discriminants_from_factor(Matrix::Identity(4, 4), Matrix::Zero(4, 3), 0).values.size(), 0);
  EXPECT_EQ(criterion_value(Criterion::kLargest, Vector()), 0.0);
}

}  // namespace
}  // namespace subspectra
