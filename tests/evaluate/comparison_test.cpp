#include "evaluate/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <subspectra/rankers.hpp>
#include <subspectra/searches.hpp>
#include "evaluate/cross_validation.hpp"
#include "oracle.hpp"

namespace subspectra::comparison_test {
namespace {

TEST(Comparison, TheStandardErrorIsThatOfNadeauAndBengio) {
  // Differences 1, 2, 6 over splits of 90 and 10 rows: variance 7, and (1/3 + 1/9) 7 = 28/9.
  const std::vector<double> differences = {1.0, 2.0, 6.0};
  EXPECT_NEAR(corrected_standard_error(differences, {.train = 90.0, .test = 10.0}), std::sqrt(28.0 / 9.0),
              1e-14);
  EXPECT_TRUE(std::isnan(corrected_standard_error(std::vector<double>{1.0}, {.train = 9.0, .test = 1.0})));
}

TEST(Comparison, RowsSetAFloor) {
  // One wrong where the other is right in 3 of 10 rows, the other way round in 1: mean .2, squares .4.
  const std::vector<double> a = {1, 1, 1, 0, 0, 0, 1, 0, 0, 0}, b = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0};
  EXPECT_NEAR(standard_error_of_rows(a, b, 10.0), std::sqrt((0.4 - 0.04) / 10.0), 1e-15);
  const double never = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(standard_error_of_rows(std::vector<double>{1, never, 0}, std::vector<double>{0, 1, never}, 4.0),
              0.0, 1e-15);
  EXPECT_TRUE(std::isnan(standard_error_of_rows({}, {}, 4.0)));
}

TEST(Comparison, MethodsAreRankedByTheirErrorsAndEveryPairIsCompared) {
  const DatasetParts data = oracle::random_classes(60, 10, 2, 8, 0.5, 2);
  const std::vector<Method> methods = {Ks{}, Fisher{}, ForwardLda{}};
  const Evaluation result = evaluate_methods(data, methods, {.k = {1, 5}}, {}, Lda{},
                                             {.folds = {5}, .repeats = 3, .predictions = true}, RunControl());
  ASSERT_EQ(result.ranking.size(), 3U);
  ASSERT_EQ(result.comparison.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_GE(result.ranking[i].error, result.ranking[i - 1].error);
  EXPECT_EQ(result.ranking[0].behind, 0.0);
  const auto errors_of = [&](const std::string& method) {
    std::vector<double> errors;
    for (const EvaluationFold& fold : result.folds) {
      if (fold.method == method) errors.push_back(fold.error);
    }
    return errors;
  };
  const auto choice_of = [&](const std::string& method) {
    for (const auto& choice : result.chosen) {
      if (choice.method == method) return choice;
    }
    return EvaluationChoice();
  };
  const auto wrong_of = [&](const std::string& method) {
    for (const auto& answers : result.predictions) {
      if (answers.method == method) return answers.wrong;
    }
    return std::vector<double>();
  };
  for (const MethodComparison& pair : result.comparison) {
    const auto first = errors_of(pair.first), second = errors_of(pair.second);
    ASSERT_EQ(first.size(), 15U);
    EXPECT_LE(pair.difference, 0.0);
    EXPECT_NEAR(pair.difference, choice_of(pair.first).error - choice_of(pair.second).error, 1e-15);
    double mean = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < 15; ++i) mean += (first[i] - second[i]) / 15.0;
    for (std::size_t i = 0; i < 15; ++i) squares += std::pow(first[i] - second[i] - mean, 2);
    EXPECT_NEAR(pair.difference, mean, 1e-7);  // the folds have one size
    const double over_folds = std::sqrt(squares / 14.0 * (1.0 / 15.0 + 12.0 / 48.0));
    double rows = 0.0;  // what 60 rows can tell at all, from the answers of each row
    for (Index i = 0; i < 60; ++i)
      rows += std::pow(wrong_of(pair.first)[i] - wrong_of(pair.second)[i] - pair.difference, 2) / 60.0;
    EXPECT_NEAR(pair.stderr_, std::max(over_folds, std::sqrt(rows / 60.0)), 1e-12);
  }
  const Evaluation alone =
      evaluate_methods(data, {Fisher{}}, {.k = {1, 5}}, {}, Lda{}, {.folds = {5}}, RunControl());
  EXPECT_TRUE(alone.ranking.empty());
  EXPECT_TRUE(alone.comparison.empty());
}

}  // namespace
}  // namespace subspectra::comparison_test
