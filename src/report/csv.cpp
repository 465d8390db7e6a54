#include "report/csv.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <subspectra/error.hpp>
#include <utility>
#include <vector>

#include "core/json_io.hpp"
#include "core/text.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

std::string list_field(const json& list) {
  std::vector<std::string> entries;
  for (const json& entry : list)
    entries.push_back(entry.is_string() ? entry.get<std::string>() : dump_json(entry));
  return csv_list(entries);
}

/// "" for nothing; numbers with all their digits.
std::string field_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return list_field(value);
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  return dump_json(value);
}

/// A column: its name, and where a row has it.
struct Column {
  std::string name;
  std::function<json(const json& row)> value;
};

Column member(const std::string& name) {
  return {name, [name](const json& row) {
            const auto found = row.find(name);
            return found == row.end() ? json() : *found;
          }};
}

Column entry(std::string name, std::string list, std::size_t at) {
  return {std::move(name), [list = std::move(list), at](const json& row) {
            const auto found = row.find(list);
            return found == row.end() || !found->is_array() || found->size() <= at ? json() : (*found)[at];
          }};
}

std::vector<Column> members(std::initializer_list<const char*> names) {
  std::vector<Column> columns;
  for (const char* name : names) columns.push_back(member(name));
  return columns;
}

/// `always`: so many first columns stand there whatever the rows hold.
std::string table_csv(const std::vector<json>& rows, const std::vector<Column>& columns, std::size_t always,
                      bool safe) {
  std::vector<std::vector<std::string>> cells(rows.size());
  std::vector<bool> used(columns.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells[i].push_back(field_of(columns[c].value(rows[i])));
      used[c] = used[c] || c < always || !cells[i].back().empty();
    }
  }
  for (std::size_t c = 0; c < always; ++c) used[c] = true;
  std::string text;
  const auto add = [&](const auto& cell) {
    bool first = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!used[c]) continue;
      if (!first) text += ',';
      first = false;
      text += csv_field(cell(c), safe);
    }
    text += '\n';
  };
  add([&](std::size_t c) { return columns[c].name; });
  for (const auto& row : cells) add([&](std::size_t c) { return row[c]; });
  return text;
}

/// Components over many features: what each feature has in each of them.
std::string components_csv(const json& result, bool safe) {
  const json& fit = result.at("discriminants");
  const json& names = result.at("data").value("names", json::array());
  std::vector<json> rows;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < fit.at("features").size(); ++i) {
    const json& feature = fit["features"][i];
    const auto at = feature.get<std::size_t>();
    rows.push_back({{"feature", at < names.size() ? names[at] : json("x" + std::to_string(at))},
                    {"index", feature},
                    {"entries", fit.at("matrix")[i]}});
    widest = std::max(widest, rows.back()["entries"].size());
  }
  auto columns = members({"feature", "index"});
  for (std::size_t c = 0; c < widest; ++c)
    columns.push_back(entry("component_" + std::to_string(c + 1), "entries", c));
  return table_csv(rows, columns, 2, safe);
}

std::string selection_csv(const json& result, bool safe) {
  std::vector<json> rows;
  const bool several = result.contains("components");
  const auto add = [&](const json& path, int component) {
    for (json row : path) {
      if (several) row["component"] = component;
      rows.push_back(std::move(row));
    }
  };
  add(result.at("path"), 1);
  if (several) {
    for (const json& one : result["components"]) add(one.at("path"), one.at("component").get<int>());
  }
  if (rows.empty() && result.contains("discriminants") && !result["discriminants"].contains("lambda"))
    return components_csv(result, safe);
  auto columns = members({"k", "objective", "component", "upper_bound", "gap", "certified", "bound",
                          "given_objective", "pass", "groups", "names"});
  columns.push_back({"indices", [](const json& row) { return row.value("features", json()); }});
  return table_csv(rows, columns, 2, safe);
}

std::string evaluation_csv(const json& result, bool safe) {
  const auto chosen_as = [&result](const json& row) -> json {
    for (const json& choice : result.at("chosen")) {
      if (choice.at("method") != row.at("method")) continue;
      const bool best = choice.at("k_best") == row.at("k"),
                 sparse = choice.at("k_one_standard_error") == row.at("k");
      if (best || sparse)
        return best && sparse ? "best;one_standard_error" : best ? "best" : "one_standard_error";
    }
    return {};
  };
  auto columns = members({"method", "k", "error", "stderr", "balanced_error", "balanced_stderr",
                          "apparent_error", "log_loss", "log_loss_stderr", "information_bits", "null_error",
                          "lambda", "features", "entries", "stability"});
  constexpr std::size_t kAlways = 4;
  columns.push_back(entry("stability_low", "stability_interval", 0));
  columns.push_back(entry("stability_high", "stability_interval", 1));
  columns.push_back({"chosen", chosen_as});
  return table_csv(result.at("results").get<std::vector<json>>(), columns, kAlways, safe);
}

}  // namespace

std::string csv_field(std::string_view text, bool safe) {
  double number = 0.0;
  const bool formula = safe && text.find_first_of("=+-@\t\r") == 0 && !parse_number(text, number);
  if (!formula && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = formula ? "\"'" : "\"";
  for (const char c : text) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
  return quoted + '"';
}

std::string csv_list(const std::vector<std::string>& entries) {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) text += ';';
    for (const char c : entries[i]) {
      if (c == ';' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

bool is_csv_name(std::string_view path) {
  return equal_ignoring_case(std::filesystem::path(path).extension().string(), ".csv");
}

std::string result_csv(const json& result, bool safe) {
  const auto schema = result.value("schema", std::string());
  if (schema == "subspectra.selection/1") return selection_csv(result, safe);
  if (schema == "subspectra.evaluation/1") return evaluation_csv(result, safe);
  if (schema == "subspectra.reproduction/1")
    return table_csv(result.at("results").get<std::vector<json>>(),
                     members({"name", "published", "obtained", "spread"}), 3, safe);
  if (schema == "subspectra.verification/1") {
    return table_csv(
        result.at("findings").get<std::vector<json>>(),
        members({"check", "ok", "k", "component", "claimed", "recomputed", "deviation", "tolerance", "what"}),
        2, safe);
  }
  throw Error("results of " + schema +
              " are no table; write them as JSON, to a file of another name than .csv");
}

}  // namespace subspectra
