#include "help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "table.hpp"
#include "terminal.hpp"

namespace subspectra::cli {
namespace {

constexpr std::size_t kTextColumn = 28;  // where explanations begin
constexpr std::size_t kMostWide = 100;   // longer lines are hard to read, however wide the terminal

std::size_t help_width() { return std::min(kMostWide, stdout_terminal().width); }

std::string title(std::string_view text) {
  return '\n' + styled(fmt::format("{}:", text), Style::kTitle) + '\n';
}

/// "  NAME    text ...", the text wrapped beside the name or, for a long name, below it.
std::string entry(const std::string& name, std::string_view text, std::size_t column = kTextColumn) {
  std::string result = "  " + name;
  bool beside = result.size() + 2 <= column;
  for (const auto& line : wrapped(text, help_width() - column)) {
    result +=
        beside ? std::string(column - std::min(column, result.size()), ' ') : '\n' + std::string(column, ' ');
    result += line;
    beside = false;
  }
  return result + '\n';
}

bool says_default(const OptionDescription& option) {
  return option.help.find("efault") != std::string::npos || option.help.find(option.default_text + " ") == 0;
}

std::string examples_text(const std::vector<Example>& examples) {
  constexpr std::size_t kMargin = 6;
  std::string text;
  for (const auto& example : examples) {
    text += fmt::format("  $ {}\n", example.command);  // whole, to be copied
    for (const auto& line : wrapped(example.says, help_width() - kMargin))
      text += std::string(kMargin, ' ') + line + '\n';
  }
  return text;
}

std::string command_list() {
  constexpr std::size_t kColumn = 14;
  std::string text = title("Commands");
  for (const auto& command : commands()) text += entry(command.page.name, command.page.brief, kColumn);
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

const OptionDescription* find_option(const std::vector<OptionDescription>& options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const OptionDescription& option) { return option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

}  // namespace

std::string_view exit_code_meanings() {
  return "0 done (a limit that was reached is still 0, the status says so); 1 failure while running; 2 wrong usage; 3 bad input data; 4 constraints that no set satisfies; 5 a proof or gap that was asked for was not reached; 6 `verify` could not check everything; 129, 130, 143 or 153 interrupted by SIGHUP, SIGINT, SIGTERM or SIGXFSZ (what was found so far has been written, if it could be).";
}

std::string_view status_meanings() {
  return "`optimal` proven; `gap_reached` proven to --gap; `converged` an iteration came to its end; `heuristic` a method without proof ran to its end; `rank_limit` larger sets do not exist; `iteration_limit`, `node_limit`, `memory_limit`, `time_limit` or `interrupted` stopped early, what is shown is what was found until then.";
}

const std::vector<Example>& first_examples() {
  static const std::vector<Example> examples = {
      {.command = "subspectra evaluate sonar",
       .says = "how well do few features do on new rows? (sonar is embedded)"},
      {.command = "subspectra select sonar -k 10",
       .says = "which ten features, and how near the best ten they are"},
      {.command = "subspectra fit sonar -k 10 -o model.json && subspectra predict model.json sonar",
       .says = "train a classifier on ten features, then apply it"}};
  return examples;
}

const std::vector<OptionDescription>& program_options() {
  static const std::vector<OptionDescription> options = {
      {.name = "help",
       .hint = "",
       .default_text = "",
       .help = "the commands, one line each",
       .is_switch = true},
      {.name = "help_all",
       .hint = "",
       .default_text = "",
       .help = "the same with statuses and exit codes",
       .is_switch = true},
      {.name = "help_method",
       .hint = "NAME",
       .default_text = "",
       .help = "the options of one method",
       .is_switch = false},
      {.name = "version",
       .hint = "",
       .default_text = "",
       .help = "version, BLAS and threads",
       .is_switch = true},
      {.name = "man",
       .hint = "[COMMAND]",
       .default_text = "",
       .help = "the manual page as roff: subspectra --man | man -l -",
       .is_switch = false},
      {.name = "completion",
       .hint = "bash|zsh|fish",
       .default_text = "",
       .help = "what a shell needs to complete a line: source <(subspectra --completion bash)",
       .is_switch = false}};
  return options;
}

std::string help_paragraph(std::string_view heading, std::string_view text) {
  std::string result = title(heading);
  for (const auto& line : wrapped(text, help_width() - 2)) result += "  " + line + '\n';
  return result;
}

std::string help_options(std::string_view heading, const std::vector<OptionDescription>& options) {
  std::string text = title(heading);
  for (const auto& option : options) text += entry(usage_of(option), explanation(option));
  return text;
}

std::string usage_of(const OptionDescription& option) {
  // A switch that is on unless it is switched off: only that is worth typing.
  if (option.is_switch && option.default_text == "true") return option_flag(option.name) + "=false";
  return option.hint.empty() ? option_flag(option.name) : option_flag(option.name) + ' ' + option.hint;
}

std::string explanation(const OptionDescription& option) {
  if (option.is_switch || option.default_text.empty() || says_default(option)) return in_flags(option.help);
  return fmt::format("{} [{}]", in_flags(option.help), option.default_text);
}

std::vector<OptionDescription> listed_options(const CommandPage& page) {
  std::vector<OptionDescription> all;
  for (const auto& group : page.groups) {
    for (const auto& option : group.options) {
      if (find_option(all, option.name) == nullptr) all.push_back(option);
    }
  }
  return all;
}

const std::vector<OptionDescription>& help_switches() {
  static const std::vector<OptionDescription> switches = {
      {.name = "help",
       .hint = "",
       .default_text = "",
       .help = "the options that matter most",
       .is_switch = true},
      {.name = "help_all", .hint = "", .default_text = "", .help = "every option", .is_switch = true},
      {.name = "help_method",
       .hint = "NAME",
       .default_text = "",
       .help = "the options of one method (`subspectra methods NAME` explains it)",
       .is_switch = false}};
  return switches;
}

std::string help_text(const CommandPage& page) {
  constexpr std::size_t kMostExamples = 2, kColumn = 26;
  std::string text = prose(page.purpose);
  text += title("Examples") +
          examples_text({page.examples.begin(),
                         page.examples.begin() +
                             static_cast<std::ptrdiff_t>(std::min(kMostExamples, page.examples.size()))});
  text += title("Usage") + fmt::format("  subspectra {}\n", page.usage);
  for (const auto& operand : page.operands)
    text += entry(operand.name, operand.brief.empty() ? operand.help : operand.brief, kColumn);
  const auto options = listed_options(page);
  const bool some = !page.main_options.empty();
  if (!options.empty()) text += title(some ? "Options that matter most" : "Options");
  for (const auto& [name, says] : page.main_options) {
    const OptionDescription* const option = find_option(options, name);
    if (option != nullptr)
      text += entry(usage_of(*option), says.empty() ? explanation(*option) : says, kColumn);
  }
  if (!some) {
    for (const auto& option : options) text += entry(usage_of(option), explanation(option), kColumn);
  }
  const bool methods = find_option(options, "method") != nullptr;
  if (!some) return text;
  return text + '\n' +
         prose(fmt::format(
             "All {} options, with exit codes and statuses: subspectra {} --help-all{}", options.size(),
             page.name,
             methods ? fmt::format(". Those of one method: subspectra {} --help-method NAME", page.name)
                     : std::string()));
}

std::string full_help_text(const CommandPage& page) {
  std::string text = prose(page.purpose);
  text += title("Examples") + examples_text(page.examples);
  text += title("Usage") + fmt::format("  subspectra {}\n", page.usage);
  for (const auto& operand : page.operands) text += entry(operand.name, operand.help);
  for (const auto& group : page.groups) {
    if (!group.options.empty()) text += help_options(group.title, group.options);
  }
  text += title("Help");
  for (const auto& option : help_switches()) {
    if (option.name == "help_method" && find_option(listed_options(page), "method") == nullptr) continue;
    text += entry((option.name == "help" ? "-h, " : "") + usage_of(option), option.help);
  }
  for (const auto& note : page.notes) {
    const auto colon = note.find(": ");
    text += help_paragraph(note.substr(0, colon), note.substr(colon + 2));
  }
  return text + help_paragraph("Exit codes", exit_code_meanings());
}

std::string first_help() {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.push_back(command.page.name);
  return "Subspectra finds the few features worth keeping, and tells how far to trust that.\n\n" +
         examples_text(first_examples()) + '\n' + prose(fmt::format("Commands: {}", fmt::join(names, ", "))) +
         "More: subspectra --help, subspectra COMMAND --help, subspectra methods\n";
}

std::string program_help() {
  return prose(
             "Subspectra finds the few features worth keeping, and tells how far that choice can be trusted.") +
         title("Examples") + examples_text(first_examples()) + title("Usage") + "  subspectra COMMAND ...\n" +
         command_list() + '\n' +
         prose(
             "COMMAND --help: its main options. --help-all: everything. methods NAME: a method explained. --version: version, BLAS, threads. Manual: man subspectra");
}

std::string full_program_help() {
  std::string text =
      prose(
          "Subspectra finds the few features worth keeping, and tells how far that choice can be trusted.") +
      title("Examples") + examples_text(first_examples()) + title("Usage") + "  subspectra COMMAND ...\n" +
      entry("COMMAND --help", "the main options of a command, with examples") +
      entry("COMMAND --help-all", "all of them") +
      entry("COMMAND --help-method NAME", "the options of one method") +
      entry("methods NAME", "a method explained");
  text += command_list() + help_options("Options", program_options());
  return text + help_paragraph("Statuses", status_meanings()) +
         help_paragraph("Exit codes", exit_code_meanings());
}

std::string options_markdown() {
  std::string text =
      "# Options of every command\n\n"
      "Generated by `scripts/update-options-doc` from the descriptions in the code; a test keeps it current.\n";
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
