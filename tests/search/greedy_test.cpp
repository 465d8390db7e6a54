#include "search/greedy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "oracle.hpp"
#include "pencils.hpp"

namespace subspectra {
namespace {

using oracle::NaiveStep;

/// Walks down a pass and compares every step with re-solves from scratch: the chosen unit must be the naive
/// best or tie with it, and the value must agree.
void expect_greedy(const Matrix& a, const Matrix& b, const SearchUnits& units, Criterion criterion,
                   const GreedyPass& pass, bool forward) {
  const double b_condition = oracle::condition(b);
  std::vector<Index> set = forward ? units.include : std::vector<Index>();
  if (!forward) {
    set.resize(static_cast<std::size_t>(units.count()));
    for (Index u = 0; u < units.count(); ++u) set[static_cast<std::size_t>(u)] = u;
  }
  const double tolerance = std::max(1e-9, 100.0 * b_condition * 0x1p-52);
  if (forward) {
    for (std::size_t k = set.size(); k < pass.order.size(); ++k) {
      const auto step = oracle::naive_forward(a, b, units, criterion, set);
      set.push_back(pass.order[k]);
      const double value = oracle::set_value(a, b, units.features(set), criterion);
      EXPECT_GE(value, step.value - tolerance * step.value) << "adding unit " << pass.order[k] << " at " << k;
    }
  } else {
    for (auto k = pass.order.size(); k > static_cast<std::size_t>(pass.least); --k) {
      const auto step = oracle::naive_backward(a, b, units, criterion, set);
      std::erase(set, pass.order[k - 1]);
      const double value = oracle::set_value(a, b, units.features(set), criterion);
      EXPECT_GE(value, step.value - tolerance * step.value) << "deleting unit " << pass.order[k - 1];
    }
  }
}

constexpr std::array kCriteria = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};

TEST(Greedy, EveryStepIsTheBestOneByReSolvingFromScratch) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    for (const Index r : {1, 2, 5}) {
      const auto pair = oracle::random_factor_pair(4 + static_cast<Index>(seed % 11), r, seed);
      const auto pencil = factor_pencil(pair.m, pair.b);
      const auto units = oracle::all_units(pencil->size());
      for (const auto criterion : kCriteria) {
        SCOPED_TRACE(fmt::format("seed {} r {} criterion {}", seed, r, static_cast<int>(criterion)));
        const GreedyOptions options{.criterion = criterion};
        const Matrix a = pair.m * pair.m.transpose();
        const auto forward = forward_pass(*pencil, units, options, {});
        ASSERT_EQ(forward.most, pencil->size());
        expect_greedy(a, pair.b, units, criterion, forward, true);
        const auto backward = backward_pass(*pencil, units, options, {});
        ASSERT_EQ(backward.least, 1);
        expect_greedy(a, pair.b, units, criterion, backward, false);
      }
    }
  }
}

TEST(Greedy, HoldsForIllConditionedMatrices) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto pair = oracle::random_factor_pair(10, 1 + static_cast<Index>(seed % 3), seed, 1e10);
    const auto pencil = factor_pencil(pair.m, pair.b);
    const auto units = oracle::all_units(10);
    const Matrix a = pair.m * pair.m.transpose();
    expect_greedy(a, pair.b, units, Criterion::kLargest, forward_pass(*pencil, units, {}, {}), true);
    expect_greedy(a, pair.b, units, Criterion::kLargest, backward_pass(*pencil, units, {}, {}), false);
  }
}

TEST(Greedy, GroupsEnterAndLeaveAsAWhole) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const Index r : {1, 3}) {
      SCOPED_TRACE(fmt::format("seed {} r {}", seed, r));
      const auto pair = oracle::random_factor_pair(12, r, seed);
      const auto pencil = factor_pencil(pair.m, pair.b);
      SearchUnits units;
      units.single = false;
      units.members = {{0, 5}, {1}, {2, 3, 7}, {4, 11}, {6, 8}, {9, 10}};
      if (seed % 3 == 0) units.include = {2};
      const Matrix a = pair.m * pair.m.transpose();
      for (const auto criterion : kCriteria) {
        const GreedyOptions options{.criterion = criterion};
        const auto forward = forward_pass(*pencil, units, options, {});
        EXPECT_EQ(forward.most, 6);
        expect_greedy(a, pair.b, units, criterion, forward, true);
        expect_greedy(a, pair.b, units, criterion, backward_pass(*pencil, units, options, {}), false);
      }
    }
  }
}

TEST(Greedy, IncludedUnitsAreInEverySet) {
  const auto pair = oracle::random_factor_pair(9, 1, 3);
  const auto pencil = factor_pencil(pair.m, pair.b);
  auto units = oracle::all_units(9);
  units.include = {4, 7};
  const Matrix a = pair.m * pair.m.transpose();
  const auto forward = forward_pass(*pencil, units, {}, {});
  EXPECT_EQ(forward.least, 2);
  EXPECT_EQ(forward.order[0], 4);
  EXPECT_EQ(forward.order[1], 7);
  expect_greedy(a, pair.b, units, Criterion::kLargest, forward, true);
  const auto backward = backward_pass(*pencil, units, {}, {});
  EXPECT_EQ(backward.least, 2);
  EXPECT_EQ((std::vector<Index>(backward.order.begin(), backward.order.begin() + 2)),
            (std::vector<Index>{4, 7}));
}

TEST(Greedy, ALongDensePathGivesTheSetsOfOneWithoutBlocks) {
  // n = 200 crosses several blocks and tiles; the oracle is the textbook rank-one update in plain loops.
  const auto pair = oracle::random_factor_pair(300, 2, 7);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(300);
  for (const auto criterion : {Criterion::kTrace, Criterion::kLargest}) {
    const auto forward = forward_pass(*pencil, units, {.criterion = criterion}, {});
    const auto backward = backward_pass(*pencil, units, {.criterion = criterion}, {});
    const auto plain_forward = oracle::plain_path(pair.m, pair.b, criterion, true);
    const auto plain_backward = oracle::plain_path(pair.m, pair.b.inverse(), criterion, false);
    EXPECT_EQ(forward.order, plain_forward);
    // of two that are left either is the last
    EXPECT_TRUE(std::equal(backward.order.begin() + 1, backward.order.end(), plain_backward.begin() + 1));
  }
}

TEST(Greedy, ThreadsDoNotChangeTheOrder) {
  const auto pair = oracle::random_factor_pair(600, 3, 11);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(600);
  for (const bool forward : {true, false}) {
    const auto run = [&](int threads) {
      const GreedyOptions options{.threads = threads};
      return forward ? forward_pass(*pencil, units, options, {}) : backward_pass(*pencil, units, options, {});
    };
    EXPECT_EQ(run(1).order, run(2).order);
    EXPECT_EQ(run(1).order, run(5).order);
  }
}

TEST(Greedy, BothPassesAtOnceGiveWhatTheyGiveApart) {
  const auto pair = oracle::random_factor_pair(200, 3, 12);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(200);
  RootLosses root, root_apart;
  const auto forward = forward_pass(*pencil, units, {.threads = 1}, {});
  const auto backward = backward_pass(*pencil, units, {.threads = 1}, {}, &root_apart);
  for (const int threads : {1, 2, 5}) {
    const auto both = dual_pass(*pencil, units, {.threads = threads}, {}, &root);
    EXPECT_EQ(both.forward.order, forward.order);
    EXPECT_EQ(both.backward.order, backward.order);
    EXPECT_EQ(both.infeasible, "");
    EXPECT_EQ(root.losses, root_apart.losses);
  }
}

TEST(Greedy, DuplicatesTieToTheLowestIndexAndAreThenDependent) {
  auto pair = oracle::random_factor_pair(6, 1, 5);
  const std::vector<Index> twice = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
  const Matrix b = pair.b(twice, twice);
  const Matrix m = pair.m(twice, Eigen::all);
  const auto pencil = factor_pencil(m, b);
  const auto units = oracle::all_units(12);
  const auto forward = forward_pass(*pencil, units, {}, {});
  EXPECT_EQ(forward.status, Status::kRankLimit);
  ASSERT_EQ(forward.most, 6);
  for (const Index u : forward.order) EXPECT_LT(u, 6);
  EXPECT_EQ(forward.dependent.size(), 6U);
  EXPECT_THROW(static_cast<void>(backward_pass(*pencil, units, {}, {})), Infeasible);
  for (const int threads : {1, 2}) {
    const auto both = dual_pass(*pencil, units, {.threads = threads}, {});
    EXPECT_EQ(both.forward.order, forward.order);
    EXPECT_NE(both.infeasible.find("singular"), std::string::npos);
    EXPECT_EQ(both.backward.most, 0);
  }
}

TEST(Greedy, FromATableEqualsFromItsMatrices) {
  for (const bool sparse : {false, true}) {
    for (const int classes : {2, 5}) {
      SCOPED_TRACE(fmt::format("sparse {} classes {}", sparse, classes));
      auto data = oracle::random_classes(60, 25, classes, 4, 0.7, 6);
      data.weights = Vector::LinSpaced(60, 0.5, 2.0);
      const auto dense_data = data;
      if (sparse) data = oracle::as_sparse(std::move(data));
      const auto moments = compute_moments(dense_data, Moments::SecondOrder::kFull);
      Matrix b = moments.within_covariance();
      b.diagonal().array() += 0.01;
      const auto dense = factor_pencil(moments.between_factor(), b);
      const auto table = lda_pencil(data, 0.01, 0);
      const auto units = oracle::all_units(25);
      for (const auto criterion : kCriteria) {
        for (const Index most : {2, 25}) {  // column by column, and dense
          const GreedyOptions options{.criterion = criterion, .most = most};
          EXPECT_EQ(forward_pass(*table, units, options, {}).order,
                    forward_pass(*dense, units, options, {}).order);
        }
        const GreedyOptions options{.criterion = criterion};
        EXPECT_EQ(backward_pass(*table, units, options, {}).order,
                  backward_pass(*dense, units, options, {}).order);
      }
    }
  }
}

TEST(Greedy, BackwardThroughRowsEqualsDense) {
  for (const int classes : {2, 4}) {
    for (const bool grouped : {false, true}) {
      SCOPED_TRACE(fmt::format("classes {} grouped {}", classes, grouped));
      const auto data = oracle::random_classes(24, 130, classes, 9, 1.0, 5);
      const double ridge = 0.02;
      const auto moments = compute_moments(data, Moments::SecondOrder::kFull);
      Matrix b = moments.within_covariance();
      b.diagonal().array() += ridge;
      const auto dense = factor_pencil(moments.between_factor(), b);
      const auto table = lda_pencil(data, ridge, 0);
      auto units = oracle::all_units(130);
      if (grouped) {
        units = {};
        units.single = false;
        for (Index j = 0; j < 130; j += 2) units.members.push_back({j, j + 1});
      }
      RootLosses a, c;
      const auto through_rows = backward_pass(*table, units, {.route = InverseRoute::kRows}, {}, &a);
      const auto plain = backward_pass(*dense, units, {}, {}, &c);
      EXPECT_EQ(through_rows.order, plain.order);
      EXPECT_NEAR(a.value, c.value, 1e-9 * c.value);
      EXPECT_LT((a.losses - c.losses).cwiseAbs().maxCoeff(), 1e-9 * c.value);
    }
  }
}

TEST(Greedy, RootLossesAreWhatDroppingOneCosts) {
  for (const auto criterion : kCriteria) {
    const auto pair = oracle::random_factor_pair(8, 3, 21);
    const auto pencil = factor_pencil(pair.m, pair.b);
    const auto units = oracle::all_units(8);
    const auto root = root_losses(*pencil, units, {.criterion = criterion});
    const Matrix a = pair.m * pair.m.transpose();
    const auto all = units.features();
    const double whole = oracle::set_value(a, pair.b, all, criterion);
    EXPECT_NEAR(root.value, whole, 1e-10 * whole);
    for (Index j = 0; j < 8; ++j) {
      auto set = all;
      std::erase(set, j);
      EXPECT_NEAR(root.losses[j], whole - oracle::set_value(a, pair.b, set, criterion), 1e-9 * whole);
    }
  }
}

TEST(Greedy, AStopRequestLeavesWhatWasFound) {
  const auto pair = oracle::random_factor_pair(40, 1, 2);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(40);
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  const auto forward = forward_pass(*pencil, units, {}, control);
  EXPECT_EQ(forward.status, Status::kInterrupted);
  EXPECT_EQ(forward.most, 0);
  const auto backward = backward_pass(*pencil, units, {}, control);
  EXPECT_EQ(backward.status, Status::kInterrupted);
  EXPECT_EQ(backward.least, 40);
}

}  // namespace
}  // namespace subspectra
