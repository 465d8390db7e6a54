#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <subspectra/error.hpp>
#include "oracle.hpp"
#include "report/json.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "synth/clusters.hpp"
#include "synth/weston.hpp"

namespace subspectra::qalpha_methods_test {
namespace {

Selection run(const Dataset& data, std::string_view method, const OptionTexts& texts = {},
              const SelectOptions& options = {}) {
  return select_features(data, MethodRegistry::from_texts(method, texts), options, RunControl());
}

/// Rows of three kinds that the first `relevant` features tell apart.
DatasetParts table(Index rows = 45, Index features = 40, Index relevant = 6, std::uint64_t seed = 4) {
  DatasetParts data = oracle::random_classes(rows, features, 3, seed, 0.0);
  std::mt19937_64 generator(seed + 100);
  std::normal_distribution<double> normal;
  for (Index j = 0; j < relevant; ++j) {
    Vector centres(3);
    for (Index c = 0; c < 3; ++c) centres[c] = 3.0 * normal(generator);
    for (Index i = 0; i < rows; ++i) data.dense(i, j) += centres[i % 3];
  }
  return data;
}

bool warned(const Selection& selection, std::string_view words) {
  return std::any_of(selection.warnings.begin(), selection.warnings.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

TEST(QAlphaMethods, EveryOneGivesWeightsARankingAPathAndItsReport) {
  const DatasetParts data = table();
  for (const MethodEntry& method : MethodRegistry::entries()) {
    const std::string_view name = method.traits->name;
    if (!name.starts_with("qalpha")) continue;
    SCOPED_TRACE(name);
    const auto selection = run(data, name, {}, {.k = {1, 8}});
    ASSERT_EQ(selection.weights.size(), 40);
    EXPECT_NEAR(oracle::as_vector(selection.weights).norm(), 1.0, 1e-12);
    ASSERT_EQ(selection.ranking.size(), 40U);
    ASSERT_EQ(selection.sets().size(), 8U);
    EXPECT_FALSE(selection.trace.empty());
    ASSERT_TRUE(selection.relevance);
    EXPECT_GT(selection.relevance->passes, 0);
    EXPECT_LE(selection.relevance->passes, 250);
    EXPECT_TRUE(selection.status == Status::kConverged || selection.status == Status::kIterationLimit);
    const auto json = selection_json(selection, data, {.options = nlohmann::json::object()});
    EXPECT_TRUE(json["relevance"].contains("trace"));
    // The equivalent form (6) is one of the plain criterion.
    const bool plain =
        name == "qalpha" || name == "qalpha-basic" || name == "qalpha-ritz" || name == "qalpha-kernel";
    EXPECT_EQ(json["relevance"].contains("criterion_6"), plain);
    EXPECT_EQ(json["weights"].size(), 40U);
    EXPECT_TRUE(json["options"].contains("tolerance"));
    Index found = 0;
    for (std::size_t i = 0; i < 6; ++i) found += selection.ranking[i] < 6 ? 1 : 0;
    if (name != "qalpha-kernel") {
      EXPECT_GE(found, 5);
    }
  }
}

TEST(QAlphaMethods, TheUnsupervisedOnesIgnoreLabelsAndJudgeSetsByTheirCovariance) {
  DatasetParts data = table();
  const auto with = run(data, "qalpha", {}, {.k = {3, 3}});
  data.labels->codes[3] = Labels::kMissing;
  const auto some = run(data, "qalpha", {}, {.k = {3, 3}});
  data.labels.reset();
  const auto without = run(data, "qalpha", {}, {.k = {3, 3}});
  EXPECT_EQ(with.weights, without.weights);
  EXPECT_EQ(some.weights, without.weights);
  EXPECT_EQ(default_method(false), "qalpha");
  const Matrix x = data.dense(Eigen::all, without.sets()[0].features);
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(centred.transpose() * centred / 45.0);
  EXPECT_NEAR(with.sets()[0].objective, solver.eigenvalues()[2], 1e-10 * solver.eigenvalues()[2]);
}

TEST(QAlphaMethods, ConstantAndExcludedFeaturesHaveWeightZeroAndAreNamed) {
  DatasetParts data = table();
  data.dense.col(7).setConstant(2.0);
  data.dense.col(30).setZero();
  for (const DatasetParts& each : {data, oracle::as_sparse(data)}) {
    const auto selection = run(each, "qalpha", {}, {.k = {5, 5}, .include = {"x39"}, .exclude = {"x2"}});
    EXPECT_EQ(selection.weights[7], 0.0);
    EXPECT_EQ(selection.weights[30], 0.0);
    EXPECT_EQ(selection.weights[2], 0.0);
    EXPECT_TRUE(warned(selection, "2 constant columns"));
    const auto& set = selection.sets()[0].features;
    EXPECT_TRUE(std::binary_search(set.begin(), set.end(), 39));
    EXPECT_FALSE(std::binary_search(set.begin(), set.end(), 2));
  }
}

TEST(QAlphaMethods, LabelsAreAskedForWhereTheyAreNeeded) {
  DatasetParts data = table();
  DatasetParts none = data;
  none.labels.reset();
  EXPECT_THROW(static_cast<void>(run(none, "qalpha-supervised")), BadInput);
  EXPECT_THROW(static_cast<void>(run(none, "qalpha-semi")), BadInput);
  for (std::size_t i = 0; i < 45; ++i) {
    if (i % 4 != 0) data.labels->codes[i] = Labels::kMissing;
  }
  EXPECT_THROW(static_cast<void>(run(data, "qalpha-supervised")), BadInput);
  const auto semi = run(data, "qalpha-semi", {{"supervision", "0.6"}});
  EXPECT_EQ(semi.ranking.size(), 40U);
  EXPECT_EQ(record_of(semi)["supervision"], 0.6);
  // Weight 0 is the unsupervised method.
  const auto zero =
      run(data, "qalpha-semi", {{"supervision", "0"}, {"tolerance", "0"}, {"max_iterations", "3"}});
  const auto plain = run(data, "qalpha", {{"tolerance", "0"}, {"max_iterations", "3"}});
  EXPECT_LT((oracle::as_vector(zero.weights) - oracle::as_vector(plain.weights)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(QAlphaMethods, WhatCannotBeIsRefusedOrSaid) {
  const DatasetParts data = table(5, 12);
  EXPECT_TRUE(warned(run(data, "qalpha", {{"clusters", "9"}}), "more than the rank"));
  EXPECT_TRUE(warned(run(data, "qalpha-laplacian"), "⟨no_normalize⟩"));
  EXPECT_FALSE(warned(run(data, "qalpha-laplacian", {{"no_normalize", "true"}}), "⟨no_normalize⟩"));
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{{"clusters", "0"},
                                                                                   {"restarts", "0"},
                                                                                   {"max_iterations", "0"},
                                                                                   {"tolerance", "-1"},
                                                                                   {"start", "none"}}) {
    EXPECT_THROW(static_cast<void>(run(data, "qalpha", {{name, text}})), InvalidArgument) << name;
  }
  for (const char* kernel : {"poly", "poly:0:1", "poly:2:-1", "rbf:0", "block2:0", "rbf:x", "sigmoid", ""}) {
    EXPECT_THROW(static_cast<void>(run(data, "qalpha-kernel", {{"kernel", kernel}})), InvalidArgument)
        << kernel;
  }
  EXPECT_THROW(static_cast<void>(run(data, "qalpha-kernel", {{"start", "ones"}})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(run(data, "qalpha-semi", {{"supervision", "1.5"}})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(run(table(1, 8), "qalpha")), BadInput);
  EXPECT_THROW(static_cast<void>(run(table(300, 300), "qalpha", {}, {.memory_limit = {100000}})), Error);
}

TEST(QAlphaMethods, ScalesWhosePowersLeaveTheDoublesAreRefused) {
  const DatasetParts data = table(30, 10, 3);
  const auto scaled = [&](double by) {
    DatasetParts copy = data;
    copy.dense *= by;
    return copy;
  };
  const auto methods = {"qalpha",     "qalpha-basic",      "qalpha-ritz", "qalpha-laplacian",
                        "qalpha-gap", "qalpha-supervised", "qalpha-semi"};
  for (const char* method : methods) {
    const OptionTexts texts = {{"no_normalize", "true"}, {"max_iterations", "5"}, {"tolerance", "0"}};
    const std::vector<double> weights = run(data, method, texts).weights;
    for (const double by : {1e-29, 1e-20, 1e20, 1e28}) {  // norms are some 30 here
      const std::vector<double> found = run(scaled(by), method, texts).weights;
      EXPECT_LT((oracle::as_vector(found) - oracle::as_vector(weights)).norm(), 1e-9) << method << ' ' << by;
    }
    for (const double by : {1e-60, 1e-40, 1e40, 1e60})
      EXPECT_THROW(static_cast<void>(run(scaled(by), method, texts)), BadInput) << method << ' ' << by;
  }
  const auto kernel = [&](double by, const char* which, const char* raw) {
    return run(scaled(by), "qalpha-kernel", {{"kernel", which}, {"no_normalize", raw}});
  };
  for (const auto& [by, which] : std::vector<std::pair<double, const char*>>{
           {1e3, "poly:20:0"}, {1e-6, "poly:20:0"}, {1e25, "poly:2:0"}, {1e25, "block2:5"}}) {
    EXPECT_THROW(static_cast<void>(kernel(by, which, "true")), InvalidArgument) << which;
    EXPECT_NO_THROW(static_cast<void>(kernel(by, which, "false"))) << which;
  }
  EXPECT_THROW(static_cast<void>(kernel(1.0, "poly:20:10000", "false")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(kernel(1.0, "rbf:1e-200", "false")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(run(data, "qalpha-supervised", {{"gamma", "1e160"}})), InvalidArgument);
}

TEST(QAlphaMethods, DirectionsAreCountedByClassAndWhereTheRunEnds) {
  DatasetParts data = oracle::random_classes(13, 12, 3, 8);
  data.labels->codes.assign(13, 0);
  for (std::size_t i = 6; i < 12; ++i) data.labels->codes[i] = 1;
  data.labels->codes[12] = 2;  // a class of one
  const auto supervised = run(data, "qalpha-supervised");
  EXPECT_TRUE(warned(supervised, "the classes have 1 to 2 directions"));
  EXPECT_EQ(supervised.relevance->clusters, 2);
  for (const char* start : {"equal", "random"}) {
    const auto few = run(table(5, 12), "qalpha", {{"clusters", "8"}, {"start", start}});
    EXPECT_EQ(few.relevance->clusters, 4) << start;  // five centred rows
  }
}

TEST(QAlphaMethods, AStartThatCentredFeaturesCannotSeeIsReplacedAndSaid) {
  DatasetParts data = table(24, 12);
  for (const char* clusters : {"1", "2"}) {
    const OptionTexts ones = {{"start", "ones"}, {"clusters", clusters}};
    const auto replaced = run(data, "qalpha", ones);
    EXPECT_TRUE(warned(replaced, "⟨start ones⟩"));
    EXPECT_EQ(record_of(replaced)["start"], "equal");
    EXPECT_EQ(replaced.weights, run(data, "qalpha", {{"clusters", clusters}}).weights);
    EXPECT_EQ(replaced.relevance->eigenvalues.size(), std::stoi(clusters));
    EXPECT_GT(oracle::as_vector(replaced.relevance->eigenvalues).cwiseAbs().minCoeff(),
              1e-6);  // no direction is lost
  }
  auto as_given = run(data, "qalpha", {{"start", "ones"}, {"no_normalize", "true"}});
  EXPECT_FALSE(warned(as_given, "⟨start ones⟩"));
  EXPECT_EQ(record_of(as_given)["start"], "ones");
  // As given, but without means.
  data.dense.rowwise() -= data.dense.colwise().mean();
  as_given = run(data, "qalpha", {{"start", "ones"}, {"no_normalize", "true"}});
  EXPECT_TRUE(warned(as_given, "⟨start ones⟩"));
  // Classes have means of their own.
  EXPECT_FALSE(warned(run(table(24, 12), "qalpha-supervised", {{"start", "ones"}}), "⟨start ones⟩"));
}

TEST(QAlphaMethods, NoiseAloneHasWeightsAndNoClearCut) {
  const auto selection = run(table(40, 60, 0), "qalpha");
  EXPECT_TRUE(oracle::as_vector(selection.weights).allFinite());
  EXPECT_LT(selection.relevance->cut_ratio, 3.0);
}

TEST(QAlphaMethods, AStoppedRunHasWeightsAndSaysSo) {
  std::stop_source source;
  source.request_stop();
  const auto selection = select_features(table(), MethodRegistry::from_texts("qalpha", {}), {},
                                         RunControl(source.get_token(), kInfinity));
  EXPECT_EQ(selection.status, Status::kInterrupted);
  EXPECT_EQ(selection.weights.size(), 40);
}

/// Mean over seeds of the share of the first `relevant` features among as many largest weights.
template <class Make>
double share_found(Index relevant, const OptionTexts& texts, Make make) {
  constexpr int kSeeds = 4;
  double sum = 0.0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto selection = run(make(static_cast<std::uint64_t>(seed)), "qalpha-supervised", texts);
    for (Index i = 0; i < relevant; ++i)
      sum += selection.ranking[static_cast<std::size_t>(i)] < relevant ? 1.0 : 0.0;
  }
  return sum / (kSeeds * static_cast<double>(relevant));
}

// Of Weston's six features two triples say the same, and three are enough; the start decides.
TEST(QAlphaMethods, SupervisedDefaultsFindTheRelevantFeaturesAndEqualWeightsDoNot) {
  const auto weston = [](std::uint64_t seed) { return synth::WestonLinear{.seed = seed}.make(); };
  const auto two = [](std::uint64_t seed) { return synth::Clusters{.classes = 2, .seed = seed}.make(); };
  const auto three = [](std::uint64_t seed) { return synth::Clusters{.classes = 3, .seed = seed}.make(); };
  EXPECT_GE(share_found(6, {}, weston), 0.45);
  EXPECT_GE(share_found(6, {{"within_vectors", "1"}}, weston), 0.45);
  EXPECT_LE(share_found(6, {{"start", "equal"}}, weston), 0.2);
  EXPECT_GE(share_found(5, {}, two), 0.8);
  EXPECT_LE(share_found(5, {{"start", "equal"}}, two), 0.3);
  EXPECT_GE(share_found(5, {}, three), 0.9);
}

}  // namespace
}  // namespace subspectra::qalpha_methods_test
