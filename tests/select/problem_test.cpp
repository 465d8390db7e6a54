#include "select/problem.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <subspectra/qalpha.hpp>
#include <subspectra/rankers.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/sparse_pca.hpp>
#include "oracle.hpp"
#include "select/select.hpp"

namespace subspectra::problem_test {
namespace {

/// As cross-validation runs a method on the rows of a fold.
SelectOptions in_a_fold() {
  SelectOptions options{.k = {1, 4}};
  options.certify = false;
  options.ridge_needed = false;
  options.threads = 1;
  return options;
}

/// "constant ridge*2": what was computed, and how often where it was more than once.
std::string computed(const RowStatistics& rows) {
  std::string text;
  const auto add = [&](std::string_view name, int count) {
    if (count == 0) return;
    text += fmt::format("{}{}", text.empty() ? "" : " ", name);
    if (count > 1) text += fmt::format("*{}", count);
  };
  const RowStatistics::Counts& counts = rows.counts();
  add("constant", counts.constant);
  add("class_moments", counts.class_moments);
  add("within", counts.within);
  add("ridge", counts.ridge);
  add("lda_pencil", counts.lda_pencil);
  add("pca_pencil", counts.pca_pencil);
  add("scoring", counts.scoring);
  return text;
}

/// What these methods, one after another on the same rows, make them compute.
std::string computed_for(const Dataset& data, const std::vector<Method>& methods,
                         const SelectOptions& options = in_a_fold()) {
  const RowStatistics rows(data, 1, 0);
  for (const Method& method : methods) EXPECT_TRUE(run_method(rows, method, options, {}).has_answer());
  return computed(rows);
}

TEST(RowStatistics, ComputeNothingThatAMethodDoesNotAskFor) {
  const Dataset data = oracle::random_classes(60, 8, 2, 3);
  EXPECT_EQ(computed_for(data, {}), "");
  EXPECT_EQ(computed_for(data, {Gspca{}}), "constant pca_pencil");
  EXPECT_EQ(computed_for(data, {QAlpha{}}), "constant pca_pencil");
  EXPECT_EQ(computed_for(data, {Pca{}}), "constant");
  EXPECT_EQ(computed_for(data, {Gloss{.lambdas = 5}}), "constant scoring");
  EXPECT_EQ(computed_for(data, {Gslda{}}), "constant class_moments within ridge lda_pencil");
  EXPECT_EQ(computed_for(data, {Fisher{}}), "constant class_moments within ridge lda_pencil");
}

TEST(RowStatistics, ComputeOnceWhatSeveralMethodsAskFor) {
  const Dataset data = oracle::random_classes(60, 8, 2, 3);
  EXPECT_EQ(computed_for(data, {Gslda{}, Fisher{}}), "constant class_moments within ridge lda_pencil");
  EXPECT_EQ(computed_for(data, {Fisher{}, Snr{}, Eslda{}}), "constant class_moments within ridge lda_pencil");
  EXPECT_EQ(computed_for(data, {Gloss{.lambdas = 5}, Sda{.lambdas = 5}}), "constant scoring");
  EXPECT_EQ(computed_for(data, {Gspca{}, ForwardPca{}, QAlpha{}}), "constant pca_pencil");
}

TEST(RowStatistics, TheAnswersAreThoseThatEveryMethodGivesAlone) {
  const Dataset data = oracle::random_classes(40, 60, 3, 5);  // more columns than rows: there is a ridge
  const SelectOptions options = in_a_fold();
  const RowStatistics shared(data, 1, 0);
  for (const Method& method : std::vector<Method>{Fisher{}, Gslda{}, Gloss{.lambdas = 5}, Gspca{}}) {
    SCOPED_TRACE(method.name());
    const Selection together = run_method(shared, method, options, {});
    const Selection alone = select_features(data, method, options, {});
    EXPECT_EQ(together.ridge, alone.ridge);
    EXPECT_EQ(together.weights, alone.weights);
    EXPECT_EQ(together.ranking, alone.ranking);
    ASSERT_EQ(together.sets().size(), alone.sets().size());
    for (std::size_t i = 0; i < alone.sets().size(); ++i) {
      EXPECT_EQ(together.sets()[i].features, alone.sets()[i].features);
      EXPECT_EQ(together.sets()[i].objective, alone.sets()[i].objective);
    }
  }
}

TEST(RowStatistics, SetsAloneOfAWideTableNeedNoRidge) {
  const Dataset data = oracle::random_classes(40, 60, 3, 5);
  SelectOptions options = in_a_fold();
  const Selection whole = select_features(data, Fisher{}, options, {});
  options.sets_alone = true;
  EXPECT_EQ(computed_for(data, {Fisher{}, All{}}, options), "constant class_moments");
  EXPECT_EQ(computed_for(data, {Gslda{}}, options), "constant class_moments within ridge lda_pencil");
  const Selection alone = select_features(data, Fisher{}, options, {});
  EXPECT_TRUE(alone.ridge_open);
  ASSERT_EQ(alone.sets().size(), whole.sets().size());
  for (std::size_t i = 0; i < whole.sets().size(); ++i)
    EXPECT_EQ(alone.sets()[i].features, whole.sets()[i].features);
  const RowStatistics rows(data, 1, 0);
  EXPECT_EQ(open_ridge(rows, options), whole.ridge);
  EXPECT_EQ(run_method(rows, Gslda{}, options, {}).ridge, whole.ridge);
  options.ridge = {0.5};  // one that is told costs nothing
  EXPECT_FALSE(select_features(data, Fisher{}, options, {}).ridge_open);
}

TEST(RowStatistics, OtherCandidatesAndRidgesAreProblemsOfTheirOwn) {
  const Dataset data = oracle::random_classes(60, 8, 2, 3);
  const RowStatistics rows(data, 1, 0);
  SelectOptions options = in_a_fold();
  const auto run = [&](const Method& method) {
    EXPECT_TRUE(run_method(rows, method, options, {}).has_answer());
  };
  run(Gslda{});
  options.exclude = {"x1"};  // nothing needs a ridge here, so that the pencil stays the same
  run(Gslda{});
  EXPECT_EQ(computed(rows), "constant class_moments within ridge*2 lda_pencil");
  options.ridge = {0.5};
  run(Gslda{});
  EXPECT_EQ(computed(rows), "constant class_moments within ridge*3 lda_pencil*2");
  options.criterion = Criterion::kWilks;
  run(Gslda{});
  EXPECT_EQ(computed(rows), "constant class_moments within ridge*3 lda_pencil*2");
}

}  // namespace
}  // namespace subspectra::problem_test
