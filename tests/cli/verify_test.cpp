/// subspectra verify: true results pass, changed ones are named, foreign bytes are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <sstream>

#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

/// 40 rows of 9 features and three classes, with weights, a constant column and offsets.
std::string small_table() {
  std::string text = "a,b,c,d,e,f,g,h,constant,w,class\n";
  unsigned state = 1;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 8; ++j) {
      state = state * 1664525U + 1013904223U;
      const double noise = static_cast<double>(state >> 8U) / (1U << 24U);
      text += std::to_string((noise + (j < 4 ? 0.3 * (i % 3) * (j + 1) : 0.0)) * (j + 1) + 100.0 * j) + ',';
    }
    text += "7," + std::to_string(i % 4) + "," + std::string(1, static_cast<char>('u' + i % 3)) + '\n';
  }
  return text;
}

const json& check_named(const json& verification, std::string_view name) {
  for (const json& check : verification["checks"]) {
    if (check["name"] == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return verification["checks"][0];
}

/// A column that separates the classes all but perfectly takes the digits of log det(I + T) away: a value
/// that is not known does not hold.
TEST(VerifyCommand, DoesNotHoldWhatItKnowsTooFewDigitsOf) {
  const ScratchDirectory scratch;
  for (const std::string noise : {"1e-5", "1e-7", "1e-9"}) {
    std::string text;
    std::istringstream lines(small_table());
    int row = -1;
    for (std::string line; std::getline(lines, line); ++row) {
      const double apart = std::stod(noise) * ((row * 7) % 11 - 5);
      text += row < 0 ? "sep," + line + '\n' : fmt::format("{:.17g},{}\n", row % 3 + apart, line);
    }
    scratch.write("table.csv", text);
    ASSERT_EQ(run_program({"select", "table.csv", "--criterion", "wilks", "-k", "1:4", "--exclude", "w", "-o",
                           "result.json", "--quiet"},
                          {.directory = scratch.path()})
                  .code,
              0);
    const Finished honest =
        run_program({"verify", "result.json", "table.csv"}, {.directory = scratch.path()});
    EXPECT_TRUE(honest.code == 0 || honest.code == 6) << honest.code << honest.err;
    const json result = json::parse(scratch.read("result.json"));
    for (std::size_t i = 0; i < result["path"].size(); ++i) {
      json changed = result;
      json& entry = changed["path"][i];
      entry["objective"] = entry["objective"].get<double>() * 1.0001;
      if (entry.contains("upper_bound"))
        entry["upper_bound"] = std::max(entry["upper_bound"].get<double>(), entry["objective"].get<double>());
      scratch.write("changed.json", changed.dump());
      EXPECT_NE(run_program({"verify", "changed.json", "table.csv"}, {.directory = scratch.path()}).code, 0)
          << noise << ' ' << entry["k"];
    }
  }
}

/// A column and its near-copy: select certifies both together from 31 digits, and a file that says less, or
/// more, is not taken for it.
TEST(VerifyCommand, FindsWhatIsWrongBesideANearCopy) {
  const ScratchDirectory scratch;
  const testing::RunSettings here{.directory = scratch.path()};
  std::string text = "a,b,class\n";
  for (int i = 0; i < 48; ++i) {
    const double a = std::round(1e4 * std::sin(3.0 * i + 0.2)) / 1e4;
    text +=
        fmt::format("{},{:.8f},{}\n", a, a + 4e-8 * (i % 2) + 1e-8 * (i * 7 % 11), i % 2 == 0 ? 'u' : 'v');
  }
  scratch.write("table.csv", text);
  for (const char* method : {"eslda", "gslda"}) {
    ASSERT_EQ(
        run_program(
            {"select", "table.csv", "--ridge", "0", "--method", method, "-o", "result.json", "--quiet"}, here)
            .code,
        0);
    const json result = json::parse(scratch.read("result.json"));
    ASSERT_EQ(result["path"].size(), 2U);
    ASSERT_EQ(result["path"][1]["certified"], true);
    const Finished honest = run_program({"verify", "result.json", "table.csv", "--json"}, here);
    EXPECT_TRUE(honest.code == 0 || honest.code == 6) << honest.err;
    for (const auto& words : honest.json()["not_checked"])
      EXPECT_NE(words.get<std::string>().find("the loadings: "), std::string::npos) << words;
    const auto code_of = [&](const json& changed) {
      scratch.write("changed.json", changed.dump());
      return run_program({"verify", "changed.json", "table.csv"}, here).code;
    };
    json less = result;
    less["path"].erase(1);
    EXPECT_EQ(code_of(less), less["status"] == "rank_limit" ? 6 : 1);
    json more = result;
    for (const char* key : {"objective", "upper_bound"})
      more["path"][1][key] = more["path"][1][key].get<double>() * (1.0 + 3e-9);
    EXPECT_EQ(code_of(more), 1);
    json bare = result;
    bare["path"][1].erase("loadings");
    EXPECT_EQ(code_of(bare), 1);
  }
}

TEST(VerifyCommand, HoldsForWhatSelectWrites) {
  const ScratchDirectory scratch;
  scratch.write("table.csv", small_table());
  scratch.write("groups.csv", "feature,group\na,first\nb,first\nc,second\ng,second\n");
  const std::vector<std::vector<std::string>> runs = {
      {"sonar", "-k", "1:20", "--bounds"},
      {"sonar", "--method", "gspca", "-k", "1:8", "--components", "2"},
      {"sonar", "--method", "fisher", "-k", "1:8", "--standardize"},
      {"sonar", "--method", "st", "-k", "1:8", "--no-renormalize"},
      {"ionosphere", "-k", "1:10", "--standardize", "--include", "V3", "--exclude", "V5,V6"},
      {"ionosphere", "--method", "st", "--threshold", "y", "-k", "3"},
      {"table.csv", "-k", "1:9", "--weights", "w"},
      {"table.csv", "-k", "1:8", "--weights", "w", "--criterion", "trace"},
      {"table.csv", "-k", "1:8", "--standardize", "--criterion", "wilks"},
      {"table.csv", "-k", "1:4", "--groups", "groups.csv", "--exclude", "w"},
      {"table.csv", "--method", "gspca", "-k", "1:3", "--groups", "groups.csv"},
      {"table.csv", "--method", "eslda", "-k", "1:3", "--groups", "groups.csv", "--pool", "3", "--exclude",
       "w"},
      {"table.csv", "--method", "espca", "-k", "1:6", "--pool", "2"},
      {"sonar", "--method", "espca", "--standardize", "-k", "1:10"},
      {"table.csv", "--method", "pearson", "-k", "2:5", "--ridge", "0.5"},
      {"table.csv", "--target", "none", "--exclude", "class", "-k", "1:5"}};
  for (auto words : runs) {
    SCOPED_TRACE(::testing::PrintToString(words));
    const std::string data = words.front();
    words.insert(words.begin(), "select");
    words.insert(words.end(), {"-o", "result.json", "--quiet"});
    ASSERT_EQ(run_program(words, {.directory = scratch.path()}).code, 0);
    const Finished run =
        run_program({"verify", "result.json", data, "--json"}, {.directory = scratch.path()});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    const json verification = run.json();
    EXPECT_EQ(verification["schema"], "subspectra.verification/1");
    EXPECT_EQ(verification["verdict"], "holds") << verification["not_checked"];
    EXPECT_EQ(verification["holds"], true);
    EXPECT_EQ(verification["status"], "complete");
    for (const auto& finding : verification["findings"]) EXPECT_EQ(finding["ok"], true) << finding;
    const json& bounds = check_named(verification, "bounds");
    if (data == "table.csv" && bounds["checked"] > 0) {
      EXPECT_GT(verification["sets_enumerated"], 0.0);
    }
  }
}

TEST(VerifyCommand, TakesMatrices) {
  const ScratchDirectory scratch;
  const testing::RunSettings here{.directory = scratch.path()};
  ASSERT_EQ(run_program({"synth", "brownian-pair", "--features", "9", "-o", "pair.csv"}, here).code, 0);
  ASSERT_EQ(
      run_program({"select", "--between", "pair-A.csv", "--within", "pair-B.csv", "-o", "pair.json"}, here)
          .code,
      0);
  const Finished pair =
      run_program({"verify", "pair.json", "--between", "pair-A.csv", "--within", "pair-B.csv"}, here);
  EXPECT_EQ(pair.code, 0) << pair.out << pair.err;
  EXPECT_NE(pair.out.find("all hold"), std::string::npos) << pair.out;
  ASSERT_EQ(run_program({"select", "--covariance", "pair-B.csv", "-o", "pca.json"}, here).code, 0);
  EXPECT_EQ(run_program({"verify", "pca.json", "--covariance", "pair-B.csv"}, here).code, 0);
  EXPECT_EQ(run_program({"verify", "pca.json", "--covariance", "pair-A.csv"}, here).code,
            1);  // another matrix
  EXPECT_EQ(run_program({"verify", "pca.json", "sonar"}, here).code, 3);
  EXPECT_EQ(run_program({"verify", "pca.json", "sonar", "--covariance", "pair-B.csv"}, here).code, 2);
  EXPECT_EQ(run_program({"verify", "pair.json", "--between", "pair-A.csv"}, here).code, 2);
}

TEST(VerifyCommand, NamesTheEntryAndTheReason) {
  const ScratchDirectory scratch;
  const testing::RunSettings here{.directory = scratch.path()};
  ASSERT_EQ(run_program({"select", "sonar", "-k", "1:5", "-o", "result.json"}, here).code, 0);
  const json result = json::parse(scratch.read("result.json"));
  json changed = result;
  changed["path"][2]["objective"] = changed["path"][2]["objective"].get<double>() * 1.0001;
  scratch.write("changed.json", changed.dump());
  const Finished run = run_program({"verify", "changed.json", "sonar", "-o", "findings.json"}, here);
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(run.err.starts_with(
      "subspectra: error: changed.json: 2 of 32 checks fail; the first: k = 3, objective: "))
      << run.err;
  EXPECT_NE(run.out.find("k = 3, objective: the objective is 0.47"), std::string::npos) << run.out;
  const json findings = json::parse(scratch.read("findings.json"));
  EXPECT_EQ(findings["verdict"], "fails");
  EXPECT_EQ(findings["holds"], false);
  EXPECT_EQ(check_named(findings, "objective")["failed"], 1);
  EXPECT_NEAR(check_named(findings, "objective")["worst_deviation"].get<double>(), 1e-4, 1e-8);

  EXPECT_EQ(run_program({"verify", "result.json", "sonar", "-o", "result.json"}, here).code, 2);
  EXPECT_EQ(run_program({"verify", "result.json"}, here).code, 2);
  EXPECT_EQ(run_program({"verify"}, here).code, 2);
  EXPECT_EQ(run_program({"verify", "result.json", "sonar", "--groups", "groups.csv"}, here).code, 2);
  EXPECT_EQ(json::parse(scratch.read("result.json")), result);
}

TEST(VerifyCommand, APathHasEverySize) {
  const ScratchDirectory scratch;
  ASSERT_EQ(
      run_program({"select", "ionosphere", "--method", "eslda", "-k", "2:5", "-o", "result.json", "--quiet"},
                  {.directory = scratch.path()})
          .code,
      0);
  for (const std::size_t missing : {0U, 1U, 3U}) {
    json document = json::parse(scratch.read("result.json"));
    document["path"].erase(missing);
    scratch.write("less.json", document.dump());
    const Finished run = run_program({"verify", "less.json", "ionosphere"}, {.directory = scratch.path()});
    EXPECT_EQ(run.code, 1);
    EXPECT_NE(run.out.find("k = " + std::to_string(missing + 2) + " is missing"), std::string::npos)
        << run.out;
  }
  json document = json::parse(scratch.read("result.json"));
  document["path"] = json::array();
  document["status"] = "heuristic";
  scratch.write("none.json", document.dump());
  const Finished run =
      run_program({"verify", "none.json", "ionosphere", "--json"}, {.directory = scratch.path()});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.json()["sizes"]["asked"], json({2, 5}));
  EXPECT_EQ(run.json()["sizes"]["missing"], json({2, 3, 4, 5}));
}

TEST(VerifyCommand, OtherDataAndForeignFilesAreExitCode3) {
  const ScratchDirectory scratch;
  const testing::RunSettings here{.directory = scratch.path()};
  scratch.write("table.csv", small_table());
  ASSERT_EQ(run_program({"select", "table.csv", "-k", "2", "-o", "result.json", "--quiet"}, here).code, 0);
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    const Finished run = run_program(words, here);
    EXPECT_EQ(run.code, 3) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
  };
  refused({"verify", "result.json", "sonar"}, "sonar: these are not the data of result.json: 208 rows here");
  std::string other = small_table();
  other.replace(0, 1, "z");
  scratch.write("names.csv", other);
  refused({"verify", "result.json", "names.csv"}, "feature 0 is 'z' here and 'a' there");
  other = small_table();
  other.replace(other.size() - 2, 1, "v");
  scratch.write("classes.csv", other);
  refused({"verify", "result.json", "classes.csv"}, "the classes are u 13, v 14, w 13 here");
  const std::string whole = scratch.read("result.json");
  scratch.write("cut.json", whole.substr(0, whole.size() / 2));
  refused({"verify", "cut.json", "table.csv"}, "cut.json: this is not valid JSON");
  scratch.write("empty.json", "");
  refused({"verify", "empty.json", "table.csv"}, "empty.json");
  refused({"verify", "none.json", "table.csv"}, "none.json");
  refused({"verify", "table.csv", "table.csv"}, "not valid JSON");
  scratch.write("model.json", R"({"schema": "subspectra.model/1"})");
  refused({"verify", "model.json", "table.csv"}, "no subspectra.selection/1");
  json grouped = json::parse(whole);
  grouped["options"]["groups"] = "/dev/zero";  // a name out of a file that may be anybody's
  scratch.write("grouped.json", grouped.dump());
  refused({"verify", "grouped.json", "table.csv"}, "/dev/zero");
}

TEST(VerifyCommand, ALimitOrASignalLeavesWhatWasFound) {
  const ScratchDirectory scratch;
  const testing::RunSettings here{.directory = scratch.path()};
  // 24 candidates: more sets than fit into the time.
  std::string exclude = "V25";
  for (int j = 26; j <= 60; ++j) exclude += ",V" + std::to_string(j);
  ASSERT_EQ(
      run_program({"select", "sonar", "--exclude", exclude, "-k", "1:24", "-o", "result.json"}, here).code,
      0);
  const Finished limit =
      run_program({"verify", "result.json", "sonar", "--time-limit", "0.3", "--json"}, here);
  EXPECT_EQ(limit.code, 6) << limit.err;
  EXPECT_EQ(limit.json()["verdict"], "unchecked");
  EXPECT_TRUE(limit.json()["holds"].is_null());
  EXPECT_EQ(limit.json()["status"], "time_limit");
  EXPECT_FALSE(limit.json()["not_checked"].empty());
  const Finished signalled =
      run_program({"verify", "result.json", "sonar", "--json"},
                  {.directory = scratch.path(), .signal = SIGINT, .signal_after_s = 1.5});
  EXPECT_EQ(signalled.code, 130) << signalled.err;
  EXPECT_EQ(signalled.json()["status"], "interrupted");
  const Finished plain = run_program({"verify", "result.json", "sonar", "--no-enumerate"}, here);
  EXPECT_EQ(plain.code, 6);
  EXPECT_NE(plain.out.find(": whether a set is above upper_bound (--no-enumerate)"), std::string::npos)
      << plain.out;
  EXPECT_NE(plain.out.find("nothing is wrong in "), std::string::npos) << plain.out;
  EXPECT_TRUE(plain.err.starts_with(
      "subspectra: error: result.json: nothing is wrong, but 1 thing could not be checked: k = 1, 2"))
      << plain.err;
}

}  // namespace
}  // namespace subspectra
