#include "io/text_columns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"

namespace subspectra {

void append_utf8(std::string& text, char32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | (code >> 6U));
    text += static_cast<char>(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | (code >> 12U));
    text += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
    text += static_cast<char>(0x80U | (code & 0x3fU));
  } else {
    text += static_cast<char>(0xf0U | (code >> 18U));
    text += static_cast<char>(0x80U | ((code >> 12U) & 0x3fU));
    text += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
    text += static_cast<char>(0x80U | (code & 0x3fU));
  }
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string codes;
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    codes += first.sound ? first.code : U'\xfffd';
    text.remove_prefix(first.bytes);
  }
  return codes;
}

std::u32string decode_utf16(std::u16string_view text) {
  std::u32string codes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char32_t code = text[i];
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.size() && text[i + 1] >= 0xdc00 &&
        text[i + 1] < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10U) + (text[i + 1] - 0xdc00U);
      ++i;
    }
    codes += code;
  }
  return codes;
}

bool make_utf8(std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return false;
  if (is_utf8(text)) return false;
  std::string converted;
  for (const char c : text) append_utf8(converted, static_cast<unsigned char>(c));
  text = std::move(converted);
  return true;
}

std::string trimmed_utf8(std::u32string_view text) {
  while (!text.empty() && (text.back() == U' ' || text.back() == U'\0')) text.remove_suffix(1);
  std::string bytes;
  for (const char32_t code : text) append_utf8(bytes, code);
  return bytes;
}

std::string number_or_nothing(double value) { return std::isnan(value) ? std::string() : number_text(value); }

}  // namespace subspectra
