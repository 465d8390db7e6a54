#pragma once
/// Results are written to a temporary name beside the target and renamed: a reader sees the old file or the
/// new one.
#include <stop_token>
#include <string>
#include <string_view>

namespace subspectra {

/// Writes `content` to `path`, replacing it atomically; the folder is on disk, too, when this returns.
/// Through a symbolic link the file is replaced that the system finds there. Devices, pipes and what is open
/// already (/dev/stdout, /dev/fd/3) are written as they are; `stop` ends waiting for somebody to read a pipe.
/// Throws Error naming the path and the system's reason; leaves nothing behind.
void write_file_atomically(const std::string& path, std::string_view content,
                           const std::stop_token& stop = {});

/// Whether `path` names a file that is open already.
[[nodiscard]] bool is_open_descriptor(std::string_view path);

/// 0, or the system's reason (errno) why no file can be made in `folder`: some places let nobody make files
/// whatever their permissions say (/proc, a full or read-only disk), so that it is tried.
[[nodiscard]] int new_file_failure(const std::string& folder);

/// Removes from `folder` what runs of this user that were killed have left of their temporary files. One that
/// is being written is locked, and stays.
void remove_stale_temporaries(const std::string& folder);

/// Throws Error when `path` clearly cannot be written (no such directory, no permission): said before the
/// work, not after it; removes there what killed runs have left. "" and "-" pass.
void require_writable(const std::string& path);

}  // namespace subspectra
