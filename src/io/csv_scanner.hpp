#pragma once
/// The bytes of delimited text cut into fields and records: RFC 4180 quotes, any line end, blank lines, and
/// where it is to be found out the separator. The file is never held, fields are cut from a sliding buffer.
#include <fast_float/fast_float.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/byte_source.hpp"
#include "io/csv_records.hpp"
#include "io/raw_table.hpp"
#include "io/text_scan.hpp"

namespace subspectra {

/// What stands behind a field.
enum class FieldEnd : std::uint8_t { kSeparator, kLine, kFile };

struct ScannedField {
  std::string_view text;  ///< without quotes and outer blanks; lives until the next field is cut
  bool quoted = false;
  FieldEnd end = FieldEnd::kFile;
};

class CsvScanner {
 public:
  /// Reads as much as it takes to know the separator and the kind of decimal numbers.
  CsvScanner(ByteSource& bytes, std::string name, CsvFormat format, std::size_t block_bytes,
             std::shared_ptr<MemoryBudget> memory);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::shared_ptr<MemoryBudget>& memory() const { return memory_; }
  [[nodiscard]] bool between_blanks() const { return separator_ == ' '; }
  [[nodiscard]] bool decimal_comma() const { return decimal_comma_; }
  [[nodiscard]] long line() const { return line_; }  ///< of the next byte
  [[nodiscard]] Location where(long line, Index column) const {
    return {.file = name_, .line = line, .column = static_cast<long>(column) + 1, .place = {}};
  }
  [[nodiscard]] std::vector<std::string> take_notes() { return std::move(notes_); }

  /// Throws BadInput where the first line is one field that holds another separator.
  void check_separator(const CsvRecord& first, bool is_table) const;

  /// Moves to the first byte of the next record; false at the end of the file.
  bool skip_blank_lines();
  [[nodiscard]] ScannedField next_field(Index column);
  /// The short way of the common field, where fields are not between blanks: a finite number, the separator
  /// or the line feed behind it in the buffer, too. False, and nothing is read, for every other one.
  bool take_number(double& slot, FieldEnd& end) {
    const char* const last = buffer_.data() + end_;
    double value = 0.0;
    const auto [stop, error] = fast_float::from_chars(buffer_.data() + begin_, last, value);
    // Cut short by the end of the buffer, the number may go on: then next_field() looks again.
    if (error != std::errc() || stop == last || (*stop != separator_ && *stop != '\n') ||
        !std::isfinite(value))
      return false;
    slot = value;
    begin_ = static_cast<std::size_t>(stop - buffer_.data()) + 1;
    end = *stop == separator_ ? FieldEnd::kSeparator : FieldEnd::kLine;
    if (end == FieldEnd::kLine) ++line_;
    return true;
  }
  /// False at the end of the file. Its texts are counted until give_back_texts().
  bool next_record(CsvRecord& record);
  [[nodiscard]] std::size_t counted_texts() const { return recorded_; }  ///< bytes
  void give_back_texts() { memory_->give_back(std::exchange(recorded_, 0)); }

 private:
  bool refill();
  void skip_byte_order_mark();
  void detect_format(const CsvFormat& format);
  [[nodiscard]] std::array<std::string_view, 2> first_lines();
  bool available(std::size_t i) { return i < end_ - begin_ || refill(); }
  [[nodiscard]] char at(std::size_t i) const { return buffer_[begin_ + i]; }
  [[nodiscard]] bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  [[nodiscard]] bool ends_field(char c) const {
    return c == separator_ || c == '\n' || c == '\r' || (c == '\t' && between_blanks());
  }
  void skip_line_feed();
  FieldEnd finish_field(std::size_t length);
  ScannedField quoted_field(std::size_t start, Index column);

  ByteSource& bytes_;
  std::string name_;
  char separator_;
  bool decimal_comma_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_fields_;
  GrowingBytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the unread part of buffer_
  long line_ = 1;                    ///< of the byte at begin_
  bool at_end_ = false;              ///< the source has given its last byte
  bool after_cr_ = false;            ///< a line feed that comes next belongs to the line end already seen
  std::size_t recorded_ = 0;         ///< bytes taken for the texts of records
  std::vector<std::string> notes_;
};

}  // namespace subspectra
