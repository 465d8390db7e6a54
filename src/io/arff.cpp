/// ARFF (Weka), dense and sparse. Attributes become columns by their type: numeric, integer and real are
/// numbers; a nominal attribute is a number if all its values are, unless it is the target; string and date
/// are text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include "data/name_patterns.hpp"
#include "data/sparse_rows.hpp"
#include "io/byte_source.hpp"
#include "io/raw_table.hpp"
#include "io/readers.hpp"
#include "io/row_store.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr double kMissingArffValue = std::numeric_limits<double>::quiet_NaN();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

struct Attribute {
  std::string name;
  bool is_nominal = false;
  bool is_text = false;                     ///< goes to a side column
  bool is_left_out = false;                 ///< named in options.ignore, or not in options.needed
  std::unordered_set<std::string> allowed;  ///< nominal
  std::string left_out_text;                ///< what it means when a sparse row leaves this attribute out:
  double left_out_number = 0.0;             ///< the first nominal value, the number 0, no string
  std::size_t side = 0;                     ///< position in the side columns if is_text
  Index feature = 0;                        ///< position among the numbers otherwise
};

struct Value {
  std::string text;
  bool quoted = false;
  long character = 0;  ///< 1-based
};

class ArffReader {
 public:
  ArffReader(ByteSource& bytes, const std::string& name, const ReadOptions& options, std::size_t block_bytes)
      : name_(name),
        options_(options),
        memory_(std::make_shared<MemoryBudget>(options.memory_limit.bytes)),
        for_header_{.what = fmt::format("reading the attributes of {}", name),
                    .advice = "declare long lists of values as string, or raise ⟨memory_limit⟩"},
        for_row_{.what = fmt::format("a row of {}", name),
                 .advice = "check that the file has one row a line, or raise ⟨memory_limit⟩"},
        for_texts_{.what = fmt::format("reading the texts in {}", name),
                   .advice = "leave attributes of text out of the file, or raise ⟨memory_limit⟩",
                   .grows_with_file = true},
        lines_(bytes, name, block_bytes, *memory_) {
    memory_->expect(bytes.share_read());
  }
  RawTable read();

 private:
  [[nodiscard]] Location here(std::size_t position) const { return place(static_cast<long>(position) + 1); }
  [[nodiscard]] Location place(long character) const {
    return {.file = name_, .line = lines_.number(), .column = character, .place = {}};
  }
  [[nodiscard]] bool at_end() const {
    return at_ >= line_.size() || (line_[at_] == '%' && (at_ == 0 || is_blank(line_[at_ - 1])));
  }
  void skip_blanks() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  }
  Value next_value(std::string_view stops);
  /// Takes memory for a quoted text that grows character by character.
  void buffer_room(const std::string& text) {
    if (text.size() < text.capacity()) return;
    memory_->grow(2 * text.capacity(), *for_value_);  // std::string doubles
    unquoted_ += 2 * text.capacity();
  }
  std::string_view keyword();
  void read_header();
  void read_attribute();
  void read_nominal(Attribute& attribute);
  void finish_header();
  [[nodiscard]] bool is_kept_as_text(const Attribute& attribute) const;
  void read_dense_row();
  void read_sparse_row();
  double number_in(const Attribute& attribute, const Value& value);
  void text_into(const Attribute& attribute, const Value& value);
  void check_nominal(const Attribute& attribute, const Value& value) const;
  static bool is_missing(const Value& value) {
    return !value.quoted && (value.text == "?" || value.text.empty());
  }
  RawTable finish();

  std::string name_;
  const ReadOptions& options_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_header_, for_row_, for_texts_;
  const MemoryPurpose* for_value_ = &for_header_;  ///< of what is being read
  LineReader lines_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::vector<Attribute> attributes_;
  std::vector<SideColumn> side_;
  std::vector<std::string> side_defaults_;  ///< left_out_text of each
  std::vector<std::string> feature_names_;
  std::vector<Index>
      nonzero_defaults_;  ///< attributes whose left-out value in a sparse row is a number other than 0
  std::unique_ptr<RowStore> dense_;
  std::unique_ptr<SparseRows> sparse_;
  std::size_t unquoted_ = 0;  ///< bytes taken for the quoted text that is being read
  std::vector<bool> seen_;
  std::vector<std::pair<Index, Value>> pairs_;
  Index rows_ = 0;
  std::optional<Location> first_missing_;
  std::optional<InfiniteCell> first_infinite_;
  std::vector<std::string> notes_;
};

/// A bare or quoted value up to one of `stops` or the end of the line; at_ is left on the stop.
Value ArffReader::next_value(std::string_view stops) {
  skip_blanks();
  Value value;
  value.character = static_cast<long>(at_) + 1;
  if (at_ < line_.size() && (line_[at_] == '\'' || line_[at_] == '"')) {
    const char quote = line_[at_];
    const std::size_t start = at_++;
    value.quoted = true;
    while (true) {
      if (at_ >= line_.size()) {
        throw BadInput(
            here(start),
            "the quote that opens here is never closed on this line; close it, or write \\' for a quote inside");
      }
      char c = line_[at_++];
      if (c == quote) break;
      if (c == '\\' && at_ < line_.size()) {
        c = line_[at_++];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'r') c = '\r';
      }
      buffer_room(value.text);
      value.text += c;
    }
    memory_->give_back(std::exchange(unquoted_, 0));
    skip_blanks();
    return value;
  }
  const std::size_t start = at_;
  while (at_ < line_.size() && stops.find(line_[at_]) == std::string_view::npos && !at_end()) ++at_;
  HeldMemory copy(*memory_);
  copy.grow(MemoryBudget::on_heap(at_ - start), *for_value_);
  value.text = std::string(trimmed(line_.substr(start, at_ - start)));
  if (value.text.find('\0') != std::string::npos)
    throw BadInput(here(start), "a zero byte; this is not a text file");
  return value;
}

std::string_view ArffReader::keyword() {
  const std::size_t start = at_;
  while (at_ < line_.size() && !is_blank(line_[at_])) ++at_;
  return line_.substr(start, at_ - start);
}

void ArffReader::read_header() {
  while (lines_.next(line_)) {
    at_ = 0;
    skip_blanks();
    if (at_end()) continue;
    const std::size_t start = at_;
    const std::string_view word = keyword();
    if (equal_ignoring_case(word, "@relation")) continue;
    if (equal_ignoring_case(word, "@attribute")) {
      read_attribute();
    } else if (equal_ignoring_case(word, "@data")) {
      if (attributes_.empty())
        throw BadInput(here(start), "@data without any @attribute before it; declare the columns");
      return;
    } else {
      throw BadInput(
          here(start),
          fmt::format("{} in the header; only @relation, @attribute, @data and % comments may stand there",
                      shown(word)));
    }
  }
  throw BadInput({.file = name_, .line = std::max(lines_.number(), 1L), .column = 0, .place = {}},
                 "the file ends before @data; an ARFF file has a header, a line @data and rows");
}

void ArffReader::read_attribute() {
  Attribute attribute;
  const Value name = next_value(" \t{");
  if (name.text.empty()) throw BadInput(place(name.character), "@attribute needs a name and a type");
  attribute.name = name.text;
  skip_blanks();
  if (at_ < line_.size() && line_[at_] == '{') {
    read_nominal(attribute);
  } else {
    const std::size_t start = at_;
    const std::string_view type = keyword();
    const auto is = [&](std::string_view other) { return equal_ignoring_case(type, other); };
    if (is("string") || is("date")) {
      attribute.is_text = true;
    } else if (!is("numeric") && !is("real") && !is("integer")) {
      throw BadInput(
          here(start),
          fmt::format(
              "attribute {} has the type {}; numeric, integer, real, string, date or {{a,b,...}} is needed",
              shown(attribute.name), shown(type)));
    } else {
      attribute.left_out_text.assign(1, '0');
    }
  }
  memory_->make_room(attributes_, for_header_);
  memory_->grow(4 * MemoryBudget::on_heap(attribute.name.size()) + 4 * sizeof(std::string), for_header_);
  attributes_.push_back(std::move(attribute));
}

void ArffReader::read_nominal(Attribute& attribute) {
  attribute.is_nominal = true;
  const std::size_t open = at_++;
  bool all_numbers = true;
  while (true) {
    const Value value = next_value(",}");
    const bool closes = at_ < line_.size() && line_[at_] == '}';
    if (at_ >= line_.size() || (line_[at_] != ',' && !closes)) {
      throw BadInput(here(open), "the list of nominal values is not closed on this line; end it with }");
    }
    ++at_;
    if (value.text.empty() && !value.quoted) {
      if (closes && attribute.allowed.empty())
        throw BadInput(here(open), "the list of nominal values is empty");
      throw BadInput(place(value.character), "an empty nominal value; write '' for the empty text");
    }
    double number = 0.0;
    const bool is_number = parse_number(value.text, number) && !std::isnan(number);
    all_numbers = all_numbers && is_number;
    if (attribute.allowed.empty()) {
      attribute.left_out_text = value.text;
      attribute.left_out_number = is_number ? number : 0.0;
    }
    // A node with its text and hash, and a bucket; when the table of buckets grows the old one still stands.
    memory_->grow(sizeof(std::string) + 8 * sizeof(void*) + MemoryBudget::on_heap(value.text.size()),
                  for_header_);
    attribute.allowed.insert(value.text);
    if (closes) break;
  }
  attribute.is_text = !all_numbers;
}

bool ArffReader::is_kept_as_text(const Attribute& attribute) const {
  if (attribute.name == options_.weights && !options_.weights.empty()) return attribute.is_text;
  const bool is_target = options_.target.empty()
                             ? equal_ignoring_case(attribute.name, "class")
                             : attribute.name == options_.target && options_.target != "none";
  const bool is_group = !options_.cv_groups.empty() && attribute.name == options_.cv_groups;
  return attribute.is_text || is_target || is_group;
}

void ArffReader::finish_header() {
  const auto left_out = spelled_out(options_.ignore, static_cast<Index>(attributes_.size()), [this](Index a) {
    return attributes_[static_cast<std::size_t>(a)].name;
  });
  const std::unordered_set<std::string> ignored(left_out.begin(), left_out.end());
  const std::unordered_set<std::string> needed(options_.needed.begin(), options_.needed.end());
  for (std::size_t a = 0; a < attributes_.size(); ++a) {
    Attribute& attribute = attributes_[a];
    attribute.is_text = is_kept_as_text(attribute);
    attribute.is_left_out =
        ignored.contains(attribute.name) || (!needed.empty() && !needed.contains(attribute.name));
    if (attribute.is_text) {
      attribute.side = side_.size();
      side_.push_back({.name = attribute.name, .values = {}, .first = {}});
      side_defaults_.push_back(attribute.left_out_text);
      continue;
    }
    attribute.feature = static_cast<Index>(feature_names_.size());
    feature_names_.push_back(attribute.name);
    if (attribute.is_nominal) {
      if (attribute.left_out_number != 0.0) nonzero_defaults_.push_back(static_cast<Index>(a));
      notes_.push_back(
          fmt::format("nominal attribute '{}' is read as numbers, since all its values are", attribute.name));
    }
  }
  for_value_ = &for_texts_;
  seen_.assign(attributes_.size(), false);
}

void ArffReader::check_nominal(const Attribute& attribute, const Value& value) const {
  if (!attribute.is_nominal || attribute.allowed.contains(value.text)) return;
  throw BadInput(
      place(value.character),
      fmt::format(
          "{} is not among the values declared for attribute {}; correct it, or add it to the @attribute line",
          shown(value.text), shown(attribute.name)));
}

double ArffReader::number_in(const Attribute& attribute, const Value& value) {
  double number = kMissingArffValue;
  if (is_missing(value)) {
    // no number
  } else if (!parse_number(trimmed(value.text), number)) {
    throw BadInput(
        place(value.character),
        fmt::format("{} is not a number in attribute {}; correct it, or write ? for a missing value{}",
                    shown(value.text), shown(attribute.name), decimal_comma_hint(value.text)));
  } else {
    check_nominal(attribute, value);
  }
  if (!options_.weights.empty() && attribute.name == options_.weights && !is_weight(number)) {
    throw BadInput(place(value.character),
                   no_weight_sentence(is_missing(value) ? std::string_view() : value.text, attribute.name));
  }
  if (attribute.is_left_out) return number;
  if (std::isnan(number) && !first_missing_) first_missing_ = place(value.character);
  if (std::isinf(number) && !first_infinite_) {
    first_infinite_ = InfiniteCell{.where = place(value.character), .text = value.text};
  }
  return number;
}

void ArffReader::text_into(const Attribute& attribute, const Value& value) {
  SideColumn& side = side_[attribute.side];
  if (is_missing(value)) {
    if (!side.first_missing) side.first_missing = place(value.character);
    memory_->append(side.values, {}, for_texts_);
    return;
  }
  check_nominal(attribute, value);
  if (side.first.line == 0) side.first = place(value.character);
  memory_->append(side.values, value.text, for_texts_);
}

void ArffReader::read_dense_row() {
  if (dense_ == nullptr) {
    dense_ = std::make_unique<RowStore>(std::max<Index>(static_cast<Index>(feature_names_.size()), 1), name_,
                                        *memory_);
  }
  std::size_t count = 0;
  std::exception_ptr misfit;
  while (true) {
    const Value value = next_value(",");
    if (count < attributes_.size()) {
      const Attribute& attribute = attributes_[count];
      try {
        if (attribute.is_text) {
          text_into(attribute, value);
        } else {
          dense_->row()[static_cast<std::size_t>(attribute.feature)] = number_in(attribute, value);
        }
      } catch (const BadInput&) {  // if the row's length is wrong, that is the better complaint
        if (misfit == nullptr) misfit = std::current_exception();
      }
    } else if (count == attributes_.size() && value.text.starts_with('{')) {
      throw BadInput(
          place(value.character),
          "instance weights in braces are not read; put them into an attribute of their own and name it with ⟨weights⟩");
    }
    ++count;
    if (at_end()) break;
    if (line_[at_] != ',') {
      throw BadInput(here(at_), "text follows the closing quote of a value; separate values with commas");
    }
    ++at_;
  }
  if (count != attributes_.size()) {
    throw BadInput(
        here(at_),
        fmt::format(
            "the row has {} value{} but there are {} attributes; every row needs one a piece (? for a missing one)",
            count, count == 1 ? "" : "s", attributes_.size()));
  }
  if (misfit != nullptr) std::rethrow_exception(misfit);
  dense_->commit();
}

void ArffReader::read_sparse_row() {
  if (sparse_ == nullptr) sparse_ = std::make_unique<SparseRows>(name_, *memory_);
  const std::size_t open = at_++;
  std::size_t row_texts = 0;
  pairs_.clear();
  skip_blanks();
  while (at_ >= line_.size() || line_[at_] != '}') {
    skip_blanks();
    const std::size_t start = at_;
    std::uint64_t index = 0;
    const auto [stop, error] = std::from_chars(line_.data() + at_, line_.data() + line_.size(), index);
    at_ = static_cast<std::size_t>(stop - line_.data());
    if (error == std::errc::invalid_argument) {
      throw BadInput(here(start),
                     at_ >= line_.size()
                         ? "the row opened by { is not closed on this line; end it with }"
                         : "a sparse row is {INDEX VALUE, INDEX VALUE, ...}: an index is needed here");
    }
    if (error != std::errc() || index >= attributes_.size()) {
      throw BadInput(
          here(start),
          fmt::format("attribute index {} does not exist: there are {} attributes, numbered from 0",
                      line_.substr(start, std::min<std::size_t>(at_ - start, 20)), attributes_.size()));
    }
    if (seen_[index])
      throw BadInput(here(start), fmt::format("attribute index {} stands twice in this row", index));
    seen_[index] = true;
    if (at_ >= line_.size() || !is_blank(line_[at_])) {
      throw BadInput(
          here(start),
          "a sparse row is {INDEX VALUE, INDEX VALUE, ...}: a blank and a value are needed behind the index");
    }
    Value value = next_value(",}");
    if (value.text.empty() && !value.quoted)
      throw BadInput(here(start), "the value behind this index is missing; write ? if it is");
    memory_->make_room(pairs_, for_row_);
    memory_->grow(MemoryBudget::on_heap(value.text.size()), for_row_);
    row_texts += MemoryBudget::on_heap(value.text.size());
    pairs_.emplace_back(static_cast<Index>(index), std::move(value));
    if (at_ >= line_.size() || (line_[at_] != ',' && line_[at_] != '}')) {
      throw BadInput(here(open), "the row opened by { is not closed on this line; end it with }");
    }
    if (line_[at_] == ',') ++at_;
  }
  ++at_;
  skip_blanks();
  if (!at_end())
    throw BadInput(here(at_), "text follows the closing } of a row; instance weights are not read");
  std::sort(pairs_.begin(), pairs_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [index, value] : pairs_) {
    const Attribute& attribute = attributes_[static_cast<std::size_t>(index)];
    if (attribute.is_text) {
      text_into(attribute, value);
    } else if (const double number = number_in(attribute, value); number != 0.0) {
      sparse_->add(static_cast<int>(attribute.feature), number);
    }
  }
  for (const Index index : nonzero_defaults_) {
    const Attribute& attribute = attributes_[static_cast<std::size_t>(index)];
    if (!seen_[static_cast<std::size_t>(index)])
      sparse_->add(static_cast<int>(attribute.feature), attribute.left_out_number);
  }
  for (std::size_t s = 0; s < side_.size(); ++s) {
    auto& values = side_[s].values;
    if (values.size() == static_cast<std::size_t>(rows_))
      memory_->append(values, side_defaults_[s], for_texts_);
  }
  for (const auto& entry : pairs_) seen_[static_cast<std::size_t>(entry.first)] = false;
  pairs_.clear();
  memory_->give_back(row_texts);
  sparse_->end_row();
}

RawTable ArffReader::read() {
  read_header();
  finish_header();
  while (lines_.next(line_)) {
    at_ = 0;
    skip_blanks();
    if (at_end()) continue;
    const bool is_sparse = line_[at_] == '{';
    if (is_sparse ? dense_ != nullptr : sparse_ != nullptr) {
      throw BadInput(here(at_), "dense and sparse rows in one file; write all rows the same way");
    }
    if (is_sparse) {
      read_sparse_row();
    } else {
      read_dense_row();
    }
    ++rows_;
  }
  if (rows_ == 0) throw BadInput({.file = name_}, "there are no rows below @data; add at least one");
  return finish();
}

RawTable ArffReader::finish() {
  RawTable table;
  table.source = name_;
  table.notes = std::move(notes_);
  const auto p = static_cast<Index>(feature_names_.size());
  table.notes.push_back(
      fmt::format("{} rows under {} attributes", sparse_ ? "sparse" : "dense", attributes_.size()));
  if (sparse_ != nullptr) {
    table.is_sparse = true;
    sparse_->take(p).swap(table.sparse);
  } else {
    std::vector<Index> columns(static_cast<std::size_t>(p));
    for (Index j = 0; j < p; ++j) columns[static_cast<std::size_t>(j)] = j;
    table.dense = dense_->take(columns);
  }
  table.names = FeatureNames(std::move(feature_names_));
  table.side = std::move(side_);
  table.first_missing = first_missing_;
  table.first_infinite = std::move(first_infinite_);
  table.memory = memory_;
  return table;
}

}  // namespace

RawTable read_arff_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                         std::size_t block_bytes) {
  return ArffReader(bytes, name, options, block_bytes).read();
}

RawTable read_arff(const std::string& path, const ReadOptions& options) {
  const auto bytes = open_bytes(path);
  return read_arff_bytes(*bytes, path, options);
}

extern const TableReader arff_reader = {.endings = ".arff", .reads_compressed = true, .read = read_arff};

}  // namespace subspectra
