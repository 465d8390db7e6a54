#include "filters/partition_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "core/random.hpp"
#include "reading.hpp"

namespace subspectra::filters {
namespace {

using subspectra::testing::contains;
using subspectra::testing::message_of;

Dataset table_of(Matrix values) {
  DatasetParts parts;
  parts.source = "made";
  parts.names = FeatureNames(values.cols());
  parts.dense = std::move(values);
  return parts;
}

std::vector<Index> every_feature(const Dataset& data) {
  std::vector<Index> features(static_cast<std::size_t>(data.features()));
  std::iota(features.begin(), features.end(), Index{0});
  return features;
}

FoundPartition search(const Dataset& data, const MaxSurprise& options, std::uint64_t seed = 0,
                      int threads = 0, std::uint64_t memory_limit = 0) {
  return most_surprising_partition(data, every_feature(data), options, seed, threads, memory_limit,
                                   RunControl());
}

/// Noise, `informative` columns of which lean towards the planted sides.
Matrix planted_rows(const std::vector<int>& sides, Index features, Index informative, double shift,
                    std::uint64_t seed) {
  Random random(seed);
  Matrix rows(static_cast<Index>(sides.size()), features);
  for (Index j = 0; j < features; ++j) {
    for (Index i = 0; i < rows.rows(); ++i)
      rows(i, j) = random.normal() + (j < informative ? shift * sides[static_cast<std::size_t>(i)] : 0.0);
  }
  return rows;
}

/// The score of every partition by its definition; it shares no formula with the search: errors by trying
/// every threshold, their distribution by going through all labellings of that many rows, the binomial tail
/// as a plain sum.
class AllPartitions {
 public:
  explicit AllPartitions(const Matrix& rows) : rows_(rows), tails_(static_cast<std::size_t>(rows.rows())) {
    const Vector in_order = Vector::LinSpaced(rows.rows(), 0.0, 1.0);
    std::vector<double> all(tails_.size(), 0.0);
    for (auto& tail : tails_) tail.assign(tails_.size() + 1, 0.0);
    for (unsigned mask = 1; mask + 1 < 1U << rows.rows(); ++mask) {
      const auto ones = static_cast<std::size_t>(std::popcount(mask));
      all[ones] += 1.0;
      for (std::size_t s = errors(in_order, mask); s <= tails_.size(); ++s) tails_[ones][s] += 1.0;
    }
    for (std::size_t ones = 1; ones < tails_.size(); ++ones) {
      for (double& tail : tails_[ones]) tail /= all[ones];
    }
  }

  [[nodiscard]] double score(unsigned mask) const {
    const auto& tails = tails_[static_cast<std::size_t>(std::popcount(mask))];
    std::vector<int> with(tails.size(), 0);
    for (Index j = 0; j < rows_.cols(); ++j) {
      for (std::size_t s = errors(rows_.col(j), mask); s < with.size(); ++s) ++with[s];
    }
    const auto m = static_cast<double>(rows_.cols());
    double best = 0.0;
    for (std::size_t s = 0; s < tails.size(); ++s) {
      const double p = tails[s];
      if (with[s] <= m * p || p >= 1.0) continue;
      double tail = 0.0;
      for (int i = with[s]; i <= rows_.cols(); ++i) {
        tail += std::exp(std::lgamma(m + 1) - std::lgamma(i + 1.0) - std::lgamma(m - i + 1) +
                         i * std::log(p) + (m - i) * std::log1p(-p));
      }
      best = std::max(best, -std::log10(tail));
    }
    return best;
  }

  /// Of all with `least` rows or more on either side.
  [[nodiscard]] double best(int least) const {
    double score_of_best = 0.0;
    for (unsigned mask = 0; mask < 1U << rows_.rows(); mask += 2) {  // the first row is on side 0
      const int ones = std::popcount(mask);
      if (ones >= least && rows_.rows() - ones >= least) score_of_best = std::max(score_of_best, score(mask));
    }
    return score_of_best;
  }

  static unsigned mask_of(const std::vector<int>& sides) {
    unsigned mask = 0;
    for (std::size_t i = 0; i < sides.size(); ++i) mask |= static_cast<unsigned>(sides[i]) << i;
    return mask;
  }

 private:
  static std::size_t errors(const Vector& x, unsigned mask) {
    std::size_t fewest = static_cast<std::size_t>(std::popcount(mask));
    for (const double cut : x) {
      std::size_t wrong = 0;
      for (Index i = 0; i < x.size(); ++i) wrong += (x[i] <= cut) == (((mask >> i) & 1U) != 0) ? 1 : 0;
      fewest = std::min({fewest, wrong, static_cast<std::size_t>(x.size()) - wrong});
    }
    return fewest;
  }

  const Matrix& rows_;
  std::vector<std::vector<double>> tails_;  ///< by the rows of side 1: P(errors <= s)
};

TEST(PartitionSearch, FindsTheBestOfAllPartitionsOfFewRows) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const Index n = 10 + static_cast<Index>(seed % 3);
    std::vector<int> sides(static_cast<std::size_t>(n), 0);
    for (std::size_t i = 0; i < sides.size(); i += 2 + seed % 2) sides[i] = 1;
    // Every third table is noise, and every fourth has ties.
    Matrix rows = planted_rows(sides, 8 + static_cast<Index>(seed), seed % 3 == 0 ? 0 : 4, 2.0, seed);
    if (seed % 4 == 1) rows = rows.array().round().matrix().eval();
    const double share = seed % 2 == 0 ? 0.0 : 0.25;
    const AllPartitions all(rows);
    const FoundPartition found = search(table_of(rows), {.smallest_class = share}, seed);
    const int least = std::max(1, static_cast<int>(std::ceil(share * static_cast<double>(n))));
    EXPECT_NEAR(found.surprise.score, all.score(AllPartitions::mask_of(found.sides)), 1e-9);
    EXPECT_NEAR(found.surprise.score, all.best(least), 1e-9);
  }
}

// What the moves add up step by step is what the partition has when it is looked at from scratch.
TEST(PartitionSearch, TheScoresOfTheMovesAreThoseOfThePartitions) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Matrix rows = planted_rows(std::vector<int>(35, 0), 60, 0, 0.0, 100 + seed);
    if (seed % 2 == 1) rows = (2.0 * rows.array()).round().matrix().eval();
    const FoundPartition found = search(table_of(rows), {.restarts = 3, .patience = 20}, seed);
    EXPECT_EQ(found.surprise.score, *std::max_element(found.starts.begin(), found.starts.end()));
    EXPECT_EQ(found.starts.size(), 3U);
    EXPECT_GE(found.moves, 60);
  }
}

TEST(PartitionSearch, FindsThePlantedPartition) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    Random random(1000 + seed);
    std::vector<int> sides(48, 0);
    for (std::size_t i = 0; i < 17; ++i) sides[47 - i] = 1;
    random.shuffle(std::span<int>(sides));
    if (sides[0] == 1) {
      for (int& side : sides) side = 1 - side;
    }
    const Dataset data = table_of(planted_rows(sides, 300, 40, 3.0, seed));
    const FoundPartition found = search(data, {.restarts = 5}, seed);
    // A row between the classes may make more features informative on the other side than on its own.
    const auto planted =
        SurpriseScale(300).surprise_of(threshold_errors(data, every_feature(data), sides, 1),
                                       threshold_error_log_tails(std::count(sides.begin(), sides.end(), 0),
                                                                 std::count(sides.begin(), sides.end(), 1)));
    EXPECT_GE(found.surprise.score, planted.score);
    EXPECT_GT(planted.score, 100.0);
    Index apart = 0;
    for (std::size_t i = 0; i < sides.size(); ++i) apart += found.sides[i] != sides[i] ? 1 : 0;
    EXPECT_LE(apart, 1);
  }
}

TEST(PartitionSearch, OrderSignAndUnitsOfColumnsAndTheOrderOfRowsMakeNoDifference) {
  const std::vector<int> sides = {0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1};
  const Matrix rows = planted_rows(sides, 20, 6, 2.5, 9);
  const auto score = [](const Matrix& values) { return search(table_of(values), {}).surprise.score; };
  const double wanted = score(rows);
  EXPECT_GT(wanted, 3.0);
  EXPECT_NEAR(score(rows.rowwise().reverse()), wanted, 1e-12);
  EXPECT_NEAR(score(rows.colwise().reverse()), wanted, 1e-12);
  EXPECT_NEAR(score(-1e200 * rows), wanted, 1e-12);
  EXPECT_NEAR(score(rows.array().exp()), wanted, 1e-12);
}

TEST(PartitionSearch, DependsOnTheSeedAndNotOnTheThreads) {
  const Dataset data = table_of(planted_rows(std::vector<int>(40, 0), 80, 0, 0.0, 3));
  const MaxSurprise options{.restarts = 6, .patience = 10};
  const FoundPartition one = search(data, options, 4, 1);
  const FoundPartition three = search(data, options, 4, 3);
  EXPECT_EQ(one.sides, three.sides);
  EXPECT_EQ(one.starts, three.starts);
  EXPECT_EQ(one.moves, three.moves);
  EXPECT_EQ(one.sides.front(), 0);
  std::set<std::vector<int>> found;  // on noise many partitions are as good as the best
  for (std::uint64_t seed = 5; seed < 10; ++seed) found.insert(search(data, options, seed, 3).sides);
  EXPECT_GT(found.size(), 1U);
}

TEST(PartitionSearch, TheSmallerClassHasItsShareOfTheRows) {
  Matrix rows = planted_rows(std::vector<int>(30, 0), 50, 0, 0.0, 6);
  rows.row(7).array() += 100.0;  // one array that went wrong is what most features tell from the others
  const auto smaller = [&](double share) {
    const auto sides = search(table_of(rows), {.restarts = 5, .smallest_class = share}).sides;
    const auto ones = std::count(sides.begin(), sides.end(), 1);
    return std::min<std::ptrdiff_t>(ones, 30 - ones);
  };
  EXPECT_EQ(smaller(0.0), 1);
  EXPECT_GE(smaller(0.1), 3);
  EXPECT_EQ(smaller(0.5), 15);
}

TEST(PartitionSearch, TakesTiesAndCopiesAndTwoRows) {
  Matrix binary = planted_rows(std::vector<int>(20, 0), 30, 0, 0.0, 8);
  binary = (binary.array() > 1.5).cast<double>();
  binary.col(1) = binary.col(0);
  binary(0, 2) = 1.0 - binary(0, 2);
  const FoundPartition found = search(table_of(binary), {.restarts = 4, .smallest_class = 0.3});
  EXPECT_GE(std::count(found.sides.begin(), found.sides.end(), 1), 6);
  EXPECT_GE(std::count(found.sides.begin(), found.sides.end(), 0), 6);
  const FoundPartition two = search(table_of(Eigen::Matrix2d::Identity()), {});
  EXPECT_EQ(two.sides, (std::vector<int>{0, 1}));
  EXPECT_EQ(two.surprise.score, 0.0);  // every order of two rows is without errors
}

TEST(PartitionSearch, StoppedAtOnceItHasACutOfAFeature) {
  const Dataset data = table_of(planted_rows(std::vector<int>(25, 0), 40, 0, 0.0, 2));
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  const auto found = most_surprising_partition(data, every_feature(data), {}, 0, 2, 0, control);
  EXPECT_EQ(found.starts.size(), 1U);
  EXPECT_EQ(found.moves, 0);
  EXPECT_EQ(found.sides.size(), 25U);
  EXPECT_GT(found.surprise.score, 0.0);
}

TEST(PartitionSearch, RefusesWhatDoesNotFit) {
  const Dataset data = table_of(planted_rows(std::vector<int>(25, 0), 40, 0, 0.0, 2));
  const auto message = message_of<Error>([&] { return search(data, {}, 0, 1, 1000).moves; });
  EXPECT_TRUE(contains(message, "the order of 25 rows by every one of 40 features needs"));
  EXPECT_TRUE(contains(message, "give fewer columns, or labels"));
}

}  // namespace
}  // namespace subspectra::filters
