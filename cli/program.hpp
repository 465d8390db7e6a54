#pragma once
#include <string>
#include <vector>

namespace subspectra::cli {

/// The whole program, given its words without its own name. Never throws; the exit code.
int run_program(const std::vector<std::string>& words);

}  // namespace subspectra::cli
