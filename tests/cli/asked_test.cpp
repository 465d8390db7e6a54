/// What people ask next: details, cut-short runs, confusion matrices, the chosen columns for use elsewhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "run_program.hpp"

namespace subspectra::asked_test {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

std::vector<std::vector<std::string>> csv_rows(const std::string& text) {  // RFC 4180
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

json written(const ScratchDirectory& scratch, const std::string& name) {
  return json::parse(scratch.read(name));
}

TEST(EvaluateEnds, WithEverythingTheContractNames) {
  const ScratchDirectory scratch;
  const Finished run = run_program({"evaluate", "sonar", "--method", "gslda,fisher", "-k", "1:8", "--null",
                                    "9", "-o", scratch.file("e.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const json result = written(scratch, "e.json");
  EXPECT_EQ(result["complete"], true);
  ASSERT_EQ(result["chosen"].size(), 2U);
  for (const json& choice : result["chosen"]) {
    for (const char* field :
         {"method", "k_best", "k_one_standard_error", "error", "stderr", "trivial_error", "p_value", "auc",
          "confusion", "sensitivity", "specificity", "roc", "calibration", "projection", "features"}) {
      EXPECT_TRUE(choice.contains(field)) << field;
    }
    EXPECT_NEAR(choice["trivial_error"].get<double>(), 97.0 / 208.0, 0.001);
    EXPECT_EQ(choice["p_value"], 0.1);
    int rows = 0;
    for (const json& row : choice["confusion"]) {
      for (const json& count : row) rows += count.get<int>();
    }
    EXPECT_EQ(rows, 208);
    EXPECT_EQ(choice["projection"].size(), 208U);
    EXPECT_LE(choice["roc"].size(), 100U);
    for (const json& feature : choice["features"]) {
      EXPECT_EQ(feature["name"], fmt::format("V{}", feature["index"].get<int>() + 1));
      EXPECT_LE(feature["frequency"].get<double>(), 1.0);
      for (const json& one : feature["substitutes"]) EXPECT_TRUE(one.contains("frequency"));
    }
    // The set is that of select at this size.
    const int k = choice["k_one_standard_error"];
    const json set = run_program({"select", "sonar", "--method", choice["method"].get<std::string>(), "-k",
                                  std::to_string(k), "--json"})
                         .json()["path"][0]["features"];
    json features = json::array();
    for (const json& feature : choice["features"]) features.push_back(feature["index"]);
    EXPECT_EQ(features, set);
  }
  ASSERT_EQ(result["comparison"].size(), 1U);
  EXPECT_LE(result["comparison"][0]["difference"], 0.0);
  EXPECT_EQ(result["ranking"][0]["method"], result["comparison"][0]["methods"][0]);
  ASSERT_EQ(result["folds"].size(), 10U);
  double sum = 0.0;
  for (const json& fold : result["folds"]) {
    EXPECT_EQ(fold["features"].size(), fold["k"].get<std::size_t>());
    if (fold["method"] == "gslda") sum += fold["error"].get<double>();
  }
  EXPECT_NEAR(sum / 5.0, result["chosen"][0]["error"].get<double>(), 0.005);
  for (const char* words :
       {"always naming the largest class: 0.46", "AUC 0.", "p = 0.1000, from 9 permutations", "sensitivity",
        "calibration", "the model on all rows has", "ranking"}) {
    EXPECT_NE(run.out.find(words), std::string::npos) << words << '\n' << run.out;
  }
}

TEST(EvaluateEnds, WithAPlainSentenceWhereTheErrorTellsNothing) {
  const ScratchDirectory scratch;
  ASSERT_EQ(run_program({"synth", "gaussian-classes", "--classes", "2", "--informative", "0", "--rows", "60",
                         "--features", "8", "--seed", "3", "-o", scratch.file("noise.csv")})
                .code,
            0);
  const Finished run =
      run_program({"evaluate", scratch.file("noise.csv"), "--method", "gslda", "--shrinkage", "0"});
  EXPECT_NE(std::regex_replace(run.out, std::regex("\\n +"), " ").find("always naming the largest class ("),
            std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("NOTE: "), std::string::npos) << run.out;
  EXPECT_EQ(run_program({"evaluate", "sonar", "-k", "1:5"}).out.find("NOTE: "), std::string::npos);
}

/// A table with names that need quotes.
std::string awkward_table() {
  std::string table = "\"a,1\",\"b \"\"2\"\"\",c,class\n";
  for (int i = 0; i < 30; ++i) {
    table += std::to_string(i % 7 + 3 * (i % 2)) + ',' + std::to_string(i * 5 % 11) + ',' +
             std::to_string(i * i % 13) + (i % 2 == 0 ? ",\"yes, it is\"\n" : ",no\n");
  }
  return table;
}

TEST(Details, HaveEveryRowAndEveryFoldAsJsonAndAsCsv) {
  const ScratchDirectory scratch;
  scratch.write("t.csv", awkward_table());
  const std::string table = scratch.file("t.csv");
  for (const char* name : {"d.json", "d.csv"}) {
    const Finished run = run_program({"evaluate", table, "--method", "fisher,ks", "-k", "1:3", "--repeats",
                                      "2", "--details", scratch.file(name), "-o", scratch.file("e.json")});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const json details = written(scratch, "d.json");
  const json result = written(scratch, "e.json");
  EXPECT_EQ(details["schema"], "subspectra.evaluation-details/1");
  ASSERT_EQ(details["rows"].size(), 60U);
  ASSERT_EQ(details["folds"].size(), 20U);
  const auto rows = csv_rows(scratch.read("d.csv"));
  ASSERT_EQ(rows.size(), 81U);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"record", "method", "k", "repeat", "fold", "row", "truth", "predicted",
                                      "times", "error", "p_no", "p_yes, it is", "features"}));
  double wrong = 0.0;
  for (std::size_t i = 0; i < 60; ++i) {
    const json& row = details["rows"][i];
    const auto& line = rows[i + 1];
    ASSERT_EQ(line.size(), 13U);
    EXPECT_EQ(line[0], "row");
    EXPECT_EQ(line[1], row["method"]);
    EXPECT_EQ(line[5], std::to_string(i % 30));
    EXPECT_EQ(line[6], i % 2 == 0 ? "yes, it is" : "no");
    EXPECT_EQ(line[6], row["truth"]);
    EXPECT_EQ(line[7], row["predicted"]);
    EXPECT_EQ(line[8], "2");
    EXPECT_EQ(std::stod(line[9]), row["error"].get<double>());
    EXPECT_EQ(std::stod(line[10]), row["probabilities"][0].get<double>());
    EXPECT_NEAR(std::stod(line[10]) + std::stod(line[11]), 1.0, 1e-6);
    if (i < 30) wrong += row["error"].get<double>() / 30.0;
  }
  EXPECT_NEAR(wrong, result["chosen"][0]["error"].get<double>(), 1e-12);
  for (std::size_t i = 0; i < 20; ++i) {
    const json& fold = details["folds"][i];
    EXPECT_EQ(fold["features"], result["folds"][i]["features"]);
    std::string names;
    for (const json& name : fold["names"]) names += (names.empty() ? "" : ";") + name.get<std::string>();
    EXPECT_EQ(rows[61 + i][0], "fold");
    EXPECT_EQ(rows[61 + i][12], names);
    EXPECT_EQ(std::stod(rows[61 + i][9]), fold["error"].get<double>());
  }
}

TEST(Details, AnotherEndingIsRefusedBeforeTheWork) {
  const Finished run = run_program({"evaluate", "sonar", "--details", "rows.txt"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find(".json or .csv"), std::string::npos) << run.err;
  EXPECT_EQ(run_program({"evaluate", "sonar", "--details", "a.json", "-o", "a.json"}).code, 2);
}

TEST(CutShort, SaysSoFirstAndNamesNoBest) {
  const ScratchDirectory scratch;
  const Finished run = run_program(
      {"evaluate", "sonar", "--repeats", "100000", "--time-limit", "0.5", "-o", scratch.file("e.json")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("CUT SHORT (time_limit): ")) << run.out;
  EXPECT_EQ(run.out.find("<- best"), std::string::npos) << run.out;
  const json result = written(scratch, "e.json");
  EXPECT_EQ(result["complete"], false);
  EXPECT_FALSE(result.contains("chosen"));
  EXPECT_FALSE(result.contains("folds"));
}

TEST(FitReports, WhatEvaluateSaysOfTheSameChoice) {
  for (const char* method : {"gslda", "fisher", "gloss", "pca"}) {
    const ScratchDirectory scratch;
    const Finished fit = run_program(
        {"fit", "sonar", "--method", method, "-k", "1:8", "--seed", "3", "-o", scratch.file("m.json")});
    ASSERT_EQ(fit.code, 0) << fit.err;
    const Finished evaluate = run_program(
        {"evaluate", "sonar", "--method", method, "-k", "1:8", "--seed", "3", "-o", scratch.file("e.json")});
    const json by = written(scratch, "m.json")["chosen_by"];
    const json choice = written(scratch, "e.json")["chosen"][0];
    for (const char* field : {"k_best", "k_one_standard_error", "error", "stderr", "trivial_error", "auc",
                              "confusion", "sensitivity", "specificity", "calibration", "features"}) {
      EXPECT_EQ(by[field], choice[field]) << method << ' ' << field;
    }
    EXPECT_FALSE(by.contains("roc"));
    const auto block = evaluate.out.find("\n\n" + std::string(method) + " at k = ");
    ASSERT_NE(block, std::string::npos) << evaluate.out;
    EXPECT_NE(fit.out.find(evaluate.out.substr(block + 1)), std::string::npos) << fit.out;
    EXPECT_EQ(run_program({"predict", scratch.file("m.json"), "sonar"}).code, 0);
  }
  const ScratchDirectory scratch;
  const Finished given = run_program({"fit", "sonar", "-k", "3", "-o", scratch.file("m.json")});
  EXPECT_EQ(given.out.find("AUC"), std::string::npos);
  EXPECT_FALSE(written(scratch, "m.json")["chosen_by"].contains("auc"));
}

TEST(PredictReports, TheConfusionMatrixBesideTheCsvAndNeverInIt) {
  const ScratchDirectory scratch;
  scratch.write("t.csv", awkward_table());
  ASSERT_EQ(run_program({"fit", scratch.file("t.csv"), "-k", "2", "-o", scratch.file("m.json")}).code, 0);
  const Finished piped = run_program({"predict", scratch.file("m.json"), scratch.file("t.csv")});
  int counts[2][2] = {};
  const auto rows = csv_rows(piped.out);
  ASSERT_EQ(rows.size(), 31U);
  for (std::size_t i = 0; i < 30; ++i) ++counts[i % 2 == 0 ? 1 : 0][rows[i + 1][1] == "no" ? 0 : 1];
  std::istringstream lines(piped.err.substr(piped.err.find("truth")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "truth       no  yes, it is");
  for (const int c : {0, 1}) {
    std::getline(lines, line);
    std::istringstream numbers(line.substr(10));
    int no = -1, yes = -1;
    numbers >> no >> yes;
    EXPECT_EQ(no, counts[c][0]) << line;
    EXPECT_EQ(yes, counts[c][1]) << line;
  }
  const Finished filed =
      run_program({"predict", scratch.file("m.json"), scratch.file("t.csv"), "-o", scratch.file("p.csv")});
  EXPECT_TRUE(filed.out.starts_with("truth ")) << filed.out;
  EXPECT_EQ(scratch.read("p.csv"), piped.out);
  EXPECT_NE(filed.err.find("error rate"), std::string::npos);
  EXPECT_EQ(filed.err.find("truth"), std::string::npos);
  // A class that the model does not know has a row of its own.
  std::string table = awkward_table();
  table += "1,2,3,third\n";
  scratch.write("u.csv", table);
  const Finished unknown = run_program({"predict", scratch.file("m.json"), scratch.file("u.csv")});
  EXPECT_NE(unknown.err.find("\nthird "), std::string::npos) << unknown.err;
  // Without labels there is nothing to compare with.
  EXPECT_EQ(run_program({"predict", scratch.file("m.json"), scratch.file("t.csv"), "--target", "none",
                         "--exclude", "class"})
                .err.find("truth"),
            std::string::npos);
}

TEST(ChosenColumns, AreWrittenAsATableAndAsNamesThatIncludeReads) {
  const ScratchDirectory scratch;
  scratch.write("t.csv", awkward_table());
  const std::string table = scratch.file("t.csv");
  const Finished run =
      run_program({"select", table, "--method", "fisher", "-k", "2", "--write-table", scratch.file("two.csv"),
                   "--write-names", scratch.file("two.txt"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json names = run.json()["path"][0]["names"];
  const auto whole = csv_rows(awkward_table());
  const auto part = csv_rows(scratch.read("two.csv"));
  ASSERT_EQ(part.size(), whole.size());
  std::vector<std::size_t> columns;
  for (const json& name : names)
    columns.push_back(static_cast<std::size_t>(
        std::find(whole[0].begin(), whole[0].end(), name.get<std::string>()) - whole[0].begin()));
  columns.push_back(3);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(part[i].size(), 3U);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(part[i][j], whole[i][columns[j]]);
  }
  std::string lines;
  for (const json& name : names) lines += name.get<std::string>() + "\n";
  EXPECT_EQ(scratch.read("two.txt"), lines);
  const Finished again = run_program(
      {"select", table, "--method", "ks", "-k", "2", "--include", "@" + scratch.file("two.txt"), "--json"});
  EXPECT_EQ(again.json()["path"][0]["names"], names);
  EXPECT_EQ(run_program({"select", scratch.file("two.csv"), "--method", "fisher", "-k", "2", "--json"})
                .json()["path"][0]["objective"],
            run.json()["path"][0]["objective"]);
}

TEST(ChosenColumns, OfAPathAreThoseOfTheLastSetWhichIsSaid) {
  const ScratchDirectory scratch;
  const Finished run = run_program({"select", "sonar", "-k", "1:4", "--standardize", "--write-table",
                                    scratch.file("t.tsv"), "--write-names", scratch.file("n")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("of 4 sets the last, with 4 features, is written"), std::string::npos) << run.err;
  const std::string names = scratch.read("n");
  EXPECT_EQ(std::count(names.begin(), names.end(), '\n'), 4);
  const std::string first = scratch.read("t.tsv").substr(0, scratch.read("t.tsv").find('\n'));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\t'), 4);
  EXPECT_TRUE(first.ends_with("\tclass")) << first;
  // The table's own numbers, not standardized ones.
  const auto value = std::stod(scratch.read("t.tsv").substr(first.size() + 1));
  EXPECT_GE(value, 0.0);
  EXPECT_LE(value, 1.0);
}

TEST(ChosenColumns, AreRefusedBeforeTheWorkWhereTheyCannotBe) {
  EXPECT_EQ(run_program({"select", "sonar", "-k", "2", "--write-table", "x.json"}).code, 2);
  EXPECT_EQ(run_program({"select", "sonar", "-k", "2", "--write-table", "x.csv", "-o", "x.csv"}).code, 2);
  const ScratchDirectory scratch;
  scratch.write("s.csv", "1,0.5\n0.5,1\n");
  const Finished matrix = run_program(
      {"select", "--covariance", scratch.file("s.csv"), "-k", "1", "--write-table", scratch.file("x.csv")});
  EXPECT_EQ(matrix.code, 2);
  EXPECT_NE(matrix.err.find("--write-names"), std::string::npos) << matrix.err;
  EXPECT_EQ(run_program({"select", "--covariance", scratch.file("s.csv"), "-k", "1", "--write-names",
                         scratch.file("n")})
                .code,
            0);
  EXPECT_EQ(scratch.read("n"), "x0\n");
}

TEST(Transform, IsLearnedKeptByTheModelAndVerified) {
  const ScratchDirectory scratch;
  const auto fitted = [&](const char* transform) {
    const Finished run = run_program({"fit", "sonar", "--method", "fisher", "-k", "5", "--transform",
                                      transform, "-o", scratch.file(std::string(transform) + ".json")});
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(scratch.read(std::string(transform) + ".json"));
  };
  const json bent = fitted("asinh");
  EXPECT_EQ(bent["preprocessing"]["spread"].size(), 5U);
  EXPECT_EQ(bent["preprocessing"]["median"].size(), 5U);
  EXPECT_EQ(bent["options"]["transform"], "asinh");
  for (const char* none : {"auto", "none"}) EXPECT_FALSE(fitted(none)["preprocessing"].contains("spread"));
  EXPECT_NE(bent["centroids"], json::parse(scratch.read("none.json"))["centroids"]);
  EXPECT_EQ(run_program({"predict", scratch.file("asinh.json"), "sonar", "--quiet"}).code, 0);
  // What select finds on such columns holds for one who reads the table anew.
  const std::string result = scratch.file("r.json");
  ASSERT_EQ(run_program({"select", "sonar", "-k", "1:4", "--transform", "asinh", "-o", result}).code, 0);
  EXPECT_EQ(run_program({"verify", result, "sonar"}).code, 0);
  json plain = json::parse(scratch.read("r.json"));
  plain["options"]["transform"] = "none";
  scratch.write("plain.json", plain.dump());
  EXPECT_NE(run_program({"verify", scratch.file("plain.json"), "sonar"}).code, 0);
  EXPECT_EQ(run_program({"select", "sonar", "--transform", "log"}).code, 2);
  scratch.write("s.csv", "1,0.5\n0.5,1\n");
  const Finished matrix =
      run_program({"select", "--covariance", scratch.file("s.csv"), "-k", "1", "--transform", "asinh"});
  EXPECT_EQ(matrix.code, 2);
  EXPECT_NE(matrix.err.find("--transform"), std::string::npos) << matrix.err;
}

TEST(Transform, OfAutoIsWhatTheModelSays) {
  const ScratchDirectory scratch;
  ASSERT_EQ(run_program({"fit", "sonar", "-o", scratch.file("m.json"), "--quiet"}).code, 0);
  const json model = json::parse(scratch.read("m.json"));
  const bool bent = model["chosen_by"]["used"]["transform"] == "asinh";
  EXPECT_EQ(model["preprocessing"].contains("spread"), bent);
  ASSERT_EQ(
      run_program({"fit", "sonar", "--transform", "none", "-o", scratch.file("n.json"), "--quiet"}).code, 0);
  const json plain = json::parse(scratch.read("n.json"));
  EXPECT_EQ(plain["chosen_by"]["used"]["transform"], "none");
  EXPECT_FALSE(plain["preprocessing"].contains("spread"));
}

TEST(Loadings, HaveSignificantDigits) {
  const ScratchDirectory scratch;
  std::string table = "big,small,class\n";
  for (int i = 0; i < 20; ++i)
    table += std::to_string((i % 5 + 4 * (i % 2)) * 1000000) + ',' +
             std::to_string(0.001 * (i * 7 % 9 + i % 2)) + (i % 2 == 0 ? ",u\n" : ",v\n");
  scratch.write("t.csv", table);
  const Finished run = run_program({"select", scratch.file("t.csv"), "-k", "2"});
  const json loadings =
      run_program({"select", scratch.file("t.csv"), "-k", "2", "--json"}).json()["path"][0]["loadings"];
  for (const json& row : loadings) {
    const double value = row[0];
    EXPECT_NE(run.out.find(fmt::format("{:#.4g}", value)), std::string::npos) << value << '\n' << run.out;
    EXPECT_GT(std::abs(value), 0.0);
  }
  EXPECT_EQ(run.out.find(" 0.0000"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace subspectra::asked_test
