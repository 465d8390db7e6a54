/// The exact searches as users meet them: answers, limits, signals, checkpoints, logs, constraints.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "run_program.hpp"

namespace subspectra::exact_test {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::RunSettings;
using testing::ScratchDirectory;

// Sonar's and Ionosphere's best sets: the values of R's leaps (leaps_test.cpp), which shares nothing with
// ours.
constexpr double kSonar5 = 0.613286, kSonar8 = 0.780176;
// No set of 20 is known to be better than this one, so that no bound may lie below it.
constexpr double kSonar20 = 1.249343;
// Eleven searches, most of them of a million nodes: nothing that ends by itself while a test waits.
const std::string kLong = "10:20";
// Wall-clock allowance beyond what was asked for, on a machine with much else to do.
constexpr double kPatience_s = 4.0;

std::vector<std::string> eslda(std::vector<std::string> arguments) {
  std::vector<std::string> words = {"select"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--method", "eslda", "--json"});
  return words;
}

json result_of(const std::vector<std::string>& words, int code = 0) {
  const Finished run = run_program(words);
  EXPECT_EQ(run.code, code) << run.err;
  return run.json();
}

/// Without what differs from run to run.
json timeless(json result) {
  result.erase("timing");
  for (const char* name : {"threads", "checkpoint", "checkpoint_every", "resume"})
    result["options"].erase(name);
  return result;
}

/// A stopped run over kLong: a set and a bound of every size, the bounds true and not all of them met.
void has_bounds(const json& result) {
  ASSERT_EQ(result["path"].size(), 11U);
  int open = 0;
  for (std::size_t i = 0; i < 11; ++i) {
    const json& entry = result["path"][i];
    EXPECT_EQ(entry["features"].size(), 10 + i);
    EXPECT_LE(entry["objective"], entry["upper_bound"]);
    open += entry["certified"].get<bool>() ? 0 : 1;
  }
  EXPECT_GT(open, 0);
  EXPECT_GE(result["path"][10]["upper_bound"].get<double>(), kSonar20);
}

/// Ends with this code and one line on stderr that has `part`; nothing on stdout.
void refused(const std::vector<std::string>& words, int code, const std::string& part) {
  const Finished run = run_program(words);
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err.find("subspectra: error: "), 0U) << run.err;
  EXPECT_NE(run.err.find(part), std::string::npos) << run.err << "expected: " << part;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

/// Small numbers without structure, always the same ones: rows x columns and a class in turn.
std::string table_of(int rows, int columns, int classes, bool twice_the_first = false) {
  std::string text;
  for (int j = 0; j < columns; ++j) text += "f" + std::to_string(j) + ",";
  text += std::string(twice_the_first ? "copy," : "") + "class\n";
  unsigned state = 12345;
  for (int i = 0; i < rows; ++i) {
    std::string first;
    for (int j = 0; j < columns; ++j) {
      state = state * 1664525U + 1013904223U;
      const int shift = (j % classes == i % classes ? 400 : 0) + (j == 2 ? 100 * (i % classes) : 0);
      const std::string value = std::to_string(static_cast<int>(state >> 22U) + shift);
      if (j == 0) first = value;
      text += value + ",";
    }
    if (twice_the_first) text += first + ",";
    text += std::string(1, static_cast<char>('p' + i % classes)) + "\n";
  }
  return text;
}

TEST(Exact, FindsTheBestSetsAndProvesThem) {
  const auto expect = [](const std::string& data, const std::string& k,
                         const std::vector<std::pair<int, double>>& best) {
    const json result = result_of(eslda({data, "-k", k}));
    EXPECT_EQ(result["status"], "optimal");
    EXPECT_GT(result["search"]["nodes"], 0);
    EXPECT_EQ(result["search"]["open_nodes"], 0);
    const int first = result["path"][0]["k"];
    for (const auto& [size, value] : best) {
      const json& entry = result["path"][static_cast<std::size_t>(size - first)];
      EXPECT_EQ(entry["k"], size);
      EXPECT_NEAR(entry["objective"].get<double>(), value, 1e-6) << data << size;
      EXPECT_EQ(entry["upper_bound"], entry["objective"]);
      EXPECT_EQ(entry["gap"], 0.0);
      EXPECT_TRUE(entry["certified"].get<bool>());
      EXPECT_EQ(entry["pass"], "exact");
      EXPECT_EQ(entry["loadings"].size(), static_cast<std::size_t>(size));
    }
  };
  expect("sonar", "5", {{5, kSonar5}});
  expect("ionosphere", "5:30",
         {{5, 1.095012}, {10, 1.321268}, {15, 1.461184}, {20, 1.563270}, {30, 1.629654}});
}

TEST(Exact, TheTableSaysThatItIsProven) {
  const Finished one = run_program({"select", "sonar", "--method", "eslda", "-k", "5", "--require-optimal"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.err, "");
  EXPECT_NE(one.out.find("k = 5, objective 0.613286; proven: no set of 5 is better"), std::string::npos)
      << one.out;
  const Finished pool = run_program({"select", "sonar", "--method", "eslda", "-k", "3", "--pool", "3"});
  EXPECT_NE(pool.out.find("the best 3 sets of k = 3"), std::string::npos) << pool.out;
}

TEST(Exact, ATimeLimitGivesTheBestSoFarWithABound) {
  const Finished run = run_program(eslda({"sonar", "-k", kLong, "--time-limit", "0.3"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_LT(run.seconds, 0.3 + kPatience_s);
  const json result = run.json();
  EXPECT_EQ(result["status"], "time_limit");
  has_bounds(result);
  EXPECT_GT(result["search"]["open_nodes"], 0);
}

TEST(Exact, AProofThatWasAskedForAndIsMissingIsExitCode5) {
  const ScratchDirectory scratch;
  const auto asked = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"sonar", "-k", "20", "--node-limit", "100", "-o", scratch.file("r.json")});
    return run_program(eslda(more));
  };
  const Finished optimal = asked({"--require-optimal"});
  EXPECT_EQ(optimal.code, 5);
  EXPECT_NE(optimal.err.find("error: --require-optimal was asked for, but k = 20: the gap is"),
            std::string::npos)
      << optimal.err;
  EXPECT_EQ(optimal.json()["status"], "node_limit");
  EXPECT_EQ(scratch.read("r.json"), optimal.out) << "the answer is written all the same";
  const Finished close = asked({"--require-gap", "0.001"});
  EXPECT_EQ(close.code, 5);
  EXPECT_NE(close.err.find("--require-gap was asked for"), std::string::npos) << close.err;
  EXPECT_EQ(asked({"--require-gap", "2"}).code, 0);
  EXPECT_EQ(run_program(eslda({"sonar", "-k", "4", "--require-optimal"})).code, 0);
  // The greedy search's own bound is too far away for five features and no proof.
  const Finished greedy = run_program({"select", "sonar", "-k", "5", "--require-optimal"});
  EXPECT_EQ(greedy.code, 5);
  EXPECT_NE(greedy.err.find("--method eslda"), std::string::npos) << greedy.err;
}

TEST(Exact, NodeLimitAndGapStopIt) {
  const json nodes = result_of(eslda({"sonar", "-k", "20", "--node-limit", "100"}));
  EXPECT_EQ(nodes["status"], "node_limit");
  EXPECT_LE(nodes["search"]["nodes"], 200);
  EXPECT_GE(nodes["path"][0]["upper_bound"].get<double>(), kSonar20);
  EXPECT_EQ(nodes["options"]["node_limit"], 100);
  const json gap = result_of(eslda({"sonar", "-k", "7", "--gap", "0.3"}));
  EXPECT_EQ(gap["status"], "gap_reached");
  EXPECT_LE(gap["path"][0]["gap"].get<double>(), 0.3);
  EXPECT_GT(gap["path"][0]["gap"].get<double>(), 0.0);
}

TEST(Exact, ASignalStopsItAtOnceWithACompleteResult) {
  const ScratchDirectory scratch;
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    const std::string events = scratch.file("events" + std::to_string(code));
    const std::string file = scratch.file("r" + std::to_string(code) + ".json");
    // The events file is there when the search is about to begin.
    const Finished run = run_program(eslda({"sonar", "-k", kLong, "-o", file, "--events", events,
                                            "--checkpoint", scratch.file("state.json")}),
                                     {.signal = signal, .signal_after_s = 1.0, .signal_when = events});
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_LT(run.seconds - run.signalled_at, kPatience_s);
    const json result = run.json();
    EXPECT_EQ(json::parse(testing::detail::slurp(file)), result);
    EXPECT_EQ(result["status"], "interrupted");
    has_bounds(result);
    EXPECT_EQ(json::parse(scratch.read("state.json"))["schema"], "subspectra.checkpoint/1");
  }
}

TEST(Exact, AKilledSearchGoesOnFromItsCheckpointToTheSameAnswer) {
  const ScratchDirectory scratch;
  const std::string state = scratch.file("state.json");
  const std::vector<std::string> words = eslda({"sonar", "-k", "8", "--threads", "1"});
  auto saving = words;
  saving.insert(saving.end(), {"--checkpoint", state, "--checkpoint-every", "0.2"});
  const Finished killed = run_program(saving, {.signal = SIGKILL, .signal_when = state});
  ASSERT_EQ(killed.code, 128 + SIGKILL) << "it was over before it could be killed";
  ASSERT_TRUE(std::filesystem::exists(state));
  auto resuming = words;
  resuming.insert(resuming.end(), {"--resume", state});
  const json resumed = timeless(result_of(resuming));
  EXPECT_EQ(resumed["status"], "optimal");
  EXPECT_NEAR(resumed["path"][0]["objective"].get<double>(), kSonar8, 1e-6);
  EXPECT_EQ(resumed, timeless(result_of(words))) << "nodes, too: it took the same way";
}

TEST(Exact, StoppedAgainAndAgainItStillArrives) {
  const ScratchDirectory scratch;
  const std::string state = scratch.file("state.json");
  const json whole = timeless(result_of(eslda({"sonar", "-k", "6:7", "--pool", "2"})));
  json result = result_of(eslda({"sonar", "-k", "6:7", "--pool", "2", "--node-limit", "3000", "--checkpoint",
                                 state, "--threads", "1"}));
  EXPECT_EQ(result["status"], "node_limit");
  int stops = 1;
  for (; result["status"] != "optimal" && stops < 100; ++stops) {
    result = result_of(eslda({"sonar", "-k", "6:7", "--pool", "2", "--node-limit", "15000", "--checkpoint",
                              state, "--resume", state}));
  }
  EXPECT_GT(stops, 2);
  EXPECT_EQ(result["path"], whole["path"]);
}

TEST(Exact, CheckpointsThatAreNoneAreBadInput) {
  const ScratchDirectory scratch;
  const std::string state = scratch.file("state.json");
  ASSERT_EQ(run_program(eslda({"sonar", "-k", "9", "--node-limit", "3000", "--checkpoint", state})).code, 0);
  const std::string whole = scratch.read("state.json");
  const auto bad = [&](const std::string& file, const std::string& part) {
    SCOPED_TRACE(part);
    refused(eslda({"sonar", "-k", "9", "--resume", file}), 3, file + ": " + part);
  };
  bad(scratch.write("torn.json", whole.substr(0, whole.size() / 2)), "this is no complete checkpoint");
  std::string changed = whole;
  const auto at = changed.find("\"nodes\":") + 8;
  changed[at] = changed[at] == '9' ? '8' : '9';
  bad(scratch.write("changed.json", changed), "the checksum does not match");
  bad(scratch.write("empty.json", ""), "the file is empty");
  bad(scratch.write("other.json", "{\"schema\": \"subspectra.selection/1\"}"), "this is no checkpoint");
  bad(scratch.write("deep.json", std::string(100000, '[')), "this is no complete checkpoint");
  bad(scratch.path(), "");
  bad(scratch.file("none.json"), "");
  const std::string foreign = "this checkpoint belongs to other data or other options";
  refused(eslda({"sonar", "-k", "10", "--resume", state}), 3, foreign);
  refused(eslda({"sonar", "-k", "9", "--pool", "2", "--resume", state}), 3, foreign);
  refused(eslda({"sonar", "-k", "9", "--exclude", "V60", "--resume", state}), 3, foreign);
  const Finished other = run_program(eslda({"ionosphere", "-k", "9", "--resume", state, "--quiet"}));
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find(foreign), std::string::npos) << other.err;
}

TEST(Exact, PlacesThatCannotBeWrittenAreNamedBeforeTheSearch) {
  const ScratchDirectory scratch;
  for (const char* option : {"--checkpoint", "--events"}) {
    for (const std::string& place : {scratch.path(), scratch.file("none/state.json")}) {
      const Finished run = run_program(eslda({"sonar", "-k", kLong, option, place}), {.timeout_s = 20.0});
      EXPECT_EQ(run.code, 1) << run.err;
      EXPECT_EQ(run.out, "");
      EXPECT_NE(run.err.find(place + ": cannot be written"), std::string::npos) << run.err;
    }
  }
  const std::string table = scratch.write("t.csv", table_of(20, 4, 2));
  refused(eslda({table, "-k", "2", "--checkpoint", table}), 2, "is the file of DATA, too");
  refused(eslda({table, "-k", "2", "-o", scratch.file("r"), "--checkpoint", scratch.file("r")}), 2,
          "is the file of -o, too");
  // Whatever is read is not written, and no two outputs are one file.
  const std::string groups = scratch.write("g.csv", "feature,group\nf0,a\nf1,a\nf2,b\nf3,b\n");
  refused(eslda({table, "-k", "2", "--events", table}), 2, "is the file of DATA, too");
  refused(eslda({table, "-k", "2", "-o", table}), 2, "is the file of DATA, too");
  refused(eslda({table, "-k", "1", "--groups", groups, "--checkpoint", groups}), 2,
          "is the file of --groups, too");
  refused(eslda({table, "-k", "1", "--groups", groups, "-o", scratch.path() + "/./g.csv"}), 2,
          "is the file of --groups, too");
  refused(eslda({table, "-k", "2", "--checkpoint", scratch.file("s"), "--events", scratch.file("s")}), 2,
          "is the file of --events, too");
  const std::string state = scratch.file("state.json");
  EXPECT_EQ(run_program(eslda({table, "-k", "2", "--checkpoint", state})).code, 0);
  refused(eslda({table, "-k", "2", "--resume", state, "-o", state}), 2, "is the file of --resume, too");
  EXPECT_EQ(run_program(eslda({table, "-k", "2", "--resume", state, "--checkpoint", state})).code, 0);
  const std::string matrix = scratch.write("a.csv", "a,b\n2,1\n1,3\n");
  refused({"select", "--covariance", matrix, "--method", "espca", "-k", "1", "--checkpoint", matrix}, 2,
          "is the file of --covariance, too");
  EXPECT_EQ(scratch.read("t.csv"), table_of(20, 4, 2));
  refused(eslda({table, "-k", "2", "--events", "-"}), 2, "--events wants a file");
  refused({"select", table, "-k", "2", "--method", "gslda", "--events", scratch.file("e")}, 2,
          "the log of an exact search");
}

TEST(Exact, SizesBelowTheIncludedOnesNeedNoProof) {
  const Finished run = run_program(eslda({"sonar", "-k", "1:4", "--include", "V1,V2", "--require-optimal"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["path"].size(), 3U);
}

TEST(Exact, TheEventsAreJsonLinesAndTheLogHasItsColumns) {
  const ScratchDirectory scratch;
  const Finished run = run_program(eslda(
      {"ionosphere", "-k", "8:12", "--events", scratch.file("e.jsonl"), "--progress", "always", "--quiet"}));
  EXPECT_EQ(run.code, 0) << run.err;
  std::istringstream lines(scratch.read("e.jsonl"));
  std::set<int> sizes;
  int done = 0;
  double last = 0.0;
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line);
    for (const char* name : {"event", "k", "source", "nodes", "open", "incumbent", "bound", "gap", "time_s"})
      EXPECT_TRUE(event.contains(name)) << line;
    done += event["event"] == "done" ? 1 : 0;
    if (event["event"] == "done") {
      EXPECT_EQ(event["gap"], 0.0) << line;
    } else {
      EXPECT_TRUE(event["event"] == "incumbent" || event["event"] == "progress") << line;
    }
    EXPECT_LE(event["incumbent"], event["bound"]) << line;
    EXPECT_GE(event["time_s"].get<double>(), last);
    last = event["time_s"];
    sizes.insert(event["k"].get<int>());
  }
  EXPECT_EQ(sizes, (std::set<int>{8, 9, 10, 11, 12}));
  EXPECT_EQ(done, 5);
  std::istringstream log(run.err);
  std::vector<std::string> header;
  std::string line;
  while (std::getline(log, line) && line.find("Src") == std::string::npos) {
  }
  std::istringstream words(line);
  for (std::string word; words >> word;) header.push_back(word);
  EXPECT_EQ(header,
            (std::vector<std::string>{"k", "Src", "Nodes", "Open", "Incumbent", "Bound", "Gap", "Time"}))
      << run.err;
  ASSERT_TRUE(std::getline(log, line));
  EXPECT_NE(line.find(" greedy "), std::string::npos) << line;
  // Without being asked, and not on a terminal, it says nothing.
  EXPECT_EQ(run_program(eslda({"sonar", "-k", "3", "--quiet"})).err, "");
}

TEST(Exact, ThePoolHoldsDistinctSetsInOrder) {
  const json result = result_of(eslda({"sonar", "-k", "4", "--pool", "5"}));
  const json& entry = result["path"][0];
  ASSERT_EQ(entry["pool"].size(), 5U);
  EXPECT_EQ(entry["pool"][0]["features"], entry["features"]);
  EXPECT_EQ(entry["pool"][0]["objective"], entry["objective"]);
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < 5; ++i) {
    distinct.insert(entry["pool"][i]["features"].dump());
    if (i > 0) {
      EXPECT_LE(entry["pool"][i]["objective"], entry["pool"][i - 1]["objective"]);
    }
  }
  EXPECT_EQ(distinct.size(), 5U);
  // The second best: the best one of those that lack some feature of the best.
  double second = 0.0;
  for (const auto& name : entry["names"]) {
    const json without = result_of(eslda({"sonar", "-k", "4", "--exclude", name.get<std::string>()}));
    second = std::max(second, without["path"][0]["objective"].get<double>());
  }
  EXPECT_NEAR(entry["pool"][1]["objective"].get<double>(), second, 1e-9);
  // More than there are sets.
  const ScratchDirectory scratch;
  const json few = result_of(eslda({scratch.write("t.csv", table_of(30, 4, 2)), "-k", "2", "--pool", "20"}));
  EXPECT_EQ(few["path"][0]["pool"].size(), 6U);
  EXPECT_EQ(few["status"], "optimal");
}

TEST(Exact, WrongValuesAreWrongUsage) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--pool", "0"},
                                                        {"--pool", "-1"},
                                                        {"--pool", "two"},
                                                        {"--gap", "-0.1"},
                                                        {"--gap", "nan"},
                                                        {"--gap", "inf"},
                                                        {"--gap", "1%"},
                                                        {"--node-limit", "-5"},
                                                        {"--node-limit", "1.5"},
                                                        {"--time-limit", "0"},
                                                        {"--time-limit", "nan"},
                                                        {"--checkpoint-every", "-1"},
                                                        {"--checkpoint-every", "soon"},
                                                        {"--checkpoint", "-"},
                                                        {"--resume", "-"},
                                                        {"--require-gap", "-1"},
                                                        {"--require-gap", "nan"},
                                                        {"--memory-limit", "many"}}) {
    SCOPED_TRACE(option + " " + value);
    refused(eslda({"sonar", "-k", "3", option, value}), 2, option);
  }
  refused({"select", "sonar", "-k", "3", "--pool", "2", "--method", "gslda"}, 2,
          "--pool is an option of eslda, espca");
  refused({"evaluate", "sonar", "-k", "3", "--method", "eslda", "--checkpoint", "x.json"}, 2, "several");
  refused({"select", "sonar", "-k", "3", "--method", "espca", "--components", "2", "--checkpoint", "x.json"},
          2, "several");
}

TEST(Exact, ConstraintsAreHonoured) {
  const json result = result_of(eslda({"sonar", "-k", "4", "--include", "V1,V60", "--exclude", "V11,V12"}));
  EXPECT_EQ(result["status"], "optimal");
  const auto names = result["path"][0]["names"].get<std::set<std::string>>();
  EXPECT_TRUE(names.contains("V1") && names.contains("V60"));
  EXPECT_FALSE(names.contains("V11") || names.contains("V12"));
  EXPECT_EQ(names.size(), 4U);
  EXPECT_GE(result["path"][0]["objective"],
            result_of({"select", "sonar", "-k", "4", "--include", "V1,V60", "--exclude", "V11,V12",
                       "--json"})["path"][0]["objective"]);

  const ScratchDirectory scratch;
  std::string groups = "feature,group\n";
  for (int j = 1; j <= 60; ++j)
    groups += "V" + std::to_string(j) + ",band" + std::to_string((j - 1) / 5) + "\n";
  const std::string file = scratch.write("groups.csv", groups);
  const json bands = result_of(eslda({"sonar", "-k", "1:4", "--groups", file}));
  EXPECT_EQ(bands["status"], "optimal");
  const json greedy = result_of({"select", "sonar", "-k", "1:4", "--groups", file, "--json"});
  for (std::size_t i = 0; i < 4; ++i) {
    const json& entry = bands["path"][i];
    EXPECT_EQ(entry["k"], i + 1);
    EXPECT_EQ(entry["groups"].size(), i + 1);
    EXPECT_EQ(entry["features"].size(), 5 * (i + 1));
    EXPECT_GE(entry["objective"].get<double>(), greedy["path"][i]["objective"].get<double>() - 1e-9);
  }
}

TEST(Exact, TheAnswerDoesNotDependOnTheThreads) {
  for (const auto& words : {eslda({"sonar", "-k", "4:6", "--pool", "2"}),
                            eslda({"sonar", "-k", "20", "--node-limit", "20000"})}) {
    auto one = words;
    auto two = words;
    one.insert(one.end(), {"--threads", "1"});
    two.insert(two.end(), {"--threads", "2"});
    EXPECT_EQ(timeless(result_of(one)), timeless(result_of(two)));
  }
}

TEST(Exact, SeveralClassesByEveryCriterion) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("t.csv", table_of(60, 7, 3));
  // All sets of three, each evaluated without any search.
  json sets = {{"schema", "subspectra.selection/1"}, {"path", json::array()}};
  for (int a = 0; a < 7; ++a) {
    for (int b = a + 1; b < 7; ++b) {
      for (int c = b + 1; c < 7; ++c) {
        sets["path"].push_back({{"names", json::array()}});
        for (const int j : {a, b, c}) sets["path"].back()["names"].push_back("f" + std::to_string(j));
      }
    }
  }
  const std::string all = scratch.write("all.json", sets.dump());
  for (const char* criterion : {"largest", "trace", "wilks"}) {
    SCOPED_TRACE(criterion);
    double best = 0.0;
    const json each = result_of({"select", table, "--refit", all, "--criterion", criterion, "--json"});
    EXPECT_EQ(each["path"].size(), 35U);
    for (const auto& entry : each["path"]) {
      best = std::max(best, entry["objective"].get<double>());
    }
    const json result = result_of(eslda({table, "-k", "3", "--criterion", criterion}));
    EXPECT_EQ(result["status"], "optimal");
    EXPECT_NEAR(result["path"][0]["objective"].get<double>(), best, 1e-9 * best);
    EXPECT_EQ(result["path"][0]["loadings"][0].size(), 2U);
  }
}

TEST(Exact, TakesMatrices) {
  const ScratchDirectory scratch;
  ASSERT_EQ(run_program({"synth", "brownian-pair", "--features", "9", "-o", scratch.file("pair.csv")}).code,
            0);
  const std::string a = scratch.file("pair-A.csv"), b = scratch.file("pair-B.csv");
  for (const auto& source : {std::vector<std::string>{"--between", a, "--within", b, "--method", "eslda"},
                             std::vector<std::string>{"--covariance", b, "--method", "espca"}}) {
    std::vector<std::string> words = {"select", "-k", "1:9", "--json"};
    words.insert(words.end(), source.begin(), source.end());
    const json exact = result_of(words);
    EXPECT_EQ(exact["status"], "optimal");
    words.resize(words.size() - 2);
    const json greedy = result_of(words);
    ASSERT_EQ(exact["path"].size(), 9U);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_GE(exact["path"][i]["objective"].get<double>(),
                greedy["path"][i]["objective"].get<double>() * (1.0 - 1e-9));
      EXPECT_LE(exact["path"][i]["objective"].get<double>(),
                greedy["path"][i]["upper_bound"].get<double>() * (1.0 + 1e-9));
    }
  }
}

TEST(Exact, ASingularWithinClassCovarianceNeedsARidge) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("t.csv", table_of(40, 5, 2, true));
  refused(eslda({table, "-k", "2", "--ridge", "0"}), 4, "singular");
  EXPECT_EQ(result_of(eslda({table, "-k", "2"}))["status"], "optimal");
  refused(eslda({"sonar", "-k", "2", "--include", "V1,V2,V3"}), 4, "");
}

TEST(Exact, EveryBoundIsListedWhenAskedFor) {
  const json result = result_of(eslda({"sonar", "-k", "3", "--bounds"}));
  const json& entry = result["path"][0];
  EXPECT_EQ(entry["bounds"]["upper"]["branch-and-bound"], entry["upper_bound"]);
  EXPECT_TRUE(entry["bounds"]["upper"].contains("single-drop"));
  EXPECT_TRUE(entry["certified"].get<bool>());
}

TEST(ExactEvaluate, ChoosesInsideEveryFoldAndStopsInTime) {
  const json result = result_of({"evaluate", "ionosphere", "--method", "gslda,eslda", "-k", "2:3", "--cv",
                                 "3", "--gap", "0", "--json"});
  std::set<std::string> methods;
  for (const auto& row : result["results"]) methods.insert(row["method"].get<std::string>());
  EXPECT_EQ(methods, (std::set<std::string>{"eslda", "gslda"}));
  // One search of this size takes far longer than the limit.
  const Finished limit =
      run_program({"evaluate", "sonar", "--method", "eslda", "-k", kLong, "--time-limit", "0.5", "--json"});
  EXPECT_EQ(limit.code, 0) << limit.err;
  EXPECT_LT(limit.seconds, 0.5 + kPatience_s);
  EXPECT_EQ(limit.json()["status"], "time_limit");
  const Finished stopped = run_program({"evaluate", "sonar", "--method", "eslda", "-k", kLong, "--json"},
                                       {.signal = SIGINT, .signal_after_s = 1.0});
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_LT(stopped.seconds - stopped.signalled_at, kPatience_s);
  EXPECT_EQ(stopped.json()["status"], "interrupted");
  // Searches that are cut by nodes, always at the same place, are an answer of their own.
  const json cut = result_of(
      {"evaluate", "sonar", "--method", "eslda", "-k", "20", "--node-limit", "50", "--cv", "2", "--json"});
  EXPECT_EQ(cut["results"].size(), 1U);
}

TEST(ExactFit, TrainsOnTheBestSetAndHonoursTheLimit) {
  const ScratchDirectory scratch;
  const std::string model = scratch.file("m.json");
  const auto fit = [&](std::vector<std::string> more, const RunSettings& settings = {}) {
    more.insert(more.begin(), {"fit", "sonar", "--method", "eslda", "-o", model});
    return run_program(more, settings);
  };
  EXPECT_EQ(fit({"-k", "5"}).code, 0);
  const json whole = json::parse(scratch.read("m.json"));
  EXPECT_EQ(whole["status"], "optimal");
  EXPECT_EQ(whole["features"], result_of(eslda({"sonar", "-k", "5"}))["path"][0]["features"]);
  const Finished limit = fit({"-k", "14", "--time-limit", "0.2"});
  EXPECT_EQ(limit.code, 0) << limit.err;
  EXPECT_LT(limit.seconds, 0.2 + kPatience_s);
  EXPECT_EQ(json::parse(scratch.read("m.json"))["status"], "time_limit");
  EXPECT_EQ(json::parse(scratch.read("m.json"))["features"].size(), 14U);
  const Finished early = fit({"-k", "14", "--time-limit", "0.000001"});
  EXPECT_EQ(early.code, 0) << early.err;
  EXPECT_EQ(json::parse(scratch.read("m.json"))["status"], "time_limit");
  std::filesystem::remove(model);
  const Finished stopped = fit({"-k", kLong}, {.signal = SIGINT, .signal_after_s = 1.0});
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_LT(stopped.seconds - stopped.signalled_at, kPatience_s);
  EXPECT_EQ(json::parse(scratch.read("m.json"))["status"], "interrupted");
  EXPECT_EQ(run_program({"predict", model, "sonar"}).code, 0);
}

}  // namespace
}  // namespace subspectra::exact_test
