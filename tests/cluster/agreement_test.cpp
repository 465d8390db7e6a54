#include "cluster/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

double value_of(const Matrix& gain, const std::vector<Index>& matching) {
  double sum = 0.0;
  for (std::size_t i = 0; i < matching.size(); ++i) {
    if (matching[i] >= 0) sum += gain(static_cast<Index>(i), matching[i]);
  }
  return sum;
}

/// Oracle: every permutation of the longer side.
double best_by_permutations(const Matrix& gain) {
  const Matrix g = gain.rows() <= gain.cols() ? gain : Matrix(gain.transpose());
  std::vector<Index> columns(static_cast<std::size_t>(g.cols()));
  std::iota(columns.begin(), columns.end(), Index{0});
  double best = -kInfinity;
  do {
    double sum = 0.0;
    for (Index i = 0; i < g.rows(); ++i) sum += g(i, columns[static_cast<std::size_t>(i)]);
    best = std::max(best, sum);
  } while (std::next_permutation(columns.begin(), columns.end()));
  return best;
}

TEST(Matching, AgreesWithEveryPermutation) {
  std::mt19937_64 generator(4);
  std::uniform_int_distribution<int> count(0, 9);  // many ties
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    const Index n = 1 + trial % 6, m = 1 + (trial / 6) % 6;
    const bool integers = trial % 2 == 0;
    const Matrix gain = Matrix::NullaryExpr(
        n, m, [&] { return integers ? static_cast<double>(count(generator)) : normal(generator); });
    const auto matching = best_matching(gain);
    ASSERT_EQ(static_cast<Index>(matching.size()), n);
    std::vector<char> used(static_cast<std::size_t>(m), 0);
    Index matched = 0;
    for (const Index j : matching) {
      if (j < 0) continue;
      ++matched;
      EXPECT_EQ(used[static_cast<std::size_t>(j)]++, 0);
    }
    EXPECT_EQ(matched, std::min(n, m));
    EXPECT_NEAR(value_of(gain, matching), best_by_permutations(gain), 1e-12);
  }
}

TEST(Matching, NothingToMatchAndNumbersThatAreNone) {
  EXPECT_TRUE(best_matching(Matrix(0, 3)).empty());
  EXPECT_EQ(best_matching(Matrix(2, 0)), (std::vector<Index>{-1, -1}));
  Matrix bad = Matrix::Zero(2, 2);
  bad(0, 1) = std::nan("");
  EXPECT_THROW((void)best_matching(bad), InvalidArgument);
}

double ari(const std::vector<int>& a, const std::vector<int>& b) {
  return adjusted_rand_index(contingency(a, b));
}

// Values that scikit-learn's adjusted_rand_score documents and gives for these labels.
TEST(AdjustedRand, HasTheKnownValues) {
  EXPECT_DOUBLE_EQ(ari({0, 0, 1, 1}, {0, 0, 1, 1}), 1.0);
  EXPECT_DOUBLE_EQ(ari({0, 0, 1, 1}, {1, 1, 0, 0}), 1.0);
  EXPECT_NEAR(ari({0, 0, 1, 2}, {0, 0, 1, 1}), 4.0 / 7.0, 1e-15);  // 0.57...
  EXPECT_NEAR(ari({0, 0, 1, 1}, {0, 0, 1, 2}), 4.0 / 7.0, 1e-15);
  EXPECT_DOUBLE_EQ(ari({0, 0, 0, 0}, {0, 1, 2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(ari({0, 0, 1, 1}, {0, 1, 0, 1}), -0.5);
  EXPECT_NEAR(ari({0, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 2, 2}), 8.0 / 33.0, 1e-15);  // 0.2424...
}

TEST(AdjustedRand, OfTrivialPartitions) {
  EXPECT_DOUBLE_EQ(ari({}, {}), 1.0);
  EXPECT_DOUBLE_EQ(ari({0}, {3}), 1.0);
  EXPECT_DOUBLE_EQ(ari({0, 0, 0}, {1, 1, 1}), 1.0);
  EXPECT_DOUBLE_EQ(ari({0, 1, 2}, {2, 0, 1}), 1.0);
}

/// Oracle: the four kinds of pairs, counted one by one, in the form of scikit-learn.
double ari_by_pairs(const std::vector<int>& a, const std::vector<int>& b) {
  double tp = 0, fp = 0, fn = 0, tn = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool in_a = a[i] == a[j], in_b = b[i] == b[j];
      (in_a ? (in_b ? tp : fn) : (in_b ? fp : tn)) += 1.0;
    }
  }
  if (fn == 0.0 && fp == 0.0) return 1.0;
  return 2.0 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn));
}

TEST(AdjustedRand, AgreesWithCountingPairsAndIgnoresNames) {
  std::mt19937_64 generator(1);
  for (int trial = 0; trial < 50; ++trial) {
    std::uniform_int_distribution<int> code_a(0, 1 + trial % 4), code_b(0, trial % 5);
    std::vector<int> a(30), b(30);
    for (auto& code : a) code = code_a(generator);
    for (auto& code : b) code = code_b(generator);
    EXPECT_NEAR(ari(a, b), ari_by_pairs(a, b), 1e-13);
    auto renamed = a;
    for (auto& code : renamed) code = 7 - code;
    EXPECT_NEAR(ari(renamed, b), ari(a, b), 1e-13);
    EXPECT_NEAR(agreement(renamed, b).accuracy, agreement(a, b).accuracy, 1e-15);
  }
}

TEST(Agreement, MatchesClustersToClassesAndLeavesUnlabelledRowsOut) {
  const auto found = agreement({0, 0, 0, 1, 1, 2, 2}, {1, 1, 0, 0, 0, -1, 1});
  EXPECT_EQ(found.rows, 6);
  EXPECT_EQ(found.matching, (std::vector<Index>{1, 0, -1}));
  EXPECT_EQ(found.matched, 4);
  EXPECT_DOUBLE_EQ(found.accuracy, 4.0 / 6.0);
  const auto none = agreement({0, 1}, {-1, -1});
  EXPECT_EQ(none.rows, 0);
  EXPECT_EQ(none.accuracy, 0.0);
  EXPECT_THROW((void)agreement({0, 1}, {0}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra
