/// CSV and TSV: RFC 4180 quotes, any line end, missing-value tokens, header detection.
///
/// The file is never held: fields are cut from a sliding buffer, numbers go into a RowStore, text into side
/// columns. The common field, a number followed by a separator or a line feed, takes the short way in
/// read_row(); everything else (quotes, blanks, '+', missing values, text, a field cut by the end of the
/// buffer) goes through next_field().
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "data/name_patterns.hpp"
#include "io/byte_source.hpp"
#include "io/csv_records.hpp"
#include "io/raw_table.hpp"
#include "io/readers.hpp"
#include "io/row_store.hpp"
#include "io/text_kinds.hpp"
#include "io/text_scan.hpp"
#include "io/transposed_rows.hpp"

namespace subspectra {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class FieldEnd : std::uint8_t { kSeparator, kLine, kFile };

struct Field {
  std::string_view text;  ///< without quotes and outer blanks; lives until the next field is cut
  bool quoted = false;
  FieldEnd end = FieldEnd::kFile;
};

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
  CsvReader(ByteSource& bytes, std::string name, CsvFormat format, const ReadOptions& options,
            std::size_t block_bytes, std::shared_ptr<MemoryBudget> memory)
      : bytes_(bytes),
        name_(std::move(name)),
        format_(format),
        separator_(format.separator),
        decimal_comma_(format.decimal_comma),
        options_(options),
        memory_(std::move(memory)),
        for_fields_{.what = fmt::format("reading the first lines of {}", name_),
                    .advice = "check that the file is a table, or raise ⟨memory_limit⟩"},
        for_columns_{.what = fmt::format("reading the columns of {}", name_),
                     .advice = "read fewer columns, or raise ⟨memory_limit⟩"},
        for_texts_{.what = fmt::format("reading the texts in {}", name_),
                   .advice = "leave columns of text out of the file, or raise ⟨memory_limit⟩",
                   .grows_with_file = true},
        buffer_(
            std::max<std::size_t>(block_bytes, 4), *memory_,
            {.what = fmt::format("a field of {}", name_),
             .advice = "check that the file is a table and its quotes are closed, or raise ⟨memory_limit⟩"}) {
    na_ = options.na;
    memory_->expect(bytes_.share_read());
  }

  RawTable read();
  RawTable read_transposed();
  Index read_records(const std::function<void(CsvRecord&)>& each);

 private:
  // --- bytes to fields
  bool refill();
  void skip_byte_order_mark();
  void detect_format();
  [[nodiscard]] std::array<std::string_view, 2> first_lines();
  bool available(std::size_t i) { return i < end_ - begin_ || refill(); }
  [[nodiscard]] char at(std::size_t i) const { return buffer_[begin_ + i]; }
  [[nodiscard]] bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  [[nodiscard]] bool between_blanks() const { return separator_ == ' '; }
  [[nodiscard]] bool ends_field(char c) const {
    return c == separator_ || c == '\n' || c == '\r' || (c == '\t' && between_blanks());
  }
  void skip_line_feed();
  bool skip_blank_lines();
  FieldEnd finish_field(std::size_t length);
  Field next_field(Index column);
  Field quoted_field(std::size_t start, Index column);
  bool next_record(CsvRecord& record);

  // --- texts to numbers
  [[nodiscard]] bool is_missing(std::string_view text) const {
    return is_missing_token(text) || (!na_.empty() && std::find(na_.begin(), na_.end(), text) != na_.end());
  }
  [[nodiscard]] bool reads_number(std::string_view text, double& value) const {
    return parse_number(text, value) || (decimal_comma_ && parse_decimal_comma(text, value));
  }
  [[nodiscard]] bool is_number(const CsvField& field) const {
    double value = 0.0;
    return !is_missing(field.text) && reads_number(field.text, value);
  }
  bool store_number(Index column, std::string_view token, double& slot, long line);
  /// Features in rows: what stands where, from the header and the first row.
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
  [[nodiscard]] bool counts_columns(const CsvRecord& record) const;

  // --- fields to columns
  bool understand_row_names(const CsvRecord& first, const CsvRecord& second);
  void understand_first_line(const CsvRecord& first, const CsvRecord& second, bool has_second);
  void check_separator(const CsvRecord& first, bool is_table) const;
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
  [[nodiscard]] Location where(long line, Index column) const {
    return {.file = name_, .line = line, .column = static_cast<long>(column) + 1, .place = {}};
  }
  RawTable finish();

  ByteSource& bytes_;
  std::string name_;
  CsvFormat format_;
  char separator_;
  bool decimal_comma_;
  const ReadOptions& options_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_fields_, for_columns_, for_texts_;
  std::vector<std::string> na_;  ///< ReadOptions::na
  bool slow_ = false;            ///< no number may take the short way: it may be one of na_, or have a comma
  long point_line_ = 0, comma_line_ = 0;  ///< of the first number with a decimal point, with a comma

  GrowingBytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the unread part of buffer_
  long line_ = 1;                    ///< of the byte at begin_
  bool at_end_ = false;              ///< the source has given its last byte
  bool after_cr_ = false;            ///< a line feed that comes next belongs to the line end already seen
  std::size_t recorded_ = 0;         ///< bytes taken for the texts of the record that is being read

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

// --- bytes to fields
// ------------------------------------------------------------------------------------------

bool CsvReader::refill() {
  if (at_end_) return false;  // and the buffer stays where it is: views into it are still in use
  if (begin_ > 0) {
    std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.grow();
  const std::size_t got = bytes_.read({buffer_.data() + end_, buffer_.size() - end_});
  end_ += got;
  at_end_ = got == 0;
  return got > 0;
}

void CsvReader::skip_byte_order_mark() {
  while (end_ < 3 && refill()) {
  }
  begin_ = byte_order_mark({buffer_.data(), end_}, name_);
}

/// The first two lines as far as they are in a block, or in what the two take of a smaller one: views until
/// bytes are read again.
std::array<std::string_view, 2> CsvReader::first_lines() {
  constexpr std::size_t kMost = kTextBlockBytes;
  std::array<std::pair<std::size_t, std::size_t>, 2> ends = {};
  std::size_t i = 0;
  for (auto& [begin, end] : ends) {
    while (i < kMost && available(i) && (is_blank(at(i)) || at(i) == '\n' || at(i) == '\r')) ++i;
    begin = end = i;
    bool quoted = false;
    for (; i < kMost && available(i); ++i) {
      if (at(i) == '"') quoted = !quoted;
      if (!quoted && (at(i) == '\n' || at(i) == '\r')) break;
    }
    end = i;
  }
  const std::string_view all(buffer_.data() + begin_, i);
  return {all.substr(ends[0].first, ends[0].second - ends[0].first),
          all.substr(ends[1].first, ends[1].second - ends[1].first)};
}

/// The parts of a line between separators that no quotes hold.
std::vector<std::string_view> parts_of_line(std::string_view line, char separator) {
  std::vector<std::string_view> parts;
  if (separator == ' ') {
    bool quoted = false, inside = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      const bool blank = i == line.size() || (!quoted && (line[i] == ' ' || line[i] == '\t'));
      if (i < line.size() && line[i] == '"') quoted = !quoted;
      if (!blank && !inside) begin = i;
      if (blank && inside) parts.push_back(line.substr(begin, i - begin));
      inside = !blank;
    }
    return parts;
  }
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != separator || quoted) continue;
    parts.push_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(line.substr(begin));
  return parts;
}

/// The separator and the kind of decimal numbers, from the first two lines.
void CsvReader::detect_format() {
  if (format_.detect == CsvDetect::kNothing) {
    slow_ = decimal_comma_ || !na_.empty();
    return;
  }
  const auto lines = first_lines();
  const std::string_view first = lines[0];
  const std::string_view second = lines[1];
  const auto cuts = [&](char separator) {
    const std::size_t a = parts_of_line(first, separator).size();
    const std::size_t b = second.empty() ? a : parts_of_line(second, separator).size();
    return a + b > 2 && (a == b || a + 1 == b);
  };
  const auto holds = [&](char separator) { return parts_of_line(first, separator).size() > 1; };
  // Between semicolons every comma of a number is a decimal one, and none separates fields.
  const auto all_commas_decimal = [&] {
    for (const std::string_view line : {first, second}) {
      for (std::string_view part : parts_of_line(line, ';')) {
        part = trimmed(part);
        if (part.size() >= 2 && part.front() == '"') continue;
        double value = 0.0;
        if (part.find(',') != std::string_view::npos && !parse_decimal_comma(part, value)) return false;
      }
    }
    return true;
  };
  const bool semicolons = holds(';') && (!holds(',') || (cuts(';') && all_commas_decimal()));
  if (format_.detect == CsvDetect::kSemicolons) {
    if (semicolons) separator_ = ';';
  } else if (holds('\t') && (cuts('\t') || !cuts(','))) {
    separator_ = '\t';
  } else if (semicolons) {
    separator_ = ';';
  } else if (holds(',') && (cuts(',') || !cuts(' '))) {
    separator_ = ',';
  } else if (cuts('\t')) {
    separator_ = '\t';  // a header of one name over rows with names
  } else {
    separator_ = ' ';
  }
  decimal_comma_ = decimal_comma_ || separator_ == ';';
  if (format_.detect == CsvDetect::kSeparator && separator_ != ',' && !decimal_comma_) {
    // 1,234 may be a thousand and some; 1,5 and 12,3456 are not.
    for (std::string_view part : parts_of_line(second, separator_)) {
      double value = 0.0;
      part = trimmed(part);
      if (part.find('.') != std::string_view::npos && parse_number(part, value)) {
        decimal_comma_ = false;
        break;
      }
      if (parse_decimal_comma(part, value) && part.size() - part.find(',') != 4) decimal_comma_ = true;
    }
  }
  slow_ = decimal_comma_ || !na_.empty();
  if (separator_ == format_.separator && format_.detect == CsvDetect::kSemicolons) return;
  const std::string_view what = separator_ == '\t'  ? "tabs"
                                : separator_ == ';' ? "semicolons"
                                : separator_ == ',' ? "commas"
                                                    : "blanks";
  notes_.push_back(fmt::format("fields between {}", what));
}

void CsvReader::skip_line_feed() {
  if (!after_cr_) return;
  after_cr_ = false;
  if (available(0) && at(0) == '\n') ++begin_;
}

/// Moves to the first byte of the next record; false at the end of the file.
bool CsvReader::skip_blank_lines() {
  while (true) {
    skip_line_feed();
    std::size_t i = 0;
    while (available(i) && is_blank(at(i))) ++i;
    if (!available(i)) return false;
    if (at(i) != '\n' && at(i) != '\r') return true;
    after_cr_ = at(i) == '\r';
    begin_ += i + 1;
    ++line_;
  }
}

/// Consumes `length` bytes and the separator or line end behind them.
FieldEnd CsvReader::finish_field(std::size_t length) {
  if (!available(length)) {
    begin_ += length;
    return FieldEnd::kFile;
  }
  const char c = at(length);
  if (between_blanks() && c != '\n' && c != '\r') {  // the blanks before it are in `length`
    begin_ += length;
    return FieldEnd::kSeparator;
  }
  begin_ += length + 1;
  if (c == separator_) return FieldEnd::kSeparator;
  after_cr_ = c == '\r';
  ++line_;
  return FieldEnd::kLine;
}

Field CsvReader::next_field(Index column) {
  std::size_t i = 0;
  while (available(i) && is_blank(at(i))) ++i;
  if (available(i) && at(i) == '"') return quoted_field(i, column);
  for (; available(i); ++i) {
    const char c = at(i);
    if (ends_field(c)) break;
    if (c == '\0') {
      throw BadInput(where(line_, column),
                     "a zero byte; this is not a text table (if it is UTF-16, save it as UTF-8)");
    }
  }
  // The view must be made before finish_field() but after the last refill, which available(i) has done.
  std::size_t end = i;
  while (between_blanks() && available(end) && is_blank(at(end))) ++end;
  const std::string_view text = trimmed({buffer_.data() + begin_, i});
  return {.text = text, .quoted = false, .end = finish_field(end)};
}

Field CsvReader::quoted_field(std::size_t start, Index column) {
  const long first_line = line_;
  bool cr = false;
  // The text without its quotes is gathered where it stands, behind the one that opens it: a field may be as
  // large as the memory allows, and there is no room for it twice.
  std::size_t length = 0;
  std::size_t i = start + 1;
  for (;; ++i) {
    if (!available(i)) {
      throw BadInput(
          where(first_line, column),
          "the quote that opens this field is never closed; add the closing quote, or double a quote that is part of the text");
    }
    const char c = at(i);
    if (c == '"') {
      if (!available(i + 1) || at(i + 1) != '"') break;
      ++i;
    } else if (c == '\0') {
      throw BadInput(where(line_, column), "a zero byte; this is not a text table");
    }
    if ((c == '\n' && !cr) || c == '\r') ++line_;
    cr = c == '\r';
    buffer_[begin_ + start + 1 + length++] = c;
  }
  ++i;
  const std::size_t closed = i;
  while (available(i) && is_blank(at(i))) ++i;
  if (available(i) && !ends_field(at(i)) && !(between_blanks() && i > closed)) {
    throw BadInput(where(line_, column),
                   "text follows the closing quote of a field; double a quote that is part of the text");
  }
  const std::string_view text(buffer_.data() + begin_ + start + 1, length);  // as in next_field()
  return {.text = text, .quoted = true, .end = finish_field(i)};
}

bool CsvReader::next_record(CsvRecord& record) {
  if (!skip_blank_lines()) return false;
  record.line = line_;
  while (true) {
    const Field field = next_field(static_cast<Index>(record.fields.size()));
    memory_->make_room(record.fields, for_fields_);
    memory_->grow(MemoryBudget::on_heap(field.text.size()), for_fields_);
    recorded_ += MemoryBudget::on_heap(field.text.size());
    record.fields.push_back({.text = std::string(field.text), .quoted = field.quoted});
    if (field.end != FieldEnd::kSeparator) return true;
  }
}

// --- the first line
// -------------------------------------------------------------------------------------------

/// 0,1,2,..., 1,2,3,... or 2010,2011,2012,... in the fields that are numbers: columns that are counted, not
/// named.
bool CsvReader::counts_columns(const CsvRecord& record) const {
  double start = 0.0;
  double numbers = 0.0;
  for (const CsvField& field : record.fields) {
    double value = 0.0;
    if (!reads_number(field.text, value)) continue;
    if (numbers == 0.0) start = value;
    if (value != start + numbers || value != std::floor(value)) return false;
    numbers += 1.0;
  }
  return numbers >= 3.0;
}

void CsvReader::check_separator(const CsvRecord& first, bool is_table) const {
  if (first.fields.size() != 1 || first.fields[0].quoted) return;
  const std::string& text = first.fields[0].text;
  const auto said = [&](const char* found, const char* wanted, const char* way_out) {
    throw BadInput(where(first.line, 0),
                   fmt::format("the first line holds {} but no {}; {}", found, wanted, way_out));
  };
  if (separator_ == ',') {
    if (text.find('\t') != std::string::npos)
      said("tabs", "comma",
           is_table ? "say ⟨format tsv⟩, or name the file .tsv"
                    : "name the file .tsv, or save it with commas");
    if (text.find(';') != std::string::npos) {
      said("semicolons", "comma",
           is_table ? "say ⟨format csv2⟩"
                    : "save it with commas between the fields and points in the numbers");
    }
  } else if (separator_ == '\t' && text.find(',') != std::string::npos) {
    said("commas", "tab",
         is_table ? "say ⟨format csv⟩, or name the file .csv" : "name the file .csv, or save it with tabs");
  }
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
    const bool number = is_number(field) && (!field.quoted || below_quoted);
    const bool text = !number && !is_missing(field.text);
    numbers += number ? 1 : 0;
    texts += text ? 1 : 0;
    says_class = says_class || equal_ignoring_case(field.text, "class") ||
                 (!options_.target.empty() && field.text == options_.target);
    if (same_kinds && !is_missing(second.fields[j].text)) {
      same_kinds = number ? is_number(second.fields[j]) : !is_number(second.fields[j]) && text;
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
    return field.quoted || (!field.text.empty() && !is_number(field));
  });
  double value = 0.0;
  const CsvField& name = second.fields.front();
  const bool is_name =
      name.quoted || !reads_number(name.text, value) || (has_third_ && value == std::floor(value));
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
  memory_->grow(count * (sizeof(Kind) + 1 + sizeof(std::int32_t)), for_columns_);
  kinds_.assign(count, Kind::kUndecided);
  left_out_.assign(count, false);
  side_of_.assign(count, -1);
  rows_ = std::make_unique<RowStore>(width, name_, *memory_);
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
    memory_->grow(kinds_.size() * sizeof(long), for_columns_);
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
    if (!first || line < first->line) first = where(line, j);
  }
  return first;
}

void CsvReader::store(Index column, std::string_view text, bool quoted, long line) {
  const auto j = static_cast<std::size_t>(column);
  if (kinds_[j] == Kind::kText) {
    SideColumn& side = side_[static_cast<std::size_t>(side_of_[j])].second;
    // R quotes the text "NA" and leaves a missing value bare.
    const bool missing = text.empty() || (!quoted && is_missing_token(text)) ||
                         (!na_.empty() && std::find(na_.begin(), na_.end(), text) != na_.end());
    if (!missing && side.first.line == 0) side.first = where(line, column);
    if (missing && !side.first_missing) side.first_missing = where(line, column);
    memory_->append(side.values, missing ? std::string_view() : text, for_texts_);
    return;
  }
  double& slot = rows_->row()[j];
  slot = kNaN;
  if (kinds_[j] == Kind::kLeftOut) return;
  const std::string_view token = quoted ? trimmed(text) : text;
  if (kinds_[j] == Kind::kWeight) {
    if ((!reads_number(token, slot) || !is_weight(slot)) && misfit_ == nullptr) {
      const bool missing = is_missing(token) || token == "None";
      misfit_ = std::make_exception_ptr(
          BadInput(where(line, column),
                   no_weight_sentence(missing ? std::string_view() : token, column_name(column))));
    }
  } else if (is_missing(token) || token == "None") {
    note_missing(column, line);
  } else if (store_number(column, token, slot, line)) {
    kinds_[j] = Kind::kNumber;
    if (std::isnan(slot)) note_missing(column, line);
    if (std::isinf(slot) && !first_infinite_ && !left_out_[j]) {
      first_infinite_ = InfiniteCell{.where = where(line, column), .text = std::string(token)};
    }
  } else {
    slot = kNaN;
    store_text_in_number_column(column, token, line);
  }
}

/// A number, which `na` may name; those of one file have all a decimal point or all a comma.
bool CsvReader::store_number(Index column, std::string_view token, double& slot, long line) {
  if (!reads_number(token, slot)) return false;
  if (!slow_) return true;
  for (const std::string& text : na_) {
    double missing = 0.0;
    if (parse_number(text, missing) && missing == slot) slot = kNaN;
  }
  if (!decimal_comma_) return true;
  const bool comma = token.find(',') != std::string_view::npos;
  if (!comma && token.find('.') == std::string_view::npos) return true;
  long& first = comma ? comma_line_ : point_line_;
  const long other = comma ? point_line_ : comma_line_;
  if (other > 0 && misfit_ == nullptr) {
    misfit_ = std::make_exception_ptr(BadInput(
        where(line, column),
        fmt::format("{} has a decimal {}, but a number on line {} has a decimal {}; write all of them alike",
                    shown(token), comma ? "comma" : "point", other, comma ? "point" : "comma")));
  }
  if (first == 0) first = line;
  return true;
}

void CsvReader::store_text_in_number_column(Index column, std::string_view text, long line) {
  const auto j = static_cast<std::size_t>(column);
  if (kinds_[j] == Kind::kUndecided) {
    kinds_[j] = Kind::kText;
    side_of_[j] = static_cast<std::int32_t>(side_.size());
    SideColumn side{.name = column_name(column),
                    .values = {},
                    .first = where(line, column),
                    .has_no_name = is_nameless(column)};
    memory_->make_room(side.values, static_cast<std::size_t>(rows_->rows()) + 1, for_texts_);
    side.values.resize(static_cast<std::size_t>(rows_->rows()));  // missing so far
    memory_->append(side.values, text, for_texts_);
    if (!first_missing_line_.empty() && first_missing_line_[j] > 0) {
      side.first_missing = where(first_missing_line_[j], column);
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
    misfit_ = std::make_exception_ptr(BadInput(where(line, column), sentence));
  }
}

void CsvReader::refuse_row_length(Index fields, long line) const {
  const auto width = static_cast<Index>(kinds_.size());
  std::string advice = fields > width ? "quote a field that holds the separator, or remove what is too much"
                                      : "add what is missing (an empty field is a missing value)";
  if (has_header_ && fields == width + 1 && rows_->rows() == 0) {
    advice = "if the first column holds row names, give it a name in the header";
  }
  throw BadInput(where(line, std::min(fields, width)),
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
  if (!skip_blank_lines()) return false;
  const auto width = static_cast<Index>(kinds_.size());
  const long first_line = line_;
  double* const row = rows_->row().data();
  Kind* const kinds = kinds_.data();
  const char separator = separator_;
  Index column = 0;
  FieldEnd end = FieldEnd::kSeparator;
  while (end == FieldEnd::kSeparator) {
    if (column < width && kinds[column] <= Kind::kNumber && !slow_ && !between_blanks()) {
      const char* const last = buffer_.data() + end_;
      double value = 0.0;
      const auto [stop, error] = fast_float::from_chars(buffer_.data() + begin_, last, value);
      // Cut short by the end of the buffer, the number may go on: then next_field() looks again.
      if (error == std::errc() && stop < last && (*stop == separator || *stop == '\n') &&
          std::isfinite(value)) {
        row[column] = value;
        kinds[column] = Kind::kNumber;
        begin_ = static_cast<std::size_t>(stop - buffer_.data()) + 1;
        ++column;
        if (*stop == separator) continue;
        ++line_;
        break;
      }
    }
    const long line = line_;
    const Field field = next_field(column);
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
  skip_byte_order_mark();
  detect_format();
  CsvRecord first;
  if (!next_record(first))
    throw BadInput(
        {.file = name_},
        "the file holds no data, only blank lines or nothing at all; a header row and at least one row of values are needed");
  check_separator(first, true);
  const std::size_t header_texts = recorded_;
  CsvRecord second;
  const bool has_second = next_record(second);
  has_third_ = has_second && skip_blank_lines();
  understand_first_line(first, second, has_second);
  const auto width = static_cast<Index>(first.fields.size()) + (row_names_ ? 1 : 0);
  if (has_header_) {
    memory_->make_room(header_, first.fields.size() + 1, for_columns_);
    if (row_names_) header_.emplace_back();
    for (CsvField& field : first.fields) header_.push_back(std::move(field.text));
  }
  start_columns(width);
  if (!has_header_) store_record(first);
  if (has_second) store_record(second);
  // The texts of a header are kept.
  const std::size_t fields = (first.fields.capacity() + second.fields.capacity()) * sizeof(CsvField);
  memory_->give_back(fields + recorded_ - (has_header_ ? header_texts : 0));
  first = {};
  second = {};
  if (rows_->rows() == 0) {
    throw BadInput({.file = name_, .line = 1, .column = 0, .place = {}},
                   "a header row and no data; add at least one row below it");
  }
  while (read_row()) {
  }
  return finish();
}

/// Which columns are samples, of a table with a feature in every row.
CsvReader::FeatureColumns CsvReader::feature_columns(const CsvRecord& first, const CsvRecord& second) {
  FeatureColumns columns;
  memory_->grow(first.fields.size() * sizeof(std::size_t), for_columns_);
  for (const CsvField& field : first.fields) memory_->append(columns.header, field.text, for_texts_);
  if (second.fields.size() == first.fields.size() + 1) columns.header.insert(columns.header.begin(), "");
  const auto named = std::find(columns.header.begin(), columns.header.end(), options_.id);
  if (!options_.id.empty() && !(options_.id_optional && named == columns.header.end())) {
    if (named == columns.header.end())
      throw BadInput({.file = name_},
                     fmt::format("{}: there is no column of that name; columns: {}",
                                 fmt::format("⟨id {}⟩", options_.id), join_some(columns.header)));
    columns.name = named - columns.header.begin();
  } else {
    for (std::size_t c = 0; c < second.fields.size() && columns.name < 0; ++c) {
      if (!is_number(second.fields[c]) && !is_missing(second.fields[c].text))
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
        {.file = name_, .line = first.line, .column = 1, .place = {}},
        "no column is left for samples; with ⟨transpose⟩ features stand in rows and samples in columns");
  return columns;
}

/// Columns of text before the first sample describe the features: they are left out.
void CsvReader::settle_annotations(const CsvRecord& record, FeatureColumns& columns) {
  columns.settled = true;
  std::vector<std::string> left_out;
  while (!columns.samples.empty()) {
    const CsvField& field = record.fields[columns.samples.front()];
    if (is_number(field) || is_missing(field.text)) break;
    left_out.push_back(columns.header[columns.samples.front()]);
    columns.samples.erase(columns.samples.begin());
  }
  if (!left_out.empty())
    notes_.push_back(
        fmt::format("columns of text beside the features are left out: {}", join_some(left_out)));
}

/// A row of numbers is a feature, one of texts describes the samples.
void CsvReader::take_feature_row(const CsvRecord& record, FeatureColumns& columns, TransposedRows& rows,
                                 std::vector<std::pair<std::string, CsvRecord>>& described) {
  if (record.fields.size() != columns.header.size()) {
    throw BadInput(
        where(record.line, std::min<Index>(static_cast<Index>(record.fields.size()),
                                           static_cast<Index>(columns.header.size()))),
        fmt::format("the row has {} but the header has {}; add what is missing or remove what is too much",
                    counted(record.fields.size(), "field"), columns.header.size()));
  }
  const std::string name = columns.name >= 0 ? record.fields[static_cast<std::size_t>(columns.name)].text
                                             : fmt::format("x{}", rows.features());
  bool some_number = false, some_text = false;
  for (const std::size_t c : columns.samples) {
    const CsvField& field = record.fields[c];
    if (is_missing(field.text)) continue;
    (is_number(field) ? some_number : some_text) = true;
  }
  if (some_text && !some_number) {
    std::size_t bytes = sizeof(std::pair<std::string, CsvRecord>) + record.fields.size() * sizeof(CsvField);
    for (const CsvField& field : record.fields) bytes += MemoryBudget::on_heap(field.text.size());
    memory_->grow(2 * bytes, for_texts_);  // here, and as a column of texts
    described.emplace_back(name, record);
    return;
  }
  if (!columns.settled) settle_annotations(record, columns);
  if (!rows.started()) {
    std::vector<std::string> ids;
    for (const std::size_t c : columns.samples) memory_->append(ids, columns.header[c], for_texts_);
    rows.start(std::move(ids));
  }
  const auto values = rows.values();
  for (std::size_t s = 0; s < columns.samples.size(); ++s) {
    const auto column = static_cast<Index>(columns.samples[s]);
    const CsvField& field = record.fields[columns.samples[s]];
    const std::string_view token = field.quoted ? trimmed(field.text) : std::string_view(field.text);
    double& slot = values[s];
    slot = kNaN;
    if (!is_missing(token) && token != "None" && !store_number(column, token, slot, record.line)) {
      throw BadInput(
          where(record.line, column),
          fmt::format("{} is not a number in the row of {}; correct it, or write NA for a missing value{}",
                      shown(field.text), shown(name), decimal_comma_hint(field.text)));
    }
    if (misfit_ != nullptr) std::rethrow_exception(misfit_);
    if (std::isnan(slot)) rows.note_missing(where(record.line, column));
    if (std::isinf(slot)) rows.note_infinite(where(record.line, column), token);
  }
  rows.commit(name);
}

RawTable CsvReader::read_transposed() {
  skip_byte_order_mark();
  detect_format();
  TransposedRows rows(name_, memory_);
  std::vector<std::pair<std::string, CsvRecord>> described;
  CsvRecord first, second;
  if (!next_record(first) || !next_record(second))
    throw BadInput({.file = name_},
                   "a header row of sample names and at least one row of values are needed with ⟨transpose⟩");
  check_separator(first, true);
  FeatureColumns columns = feature_columns(first, second);
  take_feature_row(second, columns, rows, described);
  memory_->give_back(std::exchange(recorded_, 0));
  for (CsvRecord record; next_record(record); record.fields.clear()) {
    take_feature_row(record, columns, rows, described);
    memory_->give_back(std::exchange(recorded_, 0));
  }
  if (rows.features() == 0)
    throw BadInput({.file = name_}, "no row holds numbers; with ⟨transpose⟩ every row is a feature");
  for (const auto& [name, record] : described) {
    SideColumn side;
    side.name = name;
    side.first = where(record.line, 0);
    side.may_be_ignored = true;
    side.describes_sample = true;
    for (const std::size_t c : columns.samples) {
      const CsvField& field = record.fields[c];
      side.values.push_back(!field.quoted && is_missing(field.text) ? std::string() : field.text);
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

Index CsvReader::read_records(const std::function<void(CsvRecord&)>& each) {
  skip_byte_order_mark();
  detect_format();
  Index records = 0;
  for (CsvRecord record; next_record(record); record.fields.clear()) {
    if (records == 0) check_separator(record, false);
    ++records;
    each(record);
    memory_->give_back(std::exchange(recorded_, 0));  // what is kept of it is the caller's to count
  }
  return records;
}

RawTable CsvReader::finish() {
  RawTable table;
  table.source = name_;
  table.notes = std::move(notes_);
  std::vector<Index> columns;
  memory_->make_room(columns, kinds_.size(), for_columns_);
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
    memory_->make_room(names, columns.size(), for_columns_);
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
  table.memory = std::move(memory_);
  table.na_is_done = true;
  return table;
}

}  // namespace

RawTable read_csv_bytes(ByteSource& bytes, const std::string& name, CsvFormat format,
                        const ReadOptions& options, std::size_t block_bytes) {
  CsvReader reader(bytes, name, format, options, block_bytes,
                   std::make_shared<MemoryBudget>(options.memory_limit.bytes));
  return options.transpose ? reader.read_transposed() : reader.read();
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
  return CsvReader(*bytes, path, format, {}, kTextBlockBytes, memory).read_records(each);
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
