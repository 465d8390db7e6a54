/// The cluster command through the program.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

TEST(ClusterCommand, WritesLabelsAsCsvAndTheResultAsJson) {
  const ScratchDirectory scratch;
  const std::string table = scratch.file("t.csv");
  ASSERT_EQ(run_program({"synth", "clusters", "--relevant", "8", "-o", table}).code, 0);
  const Finished run =
      run_program({"cluster", table, "--clusters", "3", "-k", "8", "-o", scratch.file("c.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("selected, weighted"), std::string::npos);
  EXPECT_NE(run.out.find("all, equal weights"), std::string::npos);
  const Finished again =
      run_program({"cluster", table, "--clusters", "3", "-k", "8", "--json", "--threads", "1"});
  ASSERT_EQ(again.code, 0) << again.err;
  const json result = again.json();
  EXPECT_EQ(result["schema"], "subspectra.clustering/1");
  EXPECT_EQ(result["features"].size(), 8U);
  EXPECT_GE(result["agreement"]["accuracy"].get<double>(), 0.9);
  std::istringstream csv(scratch.read("c.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "row,cluster");
  for (std::size_t i = 0; i < result["labels"].size(); ++i) {
    std::getline(csv, line);
    EXPECT_EQ(line, std::to_string(i) + ',' + std::to_string(result["labels"][i].get<int>()));
  }
  EXPECT_FALSE(std::getline(csv, line));
}

TEST(ClusterCommand, AStopByTimeGivesAFileWithEveryRow) {
  const ScratchDirectory scratch;
  const std::string table = scratch.file("t.npz");
  ASSERT_EQ(run_program({"synth", "clusters", "-o", table}).code, 0);
  const Finished run = run_program(
      {"cluster", table, "--clusters", "3", "--time-limit", "1e-6", "--json", "-o", scratch.file("c.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["status"], "time_limit");
  std::istringstream csv(scratch.read("c.csv"));
  std::string line;
  std::size_t lines = 0;
  while (std::getline(csv, line)) ++lines;
  EXPECT_EQ(lines, run.json()["labels"].size() + 1);
  EXPECT_EQ(run.json()["labels"].size(), run.json()["data"]["rows"].get<std::size_t>());
}

TEST(ClusterCommand, NeedsNoLabels) {
  const Finished run =
      run_program({"cluster", "ionosphere", "--target", "none", "--exclude", "class", "--json", "--quiet"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_FALSE(run.json().contains("agreement"));
  EXPECT_EQ(run.json()["labels"].size(), 351U);
}

TEST(ClusterCommand, RowsThatAreDroppedKeepTheNumbersOfTheOthers) {
  const ScratchDirectory scratch;
  scratch.write("t.csv", "a,b\n0,0\n0.1,0\n,1\n9,8\n9.1,8\n");
  const Finished run = run_program({"cluster", scratch.file("t.csv"), "--target", "none", "--missing", "drop",
                                    "-k", "2", "-o", scratch.file("c.csv"), "--quiet"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(scratch.read("c.csv"), "row,cluster\n0,0\n1,0\n3,1\n4,1\n");
}

TEST(ClusterCommand, ExitCodesSayWhatIsWrong) {
  const auto code = [](std::vector<std::string> words) {
    words.insert(words.begin(), "cluster");
    const Finished run = run_program(words);
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(run.err.starts_with("subspectra: error: ")) << run.err;
    return run.code;
  };
  EXPECT_EQ(code({"sonar", "--clusters", "0"}), 2);
  EXPECT_EQ(code({"sonar", "--clusters", "209"}), 2);
  EXPECT_EQ(code({"sonar", "-k", "1:5"}), 2);
  EXPECT_EQ(code({"sonar", "-k", "61"}), 2);
  EXPECT_EQ(code({"sonar", "--method", "gslda"}), 2);
  EXPECT_EQ(code({"sonar", "--method", "qalpha-semi"}), 2);
  EXPECT_EQ(code({"sonar", "--laplacian-shift", "degree"}), 2);
  EXPECT_EQ(code({"sonar", "--kmeans-restarts", "0"}), 2);
  EXPECT_EQ(code({"sonar", "--ridge", "1"}), 2);
  EXPECT_EQ(code({"no-such-file.csv"}), 3);
  EXPECT_EQ(code({"sonar", "-k", "1", "--include", "V1,V2"}), 4);
  EXPECT_EQ(code({}), 2);
}

}  // namespace
}  // namespace subspectra
