#include "io/csv_transposed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "data/name_patterns.hpp"
#include "io/csv_numbers.hpp"
#include "io/text_kinds.hpp"
#include "io/transposed_rows.hpp"

namespace subspectra {
namespace {

class TransposedCsv {
 public:
  TransposedCsv(CsvScanner& scanner, const ReadOptions& options)
      : scanner_(scanner),
        options_(options),
        numbers_(scanner, options.na),
        memory_(*scanner.memory()),
        for_columns_(reading_columns_of(scanner.name())),
        for_texts_(reading_texts_in(scanner.name())),
        notes_(scanner.take_notes()) {}
  RawTable read();

 private:
  /// What stands where, from the header and the first row.
  struct FeatureColumns {
    std::vector<std::string> header;
    std::ptrdiff_t name = -1;          ///< the column with the names of the features, or none
    std::vector<std::size_t> samples;  ///< the columns of samples
    bool settled = false;              ///< `samples` has lost the columns of annotations
  };
  [[nodiscard]] FeatureColumns feature_columns(const CsvRecord& first, const CsvRecord& second);
  void take_feature_row(const CsvRecord& record, FeatureColumns& columns, TransposedRows& rows,
                        std::vector<std::pair<std::string, CsvRecord>>& described);
  void settle_annotations(const CsvRecord& record, FeatureColumns& columns);

  CsvScanner& scanner_;
  const ReadOptions& options_;
  CsvNumbers numbers_;
  MemoryBudget& memory_;
  MemoryPurpose for_columns_, for_texts_;
  std::exception_ptr misfit_;  ///< a number with the other decimal sign
  std::vector<std::string> notes_;
};

/// Which columns are samples, of a table with a feature in every row.
TransposedCsv::FeatureColumns TransposedCsv::feature_columns(const CsvRecord& first,
                                                             const CsvRecord& second) {
  FeatureColumns columns;
  memory_.grow(first.fields.size() * sizeof(std::size_t), for_columns_);
  for (const CsvField& field : first.fields) memory_.append(columns.header, field.text, for_texts_);
  if (second.fields.size() == first.fields.size() + 1) columns.header.insert(columns.header.begin(), "");
  const auto named = std::find(columns.header.begin(), columns.header.end(), options_.id);
  if (!options_.id.empty() && !(options_.id_optional && named == columns.header.end())) {
    if (named == columns.header.end())
      throw BadInput({.file = scanner_.name()},
                     fmt::format("{}: there is no column of that name; columns: {}",
                                 fmt::format("⟨id {}⟩", options_.id), join_some(columns.header)));
    columns.name = named - columns.header.begin();
  } else {
    for (std::size_t c = 0; c < second.fields.size() && columns.name < 0; ++c) {
      if (!numbers_.is_number(second.fields[c]) && !numbers_.is_missing(second.fields[c].text))
        columns.name = static_cast<std::ptrdiff_t>(c);
    }
    if (columns.name < 0 && (columns.header.front().empty() || is_name_of_features(columns.header.front())))
      columns.name = 0;
  }
  const auto left_out = spelled_out(options_.ignore, static_cast<Index>(columns.header.size()),
                                    [&](Index c) { return columns.header[static_cast<std::size_t>(c)]; });
  for (std::size_t c = 0; c < columns.header.size(); ++c) {
    const bool ignored = std::find(left_out.begin(), left_out.end(), columns.header[c]) != left_out.end();
    if (static_cast<std::ptrdiff_t>(c) != columns.name && !ignored) columns.samples.push_back(c);
  }
  if (columns.samples.empty())
    throw BadInput(
        {.file = scanner_.name(), .line = first.line, .column = 1, .place = {}},
        "no column is left for samples; with ⟨transpose⟩ features stand in rows and samples in columns");
  return columns;
}

/// Columns of text before the first sample describe the features: they are left out.
void TransposedCsv::settle_annotations(const CsvRecord& record, FeatureColumns& columns) {
  columns.settled = true;
  std::vector<std::string> left_out;
  while (!columns.samples.empty()) {
    const CsvField& field = record.fields[columns.samples.front()];
    if (numbers_.is_number(field) || numbers_.is_missing(field.text)) break;
    left_out.push_back(columns.header[columns.samples.front()]);
    columns.samples.erase(columns.samples.begin());
  }
  if (!left_out.empty())
    notes_.push_back(
        fmt::format("columns of text beside the features are left out: {}", join_some(left_out)));
}

/// A row of numbers is a feature, one of texts describes the samples.
void TransposedCsv::take_feature_row(const CsvRecord& record, FeatureColumns& columns, TransposedRows& rows,
                                     std::vector<std::pair<std::string, CsvRecord>>& described) {
  if (record.fields.size() != columns.header.size()) {
    throw BadInput(
        scanner_.where(record.line, std::min<Index>(static_cast<Index>(record.fields.size()),
                                                    static_cast<Index>(columns.header.size()))),
        fmt::format("the row has {} but the header has {}; add what is missing or remove what is too much",
                    counted(record.fields.size(), "field"), columns.header.size()));
  }
  const std::string name = columns.name >= 0 ? record.fields[static_cast<std::size_t>(columns.name)].text
                                             : fmt::format("x{}", rows.features());
  bool some_number = false, some_text = false;
  for (const std::size_t c : columns.samples) {
    const CsvField& field = record.fields[c];
    if (numbers_.is_missing(field.text)) continue;
    (numbers_.is_number(field) ? some_number : some_text) = true;
  }
  if (some_text && !some_number) {
    std::size_t bytes = sizeof(std::pair<std::string, CsvRecord>) + record.fields.size() * sizeof(CsvField);
    for (const CsvField& field : record.fields) bytes += MemoryBudget::on_heap(field.text.size());
    memory_.grow(2 * bytes, for_texts_);  // here, and as a column of texts
    described.emplace_back(name, record);
    return;
  }
  if (!columns.settled) settle_annotations(record, columns);
  if (!rows.started()) {
    std::vector<std::string> ids;
    for (const std::size_t c : columns.samples) memory_.append(ids, columns.header[c], for_texts_);
    rows.start(std::move(ids));
  }
  const auto values = rows.values();
  for (std::size_t s = 0; s < columns.samples.size(); ++s) {
    const auto column = static_cast<Index>(columns.samples[s]);
    const CsvField& field = record.fields[columns.samples[s]];
    const std::string_view token = field.quoted ? trimmed(field.text) : std::string_view(field.text);
    double& slot = values[s];
    slot = std::numeric_limits<double>::quiet_NaN();
    if (!numbers_.is_missing(token) && token != "None" &&
        !numbers_.store(token, slot, record.line, column, misfit_)) {
      throw BadInput(
          scanner_.where(record.line, column),
          fmt::format("{} is not a number in the row of {}; correct it, or write NA for a missing value{}",
                      shown(field.text), shown(name), decimal_comma_hint(field.text)));
    }
    if (misfit_ != nullptr) std::rethrow_exception(misfit_);
    if (std::isnan(slot)) rows.note_missing(scanner_.where(record.line, column));
    if (std::isinf(slot)) rows.note_infinite(scanner_.where(record.line, column), token);
  }
  rows.commit(name);
}

RawTable TransposedCsv::read() {
  TransposedRows rows(scanner_.name(), scanner_.memory());
  std::vector<std::pair<std::string, CsvRecord>> described;
  CsvRecord first, second;
  if (!scanner_.next_record(first) || !scanner_.next_record(second))
    throw BadInput({.file = scanner_.name()},
                   "a header row of sample names and at least one row of values are needed with ⟨transpose⟩");
  scanner_.check_separator(first, true);
  FeatureColumns columns = feature_columns(first, second);
  take_feature_row(second, columns, rows, described);
  scanner_.give_back_texts();
  for (CsvRecord record; scanner_.next_record(record); record.fields.clear()) {
    take_feature_row(record, columns, rows, described);
    scanner_.give_back_texts();
  }
  if (rows.features() == 0)
    throw BadInput({.file = scanner_.name()},
                   "no row holds numbers; with ⟨transpose⟩ every row is a feature");
  for (const auto& [name, record] : described) {
    SideColumn side;
    side.name = name;
    side.first = scanner_.where(record.line, 0);
    side.may_be_ignored = true;
    side.describes_sample = true;
    for (const std::size_t c : columns.samples) {
      const CsvField& field = record.fields[c];
      side.values.push_back(!field.quoted && numbers_.is_missing(field.text) ? std::string() : field.text);
    }
    rows.describe(std::move(side));
  }
  for (std::string& note : notes_) rows.note(std::move(note));
  rows.note(
      fmt::format("transposed: {} features in rows, {} samples in columns", rows.features(), rows.samples()));
  RawTable table = rows.finish("sample");
  table.na_is_done = true;
  return table;
}

}  // namespace

RawTable read_transposed_csv(CsvScanner& scanner, const ReadOptions& options) {
  return TransposedCsv(scanner, options).read();
}

}  // namespace subspectra
