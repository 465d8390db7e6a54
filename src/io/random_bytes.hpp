#pragma once
/// Bytes at any offset, of a file or of memory.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/byte_source.hpp"

namespace subspectra {

class RandomBytes {
 public:
  explicit RandomBytes(std::string name) : name_(std::move(name)) {}
  RandomBytes(const RandomBytes&) = delete;
  RandomBytes& operator=(const RandomBytes&) = delete;
  virtual ~RandomBytes() = default;
  [[nodiscard]] const std::string& name() const { return name_; }  ///< the file, for messages
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// All of `buffer`; throws BadInput when the file ends before.
  virtual void read_at(std::uint64_t offset, std::span<char> buffer) const = 0;

 private:
  std::string name_;
};

/// Throws BadInput for a missing path, a directory, no permission, an empty file.
[[nodiscard]] std::unique_ptr<RandomBytes> open_random(const std::string& path);
/// `content` must outlive the result.
[[nodiscard]] std::unique_ptr<RandomBytes> memory_random(std::string_view content, const std::string& name);
/// `size` bytes from `offset` on, in blocks.
[[nodiscard]] std::unique_ptr<ByteSource> range_source(const RandomBytes& bytes, std::uint64_t offset,
                                                       std::uint64_t size);

}  // namespace subspectra
