/// Greedy passes with a card against those without: the fake plug-in runs the kernels of the real one on an
/// emulated card (tests/device/emulated_card.hpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stop_token>

#include "device/pass.hpp"
#include "oracle.hpp"
#include "pencils.hpp"
#include "search/card_pass.hpp"
#include "search/greedy.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra::card_pass_test {
namespace {

constexpr std::array kCriteria = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};

std::shared_ptr<const device::Device> card(const std::string& kind = "good") {
  return std::make_shared<const device::Device>(
      device::Plugin::load(fmt::format("{}/fake_{}.so", SUBSPECTRA_FAKE_PLUGINS, kind)), 0);
}

void expect_same(const GreedyPass& with, const GreedyPass& without) {
  EXPECT_TRUE(with.on_card) << with.card_problem;
  EXPECT_FALSE(without.on_card);
  EXPECT_EQ(with.order, without.order);
  EXPECT_EQ(with.least, without.least);
  EXPECT_EQ(with.most, without.most);
  EXPECT_EQ(with.status, without.status);
}

TEST(CardPass, GivesTheOrdersOfTheProcessorOnMatrices) {
  const auto device = card();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    // Some beyond a panel of 64 pivots.
    const Index n = seed % 10 == 0 ? 70 + static_cast<Index>(seed) : 3 + static_cast<Index>(seed % 17);
    const auto pair = oracle::random_factor_pair(n, 1 + static_cast<Index>(seed % 4), seed, 50.0);
    const auto pencil = factor_pencil(pair.m, pair.b);
    auto units = oracle::all_units(n);
    if (seed % 5 == 1) units.include = {1};
    GreedyOptions options{.criterion = kCriteria[seed % 3], .least = 1 + static_cast<Index>(seed % 2)};
    const auto forward = forward_pass(*pencil, units, options, {});
    const auto backward = backward_pass(*pencil, units, options, {});
    options.card = device;
    expect_same(forward_pass(*pencil, units, options, {}), forward);
    expect_same(backward_pass(*pencil, units, options, {}), backward);
  }
}

TEST(CardPass, GivesTheOrdersOfTheProcessorOnTables) {
  const auto device = card();
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    auto parts = oracle::random_classes(20 + static_cast<Index>(seed), 9 + static_cast<Index>(seed),
                                        2 + static_cast<int>(seed % 3), seed);
    if (seed % 2 == 1) parts.dense = parts.dense.cast<float>().cast<double>().eval();
    if (seed % 3 == 1) {
      parts.weights = Vector::LinSpaced(parts.dense.rows(), 0.5, 2.0);
      parts.labels->codes[3] = Labels::kMissing;
    }
    const Dataset data(parts);
    RidgeAmount ridge;
    (seed % 2 == 0 ? ridge.value : ridge.fraction) = 0.1;
    const auto pencil = lda_pencil(data, ridge, 1);
    auto units = oracle::all_units(pencil->size());
    if (seed % 4 == 2) units.include = {2, 5};
    // Few features are taken from the table a column a step, many from the matrix.
    GreedyOptions options{.criterion = kCriteria[seed % 3],
                          .most = seed % 4 < 3 ? 1 + pencil->size() / 12 + std::ssize(units.include) : 0};
    const auto forward = forward_pass(*pencil, units, options, {});
    const auto backward = backward_pass(*pencil, units, options, {});
    options.card = device;
    expect_same(forward_pass(*pencil, units, options, {}), forward);
    expect_same(backward_pass(*pencil, units, options, {}), backward);
  }
}

TEST(CardPass, TakesTheLowestOfEqualFeatures) {
  auto parts = oracle::random_classes(30, 12, 2, 4);
  parts.dense.col(9) = parts.dense.col(2);
  parts.dense.col(7) = parts.dense.col(2);
  RidgeAmount ridge;
  ridge.fraction = 0.2;
  const Dataset data(parts);
  const auto pencil = lda_pencil(data, ridge, 1);
  const auto units = oracle::all_units(12);
  for (const Index most : {1, 12}) {
    GreedyOptions options{.most = most};
    const auto without = forward_pass(*pencil, units, options, {});
    options.card = card();
    const auto with = forward_pass(*pencil, units, options, {});
    expect_same(with, without);
  }
  GreedyOptions options;
  const auto without = backward_pass(*pencil, units, options, {});
  options.card = card();
  expect_same(backward_pass(*pencil, units, options, {}), without);
}

TEST(CardPass, EndsAtTheRankAndNamesWhatDepends) {
  auto parts = oracle::random_classes(10, 16, 2, 11);
  const Dataset data(parts);
  const auto pencil = lda_pencil(data, {}, 1);
  const auto units = oracle::all_units(16);
  GreedyOptions options;
  const auto without = forward_pass(*pencil, units, options, {});
  options.card = card();
  const auto with = forward_pass(*pencil, units, options, {});
  expect_same(with, without);
  EXPECT_EQ(with.status, Status::kRankLimit);
  EXPECT_EQ(with.dependent.size(), without.dependent.size());
  EXPECT_THROW((void)backward_pass(*pencil, units, options, {}), Infeasible);
}

TEST(CardPass, StartsAfreshWhereTheUpdatesLoseDigits) {
  // Near-copies: B^-1 is huge until one of the two has gone.
  auto parts = oracle::random_classes(60, 40, 2, 5);
  for (Index j = 0; j < 20; ++j)
    parts.dense.col(20 + j) = parts.dense.col(j) + 1e-4 * parts.dense.col(20 + j);
  const Dataset data(parts);
  const auto pencil = lda_pencil(data, {}, 1);
  const auto units = oracle::all_units(40);
  GreedyOptions options;
  const auto without = backward_pass(*pencil, units, options, {});
  options.card = card();
  expect_same(backward_pass(*pencil, units, options, {}), without);
}

TEST(CardPass, LeavesTheLossesToTheProcessor) {
  const auto pair = oracle::random_factor_pair(12, 3, 8, 50.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(12);
  GreedyOptions options{.criterion = Criterion::kWilks};
  RootLosses with, without;
  const auto pass = backward_pass(*pencil, units, options, {}, &without);
  options.card = card();
  expect_same(backward_pass(*pencil, units, options, {}, &with), pass);
  EXPECT_EQ(with.value, without.value);
  EXPECT_EQ(with.losses, without.losses);
}

TEST(CardPass, IsMadeByTheProcessorWhereTheCardIsTooSmallAndSaysWhy) {
  const auto pair = oracle::random_factor_pair(9, 2, 3, 50.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(9);
  GreedyOptions options;
  const auto forward = forward_pass(*pencil, units, options, {});
  const auto backward = backward_pass(*pencil, units, options, {});
  options.card = card("small");
  for (const auto& [with, without] : {std::pair(forward_pass(*pencil, units, options, {}), forward),
                                      std::pair(backward_pass(*pencil, units, options, {}), backward)}) {
    EXPECT_FALSE(with.on_card);
    EXPECT_EQ(with.order, without.order);
    EXPECT_NE(with.card_problem.find("needs 0.1 GB"), std::string::npos) << with.card_problem;
  }
}

TEST(CardPass, OfGroupsIsMadeByTheProcessor) {
  const auto pair = oracle::random_factor_pair(6, 1, 3, 50.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  SearchUnits units;
  units.members = {{0, 1}, {2, 3}, {4, 5}};
  units.single = false;
  units.group = {0, 1, 2};
  GreedyOptions options;
  options.card = card();
  EXPECT_FALSE(forward_pass(*pencil, units, options, {}).on_card);
}

TEST(CardPass, OfACardThatNamesWhatCannotBeIsAnError) {
  const auto pair = oracle::random_factor_pair(9, 2, 3, 50.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  GreedyOptions options;
  options.card = card("lying");
  try {
    (void)forward_pass(*pencil, oracle::all_units(9), options, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("it chose feature -7, which cannot be"), std::string::npos)
        << error.what();
  }
}

TEST(CardPass, StopsWhenItIsTold) {
  const auto pair = oracle::random_factor_pair(20, 1, 3, 50.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(20);
  std::stop_source source;
  source.request_stop();
  const RunControl control(source.get_token(), kInfinity);
  GreedyOptions options;
  options.card = card();
  const auto forward = forward_pass(*pencil, units, options, control);
  EXPECT_EQ(forward.status, Status::kInterrupted);
  EXPECT_EQ(forward.most, 0);
  const auto backward = backward_pass(*pencil, units, options, control);
  EXPECT_EQ(backward.status, Status::kInterrupted);
  EXPECT_EQ(backward.least, 20);
}

TEST(CardPass, IsRefusedWhatItDoesNotKnow) {
  const auto device = card();
  Matrix m = Matrix::Ones(3, 1), b = Matrix::Identity(3, 3);
  SubspectraPassProblem problem{};
  problem.features = 3;
  problem.matrix = b.data();
  problem.matrix_lead = 3;
  problem.directions = 1;
  problem.direction = m.data();
  problem.most = 3;
  const auto words = [&] {
    try {
      const device::Pass pass(device, problem);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(words(), "no error");
  problem.most = 4;
  EXPECT_NE(words().find("the number of steps does not fit"), std::string::npos) << words();
  problem.most = 3;
  problem.directions = 40;
  EXPECT_NE(words().find("the number of directions does not fit"), std::string::npos) << words();
  problem.directions = 1;
  b(1, 1) = -1.0;
  problem.backward = 1;
  EXPECT_THROW(device::Pass(device, problem), device::Unable);
  device::Columns columns(device, 2, 3, 8);
  EXPECT_THROW(columns.put(2, 2, m.data()), Error);
}

}  // namespace
}  // namespace subspectra::card_pass_test
