#include "core/text.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace subspectra {

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80          ? 1
                               : (lead >> 5U) == 6  ? 2
                               : (lead >> 4U) == 14 ? 3
                               : (lead >> 3U) == 30 ? 4
                                                    : 0;
    if (length == 0 || length > text.size() - i) return false;
    std::uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next >> 6U) != 2) return false;
      code = (code << 6U) | (next & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast.at(length) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += length;
  }
  return true;
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
  std::string out = "'";
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out + (part.size() < text.size() ? "...'" : "'");
}

}  // namespace subspectra
