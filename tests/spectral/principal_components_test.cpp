#include "spectral/principal_components.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "oracle.hpp"

namespace subspectra {
namespace {

TEST(PrincipalComponents, AreTheEigenvectorsOfTheCovariance) {
  for (const auto& [n, p] : {std::pair<Index, Index>{50, 8}, {9, 30}}) {
    const DatasetParts data = oracle::random_classes(n, p, 2, 1);
    std::vector<Index> features;
    for (Index j = 1; j < p; j += 2) features.push_back(j);
    const Matrix x = data.dense(Eigen::all, features);
    const Matrix z = x.rowwise() - x.colwise().mean();
    const Matrix covariance = z.transpose() * z / static_cast<double>(n);
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance);
    for (const DatasetParts& table : {data, oracle::as_sparse(data)}) {
      const auto found = principal_components(table, features, 3, 2);
      ASSERT_EQ(found.variances.size(), 3);
      EXPECT_NEAR(found.total_variance, covariance.trace(), 1e-12 * covariance.trace());
      for (Index c = 0; c < 3; ++c) {
        EXPECT_NEAR(found.variances[c], solver.eigenvalues().reverse()[c], 1e-12 * found.variances[0]);
        EXPECT_NEAR(std::abs(found.loadings.col(c).dot(solver.eigenvectors().col(covariance.cols() - 1 - c))),
                    1.0, 1e-9);
        EXPECT_EQ(found.loadings.col(c).maxCoeff(), found.loadings.col(c).cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST(PrincipalComponents, NoMoreThanTheRank) {
  DatasetParts data = oracle::random_classes(5, 12, 2, 2);
  std::vector<Index> features = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(principal_components(data, features, 12, 1).variances.size(), 4);
  data = oracle::random_classes(40, 3, 2, 2);
  data.dense.col(2) = data.dense.col(0) - 2.0 * data.dense.col(1);
  EXPECT_EQ(principal_components(data, {0, 1, 2}, 3, 1).variances.size(), 2);
}

}  // namespace
}  // namespace subspectra
