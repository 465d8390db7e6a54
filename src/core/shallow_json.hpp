/// JSON from a file of anybody's making.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace subspectra {

/// Our own files nest to depth six; a million brackets are somebody's joke, and would overflow the stack of
/// whoever walks them. Throws nlohmann::json::exception or std::length_error.
inline nlohmann::json parse_shallow_json(std::string_view text) {
  constexpr int kDeepest = 32;
  return nlohmann::json::parse(text, [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest) throw std::length_error("too deeply nested");
    return true;
  });
}

}  // namespace subspectra
