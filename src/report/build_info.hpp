#pragma once
#include <string>

namespace subspectra {

/// A few lines for --version: BLAS and its core type, threads, compiler, libraries.
[[nodiscard]] std::string build_info();

}  // namespace subspectra
