#include "solvers/basis_pursuit.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <random>
#include <vector>

namespace subspectra {
namespace {

/// Orthonormal rows, from a QR.
Matrix orthonormal_rows(Index r, Index p, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const Matrix a = Matrix::NullaryExpr(p, r, [&] { return normal(generator); });
  const Matrix q = Eigen::HouseholderQR<Matrix>(a).householderQ() * Matrix::Identity(p, r);
  return q.transpose();
}

TEST(BasisPursuit, BothRoutesReachTheSameVertexAndProveIt) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const Index r = seed % 2 == 0 ? 12 : 31;
    const Matrix rows = orthonormal_rows(r, 150, seed);
    const Vector b = orthonormal_rows(1, r, 100 + seed).transpose();
    for (const bool simplex : {true, false}) {
      SCOPED_TRACE(simplex ? "simplex" : "splitting");
      const auto found = simplex ? basis_pursuit_simplex(rows, b, {.threads = 1}, {})
                                 : basis_pursuit_splitting(rows, b, {.threads = 1}, {});
      EXPECT_TRUE(found.converged);
      EXPECT_LE(std::ssize(found.support), r);
      EXPECT_LT((rows(Eigen::all, found.support) * found.values - b).norm(), 1e-10);
      EXPECT_NEAR(found.value, found.values.lpNorm<1>(), 1e-12);
      // Dual feasible, complementary, and of the same value: a proof that needs neither route.
      const Vector products = rows.transpose() * found.dual;
      EXPECT_LE(products.cwiseAbs().maxCoeff(), 1.0 + 1e-9);
      EXPECT_NEAR(b.dot(found.dual), found.value, 1e-8 * found.value);
      for (std::size_t i = 0; i < found.support.size(); ++i) {
        EXPECT_NEAR(products[found.support[i]], found.values[static_cast<Index>(i)] > 0.0 ? 1.0 : -1.0, 1e-8);
      }
    }
  }
}

TEST(BasisPursuit, FindsASparseVectorThatWasPutIn) {
  const Matrix rows = orthonormal_rows(40, 200, 5);
  Vector planted = Vector::Zero(200);
  planted[3] = 2.0;
  planted[90] = -1.0;
  planted[199] = 0.5;
  const Vector b = rows * planted;  // a degenerate vertex: 3 nonzeros, 40 equations
  for (const bool simplex : {true, false}) {
    SCOPED_TRACE(simplex ? "simplex" : "splitting");
    const auto found = simplex ? basis_pursuit_simplex(rows, b, {.threads = 1}, {})
                               : basis_pursuit_splitting(rows, b, {.threads = 1}, {});
    EXPECT_TRUE(found.converged) << found.value << ' ' << found.bound;
    EXPECT_EQ(found.support, (std::vector<Index>{3, 90, 199}));
    EXPECT_NEAR(found.value, 3.5, 1e-10);
  }
}

}  // namespace
}  // namespace subspectra
