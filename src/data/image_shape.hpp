#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/options.hpp"
#include "core/types.hpp"

namespace subspectra {

/// Features as the pixels of an image, row by row.
struct ImageShape {
  Index height = 0, width = 0;  ///< 0: not given
  [[nodiscard]] bool given() const { return height > 0; }
  bool operator==(const ImageShape&) const = default;
};

template <>
struct OptionCodec<ImageShape> {
  static ImageShape parse(std::string_view text);
  static std::string format(const ImageShape& value);
  static nlohmann::json json(const ImageShape& value);
  static std::string hint() { return "HxW"; }
};

}  // namespace subspectra
