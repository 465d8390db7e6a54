/// The public calls as a C++ program makes them: what they refuse, in whose words, and what a stopped one
/// says.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <subspectra/subspectra.hpp>
#include "model/fit.hpp"

namespace subspectra {
namespace public_calls {

const double kNaN = std::nan("");

/// Two classes; every fourth feature tells them apart.
struct Arrays {
  Eigen::MatrixXd x;
  std::vector<int> y;
};

Arrays arrays(Index rows = 40, Index features = 8, unsigned seed = 1) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Arrays made{Eigen::MatrixXd(rows, features), std::vector<int>(static_cast<std::size_t>(rows))};
  for (Index i = 0; i < rows; ++i) {
    made.y[static_cast<std::size_t>(i)] = static_cast<int>(i % 2);
    for (Index j = 0; j < features; ++j)
      made.x(i, j) = normal(generator) + (j % 4 == 3 ? static_cast<double>(i % 2) : 0.0);
  }
  return made;
}

/// What `call` throws must be an InvalidArgument about `field`; its sentence is handed back.
template <class Call>
std::string refused(std::string_view field, Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field, field) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InvalidArgument: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << field;
  return {};
}

bool has(const std::vector<std::string>& texts, std::string_view words) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

class PublicCalls : public ::testing::Test {
 protected:
  Arrays given = arrays();
  Dataset data{given.x, given.y};
};

TEST_F(PublicCalls, AFitThatIsStoppedSaysSoAndHasTheSize) {
  const RunControl at_once({}, 0.0);
  for (const MethodTraits& one : method_list()) {
    if (one.name == "pca" || one.name == "gene-shaving") continue;
    SCOPED_TRACE(one.name);
    const Model model = fit(data, Method(one.name), {.k = 3}, at_once);
    EXPECT_EQ(model.status(), Status::kTimeLimit);
    EXPECT_FALSE(model.features().empty());
    EXPECT_EQ(model.predict(data).size(), 40U);
    EXPECT_EQ(Model::from_json(model.to_json()).status(), Status::kTimeLimit);
  }
  std::stop_source stop;
  stop.request_stop();
  const Model model = fit(data, Gslda{}, {.k = {1, 4}}, RunControl(stop.get_token(), 100.0));
  EXPECT_EQ(model.status(), Status::kInterrupted);
  EXPECT_TRUE(has(model.warnings(), "before the first fold of the cross-validation ended"));
  EXPECT_EQ(fit(data, Gslda{}, {.k = 3}).status(), Status::kHeuristic);
}

TEST_F(PublicCalls, AModelHasTheCrossValidationThatChoseItsSize) {
  const Model model = fit(data, Fisher{}, {.k = {1, 4}});
  ASSERT_NE(model.evaluation(), nullptr);
  const EvaluationChoice& choice = model.evaluation()->chosen.at(0);
  EXPECT_EQ(static_cast<std::size_t>(choice.k_one_standard_error), model.features().size());
  EXPECT_TRUE(choice.judged());
  const Evaluation same = evaluate(data, Fisher{}, {.k = {1, 4}});
  EXPECT_EQ(same.chosen.at(0).k_one_standard_error, choice.k_one_standard_error);
  EXPECT_EQ(same.chosen.at(0).error, choice.error);
  EXPECT_EQ(fit(data, Fisher{}, {.k = 3}).evaluation(), nullptr);
  EXPECT_EQ(Model::from_json(model.to_json()).evaluation(), nullptr);
}

TEST_F(PublicCalls, AFitByFewerThanHalfOfItsFoldsSaysThatTheyAreTooFew) {
  std::stop_source stop;
  int judged = 0;
  const RunControl control(
      stop.get_token(), kInfinity,
      [&](const Progress&) {
        if (++judged == 2) stop.request_stop();
      },
      0.0);
  const FitResult found = fit_features(data, Fisher{}, {.k = {1, 4}, .threads = 1}, {}, Lda{}, control);
  ASSERT_TRUE(found.chosen.evaluation);
  EXPECT_EQ(found.chosen.evaluation->folds_run, 2);
  EXPECT_TRUE(found.chosen.evaluation->chosen.empty());
  EXPECT_EQ(found.k, found.chosen.choice.k_one_standard_error);
  EXPECT_TRUE(has({found.note}, "only 2 of 5 folds were run (interrupted), too few to go by")) << found.note;
  EXPECT_EQ(found.status, Status::kInterrupted);
  EXPECT_FALSE(found.model.features.empty());
}

TEST(PublicFit, AStoppedMethodWithoutASetIsReplacedByAForwardPassAndAWarning) {
  const Arrays given = arrays(60, 120);
  const Dataset data(given.x, given.y);
  const Model model = fit(data, Gloss{}, {.k = 5}, RunControl({}, 0.0));
  EXPECT_EQ(model.selection().method, "forward-lda");
  EXPECT_TRUE(has(model.warnings(), "gloss was stopped (time_limit) before it had a set of the size"));
  EXPECT_EQ(model.features(), fit(data, ForwardLda{}, {.k = 5}).features());
  // One that ranks, or has a set after its first step, keeps it.
  const Model started = fit(data, Dspca{}, {.k = 5}, RunControl({}, 0.0));
  EXPECT_EQ(started.selection().method, "dspca");
  EXPECT_EQ(started.features().size(), 5U);
  EXPECT_TRUE(
      has(started.warnings(), "dspca was stopped (time_limit): the features are those it had found best"));
}

TEST_F(PublicCalls, SizesThatCannotBeAreRefusedAndNothingMeansAll) {
  for (const KRange& k : {KRange(0), KRange(-3), KRange(3, 0), KRange(-5, -3), KRange(0, 3), KRange(3, 2),
                          KRange(9), KRange(1, 9)}) {
    EXPECT_TRUE(k.given());
    const std::string sentence = refused("k", [&] { (void)select(data, Gslda{}, {.k = k}); });
    EXPECT_NE(sentence.find("8 features can be chosen"), std::string::npos) << sentence;
    refused("k", [&] { (void)fit(data, Gslda{}, {.k = k}); });
    refused("k", [&] { (void)evaluate(data, Gslda{}, {.k = k}); });
  }
  EXPECT_NE(refused("k",
                    [&] {
                      (void)select(data, Gslda{}, {.k = {3, 2}});
                    })
                .find("k = {3, 2}"),
            std::string::npos);
  EXPECT_FALSE(KRange().given());
  EXPECT_FALSE(KRange(std::optional<Index>()).given());
  EXPECT_EQ(KRange(std::optional<Index>(4)), KRange(4));
  EXPECT_EQ(select(data, Gslda{}, {}).sets().size(), 8U);
}

TEST_F(PublicCalls, TheSizeOfAMethodWithoutOneIsNothingWhichFitTakes) {
  const Evaluation all = evaluate(data, {All{}, Gslda{}}, {.k = {1, 3}});
  EXPECT_FALSE(all.k_best());
  EXPECT_FALSE(all.k_one_standard_error());
  EXPECT_TRUE(all.k_best("gslda"));
  EXPECT_EQ(fit(data, All{}, {.k = all.k_best()}).features().size(), 8U);
  const Gloss lasso{.lambda = LambdaChoice::Kind::kCv};
  const Evaluation cv = evaluate(data, lasso);
  EXPECT_FALSE(fit(data, lasso, {.k = cv.k_one_standard_error()}).features().empty());
}

TEST_F(PublicCalls, TwoMethodsOfOneNameAreChosenForByTheirOwnRows) {
  const Evaluation both = evaluate(data, {Fisher{}, Gslda{}, Gslda{.swaps = 5}}, {.k = {1, 4}});
  const Evaluation second = evaluate(data, Gslda{.swaps = 5}, {.k = {1, 4}});
  ASSERT_EQ(both.chosen.size(), 3U);
  EXPECT_EQ(both.chosen[2].k_best, second.chosen[0].k_best);
  EXPECT_EQ(both.rows.size(), 12U);
}

TEST_F(PublicCalls, AFoldCountIsTwoOrMoreOrLeaveOneOut) {
  for (const Index folds : {-2, -1, 1}) {
    const std::string sentence =
        refused("folds", [&] { (void)evaluate(data, Fisher{}, {.folds = folds, .k = 2}); });
    EXPECT_NE(sentence.find("kLeaveOneOut"), std::string::npos) << sentence;
  }
  refused("repeats", [&] { (void)evaluate(data, Fisher{}, {.repeats = 0}); });
  refused("test_fraction", [&] { (void)evaluate(data, Fisher{}, {.test_fraction = kNaN}); });
  const std::string many = refused("y", [&] { (void)evaluate(data, Fisher{}, {.folds = 30}); });
  EXPECT_NE(many.find("folds = kLeaveOneOut"), std::string::npos) << many;
}

TEST_F(PublicCalls, OptionsThatNoTextCouldSayAreRefused) {
  const auto select_refuses = [&](std::string_view field, const Method& method) {
    const std::string sentence = refused(field, [&] { (void)select(data, method, {.k = {1, 3}}); });
    EXPECT_TRUE(sentence.starts_with(field)) << sentence;
  };
  for (const double wrong : {-1.0, 0.0, kNaN, kInfinity}) {
    select_refuses("lambda", Gloss{.lambda = wrong});
    select_refuses("lambda", Sda{.lambda = wrong});
    select_refuses("lambda", Spca{.lambda = wrong});
    select_refuses("lambda", Sfd{.lambda = wrong});
    select_refuses("lambda", RvmRow{.lambda = wrong});
    select_refuses("lambda", RvmEntry{.lambda = wrong});
    select_refuses("lambda", JeffreysRow{.lambda = wrong});
  }
  for (const double wrong : {-3.0, 7.0, kNaN})
    select_refuses("lambda", Gloss{.lambda = {LambdaChoice::Kind::kAuto, wrong}});
  select_refuses("lambda", Gloss{.lambda = static_cast<LambdaChoice::Kind>(9)});
  select_refuses("C", Sfd{.C = kNaN});
  select_refuses("C", Sfd{.C = -1.0});
  select_refuses("kernel", QAlphaOfKernel{.kernel = {.kind = QAlphaKernel::Kind::kRbf, .sigma = -1.0}});
  select_refuses("lengthscale", GpArd{.lengthscale = {{-1.0}}});
  select_refuses("l2", Spca{.l2 = {false, kNaN}});
  select_refuses("l2", Spca{.l2 = {false, -1.0}});
  select_refuses("threshold", St{.threshold = static_cast<ThresholdOn>(9)});
  select_refuses("gap", Eslda{.gap = kNaN});

  for (const double wrong : {-1.0, kNaN, kInfinity})
    refused("ridge", [&] { (void)select(data, Gslda{}, {.k = 2, .ridge = {wrong}}); });
  refused("criterion",
          [&] { (void)select(data, Gslda{}, {.k = 2, .criterion = static_cast<Criterion>(7)}); });
  refused("missing", [&] {
    (void)select(data, Gslda{}, {.k = 2, .prepare = {.missing = static_cast<MissingPolicy>(7)}});
  });

  const auto fit_refuses = [&](std::string_view field, const Classifier& classifier) {
    refused(field, [&] { (void)fit(data, Fisher{}, {.k = 3, .classifier = classifier}); });
  };
  fit_refuses("components", Lda{.components = -1});
  fit_refuses("svm_degree", Svm{.C = 1.0, .svm_degree = 3});
  fit_refuses("svm_gamma", Svm{.C = 1.0, .svm_gamma = 2.0});
  fit_refuses("lengthscale", GpLaplace{.lengthscale = {{-1.0}}});
  fit_refuses("signal", GpEp{.signal = kNaN});
  EXPECT_NO_THROW(
      (void)fit(data, Fisher{},
                {.k = 3, .classifier = Svm{.C = 1.0, .svm_kernel = SvmKernel::kPoly, .svm_degree = 3}}));
  EXPECT_TRUE(has(fit(data, Fisher{}, {.k = 3, .classifier = Knn{.neighbors = 1000}}).warnings(),
                  "neighbors = 1000 is more than the 40 rows"));

  refused("time_limit_s", [] { (void)RunControl({}, -1.0); });
  refused("time_limit_s", [] { (void)RunControl({}, kNaN); });
}

TEST_F(PublicCalls, EveryMethodAndClassifierAcceptsItsDefaults) {
  for (const MethodTraits& one : method_list()) {
    EXPECT_NO_THROW(Method(one.name).validate()) << one.name;
    EXPECT_NO_THROW(Method::from_json(one.name, Method(one.name).options_json()).validate()) << one.name;
  }
  const std::string sentence = refused("swap", [] { (void)Method::from_json("gslda", R"({"swap": 1})"); });
  EXPECT_NE(sentence.find("did you mean swaps?"), std::string::npos) << sentence;
}

TEST_F(PublicCalls, ArraysAreRefusedAsArgumentsInWordsThatAProgramHas) {
  const auto select_refuses = [&](std::string_view field, const Dataset& table, const SelectOptions& options,
                                  std::string_view words) {
    const std::string sentence = refused(field, [&] { (void)select(table, Gslda{}, options); });
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  };
  const Dataset unlabelled(given.x);
  select_refuses("y", unlabelled, {}, "Dataset(X, y)");
  refused("y", [&] { (void)fit(unlabelled, Gslda{}, {.k = 2}); });
  refused("y", [&] { (void)evaluate(unlabelled, Gslda{}); });
  select_refuses("y", Dataset(given.x, std::vector<int>(40, 1)), {}, "one class only");
  std::vector<std::string> some(40, "a");
  for (std::size_t i = 0; i < 20; ++i) some[2 * i] = i == 3 ? "" : "b";
  select_refuses("y", Dataset(given.x, some), {.k = 2}, "prepare.missing = MissingPolicy::kDrop");
  select_refuses("include", data, {.include = {"x77"}}, "no feature has that name");
  select_refuses("exclude", data, {.exclude = data.feature_names()}, "names every feature");
  select_refuses("x", Dataset(Eigen::MatrixXd(Eigen::MatrixXd::Constant(40, 8, 2.0)), given.y), {}, "varies");
  select_refuses("weights", Dataset(given.x, given.y, {.weights = std::vector<double>(40, 0.0)}), {},
                 "0 for every row");
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 4}, {10, 0}, {0, 0}}) {
    const std::vector<int> labels(static_cast<std::size_t>(rows), 1);
    select_refuses("x", Dataset(Eigen::MatrixXd(rows, columns), labels), {}, "at least one of each");
  }
  select_refuses("x", Dataset(), {}, "0 rows and 0 columns");
  EXPECT_EQ(Dataset(given.x, given.y, {.source = ""}).source(), "data");

  const Model model = fit(data, Gslda{}, {.k = 2});
  refused("x", [&] { (void)model.predict(Eigen::MatrixXd(given.x.leftCols(3))); });
  Eigen::MatrixXd gap = given.x;
  gap(5, model.features().front()) = kNaN;
  const std::string sentence = refused("x", [&] { (void)model.predict(gap); });
  EXPECT_NE(sentence.find("row 5"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("drop"), std::string::npos) << sentence;

  const Selection found = select(data, Gslda{}, {.k = 2});
  refused("data", [&] { (void)found.to_json(Dataset(Eigen::MatrixXd(given.x.leftCols(3)))); });
}

TEST_F(PublicCalls, WhatIsMovedFromCanStillBeUsed) {
  Method method = Gslda{.swaps = 1};
  const Method taken = std::move(method);
  EXPECT_EQ(method.as<Gslda>().swaps, 1);  // NOLINT(bugprone-use-after-move): what is tested
  Classifier classifier = Knn{.neighbors = 3};
  const Classifier given_away = std::move(classifier);
  EXPECT_EQ(classifier.as<Knn>().neighbors, 3);  // NOLINT(bugprone-use-after-move)
  Model model = fit(data, method, {.k = 2});
  const Model other = std::move(model);
  EXPECT_EQ(model.features(), other.features());  // NOLINT(bugprone-use-after-move)
  const Eigen::MatrixXd gram = given.x.transpose() * given.x;
  Covariance covariance(gram);
  const Covariance kept = std::move(covariance);
  EXPECT_EQ(covariance.features(), kept.features());  // NOLINT(bugprone-use-after-move)
  Dataset table = data;
  Dataset moved = std::move(table);
  EXPECT_EQ(moved.rows(), data.rows());
  EXPECT_EQ(table.rows(), 0);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(table.source(), "data");
  EXPECT_EQ(table.matrix().size(), 0);
  refused("x", [&] { (void)select(table, Gslda{}); });  // NOLINT(bugprone-use-after-move)
  table = std::move(moved);
  EXPECT_EQ(table.features(), data.features());
}

TEST_F(PublicCalls, WhatSelectRefusesIsRefusedByTheOthersToo) {
  const auto both = [&](std::string_view field, const SelectOptions& options) {
    refused(field, [&] { (void)evaluate(data, ForwardLda{}, {.k = 2, .select = options}); });
    refused(field, [&] { (void)fit(data, ForwardLda{}, {.k = {1, 3}, .select = options}); });
  };
  both("threads", {.threads = -7});
  both("components", {.components = -1});
  Ridge ridge = Ridge::by_cross_validation();
  ridge.fraction = 0.3;
  both("ridge", {.ridge = ridge});
  ridge.fraction.reset();
  ridge.value = 1.0;
  both("ridge", {.ridge = ridge});
}

TEST_F(PublicCalls, WordsOfAStructAreThoseOfCpp) {
  const auto start = static_cast<StartKind>(9);
  refused("start", [&] { (void)select(data, QAlpha{.start = start}, {.k = 2}); });
  const auto kind = static_cast<QAlphaKernel::Kind>(9);
  refused("kernel", [&] { (void)select(data, QAlphaOfKernel{.kernel = {.kind = kind}}, {.k = 2}); });
  const auto sentence = [&](const SelectOptions& options) {
    return refused(options.ridge.value ? "ridge" : "criterion",
                   [&] { (void)select(data, Gslda{}, options); });
  };
  EXPECT_EQ(sentence({.criterion = static_cast<Criterion>(9)}),
            "criterion = 9, but one of kAuto, kLargest, kTrace, kWilks is needed");
  EXPECT_EQ(sentence({.ridge = {.value = -1.0}}), "ridge = {.value = -1}, but a number from 0 up is needed");
  Eigen::MatrixXd wide = given.x;
  wide.col(2) *= 1e200;
  refused("x", [&] { (void)select(Dataset(wide, given.y), Gslda{}, {.k = 2}); });
  const std::vector<char> letters = {'M', 'R', 'M', 'R'};
  EXPECT_EQ(Dataset(Eigen::MatrixXd(given.x.topRows(4)), letters).classes().front(), "M");
  refused("swaps", [&] { (void)Method::parse("fisher", {{"swaps", "1"}}); });
  EXPECT_NE(refused("neighbours",
                    [&] {
                      (void)Classifier::parse("knn", {{"neighbours", "3"}});
                    })
                .find("did you mean neighbors?"),
            std::string::npos);
  EXPECT_THROW((void)select(data, Eslda{.checkpoint = "no such folder/state"}, {.k = 2}), Error);
  static_assert(!std::is_convertible_v<Svm, Method>);
}

TEST_F(PublicCalls, AnAnswerIsWrittenWithItsOwnTableAlone) {
  const Dataset same(given.x, given.y);
  std::vector<int> swapped(given.y.begin(), given.y.end());
  std::reverse(swapped.begin(), swapped.end());
  std::vector<std::string> names(static_cast<std::size_t>(given.x.cols()), "gene");
  const std::vector<Dataset> others = {Dataset(given.x, swapped), Dataset(given.x, given.y, {.names = names}),
                                       Dataset(given.x), data.with_rows({0, 1, 2, 5, 6})};
  const Selection found = select(data, Gslda{}, {.k = 2});
  const Evaluation judged = evaluate(data, {ForwardLda{}}, {.folds = 3, .k = 2});
  EXPECT_EQ(found.to_json(data, {.k = 2}), found.to_json(same, {.k = 2}));
  EXPECT_EQ(judged.to_json(data), judged.to_json(same));
  for (const Dataset& other : others) {
    refused("data", [&] { (void)found.to_json(other, {.k = 2}); });
    refused("data", [&] { (void)judged.to_json(other); });
  }
}

TEST_F(PublicCalls, FeaturesAreGroupedByAnArrayOfNames) {
  const std::vector<std::string> groups = {"a", "a", "", "b", "b", "", "b", "a"};
  const SelectOptions options{.k = {1, 2}, .feature_group_names = groups};
  const Selection found = select(data, Gslda{}, options);
  ASSERT_EQ(found.sets().size(), 2U);
  for (const PathEntry& set : found.sets()) {
    for (const Index j : set.features) {
      const std::string& group = groups[static_cast<std::size_t>(j)];
      if (group.empty()) continue;
      for (std::size_t other = 0; other < groups.size(); ++other) {
        if (groups[other] != group) continue;
        EXPECT_TRUE(std::binary_search(set.features.begin(), set.features.end(), static_cast<Index>(other)));
      }
    }
  }
  EXPECT_NE(found.to_json(data, options).find("\"b\""), std::string::npos);
  EXPECT_FALSE(fit(data, Gslda{}, {.k = 1, .select = options}).features().empty());
  refused("feature_group_names", [&] { (void)select(data, Gslda{}, {.feature_group_names = {"a", "b"}}); });
}

}  // namespace public_calls
}  // namespace subspectra
