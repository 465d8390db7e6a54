/// Exit codes, help pages, and the one line an error is.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "../../cli/help.hpp"
#include "../../cli/options.hpp"
#include "classify/registry.hpp"
#include "data/prepare.hpp"
#include "evaluate/cross_validation.hpp"
#include "io/read.hpp"
#include "report/command_line.hpp"
#include "run_program.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra::usage_test {
namespace {

using testing::Finished;
using testing::run_program;
using testing::run_shell;
using testing::ScratchDirectory;

const std::vector<std::string> kCommands = {"select",  "fit",   "predict",   "evaluate", "verify",
                                            "cluster", "synth", "reproduce", "methods",  "datasets"};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// One line "subspectra: error: ..." that holds `part`, nothing on stdout.
void expect_refused(const Finished& run, int code, const std::string& part) {
  EXPECT_EQ(run.code, code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
  EXPECT_TRUE(run.err.starts_with("subspectra: error: ")) << run.err;
  EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

TEST(Usage, NoArgumentsGiveShortHelpAndExitCode2) {
  const Finished run = run_program({});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  for (const auto& command : kCommands) EXPECT_NE(run.err.find(command), std::string::npos);
}

// The page of a result shows the command that makes it, and the library, which knows of no command, reads its
// options: they are to be the command's own, in its order, so that the two do not drift apart.
TEST(Usage, AResultTellsTheOptionsOfItsCommand) {
  const std::set<std::string> of_one_run = {
      "method",          "threads",     "memory_limit", "checkpoint", "checkpoint_every",
      "resume",          "device",      "between",      "within",     "covariance",
      "refit",           "part",        "events",       "json",       "o",
      "require_optimal", "require_gap", "quiet",        "verbose",    "progress",
      "write_table",     "write_names", "csv_safe",     "report",     "figures",
      "shape",           "details"};
  for (const auto& command : cli::commands()) {
    const auto told = told_options(command.page.name);
    if (told.empty()) continue;
    SCOPED_TRACE(command.page.name);
    std::size_t next = 0;
    for (const auto& option : cli::listed_options(command.page)) {
      if (next == told.size() || option.name != told[next].name) {
        EXPECT_TRUE(command.page.name == "reproduce" || of_one_run.contains(option.name)) << option.name;
        continue;
      }
      EXPECT_EQ(option.default_text, told[next].default_text) << option.name;
      EXPECT_EQ(option.is_switch, told[next].is_switch) << option.name;
      ++next;
    }
    EXPECT_EQ(next, told.size()) << told[std::min(next, told.size() - 1)].name;
  }
  for (const char* const name : {"select", "evaluate", "fit", "cluster", "reproduce"})
    EXPECT_FALSE(told_options(name).empty()) << name;
}

TEST(Usage, VersionNamesTheBlas) {
  const Finished run = run_program({"--version"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(lines_of(run.out).front(), "subspectra 0.1.0");
  EXPECT_NE(run.out.find("BLAS"), std::string::npos);
}

/// An option struct as a method might have it.
struct OneSwitch {
  bool careful = true;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("careful", o.careful, "look twice");
  }
};

TEST(Usage, ASwitchThatIsOnByDefaultIsSwitchedOff) {
  const cli::CommandPage page{.name = "look",
                              .groups = {{.title = "all", .options = describe_options<OneSwitch>()}}};
  EXPECT_EQ(cli::usage_of(page.groups.front().options.front()), "--careful=false");
  OneSwitch read;
  set_options(read, cli::parse_arguments(page, {"--careful=false"}).texts);
  EXPECT_FALSE(read.careful);
  set_options(read, cli::parse_arguments(page, {"--careful"}).texts);
  EXPECT_TRUE(read.careful);
}

TEST(Usage, WrongUsageIsExitCode2WithAWayOut) {
  expect_refused(run_program({"selct", "sonar"}), 2, "did you mean select?");
  expect_refused(run_program({"classify", "sonar"}), 2, "there is no command 'classify'");
  expect_refused(run_program({"--json", "select"}), 2, "the command comes first");
  expect_refused(run_program({"select"}), 2, "DATA is missing");
  expect_refused(run_program({"select", "sonar", "wine.csv"}), 2, "'wine.csv' is one argument too many");
  expect_refused(run_program({"select", "sonar", "--methd", "ks"}), 2, "did you mean --method?");
  expect_refused(run_program({"select", "sonar", "--cv", "5"}), 2, "it belongs to evaluate");
  expect_refused(run_program({"select", "sonar", "-k", "3", "-k", "4"}), 2, "-k is given 2 times");
  expect_refused(run_program({"select", "sonar", "--json", "--json"}), 2, "--json is given 2 times");
  expect_refused(run_program({"select", "sonar", "-k"}), 2, "-k needs a value");
  expect_refused(run_program({"select", "sonar", "-k", "0"}), 2, "1 <= LO <= HI");
  expect_refused(run_program({"select", "sonar", "-k", "61"}), 2, "60");
  expect_refused(run_program({"select", "sonar", "--ridge", "-1"}), 2, "--ridge '-1'");
  expect_refused(run_program({"select", "sonar", "--method", "fishr"}), 2, "fisher");
  expect_refused(run_program({"select", "sonar", "--criterion", "best"}), 2, "largest|trace|wilks");
  expect_refused(run_program({"select", "sonar", "--time-limit", "0"}), 2, "--time-limit");
  expect_refused(run_program({"evaluate", "sonar", "--method", "ks,ks"}), 2, "twice");
  for (const auto* command : {"evaluate", "select"}) {
    expect_refused(run_program({command, "sonar", "--method", ","}), 2, "--method ','");
    expect_refused(run_program({command, "sonar", "--method", ""}), 2, "--method '' names no method");
  }
  expect_refused(run_program({"fit", "sonar", "--method", "", "-o", "-"}), 2, "names no method");
  expect_refused(run_program({"evaluate", "sonar", "--cv", "1"}), 2, "--cv '1'");
  expect_refused(run_program({"evaluate", "sonar", "--cv", "5", "--test-fraction", "0.2"}), 2,
                 "leave one out");
  expect_refused(run_program({"evaluate", "sonar", "--test-fraction", "1.5"}), 2, "0.2 holds out a fifth");
  expect_refused(run_program({"evaluate", "sonar", "--classifier", "oracle"}), 2, "oracle");
  expect_refused(run_program({"fit", "sonar", "-k", "3"}), 2, "-o FILE");
}

TEST(Usage, WithGroupsTheLargestKIsSaidInGroups) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("t.csv", "a,b,c,class\n1,2,4,u\n3,1,2,u\n5,6,1,v\n7,9,3,v\n");
  const std::string groups = scratch.write("g.csv", "feature,group\na,g\nb,g\nc,h\n");
  expect_refused(run_program({"select", table, "--groups", groups, "-k", "3"}), 2, "2 groups can be chosen");
}

TEST(Usage, ConstraintsThatNoSetSatisfiesAreExitCode4) {
  expect_refused(run_program({"select", "sonar", "--include", "V1", "--exclude", "V1"}), 4, "V1");
  expect_refused(run_program({"select", "sonar", "--include", "V1,V2,V3", "-k", "2"}), 4, "k is at most 2");
}

TEST(Usage, WhatCannotBeWrittenIsSaidBeforeTheWorkAndLeavesNothing) {
  const ScratchDirectory scratch;
  const Finished missing =
      run_program({"evaluate", "sonar", "--repeats", "3000", "-o", scratch.file("none/result.json")});
  expect_refused(missing, 1, "none/result.json: cannot be written: No such file or directory");
  EXPECT_LT(missing.seconds, 5.0);
  expect_refused(run_program({"select", "sonar", "-o", scratch.path()}), 1, "Is a directory");
  expect_refused(run_program({"select", "sonar", "-o", "/proc/result.json"}), 1,
                 "/proc/result.json: cannot be written: ");
  expect_refused(run_program({"select", "sonar", "-o", "/dev/full"}), 1, "No space left on device");
  const Finished full = run_program({"select", "sonar"}, {.stdout_path = "/dev/full"});
  expect_refused(full, 1, "standard output cannot be written: No space left on device");
  EXPECT_TRUE(scratch.entries().empty());
}

TEST(Usage, AResultFileIsReplacedWhole) {
  const ScratchDirectory scratch;
  scratch.write("result.json", std::string(1 << 20, 'x'));
  const Finished run =
      run_program({"select", "sonar", "-k", "2", "-o", "result.json"}, {.directory = scratch.path()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(scratch.read("result.json"))["schema"], "subspectra.selection/1");
  EXPECT_EQ(scratch.entries().size(), 1U);
}

TEST(Usage, AClosedPipeEndsQuietly) {
  const Finished run = run_shell("subspectra select sonar --json --quiet | head -n 1");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "{\n");
  EXPECT_EQ(run.err, "");
}

TEST(Help, EveryPageTeachesWithExamplesThatRun) {
  auto pages = kCommands;
  pages.emplace_back("");
  for (const auto& command : pages) {
    SCOPED_TRACE(command);
    const Finished help = command.empty() ? run_program({"--help-all"})
                                          : run_program({command, "--no-such-thing", "--help-all"});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_NE(help.out.find("Exit codes:"), std::string::npos);
    int examples = 0;
    for (const auto& line : lines_of(help.out)) {
      constexpr std::string_view kPrompt = "  $ ";
      EXPECT_LE(line.size(), line.starts_with(kPrompt) ? 120U : 80U) << line;
      if (!line.starts_with(kPrompt)) continue;
      ++examples;
      const ScratchDirectory scratch;
      const Finished run = run_shell(line.substr(kPrompt.size()), {.directory = scratch.path()});
      EXPECT_EQ(run.code, 0) << line << '\n' << run.err;
      EXPECT_NE(run.out + std::to_string(scratch.entries().size()), "0") << line;
    }
    EXPECT_GE(examples, 2);
    EXPECT_LT(help.out.find("Examples:"), help.out.find("Usage:"));
  }
  EXPECT_EQ(run_program({"help", "select"}).out, run_program({"select", "-h"}).out);
}

template <class Options>
void add_flags(std::set<std::string>& flags) {
  for (const auto& option : describe_options<Options>()) flags.insert(cli::option_flag(option.name));
}

std::set<std::string> flags_in_help(const std::string& command) {
  std::set<std::string> flags;
  static const std::regex option("^  (--?[A-Za-z][A-Za-z0-9-]*)");
  for (const auto& line : lines_of(run_program({command, "--help-all"}).out)) {
    std::smatch match;
    if (std::regex_search(line, match, option)) flags.insert(match[1]);
  }
  for (const auto* own : {"-h", "--help-all", "--help-method"}) flags.erase(own);
  return flags;
}

TEST(Help, ListsExactlyTheOptionsTheStructsDescribe) {
  std::set<std::string> common = {"--method", "--time-limit", "--json",    "-o",
                                  "--quiet",  "--verbose",    "--progress"};
  add_flags<ReadOptions>(common);
  add_flags<PrepareOptions>(common);
  add_flags<SelectOptions>(common);
  for (const MethodEntry& method : MethodRegistry::entries()) {
    for (const auto& option : method.options) common.insert(cli::option_flag(option.name));
  }
  common.insert({"--device", "--report", "--figures", "--shape"});
  auto select = common;
  select.insert({"--between", "--within", "--covariance", "--refit", "--require-optimal", "--require-gap",
                 "--events", "--write-table", "--write-names", "--csv-safe", "--part"});
  EXPECT_EQ(flags_in_help("select"), select);
  auto fit = common;
  for (const auto& option : describe_classifiers()) fit.insert(cli::option_flag(option.name));
  EXPECT_EQ(flags_in_help("fit"), fit);
  auto evaluate = fit;
  evaluate.insert({"--cv-groups", "--details", "--csv-safe", "--part"});
  add_flags<EvaluateOptions>(evaluate);
  EXPECT_EQ(flags_in_help("evaluate"), evaluate);
}

TEST(Help, TheOptionsPageOfTheDocumentationIsCurrent) {
  const std::string page = testing::detail::slurp(SUBSPECTRA_SOURCE_DIR "/docs/reference/options.md");
  EXPECT_EQ(page, run_program({"methods", "--options-markdown"}).out) << "run scripts/update-options-doc";
}

TEST(MethodOptions, ThoseOfOtherMethodsAreRefusedByName) {
  static constexpr MethodTraits kSt{.name = "st"}, kQAlpha{.name = "qalpha"}, kSda{.name = "sda"},
      kGloss{.name = "gloss"};
  std::vector<MethodEntry> all(3);
  all[0].traits = &kSt;
  all[0].options = {
      {.name = "threshold", .hint = "x|y", .default_text = "x", .help = "what is cut", .is_switch = false}};
  all[1].traits = &kQAlpha;
  all[1].options = {
      {.name = "max_iterations", .hint = "N", .default_text = "9", .help = "limit", .is_switch = false}};
  all[2] = all[1];
  all[2].traits = &kSda;
  const OptionTexts texts = {{"k", "3"}, {"max_iterations", "5"}};
  EXPECT_NO_THROW(cli::check_method_options(texts, {&all[1]}, all));
  EXPECT_NO_THROW(cli::check_method_options(texts, {&all[0], &all[2]}, all));
  try {
    cli::check_method_options(texts, {&all[0]}, all);
    FAIL();
  } catch (const InvalidArgument& refusal) {
    EXPECT_NE(refusal.text(Spelling::kCommandLine).find("--max-iterations is an option of qalpha, sda"),
              std::string::npos);
  }
  const auto listed = cli::method_specific_options(all);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[1].help, "limit (qalpha, sda)");
  EXPECT_EQ(listed[1].default_text, "9");
  // A default, or a meaning, that not all methods share is told method by method.
  all.push_back(all[1]);
  all[2].options[0].default_text = "7";
  all[3].traits = &kGloss;
  all[3].options[0].help = "sweeps";
  const auto differing = cli::method_specific_options(all);
  ASSERT_EQ(differing.size(), 2U);
  EXPECT_EQ(differing[1].help, "limit (default 9: qalpha; default 7: sda); or sweeps (default 9: gloss)");
  EXPECT_EQ(differing[1].default_text, "");
}

}  // namespace
}  // namespace subspectra::usage_test
