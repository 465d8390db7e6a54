#include "help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "table.hpp"

namespace subspectra::cli {
namespace {

constexpr std::size_t kTextColumn = 28;  // where explanations begin

constexpr std::string_view kExitCodes =
    "0 done (a limit that was reached is still 0, the status says so); 1 failure while running; 2 wrong usage; 3 bad input data; 4 constraints that no set satisfies; 5 a proof or gap that was asked for was not reached; 6 `verify` could not check everything; 129, 130, 143 or 153 interrupted by SIGHUP, SIGINT, SIGTERM or SIGXFSZ (what was found so far has been written, if it could be).";
/// "  NAME    text ...", the text wrapped beside the name or, for a long name, below it.
std::string entry(const std::string& name, std::string_view text) {
  std::string result = "  " + name;
  bool beside = result.size() + 2 <= kTextColumn;
  for (const auto& line : wrapped(text, kHelpWidth - kTextColumn)) {
    result += beside ? std::string(kTextColumn - std::min(kTextColumn, result.size()), ' ')
                     : '\n' + std::string(kTextColumn, ' ');
    result += line;
    beside = false;
  }
  return result + '\n';
}

std::string paragraph(std::string_view title, std::string_view text) {
  std::string result = fmt::format("\n{}:\n", title);
  for (const auto& line : wrapped(text, kHelpWidth - 2)) result += "  " + line + '\n';
  return result;
}

bool says_default(const OptionDescription& option) {
  return option.help.find("efault") != std::string::npos || option.help.find(option.default_text + " ") == 0;
}

std::string explanation(const OptionDescription& option) {
  if (option.is_switch || option.default_text.empty() || says_default(option)) return in_flags(option.help);
  return fmt::format("{} [{}]", in_flags(option.help), option.default_text);
}

std::string usage_of(const OptionDescription& option) {
  return option.hint.empty() ? option_flag(option.name) : option_flag(option.name) + ' ' + option.hint;
}

std::string examples_text(const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const auto& example : examples)
    text += fmt::format("  $ {}\n      {}\n", example.command, example.says);
  return text;
}

std::string command_list() {
  std::string text = "\nCommands:\n";
  for (const auto& command : commands()) {
    text += entry(command.page.name, command.page.purpose);
  }
  return text;
}

/// A cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string_view status_meanings() {
  return "`optimal` proven; `gap_reached` proven to --gap; `converged` an iteration came to its end; `heuristic` a method without proof ran to its end; `rank_limit` larger sets do not exist; `iteration_limit`, `node_limit`, `memory_limit`, `time_limit` or `interrupted` stopped early, what is shown is what was found until then.";
}

std::string help_text(const CommandPage& page) {
  std::string text;
  for (const auto& line : wrapped(page.purpose, kHelpWidth)) text += line + '\n';
  text += '\n' + examples_text(page.examples);
  text += fmt::format("\nUsage:\n  subspectra {}\n", page.usage);
  for (const auto& operand : page.operands) text += entry(operand.name, operand.help);
  for (const auto& group : page.groups) {
    if (group.options.empty()) continue;
    text += fmt::format("\n{}:\n", group.title);
    for (const auto& option : group.options) text += entry(usage_of(option), explanation(option));
  }
  text += "\nHelp:\n" + entry("-h, --help", "this page");
  for (const auto& note : page.notes) {
    const auto colon = note.find(": ");
    text += paragraph(note.substr(0, colon), note.substr(colon + 2));
  }
  text += paragraph("Exit codes", kExitCodes);
  return text;
}

std::string short_help() {
  return "Usage: subspectra COMMAND ...\n" + command_list() +
         "\nTry: subspectra evaluate sonar\n     subspectra COMMAND --help\n";
}

std::string program_help() {
  return "Subspectra finds the few features worth keeping, and tells how far that choice can be trusted.\n\n" +
         examples_text(
             {{.command = "subspectra select sonar -k 10", .says = "ten features of the embedded Sonar data"},
              {.command = "subspectra evaluate sonar --method fisher,ks -k 1:20",
               .says = "cross-validated error against the number of features, two methods side by side"},
              {.command = "subspectra fit sonar -k 10 -o model.json && subspectra predict model.json sonar",
               .says = "train a classifier on ten features, then apply it"}}) +
         "\nUsage:\n  subspectra COMMAND ...\n" +
         entry("COMMAND --help", "options and examples of a command") +
         entry("--version", "version, BLAS and threads") + command_list() +
         paragraph("Statuses", status_meanings()) + paragraph("Exit codes", kExitCodes);
}

std::string options_markdown() {
  std::string text =
      "# Options of every command\n\n"
      "Generated by `scripts/update-options-doc` from the descriptions in the code; a test keeps it "
      "current.\n";
  for (const auto& command : commands()) {
    const auto& page = command.page;
    text += fmt::format("\n## `subspectra {}`\n\n{}\n", page.usage, page.purpose);
    for (const auto& group : page.groups) {
      if (group.options.empty()) continue;
      text += fmt::format("\n### {}: {}\n\n| option | default | meaning |\n|---|---|---|\n", page.name,
                          group.title);
      for (const auto& option : group.options) {
        const std::string value =
            option.is_switch || option.default_text.empty() ? "" : '`' + option.default_text + '`';
        text += fmt::format("| `{}` | {} | {} |\n", cell(usage_of(option)), cell(value),
                            cell(in_flags(option.help)));
      }
    }
  }
  return text;
}

}  // namespace subspectra::cli
