#pragma once
#include <string>

namespace subspectra {

[[nodiscard]] std::string version();  ///< "0.1.0"

}  // namespace subspectra
