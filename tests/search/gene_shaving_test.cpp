#include "search/gene_shaving.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <numeric>

#include "oracle.hpp"

namespace subspectra {
namespace {

std::vector<Index> all_features(const DatasetParts& data) {
  std::vector<Index> all(static_cast<std::size_t>(data.features()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// Columns 0..4 follow one signal (column 1 against it), columns 5..8 another, weaker one.
DatasetParts planted(Index n, Index p, std::uint64_t seed) {
  DatasetParts data = oracle::random_classes(n, p, 2, seed, 0.0);
  const Matrix signals = oracle::random_classes(n, 2, 2, seed + 1000, 0.0).dense;
  for (Index j = 0; j < 9; ++j) {
    const double strength = j < 5 ? 3.0 : 2.0;
    data.dense.col(j) =
        0.3 * data.dense.col(j) + (j == 1 ? -1.0 : 1.0) * strength * signals.col(j < 5 ? 0 : 1);
  }
  return data;
}

TEST(GeneShaving, FindsThePlantedSetsAndTheirSigns) {
  for (const auto& [n, p] : {std::pair<Index, Index>{60, 40}, {25, 120}}) {
    const DatasetParts data = planted(n, p, 3);
    const auto sets = gene_shaving(data, all_features(data), 2, {}, 0, 0, RunControl{});
    ASSERT_EQ(sets.size(), 2U);
    EXPECT_EQ(sets[0].features, (std::vector<Index>{0, 1, 2, 3, 4}));
    EXPECT_EQ(sets[1].features, (std::vector<Index>{5, 6, 7, 8}));
    EXPECT_EQ(sets[0].signs[1], -sets[0].signs[0]);
    EXPECT_TRUE((sets[1].signs.array() == sets[1].signs[0]).all());
    EXPECT_GT(sets[0].variance_ratio, 0.9);
    EXPECT_GT(sets[0].gap, 0.3);
  }
}

// Oracle: the definition with a full singular value decomposition in every step and variances from their
// sums.
TEST(GeneShaving, RatioOfTheChosenSetIsThatOfItsDefinition) {
  const DatasetParts data = planted(30, 50, 7);
  const auto sets = gene_shaving(data, all_features(data), 1, {}, 0, 0, RunControl{});
  const auto& set = sets.front();
  const Matrix x = data.dense(Eigen::all, set.features);
  Matrix z = x.rowwise() - x.colwise().mean();
  for (Index j = 0; j < z.cols(); ++j) z.col(j) *= set.signs[j];
  const Vector mean = z.rowwise().mean();
  double between = 0.0, within = 0.0;
  for (Index i = 0; i < z.rows(); ++i) {
    between += mean[i] * mean[i];
    for (Index j = 0; j < z.cols(); ++j)
      within += std::pow(z(i, j) - mean[i], 2) / static_cast<double>(z.cols());
  }
  EXPECT_NEAR(set.variance_ratio, between / (between + within), 1e-12);

  Matrix w = data.dense.rowwise() - data.dense.colwise().mean();
  std::vector<Index> alive = all_features(data);
  bool met = false;
  while (alive.size() > 1 && !met) {
    const Matrix part = w(Eigen::all, alive);
    const Vector u = part.jacobiSvd(Eigen::ComputeThinU).matrixU().col(0);
    std::vector<std::pair<double, Index>> order;
    for (std::size_t i = 0; i < alive.size(); ++i)
      order.emplace_back(-std::abs(part.col(static_cast<Index>(i)).dot(u)), alive[i]);
    std::sort(order.begin(), order.end());
    auto kept = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(alive.size())));
    kept = std::min(kept, alive.size() - 1);
    alive.clear();
    for (std::size_t i = 0; i < kept; ++i) alive.push_back(order[i].second);
    std::sort(alive.begin(), alive.end());
    met = alive == set.features;
  }
  EXPECT_TRUE(met) << "the set is not one of the nested ones";
}

TEST(GeneShaving, DoesNotDependOnThreadsAndSignsFollowTheData) {
  DatasetParts data = planted(30, 50, 11);
  const auto one = gene_shaving(data, all_features(data), 3, {}, 5, 1, RunControl{});
  const auto four = gene_shaving(data, all_features(data), 3, {}, 5, 4, RunControl{});
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t m = 0; m < one.size(); ++m) {
    EXPECT_EQ(one[m].features, four[m].features);
    EXPECT_EQ(one[m].gap, four[m].gap);
  }
  data.dense.col(2) *= -1.0;
  const auto flipped = gene_shaving(data, all_features(data), 1, {}, 5, 0, RunControl{});
  EXPECT_EQ(flipped[0].features, one[0].features);
  EXPECT_EQ(flipped[0].signs[2] * flipped[0].signs[0], -one[0].signs[2] * one[0].signs[0]);
}

TEST(GeneShaving, EndsWhenNothingVaries) {
  DatasetParts data = oracle::random_classes(20, 3, 2, 13);
  data.dense.col(1) = data.dense.col(0);
  data.dense.col(2) = -2.0 * data.dense.col(0);
  const auto sets = gene_shaving(data, {0, 1, 2}, 5, {.permutations = 3}, 0, 0, RunControl{});
  EXPECT_EQ(sets.size(), 1U);
  EXPECT_NEAR(sets[0].variance_ratio, sets[0].features.size() == 3 ? 16.0 / 18.0 : 1.0, 1e-9);
  const auto alone = gene_shaving(data, {2}, 2, {.permutations = 3}, 0, 0, RunControl{});
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].features, (std::vector<Index>{2}));
}

}  // namespace
}  // namespace subspectra
