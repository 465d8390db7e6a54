#pragma once
/// Manual pages, from the descriptions that the help pages are made of.
#include <string>

#include "command.hpp"

namespace subspectra::cli {

/// subspectra(1).
[[nodiscard]] std::string program_manual();
/// subspectra-COMMAND(1).
[[nodiscard]] std::string command_manual(const CommandPage& page);

}  // namespace subspectra::cli
