#include "evaluate/automatic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include <subspectra/error.hpp>
#include <subspectra/rankers.hpp>
#include <subspectra/searches.hpp>
#include "classify/classifier.hpp"
#include "data/groups.hpp"
#include "evaluate/cross_validation.hpp"
#include "evaluate/inner_comparison.hpp"
#include "oracle.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra::automatic_test {
namespace {

Selection judged(const DatasetParts& parts, const SelectOptions& options = {}, const Method& method = Auto{},
                 const RunControl& control = RunControl(), Transform transform = Transform::kAuto) {
  const Dataset data(parts);
  const RowStatistics rows(data, 1, 0);
  return run_judged(rows, method, options, {.classifier = Lda{}, .transform = transform}, control);
}

TEST(InnerFolds, EveryRowIsHeldOutOnceARepeatButTheLastOfAClass) {
  DatasetParts data = oracle::random_classes(33, 2, 3, 1);
  data.labels->codes[0] = Labels::kMissing;
  data.labels->classes.emplace_back("z");
  data.labels->codes[1] = 3;  // alone in its class
  const InnerFolds folds = make_inner_folds(Dataset(data), 5, 2, 1000, 7);
  EXPECT_EQ(folds.rows.size(), 32U);
  ASSERT_EQ(folds.held_out.size(), 2U);
  for (const auto& repeat : folds.held_out) {
    std::vector<int> times(33, 0);
    for (const auto& part : repeat) {
      EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
      for (const Index i : part) ++times[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(times[0], 0);
    EXPECT_EQ(times[1], 0);
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), 31);
  }
  EXPECT_NE(folds.held_out[0], folds.held_out[1]);
}

TEST(InnerFolds, AClassWithFewerRowsThanFoldsIsStillLearnedInEveryOne) {
  DatasetParts data = oracle::random_classes(40, 2, 2, 2);
  data.labels->classes.emplace_back("rare");
  data.labels->codes[5] = data.labels->codes[6] = 2;
  const InnerFolds folds = make_inner_folds(Dataset(data), 5, 1, 1000, 3);
  for (const auto& part : folds.held_out.front()) {
    const bool both =
        std::binary_search(part.begin(), part.end(), 5) && std::binary_search(part.begin(), part.end(), 6);
    EXPECT_FALSE(both);
  }
}

TEST(InnerFolds, GroupsStayTogetherAndManyRowsAreThinnedClassByClass) {
  DatasetParts data = oracle::random_classes(60, 2, 2, 3);
  for (int i = 0; i < 60; ++i) data.row_groups.push_back(std::to_string(i / 4));
  const InnerFolds grouped = make_inner_folds(Dataset(data), 5, 1, 1000, 3);
  for (const auto& part : grouped.held_out.front()) {
    std::set<Index> groups;
    for (const Index i : part) groups.insert(i / 4);
    EXPECT_EQ(part.size(), 4 * groups.size());
  }
  data.row_groups.clear();
  data.labels->codes.assign(60, 0);
  data.labels->codes[7] = data.labels->codes[8] = 1;
  const InnerFolds few = make_inner_folds(Dataset(data), 5, 1, 20, 3);
  EXPECT_LE(few.rows.size(), 22U);
  EXPECT_TRUE(std::any_of(few.rows.begin(), few.rows.end(), [](Index i) { return i == 7 || i == 8; }));
}

TEST(InnerComparison, ErrorsAreThoseOfARuleTrainedOnTheOtherRows) {
  const DatasetParts parts = oracle::random_classes(45, 6, 3, 4, 0.7);
  const Dataset data(parts);
  const InnerFolds folds = make_inner_folds(data, 3, 2, 1000, 5);
  Arm search{.method = ForwardLda{}, .points = Arm::Points::kSets, .sizes = {1, 3}};
  search.ridge.fraction = 0.5;
  Arm filter{.method = Fisher{}, .points = Arm::Points::kRanking, .sizes = {2, 6}};
  filter.ridge.fraction = 0.5;
  const std::vector<Arm> arms = {search, filter};
  const Lda plain{.shrinkage = 0.0};
  const InnerErrors errors = compare_arms({data}, folds, arms, {}, {Lda{}, plain}, 2, RunControl());
  EXPECT_EQ(errors.folds_run, 6);
  ASSERT_EQ(errors.variants.size(), 2U);
  for (std::size_t v = 0; v < 2; ++v) {
    for (std::size_t ap = 0; ap < 2 * arms.size(); ++ap) {
      const std::size_t a = ap / 2, p = ap % 2;
      // Oracle: each fold by the calls that select and train for anybody.
      const Index size = arms[a].sizes[p];
      double wrong = 0.0, all = 0.0;
      for (const auto& repeat : folds.held_out) {
        for (const auto& part : repeat) {
          const Dataset training = data.with_rows(complement(part, data.rows()));
          SelectOptions options{.k = {size, size}, .threads = 1};
          options.ridge.fraction = 0.5;
          const auto features =
              select_features(training, arms[a].method, options, RunControl()).sets().back().features;
          const auto rule = ClassifierTrainer(training, features, {0.0, 0.5}, v == 0 ? Lda{} : plain).fit();
          const Matrix answer = rule->log_posteriors(data.values().block(part, features));
          for (Index i = 0; i < answer.rows(); ++i) {
            Index predicted = 0;
            answer.row(i).maxCoeff(&predicted);
            wrong +=
                predicted != parts.labels->codes[static_cast<std::size_t>(part[static_cast<std::size_t>(i)])];
            all += 1.0;
          }
        }
      }
      const PointErrors& point = errors.variants[v][a][p];
      ASSERT_TRUE(point.reached);
      EXPECT_NEAR(point.error, wrong / all, 1e-12);
      EXPECT_EQ(point.features, static_cast<double>(size));
    }
  }
  EXPECT_EQ(errors.stderr_of_difference(errors.variants[0][0][0], errors.variants[0][0][0]), 0.0);
}

TEST(Automatic, ComparesThreeCandidatesAndTakesTheSparsestThatIsNoWorse) {
  for (const auto& [n, p, classes] :
       {std::tuple<Index, Index, int>{60, 12, 2}, {60, 12, 4}, {30, 200, 3}, {56, 8, 14}}) {
    SCOPED_TRACE(p);
    const Selection found = judged(oracle::random_classes(n, p, classes, 6));
    ASSERT_TRUE(found.comparison);
    const ComparisonReport& report = *found.comparison;
    EXPECT_EQ(report.candidates.size(), 3U);
    EXPECT_EQ(report.folds_run, report.folds_planned);
    const auto least = std::min_element(report.candidates.begin(), report.candidates.end(),
                                        [](const auto& a, const auto& b) { return a.error < b.error; });
    const auto& chosen = report.candidates[report.chosen];
    EXPECT_LE(chosen.features, least->features);
    EXPECT_LE(chosen.error, least->error + 2.0 * (least->stderr_ + chosen.stderr_) + 1e-12);
    EXPECT_EQ(report.used.method, chosen.best.method);
    ASSERT_EQ(found.sets().size(), 1U);
    EXPECT_EQ(report.used.k, found.sets().front().k());
    EXPECT_EQ(found.method, "auto");
    EXPECT_TRUE(found.size_fixed);
  }
}

/// Classes apart in the logarithm of the columns, whose values are then spread over decades.
DatasetParts heavy_tailed(Index n, Index p, std::uint64_t seed) {
  DatasetParts data = oracle::random_classes(n, p, 2, seed, 1.2);
  data.dense = (3.0 * data.dense.array()).exp().matrix();
  return data;
}

TEST(Automatic, BendsColumnsWhereRowsSaySoAndTheyAlone) {
  const DatasetParts data = heavy_tailed(80, 12, 31);
  const Selection found = judged(data);
  EXPECT_EQ(found.comparison->used.transform, Transform::kAsinh);
  const Selection kept = judged(data, {}, Auto{}, RunControl(), Transform::kNone);
  EXPECT_EQ(kept.comparison->used.transform, Transform::kNone);
  EXPECT_LT(found.comparison->candidates[found.comparison->chosen].error,
            kept.comparison->candidates[kept.comparison->chosen].error);
  // Twice as many grid points of each candidate were compared.
  EXPECT_GT(found.comparison->candidates[0].compared, kept.comparison->candidates[0].compared);
  EXPECT_EQ(judged(oracle::as_sparse(data)).comparison->used.transform, Transform::kAsinh) << "around zero";
}

TEST(Automatic, AFewFeaturesAreTakenWhereTheyAreClearlyBetter) {
  // One column is the label, 200 are noise: nine features are more than there is.
  DatasetParts data = oracle::random_classes(90, 200, 2, 33, 0.0);
  for (Index i = 0; i < 90; ++i) data.dense(i, 4) += 8.0 * data.labels->codes[static_cast<std::size_t>(i)];
  const Selection found = judged(data);
  EXPECT_EQ(found.sets().front().features, std::vector<Index>{4});
}

TEST(Automatic, FindsTheFeaturesThatTellTheClassesApart) {
  const Selection found = judged(oracle::random_classes(120, 40, 3, 7, 2.0));
  for (const Index j : {0, 1, 2}) {
    const auto& chosen = found.sets().front().features;
    EXPECT_TRUE(std::find(chosen.begin(), chosen.end(), j) != chosen.end()) << j;
  }
}

TEST(Automatic, SizesThatAreAskedForAreThoseOfEveryCandidate) {
  const DatasetParts data = oracle::random_classes(60, 12, 3, 8);
  const Selection four = judged(data, {.k = 4});
  EXPECT_EQ(four.sets().front().k(), 4);
  for (const auto& candidate : four.comparison->candidates) EXPECT_EQ(candidate.best.k, 4);
  const Selection range = judged(data, {.k = {2, 5}});
  EXPECT_LE(range.sets().front().k(), 5);
  for (const auto& candidate : range.comparison->candidates) {
    EXPECT_GE(*candidate.best.k, 2);
    EXPECT_LE(*candidate.best.k, 5);
  }
  EXPECT_EQ(judged(data, {.k = 12}).comparison->candidates.front().best.k, 12);
}

TEST(Automatic, ThreadsAndUnitsDoNotChangeTheChoice) {
  DatasetParts data = oracle::random_classes(50, 20, 3, 9, 0.8);
  const Selection one = judged(data);
  {
    const Dataset table(data);
    const RowStatistics rows(table, 3, 0);
    const Selection three = run_judged(rows, Auto{}, {}, {.classifier = Lda{}}, RunControl());
    EXPECT_EQ(three.sets().front().features, one.sets().front().features);
    EXPECT_EQ(three.comparison->used.method, one.comparison->used.method);
  }
  for (Index j = 0; j < 20; ++j) data.dense.col(j) *= std::pow(10.0, static_cast<double>(j % 7 - 3));
  EXPECT_EQ(judged(data).sets().front().features, one.sets().front().features);
}

TEST(Automatic, KeepsToIncludedExcludedAndGroupedFeaturesAndGivenRidges) {
  DatasetParts data = oracle::random_classes(60, 10, 2, 10);
  const auto names = Dataset(data).names();
  const Selection with = judged(data, {.include = {names[7]}, .exclude = {names[0]}});
  const auto& features = with.sets().front().features;
  EXPECT_TRUE(std::binary_search(features.begin(), features.end(), 7));
  EXPECT_FALSE(std::binary_search(features.begin(), features.end(), 0));
  SelectOptions grouped;
  for (Index j = 0; j < 10; ++j) grouped.feature_group_names.push_back(j < 4 ? "g" : j < 6 ? "h" : "");
  const Selection groups = judged(data, grouped);
  EXPECT_FALSE(groups.sets().front().units.empty());
  SelectOptions ridge;
  ridge.ridge.fraction = 0.5;
  const Selection given = judged(data, ridge);
  EXPECT_EQ(given.comparison->candidates.front().best.ridge, RidgeAmount(0.0, 0.5));
}

TEST(Automatic, WhatNoSetSatisfiesIsRefusedInTheWordsOfTheMethods) {
  const DatasetParts data = oracle::random_classes(60, 10, 2, 10);
  const auto names = Dataset(data).names();
  EXPECT_THROW((void)judged(data, {.include = {names[7]}, .exclude = {names[7]}}), Infeasible);
}

TEST(Automatic, DegenerateTablesHaveAnAnswer) {
  DatasetParts data = oracle::random_classes(24, 6, 2, 11);
  data.dense.col(1).setConstant(1.0);
  data.dense.col(3) = data.dense.col(2);
  data.labels->classes.emplace_back("alone");
  data.labels->codes[4] = 2;
  EXPECT_EQ(judged(data).sets().size(), 1U);
  DatasetParts tiny = oracle::random_classes(4, 30, 2, 12);
  EXPECT_EQ(judged(tiny).sets().size(), 1U);
  DatasetParts one = oracle::random_classes(20, 1, 2, 13);
  EXPECT_EQ(judged(one).sets().front().features, std::vector<Index>{0});
  DatasetParts scaled = oracle::random_classes(40, 5, 3, 14);
  scaled.dense.col(0) *= 1e60;
  scaled.dense.col(1) *= 1e-60;
  EXPECT_EQ(judged(scaled).sets().size(), 1U);
  DatasetParts weighted = oracle::random_classes(40, 5, 3, 15);
  weighted.weights = Vector::LinSpaced(40, 0.5, 2.0);
  EXPECT_EQ(judged(weighted).sets().size(), 1U);
  DatasetParts unlabelled = oracle::random_classes(40, 5, 2, 16);
  unlabelled.labels->codes[3] = Labels::kMissing;
  EXPECT_EQ(judged(oracle::as_sparse(oracle::random_classes(40, 5, 2, 17))).sets().size(), 1U);
}

TEST(Automatic, StoppedAtOnceHasNoSetAndSaysWhy) {
  const Selection found = judged(oracle::random_classes(40, 5, 2, 18), {}, Auto{}, RunControl({}, 0.0));
  EXPECT_TRUE(found.sets().empty());
  EXPECT_EQ(found.status, Status::kTimeLimit);
}

TEST(Automatic, SelectRefusesItInWordsThatNameFitAndEvaluate) {
  const DatasetParts data = oracle::random_classes(40, 5, 2, 19);
  try {
    (void)select_features(Dataset(data), Auto{}, {}, RunControl());
    FAIL();
  } catch (const InvalidArgument& refused) {
    EXPECT_EQ(refused.field, "method");
    EXPECT_NE(std::string(refused.what()).find("fit and evaluate"), std::string::npos) << refused.what();
  }
}

TEST(Automatic, EvaluateRepeatsTheChoiceInEveryFoldAndReportsWhatWasTaken) {
  const DatasetParts data = oracle::random_classes(60, 15, 3, 20);
  const Evaluation evaluation =
      evaluate_methods(Dataset(data), {Auto{}, ForwardLda{}}, {}, {}, Lda{}, {}, RunControl());
  ASSERT_EQ(evaluation.chosen.size(), 2U);
  ASSERT_TRUE(evaluation.chosen[0].used);
  EXPECT_FALSE(evaluation.chosen[0].used->method.empty());
  EXPECT_TRUE(evaluation.chosen[0].used->k);
  EXPECT_FALSE(evaluation.chosen[1].used);
  EXPECT_EQ(evaluation.rows.front().method, "auto");
  EXPECT_EQ(evaluation.rows.front().k, 0);
  EXPECT_GT(evaluation.rows.front().features, 0.0);
}

TEST(Automatic, CountsCategoriesWhereTheyAreMovedAsWholes) {
  DatasetParts data = oracle::random_classes(40, 5, 2, 31, 0.8);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 2; j < 5; ++j) data.dense(i, j) = i % 3 == j - 2 ? 1.0 : 0.0;
  }
  FeatureGroups groups{.names = {"a", "b", "stage"}, .members = {{0}, {1}, {2, 3, 4}}, .group_of = {}};
  groups.group_of = {0, 1, 2, 2, 2};
  data.categories = std::make_shared<const FeatureGroups>(groups);
  const Selection found = judged(data);
  ASSERT_TRUE(found.comparison);
  EXPECT_EQ(found.comparison->candidates.size(), 3U);
  for (const Index k : {1, 3}) {
    SelectOptions options{.k = {k, k}};
    const Selection asked = judged(data, options);
    ASSERT_TRUE(asked.comparison);
    EXPECT_EQ(asked.comparison->used.method, "forward-lda") << "the others move single features";
    EXPECT_EQ(asked.sets().back().features.size(), k == 3 ? 5U : asked.sets().back().features.size());
  }
  SelectOptions all{.k = {1, 3}};
  all.ridge = Ridge::by_cross_validation();
  EXPECT_EQ(judged(data, all, ForwardLda{}).sets().size(), 3U);
  EXPECT_THROW((void)judged(data, {.k = {1, 4}}, ForwardLda{}), InvalidArgument);
  all = {};
  all.ridge = Ridge::by_cross_validation();
  EXPECT_FALSE(judged(data, all, ForwardLda{}).sets().empty()) << "as many sizes as categories";
}

TEST(RidgeByCrossValidation, TakesAFractionOfItsGrid) {
  const DatasetParts data = oracle::random_classes(30, 60, 3, 21, 0.6);
  SelectOptions options{.k = {1, 10}};
  options.ridge = Ridge::by_cross_validation();
  const Selection found = judged(data, options, ForwardLda{});
  EXPECT_EQ(found.sets().size(), 10U);
  EXPECT_GT(found.ridge.fraction, 0.0);
  SelectOptions given = options;
  given.ridge = {};
  given.ridge.fraction = found.ridge.fraction;
  const Selection same = judged(data, given, ForwardLda{});
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(found.sets()[i].features, same.sets()[i].features);
}

TEST(RidgeByCrossValidation, SelectRefusesItAndMethodsWithoutARidgePassItOver) {
  const DatasetParts data = oracle::random_classes(40, 6, 2, 22);
  SelectOptions options{.k = {1, 3}};
  options.ridge = Ridge::by_cross_validation();
  EXPECT_THROW((void)select_features(Dataset(data), ForwardLda{}, options, RunControl()), InvalidArgument);
  EXPECT_FALSE(judged(data, options, Method("gloss")).fits().empty());
  EXPECT_EQ(judged(data, options, Method("forward-pca")).sets().size(), 3U);
}

}  // namespace
}  // namespace subspectra::automatic_test
