#include "completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "command.hpp"
#include "core/text.hpp"
#include "help.hpp"
#include "io/read.hpp"
#include "select/registry.hpp"

namespace subspectra::cli {
namespace {

/// What may stand after an option.
struct Values {
  std::vector<std::string> words;  ///< these
  bool files = false;              ///< or a file
  bool list = false;               ///< several of `words`, with commas between
};

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : MethodRegistry::entries()) names.emplace_back(method.traits->name);
  return names;
}

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const auto& entry : embedded_datasets()) names.emplace_back(entry.name);
  return names;
}

/// A word as it is typed, not a placeholder ("auto" of "auto|VALUE").
bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.';
  });
}

Values values_of(const OptionDescription& option) {
  Values values;
  if (option.is_switch) return values;
  if (option.name == "method" || option.name == "help_method")
    return {.words = method_names(), .files = false, .list = option.hint.find(',') != std::string::npos};
  std::string_view rest = option.hint;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('|'), rest.size());
    const std::string_view part = rest.substr(0, end);
    if (is_word(part)) values.words.emplace_back(part);
    values.files = values.files || part.find("FILE") != std::string_view::npos || part == "DIR" ||
                   part == "TEXT" || part == "DATA";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return values;
}

std::vector<OptionDescription> offered_options(const CommandPage& page) {
  auto options = listed_options(page);
  for (const auto& option : help_switches()) options.push_back(option);
  return options;
}

bool takes_data(const CommandPage& page) {
  return std::any_of(page.operands.begin(), page.operands.end(),
                     [](const Operand& operand) { return operand.name == "DATA"; });
}

/// The words that the first operand may be, beside files.
std::vector<std::string> operand_words(const CommandPage& page) {
  if (page.name == "methods") return method_names();
  return takes_data(page) ? dataset_names() : std::vector<std::string>();
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// One sentence, short, without what quotes or brackets would mean to a shell.
std::string said(const OptionDescription& option) {
  constexpr std::size_t kMost = 72;
  std::string text;
  for (const char c : in_flags(option.help).substr(0, 4 * kMost)) {
    if (c == '`' || c == '\'' || c == '"' || c == '\\' || c == '$') continue;
    text += c == '[' ? '(' : c == ']' ? ')' : c == ':' ? ',' : c;
  }
  if (text.size() <= kMost) return text;
  const auto end = text.find_first_of(";(", 20);
  if (end != std::string::npos && end <= kMost) return std::string(trimmed(text.substr(0, end)));
  text.resize(text.rfind(' ', kMost));
  while (!text.empty() && (text.back() == ',' || text.back() == ';')) text.pop_back();
  return text + " ...";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.push_back(command.page.name);
  return names;
}

std::vector<std::string> program_flags() {
  std::vector<std::string> flags;
  for (const auto& option : program_options()) flags.push_back(option_flag(option.name));
  return flags;
}

std::string bash() {
  std::string text =
      "# bash completion of subspectra; made by `subspectra --completion bash`\n"
      "_subspectra() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
      "  local options= words= operands= list= files=\n"
      "  COMPREPLY=()\n"
      "  if [[ $cur == = ]]; then cur=\n"
      "  elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  if (( COMP_CWORD == 1 )); then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W '{} {}' -- \"$cur\"))\n    return\n  fi\n",
                      joined(command_names()), joined(program_flags()));
  text += "  case $command in\n";
  for (const auto& command : commands()) {
    std::vector<std::string> flags;
    std::string cases;
    for (const auto& option : offered_options(command.page)) {
      flags.push_back(option_flag(option.name));
      if (option.is_switch) continue;
      const Values values = values_of(option);
      cases += fmt::format("        {}) words='{}'{}{} ;;\n", flags.back(), joined(values.words),
                           values.list ? " list=1" : "", values.files ? " files=1" : "");
    }
    text += fmt::format("    {})\n      options='{}' operands='{}'\n", command.page.name, joined(flags),
                        joined(operand_words(command.page)));
    if (!cases.empty()) {
      text += "      case $prev in\n" + cases +
              "        *) prev= ;;\n"
              "      esac ;;\n";
    } else {
      text += "      prev= ;;\n";
    }
  }
  text += "    --help-method) operands= prev=--help-method words='" + joined(method_names()) +
          "' ;;\n"
          "    --man|help) prev=$command words='" +
          joined(command_names()) +
          "' ;;\n"
          "    --completion) prev=$command words='bash zsh fish' ;;\n"
          "    *) return ;;\n"
          "  esac\n"
          "  if [[ -n $prev ]]; then\n"
          "    local before=\n"
          "    if [[ -n $list && $cur == *,* ]]; then before=${cur%,*}, cur=${cur##*,}; fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -P \"$before\" -- \"$cur\"))\n"
          "  elif [[ $cur == -* ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "  else\n"
          "    COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
          "    files=1\n"
          "  fi\n"
          "  if [[ -n $files ]]; then\n"
          "    local file\n"
          "    while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -f -- \"$cur\")\n"
          "    compopt -o filenames 2>/dev/null\n"
          "  fi\n"
          "}\n"
          "complete -F _subspectra subspectra\n";
  return text;
}

std::string zsh() {
  std::string text =
      "#compdef subspectra\n"
      "# zsh completion of subspectra; made by `subspectra --completion zsh`\n"
      "_subspectra() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const auto& command : commands()) {
    OptionDescription purpose;
    purpose.help = command.page.purpose;
    text += fmt::format("    '{}:{}'\n", command.page.name, said(purpose));
  }
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n";
  text += fmt::format("    compadd -- {}\n    return\n  fi\n", joined(program_flags()));
  text +=
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const auto& command : commands()) {
    text += fmt::format("    {})\n      _arguments \\\n", command.page.name);
    for (const auto& option : offered_options(command.page)) {
      const Values values = values_of(option);
      const std::string flag = option_flag(option.name);
      std::string action;
      if (!option.is_switch) {
        const std::string hint = option.hint.empty() ? "value" : option.name;
        action = values.list ? fmt::format(":{}:_sequence compadd - {}", hint, joined(values.words))
                 : !values.words.empty() ? fmt::format(":{}:({})", hint, joined(values.words))
                 : values.files          ? fmt::format(":{}:_files", hint)
                                         : fmt::format(":{}: ", hint);
      }
      text += fmt::format("        '{}[{}]{}' \\\n", flag, said(option), action);
    }
    const auto words = operand_words(command.page);
    text += fmt::format("        '*:operand:{}'\n      ;;\n",
                        words.empty() ? "_files" : fmt::format("{{ compadd -- {}; _files }}", joined(words)));
  }
  return text +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _subspectra ]]; then _subspectra \"$@\"; else compdef _subspectra subspectra; fi\n";
}

std::string fish() {
  std::string text = "# fish completion of subspectra; made by `subspectra --completion fish`\n";
  for (const auto& option : program_options())
    text += fmt::format("complete -c subspectra -n __fish_use_subcommand -l {} -d '{}'\n",
                        option_flag(option.name).substr(2), said(option));
  for (const auto& command : commands()) {
    OptionDescription purpose;
    purpose.help = command.page.purpose;
    text += fmt::format("complete -c subspectra -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command.page.name, said(purpose));
    const std::string here =
        fmt::format("complete -c subspectra -n '__fish_seen_subcommand_from {}'", command.page.name);
    if (const auto words = operand_words(command.page); !words.empty())
      text += fmt::format("{} -a '{}'\n", here, joined(words));
    for (const auto& option : offered_options(command.page)) {
      const std::string flag = option_flag(option.name);
      text += here + (flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1));
      const Values values = values_of(option);
      if (!option.is_switch) text += values.files ? " -r" : " -x";
      if (values.list) {
        text += fmt::format(" -a '(__fish_append , {})'", joined(values.words));
      } else if (!values.words.empty()) {
        text += fmt::format(" -a '{}'", joined(values.words));
      }
      text += fmt::format(" -d '{}'\n", said(option));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw InvalidArgument(
      fmt::format("--completion '{}': one of {} is needed", shell, fmt::join(kShells, ", ")));
}

}  // namespace subspectra::cli
