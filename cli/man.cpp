#include "man.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "core/version.hpp"
#include "help.hpp"
#include "select/registry.hpp"

namespace subspectra::cli {
namespace {

/// Text for roff: what it would obey or set otherwise is escaped, characters beyond ASCII become their
/// numbers.
std::string roff(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    if (first.code >= 0x80) {
      result += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(first.code));
    } else if (text.front() == '\\') {
      result += "\\e";
    } else if (text.front() == '-') {
      result += "\\-";
    } else if (text.front() == '^') {
      result += "\\(ha";
    } else if (text.front() == '~') {
      result += "\\(ti";
    } else if (text.front() == '\'') {
      result += "\\(aq";
    } else if (text.front() == '`') {
      result += "\\(ga";
    } else {
      result += text.front() == '\n' ? ' ' : text.front();
    }
    text.remove_prefix(first.bytes);
  }
  if (result.starts_with('.')) result.insert(0, "\\&");
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string head(const std::string& name, std::string_view says) {
  std::string purpose(says);
  if (purpose.ends_with('.')) purpose.pop_back();
  return fmt::format(".TH {} 1 \"\" \"subspectra {}\" \"Subspectra\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper(name)), roff(version()), roff(name), roff(purpose));
}

std::string section(std::string_view title, std::string_view text) {
  return fmt::format(".SH {}\n{}\n", roff(upper(std::string(title))), roff(text));
}

std::string tagged(std::string_view bold, std::string_view italic, std::string_view text) {
  std::string tag = bold.empty() ? "" : fmt::format("\\fB{}\\fR", roff(bold));
  if (!italic.empty()) tag += fmt::format("{}\\fI{}\\fR", tag.empty() ? "" : " ", roff(italic));
  return fmt::format(".TP\n{}\n{}\n", tag, roff(text));
}

std::string examples(const std::vector<Example>& list) {
  std::string text = ".SH EXAMPLES\n";
  for (const auto& example : list)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(example.command), roff(example.says));
  return text;
}

std::string ends() {
  return section("Exit status", exit_code_meanings()) + ".SH ENVIRONMENT\n" +
         tagged("NO_COLOR", "", "Not empty: no colours, on a terminal either.") +
         tagged("TERM", "", "dumb: no colours, and no line of progress that is rewritten.") +
         tagged("COLUMNS", "", "Width of the terminal, where it is not the one that the terminal says.");
}

}  // namespace

std::string command_manual(const CommandPage& page) {
  std::string text = head("subspectra-" + page.name, page.purpose);
  text += fmt::format(".SH SYNOPSIS\n\\fBsubspectra\\fR {}\n", roff(page.usage));
  text += section("Description", page.purpose);
  for (const auto& operand : page.operands) text += tagged("", operand.name, operand.help);
  text += ".SH OPTIONS\n";
  for (const auto& group : page.groups) {
    if (group.options.empty()) continue;
    text += fmt::format(".SS {}\n", roff(group.title));
    for (const auto& option : group.options)
      text += tagged(option_flag(option.name), option.hint, explanation(option));
  }
  text += ".SS Help\n";
  for (const auto& option : help_switches())
    text += tagged(option_flag(option.name), option.hint, option.help);
  text += examples(page.examples);
  for (const auto& note : page.notes) {
    const auto colon = note.find(": ");
    text += section(note.substr(0, colon), note.substr(colon + 2));
  }
  return text + ends() + ".SH SEE ALSO\n.BR subspectra (1)\n";
}

std::string program_manual() {
  std::string text = head(
      "subspectra", "finds the few features worth keeping, and tells how far that choice can be trusted");
  text += ".SH SYNOPSIS\n\\fBsubspectra\\fR \\fICOMMAND\\fR ...\n.SH COMMANDS\n";
  for (const auto& command : commands()) {
    text += fmt::format(".TP\n\\fBsubspectra\\-{}\\fR(1)\n{}\n", roff(command.page.name),
                        roff(command.page.purpose));
  }
  text += ".SH OPTIONS\n";
  for (const auto& option : program_options())
    text += tagged(option_flag(option.name), option.hint, option.help);
  text += examples(first_examples());
  text += ".SH METHODS\n" + roff("What --method may name; `subspectra methods NAME` explains one.") + '\n';
  for (const auto& method : MethodRegistry::entries())
    text += tagged(method.traits->name, "", in_flags(method.traits->summary));
  text += section("Statuses", status_meanings()) + ends() + ".SH SEE ALSO\n";
  bool first = true;
  for (const auto& command : commands()) {
    text += fmt::format("{}.BR subspectra\\-{} (1)", first ? "" : ",\n", command.page.name);
    first = false;
  }
  return text + '\n';
}

}  // namespace subspectra::cli
