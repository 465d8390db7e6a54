#include "data/image_shape.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace subspectra {

ImageShape OptionCodec<ImageShape>::parse(std::string_view text) {
  const std::size_t x = text.find_first_of("xX");
  ImageShape shape;
  try {
    if (x != std::string_view::npos) {
      shape.height = OptionCodec<Index>::parse(text.substr(0, x));
      shape.width = OptionCodec<Index>::parse(text.substr(x + 1));
    }
  } catch (const InvalidArgument&) {
    shape = {};
  }
  constexpr Index kMost = 1 << 20;
  if (shape.height < 1 || shape.width < 1 || shape.height > kMost || shape.width > kMost) {
    throw InvalidArgument("height x width in pixels is needed, as in 32x32");
  }
  return shape;
}
std::string OptionCodec<ImageShape>::format(const ImageShape& value) {
  return value.given() ? fmt::format("{}x{}", value.height, value.width) : "";
}
nlohmann::json OptionCodec<ImageShape>::json(const ImageShape& value) {
  return value.given() ? nlohmann::json(format(value)) : nlohmann::json(nullptr);
}

}  // namespace subspectra
