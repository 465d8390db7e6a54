#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

[[noreturn]] void fail(const std::string& path, int code) {
  throw Error(fmt::format("{}: cannot be written: {}; choose another place or make room", path,
                          std::generic_category().message(code)));
}

constexpr std::string_view kTemporary = ".subspectra.";
constexpr int kDigits = 8;

/// A new file in the folder of `target`, locked; -1 and errno when there can be none. Not the target's own
/// name with something added: that could be longer than the file system allows.
int open_beside(const std::string& target, mode_t mode, std::string& name) {
  const auto folder = std::filesystem::path(target).parent_path();
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = (folder / fmt::format("{}{:0{}x}", kTemporary, random(), kDigits)).string();
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return -1;
    // Between the two calls it may have been taken for a stale one, and removed.
    struct stat made {};
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor);
    } else if (::fstat(descriptor, &made) == 0 && made.st_nlink == 0) {
      ::close(descriptor);
    } else {
      return descriptor;
    }
  }
  errno = EEXIST;
  return -1;
}

bool is_temporary(std::string_view name) {
  if (!name.starts_with(kTemporary)) return false;
  name.remove_prefix(kTemporary.size());
  return name.size() == kDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Everything, and on disk: a full disk often shows only at fsync or close. Returns 0 or errno.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The path by which the system itself knows the open file.
std::string path_of(int descriptor) {
  std::error_code failure;
  return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), failure).string();
}

/// The name under which a new file takes the place of what `path` leads to. Links are followed by the kernel,
/// by its rules of who may follow whose; a link to nothing makes it create the file.
std::string replaced_name(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, failure))) return path;
  int descriptor = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT)
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(path, errno);
  std::string name = path_of(descriptor);
  ::close(descriptor);
  if (name.empty()) fail(path, ENOENT);
  return name;
}

/// The number of an open file that `path` names, or -1: it may be appended to, or have no name any more, so
/// that nothing can take its place.
int open_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    path.remove_prefix(folder.size());
    int number = -1;
    const auto [end, failure] = std::from_chars(path.data(), path.data() + path.size(), number);
    return failure == std::errc() && end == path.data() + path.size() ? number : -1;
  }
  return -1;
}

/// A device or a pipe. Nobody may be there to read a pipe: then this waits, as every program does, but can be
/// stopped.
int open_special(const std::string& path, const std::stop_token& stop) {
  const bool stopped_before = stop.stop_requested();  // what was found until then is still to be written
  constexpr auto kPause = std::chrono::milliseconds(20);
  while (true) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0) {
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
      return descriptor;
    }
    if (errno != ENXIO && errno != EINTR) fail(path, errno);
    if (!stopped_before && stop.stop_requested())
      throw Error(fmt::format("{}: cannot be written: stopped while nobody read this pipe", path));
    std::this_thread::sleep_for(kPause);
  }
}

/// A new name is on disk only when its folder is.
void sync_folder(const std::string& target) {
  auto folder = std::filesystem::path(target).parent_path();
  if (folder.empty()) folder = ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may be written but not read
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content, const std::stop_token& stop) {
  if (const int descriptor = open_descriptor(path); descriptor >= 0) {
    std::fflush(stdout);
    if (const int failure = write_all(descriptor, content); failure != 0) fail(path, failure);
    return;
  }
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail(path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const int descriptor = open_special(path, stop);
    const int failure = write_all(descriptor, content);
    ::close(descriptor);
    if (failure != 0) fail(path, failure);
    return;
  }
  const std::string target = replaced_name(path);
  // The mode of the file that is replaced, else what the umask allows: the kernel knows it, and asking for it
  // would mean to change it for a moment, for every thread of the process.
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  std::string temporary;
  const int descriptor = open_beside(target, replaces ? 0600 : 0666, temporary);
  if (descriptor < 0) fail(path, errno);
  int failure = replaces && ::fchmod(descriptor, old.st_mode & 0777U) != 0 ? errno : 0;
  if (failure == 0) failure = write_all(descriptor, content);
  if (failure == 0 && ::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) failure = errno;
  // Renamed before it is closed: until then the lock says that it is no stale one.
  if (failure == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) failure = errno;
  if (failure != 0) ::unlink(temporary.c_str());
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure != 0) fail(path, failure);
  sync_folder(target);
}

bool is_open_descriptor(std::string_view path) { return open_descriptor(path) >= 0; }

int new_file_failure(const std::string& folder) {
  std::string name;
  const int descriptor = open_beside((std::filesystem::path(folder) / "new").string(), 0600, name);
  if (descriptor < 0) return errno;
  ::unlink(name.c_str());
  ::close(descriptor);
  return 0;
}

void remove_stale_temporaries(const std::string& folder) {
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, failure), end;
       !failure && at != end; at.increment(failure)) {
    if (!is_temporary(at->path().filename().native())) continue;
    const int descriptor = ::open(at->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat found {};
    if (::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid() &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      ::unlink(at->path().c_str());
    }
    ::close(descriptor);
  }
}

void require_writable(const std::string& path) {
  if (path.empty() || path == "-" || is_open_descriptor(path)) return;
  const auto reason = [](int code) { return std::generic_category().message(code); };
  const auto refuse = [&](int code) {
    throw Error(fmt::format("{}: cannot be written: {}; choose another place", path, reason(code)));
  };
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) refuse(EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    if (::access(path.c_str(), W_OK) != 0) refuse(errno);
    return;
  }
  auto directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) directory = ".";
  if (::access(directory.c_str(), W_OK | X_OK) != 0) refuse(errno);
  if (!std::filesystem::is_directory(directory, ignored)) refuse(ENOTDIR);
  remove_stale_temporaries(directory.string());
  if (const int failure = new_file_failure(directory.string()); failure != 0) {
    throw Error(fmt::format("{}: cannot be written: no file can be made in {} ({}); choose another place",
                            path, directory.string(), reason(failure)));
  }
}

}  // namespace subspectra
