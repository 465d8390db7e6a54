#include "arrow.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include <subspectra/error.hpp>

// The structs of the Arrow C data and stream interfaces, as their specification lays them out.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
// NOLINTEND(readability-identifier-naming)

namespace subspectra::python {
namespace nb = nanobind;

namespace {

/// Releases a schema or an array that a stream has handed over.
template <class T>
struct Released : T {
  Released() : T{} {}
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  Released(Released&& other) noexcept : T(other) { other.release = nullptr; }
  Released& operator=(Released&&) = delete;
  ~Released() {
    if (this->release != nullptr) this->release(this);
  }
};

bool bit(const void* bits, std::int64_t at) {
  return ((static_cast<const std::uint8_t*>(bits)[at / 8] >> (at % 8)) & 1) != 0;
}

template <class T>
void copy_numbers(const void* buffer, std::int64_t first, std::int64_t count, double* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, static_cast<const char*>(buffer) + static_cast<std::size_t>(first + i) * sizeof(T),
                sizeof(T));
    to[i] = static_cast<double>(value);
  }
}

/// One chunk of a column; false where its type holds no numbers.
bool copy_column(std::string_view format, const void* buffer, std::int64_t first, std::int64_t count,
                 double* to) {
  if (format.size() != 1) return false;
  if (format == "n") {
    for (std::int64_t i = 0; i < count; ++i) to[i] = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (std::string_view("bcCsSiIlLfg").find(format) == std::string_view::npos) return false;
  if (count == 0) return true;
  switch (format.front()) {
    case 'b':
      for (std::int64_t i = 0; i < count; ++i) to[i] = bit(buffer, first + i) ? 1.0 : 0.0;
      break;
    case 'c':
      copy_numbers<std::int8_t>(buffer, first, count, to);
      break;
    case 'C':
      copy_numbers<std::uint8_t>(buffer, first, count, to);
      break;
    case 's':
      copy_numbers<std::int16_t>(buffer, first, count, to);
      break;
    case 'S':
      copy_numbers<std::uint16_t>(buffer, first, count, to);
      break;
    case 'i':
      copy_numbers<std::int32_t>(buffer, first, count, to);
      break;
    case 'I':
      copy_numbers<std::uint32_t>(buffer, first, count, to);
      break;
    case 'l':
      copy_numbers<std::int64_t>(buffer, first, count, to);
      break;
    case 'L':
      copy_numbers<std::uint64_t>(buffer, first, count, to);
      break;
    case 'f':
      copy_numbers<float>(buffer, first, count, to);
      break;
    default:
      copy_numbers<double>(buffer, first, count, to);
  }
  return true;
}

[[noreturn]] void refuse_column(const ArrowSchema& schema, std::size_t j) {
  const ArrowSchema& column = *schema.children[j];
  const std::string name = column.name != nullptr ? column.name : fmt::format("{}", j);
  throw InvalidArgument(
      {.field = "X",
       .value = name,
       .rule = fmt::format("has a column '{}' of Arrow type '{}', which holds no numbers", name,
                           column.dictionary != nullptr ? "dictionary" : column.format),
       .way_out = "encode it, or leave it out"});
}

}  // namespace

std::pair<DenseMatrix, std::vector<std::string>> read_arrow_stream(nb::handle capsule) {
  auto* const stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* const words = stream->get_last_error(stream);
    throw Error(fmt::format("the Arrow stream failed: {}", words != nullptr ? words : std::strerror(code)));
  };
  Released<ArrowSchema> schema;
  check(stream->get_schema(stream, &schema));
  if (std::string_view(schema.format) != "+s")
    throw InvalidArgument({.field = "X",
                           .value = schema.format,
                           .rule = "is an Arrow stream of '{value}', but a table is a struct of columns"});
  const auto columns = static_cast<std::size_t>(schema.n_children);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < columns; ++j) {
    const char* const name = schema.children[j]->name;
    names.emplace_back(name != nullptr ? name : fmt::format("x{}", j));
    if (schema.children[j]->dictionary != nullptr) refuse_column(schema, j);
  }
  std::vector<Released<ArrowArray>> chunks;
  Index rows = 0;
  for (;;) {
    Released<ArrowArray> chunk;
    check(stream->get_next(stream, &chunk));
    if (chunk.release == nullptr) break;
    rows += chunk.length;
    chunks.push_back(std::move(chunk));
  }
  DenseMatrix numbers(rows, static_cast<Index>(columns));
  Index first_row = 0;
  for (const auto& chunk : chunks) {
    for (std::size_t j = 0; j < columns; ++j) {
      const ArrowArray& column = *chunk.children[j];
      // Rows of a struct: its own offset, and that of the column.
      const std::int64_t first = chunk.offset + column.offset;
      double* const to = numbers.data() + rows * static_cast<Index>(j) + first_row;
      const void* const values = column.n_buffers > 1 ? column.buffers[1] : nullptr;
      if (!copy_column(schema.children[j]->format, values, first, chunk.length, to)) refuse_column(schema, j);
      const void* const valid = column.n_buffers > 0 ? column.buffers[0] : nullptr;
      if (valid == nullptr || column.null_count == 0) continue;
      for (std::int64_t i = 0; i < chunk.length; ++i) {
        if (!bit(valid, first + i)) to[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    first_row += chunk.length;
  }
  return {std::move(numbers), std::move(names)};
}

}  // namespace subspectra::python
