/// --part and merge as users meet them. (The words of every refusal: tests/replay, parts-*.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "io/part_file.hpp"
#include "run_program.hpp"

namespace subspectra::cli_parts_test {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::run_shell;
using testing::ScratchDirectory;

/// The file without what may differ from run to run.
json contents(const ScratchDirectory& scratch, const std::string& name) {
  json result = json::parse(scratch.read(name));
  result.erase("timing");
  result.erase("search");
  result["options"].erase("threads");
  return result;
}

TEST(PartsOfACommand, TogetherAreTheFileOfOneRun) {
  const ScratchDirectory scratch;
  scratch.write("f.txt", "V11\nV12\nV45\nV46\n");
  for (const std::string command :
       {"evaluate sonar --method fisher,gslda -k 1:4 --cv 3 --null 3 --seed 5",
        "evaluate ionosphere --method forward-lda -k 2,5 --test-fraction 0.3 --repeats 4 --standardize",
        "select sonar --method ks -k 3 --exclude @f.txt", "select sonar --method eslda -k 3:4 --bounds"}) {
    SCOPED_TRACE(command);
    const Finished run = run_shell(
        fmt::format(
            "subspectra {0} --quiet -o whole.json && for i in 1 2 3; do subspectra {0} --quiet --threads $i "
            "--part $i/3 -o p$i.json; done && subspectra merge p2.json p3.json p1.json --quiet -o r.json",
            command),
        {.directory = scratch.path()});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(contents(scratch, "r.json").dump(), contents(scratch, "whole.json").dump());
  }
}

TEST(PartsOfACommand, OneThatIsInterruptedWritesNothing) {
  const ScratchDirectory scratch;
  const Finished run = run_program(
      {"evaluate", "sonar", "--method", "gslda", "--repeats", "100000", "--part", "1/2", "-o", "p.json"},
      {.directory = scratch.path(), .signal = SIGINT, .signal_after_s = 0.5});
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_TRUE(scratch.entries().empty());
}

TEST(PartsOfACommand, OfAForgerWritesNoFileAndOpensNoDevice) {
  const ScratchDirectory scratch;
  const Finished made = run_program(
      {"evaluate", "sonar", "--method", "fisher", "-k", "1", "--cv", "2", "--part", "1/1", "-o", "p.json"},
      {.directory = scratch.path()});
  ASSERT_EQ(made.code, 0) << made.err;
  const PartFile sound = read_part(scratch.file("p.json"));
  ASSERT_EQ(std::system(("mkfifo " + scratch.file("pipe")).c_str()), 0);
  const auto refused = [&](const std::function<void(PartFile&)>& forge) {
    PartFile forged = sound;
    forge(forged);
    scratch.write("forged.json", part_text(forged));
    const Finished run = run_program({"merge", "forged.json", "-o", "r.json"},
                                     {.directory = scratch.path(), .timeout_s = 20.0});
    EXPECT_EQ(run.code, 3) << run.err;
    EXPECT_FALSE(std::filesystem::exists(scratch.file("r.json")));
    EXPECT_FALSE(std::filesystem::exists(scratch.file("stolen")));
  };
  for (const char* option :
       {"details", "o", "report", "figures", "write_table", "checkpoint", "no_such_option"})
    refused([&](PartFile& part) { part.run.options[option] = "stolen"; });
  for (const char* option : {"include", "exclude"})
    refused([&](PartFile& part) { part.run.options[option] = "@pipe"; });
  refused([](PartFile& part) { part.run.options["groups"] = "pipe"; });
  refused([](PartFile& part) { part.run.options["labels"] = "pipe:1"; });
  refused([](PartFile& part) { part.run.data = "/dev/zero"; });
  refused([](PartFile& part) { part.run.command = "fit"; });
  refused([](PartFile& part) { part.items["1/0"]["sizes"][0]["k"] = 61; });
}

}  // namespace
}  // namespace subspectra::cli_parts_test
