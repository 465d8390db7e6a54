#pragma once
#include "io/random_bytes.hpp"

namespace subspectra {

/// Whether HDF5's signature stands at the start or behind a user block, as in version 7.3.
[[nodiscard]] bool holds_hdf5(const RandomBytes& file);

/// matio takes a file that ends early, or whose compressed data are damaged, and fills up with zeros without
/// a word. So the elements of a version 4 or 5 file are checked first: that they fill the file exactly, that
/// compressed ones decompress to their check sum, and that numeric arrays have as many values as their
/// dimensions say. Throws BadInput. Version 7.3 is left to libhdf5, which knows the length of its file and
/// the check sums of its chunks.
void check_mat_layout(const RandomBytes& file);

}  // namespace subspectra
