#include "reproduce/optimal_subsets.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <numeric>

#include "reproduce/naive_greedy.hpp"
#include "reproduce/verification.hpp"
#include "search/exact.hpp"
#include "spectral/pencil.hpp"
#include "synth/brownian.hpp"

namespace subspectra::reproduce {
namespace {

std::vector<Index> members(unsigned set, Index n) {
  std::vector<Index> list;
  for (Index i = 0; i < n; ++i) {
    if ((set >> static_cast<unsigned>(i) & 1U) != 0U) list.push_back(i);
  }
  return list;
}

// Oracle: Eigen's own generalized eigenproblem for every one of the 2^n - 1 subsets.
TEST(OptimalSubsets, AgreeWithAnEigenproblemForEverySubset) {
  constexpr Index kN = 8;
  for (const auto kind : {synth::WalkKind::kFractional, synth::WalkKind::kGeneralizedGaussian}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(seed);
      const auto [a, b] = synth::BrownianPair{.kind = kind, .features = kN, .seed = seed}.make();
      Vector want = Vector::Zero(kN);
      for (unsigned set = 1; set < 1U << kN; ++set) {
        const auto list = members(set, kN);
        const Matrix a_s = a(list, list);
        const Matrix b_s = b(list, list);
        const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(a_s, b_s, Eigen::EigenvaluesOnly);
        double& best = want[static_cast<Index>(list.size()) - 1];
        best = std::max(best, solver.eigenvalues().maxCoeff());
      }
      const Vector got = best_subset_values(a, b);
      const Vector lower_start = best_subset_values(a, b, 0.5 * want);
      for (Index k = 0; k < kN; ++k) {
        EXPECT_NEAR(got[k] / want[k], 1.0, 1e-9) << k + 1;
        EXPECT_NEAR(lower_start[k] / want[k], 1.0, 1e-9) << k + 1;
      }
    }
  }
}

// icml06-fig1 looks at all subsets; the exact search, which prunes, has to come to the same values.
TEST(OptimalSubsets, AgreeWithTheExactSearch) {
  constexpr Index kN = 14;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    const auto [a, b] =
        synth::BrownianPair{.kind = synth::WalkKind::kFractional, .features = kN, .seed = seed}.make();
    std::vector<Index> all(kN);
    std::iota(all.begin(), all.end(), Index{0});
    const auto exact = exact_search(*matrix_pencil(a, b, 0.0), SearchUnits::singles(all, {}), {},
                                    {.k = {1, kN}, .threads = 1}, RunControl{});
    EXPECT_EQ(exact.status, Status::kOptimal);
    const Vector best = best_subset_values(a, b);
    for (Index k = 1; k <= kN; ++k) {
      const auto& pool = exact.sizes[static_cast<std::size_t>(k - 1)].pool;
      ASSERT_FALSE(pool.empty());
      EXPECT_NEAR(pool.front().value / best[k - 1], 1.0, 1e-8) << k;
    }
  }
}

TEST(OptimalSubsets, TheTwoClassRangeIsThatOfEverySubset) {
  constexpr Index kN = 7;
  const auto [a, b] =
      synth::BrownianPair{.kind = synth::WalkKind::kFractional, .features = kN, .seed = 11}.make();
  const Vector mean = a.col(2);
  Vector least = Vector::Constant(kN, kInfinity);
  Vector most = Vector::Zero(kN);
  std::vector<Index> below(kN);
  const Vector threshold = Vector::Constant(kN, 0.5 * mean.dot(b.ldlt().solve(mean)));
  for (unsigned set = 1; set < 1U << kN; ++set) {
    const auto list = members(set, kN);
    const Vector a_s = mean(list);
    const Matrix b_s = b(list, list);
    const double value = a_s.dot(b_s.ldlt().solve(a_s));
    const auto k = static_cast<Index>(list.size()) - 1;
    least[k] = std::min(least[k], value);
    most[k] = std::max(most[k], value);
    if (value < threshold[k]) ++below[static_cast<std::size_t>(k)];
  }
  const SubsetRange range = two_class_range(mean, b, threshold);
  EXPECT_EQ(range.below, below);
  EXPECT_TRUE(range.least.isApprox(least, 1e-10));
  EXPECT_TRUE(range.most.isApprox(most, 1e-10));
}

TEST(NaiveGreedy, BothScoresTakeTheSameWay) {
  const auto [a, b] =
      synth::BrownianPair{.kind = synth::WalkKind::kFractional, .features = 10, .seed = 4}.make();
  const Vector mean = a.col(5);
  const auto cholesky = naive_dual_pass(mean, b, NaiveScore::kCholesky, RunControl{});
  const auto eigen = naive_dual_pass(mean, b, NaiveScore::kEigen, RunControl{});
  ASSERT_TRUE(cholesky.finished);
  EXPECT_EQ(cholesky.forward, eigen.forward);
  EXPECT_EQ(cholesky.backward, eigen.backward);
  EXPECT_TRUE(cholesky.backward_values.isApprox(eigen.backward_values, 1e-9));
  EXPECT_NEAR(cholesky.forward_values[9], cholesky.backward_values[9], 1e-9 * cholesky.forward_values[9]);
}

TEST(Verification, TheCurveOfASmallExampleByHand) {
  // Genuine at 1, 2, 4; impostor at 3, 4, 5, 6.
  const Roc roc =
      verification_roc({{1, true}, {2, true}, {4, true}, {3, false}, {4, false}, {5, false}, {6, false}});
  EXPECT_EQ(roc.genuine, 3);
  EXPECT_EQ(roc.impostor, 4);
  // Pairs (genuine, impostor) with the genuine one closer, ties half: 4 + 4 + (2 + 1/2) of 12.
  EXPECT_NEAR(roc.area_under, 10.5 / 12.0, 1e-12);
  // Between (1/4, 2/3) and (2/4, 1) false positives meet false negatives: 1/4 + t/4 = 1/3 - t/3.
  EXPECT_NEAR(roc.equal_error, 0.25 + 0.25 / 7.0, 1e-12);
  EXPECT_NEAR(roc.true_positive_at(0.3), 2.0 / 3.0, 1e-12);
}

TEST(Verification, BothWaysToTheCoordinatesKeepTheDistances) {
  const auto [a, b] =
      synth::BrownianPair{.kind = synth::WalkKind::kFractional, .features = 9, .seed = 2}.make();
  for (const Matrix& x : {Matrix(a.topRows(5)), Matrix(a.leftCols(5))}) {
    const Index all = std::min(x.rows() - 1, x.cols());
    const Matrix y = principal_coordinates(x, all);
    for (Index i = 1; i < x.rows(); ++i) {
      const double want = (x.row(i) - x.row(0)).norm();
      EXPECT_NEAR((y.row(i) - y.row(0)).norm(), want, 1e-9 * x.norm());
    }
  }
}

}  // namespace
}  // namespace subspectra::reproduce
