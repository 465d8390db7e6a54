/// Q-alpha through the program: select, fit, predict, evaluate, verify.
#include <gtest/gtest.h>

#include <string>

#include "run_program.hpp"

namespace subspectra::qalpha_test {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

const std::vector<std::string> kMethods = {"qalpha",           "qalpha-basic", "qalpha-ritz",
                                           "qalpha-laplacian", "qalpha-gap",   "qalpha-supervised",
                                           "qalpha-semi",      "qalpha-kernel"};

TEST(QAlphaCommands, SelectWritesWeightsThatVerifyAccepts) {
  const ScratchDirectory scratch;
  for (const auto& method : kMethods) {
    SCOPED_TRACE(method);
    ASSERT_EQ(run_program({"select", "sonar", "--method", method, "-k", "1:5", "-o", scratch.file("r.json"),
                           "--quiet"})
                  .code,
              0);
    const Finished verified = run_program({"verify", scratch.file("r.json"), "sonar", "--json"});
    EXPECT_EQ(verified.code, 0) << verified.err;
    EXPECT_EQ(verified.json()["holds"], true);
  }
}

TEST(QAlphaCommands, IsTheDefaultWithoutLabelsAndSaysWhereTheWeightsFall) {
  const Finished run = run_program(
      {"select", "sonar", "--target", "none", "--exclude", "class", "--clusters", "3", "-k", "4", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json result = run.json();
  EXPECT_EQ(result["method"], "qalpha");
  EXPECT_EQ(result["weights"].size(), 60U);
  EXPECT_EQ(result["options"]["clusters"], 3);
  EXPECT_GT(result["relevance"]["cut"]["k"], 0);
  EXPECT_LE(result["relevance"]["cut"]["weight_below"].get<double>(),
            result["relevance"]["cut"]["bound_lemma_13"].get<double>());
  EXPECT_LE(result["relevance"]["passes"], 200);
  double before = 0.0;
  for (const auto& point : result["trace"]) {
    EXPECT_GE(point["objective"].get<double>(), before * (1.0 - 1e-12));
    before = point["objective"];
  }
  const Finished text = run_program({"select", "sonar", "--target", "none", "--exclude", "class", "-k", "4"});
  EXPECT_NE(text.out.find("the weights fall most after the first"), std::string::npos);
}

TEST(QAlphaCommands, AnEmptyLabelIsAnUnlabelledRow) {
  const ScratchDirectory scratch;
  std::string table = "a,b,c,d,class\n";
  for (int i = 0; i < 30; ++i) {
    const int kind = i % 2;
    for (int j = 0; j < 4; ++j)
      table += std::to_string((j < 2 ? 3.0 * kind : 0.0) + 0.1 * ((i * 37 + j * 11) % 17)) + ',';
    table += i % 3 == 0 ? "" : (kind == 0 ? "u" : "v");
    table += '\n';
  }
  scratch.write("t.csv", table);
  const Finished run = run_program({"select", scratch.file("t.csv"), "--target", "class", "--method",
                                    "qalpha-semi", "-k", "2", "--json", "--quiet"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["path"][0]["names"], json({"a", "b"}));
  EXPECT_EQ(run_program({"select", scratch.file("t.csv"), "--target", "class", "--method", "qalpha", "-k",
                         "2", "--quiet"})
                .code,
            0);
  const Finished refused =
      run_program({"select", scratch.file("t.csv"), "--target", "class", "--method", "qalpha-supervised"});
  EXPECT_EQ(refused.code, 3);
}

TEST(QAlphaCommands, FitAndEvaluateTakeTheSets) {
  const ScratchDirectory scratch;
  for (const std::string method : {"qalpha", "qalpha-supervised"}) {
    const Finished fitted = run_program(
        {"fit", "ionosphere", "--method", method, "-k", "5", "-o", scratch.file("m.json"), "--quiet"});
    ASSERT_EQ(fitted.code, 0) << fitted.err;
    EXPECT_EQ(
        run_program({"predict", scratch.file("m.json"), "ionosphere", "-o", scratch.file("p.csv")}).code, 0);
  }
  const Finished evaluated = run_program({"evaluate", "ionosphere", "--method", "qalpha,qalpha-supervised",
                                          "--cv", "3", "-k", "1:4", "--json", "--quiet"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.json()["results"].size(), 8U);
}

TEST(QAlphaCommands, AColumnOfAnotherScaleIsNamedAndStandardizingHelps) {
  const ScratchDirectory scratch;
  for (const char* exponent : {"e200", "e-200"}) {
    SCOPED_TRACE(exponent);
    std::string table = "a,wide,c,class\n";
    for (int i = 0; i < 24; ++i) {
      const int kind = i % 2;
      for (int j = 0; j < 3; ++j) {
        table += std::to_string((j < 2 ? 3.0 * kind : 0.0) + 0.1 * ((i * 37 + j * 11) % 17));
        table += j == 1 ? std::string(exponent) + ',' : std::string(",");
      }
      table += kind == 0 ? "u\n" : "v\n";
    }
    scratch.write("t.csv", table);
    for (const std::string method : {"qalpha", "qalpha-supervised"}) {
      const std::vector<std::string> command = {
          "select", scratch.file("t.csv"), "--method", method, "-k", "2", "--json", "--quiet"};
      const Finished as_given = run_program(command);
      if (std::string(exponent) == "e200") {
        EXPECT_EQ(as_given.code, 3);
        EXPECT_NE(as_given.err.find("column 'wide'"), std::string::npos) << as_given.err;
        EXPECT_NE(as_given.err.find("--standardize"), std::string::npos) << as_given.err;
        EXPECT_EQ(as_given.err.find("nan"), std::string::npos) << as_given.err;
      } else {
        EXPECT_EQ(as_given.code, 0) << as_given.err;
        EXPECT_EQ(as_given.json()["path"][0]["names"], json({"a", "wide"}));
      }
      auto standardized = command;
      standardized.emplace_back("--standardize");
      const Finished run = run_program(standardized);
      ASSERT_EQ(run.code, 0) << run.err;
      EXPECT_EQ(run.json()["path"][0]["names"], json({"a", "wide"}));
    }
  }
}

TEST(QAlphaCommands, WrongOptionsAreNamed) {
  const Finished kernel = run_program({"select", "sonar", "--method", "qalpha-kernel", "--kernel", "cubic"});
  EXPECT_EQ(kernel.code, 2);
  EXPECT_NE(kernel.err.find("--kernel"), std::string::npos);
  EXPECT_EQ(run_program({"select", "sonar", "--method", "qalpha", "--gamma", "1"}).code, 2);
}

}  // namespace
}  // namespace subspectra::qalpha_test
