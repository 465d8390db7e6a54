/// The branch and bound of verify, against every set by the textbook's eigenvalues.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <functional>
#include <random>

#include "oracle.hpp"
#include "verify/drop_search.hpp"
#include "verify/every_set.hpp"
#include "verify/row_search.hpp"
#include "verify/wide_root.hpp"

namespace subspectra {
namespace every_set_test {

using verify::BoundAnswer;
using verify::Choices;
using verify::DensePair;
using End = BoundAnswer::End;

const RunControl kUnstopped;  // searches keep a reference

constexpr std::array kCriteria = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};

double textbook(const DensePair& pair, const std::vector<Index>& places, Criterion criterion) {
  const Matrix a = pair.a(places, places);
  if (pair.identity()) return Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues().maxCoeff();
  const Vector values = oracle::generalized_eigenvalues(a, pair.b(places, places)).cwiseMax(0.0);
  if (criterion == Criterion::kLargest) return values[0];
  return criterion == Criterion::kTrace ? values.sum() : values.array().log1p().sum();
}

/// The values of all sets of k units, best first, with their places.
std::vector<std::pair<double, std::vector<Index>>> all_values(const DensePair& pair, const Choices& choices,
                                                              Criterion criterion, Index k) {
  std::vector<std::pair<double, std::vector<Index>>> values;
  const std::size_t n = choices.free.size();
  for (unsigned mask = 0; mask < (1U << n); ++mask) {
    std::vector<Index> places;
    Index units = std::ssize(choices.forced);
    for (const auto& unit : choices.forced) places.insert(places.end(), unit.begin(), unit.end());
    for (std::size_t u = 0; u < n; ++u) {
      if (((mask >> u) & 1U) == 0) continue;
      ++units;
      places.insert(places.end(), choices.free[u].begin(), choices.free[u].end());
    }
    if (units != k) continue;
    std::sort(places.begin(), places.end());
    values.emplace_back(textbook(pair, places, criterion), places);
  }
  std::sort(values.rbegin(), values.rend());
  return values;
}

/// One by one; or with the first two features forced; or in pairs.
std::vector<Choices> kinds_of_choices(Index p) {
  std::vector<Choices> kinds(3);
  for (Index j = 0; j < p; ++j) {
    kinds[0].free.push_back({j});
    (j < 2 ? kinds[1].forced : kinds[1].free).push_back({j});
    if (j % 2 == 0) kinds[2].free.push_back(j + 1 < p ? std::vector<Index>{j, j + 1} : std::vector<Index>{j});
  }
  return kinds;
}

template <class Search>
void expect_as_by_all_sets(Search& search, const DensePair& pair, const Choices& choices,
                           Criterion criterion) {
  const Index units = std::ssize(choices.forced) + std::ssize(choices.free);
  for (Index k = std::max<Index>(1, std::ssize(choices.forced)); k <= units; ++k) {
    SCOPED_TRACE(fmt::format("criterion {} k {}", static_cast<int>(criterion), k));
    const auto values = all_values(pair, choices, criterion, k);
    const double best = values.front().first;
    // At the best itself and above there is nothing; below it there is the best, or another one above.
    EXPECT_EQ(search.find_above(k, best, {}, {}).end, End::kNone);
    EXPECT_EQ(search.find_above(k, best * (1.0 + 1e-6), {}, {}).end, End::kNone);
    const BoundAnswer below = search.find_above(k, best * (1.0 - 1e-6), {}, {});
    ASSERT_EQ(below.end, End::kFound);
    EXPECT_NEAR(below.found->value.value, best, 2e-6 * best);
    if (values.size() < 2) continue;
    // All but the best: the second best is what there is.
    const double second = values[1].first;
    EXPECT_EQ(search.find_above(k, second, {}, {values[0].second}).end, End::kNone);
    EXPECT_EQ(search.find_above(k, second * (1.0 - 1e-6), {}, {values[0].second}).end, End::kFound);
  }
}

TEST(DropSearch, SaysOfEveryBoundWhatAllSetsSay) {
  constexpr Index kFeatures = 9;
  std::vector<Index> all(kFeatures);
  for (Index j = 0; j < kFeatures; ++j) all[static_cast<std::size_t>(j)] = j;
  for (const int classes : {2, 4}) {
    for (const double ridge : {0.0, 1e-3}) {
      // With the ridge there are fewer rows than features.
      const DatasetParts parts = oracle::random_classes(ridge > 0.0 ? 8 : 40, kFeatures, classes, 3, 0.7, 5);
      const DensePair pair = verify::table_pair(Dataset(parts), all, true,
                                                ridge > 0.0 ? RidgeAmount(0.0, ridge) : RidgeAmount());
      for (const Criterion criterion : kCriteria) {
        for (const Choices& choices : kinds_of_choices(kFeatures)) {
          verify::DropSearch search(pair, choices, criterion, kUnstopped);
          ASSERT_EQ(search.unusable(), "");
          expect_as_by_all_sets(search, pair, choices, criterion);
        }
      }
    }
  }
}

/// A of full rank, as `between` may be.
TEST(DropSearch, TakesMatrices) {
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal;
  Matrix x(20, 7), y(20, 7);
  for (double& value : x.reshaped()) value = normal(generator);
  for (double& value : y.reshaped()) value = normal(generator);
  const Matrix a = x.transpose() * x, b = y.transpose() * y;
  const DensePair pair = verify::matrix_pair(a, &b, {0, 1, 2, 3, 4, 5, 6}, {});
  for (const Criterion criterion : kCriteria) {
    const Choices choices = kinds_of_choices(7)[0];
    verify::DropSearch search(pair, choices, criterion, kUnstopped);
    ASSERT_EQ(search.unusable(), "");
    expect_as_by_all_sets(search, pair, choices, criterion);
  }
}

TEST(DropSearch, RefusesWhatRoundingWouldDecide) {
  const std::vector<Index> all = {0, 1, 2, 3};
  DatasetParts parts = oracle::random_classes(30, 4, 2, 7);
  for (const double off : {0.0, 1e-9}) {
    parts.dense.col(3) = parts.dense.col(0);
    parts.dense(0, 3) += off;
    const DensePair pair = verify::table_pair(Dataset(parts), all, true, {});
    const verify::DropSearch search(pair, kinds_of_choices(4)[0], Criterion::kLargest, kUnstopped);
    EXPECT_NE(search.unusable(), "") << off;
  }
}

TEST(RowSearch, SaysOfEveryBoundWhatAllSetsSay) {
  constexpr Index kFeatures = 10;
  std::vector<Index> all(kFeatures);
  for (Index j = 0; j < kFeatures; ++j) all[static_cast<std::size_t>(j)] = j;
  for (const std::uint64_t seed : {1U, 2U}) {
    DatasetParts parts = oracle::random_classes(25, kFeatures, 2, seed, 1.5);
    if (seed == 2) parts.dense.col(4).setConstant(0.0);  // a variance of 0
    const DensePair pair = verify::table_pair(Dataset(parts), all, false, {});
    for (const Choices& choices : kinds_of_choices(kFeatures)) {
      verify::RowSearch search(pair, choices, kUnstopped);
      expect_as_by_all_sets(search, pair, choices, Criterion::kLargest);
    }
  }
}

TEST(EverySet, EndsWhenTheBudgetIsSpent) {
  constexpr Index kFeatures = 30;
  std::vector<Index> all(kFeatures);
  for (Index j = 0; j < kFeatures; ++j) all[static_cast<std::size_t>(j)] = j;
  const DensePair pair =
      verify::table_pair(Dataset(oracle::random_classes(60, kFeatures, 2, 9)), all, true, {});
  const Choices choices = kinds_of_choices(kFeatures)[0];
  verify::DropSearch search(pair, choices, Criterion::kLargest, kUnstopped);
  const double whole = textbook(pair, all, Criterion::kLargest);
  verify::EverySet every(pair, choices, Criterion::kLargest, kUnstopped);
  // Sets of 12 are above it, but none is reached by dropping three units.
  const auto answers = every.answer({{.k = 12, .bound = whole * 0.5, .known = {}}}, {.nodes = 3.0});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].answer.end, End::kSpent);
  EXPECT_NE(answers[0].why, "");
  EXPECT_LE(every.nodes(), 5.0);
  // What all candidates together do not reach needs one node.
  EXPECT_EQ(search.find_above(12, whole, {}, {}).end, End::kNone);
  EXPECT_LE(search.nodes(), 1.0);
}

/// By the N x N route what the p x p one says.
TEST(WideRoot, SettlesWhatAllOfThemTogetherSettle) {
  constexpr Index kFeatures = 40;
  std::vector<Index> all(kFeatures);
  for (Index j = 0; j < kFeatures; ++j) all[static_cast<std::size_t>(j)] = j;
  for (const int classes : {2, 3}) {
    const Dataset data(oracle::random_classes(12, kFeatures, classes, 11));
    const RidgeAmount ridge(0.0, 1e-2);
    const DensePair pair = verify::table_pair(data, all, true, ridge);
    for (const Criterion criterion : kCriteria) {
      const verify::WideRoot root(data, all, ridge, criterion);
      ASSERT_EQ(root.unusable(), "");
      const double whole = textbook(pair, all, criterion);
      EXPECT_TRUE(root.settles(5, 0, whole * (1.0 + 1e-8)));
      double alone = 0.0;
      for (const Index j : all) alone = std::max(alone, textbook(pair, {j}, criterion));
      EXPECT_TRUE(root.settles(1, 0, alone * (1.0 + 1e-9)));
      EXPECT_FALSE(root.settles(1, 0, alone * (1.0 - 1e-6)));
      EXPECT_FALSE(root.settles(kFeatures, 0, whole * (1.0 - 1e-6)));
      // A bound below a set that exists is never settled.
      const double some = textbook(pair, {0, 1, 2, 3, 4, 5}, criterion);
      EXPECT_FALSE(root.settles(6, 0, some * (1.0 - 1e-6)));
    }
    const DensePair covariance = verify::table_pair(data, all, false, {});
    const verify::WideVariances variances(data, all);
    const double largest = textbook(covariance, all, Criterion::kLargest);
    EXPECT_TRUE(variances.settles(30, largest * (1.0 + 1e-9)));
    EXPECT_FALSE(variances.settles(kFeatures, largest * (1.0 - 1e-6)));
  }
}

}  // namespace every_set_test
}  // namespace subspectra
