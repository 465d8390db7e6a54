#include "core/version.hpp"

namespace subspectra {

std::string version() { return SUBSPECTRA_VERSION; }

}  // namespace subspectra
