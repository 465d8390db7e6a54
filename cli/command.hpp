#pragma once
/// A command is a page (what --help prints and the parser accepts) and a function.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "signals.hpp"

namespace subspectra::cli {

/// How a field is written here: "time_limit" -> "--time-limit", "k" -> "-k".
[[nodiscard]] std::string option_flag(std::string_view name);

/// A text of the library with its options written as here.
[[nodiscard]] std::string in_flags(std::string_view text);

struct Example {
  std::string command;  ///< runs as it stands, in a shell, in an empty directory
  std::string says;     ///< what it does, one line
};

struct Operand {
  std::string name;  ///< "DATA"
  std::string help;
  bool may_be_left_out = false;  ///< so may those after it
  std::string brief = {};        ///< for the page of one screen; `help` where it is empty
  bool several = false;          ///< the last one: as many as there are
};

struct OptionGroup {
  std::string title;
  std::vector<OptionDescription> options;
};

/// An option that most people need, by name, in fewer words than its description where there are any.
struct MainOption {
  std::string name;
  std::string says = {};
};

struct CommandPage {
  std::string name;
  std::string usage;    ///< after the program's name: "select DATA [OPTIONS]"
  std::string purpose;  ///< one sentence, for the first line of --help
  std::vector<Example> examples;
  std::vector<Operand> operands;               ///< in order
  std::vector<OptionGroup> groups;             ///< in the order of --help-all
  std::vector<std::string> notes;              ///< paragraphs after the options
  std::vector<OptionDescription> hidden = {};  ///< accepted but not listed
  /// Those that --help shows; all where this is empty.
  std::vector<MainOption> main_options = {};
  std::string brief = {};  ///< the purpose on one line of the list of commands
};

/// What a user wrote after the command's name.
struct Arguments {
  std::vector<std::string> operands;
  OptionTexts texts;  ///< by field name; only what was given
};

struct Command {
  CommandPage page;
  /// Returns the exit code; everything that goes wrong is thrown.
  int (*run)(const Arguments& arguments, Signals& signals);
};

/// Every command, in the order of --help. The pages are built once, on first use.
[[nodiscard]] const std::vector<Command>& commands();

[[nodiscard]] Command select_command();
[[nodiscard]] Command fit_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command evaluate_command();
[[nodiscard]] Command cluster_command();
[[nodiscard]] Command verify_command();
[[nodiscard]] Command synth_command();
[[nodiscard]] Command reproduce_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command merge_command();
[[nodiscard]] Command methods_command();
[[nodiscard]] Command datasets_command();

}  // namespace subspectra::cli
