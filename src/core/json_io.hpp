#pragma once
/// JSON from and to text, compiled once: the parser and the writer are the larger part of the library that
/// does it, and every file that calls them would compile them again.
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace subspectra {

/// Of our own making, or a user's options. Throws nlohmann::json::parse_error.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
/// The same without a throw: a discarded value for what is no JSON.
[[nodiscard]] nlohmann::json json_or_discarded(std::string_view text);

/// From a file of anybody's making. Our own files nest to depth six; a million brackets are somebody's joke,
/// and would overflow the stack of whoever walks them. A member that stands twice is refused: of two readers
/// one takes the first and one the last. Throws nlohmann::json::exception, or std::length_error with a
/// sentence.
[[nodiscard]] nlohmann::json parse_shallow_json(std::string_view text);

/// On one line, or with so many spaces a level. Throws where a text is not UTF-8.
[[nodiscard]] std::string dump_json(const nlohmann::json& value, int indent = -1);
/// The same with U+FFFD for what is not UTF-8.
[[nodiscard]] std::string dump_json_leniently(const nlohmann::json& value);

}  // namespace subspectra
