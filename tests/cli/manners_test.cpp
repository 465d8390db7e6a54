/// How the program behaves towards people: widths, colours, help of a size, what a shell completes, words for
/// those who interrupt it at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../cli/help.hpp"
#include "../../cli/method_guide.hpp"
#include "../../cli/progress.hpp"
#include "cli/table.hpp"
#include "core/text.hpp"
#include "run_program.hpp"
#include "select/registry.hpp"

namespace subspectra::manners_test {
namespace {

using testing::Finished;
using testing::run_program;
using testing::run_shell;
using testing::ScratchDirectory;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_colours(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const auto& line : lines_of(text)) most = std::max(most, cli::display_width(line));
  return most;
}

/// What the command writes on a terminal of this width.
std::string on_terminal(const std::string& arguments, const std::string& environment) {
  const std::string line = "env -u NO_COLOR " + environment + " script -qec '" SUBSPECTRA_PROGRAM " " +
                           arguments + "' /dev/null < /dev/null | tr -d '\\r'";
  return run_shell(line).out;
}

bool has_script() { return std::system("script --version >/dev/null 2>&1") == 0; }

/// Names as long as those of probe sets and of spectra, 12 of them, and a column of groups.
std::string long_names_table() {
  std::string text;
  for (int j = 0; j < 12; ++j) text += "a_name_of_a_probe_set_that_is_rather_long_" + std::to_string(j) + ",";
  text += "class\n";
  unsigned state = 7;
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < 12; ++j) {
      state = state * 1664525U + 1013904223U;
      text += std::to_string((state >> 16U) % 1000 + (i % 2 == 0 && j == 3 ? 400U : 0U)) + ",";
    }
    text += i % 2 == 0 ? "u\n" : "v\n";
  }
  return text;
}

// --- tables
// ----------------------------------------------------------------------------------------------------

TEST(Manners, TablesTakeEightyColumnsInAPipe) {
  const ScratchDirectory scratch;
  const std::string table = scratch.write("t.csv", long_names_table());
  const std::vector<std::vector<std::string>> commands = {
      {"select", "sonar"},
      {"select", "sonar", "-k", "40:42"},
      {"select", "sonar", "--method", "eslda", "-k", "2", "--pool", "4"},
      {"select", table, "-k", "1:4"},
      {"select", table, "-k", "5"},
      {"select", table, "--method", "pca", "-k", "2"},
      {"evaluate", "sonar", "--method", "fisher,gslda", "-k", "1:4", "--cv", "3"},
      {"evaluate", "sonar", "--method", "gloss", "-k", "1:4", "--cv", "3", "--null", "1"},
      {"cluster", "sonar", "--clusters", "3", "-k", "5"},
      {"methods"},
      {"datasets"},
      {"synth"},
      {"reproduce", "--list"}};
  for (const auto& words : commands) {
    const Finished run = run_program(words);
    EXPECT_EQ(run.code, 0) << run.err;
    const auto lines = lines_of(run.out);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i == 0 && lines[i].find(" rows, ") != std::string::npos) continue;  // the line about the table
      EXPECT_LE(cli::display_width(lines[i]), 80U) << words.front() << '\n' << lines[i];
    }
  }
}

TEST(Manners, AWideTerminalHasEveryColumnAndANarrowOneSaysWhatIsMissing) {
  if (!has_script()) GTEST_SKIP() << "there is no script(1)";
  const std::string command = "evaluate sonar --method fisher -k 1:3 --cv 3";
  const std::string wide = on_terminal(command, "TERM=dumb COLUMNS=140");
  for (const auto* column : {"balanced ± s.e.", "apparent", "log-loss ± s.e.", "bits", "stability", "95 %"})
    EXPECT_NE(wide.find(column), std::string::npos) << column << '\n' << wide;
  EXPECT_EQ(wide.find("no room"), std::string::npos) << wide;
  const std::string narrow = on_terminal(command, "TERM=dumb COLUMNS=60");
  EXPECT_LE(widest(narrow), 60U) << narrow;
  EXPECT_NE(narrow.find("error ± s.e."), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("(no room for "), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("log-loss"), std::string::npos) << "named below the table\n" << narrow;
}

TEST(Manners, TablesLeaveColumnsOutBreakListsAndCutNames) {
  const cli::Terminal narrow{.width = 40, .colours = false};
  cli::Table lists({{.title = "k"}, {.title = "features", .align = cli::Align::kLeft}});
  lists.add({"3"}, std::vector<std::string>{"alpha", "beta", "gamma"});
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("feature" + std::to_string(i));
  lists.add({"40"}, many);
  const std::string text = lists.text("", narrow);
  EXPECT_LE(widest(text), 40U) << text;
  EXPECT_NE(text.find(" 3  alpha beta gamma\n"), std::string::npos) << text;
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 5U) << "a list takes three lines\n" << text;
  EXPECT_TRUE(lines[3].starts_with("    feature")) << "under its column\n" << text;
  EXPECT_TRUE(std::regex_search(lines[4], std::regex("\\.\\.\\. \\(\\d+ more\\)$"))) << text;

  cli::Table numbers({{.title = "name", .align = cli::Align::kLeft},
                      {.title = "needed"},
                      {.title = "first to go", .left_out = 2},
                      {.title = "second", .left_out = 1}});
  numbers.add({std::string(50, 'n'), "123456789", "1", "2"});
  const std::string cut = numbers.text("", narrow);
  EXPECT_LE(widest(cut), 40U) << cut;
  EXPECT_NE(cut.find("123456789"), std::string::npos) << "numbers are never cut\n" << cut;
  EXPECT_NE(cut.find("n…"), std::string::npos) << cut;
  EXPECT_NE(cut.find("no room for first to go, second"), std::string::npos) << cut;
  EXPECT_EQ(numbers.text("", {.width = 200, .colours = false}).find("no room"), std::string::npos);
}

TEST(Manners, ColoursAreForTerminalsThatWantThem) {
  EXPECT_EQ(cli::styled("x", cli::Style::kGood, {.width = 80, .colours = false}), "x");
  EXPECT_EQ(cli::styled("x", cli::Style::kGood, {.width = 80, .colours = true}), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(run_shell("TERM=xterm subspectra select sonar -k 2").out.find('\x1b'), std::string::npos)
      << "a pipe";
  if (!has_script()) GTEST_SKIP() << "there is no script(1)";
  const std::string command = "select sonar --method eslda -k 2 --progress never";
  const std::string coloured = on_terminal(command, "TERM=xterm COLUMNS=80");
  EXPECT_NE(coloured.find("\x1b[32moptimal\x1b[0m"), std::string::npos) << printable(coloured);
  for (const auto* quiet : {"TERM=xterm NO_COLOR=1", "TERM=dumb"}) {
    const std::string plain = on_terminal(command, std::string(quiet) + " COLUMNS=80");
    EXPECT_EQ(plain.find('\x1b'), std::string::npos) << quiet << '\n' << printable(plain);
    EXPECT_EQ(plain, without_colours(coloured)) << "the same but for the colours";
  }
}

TEST(Manners, NamesOutOfFilesBringNoColoursOfTheirOwn) {
  if (!has_script()) GTEST_SKIP() << "there is no script(1)";
  const std::string out = on_terminal(
      "select " SUBSPECTRA_SOURCE_DIR "/tests/replay/inputs/escapes.csv -k 1:4", "TERM=xterm COLUMNS=80");
  EXPECT_EQ(printable(without_colours(out), LineBreaks::kKeep), without_colours(out)) << printable(out);
  EXPECT_NE(out.find("\\x1B[31mRED"), std::string::npos) << printable(out);
}

TEST(Manners, BoundsThatSayNothingAreNoColumns) {
  // At every size above 1 the bound is more than twice the objective (measured: gaps of 155 % and more).
  const Finished none = run_program({"select", "sonar", "-k", "2:5"});
  EXPECT_EQ(none.out.find("gap %"), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("no useful bound"), std::string::npos) << none.out;
  const auto path = run_program({"select", "sonar", "-k", "2:5", "--json"}).json()["path"];
  EXPECT_TRUE(std::all_of(path.begin(), path.end(), [](const auto& set) { return set["gap"] > 1.0; }))
      << path;
  // A size of which something is known keeps the columns.
  const Finished some = run_program({"select", "sonar", "-k", "1:3"});
  EXPECT_NE(some.out.find("gap %"), std::string::npos) << some.out;
  EXPECT_NE(some.out.find("0.00"), std::string::npos) << some.out;
  EXPECT_NE(some.out.find(">100"), std::string::npos) << some.out;
  EXPECT_EQ(some.out.find("no useful bound"), std::string::npos) << some.out;
  EXPECT_NE(run_program({"select", "sonar", "-k", "5"}).out.find("; no useful bound\n"), std::string::npos);
}

TEST(Manners, GroupsAreShownByTheirNames) {
  const ScratchDirectory scratch;
  const std::string groups =
      scratch.write("g.csv", "feature,group\nV1,low\nV2,low\nV3,low\nV11,middle\nV12,middle\nV47,high\n");
  const Finished path = run_program({"select", "sonar", "--groups", groups, "--include", "V11", "-k", "1:2"});
  EXPECT_EQ(path.code, 0) << path.err;
  EXPECT_NE(path.out.find("groups"), std::string::npos) << path.out;
  EXPECT_NE(path.out.find("middle (2 features)"), std::string::npos) << path.out;
  const Finished set = run_program({"select", "sonar", "--groups", groups, "--include", "V11", "-k", "1"});
  EXPECT_TRUE(std::regex_search(set.out, std::regex("V12 +11 +middle"))) << set.out;
}

TEST(Manners, StabilityIsNeverMinusZero) {
  const Finished run = run_program({"evaluate", "sonar", "--method", "ks", "-k", "1:60", "--cv", "3"});
  EXPECT_EQ(run.out.find("-0.00 "), std::string::npos) << run.out;
  const auto all =
      run_program({"evaluate", "sonar", "--method", "ks", "-k", "60", "--cv", "3", "--json"}).json();
  for (const auto& row : all["results"]) {
    if (row.contains("stability")) {
      EXPECT_FALSE(std::signbit(row["stability"].get<double>())) << row;
    }
  }
}

// --- help
// ------------------------------------------------------------------------------------------------------

TEST(Manners, WithoutArgumentsThereAreThreeExamplesThatRun) {
  const Finished run = run_program({});
  EXPECT_EQ(run.code, 2);
  int examples = 0;
  for (const auto& line : lines_of(run.err)) {
    if (!line.starts_with("  $ ")) continue;
    ++examples;
    const ScratchDirectory scratch;
    EXPECT_EQ(run_shell(line.substr(4), {.directory = scratch.path()}).code, 0) << line;
  }
  EXPECT_EQ(examples, 3);
  EXPECT_LE(lines_of(run.err).size(), 14U) << run.err;
}

TEST(Manners, HelpIsOneScreenAndHelpAllIsAllOfIt) {
  std::vector<std::vector<std::string>> pages = {{"--help"}};
  for (const auto& command : cli::commands()) pages.push_back({command.page.name, "--help"});
  for (const auto& words : pages) {
    const Finished help = run_program(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_LE(lines_of(help.out).size(), 40U) << help.out;
    for (const auto& line : lines_of(help.out)) {
      EXPECT_LE(cli::display_width(line), line.starts_with("  $ ") ? 120U : 80U) << line;
    }
  }
  for (const auto& command : cli::commands()) {
    const auto& page = command.page;
    SCOPED_TRACE(page.name);
    const std::string all = run_program({page.name, "--help-all"}).out,
                      some = run_program({page.name, "--help"}).out;
    for (const auto& option : cli::listed_options(page))
      EXPECT_NE(all.find("\n  " + cli::usage_of(option)), std::string::npos) << option.name;
    std::set<std::string> known;
    for (const auto& option : cli::listed_options(page)) known.insert(option.name);
    EXPECT_LE(page.main_options.size(), 16U) << "about a dozen";
    for (const auto& main : page.main_options) {
      EXPECT_TRUE(known.contains(main.name)) << main.name << " is no option of this command";
      EXPECT_NE(some.find("\n  " + cli::option_flag(main.name)), std::string::npos) << main.name;
    }
    if (known.size() > 14) {
      EXPECT_FALSE(page.main_options.empty()) << "a dozen of so many";
    }
    if (!page.main_options.empty()) {
      EXPECT_NE(some.find("--help-all"), std::string::npos);
    }
  }
}

TEST(Manners, HelpMethodHasTheOptionsOfOneMethod) {
  for (const auto& method : MethodRegistry::entries()) {
    SCOPED_TRACE(method.traits->name);
    const Finished run =
        run_program({"select", "--no-such", "--help-method", std::string(method.traits->name)});
    EXPECT_EQ(run.code, 0);
    for (const auto& option : method.options)
      EXPECT_NE(run.out.find("\n  " + cli::usage_of(option)), std::string::npos) << option.name;
    EXPECT_EQ(run.out.find("--include "), std::string::npos) << "one of all methods";
    EXPECT_LE(widest(run.out), 80U);
  }
  EXPECT_EQ(run_program({"evaluate", "--help-method=ks"}).code, 0);
  EXPECT_EQ(run_program({"--help-method", "ks"}).out.substr(0, 3), "ks:");
  const Finished wrong = run_program({"select", "--help-method", "gsdla"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("gslda"), std::string::npos) << wrong.err;
  EXPECT_EQ(run_program({"select", "--help-method"}).code, 2);
}

TEST(Manners, EveryMethodIsExplainedWithAnExampleThatRuns) {
  for (const auto& method : MethodRegistry::entries()) {
    const std::string name(method.traits->name);
    SCOPED_TRACE(name);
    const cli::MethodGuide* const guide = cli::guide_to(name);
    ASSERT_NE(guide, nullptr) << "cli/method_guide.cpp says what each method does";
    const Finished run = run_program({"methods", name});
    EXPECT_EQ(run.code, 0);
    for (const auto* part : {"What it does:", "When to use it:", "Needs", "Example:", "More:"})
      EXPECT_NE(run.out.find(part), std::string::npos) << part;
    for (const auto& option : method.options)
      EXPECT_NE(run.out.find("\n  " + cli::usage_of(option)), std::string::npos);
    EXPECT_NE(guide->example.find(name), std::string::npos);
    EXPECT_FALSE(
        testing::detail::slurp(SUBSPECTRA_SOURCE_DIR "/docs/methods/" + std::string(guide->page)).empty());
    const ScratchDirectory scratch;
    const Finished example = run_shell(std::string(guide->example), {.directory = scratch.path()});
    EXPECT_EQ(example.code, 0) << guide->example << '\n' << example.err;
  }
  const Finished wrong = run_program({"methods", "gsdla"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("gslda"), std::string::npos) << wrong.err;
  EXPECT_EQ(run_program({"methods", "gslda", "--json"}).json()["name"], "gslda");
}

// --- files and patterns
// ----------------------------------------------------------------------------------------

/// Fields of a CSV text without quotes in it.
std::vector<std::vector<std::string>> fields_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& line : lines_of(text)) {
    rows.emplace_back();
    std::istringstream stream(line + ",");
    for (std::string field; std::getline(stream, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

TEST(Manners, ANameInCsvIsWrittenAsCsvByEveryCommandThatHasATable) {
  const ScratchDirectory scratch;
  const testing::RunSettings here{.directory = scratch.path()};
  EXPECT_EQ(run_program({"select", "sonar", "-k", "1:3", "-o", "s.csv"}, here).code, 0);
  const auto sets = fields_of(scratch.read("s.csv"));
  ASSERT_EQ(sets.size(), 4U);
  const auto path = run_program({"select", "sonar", "-k", "1:3", "--json"}).json()["path"];
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sets[i + 1][0], std::to_string(i + 1));
    EXPECT_EQ(std::stod(sets[i + 1][1]), path[i]["objective"].get<double>()) << "all digits";
  }
  EXPECT_EQ(
      run_program({"evaluate", "sonar", "--method", "ks,snr", "-k", "1:3", "--cv", "3", "-o", "e.csv"}, here)
          .code,
      0);
  const auto rows = fields_of(scratch.read("e.csv"));
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[0][0], "method");
  EXPECT_EQ(rows[6][0], "snr");
  EXPECT_EQ(run_program({"reproduce", "iccv07-bounds", "--quick", "-o", "r.csv"}, here).code, 0);
  EXPECT_TRUE(scratch.read("r.csv").starts_with("name,published,obtained"))
      << scratch.read("r.csv").substr(0, 80);
  EXPECT_EQ(run_program({"select", "sonar", "-k", "2", "-o", "r.json"}, here).code, 0);
  EXPECT_EQ(run_program({"verify", "r.json", "sonar", "-o", "v.csv"}, here).code, 0);
  EXPECT_TRUE(scratch.read("v.csv").starts_with("check,ok,")) << scratch.read("v.csv").substr(0, 80);
  EXPECT_EQ(run_program({"cluster", "sonar", "--clusters", "2", "-k", "3", "-o", "c.csv"}, here).code, 0);
  EXPECT_TRUE(scratch.read("c.csv").starts_with("row,cluster\n"));
}

TEST(Manners, ColumnsAreNamedByPatterns) {
  const auto features = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"select", "sonar", "-k", "3", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = run_program(words);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.json()["path"][0]["names"];
  };
  EXPECT_EQ(features({"--exclude", "V1?,V4*"}),
            features({"--exclude",
                      "V10,V11,V12,V13,V14,V15,V16,V17,V18,V19,V4,V40,V41,V42,V43,V44,V45,V46,V47,V48,V49"}));
  EXPECT_EQ(features({"--include", "V[12]"}), features({"--include", "V1,V2"}));
  const Finished none = run_program({"select", "sonar", "--exclude", "W*"});
  EXPECT_EQ(none.code, 3);
  EXPECT_NE(none.err.find("no feature fits that pattern"), std::string::npos) << none.err;
  const Finished near = run_program({"select", "sonar", "--include", "V60*0"});
  EXPECT_NE(near.err.find("V60"), std::string::npos) << "near names are named\n" << near.err;

  // Columns of text, of CSV and ARFF; a name with a bracket of its own is that name.
  const ScratchDirectory scratch;
  const std::string csv =
      scratch.write("t.csv", "note_a,x[1],x1,note_b,class\np,1,5,q,u\nr,2,3,s,u\nt,7,1,o,v\nw,9,2,z,v\n");
  const Finished kept =
      run_program({"select", csv, "--exclude", "note_*,x[1]", "--target", "class", "-k", "1", "--json"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.json()["path"][0]["names"], nlohmann::json({"x1"}));
  const std::string arff = scratch.write(
      "t.arff",
      "@relation r\n@attribute note_a string\n@attribute x numeric\n@attribute note_b string\n@attribute class {u,v}\n"
      "@data\np,1,q,u\nr,2,s,u\nt,7,o,v\nw,9,z,v\n");
  EXPECT_EQ(run_program({"select", arff, "--exclude", "note_?", "-k", "1"}).code, 0);
  // What a result says of patterns is checked like names.
  const std::string result = scratch.file("r.json");
  EXPECT_EQ(
      run_program({"select", "sonar", "--exclude", "V1?", "--include", "V2[0]", "-k", "2", "-o", result})
          .code,
      0);
  const Finished verified = run_program({"verify", result, "sonar"});
  EXPECT_EQ(verified.code, 0) << verified.err;
}

// --- manual and completion
// -------------------------------------------------------------------------------------

TEST(Manners, TheManualIsSoundRoff) {
  std::vector<std::vector<std::string>> pages = {{"--man"}};
  for (const auto& command : cli::commands()) pages.push_back({"--man", command.page.name});
  const bool groff = std::system("groff --version >/dev/null 2>&1") == 0;
  for (const auto& words : pages) {
    const Finished page = run_program(words);
    EXPECT_EQ(page.code, 0) << page.err;
    EXPECT_TRUE(page.out.starts_with(".TH SUBSPECTRA")) << page.out.substr(0, 40);
    for (const auto* part : {".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES", ".SH EXIT STATUS", ".SH SEE ALSO"})
      EXPECT_NE(page.out.find(part), std::string::npos) << part;
    EXPECT_TRUE(std::all_of(page.out.begin(), page.out.end(), [](char c) {
      return c == '\n' || (c >= ' ' && c <= '~');
    })) << "roff is ASCII";
    if (!groff) continue;
    const Finished set = run_shell("groff -man -ww -Tutf8 -z -rLL=72n", {.input = page.out});
    EXPECT_EQ(set.err, "") << words.back();
  }
  if (!groff) GTEST_SKIP() << "there is no groff";
}

std::string completed(const std::string& words, int at) {
  const std::string line =
      "bash --norc -c '. <(\"" SUBSPECTRA_PROGRAM "\" --completion bash); COMP_WORDS=(subspectra " + words +
      "); COMP_CWORD=" + std::to_string(at) + "; _subspectra; printf \"%s\\n\" \"${COMPREPLY[@]}\"'";
  const ScratchDirectory scratch;
  scratch.write("table.csv", "a\n");
  return run_shell(line, {.directory = scratch.path()}).out;
}

TEST(Manners, BashCompletesCommandsOptionsMethodsDataAndFiles) {
  EXPECT_EQ(completed("sel", 1), "select\n");
  EXPECT_EQ(completed("select sonar --require-o", 3), "--require-optimal\n");
  EXPECT_EQ(completed("select sonar --method gsp", 4), "gspca\n");
  EXPECT_EQ(completed("select sonar --method = gsp", 5), "gspca\n") << "--method=gsp";
  EXPECT_EQ(completed("evaluate sonar --method fisher,gsl", 4), "fisher,gslda\n");
  EXPECT_EQ(completed("evaluate son", 2), "sonar\n");
  EXPECT_EQ(completed("select tab", 2), "table.csv\n");
  EXPECT_EQ(completed("select sonar --missing m", 4).substr(0, 4), "mean");
  EXPECT_EQ(completed("methods qalpha-g", 2), "qalpha-gap\n");
  EXPECT_EQ(completed("evaluate sonar --classifier sv", 4), "svm\n");
  EXPECT_NE(completed("fit sonar -", 3).find("\n-k\n"), std::string::npos);
}

TEST(Manners, EveryShellsScriptKnowsEveryOptionAndIsSound) {
  for (const auto* shell : {"bash", "zsh", "fish"}) {
    SCOPED_TRACE(shell);
    const Finished script = run_program({"--completion", shell});
    EXPECT_EQ(script.code, 0);
    for (const auto& command : cli::commands()) {
      EXPECT_NE(script.out.find(command.page.name), std::string::npos);
      for (const auto& option : cli::listed_options(command.page)) {
        const std::string flag = cli::option_flag(option.name);
        const bool fish = std::string_view(shell) == "fish";
        const std::string written = !fish                    ? flag
                                    : flag.starts_with("--") ? "-l " + flag.substr(2)
                                                             : "-s " + flag.substr(1);
        EXPECT_NE(script.out.find(written), std::string::npos) << option.name;
      }
    }
    const std::string check = std::string(shell) + " -n";
    if (std::system((std::string(shell) + " --version >/dev/null 2>&1").c_str()) != 0) continue;
    EXPECT_EQ(run_shell(check, {.input = script.out}).err, "");
  }
  EXPECT_EQ(run_program({"--completion", "tcsh"}).code, 2);
  EXPECT_EQ(run_program({"--completion"}).code, 2);
}

// --- progress and signals
// --------------------------------------------------------------------------------------

TEST(Manners, ProgressSaysHowLongItWillStillTake) {
  cli::Forecast forecast;
  EXPECT_FALSE(forecast.remaining_s({.task = "evaluate", .fraction = 0.0, .elapsed_s = 1.0, .detail = {}}));
  EXPECT_FALSE(forecast.remaining_s({.task = "evaluate", .fraction = 0.2, .elapsed_s = 2.0, .detail = {}}))
      << "a second says nothing";
  // From 1 s to 5 s a quarter: three quarters in 12 s.
  EXPECT_NEAR(*forecast.remaining_s({.task = "evaluate", .fraction = 0.25, .elapsed_s = 5.0, .detail = {}}),
              12.0, 1e-12);
  // A new task starts anew, and so does one that falls back.
  EXPECT_FALSE(forecast.remaining_s({.task = "backward", .fraction = 0.1, .elapsed_s = 6.0, .detail = {}}));
  EXPECT_NEAR(*forecast.remaining_s({.task = "backward", .fraction = 0.3, .elapsed_s = 10.0, .detail = {}}),
              14.0, 1e-12);
  EXPECT_FALSE(forecast.remaining_s({.task = "backward", .fraction = 0.0, .elapsed_s = 11.0, .detail = {}}));
  EXPECT_FALSE(
      forecast.remaining_s({.task = "exact search", .fraction = -1.0, .elapsed_s = 90.0, .detail = {}}));
  EXPECT_FALSE(
      forecast.remaining_s({.task = "exact search", .fraction = -1.0, .elapsed_s = 99.0, .detail = {}}));
  EXPECT_EQ(cli::progress_text(
                {.task = "evaluate", .fraction = 0.25, .elapsed_s = 5.0, .detail = "fold 3/12"}, 12.0),
            "evaluate   25 %  5 s, about 12 s left  fold 3/12");
  EXPECT_EQ(cli::duration_text(0.2), "1 s");
  EXPECT_EQ(cli::duration_text(300.0), "5 min");
  EXPECT_EQ(cli::duration_text(12'000.0), "3:20 h");
}

TEST(Manners, ProgressIsForTerminalsUnlessItIsAskedFor) {
  EXPECT_EQ(run_program({"evaluate", "sonar", "--method", "ks", "-k", "1:3"}).err, "");
  const Finished asked =
      run_program({"evaluate", "sonar", "--method", "ks", "-k", "1:3", "--progress", "always"});
  EXPECT_NE(asked.err.find("evaluate"), std::string::npos) << asked.err;
}

TEST(Manners, WhoIsInterruptedAtOnceSaysSoAndHasTheRightCode) {
  for (const auto& [signal, code] :
       {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}, std::pair{SIGHUP, 129}}) {
    for (const double after : {0.01, 0.02, 0.03, 0.05, 0.1, 0.3}) {
      SCOPED_TRACE(after);
      const Finished run =
          run_program({"evaluate", "sonar", "--method", "eslda", "-k", "4", "--repeats", "2000"},
                      {.signal = signal, .signal_after_s = after});
      EXPECT_EQ(run.code, code);
      // Before the program itself runs nobody can say anything: a busy machine takes its time to load it.
      if (after >= 0.3) {
        EXPECT_NE((run.err + run.out).find("interrupted"), std::string::npos) << run.err << run.out;
      }
    }
  }
  // Waiting for it when it begins: the first thing that it sees.
  const Finished pending =
      run_shell("exec env --block-signal=TERM /bin/sh -c 'kill -TERM $$; exec \"" SUBSPECTRA_PROGRAM
                "\" evaluate sonar --repeats 2000'");
  EXPECT_EQ(pending.code, 143);
  // Seen before the run begins, or at its first look: in words either way.
  const bool before =
      pending.err ==
      "subspectra: error: interrupted before there was anything to write; nothing was written\n";
  EXPECT_TRUE(before || pending.out.find("status interrupted") != std::string::npos)
      << pending.err << pending.out;
  // While it waits for its input there is nothing yet.
  const Finished waiting = run_shell("sleep 3 | { \"" SUBSPECTRA_PROGRAM
                                     "\" select - <&3 & sleep 1; kill -TERM $!; wait $!; echo $?; } 3<&0");
  EXPECT_EQ(waiting.out, "143\n");
  EXPECT_EQ(waiting.err,
            "subspectra: error: interrupted before there was anything to write; nothing was written\n");
  // One that is ignored stays so.
  EXPECT_EQ(run_shell("trap '' TERM; subspectra methods >/dev/null & kill -TERM $!; wait $!").code, 0);
}

}  // namespace
}  // namespace subspectra::manners_test
