#pragma once
/// A table in an uncompressed NPY file that is read in blocks, because it is larger than memory.
#include <cstdint>
#include <memory>

#include "data/column_source.hpp"
#include "io/random_bytes.hpp"

namespace subspectra {

struct NpyLayout {
  Index rows = 0, columns = 0;
  bool single = false;  ///< float32
  bool column_major = false;
  std::uint64_t first_byte = 0;  ///< of the values
  std::uint64_t memory_limit = 0;
  Index block_values = 1 << 16;
};

/// The file holds all values that `layout` speaks of.
[[nodiscard]] std::shared_ptr<const ColumnSource> npy_columns(std::shared_ptr<const RandomBytes> file,
                                                              const NpyLayout& layout);

}  // namespace subspectra
