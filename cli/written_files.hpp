#pragma once
/// What a run writes must be none of the files it reads, and no two of its outputs one file.
#include "command.hpp"

namespace subspectra::cli {

/// Throws InvalidArgument, before anything is read or written, when an option that writes (-o, --checkpoint,
/// --events, --details, --write-table, --write-names, --report) names a file that another operand or option
/// of the same run names, by whatever path. --checkpoint may be the file of
/// --resume: a search that goes on keeps its state where it was.
void refuse_overwriting(const CommandPage& page, const Arguments& arguments);

}  // namespace subspectra::cli
