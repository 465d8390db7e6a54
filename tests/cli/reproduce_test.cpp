/// subspectra reproduce: the list, the table and the file, and what it refuses.
#include <gtest/gtest.h>

#include <sstream>

#include "run_program.hpp"

namespace subspectra {
namespace {

using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

TEST(Reproduce, ListsTheExperiments) {
  const Finished list = run_program({"reproduce", "--list"});
  EXPECT_EQ(list.code, 0) << list.err;
  for (const char* id :
       {"icml06-fig1", "icml06-fig4", "icml06-exact", "iccv07-speed", "iccv07-verification"}) {
    EXPECT_NE(list.out.find(std::string("\n") + id), std::string::npos) << id;
  }
  EXPECT_EQ(run_program({"reproduce"}).out, list.out);
  const auto listed = run_program({"reproduce", "--list", "--json"}).json();
  EXPECT_EQ(listed[0]["id"], "icml06-fig1");
  EXPECT_TRUE(listed[0]["needs"].is_null());
}

TEST(Reproduce, ThePublishedNumberStandsBesideOurs) {
  const ScratchDirectory scratch;
  const Finished run = run_program(
      {"reproduce", "icml06-fig1", "--runs", "4", "-o", scratch.file("r.json"), "--threads", "1"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_LT(run.out.find("published "), run.out.find(" obtained")) << run.out;
  EXPECT_NE(run.out.find(" obtained"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("dual pass"), std::string::npos);
  const auto file = nlohmann::json::parse(scratch.read("r.json"));
  EXPECT_EQ(file["schema"], "subspectra.reproduction/1");
  EXPECT_EQ(file["results"][0]["published"], 0.9);
  EXPECT_EQ(
      run_program({"reproduce", "icml06-fig1", "--runs", "4", "--json", "--threads", "2"}).json()["results"],
      file["results"]);
}

TEST(Reproduce, AReachedLimitIsNoFailure) {
  const Finished run = run_program({"reproduce", "icml06-fig1", "--time-limit", "0.2", "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["status"], "time_limit");
  EXPECT_LT(run.json()["protocol"]["pairs"], 50000);
}

TEST(Reproduce, ManyCurvesAreShownInTablesThatFitALine) {
  const ScratchDirectory scratch;
  std::string csv = "p0,p1,p2,p3,p4,p5,kind\n";
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 6; ++j)
      csv += std::to_string((i * (2 * j + 7) % 31) + (j == 2 ? 9 * (i % 2) : 0)) + ",";
    csv += i % 2 == 0 ? "woman\n" : "man\n";
  }
  scratch.write("faces.csv", csv);
  const Finished run = run_program(
      {"reproduce", "iccv07-gender", "--quick", "--data", scratch.file("faces.csv"), "--threads", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("EP, GSLDA: bits"), std::string::npos) << run.out;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
}

TEST(Reproduce, WrongUsageIsExitCode2) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& part) {
    const Finished run = run_program(words);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
  };
  refused({"reproduce", "icml06-fig4"}, "icml06-fig4 needs --data FILE: the colon cancer data");
  refused({"reproduce", "icml06-fig0"}, "did you mean icml06-fig1");
  refused({"reproduce", "iccv07-bounds", "--runs", "3"}, "--runs is an option of icml06-fig1");
  refused({"reproduce", "iccv07-faces", "--data", "x.csv", "--shape", "4"}, "as in 32x32");
  refused({"reproduce", "--quick"}, "ID is missing");
  refused({"reproduce", "iccv07-bounds", "--list"}, "--list stands alone");
  EXPECT_EQ(run_program({"reproduce", "icml06-fig4", "--data", "none.csv"}).code, 3);
}

}  // namespace
}  // namespace subspectra
