#pragma once
/// Texts: encodings, and numbers as class names.
#include <string>
#include <string_view>

namespace subspectra {

void append_utf8(std::string& text, char32_t code);  ///< a code that is none becomes U+FFFD
[[nodiscard]] std::u32string decode_utf8(std::string_view text);
[[nodiscard]] std::u32string decode_utf16(std::u16string_view text);
/// Bytes that are not UTF-8 are taken for Latin-1 (a table saved by an old spreadsheet); true if that was
/// needed.
bool make_utf8(std::string& text);
/// As UTF-8 without trailing blanks and zeros, with which char matrices are filled up.
[[nodiscard]] std::string trimmed_utf8(std::u32string_view text);
/// number_text(), or "" (missing) for NaN.
[[nodiscard]] std::string number_or_nothing(double value);

}  // namespace subspectra
