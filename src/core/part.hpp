#pragma once
/// One of the parts that a long run is cut into, so that each can run by itself: docs/scale.md.
#include "core/options.hpp"

namespace subspectra {

/// The number-th of count parts, counted from 1; not given: the whole run.
struct Part {
  Index number = 0;
  Index count = 0;
  [[nodiscard]] bool given() const { return count > 0; }
  bool operator==(const Part&) const = default;
};
inline constexpr Index kMostParts = 1'000'000;

template <>
struct OptionCodec<Part> {
  static Part parse(std::string_view text);
  static std::string format(const Part& value);
  static nlohmann::json json(const Part& value);
  static std::string hint() { return "I/N"; }
};

}  // namespace subspectra
