#pragma once
/// What the text readers share: missing-value tokens and lines.
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "io/byte_source.hpp"

namespace subspectra {

/// Empty, NA, N/A, NaN, null, #N/A, <NA>, ? (letters in any case): a missing value in any column.
[[nodiscard]] bool is_missing_token(std::string_view text);

/// "; write 1.5 for the decimal comma in 1,5" where the text looks like that, else "".
[[nodiscard]] std::string decimal_comma_hint(std::string_view text);

/// Lines of any length, ended by LF, CRLF or a lone CR. A UTF-8 byte-order mark is skipped; UTF-16 is
/// refused.
class LineReader {
 public:
  LineReader(ByteSource& bytes, std::string name, std::size_t block_bytes);
  /// False at the end. `line` lives until the next call.
  bool next(std::string_view& line);
  [[nodiscard]] long number() const { return number_; }  ///< of the line given last, from 1

 private:
  bool refill();

  ByteSource& bytes_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  long number_ = 0;
  bool after_cr_ = false;
  bool at_end_ = false;
};

/// Skips the UTF-8 mark at the front of `text` (how many bytes), or throws BadInput for UTF-16.
[[nodiscard]] std::size_t byte_order_mark(std::string_view text, const std::string& name);

}  // namespace subspectra
