#pragma once
/// A hash that names a problem in a checkpoint and finds a set in a pool: FNV-1a, 64 bits.
#include <cstddef>
#include <cstdint>
#include <string>

namespace subspectra::search {

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
  [[nodiscard]] std::uint64_t number() const { return hash_; }
  [[nodiscard]] std::string text() const;  ///< 16 hexadecimal digits

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace subspectra::search
