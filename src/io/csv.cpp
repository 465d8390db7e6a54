/// CSV and TSV with samples in rows: missing-value tokens, header detection, which columns are numbers.
///
/// Numbers go into a RowStore, text into side columns. The common field, a number followed by a separator or
/// a line feed, takes the short way in read_row(); everything else (quotes, blanks, '+', missing values,
/// text, a field cut by the end of the buffer) goes through CsvScanner::next_field().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "data/name_patterns.hpp"
#include "io/byte_source.hpp"
#include "io/csv_numbers.hpp"
#include "io/csv_records.hpp"
#include "io/csv_scanner.hpp"
#include "io/csv_transposed.hpp"
#include "io/raw_table.hpp"
#include "io/readers.hpp"
#include "io/row_store.hpp"
#include "io/text_kinds.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What a column holds. It is undecided until its first value that is not missing.
enum class Kind : std::uint8_t {
  kUndecided,
  kNumber,
  kText,
  kLeftOut,  ///< numbers and then text, in a column the user leaves out anyway
  kWeight,   ///< numbers that are looked at one by one: those of `weights`
};

class CsvReader {
 public:
  CsvReader(CsvScanner& scanner, const ReadOptions& options)
      : scanner_(scanner),
        options_(options),
        numbers_(scanner, options.na),
        memory_(*scanner.memory()),
        for_columns_(reading_columns_of(scanner.name())),
        for_texts_(reading_texts_in(scanner.name())),
        notes_(scanner.take_notes()) {}

  RawTable read();

 private:
  // --- the first line
  [[nodiscard]] bool counts_columns(const CsvRecord& record) const;
  bool understand_row_names(const CsvRecord& first, const CsvRecord& second);
  void understand_first_line(const CsvRecord& first, const CsvRecord& second, bool has_second);

  // --- fields to columns
  void start_columns(Index width);
  [[nodiscard]] bool is_nameless(Index column) const {
    return has_header_ && header_[static_cast<std::size_t>(column)].empty();
  }
  void store(Index column, std::string_view text, bool quoted, long line);
  void store_text_in_number_column(Index column, std::string_view text, long line);
  void store_record(const CsvRecord& record);
  bool read_row();
  void note_missing(Index column, long line);
  [[nodiscard]] std::optional<Location> first_missing(const std::vector<Index>& columns) const;
  [[noreturn]] void refuse_row_length(Index fields, long line) const;
  [[nodiscard]] std::string column_name(Index column) const;
  RawTable finish();

  CsvScanner& scanner_;
  const ReadOptions& options_;
  CsvNumbers numbers_;
  MemoryBudget& memory_;
  MemoryPurpose for_columns_, for_texts_;

  bool has_header_ = false;
  bool row_names_ = false;  ///< the header is one name short
  bool has_third_ = false;  ///< a record follows the second one
  std::vector<std::string> header_;
  std::vector<Kind> kinds_;
  bool knows_needs_ = false;           ///< options.needed tells which columns must be numbers
  std::vector<bool> left_out_;         ///< columns named in options.ignore, or not in options.needed
  std::vector<std::int32_t> side_of_;  ///< column -> position in side_, or -1
  std::vector<std::pair<Index, SideColumn>> side_;
  std::unique_ptr<RowStore> rows_;
  std::vector<long> first_missing_line_;  ///< a column, 0: none; empty until there is a missing value
  std::optional<InfiniteCell> first_infinite_;
  std::exception_ptr misfit_;  ///< the first value of this row that its column cannot hold, told only if the
                               ///< row's length is right
  std::vector<std::string> notes_;
};

// --- the first line
// -------------------------------------------------------------------------------------------

/// 0,1,2,..., 1,2,3,... or 2010,2011,2012,... in the fields that are numbers: columns that are counted, not
/// named.
bool CsvReader::counts_columns(const CsvRecord& record) const {
  double start = 0.0;
  double numbers = 0.0;
  for (const CsvField& field : record.fields) {
    double value = 0.0;
    if (!numbers_.reads(field.text, value)) continue;
    if (numbers == 0.0) start = value;
    if (value != start + numbers || value != std::floor(value)) return false;
    numbers += 1.0;
  }
  return numbers >= 3.0;
}

void CsvReader::understand_first_line(const CsvRecord& first, const CsvRecord& second, bool has_second) {
  const auto width = static_cast<Index>(first.fields.size());
  std::size_t numbers = 0;
  std::size_t texts = 0;
  bool same_kinds = has_second && second.fields.size() == first.fields.size();
  bool says_class = false;
  for (std::size_t j = 0; j < first.fields.size(); ++j) {
    const CsvField& field = first.fields[j];
    // A quoted number over an unquoted one is a name: "1","2" over 0.5,0.7.
    const bool below_quoted = has_second && j < second.fields.size() && second.fields[j].quoted;
    const bool number = numbers_.is_number(field) && (!field.quoted || below_quoted);
    const bool text = !number && !numbers_.is_missing(field.text);
    numbers += number ? 1 : 0;
    texts += text ? 1 : 0;
    says_class = says_class || equal_ignoring_case(field.text, "class") ||
                 (!options_.target.empty() && field.text == options_.target);
    if (same_kinds && !numbers_.is_missing(second.fields[j].text)) {
      same_kinds =
          number ? numbers_.is_number(second.fields[j]) : !numbers_.is_number(second.fields[j]) && text;
    }
  }
  const std::string columns =
      width == 1 ? std::string("the column is x0") : fmt::format("columns are x0..x{}", width - 1);
  if (has_second && understand_row_names(first, second)) {
    has_header_ = true;
    notes_.push_back(fmt::format("header row: {} name{}; the column before them holds row names", width,
                                 width == 1 ? "" : "s"));
  } else if (texts == 0) {
    notes_.push_back(fmt::format("no header row: the first line is all numbers; {}", columns));
    if (counts_columns(first) && width > 2) {
      notes_.emplace_back(
          "the first line counts 0, 1, 2, ... like a header of column numbers; it was read as data");
    }
  } else if (numbers > 0 && !says_class && !counts_columns(first) && (same_kinds || !has_second)) {
    notes_.push_back(
        fmt::format("no header row: the first line has numbers where the second has numbers; {}", columns));
  } else {
    has_header_ = true;
    notes_.push_back(fmt::format("header row: {} name{}", width, width == 1 ? "" : "s"));
  }
}

/// A header that is one name short stands over a column of row names, as R's write.table leaves it. A row
/// that ends in a separator is something else.
bool CsvReader::understand_row_names(const CsvRecord& first, const CsvRecord& second) {
  if (second.fields.size() != first.fields.size() + 1 || second.fields.back().text.empty()) return false;
  const bool has_names = std::any_of(first.fields.begin(), first.fields.end(), [&](const CsvField& field) {
    return field.quoted || (!field.text.empty() && !numbers_.is_number(field));
  });
  double value = 0.0;
  const CsvField& name = second.fields.front();
  const bool is_name =
      name.quoted || !numbers_.reads(name.text, value) || (has_third_ && value == std::floor(value));
  row_names_ = has_names && is_name && !name.text.empty();
  return row_names_;
}

std::string CsvReader::column_name(Index column) const {
  if (has_header_ && column < static_cast<Index>(header_.size())) {
    const std::string& name = header_[static_cast<std::size_t>(column)];
    if (!name.empty()) return name;
  }
  return fmt::format("x{}", column);
}

void CsvReader::start_columns(Index width) {
  const auto count = static_cast<std::size_t>(width);
  memory_.grow(count * (sizeof(Kind) + 1 + sizeof(std::int32_t)), for_columns_);
  kinds_.assign(count, Kind::kUndecided);
  left_out_.assign(count, false);
  side_of_.assign(count, -1);
  rows_ = std::make_unique<RowStore>(width, scanner_.name(), memory_);
  std::vector<std::string> texts = names_in_list(options_.categorical);  // columns that are read as text
  for (const DerivedFeature& feature : options_.derived) {
    if (feature.value) texts.push_back(feature.column);
  }
  for (Index j = 0; j < width; ++j) {
    const std::string name = column_name(j);
    const bool is_target = options_.target.empty() ? equal_ignoring_case(name, "class")
                                                   : name == options_.target && name != "none";
    const bool is_group = !options_.cv_groups.empty() && name == options_.cv_groups;
    const bool is_text = is_target || is_group || (!options_.id.empty() && name == options_.id) ||
                         std::find(texts.begin(), texts.end(), name) != texts.end();
    if (is_text && name != options_.weights) {
      side_of_[static_cast<std::size_t>(j)] = static_cast<std::int32_t>(side_.size());
      side_.emplace_back(j,
                         SideColumn{.name = name, .values = {}, .first = {}, .has_no_name = is_nameless(j)});
      kinds_[static_cast<std::size_t>(j)] = Kind::kText;
    }
  }
  if (!options_.weights.empty()) {
    std::vector<Index> named;
    for (Index j = 0; j < width; ++j) {
      if (column_name(j) == options_.weights) named.push_back(j);
    }
    // Two of a name are refused later, as such.
    if (named.size() == 1) kinds_[static_cast<std::size_t>(named.front())] = Kind::kWeight;
  }
  // Without a header the names are made up, and no model knows them.
  knows_needs_ = has_header_ && !options_.needed.empty();
  if (options_.ignore.empty() && !knows_needs_) return;
  std::vector<std::string> ignored =
      spelled_out(options_.ignore, width, [this](Index j) { return column_name(j); });
  std::vector<std::string> needed = options_.needed;
  std::sort(ignored.begin(), ignored.end());
  std::sort(needed.begin(), needed.end());
  for (Index j = 0; j < width; ++j) {
    const std::string name = column_name(j);
    left_out_[static_cast<std::size_t>(j)] =
        std::binary_search(ignored.begin(), ignored.end(), name) ||
        (knows_needs_ && !std::binary_search(needed.begin(), needed.end(), name));
  }
}

// --- fields to columns
// ----------------------------------------------------------------------------------------

void CsvReader::note_missing(Index column, long line) {
  if (first_missing_line_.empty()) {
    memory_.grow(kinds_.size() * sizeof(long), for_columns_);
    first_missing_line_.assign(kinds_.size(), 0);
  }
  long& first = first_missing_line_[static_cast<std::size_t>(column)];
  if (first == 0) first = line;
}

/// The first one of these columns that the user does not leave out.
std::optional<Location> CsvReader::first_missing(const std::vector<Index>& columns) const {
  std::optional<Location> first;
  if (first_missing_line_.empty()) return first;
  for (const Index j : columns) {
    const long line = first_missing_line_[static_cast<std::size_t>(j)];
    if (line == 0 || left_out_[static_cast<std::size_t>(j)]) continue;
    if (!first || line < first->line) first = scanner_.where(line, j);
  }
  return first;
}

void CsvReader::store(Index column, std::string_view text, bool quoted, long line) {
  const auto j = static_cast<std::size_t>(column);
  if (kinds_[j] == Kind::kText) {
    SideColumn& side = side_[static_cast<std::size_t>(side_of_[j])].second;
    // R quotes the text "NA" and leaves a missing value bare.
    const bool missing = text.empty() || (!quoted && is_missing_token(text)) || numbers_.is_in_na(text);
    if (!missing && side.first.line == 0) side.first = scanner_.where(line, column);
    if (missing && !side.first_missing) side.first_missing = scanner_.where(line, column);
    memory_.append(side.values, missing ? std::string_view() : text, for_texts_);
    return;
  }
  double& slot = rows_->row()[j];
  slot = kNaN;
  if (kinds_[j] == Kind::kLeftOut) return;
  const std::string_view token = quoted ? trimmed(text) : text;
  if (kinds_[j] == Kind::kWeight) {
    if ((!numbers_.reads(token, slot) || !is_weight(slot)) && misfit_ == nullptr) {
      const bool missing = numbers_.is_missing(token) || token == "None";
      misfit_ = std::make_exception_ptr(
          BadInput(scanner_.where(line, column),
                   no_weight_sentence(missing ? std::string_view() : token, column_name(column))));
    }
  } else if (numbers_.is_missing(token) || token == "None") {
    note_missing(column, line);
  } else if (numbers_.store(token, slot, line, column, misfit_)) {
    kinds_[j] = Kind::kNumber;
    if (std::isnan(slot)) note_missing(column, line);
    if (std::isinf(slot) && !first_infinite_ && !left_out_[j]) {
      first_infinite_ = InfiniteCell{.where = scanner_.where(line, column), .text = std::string(token)};
    }
  } else {
    slot = kNaN;
    store_text_in_number_column(column, token, line);
  }
}

void CsvReader::store_text_in_number_column(Index column, std::string_view text, long line) {
  const auto j = static_cast<std::size_t>(column);
  if (kinds_[j] == Kind::kUndecided) {
    kinds_[j] = Kind::kText;
    side_of_[j] = static_cast<std::int32_t>(side_.size());
    SideColumn side{.name = column_name(column),
                    .values = {},
                    .first = scanner_.where(line, column),
                    .has_no_name = is_nameless(column)};
    memory_.make_room(side.values, static_cast<std::size_t>(rows_->rows()) + 1, for_texts_);
    side.values.resize(static_cast<std::size_t>(rows_->rows()));  // missing so far
    memory_.append(side.values, text, for_texts_);
    if (!first_missing_line_.empty() && first_missing_line_[j] > 0) {
      side.first_missing = scanner_.where(first_missing_line_[j], column);
    }
    side_.emplace_back(column, std::move(side));
  } else if (left_out_[j]) {
    kinds_[j] = Kind::kLeftOut;
  } else if (misfit_ == nullptr) {
    const std::string name = column_name(column);
    const std::string sentence =
        knows_needs_
            ? needed_number_sentence(text, name)
            : fmt::format(
                  "{} is not a number in column {}, whose values so far are numbers; correct it, write NA for a missing value, or leave the column out with ⟨ignore {}⟩{}",
                  shown(text), shown(name), name, decimal_comma_hint(text));
    misfit_ = std::make_exception_ptr(BadInput(scanner_.where(line, column), sentence));
  }
}

void CsvReader::refuse_row_length(Index fields, long line) const {
  const auto width = static_cast<Index>(kinds_.size());
  std::string advice = fields > width ? "quote a field that holds the separator, or remove what is too much"
                                      : "add what is missing (an empty field is a missing value)";
  if (has_header_ && fields == width + 1 && rows_->rows() == 0) {
    advice = "if the first column holds row names, give it a name in the header";
  }
  throw BadInput(scanner_.where(line, std::min(fields, width)),
                 fmt::format("the row has {} field{} but the {} has {}; {}", fields, fields == 1 ? "" : "s",
                             row_names_    ? "header with the row names"
                             : has_header_ ? "header"
                                           : "first row",
                             width, advice));
}

void CsvReader::store_record(const CsvRecord& record) {
  if (record.fields.size() != kinds_.size()) {
    refuse_row_length(static_cast<Index>(record.fields.size()), record.line);
  }
  for (std::size_t j = 0; j < record.fields.size(); ++j) {
    store(static_cast<Index>(j), record.fields[j].text, record.fields[j].quoted, record.line);
  }
  if (misfit_ != nullptr) std::rethrow_exception(misfit_);
  rows_->commit();
}

/// One row from the buffer into the store; false at the end of the file.
bool CsvReader::read_row() {
  if (!scanner_.skip_blank_lines()) return false;
  const auto width = static_cast<Index>(kinds_.size());
  const long first_line = scanner_.line();
  double* const row = rows_->row().data();
  Kind* const kinds = kinds_.data();
  const bool short_way = numbers_.plain() && !scanner_.between_blanks();
  Index column = 0;
  FieldEnd end = FieldEnd::kSeparator;
  while (end == FieldEnd::kSeparator) {
    if (short_way && column < width && kinds[column] <= Kind::kNumber &&
        scanner_.take_number(row[column], end)) {
      kinds[column] = Kind::kNumber;
      ++column;
      continue;
    }
    const long line = scanner_.line();
    const ScannedField field = scanner_.next_field(column);
    end = field.end;
    if (column < width) store(column, field.text, field.quoted, line);
    ++column;
  }
  if (column != width) refuse_row_length(column, first_line);
  if (misfit_ != nullptr) std::rethrow_exception(misfit_);
  rows_->commit();
  return true;
}

RawTable CsvReader::read() {
  CsvRecord first;
  if (!scanner_.next_record(first))
    throw BadInput(
        {.file = scanner_.name()},
        "the file holds no data, only blank lines or nothing at all; a header row and at least one row of values are needed");
  scanner_.check_separator(first, true);
  const std::size_t header_texts = scanner_.counted_texts();
  CsvRecord second;
  const bool has_second = scanner_.next_record(second);
  has_third_ = has_second && scanner_.skip_blank_lines();
  understand_first_line(first, second, has_second);
  const auto width = static_cast<Index>(first.fields.size()) + (row_names_ ? 1 : 0);
  if (has_header_) {
    memory_.make_room(header_, first.fields.size() + 1, for_columns_);
    if (row_names_) header_.emplace_back();
    for (CsvField& field : first.fields) header_.push_back(std::move(field.text));
  }
  start_columns(width);
  if (!has_header_) store_record(first);
  if (has_second) store_record(second);
  // The texts of a header are kept.
  const std::size_t fields = (first.fields.capacity() + second.fields.capacity()) * sizeof(CsvField);
  memory_.give_back(fields + scanner_.counted_texts() - (has_header_ ? header_texts : 0));
  first = {};
  second = {};
  if (rows_->rows() == 0) {
    throw BadInput({.file = scanner_.name(), .line = 1, .column = 0, .place = {}},
                   "a header row and no data; add at least one row below it");
  }
  while (read_row()) {
  }
  return finish();
}

RawTable CsvReader::finish() {
  RawTable table;
  table.source = scanner_.name();
  table.notes = std::move(notes_);
  std::vector<Index> columns;
  memory_.make_room(columns, kinds_.size(), for_columns_);
  bool gap = false;  // a column that is not a feature stands before one that is
  for (Index j = 0; j < static_cast<Index>(kinds_.size()); ++j) {
    const Kind kind = kinds_[static_cast<std::size_t>(j)];
    const bool no_name = has_header_ && header_[static_cast<std::size_t>(j)].empty();
    if (kind == Kind::kUndecided && no_name) {
      table.notes.push_back(fmt::format("column {} has neither name nor values and is left out", j + 1));
    } else if (kind == Kind::kLeftOut) {
      table.notes.push_back(
          fmt::format("column '{}' mixes numbers and text and is left out", column_name(j)));
    } else if (kind != Kind::kText) {
      gap = gap || static_cast<Index>(columns.size()) != j;
      columns.push_back(j);
    }
  }
  if (has_header_ || gap) {
    std::vector<std::string> names;
    memory_.make_room(names, columns.size(), for_columns_);
    for (const Index j : columns) {
      const bool given = has_header_ && !header_[static_cast<std::size_t>(j)].empty();
      if (has_header_ && !given) table.nameless.push_back(static_cast<Index>(names.size()));
      names.push_back(given ? std::move(header_[static_cast<std::size_t>(j)]) : column_name(j));
    }
    table.names = FeatureNames(std::move(names));
  } else {
    table.names = FeatureNames(static_cast<Index>(columns.size()));
  }
  table.dense = rows_->take(columns);
  std::sort(side_.begin(), side_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [column, side] : side_) table.side.push_back(std::move(side));
  // A missing value in what turned out to be a text column, or no column at all, is none of the matrix's.
  table.first_missing = first_missing(columns);
  table.first_infinite = std::move(first_infinite_);
  table.memory = scanner_.memory();
  table.na_is_done = true;
  return table;
}

}  // namespace

RawTable read_csv_bytes(ByteSource& bytes, const std::string& name, CsvFormat format,
                        const ReadOptions& options, std::size_t block_bytes) {
  CsvScanner scanner(bytes, name, format, block_bytes,
                     std::make_shared<MemoryBudget>(options.memory_limit.bytes));
  return options.transpose ? read_transposed_csv(scanner, options) : CsvReader(scanner, options).read();
}

RawTable read_csv(const std::string& path, CsvFormat format, const ReadOptions& options) {
  const auto bytes = open_bytes(path);
  return read_csv_bytes(*bytes, path == "-" ? "standard input" : path, format, options);
}

RawTable read_csv_text(std::string_view text, const std::string& name, CsvFormat format,
                       const ReadOptions& options) {
  const auto bytes = memory_bytes(text);
  return read_csv_bytes(*bytes, name, format, options);
}

Index for_each_csv_record(const std::string& path, CsvFormat format,
                          const std::shared_ptr<MemoryBudget>& memory,
                          const std::function<void(CsvRecord&)>& each) {
  const auto bytes = open_bytes(path);
  CsvScanner scanner(*bytes, path, format, kTextBlockBytes, memory);
  Index records = 0;
  for (CsvRecord record; scanner.next_record(record); record.fields.clear()) {
    if (records == 0) scanner.check_separator(record, false);
    ++records;
    each(record);
    scanner.give_back_texts();  // what is kept of it is the caller's to count
  }
  return records;
}

extern const TableReader gct_reader;
extern const TableReader csv_reader = {.endings = ".csv",
                                       .reads_compressed = true,
                                       .read = [](const std::string& path, const ReadOptions& options) {
                                         return read_csv(path, kCsvFile, options);
                                       }};
extern const TableReader txt_reader = {.endings = ".txt",
                                       .reads_compressed = true,
                                       .read = [](const std::string& path, const ReadOptions& options) {
                                         if (begins_with(path, "!")) return read_series_matrix(path, options);
                                         if (begins_with(path, "#1.2") || begins_with(path, "#1.3"))
                                           return gct_reader.read(path, options);
                                         return read_csv(path, {.detect = CsvDetect::kSeparator}, options);
                                       }};
extern const TableReader tsv_reader = {.endings = ".tsv",
                                       .reads_compressed = true,
                                       .read = [](const std::string& path, const ReadOptions& options) {
                                         return read_csv(path, {.separator = '\t'}, options);
                                       }};

}  // namespace subspectra
