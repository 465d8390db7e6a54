#pragma once
/// For readers that open files by name: the bytes as a file in memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

namespace subspectra::fuzzing {

class TemporaryInput {
 public:
  explicit TemporaryInput(std::span<const std::uint8_t> bytes, const std::string& ending = {})
      : path_(fmt::format("{}/subspectra-fuzz-{}{}", ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                          ::getpid(), ending)) {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while (file >= 0 && !bytes.empty()) {
      const ssize_t put = ::write(file, bytes.data(), bytes.size());
      if (put <= 0) break;
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    if (file < 0 || !bytes.empty()) {
      std::perror(path_.c_str());
      std::abort();
    }
    ::close(file);
  }
  TemporaryInput(const TemporaryInput&) = delete;
  TemporaryInput& operator=(const TemporaryInput&) = delete;
  ~TemporaryInput() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace subspectra::fuzzing
