#include "io/random_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

class RandomFileBytes final : public RandomBytes {
 public:
  explicit RandomFileBytes(const std::string& path) : RandomBytes(path), size_(checked_file_size(path)) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0)
      throw BadInput({.file = path}, fmt::format("cannot be read ({})", std::strerror(errno)));
  }
  RandomFileBytes(const RandomFileBytes&) = delete;
  RandomFileBytes& operator=(const RandomFileBytes&) = delete;
  ~RandomFileBytes() override { ::close(descriptor_); }

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  void read_at(std::uint64_t offset, std::span<char> buffer) const override {
    while (!buffer.empty()) {
      const ssize_t got = ::pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw BadInput({.file = name()}, fmt::format("cannot be read ({})", std::strerror(errno)));
      if (got == 0)
        throw BadInput({.file = name()}, "truncated: the file ends early; copy or write it again");
      offset += static_cast<std::uint64_t>(got);
      buffer = buffer.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  std::uint64_t size_;
  int descriptor_ = -1;
};

class RandomMemoryBytes final : public RandomBytes {
 public:
  RandomMemoryBytes(std::string_view content, const std::string& name)
      : RandomBytes(name), content_(content) {}
  [[nodiscard]] std::uint64_t size() const override { return content_.size(); }
  void read_at(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset > content_.size() || buffer.size() > content_.size() - offset) {
      throw BadInput({.file = name()}, "truncated: the file ends early; copy or write it again");
    }
    std::copy_n(content_.data() + offset, buffer.size(), buffer.data());
  }

 private:
  std::string_view content_;
};

class RangeSource final : public ByteSource {
 public:
  RangeSource(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t size)
      : bytes_(bytes), offset_(offset), left_(size) {}
  std::size_t read(std::span<char> buffer) override {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left_));
    bytes_.read_at(offset_, buffer.first(n));
    offset_ += n;
    left_ -= n;
    return n;
  }

 private:
  const RandomBytes& bytes_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

}  // namespace

std::unique_ptr<RandomBytes> open_random(const std::string& path) {
  return std::make_unique<RandomFileBytes>(path);
}

std::unique_ptr<RandomBytes> memory_random(std::string_view content, const std::string& name) {
  return std::make_unique<RandomMemoryBytes>(content, name);
}

std::unique_ptr<ByteSource> range_source(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t size) {
  return std::make_unique<RangeSource>(bytes, offset, size);
}

}  // namespace subspectra
