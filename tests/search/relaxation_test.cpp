/// The perspective relaxation against all subsets.
#include "search/relaxation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "oracle.hpp"

namespace subspectra::relaxation_test {
namespace {

using search::diagonal_minorant;
using search::minorant_for_size;
using search::RelaxationEffort;
using search::relaxed_bound;

struct Pair {
  Matrix b, m;
};

/// Correlations with a condition of up to 1e6; some features copies of others to a thousandth, some that
/// bring nothing, M from 1e-3 to 1e3.
Pair pair_of(std::uint64_t seed) {
  Random random(seed, 7);
  const Index n = 3 + static_cast<Index>(random.below(7)), r = 1 + static_cast<Index>(random.below(3));
  auto pair = oracle::random_factor_pair(n, std::min(n, r), seed, seed % 4 == 1 ? 1e6 : 30.0);
  if (seed % 5 == 2) {
    pair.b.row(n - 1) = pair.b.row(0);
    pair.b.col(n - 1) = pair.b.col(0);
    pair.b(n - 1, n - 1) = pair.b(0, 0) * (1.0 + 1e-3);
    pair.m.row(n - 1) = pair.m.row(0);
    pair.b.diagonal().array() += 1e-4 * pair.b.diagonal().maxCoeff();
  }
  if (seed % 6 == 3) pair.m.row(0).setZero();
  if (seed % 17 == 4) pair.m.setZero();
  const Vector scale = pair.b.diagonal().cwiseSqrt().cwiseInverse();
  pair.b = scale.asDiagonal() * pair.b * scale.asDiagonal();
  pair.m = scale.asDiagonal() * pair.m * std::pow(10.0, static_cast<double>(seed % 7) - 3.0);
  return pair;
}

/// tr M_S' B_S^{-1} M_S from scratch.
double trace_of(const Pair& pair, Index bits) {
  std::vector<Index> set;
  for (Index i = 0; i < pair.b.rows(); ++i) {
    if ((bits >> i & 1) != 0) set.push_back(i);
  }
  const Matrix b = pair.b(set, set), m = pair.m(set, Eigen::all);
  return (m.transpose() * b.fullPivLu().solve(m)).trace();
}

double smallest_eigenvalue(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

TEST(Relaxation, BoundsEverySetWithWhateverEffort) {
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 100U : 1500U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Pair pair = pair_of(seed);
    const Index n = pair.b.rows();
    const Vector d = diagonal_minorant(pair.b, pair.b.inverse().diagonal());
    if (d.size() == 0) continue;
    std::vector<double> best(static_cast<std::size_t>(n) + 1, 0.0);
    for (Index bits = 1; bits < (Index{1} << n); ++bits) {
      double& of_size = best[static_cast<std::size_t>(std::popcount(static_cast<std::uint64_t>(bits)))];
      of_size = std::max(of_size, trace_of(pair, bits));
    }
    Vector weights;  // of the size before, as a search has them
    for (Index m = 1; m < n; ++m) {
      const double truth = best[static_cast<std::size_t>(m)];
      const double tolerance = 1e-8 * truth + 1e-300;
      const RelaxationEffort effort{.steps = 1 + static_cast<int>(seed % 13), .hopeless_steps = 20};
      const auto bound = relaxed_bound(pair.b, pair.m, d, m, 0.0, effort, weights);
      EXPECT_GE(bound.bound, truth - tolerance) << m;
      EXPECT_LE(bound.value, bound.bound * (1.0 + 1e-9)) << m;
      // Every set: what all have in common and its own terms.
      for (Index bits = 1; bits < (Index{1} << n); ++bits) {
        if (std::popcount(static_cast<std::uint64_t>(bits)) != m) continue;
        double sum = bound.shared;
        for (Index i = 0; i < n; ++i) {
          if ((bits >> i & 1) != 0) sum += bound.terms[i];
        }
        EXPECT_GE(sum, trace_of(pair, bits) * (1.0 - 1e-8));
        EXPECT_LE(sum, bound.bound * (1.0 + 1e-10));
      }
    }
  }
}

TEST(Relaxation, MoreStepsTakeItDownToItsValue) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Pair pair = pair_of(seed);
    const Vector d = diagonal_minorant(pair.b, pair.b.inverse().diagonal());
    if (d.size() == 0 || pair.m.isZero()) continue;
    const Index m = 1 + static_cast<Index>(seed) % (pair.b.rows() - 1);
    Vector weights;
    const auto bound = relaxed_bound(pair.b, pair.m, d, m, 0.0,
                                     {.steps = 400, .hopeless_steps = 400, .precision = 1e-3}, weights);
    EXPECT_LE(bound.bound, bound.value * 1.02);
  }
}

TEST(Relaxation, WhatIsTakenFromTheDiagonalLeavesItPositive) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Pair pair = pair_of(seed);
    const Index n = pair.b.rows();
    const Vector weights = pair.b.inverse().diagonal();
    const Vector d = diagonal_minorant(pair.b, weights);
    if (d.size() == 0) continue;
    EXPECT_GT(d.minCoeff(), 0.0);
    EXPECT_GE(smallest_eigenvalue(pair.b - Matrix(d.asDiagonal())), -1e-15 * static_cast<double>(n));
    const Index m = 1 + static_cast<Index>(seed) % (n - 1);
    const Vector own = minorant_for_size(pair.b, pair.m, weights, m);
    ASSERT_EQ(own.size(), n);
    EXPECT_GT(own.minCoeff(), 0.0);
    EXPECT_GE(smallest_eigenvalue(pair.b - Matrix(own.asDiagonal())), -1e-15 * static_cast<double>(n));
    const RelaxationEffort effort{.steps = 100, .hopeless_steps = 100, .precision = 1e-3};
    Vector first, second;
    EXPECT_LE(relaxed_bound(pair.b, pair.m, own, m, 0.0, effort, second).bound,
              relaxed_bound(pair.b, pair.m, d, m, 0.0, effort, first).bound * 1.01);
  }
}

}  // namespace
}  // namespace subspectra::relaxation_test
