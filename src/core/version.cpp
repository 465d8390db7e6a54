#include "core/version.hpp"

namespace subspectra {

std::string version() { return SUBSPECTRA_VERSION; }

std::string hdf5_version() { return SUBSPECTRA_HDF5_VERSION; }

}  // namespace subspectra
