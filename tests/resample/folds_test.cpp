#include "resample/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace subspectra {
namespace {

Labels labels_of(const std::vector<int>& codes) {
  Labels labels;
  labels.name = "class";
  labels.codes = codes;
  for (int c = 0; c <= *std::max_element(codes.begin(), codes.end()); ++c)
    labels.classes.push_back(std::to_string(c));
  return labels;
}

void expect_partition(const std::vector<std::vector<Index>>& splits, Index rows) {
  std::vector<int> seen(static_cast<std::size_t>(rows), 0);
  for (const auto& split : splits) {
    EXPECT_TRUE(std::is_sorted(split.begin(), split.end()));
    for (const Index i : split) ++seen[static_cast<std::size_t>(i)];
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(Folds, HoldEveryRowOnceAndEveryClassEvenly) {
  std::vector<int> codes;
  for (int i = 0; i < 57; ++i) codes.push_back(i < 33 ? 0 : i < 50 ? 1 : 2);  // 33, 17, 7
  const Labels labels = labels_of(codes);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto splits = make_splits(labels, {}, "t", {.cv = {5}}, Random(seed));
    ASSERT_EQ(splits.size(), 5U);
    expect_partition(splits, 57);
    for (int c = 0; c < 3; ++c) {
      Index fewest = 1000, most = 0;
      for (const auto& split : splits) {
        const Index count = std::count_if(split.begin(), split.end(), [&](Index i) { return codes[i] == c; });
        fewest = std::min(fewest, count);
        most = std::max(most, count);
      }
      EXPECT_LE(most - fewest, 1);
    }
    for (const auto& split : splits) EXPECT_NEAR(static_cast<double>(split.size()), 57 / 5.0, 1.0);
  }
  EXPECT_EQ(make_splits(labels, {}, "t", {.cv = {5}}, Random(3)),
            make_splits(labels, {}, "t", {.cv = {5}}, Random(3)));
  EXPECT_NE(make_splits(labels, {}, "t", {.cv = {5}}, Random(3)),
            make_splits(labels, {}, "t", {.cv = {5}}, Random(4)));
}

TEST(Folds, AClassWithFewerRowsThanFoldsIsRefused) {
  try {
    (void)make_splits(labels_of({0, 0, 0, 0, 0, 0, 1, 1, 1}), {}, "t.csv", {.cv = {5}}, Random(0));
    FAIL();
  } catch (const BadInput& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("t.csv: class '1' has 3 rows, fewer than the 5 folds; use folds = 3"), 0U) << text;
  }
}

TEST(Folds, LeaveOneOutIsEveryRowInTurnAndNeedsTwoClassesToStay) {
  const auto splits = make_splits(labels_of({0, 1, 0, 1}), {}, "t", {.cv = {0}}, Random(0));
  EXPECT_EQ(splits, (std::vector<std::vector<Index>>{{0}, {1}, {2}, {3}}));
  EXPECT_THROW((void)make_splits(labels_of({0, 0, 1}), {}, "t", {.cv = {0}}, Random(0)), BadInput);
}

TEST(Folds, GroupsStayTogether) {
  std::vector<int> codes;
  std::vector<std::string> groups;
  for (int i = 0; i < 60; ++i) {
    codes.push_back(i % 2);
    groups.push_back("patient" + std::to_string(i / 4));
  }
  for (const auto& options :
       {SplitOptions{.cv = {5}}, SplitOptions{.cv = {0}}, SplitOptions{.test_fraction = 0.3}}) {
    const auto splits = make_splits(labels_of(codes), groups, "t", options, Random(1));
    if (options.test_fraction == 0.0) expect_partition(splits, 60);
    for (const auto& split : splits) {
      std::set<std::string> inside;
      for (const Index i : split) inside.insert(groups[i]);
      EXPECT_EQ(split.size(), 4 * inside.size());
    }
  }
  EXPECT_THROW((void)make_splits(labels_of({0, 1, 0, 1}), {"a", "a", "b", "b"}, "t",
                                 {.cv = {2}, .test_fraction = 0.0}, Random(1))
                   .at(2),
               std::out_of_range);
}

TEST(Folds, ATestFractionIsTakenFromEveryClass) {
  std::vector<int> codes(100, 0);
  for (int i = 0; i < 20; ++i) codes[i] = 1;
  const auto splits = make_splits(labels_of(codes), {}, "t", {.test_fraction = 0.25}, Random(5));
  ASSERT_EQ(splits.size(), 1U);
  EXPECT_EQ(splits[0].size(), 25U);
  EXPECT_EQ(std::count_if(splits[0].begin(), splits[0].end(), [&](Index i) { return codes[i] == 1; }), 5);
}

TEST(Folds, TheComplementIsTheRest) {
  EXPECT_EQ(complement({1, 3}, 5), (std::vector<Index>{0, 2, 4}));
  EXPECT_EQ(complement({}, 3), (std::vector<Index>{0, 1, 2}));
}

}  // namespace
}  // namespace subspectra
