/// The exact search with a card, against the one without: the plug-in is a fake
/// one that tries every set on the processor (tests/device/fake_plugin.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <stop_token>

#include "device/plugin.hpp"
#include "oracle.hpp"
#include "pencils.hpp"
#include "search/exact.hpp"

namespace subspectra::card_sweep_test {
namespace {

std::shared_ptr<const device::Device> card(const std::string& kind = "good") {
  return std::make_shared<const device::Device>(
      device::Plugin::load(fmt::format("{}/fake_{}.so", SUBSPECTRA_FAKE_PLUGINS, kind)), 0);
}

struct Case {
  std::unique_ptr<Pencil> pencil;
  SearchUnits units;
  ExactRun options;
};

Case a_case(std::uint64_t seed, Index lo, Index hi) {
  const Index n = 8 + static_cast<Index>(seed % 7);
  auto pair = oracle::random_factor_pair(n, seed % 3 == 0 ? 1 : 3, seed, 50.0);
  if (seed % 4 == 1) {  // a copy, told apart by the ridge
    pair.b.row(n - 1) = pair.b.row(0);
    pair.b.col(n - 1) = pair.b.col(0);
    pair.b(n - 1, n - 1) = pair.b(0, 0);
    pair.m.row(n - 1) = pair.m.row(0);
    pair.b.diagonal().array() += 0.05;
  }
  constexpr std::array kCriteria = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};
  Case result{factor_pencil(pair.m, pair.b), oracle::all_units(n), {}};
  result.options = {.criterion = kCriteria[seed / 3 % 3],
                    .k = {lo, hi},
                    .asked = {.pool = seed % 5 == 0 ? 3 : 1},
                    .threads = 2};
  return result;
}

/// `twin` has a copy: of two sets that differ by it alone rounding says which is found.
std::vector<Index> with_one_name(std::vector<Index> units, Index twin, Index copy) {
  if (!std::binary_search(units.begin(), units.end(), twin)) {
    std::replace(units.begin(), units.end(), copy, twin);
    std::sort(units.begin(), units.end());
  }
  return units;
}

void expect_same(const ExactResult& a, const ExactResult& b, Index copy = -1) {
  EXPECT_EQ(a.status, b.status);
  ASSERT_EQ(a.sizes.size(), b.sizes.size());
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    const auto &x = a.sizes[i], &y = b.sizes[i];
    ASSERT_EQ(x.pool.size(), y.pool.size());
    for (std::size_t place = 0; place < x.pool.size(); ++place) {
      EXPECT_NEAR(x.pool[place].value, y.pool[place].value, 1e-10 * y.pool[place].value);
      EXPECT_EQ(with_one_name(x.pool[place].units, 0, copy), with_one_name(y.pool[place].units, 0, copy));
    }
    EXPECT_NEAR(x.upper_bound, y.upper_bound, 1e-9 * y.upper_bound);
  }
}

TEST(CardSweep, GivesTheAnswersOfTheProcessor) {
  const auto device = card();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    auto with = a_case(seed, 1 + static_cast<Index>(seed % 2), 2 + static_cast<Index>(seed % 3));
    const auto without = exact_search(*with.pencil, with.units, {}, with.options, {});
    with.options.card = device;
    const auto result = exact_search(*with.pencil, with.units, {}, with.options, {});
    expect_same(result, without);
    EXPECT_NE(result.card.find("cuda:0, Fake"), std::string::npos) << result.card;
    EXPECT_EQ(result.card_problem, "");
  }
}

TEST(CardSweep, TriesTheSetsThatHoldAnIncludedFeature) {
  const auto device = card();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    auto with = a_case(seed, 2 + static_cast<Index>(seed % 2), 3 + static_cast<Index>(seed % 2));
    with.units.include = {static_cast<Index>(seed % 8)};
    const auto without = exact_search(*with.pencil, with.units, {}, with.options, {});
    with.options.card = device;
    const auto result = exact_search(*with.pencil, with.units, {}, with.options, {});
    expect_same(result, without, seed % 4 == 1 ? with.units.count() - 1 : -1);
    EXPECT_EQ(result.card_problem, "");
    EXPECT_NE(result.card, "");
    for (const auto& size : result.sizes) {
      for (const auto& set : size.pool)
        EXPECT_TRUE(std::binary_search(set.units.begin(), set.units.end(), with.units.include.front()));
    }
  }
}

TEST(CardSweep, TriesTheSetsOfSomeFeaturesAndOfGroupsOfOne) {
  const auto device = card();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    auto with = a_case(seed, 2, 4);
    std::vector<Index> some;
    for (Index j = 0; j < with.pencil->size(); ++j) {
      if (j != 1 && j != 4) some.push_back(j);
    }
    with.units = SearchUnits::singles(some, {});
    if (seed % 2 == 1) {
      with.units.single = false;
      for (std::size_t u = 0; u < some.size(); ++u) with.units.group.push_back(static_cast<Index>(u));
    }
    ASSERT_TRUE(suits_card(*with.pencil, with.units, with.options.k));
    const auto without = exact_search(*with.pencil, with.units, {}, with.options, {});
    with.options.card = device;
    const auto result = exact_search(*with.pencil, with.units, {}, with.options, {});
    expect_same(result, without);
    EXPECT_EQ(result.card_problem, "");
  }
}

TEST(CardSweep, LeavesToTheProcessorWhatDoesNotFitOnTheCardAndSaysSo) {
  auto with = a_case(3, 3, 3);
  const auto without = exact_search(*with.pencil, with.units, {}, with.options, {});
  with.options.card = card("small");
  const auto result = exact_search(*with.pencil, with.units, {}, with.options, {});
  expect_same(result, without);
  EXPECT_EQ(result.card, "");
  EXPECT_NE(result.card_problem.find("of the card's memory"), std::string::npos) << result.card_problem;
}

TEST(CardSweep, HasNoPartInLargerSetsAndWhereTwoAreIncluded) {
  auto large = a_case(1, 2, 5);
  EXPECT_FALSE(suits_card(*large.pencil, large.units, large.options.k));
  large.options.card = card();
  EXPECT_EQ(exact_search(*large.pencil, large.units, {}, large.options, {}).card, "");
  auto forced = a_case(1, 2, 3);
  EXPECT_TRUE(suits_card(*forced.pencil, forced.units, forced.options.k));
  forced.units.include = {2};
  EXPECT_TRUE(suits_card(*forced.pencil, forced.units, forced.options.k));
  forced.units.include = {2, 3};
  EXPECT_FALSE(suits_card(*forced.pencil, forced.units, forced.options.k));
}

TEST(CardSweep, AFailureOfTheCardIsAnError) {
  auto with = a_case(2, 3, 3);
  with.options.card = card("lying");
  EXPECT_THROW((void)exact_search(*with.pencil, with.units, {}, with.options, {}), Error);
}

TEST(CardSweep, GoesOnFromACheckpoint) {
  const auto file =
      (std::filesystem::temp_directory_path() / fmt::format("card_sweep_test_{}", ::getpid())).string();
  auto with = a_case(6, 3, 3);
  with.options.card = card();
  const auto whole = exact_search(*with.pencil, with.units, {}, with.options, {});
  std::stop_source stop;
  stop.request_stop();
  with.options.asked.checkpoint = file;
  const auto stopped =
      exact_search(*with.pencil, with.units, {}, with.options, RunControl(stop.get_token(), 1e9));
  EXPECT_EQ(stopped.status, Status::kInterrupted);
  with.options.asked.checkpoint.clear();
  with.options.asked.resume = file;
  const auto resumed = exact_search(*with.pencil, with.units, {}, with.options, {});
  expect_same(resumed, whole);
  EXPECT_TRUE(resumed.resumed);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace subspectra::card_sweep_test
