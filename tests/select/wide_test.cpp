/// gslda on wide tables: the passes that pay, by counted work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <subspectra/searches.hpp>
#include "oracle.hpp"
#include "search/pass_work.hpp"
#include "search/screened.hpp"
#include "select/record.hpp"
#include "select/select.hpp"

namespace subspectra::wide_test {
namespace {

Selection run(const Dataset& data, const Method& method, const SelectOptions& options) {
  return select_features(data, method, options, RunControl());
}

nlohmann::json passes_of(const Selection& found) {
  const auto record = record_of(found);
  return record.contains("passes") ? record.at("passes") : nlohmann::json();
}

/// So many columns that a backward pass from all of them does not pay.
DatasetParts wide_table(int classes, std::uint64_t seed) {
  return oracle::random_classes(60, 3000, classes, seed, 0.7, 12);
}

TEST(Gslda, OnAWideTableIsNowhereWorseThanTheForwardPass) {
  for (const int classes : {2, 4}) {
    for (const Criterion criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
      SCOPED_TRACE(fmt::format("{} classes, criterion {}", classes, static_cast<int>(criterion)));
      const Dataset data = wide_table(classes, 7);
      const SelectOptions options{.k = {1, 30}, .criterion = criterion, .certify = false};
      const Selection forward = run(data, ForwardLda{}, options);
      const Selection found = run(data, Gslda{}, options);
      ASSERT_EQ(found.sets().size(), 30U);
      for (const auto& set : found.sets()) {
        const double other = forward.at(set.k()).objective;
        EXPECT_GE(set.objective, other * (1.0 - 1e-9)) << set.k();
        // The value is that of the set that is given.
        if (set.pass == "forward") {
          EXPECT_EQ(set.features, forward.at(set.k()).features);
        }
      }
      EXPECT_TRUE(passes_of(found).contains("backward"));
      EXPECT_TRUE(std::any_of(found.sets().begin(), found.sets().end(),
                              [](const PathEntry& set) { return set.pass != "forward"; }));
    }
  }
}

TEST(Gslda, SaysWhichPassesAWideTableGotAndNothingWhereAllWereMade) {
  const Selection wide = run(wide_table(2, 3), Gslda{}, {.k = {1, 20}});
  EXPECT_EQ(passes_of(wide).at("forward"), 3000);
  EXPECT_GE(passes_of(wide).at("backward").get<Index>(), 40);
  EXPECT_LE(passes_of(wide).at("backward").get<Index>(), 200);
  EXPECT_TRUE(passes_of(wide).contains("exchanges"));
  EXPECT_TRUE(passes_of(run(oracle::random_classes(200, 60, 2, 3), Gslda{}, {.k = {1, 5}})).is_null());
  EXPECT_TRUE(passes_of(run(wide_table(2, 3), ForwardLda{}, {.k = {1, 20}})).is_null());
}

TEST(Gslda, OnAWideTableHoldsWhatIsIncludedAndDoesNotDependOnThreads) {
  const Dataset data = wide_table(3, 11);
  SelectOptions options{.k = {2, 25}, .include = {"x2900", "x17"}, .threads = 1};
  const Selection one = run(data, Gslda{}, options);
  options.threads = 4;
  const Selection four = run(data, Gslda{}, options);
  ASSERT_EQ(one.sets().size(), 24U);
  for (std::size_t i = 0; i < one.sets().size(); ++i) {
    const auto& set = one.sets()[i].features;
    EXPECT_TRUE(std::binary_search(set.begin(), set.end(), 2900));
    EXPECT_TRUE(std::binary_search(set.begin(), set.end(), 17));
    EXPECT_EQ(set, four.sets()[i].features);
    EXPECT_EQ(one.sets()[i].objective, four.sets()[i].objective);
  }
}

TEST(Gslda, MakesTheExchangesThatAreAskedForOnAWideTable) {
  const Dataset data = wide_table(2, 5);
  const SelectOptions options{.k = KRange::list({3, 6}), .certify = false};
  const Selection asked = run(data, Gslda{.swaps = 3}, options);
  EXPECT_TRUE(record_of(asked).contains("swapped_sizes"));
  EXPECT_FALSE(passes_of(asked).contains("exchanges"));
  const Selection forward = run(data, ForwardLda{.swaps = 3}, options);
  for (const auto& set : asked.sets()) EXPECT_GE(set.objective, forward.at(set.k()).objective * (1.0 - 1e-9));
}

// Oracle: the backward pass on a table that has those columns and no others.
TEST(ScreenedColumns, GoBackwardAsATableOfThoseColumns) {
  const Dataset data = wide_table(3, 2);
  const auto pencil = lda_pencil(data, RidgeAmount(0.0, 0.05), 1);
  std::vector<Index> all;
  for (Index j = 0; j < data.features(); ++j) all.push_back(j);
  const auto units = SearchUnits::singles(all, {});
  const GreedyOptions options{.criterion = Criterion::kWilks, .least = 1, .most = 25, .threads = 1};
  const auto forward = forward_pass(*pencil, units, options, RunControl());
  const ScreenedColumns screened(*pencil, units, forward, options);
  for (const Index j : forward.order)
    EXPECT_TRUE(std::binary_search(screened.features().begin(), screened.features().end(), j));
  const auto pass = screened.backward_pass(options, RunControl());
  const Dataset part = data.with_features(screened.features());
  const auto own = lda_pencil(part, RidgeAmount(0.0, 0.05), 1);
  std::vector<Index> places;
  for (Index j = 0; j < part.features(); ++j) places.push_back(j);
  auto expected = backward_pass(*own, SearchUnits::singles(places, {}), options, RunControl());
  for (Index& j : expected.order) j = screened.features()[static_cast<std::size_t>(j)];
  ASSERT_EQ(pass.least, expected.least);
  for (Index k = pass.least; k <= 40; ++k) {
    std::vector<Index> a(pass.order.begin(), pass.order.begin() + k);
    std::vector<Index> b(expected.order.begin(), expected.order.begin() + k);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_EQ(a, b) << k;
  }
}

TEST(PassWork, OfTheScreenedSearchesIsWithinThatOfTheForwardPass) {
  for (const Index rows : {30, 200}) {
    for (const Index most : {1, 10, 50, 150}) {
      const Dataset data = oracle::random_classes(rows, 2500, 2, 1);
      const auto pencil = lda_pencil(data, RidgeAmount(0.0, 0.05), 1);
      std::vector<Index> all;
      for (Index j = 0; j < data.features(); ++j) all.push_back(j);
      const auto units = SearchUnits::singles(all, {});
      const GreedyOptions options{.least = 1, .most = most, .threads = 1};
      const auto forward = forward_pass(*pencil, units, options, RunControl());
      const ScreenedColumns screened(*pencil, units, forward, options);
      EXPECT_GE(screened.count(), most);
      const double work = forward_work(*pencil, units, options);
      if (screened.count() > most) {
        EXPECT_LE(dense_backward_work(*pencil, screened.count()), work);
      }
      if (most == 50) {
        EXPECT_GT(backward_work(*pencil, units, options), 20.0 * work);
      }
    }
  }
}

TEST(Certificate, OfTheOnlyPossibleSetIsItsValue) {
  const Dataset data = oracle::random_classes(60, 6, 2, 5);
  const Selection included = run(data, Gslda{}, {.k = {2, 3}, .include = {"x0", "x3"}});
  EXPECT_TRUE(included.at(2).certified());
  EXPECT_EQ(included.at(2).upper_bound, included.at(2).objective);
  SelectOptions options{.k = 1};
  options.feature_group_names = {"a", "a", "b", "b", "", ""};
  options.include = {"x0"};
  const Selection group = run(data, Gslda{}, options);
  EXPECT_EQ(group.at(1).features, (std::vector<Index>{0, 1}));
  EXPECT_TRUE(group.at(1).certified());
}

}  // namespace
}  // namespace subspectra::wide_test
