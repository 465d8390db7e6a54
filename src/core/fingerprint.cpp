#include "core/fingerprint.hpp"

#include <fmt/format.h>

namespace subspectra {

std::string Fingerprint::text() const { return fmt::format("{:016x}", hash_); }

}  // namespace subspectra
