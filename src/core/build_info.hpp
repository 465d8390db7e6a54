#pragma once
#include <string>

namespace subspectra {

[[nodiscard]] std::string version();  ///< "0.1.0"
[[nodiscard]] std::string
build_info();  ///< a few lines for --version: BLAS and its core type, threads, compiler
}  // namespace subspectra
