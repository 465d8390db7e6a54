#pragma once
/// One NumPy array (numpy.lib.format, versions 1 to 3): its header, and its values as doubles, integers or
/// texts.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "io/byte_source.hpp"
#include "io/table_sink.hpp"

namespace subspectra {

struct NpyType {
  char kind = 'f';       ///< NumPy's letter: b i u f c U S O V M m; '[' for a structured type
  std::size_t size = 8;  ///< bytes of an element
  bool big_endian = false;
  std::string text;  ///< as written: "<f8"

  [[nodiscard]] bool is_number() const;  ///< bool, ints, floats up to 8 bytes
  [[nodiscard]] bool is_text() const { return kind == 'U' || kind == 'S'; }
  [[nodiscard]] bool is_integer() const { return kind == 'b' || kind == 'i' || kind == 'u'; }
};

class NpyArray {
 public:
  /// Reads the header from `bytes`, which hold `size` bytes in all. Throws BadInput at `where` for a header
  /// that is not one, and for a shape that `size` cannot hold.
  NpyArray(std::unique_ptr<ByteSource> bytes, std::uint64_t size, Location where);

  [[nodiscard]] const NpyType& type() const { return type_; }
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool column_major() const { return fortran_order_; }
  [[nodiscard]] const Location& where() const { return where_; }
  [[nodiscard]] std::uint64_t trailing_bytes() const { return trailing_; }
  /// "float64 array of 72 x 7129"
  [[nodiscard]] std::string description() const;

  /// Throws BadInput, with the way out, unless the elements are numbers (texts).
  void require_numbers() const;
  void require_numbers_or_texts() const;

  /// The next elements, in file order.
  void read_doubles(std::span<double> into);
  void read_integers(std::span<std::int64_t> into);
  /// Every element as text; numbers in their shortest form, NaN as "". They stay taken of `memory`.
  [[nodiscard]] std::vector<std::string> read_texts(MemoryBudget& memory);
  /// Reads to the end, so that a check sum behind the values is compared.
  void finish();

 private:
  [[noreturn]] void damaged(const std::string& what) const;
  void read_exactly(std::span<char> into);
  /// At least one and at most `most` elements, as bytes in the machine's order.
  std::span<const char> next_elements(std::uint64_t most);

  std::unique_ptr<ByteSource> bytes_;
  Location where_;
  NpyType type_;
  bool fortran_order_ = false;
  std::vector<std::uint64_t> shape_;
  std::uint64_t count_ = 0, done_ = 0, trailing_ = 0;
  std::vector<char> block_;
};

/// Streams a 2-D array of numbers into `sink` as the dense table.
void stream_dense(NpyArray& array, TableSink& sink);

}  // namespace subspectra
