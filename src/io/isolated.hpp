#pragma once
/// libhdf5 and matio were not written for hostile bytes: a damaged file can make them crash, loop for ever or
/// ask for any amount of memory. So they only ever run in a program of their own, subspectra-decode, which
/// sends the decoded table through a pipe; whatever happens to it becomes one BadInput here. Nothing of them
/// is linked to this library. docs/formats/isolation.md describes how.
#include <sys/types.h>

#include <string>

#include "io/table_builder.hpp"

namespace subspectra {

struct IsolationLimits {
  /// CPU seconds, and seconds without a byte; 0: 20 and 60, and one more of each for a MB of file.
  double patience_s = 0;
  std::uint64_t memory_limit = 0;  ///< as in memory_budget()
};

/// A program that decodes (companions/decode), and the name it has for the format.
struct DecoderProgram {
  std::string path;
  std::string format;
};

/// The one that is installed with this library. Throws Error with the places that were looked at.
[[nodiscard]] DecoderProgram installed_decoder(const std::string& format);

/// A decoder stopped talking before the end; why is seen from its exit status.
struct DecoderSilent {
  bool timed_out = false;
};

/// The messages of a decoder, which come from `descriptor`, into `builder`, up to the last one. It may have
/// been taken over by the file it reads, so its words are checked like the bytes of any file. Waits
/// `patience_s` for the next byte. `process`, where it is not 0, is held to the memory that the builder
/// leaves. Throws BadInput, Error (what the decoder says) or DecoderSilent.
void read_messages(int descriptor, double patience_s, const std::string& path, const std::string& kind,
                   TableBuilder& builder, pid_t process = 0);

/// The table that `decoder` makes of the file at `path`. `kind` names the format in messages: "HDF5", "MAT".
/// Throws BadInput (bad file; the decoder died, hung or ran out of memory) or Error (no process to be had,
/// interrupted).
[[nodiscard]] RawTable read_isolated(const std::string& path, const std::string& kind,
                                     const DecoderProgram& decoder, IsolationLimits limits = {});

}  // namespace subspectra
