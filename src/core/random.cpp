#include "core/random.hpp"

#include <bit>
#include <cmath>

namespace subspectra {
namespace {

std::uint64_t split_mix(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = x;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  // The stream is scrambled before it meets the seed: neighbouring (seed, stream) pairs share no state words.
  std::uint64_t mixed_stream = stream;
  std::uint64_t x = seed ^ split_mix(mixed_stream);
  for (auto& word : state_) word = split_mix(x);
}

std::uint64_t Random::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17U;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  // Lemire 2019: the high word of a 128-bit product, rejecting the low words that would bias it.
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64U);
  }
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2.0 * uniform() - 1.0;
    const double v = 2.0 * uniform() - 1.0;
    const double s = u * u + v * v;
    if (s >= 1.0 || s == 0.0) continue;
    const double factor = std::sqrt(-2.0 * std::log(s) / s);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }
}

}  // namespace subspectra
