#pragma once
/// What shells need to complete a line: commands, options, the words that an option takes, methods, data
/// sets.
#include <array>
#include <string>
#include <string_view>

namespace subspectra::cli {

inline constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};

/// The script for one of kShells. Throws InvalidArgument for another.
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace subspectra::cli
