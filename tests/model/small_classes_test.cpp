/// What fit and evaluate do by themselves where a class has few rows, and where a penalty leaves no feature.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include <subspectra/subspectra.hpp>

#include "select/registry.hpp"

namespace subspectra::small_classes_test {
namespace {

/// Rows by class; column 0 tells the classes apart.
Dataset table(const std::vector<int>& rows_of_class, Index features = 6, double shift = 1.5) {
  static std::vector<Eigen::MatrixXd> kept;  // the tables are views
  static std::vector<std::vector<int>> labels;
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal;
  std::vector<int> y;
  for (std::size_t c = 0; c < rows_of_class.size(); ++c)
    y.insert(y.end(), rows_of_class[c], static_cast<int>(c));
  Eigen::MatrixXd x(static_cast<Index>(y.size()), features);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < features; ++j)
      x(i, j) = normal(generator) + (j == 0 ? shift * y[static_cast<std::size_t>(i)] : 0.0);
  }
  kept.push_back(std::move(x));
  labels.push_back(std::move(y));
  return {kept.back(), labels.back()};
}

bool has(const std::vector<std::string>& texts, std::string_view words) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(SmallClasses, FitTakesAsManyFoldsAsTheSmallestClassHasRows) {
  const Dataset data = table({20, 20, 3});
  const Model model = fit(data, Gslda{}, {.k = {1, 4}});
  EXPECT_NE(model.to_json().find("\"cv\": 3"), std::string::npos) << model.to_json();
  const Evaluation same = evaluate(data, Gslda{}, {.folds = 3, .k = {1, 4}});
  EXPECT_EQ(static_cast<Index>(model.features().size()), *same.k_one_standard_error());
}

TEST(SmallClasses, FitLeavesOneOutWhereAClassHasOneRow) {
  const Model model = fit(table({12, 12, 1}), Gslda{}, {.k = {1, 3}});
  EXPECT_NE(model.to_json().find("\"cv\": \"loo\""), std::string::npos);
  // In a large table that would take a training for every row.
  const Model large = fit(table({200, 200, 1}), Gslda{}, {.k = {1, 3}});
  EXPECT_NE(large.to_json().find("\"cv\": 5"), std::string::npos);
}

TEST(SmallClasses, EvaluateDoesSoWhereTheFoldsAreNotGivenAndSaysSo) {
  const Dataset data = table({20, 20, 3});
  const Evaluation found = evaluate(data, Gslda{}, {.k = 2});
  EXPECT_EQ(found.folds_run, 3);
  EXPECT_TRUE(has(found.warnings, "class '2' has 3 rows, so that there are 3 folds in place of 5"));
  EXPECT_NE(
      refusal([&] { (void)evaluate(data, Gslda{}, {.folds = 5, .k = 2}); }).find("fewer than the 5 folds"),
      std::string::npos);
  const Evaluation alone = evaluate(table({12, 12, 1}), Gslda{}, {.k = 2});
  EXPECT_EQ(alone.folds_run, 25);
  EXPECT_TRUE(has(alone.warnings, "every row is held out by itself in place of 5 folds"));
}

TEST(SmallClasses, OneRowOfEveryClassIsRefusedByFitAsByEvaluate) {
  const Dataset data = table(std::vector<int>(40, 1));
  for (const KRange& k : {KRange(2), KRange()}) {
    EXPECT_NE(refusal([&] { (void)fit(data, Gslda{}, {.k = k}); }).find("one row of every class"),
              std::string::npos);
    EXPECT_NE(refusal([&] { (void)evaluate(data, Gslda{}, {.k = k}); }).find("one row of every class"),
              std::string::npos);
  }
}

// By hand: without a feature the posteriors are the priors, of whatever row.
TEST(NoFeature, EveryPenalizedMethodPredictsThePriorsAndSaysSo) {
  const Dataset data = table({30, 10, 20});
  for (const char* name :
       {"gloss", "sda", "rvm-row", "rvm-entry", "plda", "jeffreys-row", "jeffreys-entry"}) {
    for (const Classifier& classifier : {Classifier(Lda{}), Classifier(Svm{}), Classifier(Knn{})}) {
      SCOPED_TRACE(fmt::format("{} {}", name, classifier.name()));
      const Model model =
          fit(data, MethodRegistry::from_texts(name, {{"lambda", "1e9"}}), {.classifier = classifier});
      EXPECT_TRUE(model.features().empty());
      EXPECT_TRUE(has(model.warnings(), "the model has no feature"));
      for (const Model& one : {model, Model::from_json(model.to_json())}) {
        const DenseMatrix p = one.predict_proba(data);
        ASSERT_EQ(p.rows(), 60);
        for (Index i = 0; i < p.rows(); ++i) {
          EXPECT_NEAR(p(i, 0), 0.5, 1e-12);
          EXPECT_NEAR(p(i, 1), 1.0 / 6.0, 1e-12);
          EXPECT_NEAR(p(i, 2), 1.0 / 3.0, 1e-12);
        }
      }
    }
  }
  const Model uniform = fit(data, MethodRegistry::from_texts("gloss", {{"lambda", "1e9"}}),
                            {.classifier = Knn{.prior = Prior::kUniform}});
  EXPECT_NEAR(uniform.predict_proba(data)(0, 1), 1.0 / 3.0, 1e-12);
}

TEST(NoFeature, WhatCrossValidationChoosesOnNoiseIsAModel) {
  const Dataset data = table({15, 15}, 5, 0.0);
  for (const char* lambda : {"cv", "cv-min"}) {
    const Model model = fit(data, MethodRegistry::from_texts("gloss", {{"lambda", lambda}}));
    EXPECT_EQ(model.predict(data).size(), 30U);
  }
  EXPECT_EQ(fit(data, Gloss{}).predict(data).size(), 30U);
}

}  // namespace
}  // namespace subspectra::small_classes_test
