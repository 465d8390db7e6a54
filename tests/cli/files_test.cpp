/// What a run leaves behind when it is stopped, and where its result goes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::run_shell;
using testing::ScratchDirectory;

TEST(Files, AFileThatGrowsTooLargeEndsTheRunWithTheRestWritten) {
  const ScratchDirectory scratch;
  // 8 blocks of 512 bytes: the result does not fit, an error says so, and nothing is left behind.
  const Finished whole =
      run_shell("ulimit -f 8; subspectra select sonar -k 1:30 -o r.json", {.directory = scratch.path()});
  EXPECT_EQ(whole.code, 128 + SIGXFSZ) << whole.err;
  EXPECT_NE(whole.err.find("r.json: cannot be written: File too large"), std::string::npos) << whole.err;
  EXPECT_TRUE(scratch.entries().empty());
  const Finished predicted = run_shell(
      "subspectra fit sonar -k 5 -o m.json >/dev/null; ulimit -f 8; subspectra predict m.json sonar -o p.csv",
      {.directory = scratch.path()});
  EXPECT_EQ(predicted.code, 128 + SIGXFSZ) << predicted.err;
  EXPECT_EQ(scratch.entries().size(), 1U);
}

TEST(Files, TheSecondSignalEndsAtOnce) {
  const ScratchDirectory scratch;
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  // The first one stops the search; then it waits for somebody to read the pipe, until the second one.
  const Finished run =
      run_shell("\"" SUBSPECTRA_PROGRAM
                "\" select sonar --method eslda -k 12:20 -o pipe & sleep 1.5; kill -TERM $!; sleep 1;"
                " kill -0 $! && echo waits; kill -TERM $!; wait $!; echo $?",
                {.directory = scratch.path()});
  EXPECT_EQ(run.out, "waits\n143\n") << run.err;
}

TEST(Files, WaitingForAReaderOfAPipeCanBeInterrupted) {
  const ScratchDirectory scratch;
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  for (const auto& [signal, code] :
       {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    const Finished run = run_program(
        {"select", "sonar", "-k", "2", "-o", "pipe"},
        {.directory = scratch.path(), .signal = signal, .signal_after_s = 1.0, .timeout_s = 20.0});
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_NE(run.err.find("nobody read this pipe"), std::string::npos) << run.err;
  }
}

TEST(Files, ATableForAPipeThatNobodyReadsCanBeInterrupted) {
  const ScratchDirectory scratch;
  ASSERT_EQ(::mkfifo(scratch.file("pipe.csv").c_str(), 0600), 0);
  const Finished run =
      run_program({"select", "sonar", "-k", "2", "--write-table", "pipe.csv"},
                  {.directory = scratch.path(), .signal = SIGTERM, .signal_after_s = 1.0, .timeout_s = 20.0});
  EXPECT_EQ(run.code, 143) << run.err;
  EXPECT_NE(run.err.find("nobody read this pipe"), std::string::npos) << run.err;
}

TEST(Files, APipeThatNobodyWritesIsRefusedWhereAFileIsNeeded) {
  const ScratchDirectory scratch;
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  const std::vector<std::vector<std::string>> commands = {
      {"select", "sonar", "--refit", "pipe"},
      {"select", "sonar", "--method", "eslda", "-k", "2", "--resume", "pipe"},
      {"select", "sonar", "--method", "eslda", "-k", "2", "--checkpoint", "pipe"},
      {"verify", "pipe", "sonar"},
      {"predict", "pipe", "sonar"},
      {"select", "sonar", "--names", "pipe"}};
  for (const auto& words : commands) {
    const Finished run = run_program(words, {.directory = scratch.path(), .timeout_s = 20.0});
    EXPECT_TRUE(run.code == 2 || run.code == 3)
        << words[0] << ' ' << words.back() << ": " << run.code << run.err;
    EXPECT_TRUE(run.err.find("regular file") != std::string::npos ||
                run.err.find("is a pipe") != std::string::npos)
        << run.err;
  }
}

TEST(Files, LabelsComeThroughAPipe) {
  const ScratchDirectory scratch;
  std::string labels;
  for (int i = 0; i < 208; ++i) labels += i < 97 ? "a\n" : "b\n";
  scratch.write("labels.txt", labels);
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  const Finished run = run_shell("cat labels.txt > pipe & subspectra select sonar -k 1 --labels pipe --json",
                                 {.directory = scratch.path(), .timeout_s = 20.0});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["data"]["class_counts"], (nlohmann::json{97, 111}));
}

TEST(Files, WhatAKilledRunHasLeftIsRemovedByTheNext) {
  const ScratchDirectory scratch;
  scratch.write(".subspectra.0123abcd", "half a result");
  scratch.write(".subspectra.config", "somebody's own");
  scratch.write(".subspectra.0123abcd.txt", "somebody's own");
  ASSERT_EQ(run_program({"select", "sonar", "-k", "2", "-o", scratch.file("r.json")}).code, 0);
  auto left = scratch.entries();
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{".subspectra.0123abcd.txt", ".subspectra.config", "r.json"}));
}

TEST(Files, AnEmptyNameIsRefused) {
  for (const std::string option : {"-o", "--checkpoint", "--events"}) {
    const Finished run = run_program({"select", "sonar", "--method", "eslda", "-k", "2", option, ""});
    EXPECT_EQ(run.code, 2) << option;
    EXPECT_NE(run.err.find("error: " + option + " is empty; name a file"), std::string::npos) << run.err;
  }
}

TEST(Files, AnOpenDescriptorIsWrittenAsItIs) {
  const ScratchDirectory scratch;
  const Finished run = run_shell(
      "echo before > log; subspectra select sonar -k 2 -o /dev/fd/3 >/dev/null 3>>log; head -n 1 log; tail -n +2 log | head -c 1",
      {.directory = scratch.path()});
  EXPECT_EQ(run.out, "before\n{") << run.err;
}

TEST(Files, AUserWithoutRoomForAThreadGetsWords) {
  const Finished run = run_shell(
      "test $(id -u) -eq 0 && command -v setpriv >/dev/null || exit 77; chmod 755 . 2>/dev/null;"
      "setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'ulimit -u 1; exec \"" SUBSPECTRA_PROGRAM
      "\" select sonar -k 2'");
  if (run.code == 77 || run.code == 126 || run.code == 127)
    GTEST_SKIP() << "cannot be tried here: " << run.err;
  if (run.code != 0) {
    EXPECT_EQ(run.code, 1) << run.err;
    EXPECT_NE(run.err.find("ulimit -u"), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace subspectra
