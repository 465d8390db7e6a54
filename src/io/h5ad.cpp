/// AnnData files: decoded in a process of their own (isolated.hpp, companions/decode/h5ad.cpp).
#include <fmt/format.h>

#include "io/isolated.hpp"
#include "io/readers.hpp"

namespace subspectra {

RawTable read_h5ad([[maybe_unused]] const std::string& path, [[maybe_unused]] const ReadOptions& options) {
#if SUBSPECTRA_HDF5
  return read_isolated(path, "HDF5 (h5ad)", installed_decoder("h5ad"),
                       {.memory_limit = options.memory_limit.bytes});
#else
  throw Error(fmt::format(
      "{}: this Subspectra was built without HDF5 (SUBSPECTRA_HDF5=OFF); save the table as CSV or NPZ",
      path));
#endif
}

extern const TableReader h5ad_reader = {.endings = ".h5ad", .read = read_h5ad};

}  // namespace subspectra
