#pragma once
/// What a decoder that has been taken over could still do: read the one file it was started for and write
/// into its pipe.
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SUBSPECTRA_SANITIZED 1
#endif
#endif

namespace subspectra::decoding {

/// Opens the file to decode, as the last thing that opens anything: from `close_sandbox` on `open` and
/// `fopen` of this path, from whichever library, give that file again, and everything else is refused.
void open_input(const std::string& path);

/// Leaves the process the system calls of a computation, reading what is open and writing to `pipe`
/// (seccomp); every other one fails with EPERM. False where the kernel has no such filters, or under a
/// sanitizer, which needs more than that.
bool close_sandbox(int pipe);

}  // namespace subspectra::decoding
