/// MATLAB files: decoded in a process of their own (isolated.hpp, companions/decode/mat.cpp).
#include <fmt/format.h>

#include "io/isolated.hpp"
#include "io/readers.hpp"

namespace subspectra {

RawTable read_mat([[maybe_unused]] const std::string& path, [[maybe_unused]] const ReadOptions& options) {
#if SUBSPECTRA_MAT
  return read_isolated(path, "MAT", installed_decoder("mat"), {.memory_limit = options.memory_limit.bytes});
#else
  throw Error(fmt::format(
      "{}: this Subspectra was built without MAT files (SUBSPECTRA_MAT=OFF); save the table as CSV or NPZ",
      path));
#endif
}

extern const TableReader mat_reader = {.endings = ".mat", .read = read_mat};

}  // namespace subspectra
