#pragma once
/// For the formats whose libraries open files by name: the bytes as a file in memory.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace subspectra::fuzzing {

class TemporaryInput {
 public:
  explicit TemporaryInput(std::span<const std::uint8_t> bytes, const std::string& ending = {}) {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder =
        std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = (folder / ("subspectra-fuzz-" + std::to_string(::getpid()) + ending)).string();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryInput(const TemporaryInput&) = delete;
  TemporaryInput& operator=(const TemporaryInput&) = delete;
  ~TemporaryInput() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace subspectra::fuzzing
