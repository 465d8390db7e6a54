#include <fmt/format.h>

#include "io/npy_array.hpp"
#include "io/random_bytes.hpp"
#include "io/readers.hpp"
#include "io/table_builder.hpp"

namespace subspectra {
namespace {

RawTable read_npy_from(const RandomBytes& file, const ReadOptions& options) {
  NpyArray array(range_source(file, 0, file.size()), file.size(), {.file = file.name()});
  array.require_numbers();
  if (array.shape().size() == 1) {
    throw BadInput(
        array.where(),
        fmt::format(
            "holds a 1-D array ({} values) where a table of samples x features is needed; save x.reshape(-1, 1) for one feature, or put X and y together with np.savez",
            array.count()));
  }
  if (array.shape().size() != 2) {
    throw BadInput(
        array.where(),
        fmt::format(
            "holds a {} where a table of samples x features (2-D) is needed; save X.reshape(len(X), -1)",
            array.description()));
  }
  TableBuilder builder(file.name(), {.most_values = static_cast<double>(file.size()),
                                     .memory_limit = options.memory_limit.bytes});
  builder.note(
      fmt::format("{}, {} order, no labels", array.description(), array.column_major() ? "Fortran" : "C"));
  if (array.trailing_bytes() > 0) {
    builder.note(fmt::format("{} bytes after the array are not read", array.trailing_bytes()));
  }
  stream_dense(array, builder);
  return builder.finish();
}

}  // namespace

RawTable read_npy(const std::string& path, const ReadOptions& options) {
  return read_npy_from(*open_random(path), options);
}

RawTable read_npy_bytes(std::string_view content, const std::string& name, const ReadOptions& options) {
  return read_npy_from(*memory_random(content, name), options);
}

extern const TableReader npy_reader = {.endings = ".npy", .read = read_npy};

}  // namespace subspectra
