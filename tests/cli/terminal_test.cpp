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
