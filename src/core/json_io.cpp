#include "core/json_io.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace subspectra {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text); }

json json_or_discarded(std::string_view text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

json parse_shallow_json(std::string_view text) {
  constexpr int kDeepest = 32;
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) throw std::length_error("too deeply nested");
    return true;
  });
}

std::string dump_json(const json& value, int indent) { return value.dump(indent); }

std::string dump_json_leniently(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace subspectra
