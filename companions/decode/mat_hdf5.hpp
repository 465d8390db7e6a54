#pragma once
#include <string>

#include "io/table_sink.hpp"

namespace subspectra {

/// Whether every array of the HDF5 file says its MATLAB_class as MATLAB does, in a text ended by a zero.
/// matio knows no other way; h5py, for one, fills up with zeros and leaves the ending zero out. True also for
/// a file that cannot be opened.
[[nodiscard]] bool is_marked_by_matlab(const std::string& path);

/// The other ones: X, Y or y, names and the vectors beside them, read by libhdf5. MATLAB stores arrays
/// transposed, others as they are; labels tell which of the two X is, and where they cannot, MATLAB's marks
/// do: `has_header`, or a MATLAB_class of any kind.
void decode_mat_hdf5(const std::string& path, TableSink& sink, bool has_header);

}  // namespace subspectra
