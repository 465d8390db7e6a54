#pragma once
/// What the mutators of structured files share.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "choices.hpp"

/// libFuzzer's own mutation of bytes; the size afterwards.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace subspectra::fuzzing {

using Bytes = std::vector<std::uint8_t>;
using Chance = std::minstd_rand;

/// 0 to n - 1.
inline std::size_t below(Chance& chance, std::size_t n) { return chance() % n; }

inline void mutate_bytes(Bytes& bytes, std::size_t most) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max<std::size_t>(most, size));
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, most));
}

/// A few bytes written over where they stand: everything else keeps its place, as offsets in a file need.
inline void poke(Bytes& bytes, std::size_t end, Chance& chance) {
  if (end == 0) return;
  for (std::size_t times = 1 + below(chance, 2); times > 0; --times) {
    const std::size_t at = below(chance, end);
    const std::size_t kind = below(chance, 6);
    if (kind == 0) {
      bytes[at] ^= static_cast<std::uint8_t>(1U << below(chance, 8));
    } else if (kind == 1) {
      bytes[at] = static_cast<std::uint8_t>(chance());
    } else if (kind == 2) {
      bytes[at] = static_cast<std::uint8_t>(bytes[at] + 1U - 2U * below(chance, 2));
    } else if (kind == 3) {  // what stands elsewhere
      const std::size_t from = below(chance, end);
      const std::size_t size = std::min<std::size_t>({1 + below(chance, 8), end - from, end - at});
      std::memmove(bytes.data() + at, bytes.data() + from, size);
    } else {
      const std::array<std::uint8_t, 1> which = {static_cast<std::uint8_t>(chance())};
      const std::uint64_t value = ByteChoices(which).absurd();
      const std::size_t size = std::min<std::size_t>(std::size_t{1} << below(chance, 4), end - at);
      std::memcpy(bytes.data() + at, &value, size);
    }
  }
}

/// What a custom mutator gives back: `bytes` if they fit, else what libFuzzer makes of the old ones.
inline std::size_t mutated(const Bytes& bytes, std::uint8_t* data, std::size_t size, std::size_t most) {
  if (bytes.empty() || bytes.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace subspectra::fuzzing
