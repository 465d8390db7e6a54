#include "io/sample_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "core/text.hpp"
#include "data/feature_names.hpp"
#include "io/csv_records.hpp"
#include "io/file_ending.hpp"
#include "io/text_columns.hpp"
#include "io/text_kinds.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

MemoryPurpose for_sample_table(const std::string& path) {
  return {.what = fmt::format("reading the labels in {}", path),
          .advice = "give a table of sample ids and labels alone, or raise ⟨memory_limit⟩"};
}

/// Columns with few values beside the ids, for messages: "'sex' (2 values)".
std::vector<std::string> described(const SampleTable& table, const std::vector<std::size_t>& columns) {
  std::vector<std::string> texts;
  for (const std::size_t c : columns) {
    const auto values = values_of_category(table.columns[c], table.columns[c].size());
    std::vector<std::string> some;
    for (const auto& [value, rows] : *values) some.emplace_back(value);
    texts.push_back(fmt::format("{} ({})", shown(table.names[c]), join_some(some, 3)));
  }
  return texts;
}

/// The column of labels: the one that is asked for, the only one beside the ids, the one with the name of a
/// target, or the only one with few values.
std::size_t label_column(const SampleTable& table, const LabelsOption& option, const IdMatch& match) {
  if (!option.column.empty()) {
    std::vector<std::size_t> found;
    for (const bool exact : {true, false}) {
      for (std::size_t c = 0; c < table.names.size() && found.empty(); ++c) {
        if (exact ? table.names[c] == option.column : equal_ignoring_case(table.names[c], option.column))
          found.push_back(c);
      }
    }
    if (found.size() == 1) return found.front();
    const auto near = near_names(option.column, table.names);
    throw BadInput({.file = table.file},
                   fmt::format("there is no column {}; columns: {}", shown(option.column),
                               join_some(near.empty() ? table.names : near)));
  }
  std::vector<std::size_t> beside_ids, named, few;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c == match.column) continue;
    beside_ids.push_back(c);
    if (is_name_of_target(table.names[c])) named.push_back(c);
    const auto values = values_of_category(table.columns[c]);
    if (values && values->size() >= 2 && 2 * values->size() <= table.columns[c].size()) few.push_back(c);
  }
  if (beside_ids.size() == 1) return beside_ids.front();
  if (named.size() == 1) return named.front();
  if (few.size() == 1) return few.front();
  if (beside_ids.empty())
    throw BadInput({.file = table.file}, "there is no column beside the sample ids; add one with the labels");
  const std::vector<std::size_t>& candidates = few.empty() ? beside_ids : few;
  throw BadInput(
      {.file = table.file},
      fmt::format("several columns could be the label: {}; say which with ⟨labels {}:{}⟩",
                  join_some(described(table, candidates)), option.file, table.names[candidates.front()]));
}

}  // namespace

LabelsOption parse_labels_option(const std::string& option) {
  std::error_code ignored;
  if (std::filesystem::exists(option, ignored)) return {.file = option, .column = {}};
  for (auto colon = option.rfind(':'); colon != std::string::npos && colon > 0;
       colon = option.rfind(':', colon - 1)) {
    if (std::filesystem::exists(option.substr(0, colon), ignored))
      return {.file = option.substr(0, colon), .column = option.substr(colon + 1)};
  }
  const auto colon = option.rfind(':');  // which is not there: the complaint is about the file
  return {.file = option.substr(0, colon), .column = {}};
}

SampleTable read_sample_table(const std::string& path, const std::vector<std::string>& na,
                              MemoryBudget& memory) {
  const std::shared_ptr<MemoryBudget> budget(std::shared_ptr<void>(),
                                             &memory);  // the caller's, and nobody's to delete
  if (begins_with(path, "!")) return read_series_samples(path, budget);
  if (file_ending(path).text == ".cls") return read_class_file(path, memory);
  const MemoryPurpose purpose = for_sample_table(path);
  SampleTable table{.file = path, .names = {}, .columns = {}, .first_line = {}, .in_order = false};
  std::size_t width = 0;
  const auto take = [&](const CsvRecord& record, std::vector<std::string>& row) {
    for (const CsvField& field : record.fields) {
      std::string text = field.text;
      make_utf8(text);
      const bool missing =
          (!field.quoted && is_missing_token(text)) || std::find(na.begin(), na.end(), text) != na.end();
      row.push_back(missing ? std::string() : std::move(text));
    }
  };
  std::vector<std::vector<std::string>> rows;
  for_each_csv_record(path, {.detect = CsvDetect::kSeparator}, budget, [&](CsvRecord& record) {
    std::vector<std::string> row;
    take(record, row);
    for (const std::string& text : row)
      memory.grow(3 * sizeof(std::string) + MemoryBudget::on_heap(text.size()), purpose);
    if (rows.size() == 1 && row.size() == rows.front().size() + 1)  // R leaves the corner out
      rows.front().insert(rows.front().begin(), "");
    width = rows.empty() ? row.size() : rows.front().size();
    if (row.size() != width)
      throw BadInput(
          {.file = path, .line = record.line, .column = 1, .place = {}},
          fmt::format("the row has {} where the first has {}; quote a field that holds the separator",
                      counted(row.size(), "field"), width));
    rows.push_back(std::move(row));
  });
  if (rows.empty())
    throw BadInput({.file = path}, "the file holds no labels; a table of sample ids and labels is needed");
  width = rows.front().size();
  table.first_line = rows.front();
  table.columns.resize(width);
  for (auto& row : rows) {
    for (std::size_t c = 0; c < width; ++c) table.columns[c].push_back(std::move(row[c]));
    row = {};
  }
  for (std::size_t c = 0; c < width; ++c) table.names.push_back(fmt::format("x{}", c));
  return table;
}

namespace {

/// The first record is a header: what stands in it is no id and, in a file of labels in order, one too many.
void take_header(SampleTable& table) {
  if (table.columns.empty() || table.columns.front().empty()) return;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.first_line[c].empty()) table.names[c] = table.first_line[c];
    table.columns[c].erase(table.columns[c].begin());
  }
}

}  // namespace

IdMatch match_ids(const SampleTable& table, const std::vector<std::string>& ids) {
  const std::unordered_set<std::string_view> wanted(ids.begin(), ids.end());
  IdMatch best;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::unordered_set<std::string_view> found;
    for (const std::string& text : table.columns[c]) {
      if (!text.empty() && wanted.contains(text)) found.insert(text);
    }
    if (found.size() > best.found) best = {.column = c, .found = found.size()};
  }
  return best;
}

SideColumn labels_of(SampleTable&& table, const LabelsOption& option, const IdMatch& match,
                     const std::vector<std::string>& ids, std::vector<std::string>& notes) {
  const std::unordered_set<std::string_view> wanted(ids.begin(), ids.end());
  if (!table.columns[match.column].empty() && !wanted.contains(table.columns[match.column].front()))
    take_header(table);
  const std::size_t column = label_column(table, option, match);
  std::unordered_map<std::string_view, std::size_t> line_of;
  const auto& keys = table.columns[match.column];
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].empty()) continue;
    if (!wanted.contains(keys[i])) {
      ++unknown;
      continue;
    }
    const auto [at, is_new] = line_of.try_emplace(keys[i], i);
    if (!is_new && table.columns[column][at->second] != table.columns[column][i])
      throw BadInput({.file = table.file},
                     fmt::format("sample {} has two labels, {} and {}; keep one of them", shown(keys[i]),
                                 shown(table.columns[column][at->second]), shown(table.columns[column][i])));
  }
  SideColumn labels;
  labels.name = table.names[column];
  labels.is_label = true;
  std::vector<std::string> absent;
  for (const std::string& id : ids) {
    const auto found = line_of.find(id);
    if (found == line_of.end()) absent.push_back(id);
    labels.values.push_back(found == line_of.end() ? std::string() : table.columns[column][found->second]);
  }
  if (!absent.empty())
    notes.push_back(fmt::format("{} without a line in {}: {}", counted(absent.size(), "sample"), table.file,
                                join_some(absent, 5)));
  if (unknown > 0)
    notes.push_back(fmt::format("{} of {} {} none of the table's samples", counted(unknown, "line"),
                                table.file, unknown == 1 ? "is" : "are"));
  return labels;
}

std::optional<NumberIds> numbers_as_ids(const SampleTable& table, const Matrix& columns, std::size_t rows) {
  if (table.columns.size() < 2 || rows < 2) return std::nullopt;
  constexpr double kMostExact = 1e15;
  const auto text_of = [](double value) { return fmt::format("{:.0f}", value); };
  for (const auto& texts : table.columns) {
    const std::unordered_set<std::string_view> known(texts.begin(), texts.end());
    if (known.size() < texts.size() || known.size() < rows) continue;  // ids are all different
    for (Index j = 0; j < columns.cols(); ++j) {
      NumberIds found{.feature = j, .ids = {}};
      std::unordered_set<double> seen;
      for (Index i = 0; i < columns.rows(); ++i) {
        const double value = columns(i, j);
        if (!(std::abs(value) < kMostExact) || value != std::floor(value) || !seen.insert(value).second)
          break;
        found.ids.push_back(text_of(value));
        if (!known.contains(found.ids.back())) break;
      }
      if (found.ids.size() == rows && known.contains(found.ids.back())) return found;
    }
    for (const double start : {0.0, 1.0}) {
      NumberIds counted_rows;
      counted_rows.ids.reserve(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        counted_rows.ids.push_back(text_of(start + static_cast<double>(i)));
        if (!known.contains(counted_rows.ids.back())) break;
      }
      if (counted_rows.ids.size() == rows && known.contains(counted_rows.ids.back())) return counted_rows;
    }
  }
  return std::nullopt;
}

SideColumn labels_in_order(SampleTable&& table, const LabelsOption& option, std::size_t rows,
                           std::vector<std::string>& notes) {
  if (table.columns.front().size() == rows + 1 && !table.in_order) take_header(table);
  if (table.columns.front().size() != rows && table.in_order)
    throw BadInput(
        {.file = table.file},
        fmt::format(
            "holds {} for a table of {}; a class file has one for every sample, in the order of the table",
            counted(table.columns.front().size(), "label"), counted(rows, "row")));
  if (table.columns.front().size() != rows)
    throw BadInput(
        {.file = table.file},
        fmt::format(
            "the rows of the table have no ids to match by, and the file has {} for {}; give one label a row in their order, or name the rows with ⟨id⟩",
            counted(table.columns.front().size(), "line"), counted(rows, "row")));
  std::size_t column = 0;
  if (table.columns.size() > 1 || !option.column.empty())
    column = label_column(table, option, {.column = table.columns.size(), .found = 0});
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto& texts = table.columns[c];
    if (c == column || std::unordered_set<std::string_view>(texts.begin(), texts.end()).size() < rows)
      continue;
    notes.push_back(fmt::format(
        "the rows of the table have no ids, so that the labels of {} are taken in the order of its lines and its ids ({}) are not looked for; name the rows with ⟨id⟩ if the order is another one",
        table.file, join_some(texts, 3)));
    break;
  }
  SideColumn labels;
  labels.name = table.names[column] == "x0" ? "label" : table.names[column];
  labels.is_label = true;
  labels.values = std::move(table.columns[column]);
  return labels;
}

std::vector<std::string> read_feature_names(const std::string& path, std::size_t count,
                                            MemoryBudget& memory) {
  SampleTable table = read_sample_table(path, {}, memory);
  std::vector<std::string> names;
  if (table.columns.front().size() == 1 && table.columns.size() > 1) {
    names = table.first_line;  // all in one line
  } else {
    names = std::move(table.columns.front());
  }
  if (count > 0 && names.size() == count + 1) names.erase(names.begin());
  if (count > 0 && names.size() != count)
    throw BadInput({.file = path},
                   fmt::format("holds {} for the {} of the table; one name a feature is needed",
                               counted(names.size(), "name"), counted(count, "column")));
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j].empty())
      throw BadInput({.file = path, .line = static_cast<long>(j) + 1, .column = 1, .place = {}},
                     "an empty name; write one for every feature");
  }
  return names;
}

}  // namespace subspectra
