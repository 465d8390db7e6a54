#pragma once
/// The help pages, and docs/reference/options.md, from the commands' pages.
#include <string>
#include <string_view>

#include "command.hpp"

namespace subspectra::cli {

inline constexpr std::size_t kHelpWidth = 100;

[[nodiscard]] std::string_view status_meanings();  ///< each status in a few words
[[nodiscard]] std::string help_text(const CommandPage& page);
[[nodiscard]] std::string short_help();    ///< the commands, one line each, and where to go on
[[nodiscard]] std::string program_help();  ///< the same with examples, exit codes and statuses
[[nodiscard]] std::string options_markdown();

}  // namespace subspectra::cli
