/// The store of open nodes, and what the best sets close.
#include "search/node_store.hpp"

#include <gtest/gtest.h>

namespace subspectra::search {
namespace {

constexpr double kGap = 0.1;

Incumbents no_sets(KRange k) { return {ExactRun{.k = k}, Cutoff(0.0, 0.0)}; }

/// A set of size k with this value becomes known.
void learn(Incumbents& incumbents, Index k, double value) {
  SizeFindings found(incumbents.of(k).pool);
  std::vector<Index> units;
  for (Index u = 0; u < k; ++u) units.push_back(u);
  found.pool.offer(std::move(units), value);
  static_cast<void>(incumbents.merge(k, found));
}

TEST(NodeStore, TheLargestBoundComesFirstAndOfEqualOnesTheOldest) {
  NodeStore store({2, 3});
  for (const double bound : {1.0, 3.0, 2.0, 3.0}) store.add({.k = 2, .bound = bound});
  store.add({.k = 3, .bound = 9.0});
  EXPECT_EQ(store.count(), 5U);
  EXPECT_EQ(store.open_bounds(), (std::vector<double>{3.0, 9.0}));
  EXPECT_EQ(store.take(2).sequence, 1U);
  EXPECT_EQ(store.take(2).sequence, 3U);
  EXPECT_EQ(store.take(2).sequence, 2U);
  EXPECT_EQ(store.take(2).sequence, 0U);
  EXPECT_FALSE(store.has(2));
  EXPECT_TRUE(store.has(3));
}

TEST(NodeStore, DepthFirstTheNewestComesFirst) {
  NodeStore store({2, 2});
  for (const double bound : {5.0, 1.0, 3.0}) store.add({.k = 2, .bound = bound});
  store.go_depth_first();
  store.add({.k = 2, .bound = 0.5});
  for (const std::uint64_t sequence : {3U, 2U, 1U, 0U}) EXPECT_EQ(store.take(2).sequence, sequence);
  EXPECT_EQ(store.bytes(), 0.0);
}

/// No size waits for another: each gives its best node in turn, and another size begins in every round.
TEST(NodeStore, SharedNodesAreTakenForEverySizeInTurn) {
  const auto filled = [] {
    NodeStore store({2, 3});
    store.add({.k = 2, .bound = 9.0, .also_serves = {{.k = 3, .bound = 1.0}}});
    store.add({.k = 2, .bound = 8.0, .also_serves = {{.k = 3, .bound = 2.0}}});
    store.add({.k = 2, .bound = 1.0, .also_serves = {{.k = 3, .bound = 7.0}}});
    return store;
  };
  auto store = filled();
  auto taken = store.take_shared(2, 0);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].sequence, 0U);  // the best for 2
  EXPECT_EQ(taken[1].sequence, 2U);  // the best for 3
  EXPECT_EQ(store.shared().size(), 1U);
  store = filled();
  taken = store.take_shared(10, 1);
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].sequence, 2U);
  EXPECT_EQ(taken[1].sequence, 0U);
}

TEST(NodeStore, ASharedNodeWithOneOpenSizeLeftGoesToThatSize) {
  NodeStore store({2, 4});
  auto incumbents = no_sets({2, 4});
  store.add({.k = 2, .bound = 5.0, .also_serves = {{.k = 3, .bound = 6.0}, {.k = 4, .bound = 7.0}}});
  learn(incumbents, 2, 5.5);
  store.drop_closed_shared(incumbents);
  ASSERT_EQ(store.shared().size(), 1U);
  EXPECT_EQ(store.shared()[0].node.k, 3);
  learn(incumbents, 4, 8.0);
  EXPECT_TRUE(store.anything_open(incumbents));
  EXPECT_TRUE(store.shared().empty());
  ASSERT_TRUE(store.has(3));
  EXPECT_EQ(store.open_bounds(), (std::vector<double>{-kInfinity, 6.0, -kInfinity}));
  learn(incumbents, 3, 6.0);
  EXPECT_FALSE(store.anything_open(incumbents));
}

TEST(Incumbents, WhatTheGapAloneClosesIsRemembered) {
  Incumbents incumbents(ExactRun{.k = {1, 1}, .asked = {.gap = kGap}}, Cutoff(0.0, kGap));
  EXPECT_FALSE(incumbents.closes(1, 0.5));
  learn(incumbents, 1, 1.0);
  EXPECT_TRUE(incumbents.closes(1, 1.0));
  EXPECT_EQ(incumbents.upper_bound(1, -kInfinity), 1.0);  // proven
  EXPECT_TRUE(incumbents.closes(1, 1.05));
  EXPECT_FALSE(incumbents.closes(1, 1.2));
  EXPECT_EQ(incumbents.upper_bound(1, -kInfinity), 1.05);
  EXPECT_EQ(incumbents.upper_bound(1, 1.2), 1.2);
  EXPECT_FALSE(incumbents.discarded_too_much(1));
}

TEST(Pool, KeepsTheBestAndOfSetsThatTieTheLowest) {
  Pool pool(2);
  EXPECT_EQ(pool.threshold(), -kInfinity);
  EXPECT_TRUE(pool.offer({3, 4}, 1.0));
  EXPECT_TRUE(pool.offer({1, 2}, 2.0));
  EXPECT_EQ(pool.threshold(), 1.0);
  EXPECT_FALSE(pool.offer({1, 2}, 2.0));  // is there
  EXPECT_FALSE(pool.offer({5, 6}, 1.0));  // ties with the last, but is higher
  EXPECT_TRUE(pool.offer({0, 4}, 1.0));
  ASSERT_EQ(pool.sets().size(), 2U);
  EXPECT_EQ(pool.sets()[1].units, (std::vector<Index>{0, 4}));
  auto copy = pool.fresh_copy();
  EXPECT_TRUE(copy.entered().empty());
  EXPECT_TRUE(copy.offer({0, 1}, 3.0));
  ASSERT_EQ(copy.entered().size(), 1U);
  EXPECT_EQ(pool.best(), 2.0);
}

}  // namespace
}  // namespace subspectra::search
