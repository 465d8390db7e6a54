#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace subspectra {

/// "V3, V7, V9 and 4 more": the first `shown` entries, for messages.
[[nodiscard]] std::string join_some(const std::vector<std::string>& entries, std::size_t shown = 8);
/// The same for `count` entries of which only those shown are made: names of millions of columns cost time.
[[nodiscard]] std::string join_some(std::size_t count, const std::function<std::string(std::size_t)>& entry,
                                    std::size_t shown = 8);

/// "1 row", "2 rows"; `plural` where an s does not make it.
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun, std::string_view plural = {}) {
  std::string text = std::to_string(count) + ' ';
  if (count == 1) return text.append(noun);
  return plural.empty() ? text.append(noun).append("s") : text.append(plural);
}

/// All of `text` as a number: decimal or scientific, a leading '+', inf/infinity/nan in any case. No blanks.
[[nodiscard]] bool parse_number(std::string_view text, double& value);

/// A number as class name: the shortest text that reads back ("1", "2.5").
[[nodiscard]] std::string number_text(double value);

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] std::string_view trimmed(std::string_view text);  ///< without blanks and tabs at both ends

/// A character of UTF-8, or a byte that belongs to none.
struct CodePoint {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool sound = false;  ///< no overlong form, no half of a surrogate pair
};
/// The first one of `text`, which is not empty.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

/// Well-formed, as JSON asks for.
[[nodiscard]] bool is_utf8(std::string_view text);

/// What a terminal obeys, or shows as something that is not there: control characters (C0, DEL and C1), marks
/// that turn the direction of writing, separators of lines, characters without a width. (The joiners U+200C
/// and U+200D are not among them: languages are written with them.)
[[nodiscard]] bool is_unprintable(char32_t code);

enum class LineBreaks { kEscape, kKeep };
/// `text` for a terminal: what is unprintable as \x1B or \u202E, bytes that are no UTF-8 as \xFF.
[[nodiscard]] std::string printable(std::string_view text, LineBreaks breaks = LineBreaks::kEscape);

/// 'text' in quotes, cut to a readable length, printable.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace subspectra
