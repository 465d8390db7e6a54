#include "search/threshold.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "oracle.hpp"
#include "pencils.hpp"

namespace subspectra {
namespace {

/// |cos| of the angle between two vectors.
double alignment(const Vector& a, const Vector& b) { return std::abs(a.dot(b)) / (a.norm() * b.norm()); }

TEST(Threshold, GlobalVectorsAreThoseOfTheDensePair) {
  for (const int classes : {2, 4}) {
    const auto data = oracle::random_classes(40, 12, classes, 5, 1.0, 4);
    auto scatter = oracle::scatter(data.dense, data.labels->codes, classes);
    scatter.within.diagonal().array() += 0.1;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(scatter.between, scatter.within);
    const Vector x = solver.eigenvectors().rightCols(1);
    const Eigen::SelfAdjointEigenSolver<Matrix> b(scatter.within);
    const auto pencil = lda_pencil(data, 0.1, 0);
    const auto features = oracle::all_units(12).features();
    EXPECT_NEAR(alignment(global_vector(*pencil, features, ThresholdOn::kX, 0), x), 1.0, 1e-10);
    EXPECT_NEAR(alignment(global_vector(*pencil, features, ThresholdOn::kY, 0), b.operatorSqrt() * x), 1.0,
                1e-10);
  }
}

TEST(Threshold, TablesWithFewRowsAreWorkedOnThroughTheirRows) {
  const auto data = oracle::random_classes(14, 40, 3, 6, 1.0, 4);
  auto scatter = oracle::scatter(data.dense, data.labels->codes, 3);
  scatter.within.diagonal().array() += 0.2;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(scatter.between, scatter.within);
  const Vector x = solver.eigenvectors().rightCols(1);
  const Eigen::SelfAdjointEigenSolver<Matrix> b(scatter.within);
  const auto pencil = lda_pencil(data, 0.2, 0);
  const auto features = oracle::all_units(40).features();
  const Vector found = global_vector(*pencil, features, ThresholdOn::kX, 0);
  EXPECT_NEAR(alignment(found, x), 1.0, 1e-10);
  EXPECT_NEAR(found.dot(scatter.within * found), 1.0, 1e-10);
  EXPECT_NEAR(alignment(global_vector(*pencil, features, ThresholdOn::kY, 0), b.operatorSqrt() * x), 1.0,
              1e-10);

  const auto pca = pca_pencil(data, 0);
  const Eigen::SelfAdjointEigenSolver<Matrix> total(
      oracle::scatter(data.dense, std::vector<int>(14, 0), 1).within);
  EXPECT_NEAR(alignment(global_vector(*pca, features, ThresholdOn::kX, 0), total.eigenvectors().rightCols(1)),
              1.0, 1e-9);
}

}  // namespace
}  // namespace subspectra
