#pragma once
#include <string>

namespace subspectra {

[[nodiscard]] std::string version();  ///< "0.1.0"
/// Of the HDF5 that subspectra-decode was built with; it is not linked here. "" without one.
[[nodiscard]] std::string hdf5_version();

}  // namespace subspectra
