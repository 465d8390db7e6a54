#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

[[noreturn]] void fail(const std::string& path, int code) {
  throw Error(fmt::format("{}: cannot be written: {}; choose another place or make room", path,
                          std::generic_category().message(code)));
}

/// A new file in the folder of `target`; -1 and errno when there can be none. Not the target's own name with
/// something added: that could be longer than the file system allows.
int open_beside(const std::string& target, mode_t mode, std::string& name) {
  const auto folder = std::filesystem::path(target).parent_path();
  std::random_device random;
  int descriptor = -1;
  for (int attempt = 0; attempt < 100 && descriptor < 0; ++attempt) {
    name = (folder / fmt::format(".subspectra.{:08x}", random())).string();
    descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
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

/// Through a symbolic link the file it points to is replaced (or made), not the link.
std::string link_target(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code failure;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(target, failure));
       ++links) {
    if (links == 40) fail(path, ELOOP);
    const auto next = std::filesystem::read_symlink(target, failure);
    if (failure) fail(path, failure.value());
    target = target.parent_path() / next;  // an absolute `next` replaces the whole
  }
  return target.string();
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  if (path == "/dev/stdout") {  // as it is open now: it may be a file that is appended to, or already deleted
    std::fflush(stdout);
    if (const int failure = write_all(STDOUT_FILENO, content); failure != 0) fail(path, failure);
    return;
  }
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail(path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail(path, errno);
    const int failure = write_all(descriptor, content);
    ::close(descriptor);
    if (failure != 0) fail(path, failure);
    return;
  }
  const std::string target = link_target(path);
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
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    fail(path, failure);
  }
}

}  // namespace subspectra
