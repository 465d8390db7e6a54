#include "core/part.hpp"

#include <fmt/format.h>

#include <charconv>

namespace subspectra {

Part OptionCodec<Part>::parse(std::string_view text) {
  const char* const end = text.data() + text.size();
  Part part;
  const auto number = std::from_chars(text.data(), end, part.number);
  const bool divided = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
  const auto count =
      divided ? std::from_chars(number.ptr + 1, end, part.count) : std::from_chars_result{end, {}};
  if (!divided || count.ec != std::errc() || count.ptr != end || part.number < 1 ||
      part.count < part.number || part.count > kMostParts)
    throw InvalidArgument("I/N with 1 <= I <= N is needed, as in 2/8 for the second of eight parts");
  return part;
}
std::string OptionCodec<Part>::format(const Part& value) {
  return value.given() ? fmt::format("{}/{}", value.number, value.count) : std::string();
}
nlohmann::json OptionCodec<Part>::json(const Part& value) {
  return value.given() ? nlohmann::json(format(value)) : nlohmann::json();
}

}  // namespace subspectra
