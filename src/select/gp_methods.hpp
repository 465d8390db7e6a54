#pragma once
/// Soft relevance by a Gaussian process as a method of the registry: every feature weighed by its inverse
/// length-scale.
#include <vector>

#include "select/methods.hpp"

namespace subspectra {

[[nodiscard]] std::vector<MethodInfo> gp_methods();

}  // namespace subspectra
