#pragma once
/// A seedable generator whose numbers are the same on every platform: xoshiro256++ (Blackman & Vigna 2019)
/// seeded by SplitMix64, with our own distributions. The standard library's distributions differ between
/// implementations and are not used. Independent streams come from (seed, stream): the same pair gives the
/// same numbers whatever ran before, so parallel work takes one stream an item and does not depend on the
/// number of threads. See docs/random.md.
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "core/types.hpp"

namespace subspectra {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t next();  ///< 64 uniform bits
  double uniform();      ///< [0, 1) on the grid of 2^-53
  std::uint64_t below(
      std::uint64_t bound);  ///< uniform on 0..bound-1, without bias (Lemire's rejection); bound > 0
  double normal();           ///< N(0, 1): Marsaglia's polar method, both numbers used

  /// Fisher-Yates from the back: item i is swapped with below(i + 1).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace subspectra
