#include "core/text.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace subspectra {

CodePoint first_code_point(std::string_view text) {
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80          ? 1
                             : (lead >> 5U) == 6  ? 2
                             : (lead >> 4U) == 14 ? 3
                             : (lead >> 3U) == 30 ? 4
                                                  : 0;
  const CodePoint broken{.code = lead};
  if (length == 0 || length > text.size()) return broken;
  char32_t code = length == 1 ? lead : lead & (0x7fU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    const auto next = static_cast<unsigned char>(text[k]);
    if ((next >> 6U) != 2) return broken;
    code = (code << 6U) | (next & 0x3fU);
  }
  if (code < kLeast.at(length) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return broken;
  return {.code = code, .bytes = length, .sound = true};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    if (!first.sound) return false;
    text.remove_prefix(first.bytes);
  }
  return true;
}

bool is_unprintable(char32_t code) {
  struct Range {
    char32_t from, to;
  };
  constexpr std::array<Range, 17> kRanges = {{{0x00, 0x1f},
                                              {0x7f, 0x9f},
                                              {0xad, 0xad},    // soft hyphen
                                              {0x34f, 0x34f},  // joins graphemes, shows nothing
                                              {0x61c, 0x61c},
                                              {0x115f, 0x1160},  // fillers, letters without ink
                                              {0x17b4, 0x17b5},
                                              {0x180b, 0x180f},
                                              {0x200b, 0x200b},
                                              {0x200e, 0x200f},
                                              {0x2028, 0x202e},
                                              {0x2060, 0x206f},
                                              {0x3164, 0x3164},
                                              {0xfeff, 0xfeff},
                                              {0xffa0, 0xffa0},
                                              {0xfff9, 0xfffb},
                                              {0xe0000, 0xe007f}}};
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [&](const Range& range) { return code >= range.from && code <= range.to; });
}

std::string printable(std::string_view text, LineBreaks breaks) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    if (first.code == '\n' && breaks == LineBreaks::kKeep) {
      out += '\n';
    } else if (!first.sound || (first.code < 0x80 && is_unprintable(first.code))) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned>(first.code));
    } else if (is_unprintable(first.code)) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(first.code));
    } else {
      out += text.substr(0, first.bytes);
    }
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::string join_some(const std::vector<std::string>& entries, std::size_t shown) {
  return join_some(
      entries.size(), [&](std::size_t i) { return entries[i]; }, shown);
}

std::string join_some(std::size_t count, const std::function<std::string(std::size_t)>& entry,
                      std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, count); ++i) text += (i > 0 ? ", " : "") + entry(i);
  if (count > shown) text += fmt::format(" and {} more", count - shown);
  return text;
}

bool parse_number(std::string_view text, double& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  return (error == std::errc() || error == std::errc::result_out_of_range) &&
         end == text.data() + text.size() && !text.empty();
}

std::string number_text(double value) {
  if (value == 0.0) return "0";  // not "-0"
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

namespace {

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string_view part = text.substr(0, kMost);
  if (text.size() > kMost) {  // not in the middle of a UTF-8 character
    while (!part.empty() && (static_cast<unsigned char>(text[part.size()]) & 0xC0U) == 0x80U)
      part.remove_suffix(1);
  }
  return '\'' + printable(part) + (part.size() < text.size() ? "...'" : "'");
}

}  // namespace subspectra
