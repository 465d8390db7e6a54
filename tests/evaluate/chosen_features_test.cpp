#include "evaluate/chosen_features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <subspectra/searches.hpp>
#include "evaluate/cross_validation.hpp"
#include "oracle.hpp"

namespace subspectra::chosen_features_test {
namespace {

double correlation_by_hand(const Vector& a, const Vector& b) {
  const Vector x = a.array() - a.mean(), y = b.array() - b.mean();
  const double lengths = x.norm() * y.norm();
  return lengths > 0.0 ? x.dot(y) / lengths : 0.0;
}

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// The pairs of one fold by looking for the nearest pair again and again.
std::map<Index, Index> pairs_by_hand(const Matrix& x, std::set<Index> absent, std::set<Index> instead) {
  std::map<Index, Index> pairs;
  while (!absent.empty() && !instead.empty()) {
    double nearest = -1.0;
    std::pair<Index, Index> best;
    for (const Index f : absent) {
      for (const Index g : instead) {
        const double r = std::abs(correlation_by_hand(x.col(f), x.col(g)));
        if (r > nearest) nearest = r, best = {f, g};
      }
    }
    if (nearest < 0.5 && !(absent.size() == 1 && instead.size() == 1)) break;
    pairs[best.first] = best.second;
    absent.erase(best.first);
    instead.erase(best.second);
  }
  return pairs;
}

TEST(ChosenFeatures, FrequenciesAndSubstitutesAgreeWithBruteForce) {
  std::mt19937_64 generator(4);
  for (int round = 0; round < 30; ++round) {
    DatasetParts data = oracle::random_classes(30, 12, 2, 50 + round);
    for (Index j = 6; j < 12; ++j) data.dense.col(j) = data.dense.col(j - 6) + 0.7 * data.dense.col(j);
    std::vector<std::vector<Index>> sets;
    for (int fold = 0; fold < 9; ++fold) {
      std::vector<Index> all = all_rows(12);
      std::shuffle(all.begin(), all.end(), generator);
      all.resize(1 + generator() % 5);
      std::sort(all.begin(), all.end());
      sets.push_back(all);
    }
    const std::vector<Index> features = sets.front();
    const auto found = chosen_features(data, features, sets, all_rows(30), {.most_substitutes = 100});
    std::map<std::pair<Index, Index>, double> expected;
    for (const auto& set : sets) {
      std::set<Index> absent(features.begin(), features.end()), instead(set.begin(), set.end());
      for (const Index f : set) absent.erase(f);
      for (const Index f : features) instead.erase(f);
      for (const auto& pair : pairs_by_hand(data.dense, absent, instead)) expected[pair] += 1.0 / 9.0;
    }
    ASSERT_EQ(found.size(), features.size());
    std::size_t substitutes = 0;
    for (const ChosenFeature& feature : found) {
      const auto with = std::count_if(sets.begin(), sets.end(), [&](const std::vector<Index>& set) {
        return std::binary_search(set.begin(), set.end(), feature.index);
      });
      EXPECT_NEAR(*feature.frequency, static_cast<double>(with) / 9.0, 1e-15);
      double sum = *feature.frequency, last = 1.0;
      for (const FeatureSubstitute& one : feature.substitutes) {
        ++substitutes;
        EXPECT_NEAR(one.frequency, (expected[{feature.index, one.index}]), 1e-12);
        EXPECT_NEAR(one.correlation,
                    correlation_by_hand(data.dense.col(feature.index), data.dense.col(one.index)), 1e-12);
        EXPECT_LE(one.frequency, last);
        last = one.frequency;
        sum += one.frequency;
      }
      EXPECT_LE(sum, 1.0 + 1e-12);
    }
    EXPECT_EQ(substitutes, expected.size());
  }
}

TEST(ChosenFeatures, ACopyWithLittleNoiseIsTheSubstitute) {
  DatasetParts data = oracle::random_classes(80, 8, 2, 3, 1.5, 1);
  data.dense.col(5) = data.dense.col(0) + 0.05 * data.dense.col(5);
  const Evaluation result = evaluate_methods(data, {ForwardLda{}}, {.k = {1, 1}}, {}, Lda{},
                                             {.folds = {5}, .repeats = 10}, RunControl());
  const ChosenFeature& feature = result.chosen.at(0).features.at(0);
  ASSERT_LT(*feature.frequency, 1.0);
  ASSERT_FALSE(feature.substitutes.empty());
  EXPECT_EQ(feature.index + feature.substitutes[0].index, 5);  // the one or the other
  EXPECT_EQ(feature.substitutes[0].name, data.names[feature.substitutes[0].index]);
  EXPECT_GT(feature.substitutes[0].correlation, 0.99);
  EXPECT_NEAR(*feature.frequency + feature.substitutes[0].frequency, 1.0, 1e-12);
}

TEST(ChosenFeatures, GapsConstantsAndHugeNumbersAreNear) {
  DatasetParts data = oracle::random_classes(20, 4, 2, 3);
  data.dense.col(0).setConstant(2.0);
  data.dense.col(1) *= 1e300;
  data.dense.col(2) = data.dense.col(1) * 1e-300;
  data.dense(3, 2) = std::nan("");
  const auto found = chosen_features(data, {0, 1}, {{2, 3}, {0, 2}, {1, 3}}, all_rows(20));
  EXPECT_EQ(*found[0].frequency, 1.0 / 3.0);
  ASSERT_FALSE(found[1].substitutes.empty());
  EXPECT_EQ(found[1].substitutes[0].index, 2);
  EXPECT_TRUE(std::isfinite(found[1].substitutes[0].correlation));
}

TEST(ChosenFeatures, OfVeryManyTheMostFrequentAreListed) {
  const DatasetParts data = oracle::random_classes(10, 40, 2, 3);
  std::vector<Index> even, all = all_rows(40);
  for (Index j = 0; j < 40; j += 2) even.push_back(j);
  const auto found = chosen_features(data, all, {even, even}, all_rows(10), {.most_listed = 25});
  ASSERT_EQ(found.size(), 25U);
  EXPECT_EQ(std::count_if(found.begin(), found.end(), [](const auto& one) { return *one.frequency == 1.0; }),
            20);
}

}  // namespace
}  // namespace subspectra::chosen_features_test
