/// Oracle: lambda_max of every subset, by Eigen's dense eigen-solver.
#include "search/perron_bound.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <bit>
#include <numeric>

#include <subspectra/error.hpp>
#include "core/random.hpp"

namespace subspectra {
namespace {

Matrix random_symmetric(Index n, Random& random, bool covariance) {
  Matrix x(n + 3, n);
  for (auto& e : x.reshaped()) e = random.normal() + (covariance ? 0.5 : 0.0);
  if (covariance) return x.transpose() * x / static_cast<double>(n + 3);
  return x.topRows(n) + x.topRows(n).transpose();
}

TEST(PerronBound, HoldsForEverySubset) {
  double slack = 0.0;
  Index count = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index p = 2 + static_cast<Index>(random.below(11));
    Matrix a = random_symmetric(p, random, seed % 3 != 0);
    if (seed % 5 == 1) {
      a.row(0).setZero();
      a.col(0).setZero();
    }
    std::vector<Index> candidates, include;
    for (Index j = 0; j < p; ++j) {
      if (j < 2 || random.uniform() < 0.9) candidates.push_back(j);
    }
    if (seed % 2 == 1) include.push_back(candidates[1]);
    if (seed % 4 == 3 && candidates.size() > 3) include.push_back(candidates[3]);
    const auto n = static_cast<Index>(candidates.size());
    const Index lo = std::max<Index>(1, static_cast<Index>(include.size()));
    const Vector bounds = perron_bounds(a, candidates, include, lo, n, 1);
    ASSERT_EQ(bounds.size(), n - lo + 1);
    Vector best = Vector::Constant(n + 1, -kInfinity);
    for (unsigned mask = 1; mask < (1U << n); ++mask) {
      std::vector<Index> s;
      bool all = true;
      for (Index e = 0; e < n; ++e) {
        const bool in = ((mask >> e) & 1U) != 0;
        const Index j = candidates[static_cast<std::size_t>(e)];
        if (in) s.push_back(j);
        if (!in && std::find(include.begin(), include.end(), j) != include.end()) all = false;
      }
      if (!all) continue;
      const Matrix block = a(s, s);
      const double value =
          Eigen::SelfAdjointEigenSolver<Matrix>(block, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
      auto& of_size = best[static_cast<Index>(s.size())];
      of_size = std::max(of_size, value);
    }
    for (Index k = lo; k <= n; ++k) {
      EXPECT_GE(bounds[k - lo], best[k] - 1e-12 * std::abs(best[k])) << "k " << k;
      if (seed % 3 != 0) {
        slack += bounds[k - lo] / best[k] - 1.0;
        ++count;
      }
    }
    EXPECT_EQ(bounds, perron_bounds(a, candidates, include, lo, n, 2));
  }
  EXPECT_LT(slack / static_cast<double>(count), 0.3);  // a bound that says something
}

TEST(PerronBound, IsTightForOnePositiveFactor) {
  // |A| = A with a Perron vector that every row agrees on.
  const Index n = 30;
  const Vector v = Vector::LinSpaced(n, 1.0, 2.0);
  const Matrix a = v * v.transpose();
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  const Vector bounds = perron_bounds(a, all, {}, 1, n, 1);
  for (Index k = 1; k <= n; ++k) {
    const double best = v.tail(k).squaredNorm();
    EXPECT_GE(bounds[k - 1], best * (1.0 - 1e-13));
    EXPECT_LE(bounds[k - 1], best * 1.05);
  }
}

TEST(PerronBound, RefusesSizesThatNoSetHas) {
  const Matrix a = Matrix::Identity(4, 4);
  EXPECT_THROW((void)perron_bounds(a, {0, 1, 2}, {}, 0, 2, 1), InvalidArgument);
  EXPECT_THROW((void)perron_bounds(a, {0, 1, 2}, {}, 1, 4, 1), InvalidArgument);
  EXPECT_THROW((void)perron_bounds(a, {0, 1, 2}, {0, 1}, 1, 3, 1), InvalidArgument);
}

}  // namespace
}  // namespace subspectra
