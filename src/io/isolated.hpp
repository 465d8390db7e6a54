#pragma once
/// libhdf5 and matio were not written for hostile bytes: a damaged file can make them crash, loop for ever or
/// ask for any amount of memory. So they only ever run in a child process, which sends the decoded table
/// through a pipe; whatever happens to the child becomes one BadInput here. docs/formats/isolation.md
/// describes how.
#include <functional>
#include <string>

#include "io/table_sink.hpp"

namespace subspectra {

struct IsolationLimits {
  /// CPU seconds, and seconds without a byte; 0: 20 and 60, and one more of each for a MB of file.
  double patience_s = 0;
  std::uint64_t memory_limit = 0;  ///< as in memory_budget()
};

/// Runs in the child: decodes the file into the sink. Exceptions reach the caller of read_isolated as
/// BadInput or Error.
using Decoder = std::function<void(const std::string& path, TableSink& sink)>;

/// The table `decode` makes of the file at `path`. `kind` names the format in messages: "HDF5", "MAT".
/// Throws BadInput (bad file; the child died, hung or ran out of memory) or Error (no process to be had,
/// interrupted).
[[nodiscard]] RawTable read_isolated(const std::string& path, const std::string& kind, const Decoder& decode,
                                     IsolationLimits limits = {});

}  // namespace subspectra
