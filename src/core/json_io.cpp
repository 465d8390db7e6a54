#include "core/json_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/text.hpp"

namespace subspectra {

using nlohmann::json;

namespace {

/// What no terminal should see as it is stands as \u202e, which every reader of JSON takes for the same. (The
/// control characters below a blank are so already.)
std::string escaped(std::string text) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
  auto at = std::find_if_not(text.begin(), text.end(), plain);
  if (at == text.end()) return text;
  std::string out(text.begin(), at);
  for (std::string_view rest(text.data() + out.size(), text.size() - out.size()); !rest.empty();) {
    const CodePoint first = first_code_point(rest);
    if (first.code < 0x7f || !is_unprintable(first.code)) {
      out += rest.substr(0, first.bytes);
    } else if (first.code < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(first.code));
    } else {
      const auto high = static_cast<unsigned>(first.code) - 0x10000U;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800U + (high >> 10U), 0xdc00U + (high & 0x3ffU));
    }
    rest.remove_prefix(first.bytes);
  }
  return out;
}

}  // namespace

json parse_json(std::string_view text) { return json::parse(text); }

json json_or_discarded(std::string_view text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

json parse_shallow_json(std::string_view text) {
  constexpr int kDeepest = 32;
  std::vector<std::set<std::string, std::less<>>> names(kDeepest + 2);  // so far, of the object at each depth
  return json::parse(text, [&names](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest) throw std::length_error("it is too deeply nested");
    const auto at = static_cast<std::size_t>(depth);
    if (event == json::parse_event_t::object_start) names[at + 1].clear();
    if (event == json::parse_event_t::key && !names[at].insert(parsed.get_ref<const std::string&>()).second) {
      throw std::length_error(
          fmt::format("the member {} stands twice", shown(parsed.get_ref<const std::string&>())));
    }
    return true;
  });
}

std::string dump_json(const json& value, int indent) { return escaped(value.dump(indent)); }

std::string dump_json_leniently(const json& value) {
  return escaped(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace subspectra
