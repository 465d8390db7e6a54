#pragma once
/// What the place that reads us can show: how many columns, and whether colours are any use there.
#include <cstddef>
#include <string>
#include <string_view>

namespace subspectra::cli {

struct Terminal {
  std::size_t width = 80;  ///< columns
  bool colours = false;

  /// Of a descriptor. No terminal (a pipe, a file): 80 columns, no colours. A terminal: as wide as the
  /// variable COLUMNS says, else as it says itself; in colours unless NO_COLOR is set or TERM is dumb.
  [[nodiscard]] static Terminal of(int descriptor);
};
/// Of standard output and standard error, asked once.
[[nodiscard]] const Terminal& stdout_terminal();
[[nodiscard]] const Terminal& stderr_terminal();

/// The few meanings that a colour has here.
enum class Style { kPlain, kTitle, kMarked, kGood, kDoubtful, kBad };

/// `text` in the colour of its meaning, where there are colours.
[[nodiscard]] std::string styled(std::string_view text, Style style,
                                 const Terminal& terminal = stdout_terminal());

/// The bytes of the sequence of `styled` that `text` begins with; 0 when it begins with none.
[[nodiscard]] std::size_t style_sequence_at(std::string_view text);

}  // namespace subspectra::cli
