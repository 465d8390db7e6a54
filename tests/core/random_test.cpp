#include "core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace subspectra {
namespace {

// Oracle: the constants were computed by a separate program in Python integers, which itself reproduces the
// published vectors: SplitMix64(1234567) = 6457827717110365317, 3203168211198807973, ... and xoshiro256++(1,
// 2, 3, 4) = 41943041, 58720359, 3588806011781223, ...
TEST(Random, GivesTheReferenceNumbersOnEveryPlatform) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  struct Case {
    std::uint64_t seed, stream;
    std::array<std::uint64_t, 4> numbers;
  };
  const std::vector<Case> cases = {
      {0, 0, {0x84f09bf307c1073aU, 0xc82ffb597ceee51bU, 0xadf96905c5df4417U, 0xe9d9a8489d042c93U}},
      {1, 0, {0x4887886c7244e091U, 0x4cfafb3b6cc3ea99U, 0xfbce21167403a2c1U, 0x2a5a56f477b61858U}},
      {42, 7, {0x0d9893fc677d6169U, 0x8c202a1a1dd3b94dU, 0xb20f071eca7887c8U, 0x092b21a6dc9a40cbU}},
      {kMax, kMax, {0x5f7e53d0a0e9db9aU, 0x20378f93c1450ce7U, 0x97749e115e365c77U, 0x726dccf3aee9d1a3U}}};
  for (const auto& [seed, stream, numbers] : cases) {
    Random random(seed, stream);
    for (const auto number : numbers) EXPECT_EQ(random.next(), number) << seed << ", " << stream;
  }
}

TEST(Random, GivesTheReferenceDistributions) {
  Random uniform(42);
  for (const double x : {0x1.6d79286fff2ecp-2, 0x1.b5ad68eae1ec2p-1, 0x1.5483b06af6e21p-1}) {
    EXPECT_EQ(uniform.uniform(), x);
  }
  Random below(42);
  for (const std::uint64_t x : {3, 8, 6, 9, 5, 0, 2, 6, 7, 2, 5, 1}) EXPECT_EQ(below.below(10), x);
  Random shuffling(42);
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  shuffling.shuffle(std::span(items));
  EXPECT_EQ(items, (std::vector<int>{8, 2, 1, 4, 0, 9, 6, 5, 7, 3}));
  Random normal(42);
  for (const double x : {-0.3869422507947611, 0.9595335505724674, 0.1804925674470889, 0.4791717213237432}) {
    EXPECT_DOUBLE_EQ(normal.normal(), x);  // log may differ in the last bit between C libraries
  }
}

TEST(Random, UniformNumbersFillTheIntervalEvenly) {
  Random random(7);
  constexpr int kCells = 100;
  constexpr int kDraws = 1'000'000;
  std::vector<int> counts(kCells);
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts[static_cast<std::size_t>(u * kCells)];
  }
  double chi_square = 0.0;
  for (const int count : counts) chi_square += std::pow(count - kDraws / kCells, 2) / (kDraws / kCells);
  EXPECT_LT(chi_square,
            99.0 + 5.0 * std::sqrt(2.0 * 99.0));  // mean 99, variance 198: five standard deviations
}

TEST(Random, BelowIsUniformForBoundsThatDoNotDivideThePowerOfTwo) {
  Random random(8);
  const std::uint64_t bound =
      (std::uint64_t{1} << 63U) + 1;  // half of all draws are rejected; bias would be gross
  int in_lower_half = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto x = random.below(bound);
    ASSERT_LT(x, bound);
    in_lower_half += x < bound / 2 ? 1 : 0;
  }
  EXPECT_NEAR(in_lower_half, 5000, 5 * 50);  // binomial, sd 50
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, NormalNumbersHaveTheMomentsOfTheNormalLaw) {
  Random random(9);
  constexpr int kDraws = 1'000'000;
  double m1 = 0.0;
  double m2 = 0.0;
  double m3 = 0.0;
  double m4 = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    m1 += x / kDraws;
    m2 += x * x / kDraws;
    m3 += x * x * x / kDraws;
    m4 += x * x * x * x / kDraws;
  }
  const double sd = 1.0 / std::sqrt(kDraws);  // five standard errors: var of x^k is 1, 2, 15, 96
  EXPECT_NEAR(m1, 0.0, 5.0 * sd);
  EXPECT_NEAR(m2, 1.0, 5.0 * sd * std::sqrt(2.0));
  EXPECT_NEAR(m3, 0.0, 5.0 * sd * std::sqrt(15.0));
  EXPECT_NEAR(m4, 3.0, 5.0 * sd * std::sqrt(96.0));
}

TEST(Random, StreamsAreIndependentOfEachOtherAndOfWhatRanBefore) {
  Random again(5, 3);
  Random used(5, 2);
  for (int i = 0; i < 1000; ++i) used.next();
  Random fresh(5, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(again.next(), fresh.next());
  // 100 seeds x 100 streams, none begins like another; neighbouring streams are uncorrelated.
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t stream = 0; stream < 100; ++stream) first.insert(Random(seed, stream).next());
  }
  EXPECT_EQ(first.size(), 10000U);
  double sum = 0.0;
  constexpr int kDraws = 100000;
  Random a(1, 0);
  Random b(1, 1);
  for (int i = 0; i < kDraws; ++i) sum += a.normal() * b.normal();
  EXPECT_LT(std::abs(sum) / std::sqrt(kDraws), 5.0);
}

TEST(Random, ShufflesEveryPermutationEquallyOften) {
  Random random(10);
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(std::span(items));
    ++counts[items];
  }
  ASSERT_EQ(counts.size(), 24U);
  for (const auto& [items, count] : counts) EXPECT_NEAR(count, 1000, 5 * 31);  // sd 31
  std::vector<int> nothing;
  random.shuffle(std::span(nothing));
}

}  // namespace
}  // namespace subspectra
