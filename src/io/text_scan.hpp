#pragma once
/// What the text readers share: missing-value tokens and lines.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory.hpp"
#include "core/text.hpp"
#include "io/byte_source.hpp"

namespace subspectra {

/// Empty, NA, N/A, NaN, null, #N/A, <NA>, ? (letters in any case): a missing value in any column.
[[nodiscard]] bool is_missing_token(std::string_view text);

/// "; write 1.5 for the decimal comma in 1,5" where the text looks like that, else "".
[[nodiscard]] std::string decimal_comma_hint(std::string_view text);

/// All of `text` as a number with a decimal comma and no point: 1,5 or -0,25e3.
[[nodiscard]] bool parse_decimal_comma(std::string_view text, double& value);

/// "a,b" as names; none for the words "auto" and "none" of an option.
[[nodiscard]] std::vector<std::string> names_in_list(std::string_view list);

/// A block of bytes that grows with the longest token in it.
class GrowingBytes {
 public:
  GrowingBytes(std::size_t size, MemoryBudget& memory, MemoryPurpose purpose);
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;
  ~GrowingBytes() { memory_.give_back(size_); }
  /// Keeps what is in it; pointers into it are void. Throws Error where that goes beyond the memory.
  void grow();
  [[nodiscard]] char* data() { return bytes_.get(); }
  [[nodiscard]] const char* data() const { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  char& operator[](std::size_t i) { return bytes_.get()[i]; }
  char operator[](std::size_t i) const { return bytes_.get()[i]; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }  // NOLINT(*-no-malloc,*-owning-memory)
  };
  MemoryBudget& memory_;
  MemoryPurpose purpose_;
  std::size_t size_ = 0;
  std::unique_ptr<char, Free> bytes_;
};

/// Lines of any length, ended by LF, CRLF or a lone CR. A UTF-8 byte-order mark is skipped; UTF-16 is
/// refused.
class LineReader {
 public:
  LineReader(ByteSource& bytes, std::string name, std::size_t block_bytes, MemoryBudget& memory);
  /// False at the end. `line` lives until the next call.
  bool next(std::string_view& line);
  [[nodiscard]] long number() const { return number_; }  ///< of the line given last, from 1

 private:
  bool refill();

  ByteSource& bytes_;
  std::string name_;
  GrowingBytes buffer_;
  std::size_t begin_ = 0, end_ = 0;
  long number_ = 0;
  bool after_cr_ = false;
  bool at_end_ = false;
};

/// Skips the UTF-8 mark at the front of `text` (how many bytes), or throws BadInput for UTF-16.
[[nodiscard]] std::size_t byte_order_mark(std::string_view text, const std::string& name);

}  // namespace subspectra
