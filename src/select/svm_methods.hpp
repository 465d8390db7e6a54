#pragma once
/// The selectors that look at support vector machines, as methods of the registry.
#include <vector>

#include "select/methods.hpp"

namespace subspectra {

[[nodiscard]] std::vector<MethodInfo> svm_methods();

}  // namespace subspectra
