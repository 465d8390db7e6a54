/// What the commands write: JSON fields, tables, models and predictions.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "run_program.hpp"

namespace subspectra::results_test {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& [key, value] : object.items()) names.insert(key);
  return names;
}

json result_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Finished run = run_program(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return run.json();
}

std::vector<std::vector<std::string>> csv_rows(const std::string& text) {  // fields without quotes
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

TEST(SelectResult, HasTheFieldsOfTheContract) {
  const json result =
      result_of({"select", "sonar", "--method", "fisher", "-k", "2:4", "--seed", "7", "--threads", "1"});
  EXPECT_EQ(keys(result), (std::set<std::string>{"schema", "version", "method", "status", "options", "data",
                                                 "path", "ranking", "weights", "timing", "warnings"}));
  EXPECT_EQ(result["schema"], "subspectra.selection/1");
  EXPECT_EQ(result["version"], "0.1.0");
  EXPECT_EQ(result["method"], "fisher");
  EXPECT_EQ(result["status"], "heuristic");
  EXPECT_EQ(result["options"]["k"], json({2, 4}));
  EXPECT_EQ(result["options"]["seed"], 7);
  EXPECT_EQ(result["options"]["threads"], 1);
  EXPECT_EQ(result["options"]["ridge"], 0.0);
  EXPECT_EQ(result["options"]["missing"], "error");
  EXPECT_TRUE(result["options"]["time_limit"].is_null());
  EXPECT_EQ(result["data"]["source"], "sonar");
  EXPECT_EQ(result["data"]["rows"], 208);
  EXPECT_EQ(result["data"]["features"], 60);
  EXPECT_EQ(result["data"]["names"].size(), 60U);
  EXPECT_EQ(result["data"]["classes"], json({"M", "R"}));
  EXPECT_EQ(result["data"]["class_counts"], json({111, 97}));
  ASSERT_EQ(result["path"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const json& entry = result["path"][i];
    EXPECT_EQ(keys(entry), (std::set<std::string>{"k", "features", "names", "objective", "loadings"}));
    EXPECT_EQ(entry["k"], i + 2);
    EXPECT_EQ(entry["features"].size(), i + 2);
    EXPECT_EQ(entry["loadings"].size(), i + 2);
  }
  EXPECT_EQ(keys(result["timing"]), (std::set<std::string>{"read_s", "prepare_s", "search_s", "total_s"}));
  EXPECT_EQ(result["weights"].size(), 60U);
}

TEST(SelectResult, GreedyAnswersCarryACertificate) {
  const json result = result_of({"select", "sonar", "-k", "1:3", "--bounds"});
  EXPECT_EQ(result["method"], "gslda");
  for (const auto& entry : result["path"]) {
    EXPECT_GE(entry["upper_bound"].get<double>(), entry["objective"].get<double>());
    EXPECT_TRUE(entry["bounds"]["upper"].contains("single-drop"));
    EXPECT_TRUE(entry["bounds"]["lower_any"].contains("two-class"));
    EXPECT_EQ(entry["certified"], entry["gap"].get<double>() <= 1e-9);
    EXPECT_TRUE(entry["pass"] == "forward" || entry["pass"] == "backward");
  }
  EXPECT_EQ(result["path"][1]["names"], json({"V11", "V47"}));
}

TEST(SelectResult, MatricesGroupsAndRefit) {
  const ScratchDirectory scratch;
  ASSERT_EQ(run_program({"synth", "brownian-pair", "--features", "9", "-o", scratch.file("pair.csv")}).code,
            0);
  const json pair = result_of({"select", "--between", scratch.file("pair-A.csv"), "--within",
                               scratch.file("pair-B.csv"), "-k", "1:9"});
  EXPECT_EQ(pair["method"], "gslda");
  EXPECT_EQ(pair["path"].size(), 9U);
  const json pca = result_of({"select", "--covariance", scratch.file("pair-B.csv"), "-k", "2"});
  EXPECT_EQ(pca["method"], "gspca");
  EXPECT_EQ(pca["path"][0]["k"], 2);

  scratch.write("groups.csv", "feature,group\nV1,low\nV2,low\nV3,low\nV11,mid\nV12,mid\n");
  const json grouped = result_of({"select", "sonar", "--groups", scratch.file("groups.csv"), "-k", "1:3"});
  EXPECT_EQ(grouped["path"][0]["k"], 1);
  EXPECT_TRUE(grouped["path"][0].contains("groups"));

  ASSERT_EQ(run_program({"select", "sonar", "--method", "st", "--no-renormalize", "-k", "4", "-o",
                         scratch.file("st.json")})
                .code,
            0);
  const json refit = result_of({"select", "sonar", "--refit", scratch.file("st.json")});
  EXPECT_EQ(refit["method"], "refit");
  EXPECT_GT(refit["path"][0]["objective"].get<double>(), refit["path"][0]["given_objective"].get<double>());
  scratch.write("names.txt", "# mine\nV11,0.5\nV47,0.5\n");
  const json named = result_of({"select", "sonar", "--refit", scratch.file("names.txt")});
  EXPECT_NEAR(named["path"][0]["objective"].get<double>(), 0.367684, 1e-6);
}

/// The warning is in the result and on stderr, unless --quiet.
void expect_warned(std::vector<std::string> arguments, const std::string& part) {
  SCOPED_TRACE(part);
  arguments.emplace_back("--json");
  const Finished run = run_program(arguments);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("subspectra: warning: " + part), std::string::npos) << run.err;
  EXPECT_NE(run.json()["warnings"].dump().find(part), std::string::npos) << run.out;
}

TEST(IgnoredOptions, AreWarnedOf) {
  expect_warned({"select", "sonar", "--method", "fisher", "-k", "2", "--bounds"},
                "--bounds does nothing here: fisher computes no bounds");
  expect_warned({"evaluate", "sonar", "--method", "fisher", "-k", "2", "--bounds"},
                "--bounds does nothing here: evaluate shows no bounds");
  expect_warned({"select", "sonar", "-k", "3", "--components", "4"}, "--components 4 is more than there are");
  expect_warned({"select", "ionosphere", "--method", "gspca", "-k", "1", "--components", "40"},
                "--components 40 is more than there are");
  expect_warned({"evaluate", "sonar", "--method", "fisher", "-k", "2", "--components", "2"},
                "--components 2 is more than there are: 2 classes have 1 discriminant");
  for (const auto* method : {"gspca", "gslda"}) {
    expect_warned({"fit", "sonar", "--method", method, "-k", "3", "--components", "2", "-o", "/dev/null"},
                  "--components 2 is more than there are");
  }
  expect_warned({"fit", "sonar", "--method", "ks", "-k", "3", "--bounds", "-o", "/dev/null"},
                "--bounds does nothing here: fit shows no bounds");
}

TEST(SelectResult, IncludeAndExcludeHold) {
  const json result = result_of({"select", "sonar", "-k", "1:5", "--include", "V1", "--exclude", "V11,V12"});
  for (const auto& entry : result["path"]) {
    const auto names = entry["names"].get<std::set<std::string>>();
    EXPECT_TRUE(names.contains("V1"));
    EXPECT_FALSE(names.contains("V11") || names.contains("V12"));
  }
}

TEST(SelectResult, FileAndStdoutAgreeAndTheTableIsForPeople) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("result.json");
  const Finished both = run_program({"select", "sonar", "-k", "3", "--json", "-o", file});
  EXPECT_EQ(both.out, scratch.read("result.json"));
  EXPECT_EQ(both.err, "subspectra: note: sonar: 208 rows, 60 features, 2 classes (M 111, R 97)\n");
  const Finished table = run_program({"select", "sonar", "-k", "1:3"});
  EXPECT_NE(table.out.find("208 rows, 60 features, 2 classes (M 111, R 97)"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("k  objective     bound  gap %  pass     features"), std::string::npos)
      << table.out;
  const Finished dash = run_program({"select", "sonar", "-k", "3", "-o", "-"});
  EXPECT_EQ(dash.json()["path"], both.json()["path"]);
}

TEST(SelectResult, ReadsStandardInputAndSaysWhatItUnderstood) {
  const std::string table = "a,b,class\n1,5,u\n2,3,u\n4,4,v\n5,6,v\n";
  const Finished run = run_program({"select", "-", "-k", "1", "--verbose", "--json"}, {.input = table});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["path"][0]["names"], json({"a"}));
  EXPECT_NE(run.err.find("subspectra: note: "), std::string::npos);
  const Finished plain = run_program({"select", "-", "-k", "1", "--json"}, {.input = table});
  EXPECT_EQ(plain.err, "subspectra: note: -: 4 rows, 2 features, 2 classes (u 2, v 2)\n");
  const Finished quiet = run_program({"select", "-", "-k", "1", "--json", "--quiet"}, {.input = table});
  EXPECT_EQ(quiet.err, "");
}

TEST(SelectResult, WarningsGoToStderrUnlessQuiet) {
  const std::string table = "a,c,class\n1,7,u\n2,7,u\n4,7,v\n5,7,v\n";
  const Finished loud = run_program({"select", "-"}, {.input = table});
  EXPECT_EQ(loud.code, 0) << loud.err;
  EXPECT_TRUE(loud.err.starts_with("subspectra: warning: ")) << loud.err;
  EXPECT_EQ(run_program({"select", "-", "--quiet"}, {.input = table}).err, "");
}

TEST(EvaluateResult, HasTheFieldsOfTheContract) {
  const json result = result_of({"evaluate", "sonar", "--method", "fisher,ks", "-k", "1:6", "--null", "2"});
  EXPECT_EQ(result["schema"], "subspectra.evaluation/1");
  EXPECT_EQ(result["status"], "heuristic");
  const json& protocol = result["protocol"];
  EXPECT_EQ(protocol["cv"], 5);
  EXPECT_EQ(protocol["repeats"], 1);
  EXPECT_EQ(protocol["nested"], true);
  EXPECT_EQ(protocol["seed"], 0);
  EXPECT_EQ(protocol["classifier"], "lda");
  ASSERT_EQ(result["results"].size(), 12U);
  for (const auto& row : result["results"]) {
    EXPECT_EQ(keys(row), (std::set<std::string>{"method", "k", "lambda", "error", "stderr", "balanced_error",
                                                "balanced_stderr", "apparent_error", "log_loss",
                                                "log_loss_stderr", "information_bits", "null_error",
                                                "features", "entries", "stability", "stability_interval"}));
    EXPECT_EQ(row["features"], row["k"]);
  }
  ASSERT_EQ(result["chosen"].size(), 2U);
  EXPECT_EQ(keys(result["chosen"][0]), (std::set<std::string>{"method",
                                                              "k_best",
                                                              "k_one_standard_error",
                                                              "error",
                                                              "stderr",
                                                              "trivial_error",
                                                              "trivial_stderr",
                                                              "p_value",
                                                              "permutations",
                                                              "auc",
                                                              "confusion",
                                                              "sensitivity",
                                                              "specificity",
                                                              "roc",
                                                              "calibration",
                                                              "projection",
                                                              "projection_rows",
                                                              "projection_classes",
                                                              "features",
                                                              "feature_count"}));
  EXPECT_EQ(keys(result), (std::set<std::string>{"schema", "version", "status", "complete", "options", "data",
                                                 "protocol", "results", "chosen", "ranking", "comparison",
                                                 "folds", "timing", "warnings"}));
  EXPECT_EQ(result["options"]["k"], json({1, 6}));
  EXPECT_EQ(result["options"]["prior"], "empirical");
}

TEST(EvaluateResult, AStabilityJustBelowZeroIsNoMinusZeroInTheTable) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("noise.csv");
  ASSERT_EQ(run_program({"synth", "gaussian-classes", "--classes", "2", "--informative", "0", "--rows", "30",
                         "--features", "12", "--seed", "4", "-o", path})
                .code,
            0);
  const std::vector<std::string> words = {"evaluate", path,   "--method", "pearson",   "-k",
                                          "4",        "--cv", "2",        "--repeats", "4"};
  const double stability = result_of(words)["results"][0]["stability"];
  ASSERT_LT(stability, 0.0);
  ASSERT_GT(stability, -0.005);
  const std::string table = run_program(words).out;
  EXPECT_NE(table.find("  0.00  <- best"), std::string::npos) << table;
  EXPECT_EQ(table.find("-0.00"), std::string::npos) << table;
}

TEST(EvaluateResult, NamesTheGroupsThatStayTogether) {
  std::string table = "a,b,patient,class\n";
  for (int i = 0; i < 24; ++i) {
    table += std::to_string(i % 5 + i % 2) + ',' + std::to_string(i * 7 % 11) + ",p" + std::to_string(i / 3) +
             (i % 2 == 0 ? ",u\n" : ",v\n");
  }
  const std::vector<std::string> words = {"evaluate", "-", "--cv-groups", "patient", "--cv", "4", "-k", "1"};
  const Finished text = run_program(words, {.input = table});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("4-fold cross-validation, rows of one 'patient' together (8 groups), features"),
            std::string::npos)
      << text.out;
  auto as_json = words;
  as_json.emplace_back("--json");
  const json protocol = run_program(as_json, {.input = table}).json()["protocol"];
  EXPECT_EQ(protocol["cv_groups"], "patient");
  EXPECT_EQ(protocol["groups"], 8);
  EXPECT_FALSE(
      result_of({"evaluate", "sonar", "--method", "ks", "-k", "1"})["protocol"].contains("cv_groups"));
}

TEST(EvaluateResult, DoesNotDependOnTheNumberOfThreads) {
  const auto masked = [](const std::string& threads) {
    json result =
        result_of({"evaluate", "sonar", "--method", "fisher,ks", "--repeats", "3", "--threads", threads});
    EXPECT_EQ(result["options"]["threads"], std::stoi(threads));
    result.erase("timing");
    result["options"].erase("threads");
    return result;
  };
  const json one = masked("1");
  EXPECT_EQ(one, masked("2"));
  EXPECT_EQ(one, masked("8"));
}

TEST(EvaluateResult, TheOptimisticProtocolIsMarked) {
  const Finished run = run_program({"evaluate", "sonar", "--select-on", "all", "-k", "1:3", "--json"});
  EXPECT_EQ(run.json()["protocol"]["nested"], false);
  EXPECT_FALSE(run.json()["warnings"].empty());
  EXPECT_NE(run.err.find("subspectra: warning: "), std::string::npos);
}

TEST(EvaluateResult, TheTableShowsAReadableSubsetAndTheChoice) {
  const Finished run = run_program({"evaluate", "sonar", "--method", "fisher", "-k", "1:60"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("of 60 values of k are shown; --json has all"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("<- best"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("fisher: best k "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("optimism"), std::string::npos) << run.out;
}

TEST(Stopping, SignalsStillWriteTheResult) {
  for (const auto& [signal, code] :
       {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    const ScratchDirectory scratch;
    const Finished run =
        run_program({"evaluate", "sonar", "--repeats", "3000", "-o", scratch.file("e.json"), "--json"},
                    {.signal = signal, .signal_after_s = 1.5});
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_LT(run.seconds, 15.0);  // the machine may be busy; alone it takes two
    EXPECT_EQ(run.json()["status"], "interrupted");
    EXPECT_EQ(json::parse(scratch.read("e.json")), run.json());
    EXPECT_EQ(scratch.entries().size(), 1U);
  }
}

TEST(Stopping, BeforeThereIsAResultASignalEndsAtOnce) {
  // The program waits for its input; had the signal waited too, the end of input would give exit code 3.
  const Finished run =
      testing::run_shell("sleep 4 | { \"" SUBSPECTRA_PROGRAM
                         "\" select - <&3 & sleep 1; kill -TERM $!; wait $!; echo $?; } 3<&0");
  EXPECT_EQ(run.out, "143\n") << run.err;
}

TEST(Stopping, ATimeLimitIsAStatusAndExitCode0) {
  const Finished run =
      run_program({"evaluate", "sonar", "--repeats", "3000", "--time-limit", "0.7", "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  const json result = run.json();
  EXPECT_EQ(result["status"], "time_limit");
  EXPECT_EQ(result["options"]["time_limit"], 0.7);
}

TEST(ProgressLine, IsShownOnlyWhenAskedForWithoutATerminal) {
  std::vector<std::string> words = {"evaluate", "sonar", "--method",  "forward-lda",
                                    "-k",       "1:20",  "--repeats", "5"};
  EXPECT_EQ(run_program(words).err, "");
  words.insert(words.end(), {"--progress", "always"});
  const Finished run = run_program(words);
  EXPECT_NE(run.err.find("evaluate"), std::string::npos);
  EXPECT_EQ(run.err.find('\r'), std::string::npos);
}

TEST(FitAndPredict, RoundTripOnSonar) {
  const ScratchDirectory scratch;
  const std::string model = scratch.file("model.json");
  const Finished fit = run_program({"fit", "sonar", "-k", "10", "-o", model});
  ASSERT_EQ(fit.code, 0) << fit.err;
  const json written = json::parse(scratch.read("model.json"));
  EXPECT_EQ(written["schema"], "subspectra.model/1");
  EXPECT_EQ(written["chosen_by"]["rule"], "auto");
  EXPECT_EQ(written["features"].size(), 10U);
  EXPECT_EQ(written["options"]["k"], json({10, 10}));
  const Finished predict = run_program({"predict", model, "sonar"});
  ASSERT_EQ(predict.code, 0) << predict.err;
  EXPECT_NE(predict.err.find("error rate 0."), std::string::npos) << predict.err;
  const auto rows = csv_rows(predict.out);
  ASSERT_EQ(rows.size(), 209U);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"row", "predicted", "p_M", "p_R"}));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], std::to_string(i - 1));
    const double mine = std::stod(rows[i][2]);
    const double rock = std::stod(rows[i][3]);
    EXPECT_NEAR(mine + rock, 1.0, 1e-12);
    EXPECT_EQ(rows[i][1], mine >= rock ? "M" : "R");
  }
  const Finished file = run_program({"predict", model, "sonar", "--quiet", "-o", scratch.file("rows.csv")});
  EXPECT_EQ(file.out + file.err, "");
  EXPECT_EQ(scratch.read("rows.csv"), predict.out);
}

TEST(FitAndPredict, ARangeChoosesKByOneStandardErrorAndSaysSo) {
  const ScratchDirectory scratch;
  const Finished fit =
      run_program({"fit", "sonar", "--method", "gslda", "-k", "1:12", "-o", scratch.file("model.json")});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NE(fit.err.find("one-standard-error choice of 5-fold cross-validation"), std::string::npos)
      << fit.err;
  const json model = json::parse(scratch.read("model.json"));
  const json chosen = result_of({"evaluate", "sonar", "--method", "gslda", "-k", "1:12"})["chosen"][0];
  EXPECT_EQ(model["chosen_by"]["rule"], "one_standard_error");
  EXPECT_EQ(model["chosen_by"]["k_one_standard_error"], chosen["k_one_standard_error"]);
  EXPECT_EQ(model["features"].size(), chosen["k_one_standard_error"].get<std::size_t>());
}

TEST(FitAndPredict, ATimeLimitBeforeTheFirstFoldStillGivesAModel) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("model.json");
  const Finished fit =
      run_program({"fit", "sonar", "--method", "gslda", "-k", "2:7", "--time-limit", "1e-9", "-o", file});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NE(fit.err.find("warning: stopped (time_limit) before the first fold"), std::string::npos)
      << fit.err;
  const json model = json::parse(scratch.read("model.json"));
  EXPECT_EQ(model["status"], "time_limit");
  EXPECT_EQ(model["chosen_by"]["rule"], "largest");
  EXPECT_EQ(model["chosen_by"]["status"], "time_limit");
  EXPECT_EQ(model["features"].size(), 7U);
  EXPECT_EQ(model["options"]["k"], json({7, 7}));
  EXPECT_FALSE(model["warnings"].empty());
  EXPECT_EQ(run_program({"predict", file, "sonar"}).code, 0);
}

TEST(FitAndPredict, OptionsSayWhichRidgeWasUsed) {
  const ScratchDirectory scratch;
  ASSERT_EQ(
      run_program({"fit", "sonar", "--method", "gslda", "-k", "3", "-o", scratch.file("model.json")}).code,
      0);
  const json model = json::parse(scratch.read("model.json"));
  EXPECT_EQ(model["options"]["ridge"], model["ridge"]);
  EXPECT_EQ(model["options"]["ridge_asked"], "auto");
  const json evaluated = result_of({"evaluate", "sonar", "--method", "gslda", "-k", "1:2"});
  EXPECT_EQ(evaluated["options"]["ridge"], "auto");
  EXPECT_EQ(evaluated["options"]["ridge_all_rows"], model["ridge"]);
}

class SmallModel : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch.write("train.csv",
                  "a,b,c,kind\n1,5,0,x\n2,3,1,x\n1.5,4,1,x\n4,4,0,\"y, \"\"z\"\"\"\n5,6,1,\"y, \"\"z\"\"\"\n"
                  "4.2,5,0,\"y, \"\"z\"\"\"\n");
    const Finished fit =
        run_program({"fit", scratch.file("train.csv"), "--method", "fisher", "-k", "2", "-o", model});
    ASSERT_EQ(fit.code, 0) << fit.err;
  }
  Finished predict(const std::string& table, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"predict", model, "-"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, {.input = table});
  }
  ScratchDirectory scratch;
  std::string model = scratch.file("model.json");
};

TEST_F(SmallModel, QuotesClassNamesAndNeedsNoLabels) {
  const Finished run = predict("a,b,c\n1,5,0\n5,5,1\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("row,predicted,p_x,\"p_y, \"\"z\"\"\"\n0,x,")) << run.out;
  EXPECT_EQ(run.err, "subspectra: note: -: 2 rows, 3 features, no labels\n");
}

TEST_F(SmallModel, MatchesColumnsByNameInAnyOrder) {
  const Finished straight = predict("a,b,c\n1,5,0\n5,5,1\n");
  EXPECT_EQ(predict("more,c,b,a\n9,0,5,1\n9,1,5,5\n").out, straight.out);
  EXPECT_EQ(predict("kind,c,b,a\nx,0,5,1\nx,1,5,5\n").out, straight.out);
  EXPECT_EQ(predict("id,c,b,a\nq1,0,5,1\nq2,1,5,5\n", {"--exclude", "id"}).out, straight.out);
}

TEST_F(SmallModel, TextIsRefusedOnlyWhereTheModelNeedsNumbers) {
  const Finished straight = predict("a,b,c\n1,5,0\n5,5,1\n");
  const Finished ignored = predict("id,c,b,a,note\nq1,low,5,1,7\nq2,high,5,5,late\n");
  EXPECT_EQ(ignored.code, 0) << ignored.err;
  EXPECT_EQ(ignored.out, straight.out);
  for (const char* table : {"id,a,b\nq1,1,5\nq2,oops,5\n", "id,a,b\nq1,1,5\n\nq2,oops,5\n"}) {
    const Finished refused = predict(table);
    EXPECT_EQ(refused.code, 3);
    EXPECT_NE(refused.err.find(":2: 'oops' is not a number in column 'a', which the model uses"),
              std::string::npos)
        << refused.err;
  }
}

TEST_F(SmallModel, ClassesItDoesNotKnowAreNamed) {
  const Finished run = predict("a,b,kind\n1,5,x\n5,5,new\n4,5,new\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("the model does not know class 'new' of 'kind', which 2 rows have"),
            std::string::npos)
      << run.err;
}

TEST_F(SmallModel, InfiniteValuesHaveTheirPlace) {
  const Finished run = predict("c,a,b\ninf,1,5\n0,1e999,5\n");
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.err.find(":3:2: '1e999' is too large for a double"), std::string::npos) << run.err;
}

TEST_F(SmallModel, NamesWhatIsMissing) {
  const Finished run = predict("c,zz\n1,5\n5,5\n");
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("lacks 2 of the 2 columns the model uses: a, b"), std::string::npos) << run.err;
}

TEST_F(SmallModel, MissingValuesAreRefusedOrTheirRowsLeftOut) {
  const std::string table = "a,b,c\n1,5,0\n,5,1\n5,5,1\n";
  const Finished refused = predict(table);
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("--missing drop"), std::string::npos) << refused.err;
  const Finished dropped = predict(table, {"--missing", "drop"});
  ASSERT_EQ(dropped.code, 0) << dropped.err;
  const auto rows = csv_rows(dropped.out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1][0], "0");
  EXPECT_EQ(rows[2][0], "2");
}

TEST_F(SmallModel, DamagedAndForeignModelsAreRefused) {
  const std::string good = scratch.read("model.json");
  const auto refused = [&](const std::string& content) {
    const std::string path = scratch.write("bad.json", content);
    const Finished run = run_program({"predict", path, "sonar"});
    EXPECT_EQ(run.code, 3) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find("bad.json"), std::string::npos) << run.err;
  };
  refused("");
  refused("{}");
  refused("[1, 2");
  refused(good.substr(0, good.size() / 2));
  refused(R"({"schema": "subspectra.selection/1"})");
  json broken = json::parse(good);
  broken["centroids"] = json::array({json::array({1.0})});
  refused(broken.dump());
  broken = json::parse(good);
  broken["priors"][0] = "half";
  refused(broken.dump());
  EXPECT_EQ(run_program({"predict", scratch.file("none.json"), "sonar"}).code, 3);
}

TEST(Lists, MethodsAndDatasetsInBothForms) {
  const Finished methods = run_program({"methods"});
  const json list = run_program({"methods", "--json"}).json();
  for (const auto& method : list)
    EXPECT_NE(methods.out.find(method["name"].get<std::string>()), std::string::npos);
  EXPECT_GE(list.size(), 4U);
  const json datasets = run_program({"datasets", "--json"}).json();
  ASSERT_EQ(datasets.size(), 2U);
  EXPECT_EQ(datasets[0]["name"], "sonar");
  EXPECT_EQ(datasets[0]["rows"], 208);
  EXPECT_EQ(datasets[1]["features"], 34);
}

}  // namespace
}  // namespace subspectra::results_test
