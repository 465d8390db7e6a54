#include "core/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace subspectra {
namespace {

constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j)
      group = (group << 8U) | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? kBase64Letters[(group >> (18U - 6U * j)) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t letters = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t value = j < letters ? kBase64Letters.find(text[i + j]) : 0;
      if (value == std::string_view::npos) return std::nullopt;
      group = (group << 6U) | static_cast<std::uint32_t>(value);
    }
    if ((group & ((std::uint32_t{1} << (8U * (4U - letters))) - 1U)) != 0) return std::nullopt;  // stray bits
    for (std::size_t j = 0; j + 1 < letters; ++j)
      bytes += static_cast<char>(static_cast<unsigned char>((group >> (16U - 8U * j)) & 255U));
  }
  return bytes;
}

}  // namespace subspectra
