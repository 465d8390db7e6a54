/// --classifier and --C through fit, predict and evaluate; components as what is given to the classifier.
#include <gtest/gtest.h>

#include "run_program.hpp"

namespace subspectra {
namespace {

using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

TEST(ClassifierOption, AnSvmIsFittedSavedAndApplied) {
  const ScratchDirectory scratch;
  const std::string model = scratch.file("m.json");
  const Finished fit =
      run_program({"fit", "sonar", "--method", "snr", "-k", "10", "--classifier", "svm", "-o", model});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NE(fit.out.find("classifier svm, C = "), std::string::npos) << fit.out;
  const Finished predict = run_program({"predict", model, "sonar"});
  EXPECT_EQ(predict.code, 0) << predict.err;
  EXPECT_EQ(predict.out.substr(0, predict.out.find('\n')), "row,predicted,p_M,p_R");
  EXPECT_NE(predict.err.find("error rate 0."), std::string::npos) << predict.err;
  const Finished given = run_program({"fit", "sonar", "--method", "snr", "-k", "10", "--classifier", "svm",
                                      "--C", "0.25", "--json", "-o", scratch.file("g.json")});
  EXPECT_EQ(given.json()["C"], 0.25);
  EXPECT_EQ(given.json()["options"]["C"], 0.25);
  EXPECT_EQ(given.json()["options"]["classifier"], "svm");
}

TEST(ClassifierOption, EvaluationDoesNotDependOnThreads) {
  const std::vector<std::string> words = {"evaluate", "sonar", "--method",     "snr,pca,all",
                                          "-k",       "3:5",   "--classifier", "svm",
                                          "--C",      "1",     "--json",       "--threads"};
  auto one = words, two = words;
  one.emplace_back("1");
  two.emplace_back("2");
  const auto a = run_program(one).json(), b = run_program(two).json();
  EXPECT_EQ(a["results"], b["results"]);
  EXPECT_EQ(a["protocol"]["classifier"], "svm");
  ASSERT_EQ(a["results"].size(), 7U);
  EXPECT_TRUE(a["results"][6]["k"].is_null());  // all: -k has nothing to say
  EXPECT_EQ(a["results"][6]["features"], 60.0);
  EXPECT_TRUE(a["results"][6]["lambda"].is_null());
}

TEST(ClassifierOption, WhatCannotBeIsRefused) {
  EXPECT_EQ(run_program({"evaluate", "sonar", "--classifier", "tree"}).err,
            "subspectra: error: --classifier 'tree': one of lda|svm|knn|gp-laplace|gp-ep is needed\n");
  EXPECT_EQ(run_program({"evaluate", "sonar", "--classifier", "svm", "--C", "0"}).code, 2);
  const Finished lda = run_program({"evaluate", "sonar", "--C", "1"});
  EXPECT_EQ(lda.code, 2);
  EXPECT_NE(lda.err.find("--C is an option of sfd"), std::string::npos) << lda.err;
}

TEST(ClassifierOption, KernelsAndNeighboursAreFittedSavedAndApplied) {
  const ScratchDirectory scratch;
  const std::string model = scratch.file("m.json");
  const std::vector<std::pair<std::vector<std::string>, std::string>> kinds = {
      {{"--classifier", "svm", "--svm-kernel", "rbf", "--svm-gamma", "0.05"},
       "classifier svm, kernel rbf, C = "},
      {{"--classifier", "svm", "--svm-kernel", "poly", "--svm-degree", "3", "--C", "2"},
       "classifier svm, kernel poly, C = 2, "},
      {{"--classifier", "knn", "--neighbors", "3"}, "classifier knn, 3 neighbours"}};
  for (const auto& [words, says] : kinds) {
    std::vector<std::string> fit_words = {"fit", "sonar", "--method", "snr", "-k", "10", "-o", model};
    fit_words.insert(fit_words.end(), words.begin(), words.end());
    const Finished fit = run_program(fit_words);
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find(says), std::string::npos) << fit.out;
    const Finished predict = run_program({"predict", model, "sonar"});
    EXPECT_EQ(predict.code, 0) << predict.err;
    EXPECT_NE(predict.err.find("error rate 0."), std::string::npos) << predict.err;
  }
  for (const auto& [option, value, needs] :
       {std::tuple{"--neighbors", "3", "knn"}, {"--svm-kernel", "rbf", "svm"}, {"--svm-gamma", "1", "svm"}}) {
    const Finished stray = run_program({"evaluate", "sonar", option, value});
    EXPECT_EQ(stray.code, 2);
    EXPECT_NE(stray.err.find(std::string("is an option of --classifier ") + needs), std::string::npos);
  }
  EXPECT_EQ(run_program({"evaluate", "sonar", "--classifier", "knn", "--neighbors", "0"}).code, 2);
}

TEST(ClassifierOption, SelectorsOfMachinesStandBesideTheOthers) {
  const std::vector<std::string> words = {"evaluate", "sonar", "--method",     "svm-rfe,svm-rmb,gslda",
                                          "-k",       "3:5",   "--classifier", "knn",
                                          "--C",      "0.1",   "--json",       "--threads"};
  auto one = words, two = words;
  one.emplace_back("1");
  two.emplace_back("2");
  const auto a = run_program(one).json(), b = run_program(two).json();
  EXPECT_EQ(a["results"], b["results"]);
  ASSERT_EQ(a["results"].size(), 9U);
  EXPECT_EQ(a["protocol"]["classifier"], "knn");
  EXPECT_TRUE(a["protocol"]["nested"]);
  for (const auto& row : a["results"]) EXPECT_LT(row["error"], 0.5) << row;
}

TEST(ComponentsOnTheCommandLine, AreShownSavedAndApplied) {
  const Finished shown = run_program({"select", "sonar", "--method", "pca", "-k", "3"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("component"), std::string::npos) << shown.out;
  const auto json = run_program({"select", "sonar", "--method", "pca", "-k", "3", "--json"}).json();
  EXPECT_EQ(json["discriminants"]["matrix"].size(), 60U);
  EXPECT_EQ(json["discriminants"]["matrix"][0].size(), 3U);
  EXPECT_FALSE(json["discriminants"].contains("lambda"));
  EXPECT_EQ(json["options"]["variances"].size(), 3U);
  for (const std::string classifier : {"lda", "svm", "knn"}) {
    const ScratchDirectory scratch;
    const std::string model = scratch.file("m.json");
    const Finished fit =
        run_program({"fit", "sonar", "--method", "pca", "-k", "20", "--classifier", classifier, "-o", model});
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("k = 20"), std::string::npos) << fit.out;
    const Finished predict = run_program({"predict", model, "sonar"});
    EXPECT_EQ(predict.code, 0) << predict.err;
  }
  const auto shaved =
      run_program({"select", "sonar", "--method", "gene-shaving", "-k", "2", "--permutations", "5", "--json"})
          .json();
  EXPECT_EQ(shaved["options"]["sets"].size(), 2U);
}

}  // namespace
}  // namespace subspectra
