#pragma once
/// The help pages in their sizes, and docs/reference/options.md, from the commands' pages.
#include <string>
#include <string_view>

#include "command.hpp"

namespace subspectra::cli {

[[nodiscard]] std::string_view status_meanings();     ///< each status in a few words
[[nodiscard]] std::string_view exit_code_meanings();  ///< each exit code in a few words

/// One screen: the options that matter, two examples, and where the rest is.
[[nodiscard]] std::string help_text(const CommandPage& page);
/// Every option and note.
[[nodiscard]] std::string full_help_text(const CommandPage& page);

[[nodiscard]] std::string first_help();    ///< without arguments: three examples and the commands
[[nodiscard]] std::string program_help();  ///< the commands, one line each
[[nodiscard]] std::string
full_program_help();  ///< the same with statuses, exit codes and what is seldom needed
[[nodiscard]] std::string options_markdown();

/// Pieces of a page, wrapped for the terminal: a titled paragraph, a titled list of options.
[[nodiscard]] std::string help_paragraph(std::string_view title, std::string_view text);
[[nodiscard]] std::string help_options(std::string_view title, const std::vector<OptionDescription>& options);

/// "-k LO:HI", "--json": how an option is written.
[[nodiscard]] std::string usage_of(const OptionDescription& option);
/// What it does, and its default where the text does not say it.
[[nodiscard]] std::string explanation(const OptionDescription& option);
/// All options of a page that are listed, each once.
[[nodiscard]] std::vector<OptionDescription> listed_options(const CommandPage& page);

/// The options of the program itself, before any command.
[[nodiscard]] const std::vector<OptionDescription>& program_options();
/// The three lines to begin with.
[[nodiscard]] const std::vector<Example>& first_examples();

/// What every command answers to before it looks at anything else.
[[nodiscard]] const std::vector<OptionDescription>& help_switches();

}  // namespace subspectra::cli
