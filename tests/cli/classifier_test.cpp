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
  EXPECT_NE(lda.err.find("--C is an option of --classifier svm and of --method sfd"), std::string::npos)
      << lda.err;
  for (const char* command : {"evaluate", "fit"}) {
    const Finished scale =
        run_program({command, "sonar", "--lengthscale", "2", "-k", "2", "--quiet", "-o", "/dev/null"});
    EXPECT_EQ(scale.code, 2);
    EXPECT_NE(
        scale.err.find("--lengthscale is an option of --classifier gp-laplace, gp-ep and of --method gp-ard"),
        std::string::npos)
        << scale.err;
  }
  const Finished select = run_program({"select", "sonar", "--lengthscale", "2"});
  EXPECT_EQ(select.code, 2);
  EXPECT_NE(select.err.find("--lengthscale is an option of gp-ard, but"), std::string::npos) << select.err;
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
  const Finished gamma = run_program({"evaluate", "sonar", "--classifier", "svm", "--svm-gamma", "1"});
  EXPECT_EQ(gamma.code, 2);
  EXPECT_EQ(
      gamma.err,
      "subspectra: error: --svm-gamma is an option of --svm-kernel poly and rbf, but the kernel is linear; leave it out\n");
  EXPECT_EQ(
      run_program({"evaluate", "sonar", "--classifier", "svm", "--svm-kernel", "rbf", "--svm-degree", "3"})
          .code,
      2);
  const Finished many =
      run_program({"fit", "sonar", "-k", "2", "--classifier", "knn", "--neighbors", "1000", "-o", model});
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_NE(many.err.find("warning: --neighbors 1000 is more than the 208 rows to learn from"),
            std::string::npos)
      << many.err;
}

TEST(ClassifierOption, OneClassIsRefusedWhateverTheMethodLooksAt) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("one.csv", "a,b,class\n1,2,x\n2,1,x\n4,4,x\n3,9,x\n");
  for (const std::string method : {"gslda", "spca", "dspca", "pca", "qalpha"}) {
    const Finished fit =
        run_program({"fit", table, "--method", method, "-k", "1", "-o", scratch.file("m.json")});
    EXPECT_EQ(fit.code, 3) << method;
    EXPECT_NE(fit.err.find("'class' holds one class only ('x')"), std::string::npos) << fit.err;
    EXPECT_EQ(run_program({"evaluate", table, "--method", method}).code, 3) << method;
  }
}

TEST(ClassifierOption, TheTimeLimitEndsTheTrainingAndTheModelSaysSo) {
  const ScratchDirectory scratch;
  const std::vector<std::vector<std::string>> kinds = {
      {"--classifier", "gp-ep", "-k", "10"},
      {"--classifier", "svm", "-k", "10"},
      {"--classifier", "svm", "--svm-kernel", "rbf", "-k", "10"},
      {"--method", "gp-ard", "-k", "3"},
      {"--method", "svm-rmb", "-k", "3", "--classifier", "gp-laplace"}};
  for (const auto& words : kinds) {
    std::vector<std::string> all = {"fit", "sonar", "--time-limit", "1e-6", "-o", scratch.file("m.json")};
    all.insert(all.end(), words.begin(), words.end());
    const Finished fit = run_program(all);
    EXPECT_EQ(fit.code, 0) << fit.err;
    const auto model = nlohmann::json::parse(scratch.read("m.json"));
    EXPECT_EQ(model["status"], "time_limit") << words[1];
    EXPECT_NE(fit.err.find("was stopped (time_limit)"), std::string::npos) << fit.err;
    if (words[0] == "--classifier") {
      EXPECT_EQ(model["warnings"].size(), 2U);  // the method's and the classifier's
    }
    EXPECT_EQ(run_program({"predict", scratch.file("m.json"), "sonar", "--quiet"}).code, 0);
  }
  const auto evaluation =
      run_program({"evaluate", "sonar", "--time-limit", "1e-6", "--classifier", "gp-ep", "-k", "5", "--json"})
          .json();
  EXPECT_EQ(evaluation["status"], "time_limit");
  EXPECT_TRUE(evaluation["results"].empty());
}

TEST(Predict, AFiniteValueThatOverflowsIsRefusedWithItsPlace) {
  const ScratchDirectory scratch;
  scratch.write("train.csv", "a,b,class\n1e-9,2,p\n3e-9,1,q\n2e-9,5,p\n5e-9,4,q\n2e-9,2,p\n6e-9,2,q\n");
  scratch.write("new.csv", "a,b\n1e-9,2\n1e300,2\n");
  const std::string model = scratch.file("m.json");
  for (const std::string classifier : {"gp-laplace", "gp-ep", "lda", "knn"}) {
    const Finished fit = run_program({"fit", scratch.file("train.csv"), "--method", "all", "--standardize",
                                      "--classifier", classifier, "-o", model, "--quiet"});
    ASSERT_EQ(fit.code, 0) << fit.err;
    const Finished predict = run_program({"predict", model, scratch.file("new.csv")});
    EXPECT_EQ(predict.code, 3);
    EXPECT_EQ(
        predict.err,
        "subspectra: error: " + scratch.file("new.csv") +
            ": row 1, column a: the value is so large that it overflows in units of the training rows (such columns that the model uses: a); correct it, or leave the row out\n");
  }
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
  const auto result = run_program({"select", "sonar", "--method", "pca", "-k", "3", "--json"}).json();
  EXPECT_EQ(result["discriminants"]["matrix"].size(), 60U);
  EXPECT_EQ(result["discriminants"]["matrix"][0].size(), 3U);
  EXPECT_FALSE(result["discriminants"].contains("lambda"));
  EXPECT_EQ(result["options"]["variances"].size(), 3U);
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
