#include "io/csv_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace subspectra {

CsvScanner::CsvScanner(ByteSource& bytes, std::string name, CsvFormat format, std::size_t block_bytes,
                       std::shared_ptr<MemoryBudget> memory)
    : bytes_(bytes),
      name_(std::move(name)),
      separator_(format.separator),
      decimal_comma_(format.decimal_comma),
      memory_(std::move(memory)),
      for_fields_{.what = fmt::format("reading the first lines of {}", name_),
                  .advice = "check that the file is a table, or raise ⟨memory_limit⟩"},
      buffer_(
          std::max<std::size_t>(block_bytes, 4), *memory_,
          {.what = fmt::format("a field of {}", name_),
           .advice = "check that the file is a table and its quotes are closed, or raise ⟨memory_limit⟩"}) {
  memory_->expect(bytes_.share_read());
  skip_byte_order_mark();
  if (format.detect != CsvDetect::kNothing) detect_format(format);
}

bool CsvScanner::refill() {
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

void CsvScanner::skip_byte_order_mark() {
  while (end_ < 3 && refill()) {
  }
  begin_ = byte_order_mark({buffer_.data(), end_}, name_);
}

/// The first two lines as far as they are in a block, or in what the two take of a smaller one: views until
/// bytes are read again.
std::array<std::string_view, 2> CsvScanner::first_lines() {
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

namespace {

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

}  // namespace

/// The separator and the kind of decimal numbers, from the first two lines.
void CsvScanner::detect_format(const CsvFormat& format) {
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
  if (format.detect == CsvDetect::kSemicolons) {
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
  if (format.detect == CsvDetect::kSeparator && separator_ != ',' && !decimal_comma_) {
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
  if (separator_ == format.separator && format.detect == CsvDetect::kSemicolons) return;
  const std::string_view what = separator_ == '\t'  ? "tabs"
                                : separator_ == ';' ? "semicolons"
                                : separator_ == ',' ? "commas"
                                                    : "blanks";
  notes_.push_back(fmt::format("fields between {}", what));
}

void CsvScanner::skip_line_feed() {
  if (!after_cr_) return;
  after_cr_ = false;
  if (available(0) && at(0) == '\n') ++begin_;
}

/// Moves to the first byte of the next record; false at the end of the file.
bool CsvScanner::skip_blank_lines() {
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
FieldEnd CsvScanner::finish_field(std::size_t length) {
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

ScannedField CsvScanner::next_field(Index column) {
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

ScannedField CsvScanner::quoted_field(std::size_t start, Index column) {
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

bool CsvScanner::next_record(CsvRecord& record) {
  if (!skip_blank_lines()) return false;
  record.line = line_;
  while (true) {
    const ScannedField field = next_field(static_cast<Index>(record.fields.size()));
    memory_->make_room(record.fields, for_fields_);
    memory_->grow(MemoryBudget::on_heap(field.text.size()), for_fields_);
    recorded_ += MemoryBudget::on_heap(field.text.size());
    record.fields.push_back({.text = std::string(field.text), .quoted = field.quoted});
    if (field.end != FieldEnd::kSeparator) return true;
  }
}

void CsvScanner::check_separator(const CsvRecord& first, bool is_table) const {
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

}  // namespace subspectra
