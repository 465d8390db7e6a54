#include "report/given_sets.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include <subspectra/error.hpp>
#include "core/json_io.hpp"
#include "io/json_file.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

std::optional<double> number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double value = 0.0;
  const auto [end, failure] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::string contents(const std::string& path, std::uint64_t memory_limit) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 28U;
  return json_file_text(path, kLargest,
                        "is too large for a list of features; give a result file or a list of names",
                        memory_limit);
}

json parsed(const std::string& path, const std::string& text) {
  try {
    return parse_shallow_json(text);
  } catch (const json::exception&) {
  } catch (const std::length_error&) {
  }
  throw BadInput({.file = path},
                 "this is not valid JSON; give a result of `subspectra select ⟨o⟩`, or a list of names");
}

std::vector<GivenSet> from_json(const std::string& path, const json& document) {
  const auto refuse = [&](const std::string& what) { throw BadInput({.file = path}, what); };
  if (!document.is_object() || document.value("schema", json()) != "subspectra.selection/1" ||
      !document.contains("path") || !document["path"].is_array()) {
    refuse(
        "this JSON is no subspectra.selection/1 result; give one written by `subspectra select ⟨o⟩`, or a list of names");
  }
  std::vector<GivenSet> sets;
  for (const auto& entry : document["path"]) {
    if (!entry.is_object() || !entry.contains("names") || !entry["names"].is_array()) {
      refuse("an entry of `path` has no names");
    }
    GivenSet set;
    for (const auto& name : entry["names"]) {
      if (!name.is_string()) refuse("a name in `path` is no text");
      set.names.push_back(name.get<std::string>());
    }
    const auto loadings = entry.value("loadings", json::array());
    if (loadings.is_array() && loadings.size() == set.names.size() && !set.names.empty()) {
      set.loadings.resize(static_cast<Index>(loadings.size()));
      for (std::size_t i = 0; i < loadings.size(); ++i) {
        const bool usable = loadings[i].is_array() && !loadings[i].empty() && loadings[i][0].is_number();
        if (!usable) {
          set.loadings.resize(0);
          break;
        }
        set.loadings[static_cast<Index>(i)] = loadings[i][0].get<double>();
      }
    }
    if (!set.names.empty()) sets.push_back(std::move(set));
  }
  if (sets.empty()) refuse("`path` holds no set");
  return sets;
}

}  // namespace

std::vector<GivenSet> read_given_sets(const std::string& path, std::uint64_t memory_limit) {
  const std::string text = contents(path, memory_limit);
  std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    return from_json(path, parsed(path, text));
  }
  GivenSet set;
  std::vector<double> loadings;
  std::set<std::string> seen;
  long line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::string_view row(text.data() + begin, end - begin);
    begin = end + 1;
    ++line;
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    if (row.empty() || row.front() == '#') continue;
    const auto comma = row.rfind(',');
    const auto loading = comma == std::string_view::npos ? std::nullopt : number(row.substr(comma + 1));
    if (loading) {
      loadings.push_back(*loading);
      row = row.substr(0, comma);
    }
    if (!seen.insert(std::string(row)).second) {
      throw BadInput({.file = path, .line = line}, fmt::format("'{}' stands here twice; take one out", row));
    }
    set.names.emplace_back(row);
    if (!loadings.empty() && loadings.size() != set.names.size()) {
      throw BadInput({.file = path, .line = line},
                     "some features have a loading after a comma and some have none; give all or none");
    }
  }
  if (set.names.empty()) throw BadInput({.file = path}, "the file names no feature; write one a line");
  if (!loadings.empty())
    set.loadings = Eigen::Map<const Vector>(loadings.data(), static_cast<Index>(loadings.size()));
  return {set};
}

}  // namespace subspectra
