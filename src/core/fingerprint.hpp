#pragma once
/// A hash that names a problem in a checkpoint or a part, and finds a set in a pool: FNV-1a, 64 bits. It
/// tells what differs by accident, not what somebody has made to look the same.
#include <cstddef>
#include <cstdint>
#include <string>

namespace subspectra {

class Fingerprint {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash_ = (hash_ ^ bytes[i]) * 1099511628211ULL;
  }
  template <class T>
  void add_value(const T& value) {
    add(&value, sizeof value);
  }
  /// A text with its length, so that "ab", "c" is not "a", "bc".
  void add_text(const std::string& text) {
    add_value(text.size());
    add(text.data(), text.size());
  }
  /// Eight bytes at once, for tables: every bit of the word meets the upper and, shifted, the lower half.
  void add_word(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15ULL;
    hash_ ^= hash_ >> 29U;
  }
  [[nodiscard]] std::uint64_t number() const { return hash_; }
  [[nodiscard]] std::string text() const;  ///< 16 hexadecimal digits

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace subspectra
