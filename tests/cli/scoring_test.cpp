/// The methods of optimal scoring through the program: select, fit, predict, evaluate.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "run_program.hpp"

namespace subspectra::scoring_test {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

const std::vector<std::string> kMethods = {"rvm-row", "rvm-entry", "gloss",        "sda",           "plda",
                                           "sulda",   "sfd",       "jeffreys-row", "jeffreys-entry"};

void expect_record(const json& record, std::size_t discriminants) {
  const std::size_t kept = record["features_kept"];
  EXPECT_EQ(record["features"].size(), kept);
  EXPECT_EQ(record["matrix"].size(), kept);
  EXPECT_EQ(record["row_norms"].size(), kept);
  std::size_t entries = 0;
  for (const auto& row : record["matrix"]) {
    EXPECT_EQ(row.size(), discriminants);
    for (const double value : row) entries += value != 0.0 ? 1 : 0;
  }
  EXPECT_EQ(record["entries"], entries);
  for (std::size_t i = 1; i < kept; ++i) EXPECT_LT(record["features"][i - 1], record["features"][i]);
}

TEST(ScoringMethods, SelectWritesDiscriminants) {
  const ScratchDirectory scratch;
  for (const auto& method : kMethods) {
    SCOPED_TRACE(method);
    const Finished run =
        run_program({"select", "ionosphere", "--method", method, "-k", "1:8", "--json", "--quiet"});
    ASSERT_EQ(run.code, 0) << run.err;
    const json result = run.json();
    EXPECT_EQ(result["status"], "converged");
    if (method == "sulda") {
      expect_record(result["discriminants"], 1);
      continue;
    }
    ASSERT_TRUE(result.contains("lambda_path"));
    double before = INFINITY;
    for (const auto& record : result["lambda_path"]) {
      expect_record(record, 1);
      EXPECT_LT(record["lambda"], before);
      before = record["lambda"];
    }
    std::set<int> sizes;
    for (const auto& entry : result["path"]) {
      EXPECT_LE(entry["k"], 8);
      EXPECT_EQ(entry["k"], entry["features"].size());
      EXPECT_GT(entry["objective"], 0.0);
      EXPECT_TRUE(sizes.insert(entry["k"].get<int>()).second);
    }
    if (!result["path"].empty()) {
      EXPECT_EQ(result["discriminants"]["features"], result["path"].back()["features"]);
      EXPECT_FALSE(result["trace"].empty());
      double weight = 0.0;
      for (const double value : result["weights"]) weight += value;
      double norms = 0.0;
      for (const double value : result["discriminants"]["row_norms"]) norms += value;
      EXPECT_NEAR(weight, norms, 1e-12);
    }
  }
}

TEST(ScoringMethods, FitAndPredict) {
  const ScratchDirectory scratch;
  for (const auto& method : kMethods) {
    SCOPED_TRACE(method);
    const std::vector<std::string> lambda =
        method == "sulda" ? std::vector<std::string>{} : std::vector<std::string>{"--lambda", "auto"};
    std::vector<std::string> words = {"fit", "sonar", "--method", method, "-o", "model.json", "--quiet"};
    words.insert(words.end(), lambda.begin(), lambda.end());
    const Finished fit = run_program(words, {.directory = scratch.path()});
    ASSERT_EQ(fit.code, 0) << fit.err;
    const Finished predict =
        run_program({"predict", "model.json", "sonar", "--quiet"}, {.directory = scratch.path()});
    ASSERT_EQ(predict.code, 0) << predict.err;
    const json model = json::parse(scratch.read("model.json"));
    EXPECT_EQ(model["method"], method);
  }
}

TEST(ScoringMethods, EvaluateByLambdaAndBySize) {
  const Finished by_size = run_program(
      {"evaluate", "sonar", "--method", "rvm-row,gloss", "-k", "1:6", "--cv", "3", "--json", "--quiet"});
  ASSERT_EQ(by_size.code, 0) << by_size.err;
  const json sizes = by_size.json();
  EXPECT_EQ(sizes["results"].size(), 12U);
  for (const auto& row : sizes["results"]) {
    EXPECT_TRUE(row["lambda"].is_null());
    EXPECT_LE(row["features"], row["k"]);
    EXPECT_LE(row["error"], 0.6);
  }
  for (const std::string lambda : {"auto", "cv", "cv-min", "0.001"}) {
    const Finished run = run_program(
        {"evaluate", "sonar", "--method", "gloss", "--lambda", lambda, "--cv", "3", "--json", "--quiet"});
    ASSERT_EQ(run.code, 0) << run.err;
    const json result = run.json();
    ASSERT_EQ(result["results"].size(), 1U);
    const json& row = result["results"][0];
    EXPECT_TRUE(row["k"].is_null());
    EXPECT_GT(row["lambda"], 0.0);
    EXPECT_LT(row["error"], 0.4);
    EXPECT_GT(row["features"], 0.0);
  }
}

// Both rules look at the errors of the same folds over the same grid: the smallest error is within one
// standard error of itself, so that its lambda can only be smaller, and on Sonar it is.
TEST(ScoringMethods, TheSmallestErrorTakesASmallerLambdaThanOneStandardError) {
  std::map<std::string, double> chosen;
  for (const std::string rule : {"cv", "cv-min"}) {
    const Finished run =
        run_program({"select", "sonar", "--method", "gloss", "--lambda", rule, "--json", "--quiet"});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["options"]["lambda"], rule);
    chosen[rule] = run.json()["discriminants"]["lambda"];
  }
  EXPECT_LT(chosen["cv-min"], chosen["cv"]);
}

/// Classes far apart: at the largest lambda of all rows a fold, which has fewer, must not keep features and
/// be right with them, or the lambda would be chosen that leaves none.
TEST(ScoringMethods, ACrossValidatedLambdaKeepsWhatSeparates) {
  const ScratchDirectory scratch;
  std::string csv = "a,b,c,d,e,class\n";
  std::uint64_t state = 1;
  const auto noise = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 40U) / 16777216.0;
  };
  for (int i = 0; i < 40; ++i) {
    const bool high = i % 2 == 0;
    csv += std::to_string((high ? 30.0 : 0.0) + noise());
    for (int j = 1; j < 5; ++j) csv += "," + std::to_string(noise());
    csv += high ? ",yes\n" : ",no\n";
  }
  const std::string file = scratch.write("far.csv", csv);
  for (const auto& method : kMethods) {
    if (method == "sulda") continue;  // has no lambda
    for (const std::string rule : {"cv", "cv-min"}) {
      SCOPED_TRACE(method + " " + rule);
      const Finished run = run_program(
          {"evaluate", file, "--method", method, "--lambda", rule, "--cv", "4", "--json", "--quiet"});
      ASSERT_EQ(run.code, 0) << run.err;
      const json row = run.json()["results"][0];
      EXPECT_EQ(row["error"], 0.0);
      EXPECT_GE(row["features"], 1.0);
    }
  }
}

TEST(ScoringMethods, AlphaMovesTheLargestLambdaAndSmallSetsStayInReach) {
  for (const std::string method : {"rvm-row", "rvm-entry"}) {
    for (const std::string alpha : {"1e-8", "1e-4", "0.1", "1", "1e4"}) {
      SCOPED_TRACE(method + " " + alpha);
      const Finished run = run_program(
          {"select", "sonar", "--method", method, "--alpha", alpha, "-k", "4", "--json", "--quiet"});
      ASSERT_EQ(run.code, 0) << run.err;
      const json result = run.json();
      EXPECT_LE(result["lambda_path"][0]["features_kept"], 2);
      ASSERT_EQ(result["path"].size(), 1U);
      EXPECT_GE(result["path"][0]["k"], 1);
      EXPECT_LE(result["path"][0]["k"], 4);
    }
  }
}

TEST(ScoringMethods, ClassesThatNoFeatureKnowsOfAreSaidSo) {
  const ScratchDirectory scratch;
  std::string csv = "a,b,c,class\n";
  for (int i = 0; i < 32; ++i) {  // a full factorial, the class its fourth factor
    csv += std::to_string(i & 1) + "," + std::to_string((i >> 1) & 1) + "," + std::to_string((i >> 2) & 1);
    csv += ((i >> 3) & 1) != 0 ? ",x\n" : ",y\n";
  }
  const std::string file = scratch.write("factorial.csv", csv);
  for (const auto& method : kMethods) {
    for (const std::string lambda : {"path", "auto", "cv"}) {
      if (method == "sulda" && lambda != "path") continue;
      SCOPED_TRACE(method + " " + lambda);
      std::vector<std::string> words = {"select", file, "--method", method};
      if (method != "sulda") words.insert(words.end(), {"--lambda", lambda});
      const Finished run = run_program(words);
      EXPECT_EQ(run.code, 0) << run.err;
      EXPECT_NE(run.err.find("no feature is related to the classes"), std::string::npos) << run.err;
    }
  }
}

TEST(ScoringMethods, WhatIsNotUsedAndWhatWasNotReachedIsSaid) {
  Finished run = run_program({"select", "sonar", "--method", "gloss", "--lambda", "auto", "-k", "3"});
  EXPECT_NE(run.err.find("-k is not used: lambda decides"), std::string::npos) << run.err;
  run = run_program({"select", "sonar", "--method", "sulda", "-k", "3"});
  EXPECT_NE(run.err.find("-k is not used: the method has one answer"), std::string::npos) << run.err;
  run = run_program({"select", "sonar", "--method", "gloss", "--lambda", "auto"});
  EXPECT_EQ(run.err.find("-k is not used"), std::string::npos) << run.err;
  run = run_program(
      {"select", "sonar", "--method", "rvm-row", "--max-iterations", "1", "-k", "3", "--json", "--quiet"});
  EXPECT_EQ(run.json()["status"], "iteration_limit");
  run = run_program(
      {"select", "sonar", "--method", "rvm-row", "--rvm-update", "em", "-k", "5", "--json", "--quiet"});
  EXPECT_EQ(run.json()["path"][0]["k"], 5);
  run = run_program(
      {"select", "sonar", "--method", "sda", "--tolerance", "0", "-k", "3", "--max-iterations", "3"});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST(ScoringMethods, ThreadsDoNotChangeTheAnswer) {
  for (const auto& method : kMethods) {
    SCOPED_TRACE(method);
    std::vector<json> answers;
    for (const std::string threads : {"1", "2", "8"}) {
      const Finished run = run_program(
          {"select", "sonar", "--method", method, "-k", "1:10", "--threads", threads, "--json", "--quiet"});
      ASSERT_EQ(run.code, 0) << run.err;
      answers.push_back(run.json()["discriminants"]);
    }
    EXPECT_EQ(answers[0], answers[1]);
    EXPECT_EQ(answers[0], answers[2]);
  }
}

TEST(ScoringMethods, RefusalsNameTheWayOut) {
  const auto refused = [](std::vector<std::string> words, int code, const std::string& says) {
    words.insert(words.begin(), {"select"});
    const Finished run = run_program(words);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_NE(run.err.find(says), std::string::npos) << run.err;
  };
  refused({"sonar", "--method", "gloss", "--lambda", "-1"}, 2,
          "a positive number, or path, cv, cv-min, auto, or auto:FRACTION");
  refused({"sonar", "--method", "gloss", "--lambda", "much"}, 2,
          "a positive number, or path, cv, cv-min, auto, or auto:FRACTION");
  refused({"sonar", "--method", "gloss", "--lambdas", "1"}, 2, "2 or more");
  refused({"sonar", "--method", "gloss", "--lambda-ratio", "2"}, 2, "between 0 and 1");
  refused({"sonar", "--method", "rvm-row", "--prune", "-1"}, 2, "--prune");
  refused({"sonar", "--method", "rvm-row", "--prune", "1"}, 2, "--prune 1, but a fraction");
  refused({"sonar", "--method", "rvm-row", "--alpha", "0"}, 2, "--alpha");
  refused({"sonar", "--method", "sfd", "--C", "1", "--lambda", "2"}, 2, "leave one out");
  refused({"sonar", "--method", "rvm-row", "--include", "V3", "-k", "5"}, 2, "--include");
  refused({"sonar", "--method", "gslda", "--lambda", "2"}, 2, "--lambda");
}

}  // namespace
}  // namespace subspectra::scoring_test
