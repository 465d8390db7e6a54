#pragma once
/// Work that methods on the same rows share can be counted: a number no answer depends on.
#include <cstdint>

namespace subspectra {

/// How many moments (data/moments.hpp) this process has computed so far, of whatever rows and features.
[[nodiscard]] std::uint64_t moments_computed();

}  // namespace subspectra
