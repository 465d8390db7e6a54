#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "classify/svm.hpp"
#include "oracle.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"

namespace subspectra::svm_methods_test {
namespace {

Selection run(const Dataset& data, std::string_view method, const SelectOptions& options,
              const OptionTexts& texts = {}) {
  return select_features(data, MethodRegistry::from_texts(method, texts), options, RunControl());
}

TEST(SvmMethods, RankEveryFeatureThatVariesAndSayWhatWasUsed) {
  for (const std::string method : {"svm-rfe", "svm-rmb"}) {
    for (const int classes : {2, 5}) {
      SCOPED_TRACE(method + " " + std::to_string(classes));
      DatasetParts data = oracle::random_classes(40, 60, classes, 3, 2.0, 2);
      data.dense.col(10).setConstant(3.0);
      const Selection found = run(data, method, {.k = {1, 5}});
      EXPECT_EQ(found.ranking.size(), 59U);
      EXPECT_EQ(std::count(found.ranking.begin(), found.ranking.end(), 10), 0);
      EXPECT_EQ(found.weights.size(), 60);
      EXPECT_EQ(found.weights[10], 0.0);
      EXPECT_LT(found.ranking.front(), 2);
      ASSERT_EQ(found.sets().size(), 5U);
      EXPECT_FALSE(found.trace.empty());
      const double cost = record_of(found)["C"];
      const auto& costs = svm_costs();
      EXPECT_NE(std::find(costs.begin(), costs.end(), cost), costs.end());
      EXPECT_EQ(found.status, method == "svm-rfe" ? Status::kHeuristic : Status::kConverged);
    }
  }
}

TEST(SvmMethods, SparseTablesConstraintsAndThreadsChangeNothingElse) {
  const DatasetParts data = oracle::random_classes(30, 50, 3, 5);
  for (const std::string method : {"svm-rfe", "svm-rmb"}) {
    const OptionTexts texts = {{"C", "0.5"}};
    const Selection dense = run(data, method, {.k = {1, 4}, .threads = 1}, texts);
    const Selection sparse = run(oracle::as_sparse(data), method, {.k = {1, 4}, .threads = 2}, texts);
    EXPECT_EQ(dense.ranking, sparse.ranking);
    EXPECT_EQ(dense.weights, sparse.weights);
    const Selection bound = run(data, method, {.k = {2, 4}, .include = {"x20"}, .exclude = {"x1"}}, texts);
    for (const auto& entry : bound.sets()) {
      EXPECT_TRUE(std::binary_search(entry.features.begin(), entry.features.end(), 20));
      EXPECT_FALSE(std::binary_search(entry.features.begin(), entry.features.end(), 1));
    }
  }
}

TEST(SvmMethods, WhatCannotBeIsRefused) {
  DatasetParts data = oracle::random_classes(20, 6, 2, 5);
  for (const OptionTexts& texts : {OptionTexts{{"C", "0"}}, OptionTexts{{"rfe_step", "1.5"}},
                                   OptionTexts{{"rfe_step", "0"}}, OptionTexts{{"rfe_single", "-1"}}}) {
    EXPECT_THROW(run(data, "svm-rfe", {.k = {1, 2}}, texts), InvalidArgument);
  }
  for (const OptionTexts& texts :
       {OptionTexts{{"C", "-1"}}, OptionTexts{{"max_iterations", "0"}}, OptionTexts{{"tolerance", "-1"}}}) {
    EXPECT_THROW(run(data, "svm-rmb", {.k = {1, 2}}, texts), InvalidArgument);
  }
  data.weights = Vector::LinSpaced(20, 1.0, 2.0);
  EXPECT_THROW(run(data, "svm-rfe", {.k = {1, 2}}), InvalidArgument);
  EXPECT_THROW(run(data, "svm-rmb", {.k = {1, 2}}), InvalidArgument);
}

TEST(SvmMethods, ToleranceZeroRunsAllIterationsAndTheTraceFalls) {
  const DatasetParts data = oracle::random_classes(30, 20, 2, 6);
  const Selection few =
      run(data, "svm-rmb", {.k = {1, 2}}, {{"C", "1"}, {"max_iterations", "7"}, {"tolerance", "0"}});
  EXPECT_EQ(few.status, Status::kIterationLimit);
  ASSERT_EQ(few.trace.size(), 8U);
  for (std::size_t i = 1; i < few.trace.size(); ++i)
    EXPECT_LT(few.trace[i].objective, few.trace[i - 1].objective);
}

TEST(SvmMethods, ABoundAboveTheNumberOfRowsIsSaid) {
  const DatasetParts noise = oracle::random_classes(60, 5, 2, 8, 0.0);  // nothing to tell apart
  const auto says_little = [](const Selection& found) {
    return std::any_of(found.warnings.begin(), found.warnings.end(), [](const std::string& warning) {
      return warning.find("no more than 60 rows can be wrong") != std::string::npos;
    });
  };
  EXPECT_TRUE(says_little(run(noise, "svm-rmb", {.k = {1, 2}}, {{"C", "10"}})));
  const DatasetParts four =
      oracle::random_classes(60, 5, 4, 8, 0.0);  // rows are counted once, not by machine
  EXPECT_TRUE(says_little(run(four, "svm-rmb", {.k = {1, 2}}, {{"C", "10"}})));
  // Without --C the machine's own choice is lowered until the bound says something.
  for (const int classes : {2, 3}) {
    const DatasetParts overlapping = oracle::random_classes(150, 6, classes, 9, 0.7);
    const Selection chosen = run(overlapping, "svm-rmb", {.k = {1, 2}});
    EXPECT_TRUE(chosen.warnings.empty()) << chosen.warnings.front();
    EXPECT_LT(chosen.trace.front().objective, classes == 2 ? 150.0 : 450.0);
    EXPECT_LE(record_of(chosen)["C"], record_of(run(overlapping, "svm-rfe", {.k = {1, 2}}))["C"]);
  }
  const DatasetParts easy = oracle::random_classes(60, 5, 2, 8, 8.0);
  EXPECT_FALSE(says_little(run(easy, "svm-rmb", {.k = {1, 2}}, {{"C", "0.1"}})));
}

}  // namespace
}  // namespace subspectra::svm_methods_test
