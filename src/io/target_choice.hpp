#pragma once
/// Which column is the target where none is named.
#include "io/assembly.hpp"

namespace subspectra {

/// By its name, by what the format says, or by its kind; what else it could have been becomes a warning.
[[nodiscard]] FoundColumn default_target(Assembly& assembly);

/// Fills data.no_target: why there is no target, what could be one, and how to say so.
void explain_no_target(Assembly& assembly);

}  // namespace subspectra
