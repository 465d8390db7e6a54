#pragma once
/// Results are written to a temporary name beside the target and renamed: a reader sees the old file or the
/// new one.
#include <string>
#include <string_view>

namespace subspectra {

/// Writes `content` to `path`, replacing it atomically. A relative symbolic link is followed; special files
/// (a pipe, /dev/stdout) are written directly. Throws Error naming the path and the system's reason; leaves
/// nothing behind.
void write_file_atomically(const std::string& path, std::string_view content);

}  // namespace subspectra
