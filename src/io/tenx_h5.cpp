/// The .h5 files of 10x Genomics: decoded in a process of their own (isolated.hpp,
/// companions/decode/tenx.cpp).
#include <fmt/format.h>

#include "io/isolated.hpp"
#include "io/readers.hpp"

namespace subspectra {

RawTable read_tenx_h5([[maybe_unused]] const std::string& path, [[maybe_unused]] const ReadOptions& options) {
#if SUBSPECTRA_HDF5
  RawTable table = read_isolated(path, "HDF5 (10x)", installed_decoder("10x"),
                                 {.memory_limit = options.memory_limit.bytes});
  for (SideColumn& side : table.side) side.is_id = true;  // the barcodes
  table.samples_in_rows = true;
  return table;
#else
  throw Error(fmt::format(
      "{}: this Subspectra was built without HDF5 (SUBSPECTRA_HDF5=OFF); save the table as a 10x folder",
      path));
#endif
}

extern const TableReader tenx_h5_reader = {.endings = ".h5", .read = read_tenx_h5};

}  // namespace subspectra
