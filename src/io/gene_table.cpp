#include "io/gene_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace subspectra {

void split_tabs(std::string_view line, std::vector<std::string_view>& fields, MemoryBudget& memory,
                const MemoryPurpose& purpose) {
  fields.clear();
  while (true) {
    memory.make_room(fields, purpose);
    const std::size_t tab = line.find('\t');
    std::string_view field = trimmed(line.substr(0, tab));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    if (tab == std::string_view::npos) return;
    line.remove_prefix(tab + 1);
  }
}

bool TabbedLines::next() {
  std::string_view line;
  while (lines_.next(line)) {
    if (line.find('\0') != std::string_view::npos)
      throw BadInput(here(), "a zero byte; this is not a text table");
    if (trimmed(line).empty()) continue;
    split_tabs(line, fields_, memory_, purpose_);
    return true;
  }
  return false;
}

Location TabbedLines::here() const {
  return {.file = name_, .line = std::max(1L, lines_.number()), .column = 1, .place = {}};
}

SideColumn sample_description(std::string name, std::vector<std::string> values, const Location& first) {
  SideColumn side;
  side.name = std::move(name);
  side.values = std::move(values);
  side.first = first;
  side.may_be_ignored = true;
  side.describes_sample = true;
  side.is_numeric = std::all_of(side.values.begin(), side.values.end(), [](const std::string& text) {
    double value = 0.0;
    return text.empty() || parse_number(text, value);
  });
  return side;
}

void take_values(TransposedRows& rows, const std::vector<std::string_view>& fields, std::size_t skipped,
                 const Location& line, const std::vector<std::string>& na) {
  const auto samples = static_cast<std::size_t>(rows.samples());
  if (fields.size() != samples + skipped) {
    throw BadInput(
        line,
        fmt::format(
            "the row has {} where the header has {}; the file may have been cut, or a field holds a tab",
            counted(fields.size(), "field"), samples + skipped));
  }
  const auto values = rows.values();
  for (std::size_t s = 0; s < samples; ++s) {
    const std::string_view token = fields[s + skipped];
    double& slot = values[s];
    slot = std::numeric_limits<double>::quiet_NaN();
    const auto place = [&] {
      Location where = line;
      where.column = static_cast<long>(s + skipped) + 1;
      return where;
    };
    const bool missing = is_missing_token(token) || std::find(na.begin(), na.end(), token) != na.end();
    if (!missing && !parse_number(token, slot)) {
      throw BadInput(
          place(),
          fmt::format("{} is not a number in the row of {}; correct it, or write NA for a missing value",
                      shown(token), shown(fields[0])));
    }
    for (const std::string& text : na) {
      double named = 0.0;
      if (parse_number(text, named) && named == slot) slot = std::numeric_limits<double>::quiet_NaN();
    }
    if (std::isnan(slot)) rows.note_missing(place());
    if (std::isinf(slot)) rows.note_infinite(place(), token);
  }
}

}  // namespace subspectra
