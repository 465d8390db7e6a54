#include <fmt/format.h>

#include <memory>

#include "io/npy_array.hpp"
#include "io/npy_columns.hpp"
#include "io/random_bytes.hpp"
#include "io/readers.hpp"
#include "io/table_builder.hpp"

namespace subspectra {
namespace {

/// Numbers that are doubles but for their precision, and rows and columns that a table may have.
bool may_stay_in_file(const NpyArray& array) {
  const NpyType& type = array.type();
  return type.kind == 'f' && !type.big_endian &&
         (type.size == sizeof(float) || type.size == sizeof(double)) && array.count() > 0;
}

/// `shared` is the file again where its table may be read in blocks; null: it must fit into memory.
RawTable read_npy_from(const RandomBytes& file, const std::shared_ptr<const RandomBytes>& shared,
                       const ReadOptions& options) {
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
  if (shared && may_stay_in_file(array) &&
      static_cast<double>(array.count()) * sizeof(double) > static_cast<double>(builder.memory().left())) {
    RawTable table;
    table.source = file.name();
    table.columns = npy_columns(
        shared, {.rows = static_cast<Index>(array.shape()[0]),
                 .columns = static_cast<Index>(array.shape()[1]),
                 .single = array.type().size == sizeof(float),
                 .column_major = array.column_major(),
                 .first_byte = file.size() - array.trailing_bytes() - array.count() * array.type().size,
                 .memory_limit = options.memory_limit.bytes});
    table.names = FeatureNames(table.columns->columns());
    table.notes.push_back(fmt::format("{}, {} order, no labels; larger than memory: read in blocks",
                                      array.description(), array.column_major() ? "Fortran" : "C"));
    table.memory = std::make_shared<MemoryBudget>(options.memory_limit.bytes);
    return table;
  }
  stream_dense(array, builder);
  return builder.finish();
}

}  // namespace

RawTable read_npy(const std::string& path, const ReadOptions& options) {
  return read_npy_from(*open_random(path), nullptr, options);
}

RawTable read_npy_table(const std::string& path, const ReadOptions& options) {
  const std::shared_ptr<const RandomBytes> file = open_random(path);
  return read_npy_from(*file, file, options);
}

RawTable read_npy_bytes(std::string_view content, const std::string& name, const ReadOptions& options) {
  return read_npy_from(*memory_random(content, name), nullptr, options);
}

extern const TableReader npy_reader = {.endings = ".npy", .read = read_npy_table};

}  // namespace subspectra
