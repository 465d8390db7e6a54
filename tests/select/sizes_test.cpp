/// The sizes that are asked for: one, a range, every so many of one, a list, a growing series.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <subspectra/evaluate.hpp>
#include <subspectra/model.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/selection.hpp>
#include <subspectra/sparse_pca.hpp>
#include "oracle.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "verify/check.hpp"

namespace subspectra::sizes_test {
namespace {

std::vector<Index> sizes_of(const Selection& found) {
  std::vector<Index> sizes;
  for (const auto& entry : found.sets()) sizes.push_back(entry.k());
  return sizes;
}

Selection run(const Dataset& data, const Method& method, const KRange& k) {
  return select_features(data, method, {.k = k, .threads = 1}, RunControl());
}

/// Nested sizes, however the method finds them.
bool gives_every_size(const Method& method) {
  const std::set<std::string_view> others = {"all", "pca", "gene-shaving", "spca"};
  return !others.contains(method.name());
}

// Oracle: the same search over the whole range, of which a list is a part.
TEST(Sizes, OfAListEveryMethodGivesTheSetsOfTheRangeAtThoseSizesAndNoOthers) {
  const Dataset data = oracle::random_classes(60, 10, 2, 5);
  const std::vector<Index> list = {2, 3, 5, 9};
  for (const MethodEntry& entry : MethodRegistry::entries()) {
    if (entry.traits->composite) continue;  // fit and evaluate run it
    SCOPED_TRACE(entry.traits->name);
    const Method method = MethodRegistry::from_texts(entry.traits->name, {});
    const Selection some = run(data, method, KRange::list(list));
    const Selection whole = run(data, method, {1, 10});
    if (some.own_rule() || !gives_every_size(method)) {
      for (const auto& set : some.sets()) {
        if (some.size_fixed) continue;
        EXPECT_NO_THROW((void)whole.at(set.k()));
        EXPECT_LE(set.k(), 9);
      }
      continue;
    }
    EXPECT_EQ(sizes_of(some), list);
    for (const auto& set : some.sets()) {
      EXPECT_EQ(set.features, whole.at(set.k()).features) << set.k();
      EXPECT_NEAR(set.objective, whole.at(set.k()).objective, 1e-9 * set.objective);
    }
  }
}

// A penalty leaves what sizes it will: as of a single size, of every one the largest set of no more features.
TEST(Sizes, OfAListAPenaltyGivesForEverySizeTheLargestSetOfNoMore) {
  const Dataset data = oracle::random_classes(60, 30, 3, 6);
  for (const char* name : {"gloss", "rvm-row", "sda"}) {
    SCOPED_TRACE(name);
    std::set<Index> expected;
    for (const Index k : {4, 11, 12, 25}) expected.insert(run(data, Method(name), k).sets().back().k());
    const auto found = sizes_of(run(data, Method(name), KRange::list({4, 11, 12, 25})));
    EXPECT_EQ(std::set<Index>(found.begin(), found.end()), expected);
  }
}

// No set of a size between is proven: only what was asked for costs time, and every one of it has its proof.
TEST(Sizes, AnExactSearchProvesTheSizesOfAList) {
  const Dataset data = oracle::random_classes(50, 12, 3, 8);
  for (const char* name : {"eslda", "espca"}) {
    SCOPED_TRACE(name);
    const Selection some = run(data, Method(name), KRange::list({2, 3, 6, 11}));
    const Selection whole = run(data, Method(name), {1, 12});
    EXPECT_EQ(sizes_of(some), (std::vector<Index>{2, 3, 6, 11}));
    EXPECT_EQ(some.status, Status::kOptimal);
    for (const auto& set : some.sets()) {
      EXPECT_TRUE(set.certified()) << set.k();
      EXPECT_EQ(set.features, whole.at(set.k()).features);
    }
  }
  EXPECT_LT(run(data, Eslda{}, KRange::list({2, 11})).search->nodes,
            run(data, Eslda{}, {2, 11}).search->nodes);
}

TEST(Sizes, AStateOfOneExactSearchHasNoGapInItsSizes) {
  const Dataset data = oracle::random_classes(50, 12, 2, 8);
  try {
    (void)run(data, Eslda{.checkpoint = "state.json"}, KRange::list({2, 5}));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field, "checkpoint");
    EXPECT_NE(std::string(error.what()).find("k = {1, 20}"), std::string::npos);
  }
}

TEST(Sizes, WhatIsIncludedOrTooManyLeavesThoseOfAListThatCanBe) {
  DatasetParts data = oracle::random_classes(60, 8, 2, 5);
  data.dense.col(6).setOnes();
  const auto with = [&](const KRange& k, std::vector<std::string> include) {
    return select_features(data, Gslda{}, {.k = k, .include = std::move(include)}, RunControl());
  };
  EXPECT_EQ(sizes_of(with(KRange::list({1, 3, 5}), {"x0", "x1"})), (std::vector<Index>{3, 5}));
  const Selection stops = with(KRange::list({1, 3, 8}), {});
  EXPECT_EQ(sizes_of(stops), (std::vector<Index>{1, 3}));
  EXPECT_EQ(stops.status, Status::kRankLimit);
  EXPECT_TRUE(std::any_of(stops.warnings.begin(), stops.warnings.end(), [](const std::string& warning) {
    return warning.starts_with("k stops at 3: no more than 7 features vary");
  }));
  EXPECT_THROW((void)with(KRange::list({8}), {}), Infeasible);
  EXPECT_THROW((void)with(KRange::list({1, 2}), {"x0", "x1", "x2"}), Infeasible);
  EXPECT_THROW((void)with(KRange::list({1, 9}), {}), InvalidArgument);
  EXPECT_EQ(sizes_of(with(KRange::log(), {})), (std::vector<Index>{1, 2, 3, 5, 7}));
  EXPECT_EQ(with(KRange::log(), {}).status, with({1, 7}, {}).status);
}

TEST(Sizes, AreSaidInTheResultAsTheyWereAskedFor) {
  const Dataset data = oracle::random_classes(60, 9, 2, 5);
  const auto said = [&](const KRange& k) {
    const std::string text = select(data, Gslda{}, {.k = k}).to_json(data, {.k = k});
    const auto at = text.find("\"k\": ", text.find("\"options\""));
    std::string value = text.substr(at + 5, text.find_first_of("]\n", at) - at - 5);
    std::erase_if(value, [](char c) { return c == ' ' || c == '\n'; });
    return value;
  };
  EXPECT_EQ(said(KRange::list({1, 2, 5})), "\"1,2,5\",");
  EXPECT_EQ(said(KRange::steps(1, 9, 3)), "\"1:9:3\",");
  EXPECT_EQ(said(KRange::log()), "\"log\",");
}

// The rows at those sizes are the rows of the range; no classifier is trained for a size between.
TEST(Sizes, OfAnEvaluationAreThoseAskedFor) {
  const Dataset data = oracle::random_classes(60, 10, 2, 5);
  const Evaluation some =
      evaluate(data, {Gslda{}, Gloss{}, Pca{}}, {.repeats = 2, .k = KRange::list({2, 4, 5})});
  const Evaluation whole = evaluate(data, {Gslda{}, Gloss{}, Pca{}}, {.repeats = 2, .k = {1, 10}});
  ASSERT_EQ(some.rows.size(), 9U);
  for (const auto& row : some.rows) {
    SCOPED_TRACE(row.method);
    EXPECT_TRUE(row.k == 2 || row.k == 4 || row.k == 5);
    const auto same = std::find_if(whole.rows.begin(), whole.rows.end(), [&](const EvaluationRow& other) {
      return other.method == row.method && other.k == row.k;
    });
    ASSERT_NE(same, whole.rows.end());
    if (row.method == "gslda") {
      EXPECT_EQ(row.error, same->error);
    }
  }
  for (const char* name : {"gslda", "gloss", "pca"})
    EXPECT_TRUE(KRange::list({2, 4, 5}).contains(*some.k_best(name)));
}

TEST(Sizes, OfAFitAreChosenAmongThoseAskedFor) {
  const Dataset data = oracle::random_classes(80, 12, 2, 5);
  const KRange k = KRange::list({4, 8, 12});
  const Model model = fit(data, Gslda{}, {.k = k});
  EXPECT_TRUE(k.contains(static_cast<Index>(model.features().size())));
  EXPECT_EQ(static_cast<Index>(model.features().size()),
            *evaluate(data, Gslda{}, {.k = k}).k_one_standard_error());
}

}  // namespace
}  // namespace subspectra::sizes_test
