#include "model/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "classify/registry.hpp"
#include "oracle.hpp"

namespace subspectra {
namespace {

DatasetParts named(DatasetParts data) {
  std::vector<std::string> names;
  for (Index j = 0; j < data.features(); ++j) names.push_back("f" + std::to_string(j));
  data.names = FeatureNames(std::move(names));
  return data;
}

TrainedModel small_model(const PrepareOptions& options = {}, const Classifier& classifier = {}) {
  const Dataset data = named(oracle::random_classes(60, 6, 3, 1));
  return fit_model(data, Preparation::learn(data, options), "fisher", {0, 2, 5}, 0.0, classifier);
}

constexpr auto kFixed = Hyperparameters::kFixed;

/// Every classifier there is, without the search for hyperparameters, and a machine with a kernel.
const std::vector<Classifier>& every_classifier() {
  static const std::vector<Classifier> all = [] {
    std::vector<Classifier> list = {Svm{.svm_kernel = SvmKernel::kRbf}};
    const auto with_search = classifiers_with("hyperparameters");
    for (const auto& traits : classifier_list()) {
      const bool searches =
          std::find(with_search.begin(), with_search.end(), traits.name) != with_search.end();
      list.push_back(searches ? Classifier::parse(traits.name, {{"hyperparameters", "fixed"}})
                              : Classifier(traits.name));
    }
    return list;
  }();
  return all;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Model, ComesBackFromJsonToTheLastBit) {
  for (const Classifier& classifier : every_classifier()) {
    for (const Transform transform : {Transform::kNone, Transform::kAsinh}) {
      const TrainedModel model = small_model(
          {.missing = MissingPolicy::kMean, .standardize = true, .transform = transform}, classifier);
      EXPECT_EQ(model.preparation.spread.size() > 0, transform == Transform::kAsinh);
      const TrainedModel back =
          TrainedModel::from_json(nlohmann::json::parse(model.to_json().dump()), "m.json");
      EXPECT_EQ(back.rule->classifier(), classifier.name());
      const DatasetParts fresh = named(oracle::random_classes(25, 6, 3, 2));
      EXPECT_EQ(predict_probabilities(model, fresh), predict_probabilities(back, fresh));
    }
  }
}

TEST(Model, StandardizingChangesNothingWithoutARidge) {
  const DatasetParts fresh = named(oracle::random_classes(25, 6, 3, 2));
  const Matrix plain = predict_probabilities(small_model(), fresh);
  const Matrix standardized = predict_probabilities(small_model({.standardize = true}), fresh);
  EXPECT_LT((plain - standardized).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Model, MatchesColumnsByNameInAnyOrder) {
  const DatasetParts fresh = named(oracle::random_classes(25, 6, 3, 2));
  const DatasetParts shuffled = Dataset(fresh).with_features({5, 4, 2, 0, 1}).parts();
  EXPECT_EQ(predict_probabilities(small_model(), fresh), predict_probabilities(small_model(), shuffled));
}

TEST(Model, NamesTheColumnsThatAreMissing) {
  const DatasetParts fresh =
      Dataset(named(oracle::random_classes(25, 6, 3, 2))).with_features({0, 1, 3}).parts();
  const std::string text = message_of([&] { (void)predict_probabilities(small_model(), fresh); });
  EXPECT_NE(text.find("lacks 2 of the 3 columns the model uses: f2, f5"), std::string::npos) << text;
}

TEST(Model, WithoutNamesThePlaceCountsAndTheWidthMustAgree) {
  DatasetParts data = oracle::random_classes(60, 6, 3, 1);
  const TrainedModel model = fit_model(data, {}, "fisher", {0, 2, 5}, 0.0, Lda{});
  EXPECT_FALSE(model.names_given);
  EXPECT_NO_THROW((void)predict_probabilities(model, data));
  EXPECT_NE(message_of([&] {
              (void)predict_probabilities(model, Dataset(data).with_features({0, 2, 5}));
            }).find("trained on 6"),
            std::string::npos);
}

TEST(Model, MissingValuesNeedAModelThatLearnedToFillThem) {
  DatasetParts fresh = named(oracle::random_classes(5, 6, 3, 2));
  fresh.dense(1, 2) = std::nan("");
  EXPECT_NE(
      message_of([&] { (void)predict_probabilities(small_model(), fresh); }).find("MissingPolicy::kMean"),
      std::string::npos);
  EXPECT_TRUE(predict_probabilities(small_model({.missing = MissingPolicy::kMean}), fresh).allFinite());
  fresh.dense(1, 2) = kInfinity;
  EXPECT_NE(message_of([&] { (void)predict_probabilities(small_model(), fresh); }).find("row 1, column "),
            std::string::npos);
}

TEST(Model, FarFromEveryClassTheProbabilitiesStillSumToOne) {
  DatasetParts fresh = named(oracle::random_classes(5, 6, 3, 2));
  for (const Classifier& classifier : every_classifier()) {
    const TrainedModel model = small_model({}, classifier);
    for (const double far : {1e9, 1e17, 1e30, 1e200}) {
      for (const double sign : {-1.0, 1.0}) {
        fresh.dense(3, 2) = sign * far;
        const Matrix p = predict_probabilities(model, fresh);
        EXPECT_NEAR(p.row(3).sum(), 1.0, 1e-12) << far;
        EXPECT_GE(p.minCoeff(), 0.0);
      }
    }
  }
}

TEST(Model, ValuesThatOverflowAreRefusedAndNotPredictedAsNaN) {
  DatasetParts fresh = named(oracle::random_classes(5, 6, 3, 2));
  fresh.dense.row(3).setConstant(1.7e308);
  for (const Classifier& classifier : every_classifier()) {
    try {
      EXPECT_TRUE(predict_probabilities(small_model({}, classifier), fresh).allFinite());
    } catch (const BadInput& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("row 3"), std::string::npos) << refusal.what();
    }
  }
}

void expect_damage_refused(const Classifier& classifier) {
  const nlohmann::json good =
      small_model({.missing = MissingPolicy::kMean, .standardize = true}, classifier).to_json();
  for (const char* member : {"median", "spread"}) {
    nlohmann::json bad = good;
    bad["preprocessing"][member] = nlohmann::json::array({1.0});
    EXPECT_TRUE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).starts_with("m.json: "));
  }
  ASSERT_NO_THROW((void)TrainedModel::from_json(good, "m.json"));
  for (const auto& item : good.items()) {
    if (item.key() == "version") continue;  // for people
    for (const nlohmann::json& wrong :
         {nlohmann::json(), nlohmann::json("x"), nlohmann::json(-1.5), nlohmann::json::array({1, "x"}),
          nlohmann::json::object(), nlohmann::json::array({nlohmann::json::array({1e300})})}) {
      if (wrong.type() == item.value().type() && wrong.is_string() && item.key() != "schema" &&
          item.key() != "classifier") {
        continue;  // another method or target name is legal
      }
      if ((item.key() == "ridge" || item.key() == "log_marginal_likelihood") && wrong.is_number()) continue;
      if (wrong == item.value()) continue;  // null is legal where there is no projection
      nlohmann::json bad = good;
      bad[item.key()] = wrong;
      const std::string text = message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); });
      EXPECT_TRUE(text.starts_with("m.json: ")) << item.key() << " = " << wrong << ": " << text;
    }
    if (item.key() == "shrinkage") continue;  // the plain rule has none
    nlohmann::json without = good;
    without.erase(item.key());
    EXPECT_NE(message_of([&] { (void)TrainedModel::from_json(without, "m.json"); }), "(no error)")
        << item.key();
  }
}

TEST(Model, EveryDamagedMemberIsRefusedByName) {
  for (const Classifier& classifier : every_classifier()) expect_damage_refused(classifier);
}

TEST(Model, AnSvmHasPositiveScalesAndSharesThatSumToOne) {
  const nlohmann::json good = small_model({}, Svm{}).to_json();
  for (const auto& [member, wrong] : {std::pair<std::string, nlohmann::json>{"slope", 0.0},
                                      {"C", -1.0},
                                      {"shares", {0.5, 0.5, 0.5}},
                                      {"shares", {-0.5, 1.0, 0.5}},
                                      {"offsets", {0.0, 1.0}},
                                      {"classifier", "lda"}}) {
    nlohmann::json bad = good;
    bad[member] = wrong;
    EXPECT_TRUE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).starts_with("m.json: "))
        << member << " = " << wrong;
  }
  nlohmann::json apart = good;  // every prior on a class without rows
  apart["priors"] = {1.0, 0.0, 0.0};
  apart["shares"] = {0.0, 0.5, 0.5};
  EXPECT_NE(message_of([&] { (void)TrainedModel::from_json(apart, "m.json"); }).find("'priors'"),
            std::string::npos);
}

TEST(Model, AGaussianProcessHasPositiveScalesAndOneMachineAClass) {
  using nlohmann::json;
  for (const bool ep : {false, true}) {
    const json good = (ep ? small_model({}, GpEp{.hyperparameters = kFixed})
                          : small_model({}, GpLaplace{.hyperparameters = kFixed}))
                          .to_json();
    EXPECT_LT(good["log_marginal_likelihood"].get<double>(), 0.0);
    ASSERT_EQ(good["machines"].size(), 3U);
    const json no_numbers = json::array({1.0, 2.0});
    for (const auto& [member, wrong] : {std::pair<std::string, json>{"signal", 0.0},
                                        {"lengthscales", json::array({-1.0})},
                                        {"lengthscales", json::array({1.0, 2.0})},
                                        {"class", 3},
                                        {"class", 1},  // twice, then
                                        {ep ? "site_precision" : "mode", no_numbers},
                                        {ep ? "site_shift" : "mode", no_numbers},
                                        {"log_marginal_likelihood", "x"}}) {
      json bad = good;
      bad["machines"][0][member] = wrong;
      EXPECT_TRUE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).starts_with("m.json: "))
          << member << " = " << wrong;
    }
    if (ep) {
      json bad = good;
      bad["machines"][1]["site_precision"][7] = -1e-9;
      EXPECT_NE(
          message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).find("must not be negative"),
          std::string::npos);
    }
    json bad = good;
    bad["codes"][0] = 0.5;
    EXPECT_NE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).find("'codes'"),
              std::string::npos);
    bad = good;
    bad["inputs"][5].push_back(1.0);
    EXPECT_NE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).find("'inputs'"),
              std::string::npos);
    bad = good;
    bad["machines"].erase(0);
    EXPECT_NE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).find("'machines'"),
              std::string::npos);
    bad = good;
    bad["projection"] = {{"centre", {0.0, 0.0, 0.0}}, {"matrix", {{1.0}, {2.0}}}};
    EXPECT_NE(message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); }).find("'projection.matrix'"),
              std::string::npos);
  }
}

TEST(Model, AGaussianProcessInTheSpaceOfDiscriminantsComesBack) {
  const DatasetParts data = named(oracle::random_classes(60, 6, 3, 1));
  FittedDiscriminants record;
  record.features = {1, 2, 4};
  record.matrix = Matrix::Random(3, 2);
  const TrainedModel model = fit_model(data, {}, "gloss", record, GpLaplace{});
  const TrainedModel back = TrainedModel::from_json(nlohmann::json::parse(model.to_json().dump()), "m.json");
  const DatasetParts fresh = named(oracle::random_classes(25, 6, 3, 2));
  EXPECT_EQ(predict_probabilities(model, fresh), predict_probabilities(back, fresh));
}

TEST(Model, NeighboursAndSupportVectorsAreCheckedNumberByNumber) {
  using Damage = std::pair<std::string, nlohmann::json>;
  const auto expect_refused = [](const nlohmann::json& good, const Damage& damage) {
    nlohmann::json bad = good;
    bad[damage.first] = damage.second;
    const std::string text = message_of([&] { (void)TrainedModel::from_json(bad, "m.json"); });
    EXPECT_TRUE(text.starts_with("m.json: ")) << damage.first << " = " << damage.second << ": " << text;
  };
  const nlohmann::json nearest = small_model({}, Knn{}).to_json();
  auto codes = nearest["codes"], shorter = nearest["codes"], rows = nearest["rows"];
  codes[3] = 3;  // there are three classes
  shorter.erase(5);
  rows[2].push_back(1.0);
  for (const Damage& damage :
       {Damage{"neighbors", 0}, Damage{"codes", codes}, Damage{"codes", shorter}, Damage{"rows", rows},
        Damage{"projection", {{1.0}, {2.0}}}, Damage{"projection", {{1.0}, {2.0}, {3.0}}},
        Damage{"classifier", "svm"}, Damage{"training", {{"rows", 59}, {"features", 6}}}}) {
    expect_refused(nearest, damage);
  }
  const nlohmann::json machine = small_model({}, Svm{.svm_kernel = SvmKernel::kPoly}).to_json();
  auto vectors = machine["support_vectors"];
  vectors.erase(0);
  for (const Damage& damage :
       {Damage{"kernel", "sigmoid"}, Damage{"degree", 0}, Damage{"degree", 21}, Damage{"gamma", 0.0},
        Damage{"slope", -1.0}, Damage{"C", 0.0}, Damage{"support_vectors", vectors},
        Damage{"scale", {1.0, -1.0, 1.0}}, Damage{"scale", {1.0, 1.0}}, Damage{"classifier", "knn"}}) {
    expect_refused(machine, damage);
  }
}

TEST(Model, AProjectionComesBackFromJson) {
  const DatasetParts data = named(oracle::random_classes(60, 6, 3, 1));
  FittedDiscriminants found;
  found.features = {0, 2, 5};
  found.matrix = (Matrix(3, 2) << 1.0, 0.5, -1.0, 2.0, 0.3, 0.1).finished();
  const DatasetParts fresh = named(oracle::random_classes(25, 6, 3, 2));
  for (const Classifier& classifier : every_classifier()) {
    const TrainedModel model = fit_model(data, {}, "pca", found, classifier);
    const TrainedModel back =
        TrainedModel::from_json(nlohmann::json::parse(model.to_json().dump()), "m.json");
    EXPECT_EQ(predict_probabilities(model, fresh), predict_probabilities(back, fresh));
  }
}

TEST(Model, RowsWithoutALabelAreNotLearnedFrom) {
  DatasetParts data = named(oracle::random_classes(60, 6, 3, 1));
  std::vector<Index> labelled;
  for (Index i = 0; i < 60; ++i) {
    if (i % 3 == 0) data.labels->codes[static_cast<std::size_t>(i)] = Labels::kMissing;
    if (i % 3 != 0) labelled.push_back(i);
  }
  const DatasetParts fresh = named(oracle::random_classes(25, 6, 3, 2));
  FittedDiscriminants found;
  found.features = {0, 2, 5};
  found.matrix = (Matrix(3, 2) << 1.0, 0.5, -1.0, 2.0, 0.3, 0.1).finished();
  for (const Classifier& options : every_classifier()) {
    const TrainedModel some = fit_model(data, {}, "qalpha", {0, 2, 5}, 0.0, options);
    const TrainedModel those =
        fit_model(Dataset(data).with_rows(labelled), {}, "qalpha", {0, 2, 5}, 0.0, options);
    EXPECT_EQ(some.training_rows, 40);
    EXPECT_EQ(predict_probabilities(some, fresh), predict_probabilities(those, fresh));
    const TrainedModel projected = fit_model(data, {}, "pca", found, options);
    EXPECT_EQ(predict_probabilities(projected, fresh),
              predict_probabilities(fit_model(Dataset(data).with_rows(labelled), {}, "pca", found, options),
                                    fresh));
  }
  for (int& code : data.labels->codes) code = Labels::kMissing;
  EXPECT_NE(message_of([&] {
              (void)fit_model(data, {}, "qalpha", {0, 2, 5}, 0.0, Lda{});
            }).find("no row has a label"),
            std::string::npos);
}

TEST(Model, FilesThatAreNoModelsAreRefused) {
  const auto path =
      std::filesystem::temp_directory_path() / ("subspectra_model_test_" + std::to_string(::getpid()));
  const auto load = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    return message_of([&] { (void)TrainedModel::load(path.string()); });
  };
  const std::string good = small_model().to_json().dump();
  EXPECT_EQ(load(good), "(no error)");
  for (std::size_t length = 1; length < good.size(); length += 7) {
    EXPECT_NE(load(good.substr(0, length)), "(no error)") << length;
  }
  EXPECT_NE(load("[1, 2").find(":1:6: the model ends in the middle"), std::string::npos) << load("[1, 2");
  EXPECT_NE(load("{\n  \"a\": oops}").find(":2:8: the model is not valid JSON"), std::string::npos)
      << load("{\n  \"a\": oops}");
  for (const char* leak : {"json.exception", "parse_error", "syntax error"}) {
    EXPECT_EQ(load("{\"a\": oops}").find(leak), std::string::npos);
    EXPECT_EQ(load("[1e999]").find(leak), std::string::npos);
  }
  EXPECT_NE(load(std::string(100000, '[')).find("nested"), std::string::npos);
  EXPECT_NE(load(R"({"schema": "subspectra.selection/1"})").find("subspectra.model/1"), std::string::npos);
  EXPECT_NE(load(std::string("\xff\xfe\0\0", 4)), "(no error)");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace subspectra
