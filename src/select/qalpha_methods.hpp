#pragma once
/// Q-alpha in all its variants as methods of the registry: weights, the ranking they give, and what is known
/// of the weights.
#include <vector>

#include "select/methods.hpp"

namespace subspectra {

[[nodiscard]] std::vector<MethodInfo> qalpha_methods();

}  // namespace subspectra
