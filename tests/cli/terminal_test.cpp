/// Names come from files, and a terminal or a spreadsheet obeys what stands in them: neither is to get it as
/// it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/table.hpp"
#include "core/text.hpp"
#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::Finished;
using testing::run_program;
using testing::run_shell;
using testing::ScratchDirectory;

const std::string kEscapes = SUBSPECTRA_SOURCE_DIR "/tests/replay/inputs/escapes.csv";

bool is_safe(const std::string& text) { return printable(text, LineBreaks::kKeep) == text; }

TEST(Terminal, NoCommandSendsControlCharactersOutOfAFile) {
  const ScratchDirectory scratch;
  const std::string result = scratch.file("r.json"), model = scratch.file("m.json");
  const std::vector<std::vector<std::string>> commands = {
      {"select", kEscapes},
      {"select", kEscapes, "-k", "2", "--json"},
      {"select", kEscapes, "--method", "eslda", "-k", "1:3", "-o", result},
      {"select", kEscapes, "--method", "fisher"},
      {"select", kEscapes, "--method", "gloss"},
      {"evaluate", kEscapes, "--cv", "3", "--verbose"},
      {"fit", kEscapes, "-k", "2", "-o", model},
      {"cluster", kEscapes, "--clusters", "2"},
      {"verify", result, kEscapes},
      {"select", kEscapes, "--target", "no\x1b[31m such"},
      {"select", "no\x1b[31m\nsuch\xe2\x80\xae.csv"},
      {"select", "\x1b[31m"},
      {"\x1b[31m"}};
  for (const auto& words : commands) {
    const Finished run = run_program(words);
    EXPECT_TRUE(is_safe(run.out)) << words.front() << '\n' << printable(run.out);
    EXPECT_TRUE(is_safe(run.err)) << words.front() << '\n' << printable(run.err);
  }
  EXPECT_TRUE(is_safe(scratch.read("r.json")));
  EXPECT_TRUE(is_safe(scratch.read("m.json")));
}

TEST(Terminal, JsonSaysTheSameNamesAllTheSame) {
  const json result = run_program({"select", kEscapes, "-k", "1:4", "--json"}).json();
  const auto& names = result["path"].back()["names"];
  EXPECT_NE(std::find(names.begin(), names.end(), json("\x1b[31mRED\x07")), names.end()) << names;
  const ScratchDirectory scratch;
  ASSERT_EQ(run_program({"fit", kEscapes, "-k", "2", "-o", scratch.file("m.json")}).code, 0);
  const auto classes = json::parse(scratch.read("m.json"))["classes"];
  EXPECT_NE(std::find(classes.begin(), classes.end(),
                      json("+cmd\xc2\x9b"
                           "31m")),
            classes.end())
      << classes;
}

TEST(Terminal, PredictionsAreBytesForAFileAndPrintableOnATerminal) {
  if (std::system("script --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no script(1)";
  const ScratchDirectory scratch;
  const std::string model = scratch.file("m.json");
  ASSERT_EQ(run_program({"fit", kEscapes, "-k", "2", "-o", model}).code, 0);
  EXPECT_FALSE(is_safe(run_program({"predict", model, kEscapes, "-q"}).out) &&
               is_safe(run_program({"predict", model, kEscapes, "--quiet"}).out));
  const Finished run = run_shell("script -qec '" SUBSPECTRA_PROGRAM " predict " + model + ' ' + kEscapes +
                                 " --quiet' /dev/null | tr -d '\\r'");
  EXPECT_TRUE(is_safe(run.out)) << printable(run.out);
  EXPECT_NE(run.out.find("+cmd\\u009B31m"), std::string::npos) << run.out;
}

TEST(Terminal, ASpreadsheetGetsNoFormulaWithCsvSafe) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("t.csv", "a,class\n1,=1+1\n2,=1+1\n3,=1+1\n7,-3\n8,-3\n9,-3\n");
  const std::string model = scratch.file("m.json");
  ASSERT_EQ(run_program({"fit", table, "-k", "1", "-o", model}).code, 0);
  const std::string plain = run_program({"predict", model, table, "--quiet"}).out;
  EXPECT_NE(plain.find("0,=1+1,"), std::string::npos) << plain;
  const std::string safe = run_program({"predict", model, table, "--quiet", "--csv-safe"}).out;
  EXPECT_NE(safe.find("0,\"'=1+1\","), std::string::npos) << safe;
  EXPECT_NE(safe.find("5,-3,"), std::string::npos) << "a number is no formula\n" << safe;
}

TEST(Terminal, NoTableOfAResultHasAFormulaWithCsvSafe) {
  const ScratchDirectory scratch;
  std::string rows = "id,=1+1,@b,class\n";
  for (int i = 0; i < 20; ++i)
    rows += "+row" + std::to_string(i) + ',' + std::to_string(i * i % 17) + ',' + std::to_string(i * 7 % 11) +
            (i % 2 == 0 ? ",=u\n" : ",v\n");
  const std::string table = scratch.write("t.csv", rows);
  const auto has_formula = [](const std::string& csv) {
    for (const char* begin : {"\n=", ",=", ",@", ",+row"}) {
      if (csv.find(begin) != std::string::npos) return true;
    }
    return false;
  };
  for (const bool safe : {false, true}) {
    std::vector<std::string> select = {"select", table, "-k", "1:2", "-o", scratch.file("s.csv")};
    std::vector<std::string> judge = {"evaluate",  table,
                                      "-k",        "1:2",
                                      "--cv",      "2",
                                      "--method",  "fisher",
                                      "--details", scratch.file("d.csv"),
                                      "-o",        scratch.file("e.csv")};
    for (auto* words : {&select, &judge}) {
      if (safe) words->emplace_back("--csv-safe");
      const Finished run = run_program(*words);
      ASSERT_EQ(run.code, 0) << run.err;
    }
    EXPECT_EQ(has_formula(scratch.read("s.csv")), !safe) << scratch.read("s.csv");
    EXPECT_EQ(has_formula(scratch.read("d.csv")), !safe) << scratch.read("d.csv");
  }
}

TEST(Terminal, ATerminalNamedAsADeviceIsATerminal) {
  if (std::system("script --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no script(1)";
  const Finished run = run_shell("script -qec '" SUBSPECTRA_PROGRAM " select " + kEscapes +
                                 " -k 4 --quiet --write-names /dev/stdout' /dev/null | tr -d '\\r'");
  const std::string names = run.out.substr(0, run.out.find("escapes.csv:"));
  EXPECT_NE(names.find("\\x1B[31mRED\\x07"), std::string::npos) << printable(run.out);
}

TEST(Terminal, WidthsAreThoseOfWhatIsShown) {
  using cli::display_width;
  EXPECT_EQ(display_width("gene"), 4U);
  EXPECT_EQ(display_width("\xc3\xa9"), 1U);            // é
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);           // e and an accent of its own
  EXPECT_EQ(display_width("\xe9\xba\xa6"), 2U);        // a Chinese character
  EXPECT_EQ(display_width("\xf0\x9f\x98\x80"), 2U);    // a face
  EXPECT_EQ(display_width(printable("\x1b[2J")), 7U);  // \x1B[2J
  cli::Table table({{.title = "name", .align = cli::Align::kLeft}, {.title = "k"}});
  table.add({"a\nb\x1b", "1"});
  table.add({"\xe9\xba\xa6", "22"});
  EXPECT_EQ(table.text(), "name         k\na\\x0Ab\\x1B   1\n\xe9\xba\xa6          22\n");
}

}  // namespace
}  // namespace subspectra
