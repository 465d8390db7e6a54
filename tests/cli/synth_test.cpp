/// subspectra synth: the files it writes, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/read.hpp"
#include "io/read_matrix.hpp"
#include "run_program.hpp"
#include "synth/brownian.hpp"

namespace subspectra::synth_test {
namespace {

using testing::Finished;
using testing::run_program;
using testing::run_shell;
using testing::ScratchDirectory;

void expect_refused(const Finished& run, int code, const std::string& line) {
  EXPECT_EQ(run.code, code);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "subspectra: error: " + line + "\n");
}

std::vector<std::string> sorted_entries(const ScratchDirectory& scratch) {
  auto names = scratch.entries();
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Synth, WithoutANameListsTheProblems) {
  const Finished list = run_program({"synth"});
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("\nbrownian "), std::string::npos);
  EXPECT_NE(list.out.find("\nbrownian-pair "), std::string::npos);
  const auto json = run_program({"synth", "--json"}).json();
  EXPECT_EQ(json[1]["name"], "brownian-pair");
  EXPECT_EQ(json[1]["options"][0]["default"], "fbm");
}

TEST(Synth, ATableIsTheLibrarysTable) {
  const ScratchDirectory scratch;
  const DatasetParts want = synth::Brownian{.rows = 20, .features = 7, .seed = 5}.make().parts();
  for (const std::string name : {"t.csv", "t.tsv", "t.csv.gz", "t.npz"}) {
    const Finished run = run_program(
        {"synth", "brownian", "--rows", "20", "--features", "7", "--seed", "5", "-o", scratch.file(name)});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(run.out, "brownian: 20 rows, 7 features, 2 classes (a 10, b 10)\nwritten to " +
                           scratch.file(name) + "\n");
    const DatasetParts got = read_dataset(scratch.file(name)).parts();
    EXPECT_EQ(got.dense, want.dense);
    EXPECT_EQ(got.labels->codes, want.labels->codes);
  }
  const Finished piped =
      run_shell("subspectra synth brownian --rows 20 -o - | subspectra select - -k 2 --json");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.json()["data"]["rows"], 20);
  EXPECT_EQ(piped.json()["data"]["features"], 64);
}

TEST(Synth, APairIsTwoFilesNamedAfterTheOneGiven) {
  const auto [a, b] =
      synth::BrownianPair{.kind = synth::WalkKind::kGeneralizedGaussian, .features = 6, .seed = 2}.make();
  const std::vector<std::pair<std::string, std::string>> cases = {{"pair", ".npy"},
                                                                  {"pair.npy", ".npy"},
                                                                  {"pair.csv", ".csv"},
                                                                  {"pair.csv.gz", ".csv.gz"},
                                                                  {"pair.tsv", ".tsv"}};
  for (const auto& [name, ending] : cases) {
    SCOPED_TRACE(name);
    const ScratchDirectory scratch;
    const Finished run = run_program(
        {"synth", "brownian-pair", "--kind", "gg", "--features", "6", "--seed", "2", "--json", "-o", name},
        {.directory = scratch.path()});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(sorted_entries(scratch), (std::vector<std::string>{"pair-A" + ending, "pair-B" + ending}));
    EXPECT_EQ(run.json()["files"], (std::vector<std::string>{"pair-A" + ending, "pair-B" + ending}));
    EXPECT_EQ(run.json()["options"], (nlohmann::json{{"kind", "gg"}, {"features", 6}, {"seed", 2}}));
    EXPECT_EQ(read_square_matrix(scratch.file("pair-A" + ending)).values, a);
    EXPECT_EQ(read_square_matrix(scratch.file("pair-B" + ending)).values, b);
  }
}

TEST(Synth, ADotInADirectoryIsNoEnding) {
  const ScratchDirectory scratch;
  const Finished run = run_shell("mkdir v1.0 && subspectra synth brownian-pair -o v1.0/pair && ls v1.0",
                                 {.directory = scratch.path()});
  EXPECT_NE(run.out.find("pair-A.npy\npair-B.npy\n"), std::string::npos) << run.out << run.err;
}

TEST(Synth, RefusesWithTheWayOut) {
  const ScratchDirectory scratch;
  expect_refused(run_program({"synth", "brownian"}), 2,
                 "synth brownian needs -o FILE, the table to write (- for stdout)");
  expect_refused(run_program({"synth", "brownian-pair"}), 2,
                 "synth brownian-pair needs -o FILE, from which the names of its files are made");
  expect_refused(
      run_program({"synth", "brownian-pair", "-o", "-"}), 2,
      "brownian-pair writes several files, so -o - cannot be; name them with -o pair (pair-A.npy, pair-B.npy) or -o pair.csv (pair-A.csv, pair-B.csv)");
  expect_refused(run_program({"synth", "brownian", "--kind", "gg", "-o", scratch.file("t.csv")}), 2,
                 "--kind is an option of brownian-pair, but the problem is brownian; leave it out");
  expect_refused(
      run_program({"synth", "brownian", "-o", "t.txt"}, {.directory = scratch.path()}), 2,
      "t.txt: the ending does not tell the format to write; end the name in one of .csv .tsv .csv.gz .tsv.gz .npz");
  expect_refused(
      run_program({"synth", "brownian-pair", "-o", "pair.mat"}, {.directory = scratch.path()}), 2,
      "pair-A.mat: the ending does not tell the format to write; end the name in one of .npy .csv .tsv .csv.gz .tsv.gz");
  expect_refused(run_program({"synth", "brownian", "--rows", "1", "-o", scratch.file("t.csv")}), 2,
                 "--rows 1, but at least 2 are needed: one a class");
  expect_refused(run_program({"synth", "--seed", "3"}), 2,
                 "NAME is missing; usage: subspectra synth NAME -o FILE (synth alone lists the problems)");
  expect_refused(run_program({"synth", "brownian", "-o", "none/t.csv"}, {.directory = scratch.path()}), 1,
                 "none/t.csv: cannot be written: No such file or directory; choose another place");
  EXPECT_EQ(run_program({"synth", "brownian-pair", "--kind", "levy", "-o", "p"}).code, 2);
  EXPECT_TRUE(scratch.entries().empty());
}

}  // namespace
}  // namespace subspectra::synth_test
