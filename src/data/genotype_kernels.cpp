#include "data/genotype_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/wide_vectors.hpp"

namespace subspectra::genotypes {
namespace {

constexpr double kCopies[4] = {2.0, 0.0, 1.0, 0.0};  // of the counted allele, by code; missing adds nothing
constexpr std::uint64_t kLowBits = 0x5555555555555555U;

#define GENOTYPE_INLINE [[gnu::always_inline]] inline

GENOTYPE_INLINE std::uint64_t word_at(const std::uint8_t* bytes, std::int64_t size) {
  std::uint64_t word = 0;  // a short one is padded by zeros
  std::memcpy(&word, bytes, static_cast<std::size_t>(std::min<std::int64_t>(size, 8)));
  return word;
}

void tabulate_all(const double* v, std::int64_t samples, std::int64_t first, std::int64_t last,
                  double* sums) {
  for (std::int64_t h = first; h < last; ++h, sums += kHalfByteSums) {
    const double one = 2 * h < samples ? v[2 * h] : 0.0, two = 2 * h + 1 < samples ? v[2 * h + 1] : 0.0;
    for (int b = 0; b < kHalfByteSums; ++b) sums[b] = kCopies[b & 3] * one + kCopies[b >> 2] * two;
  }
}

/// `kColumns` columns side by side: their chains of additions do not wait for each other.
template <int kColumns>
GENOTYPE_INLINE void add_columns(const std::uint8_t* bytes, std::int64_t stride, std::int64_t first,
                                 std::int64_t last, const double* sums, double* out) {
  double total[kColumns];
  for (int c = 0; c < kColumns; ++c) total[c] = out[c];
  for (std::int64_t byte = first / 2; byte < last / 2; ++byte, sums += 2 * kHalfByteSums) {
    for (int c = 0; c < kColumns; ++c) {
      const unsigned code = bytes[c * stride + byte];
      total[c] += sums[code & 15U];
      total[c] += sums[kHalfByteSums + (code >> 4U)];
    }
  }
  for (int c = 0; c < kColumns; ++c) out[c] = total[c];
}

GENOTYPE_INLINE void add_by_table(const std::uint8_t* bytes, std::int64_t stride, std::int64_t columns,
                                  std::int64_t first, std::int64_t last, const double* sums, double* out) {
  std::int64_t c = 0;
  for (; c + 8 <= columns; c += 8) add_columns<8>(bytes + c * stride, stride, first, last, sums, out + c);
  for (; c < columns; ++c) add_columns<1>(bytes + c * stride, stride, first, last, sums, out + c);
}

GENOTYPE_INLINE void count_body(const std::uint8_t* bytes, std::int64_t size, const std::uint64_t* mask,
                                std::int64_t* low, std::int64_t* high, std::int64_t* both) {
  std::int64_t l = 0, h = 0, b = 0;
  for (std::int64_t at = 0, w = 0; at < size; at += 8, ++w) {
    const std::uint64_t word = at + 8 <= size ? word_at(bytes + at, 8) : word_at(bytes + at, size - at);
    const std::uint64_t lower = word & mask[w], upper = (word >> 1U) & mask[w];
    l += std::popcount(lower);
    h += std::popcount(upper);
    b += std::popcount(lower & upper);
  }
  *low = l;
  *high = h;
  *both = b;
}

void add_plain(const std::uint8_t* bytes, std::int64_t stride, std::int64_t columns, std::int64_t first,
               std::int64_t last, const double* sums, double* out) {
  add_by_table(bytes, stride, columns, first, last, sums, out);
}
void count_plain(const std::uint8_t* bytes, std::int64_t size, const std::uint64_t* mask, std::int64_t* low,
                 std::int64_t* high, std::int64_t* both) {
  count_body(bytes, size, mask, low, high, both);
}
constexpr Kernels kPlain = {"baseline", tabulate_all, add_plain, count_plain};

#if defined(__x86_64__)
[[gnu::target("avx2,popcnt")]] void add_avx2(const std::uint8_t* bytes, std::int64_t stride,
                                             std::int64_t columns, std::int64_t first, std::int64_t last,
                                             const double* sums, double* out) {
  add_by_table(bytes, stride, columns, first, last, sums, out);
}
[[gnu::target("avx2,popcnt")]] void count_avx2(const std::uint8_t* bytes, std::int64_t size,
                                               const std::uint64_t* mask, std::int64_t* low,
                                               std::int64_t* high, std::int64_t* both) {
  count_body(bytes, size, mask, low, high, both);
}
constexpr Kernels kAvx2 = {"AVX2", tabulate_all, add_avx2, count_avx2};

/// Eight columns a register: a lane holds 32 codes of its column, of which the lowest half byte picks one of
/// the 16 sums that stand in two registers. `kGroups` registers share the sums.
template <int kGroups>
[[gnu::target("avx512f,avx512dq,avx512vl,popcnt" SUBSPECTRA_WIDE_VECTORS)]] GENOTYPE_INLINE void add_lanes(
    const std::uint8_t* bytes, std::int64_t stride, std::int64_t first, std::int64_t last, const double* sums,
    double* out) {
  constexpr int kHalves = 16;  // half bytes in a lane
  __m512d total[kGroups];
  for (int g = 0; g < kGroups; ++g) total[g] = _mm512_loadu_pd(out + 8 * g);
  const __m512i eight =
      _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
  for (std::int64_t half = first; half < last; half += kHalves, sums += kHalves * kHalfByteSums) {
    __m512i codes[kGroups];
    for (int g = 0; g < kGroups; ++g)
      codes[g] = _mm512_i64gather_epi64(eight, bytes + 8 * g * stride + half / 2, 1);
    for (int step = 0; step < kHalves; ++step) {
      const __m512d lower = _mm512_loadu_pd(sums + step * kHalfByteSums),
                    upper = _mm512_loadu_pd(sums + step * kHalfByteSums + 8);
      for (int g = 0; g < kGroups; ++g) {
        total[g] = _mm512_add_pd(total[g], _mm512_permutex2var_pd(lower, codes[g], upper));
        codes[g] = _mm512_srli_epi64(codes[g], 4);
      }
    }
  }
  for (int g = 0; g < kGroups; ++g) _mm512_storeu_pd(out + 8 * g, total[g]);
}

[[gnu::target("avx512f,avx512dq,avx512vl,popcnt" SUBSPECTRA_WIDE_VECTORS)]] void add_avx512(
    const std::uint8_t* bytes, std::int64_t stride, std::int64_t columns, std::int64_t first,
    std::int64_t last, const double* sums, double* out) {
  const std::int64_t whole = first + (last - first) / 16 * 16;  // no lane reads beyond half byte `whole`
  std::int64_t c = 0;
  for (; c + 32 <= columns; c += 32) add_lanes<4>(bytes + c * stride, stride, first, whole, sums, out + c);
  for (; c + 8 <= columns; c += 8) add_lanes<1>(bytes + c * stride, stride, first, whole, sums, out + c);
  add_by_table(bytes, stride, c, whole, last, sums + (whole - first) * kHalfByteSums, out);
  add_by_table(bytes + c * stride, stride, columns - c, first, last, sums, out + c);
}
constexpr Kernels kAvx512 = {"AVX-512", tabulate_all, add_avx512, count_avx2};
#endif

}  // namespace

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> sets = {&kPlain};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) sets.push_back(&kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("popcnt"))
    sets.push_back(&kAvx512);
#endif
  return sets;
}

const Kernels& kernels() {
  static const Kernels& best = *all_kernels().back();
  return best;
}

MissingSum sum_of_missing(const std::uint8_t* bytes, std::int64_t samples, const double* v) {
  MissingSum missing;
  const std::int64_t size = (samples + 3) / 4;
  for (std::int64_t at = 0; at < size; at += 8) {
    const std::uint64_t word = at + 8 <= size ? word_at(bytes + at, 8) : word_at(bytes + at, size - at);
    for (std::uint64_t bits = word & ~(word >> 1U) & kLowBits; bits != 0; bits &= bits - 1) {
      const std::int64_t sample = 4 * at + std::countr_zero(bits) / 2;
      if (sample >= samples) break;  // what pads the last byte is nobody's
      missing.any = true;
      missing.sum += v[sample];
    }
  }
  return missing;
}

void decode(const std::uint8_t* bytes, std::int64_t first, std::int64_t count, const double* values,
            double* out) {
  std::int64_t i = 0;
  for (; i < count && ((first + i) & 3) != 0; ++i)
    out[i] = values[(bytes[(first + i) / 4] >> (2 * ((first + i) & 3))) & 3U];
  for (; i + 4 <= count; i += 4) {
    const unsigned four = bytes[(first + i) / 4];
    out[i] = values[four & 3U];
    out[i + 1] = values[(four >> 2U) & 3U];
    out[i + 2] = values[(four >> 4U) & 3U];
    out[i + 3] = values[four >> 6U];
  }
  for (; i < count; ++i) out[i] = values[(bytes[(first + i) / 4] >> (2 * ((first + i) & 3))) & 3U];
}

}  // namespace subspectra::genotypes
