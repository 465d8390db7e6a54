#include "select/select.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <type_traits>
#include <utility>

#include "evaluate/cross_validation.hpp"
#include "model/model.hpp"
#include "oracle.hpp"
#include "reading.hpp"
#include "resample/folds.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "spectral/fitted_discriminants.hpp"

namespace subspectra::component_methods_test {
namespace {

Selection run(const Dataset& data, std::string_view method, const SelectOptions& options = {},
              const OptionTexts& texts = {}) {
  return select_features(data, MethodRegistry::from_texts(method, texts), options, RunControl{});
}

TEST(ComponentMethods, AllTakesEveryFeatureThatVaries) {
  DatasetParts data = oracle::random_classes(40, 6, 2, 1);
  data.dense.col(3).setConstant(2.0);
  const Selection found = run(data, "all", {.k = {2, 2}});
  ASSERT_EQ(found.sets().size(), 1U);
  EXPECT_EQ(found.sets()[0].features, (std::vector<Index>{0, 1, 2, 4, 5}));
  const std::vector<Index>& set = found.sets()[0].features;
  const auto s = oracle::scatter(data.dense(Eigen::all, set), data.labels->codes, 2);
  const Vector values = oracle::generalized_eigenvalues(s.between, s.within);
  EXPECT_NEAR(found.sets()[0].objective, values[0], 1e-9 * values[0]);
  EXPECT_NE(found.warnings.back().find("⟨k⟩ does nothing for method all"), std::string::npos);
  DatasetParts unlabelled = data;
  unlabelled.labels.reset();
  EXPECT_EQ(run(unlabelled, "all").sets()[0].features, set);
}

TEST(ComponentMethods, PcaGivesColumnsThatAreOrthonormal) {
  const DatasetParts data = oracle::random_classes(12, 40, 2, 3);
  const Selection found = run(data, "pca", {.k = {1, 5}});
  EXPECT_TRUE(found.sets().empty());
  EXPECT_TRUE(std::holds_alternative<Components>(found.answer));
  ASSERT_EQ(found.fits().size(), 1U);
  const Matrix b = found.fits()[0].matrix.view();
  ASSERT_EQ(b.cols(), 5);
  EXPECT_LT((b.transpose() * b - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-10);
  const Selection more = run(data, "pca", {.k = {1, 30}});
  EXPECT_EQ(more.fits()[0].matrix.cols(), 11);
  EXPECT_EQ(more.status, Status::kRankLimit);
  EXPECT_THROW((void)run(data, "pca", {.k = {1, 2}, .include = {"x1"}}), InvalidArgument);
}

TEST(ComponentMethods, LeadingColumnsDropWhatTheyDoNotUse) {
  FittedDiscriminants record;
  record.features = {2, 5, 7};
  record.matrix = Matrix{{1.0, 0.0}, {0.0, 3.0}, {-1.0, 0.0}};
  const FittedDiscriminants one = leading_columns(record, 1);
  EXPECT_EQ(one.features, (std::vector<Index>{2, 7}));
  EXPECT_EQ(one.entries, 2);
  EXPECT_EQ(one.matrix.view(), (Matrix(2, 1) << 1.0, -1.0).finished());
  EXPECT_EQ(leading_columns(record, 2).features, record.features);
}

TEST(ComponentMethods, GeneShavingGivesSignedMeans) {
  DatasetParts data = oracle::random_classes(40, 10, 2, 5, 0.0);
  for (Index j = 1; j < 4; ++j)
    data.dense.col(j) = (j == 2 ? -1.0 : 1.0) * data.dense.col(0) * 4.0 + 0.1 * data.dense.col(j);
  const Selection found = run(data, "gene-shaving", {.k = {2, 2}}, {{"permutations", "5"}});
  ASSERT_EQ(found.fits().size(), 1U);
  const FittedDiscriminants first = leading_columns(found.fits()[0], 1);
  EXPECT_EQ(first.features, (std::vector<Index>{1, 2, 3}));
  EXPECT_NEAR(first.matrix.view().cwiseAbs().sum(), 1.0, 1e-12);
  EXPECT_LT(first.matrix(0, 0) * first.matrix(1, 0), 0.0);
  EXPECT_EQ(record_of(found)["permutations"], 5);
  EXPECT_EQ(record_of(found)["sets"].size(), 2U);
  for (const auto& [name, text] : {std::pair("shave", "1"), std::pair("permutations", "0")}) {
    EXPECT_THROW((void)run(data, "gene-shaving", {}, {{name, text}}), InvalidArgument);
  }
}

TEST(ComponentMethods, MaxSurpriseRanksByErrorsOfAThreshold) {
  DatasetParts data = oracle::random_classes(40, 30, 2, 7, 0.0);
  for (Index i = 0; i < 40; ++i) data.dense(i, 4) += 50.0 * data.labels->codes[static_cast<std::size_t>(i)];
  const Selection found = run(data, "max-surprise", {.k = {1, 3}});
  EXPECT_EQ(found.ranking.front(), 4);
  EXPECT_NEAR(found.weights[4], std::log10(std::exp(std::lgamma(41.0) - 2.0 * std::lgamma(21.0)) / 2.0),
              1e-9);
  EXPECT_GE(oracle::as_vector(found.weights).minCoeff(), 0.0);
  EXPECT_EQ(record_of(found)["informative"], 1);
  EXPECT_EQ(record_of(found)["informative_errors"], 0);
  EXPECT_FALSE(found.partition.has_value());
  EXPECT_FALSE(record_of(found).contains("restarts"));  // nothing was searched
  EXPECT_THROW((void)run(oracle::random_classes(30, 4, 3, 1), "max-surprise"), BadInput);
}

TEST(ComponentMethods, MaxSurpriseWithoutLabelsFindsTheClassesAndRanksByThem) {
  DatasetParts data = oracle::random_classes(40, 30, 2, 7, 0.0);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 4; j < 10; ++j) data.dense(i, j) += 6.0 * data.labels->codes[static_cast<std::size_t>(i)];
  }
  data.dense.col(20).setConstant(2.0);
  const Selection told = run(data, "max-surprise", {.k = {1, 6}});
  const std::vector<int> codes = data.labels->codes;
  data.labels.reset();
  const Selection found = run(data, "max-surprise", {.k = {1, 6}, .exclude = {"x5"}},
                              {{"restarts", "4"}, {"smallest_class", "0.25"}});
  EXPECT_EQ(found.status, Status::kHeuristic);
  ASSERT_TRUE(found.partition.has_value());
  EXPECT_EQ(found.partition->labels, codes);
  EXPECT_EQ(found.weights, told.weights);
  EXPECT_EQ(found.partition->starts.size(), 4U);
  EXPECT_GT(found.partition->surprise, 20.0);
  EXPECT_EQ(record_of(found)["restarts"], 4);
  EXPECT_EQ(record_of(found)["smallest_class"], 0.25);
  // Judged as every set without labels is: by the variance of its first component.
  EXPECT_EQ(found.at(3).features, (std::vector<Index>{4, 6, 7}));
  const Matrix x = data.dense(Eigen::all, found.at(3).features);
  const Matrix centred = x.rowwise() - x.colwise().mean();
  EXPECT_NEAR(found.at(3).objective,
              Eigen::SelfAdjointEigenSolver<Matrix>(centred.transpose() * centred / 40.0).eigenvalues()[2],
              1e-9 * found.at(3).objective);
  for (const auto& [name, text] :
       {std::pair("restarts", "0"), std::pair("patience", "0"), std::pair("smallest_class", "0.6")})
    EXPECT_THROW((void)run(data, "max-surprise", {}, {{name, text}}), InvalidArgument);
}

TEST(ComponentMethods, MaxSurpriseOfNoiseSaysThatItIsACutOfOneFeature) {
  DatasetParts data = oracle::random_classes(40, 5, 2, 10, 0.0);
  data.labels.reset();
  const Selection found = run(data, "max-surprise", {.k = {1, 2}});
  EXPECT_EQ(found.partition->informative, 1);
  ASSERT_FALSE(found.warnings.empty());
  const std::string wanted = "a cut of a single feature (x" + std::to_string(found.ranking.front()) + ")";
  EXPECT_NE(found.warnings.back().find(wanted), std::string::npos) << found.warnings.back();
}

TEST(ComponentMethods, MaxSurpriseStoppedAtOnceHasAPartitionAndSaysSo) {
  DatasetParts data = oracle::random_classes(30, 10, 2, 8);
  data.labels.reset();
  std::stop_source stop;
  stop.request_stop();
  const Selection found =
      select_features(data, Method("max-surprise"), {.k = {1, 2}}, RunControl(stop.get_token(), kInfinity));
  EXPECT_EQ(found.status, Status::kInterrupted);
  EXPECT_EQ(found.partition->labels.size(), 30U);
  EXPECT_EQ(found.ranking.size(), 10U);
}

// A loop over what a temporary gave out as a reference reads freed memory before C++23.
static_assert(std::is_same_v<decltype(std::declval<Selection>().sets()), std::vector<PathEntry>>);
static_assert(std::is_same_v<decltype(std::declval<Selection>().fits()), std::vector<FittedDiscriminants>>);
static_assert(std::is_same_v<decltype(std::declval<Selection>().at(1)), PathEntry>);
static_assert(std::is_same_v<decltype(std::declval<Selection&>().sets()), std::vector<PathEntry>&>);

TEST(ComponentMethods, TheAnswerOfATemporaryCanBeLoopedOver) {
  const DatasetParts data = oracle::random_classes(40, 6, 2, 9);
  const Selection kept = run(data, "pearson", {.k = {1, 4}});
  std::vector<std::vector<Index>> sets;
  for (const auto& set : run(data, "pearson", {.k = {1, 4}}).sets()) sets.push_back(set.features);
  ASSERT_EQ(sets.size(), 4U);
  for (std::size_t i = 0; i < sets.size(); ++i) EXPECT_EQ(sets[i], kept.sets()[i].features);
  Index features = 0;
  for (const Index j : run(data, "pearson", {.k = {1, 4}}).at(3).features) features += j >= 0 ? 1 : 0;
  EXPECT_EQ(features, 3);
  Index fits = 0;
  for (const auto& fit : run(data, "gloss", {.k = {1, 4}}).fits()) fits += fit.lambda > 0.0 ? 1 : 0;
  EXPECT_EQ(fits, static_cast<Index>(run(data, "gloss", {.k = {1, 4}}).fits().size()));
  EXPECT_GT(fits, 0);
}

Evaluation evaluate(const Dataset& data, const std::vector<std::string>& names,
                    const SelectOptions& selection, const Classifier& model,
                    const EvaluateOptions& options = {}) {
  std::vector<Method> methods;
  for (const auto& name : names) methods.emplace_back(name);
  return evaluate_methods(data, methods, selection, {}, model, options, RunControl{});
}

TEST(ComponentMethods, AllComponentsTogetherAreAllFeatures) {
  // LDA does not see a rotation, so that the p-th principal component completes what `all` has.
  const DatasetParts data = oracle::random_classes(90, 5, 3, 9);
  const Evaluation found = evaluate(data, {"all", "pca"}, {.k = {5, 5}}, Lda{.shrinkage = 0.0});
  ASSERT_EQ(found.rows.size(), 2U);
  EXPECT_EQ(found.rows[0].k, 0);
  EXPECT_EQ(found.rows[0].features, 5.0);
  EXPECT_FALSE(found.rows[0].lambda.has_value());
  EXPECT_EQ(found.rows[1].k, 5);
  EXPECT_EQ(found.rows[0].error, found.rows[1].error);
  EXPECT_NEAR(found.rows[0].log_loss, found.rows[1].log_loss, 1e-9);
  const Evaluation optimistic = evaluate(data, {"pca"}, {.k = {1, 3}}, {}, {.select_on = SelectOn::kAll});
  EXPECT_EQ(optimistic.rows.size(), 3U);
}

TEST(SvmEvaluation, IsThePlainLoopOverFoldsAndDoesNotDependOnThreads) {
  const DatasetParts data = oracle::random_classes(60, 8, 3, 11);
  const Classifier model = Svm{};
  SelectOptions selection{.k = {1, 4}};
  selection.threads = 1;
  const Evaluation one = evaluate(data, {"fisher"}, selection, model);
  selection.threads = 4;
  const Evaluation four = evaluate(data, {"fisher"}, selection, model);
  ASSERT_EQ(one.rows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(one.rows[i].error, four.rows[i].error);
    EXPECT_EQ(one.rows[i].log_loss, four.rows[i].log_loss);
  }
  // Oracle: fit_model and predict_probabilities on each fold.
  double wrong = 0.0, loss = 0.0;
  const EvaluateOptions options;
  for (const auto& test : make_splits(*data.labels, {}, "random", splits_of(options), Random(0, 0))) {
    const DatasetParts training = Dataset(data).with_rows(complement(test, 60)).parts(),
                       held_out = Dataset(data).with_rows(test).parts();
    const Selection chosen = run(training, "fisher", {.k = {4, 4}});
    const TrainedModel trained = fit_model(training, {}, "fisher", chosen.sets()[0].features, 0.0, model);
    const Matrix p = predict_probabilities(trained, held_out);
    for (Index i = 0; i < p.rows(); ++i) {
      Index predicted = 0;
      p.row(i).maxCoeff(&predicted);
      const int truth = held_out.labels->codes[static_cast<std::size_t>(i)];
      wrong += predicted == truth ? 0.0 : 1.0;
      loss -= std::log(p(i, truth));
    }
  }
  EXPECT_EQ(one.rows[3].error, wrong / 60.0);
  EXPECT_NEAR(one.rows[3].log_loss, loss / 60.0, 1e-12);
  EXPECT_EQ(one.options.classifier.name(), "svm");
}

TEST(SvmEvaluation, LeaveOneOutWithAClassOfOneRow) {
  DatasetParts data = oracle::random_classes(21, 4, 2, 13);
  data.labels->classes = {"a", "b", "c"};
  data.labels->codes[20] = 2;
  const Evaluation found = evaluate(data, {"fisher"}, {.k = {2, 2}}, Svm{.C = 1.0}, {.folds = {0}});
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_TRUE(std::isfinite(found.rows[0].log_loss));
  EXPECT_GE(found.rows[0].error, 1.0 / 21.0);  // the one that was never seen
}

}  // namespace
}  // namespace subspectra::component_methods_test
