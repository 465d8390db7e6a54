#pragma once
/// What a generated file is like, a choice a byte, so that a mutation of one byte changes one choice.
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace subspectra::fuzzing {

class ByteChoices {
 public:
  explicit ByteChoices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  /// 0 at the end of the bytes, so that short descriptions give plain files.
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  /// 0 to n - 1; 0 is the usual case wherever there is one.
  unsigned pick(unsigned n) { return byte() % n; }
  /// In one of so many cases something unusual.
  bool rarely(unsigned of) { return byte() % of == of - 1; }
  /// Mostly small and whole.
  double number() {
    static constexpr std::array kOdd = {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(),
                                        1e308,
                                        -1e308,
                                        5e-324,
                                        9007199254740993.0,
                                        -0.0};
    const std::uint8_t value = byte();
    if (value < 240) return static_cast<double>(value) - 100.0;
    return kOdd[value % kOdd.size()];
  }
  /// A count that is not what it should be.
  std::uint64_t absurd() {
    static constexpr std::array<std::uint64_t, 12> kCounts = {
        0,          1,          2,           255,         65536,       0x7fffffff,
        0x80000000, 0xffffffff, 1ULL << 40U, 1ULL << 48U, 1ULL << 62U, ~0ULL};
    return kCounts[byte() % kCounts.size()];
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace subspectra::fuzzing
