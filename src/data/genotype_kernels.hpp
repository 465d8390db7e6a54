#pragma once
/// The inner loops over genotypes of two bits, as PLINK packs them: four samples a byte, the first in the
/// lowest bits; code 0 is two copies of the counted allele, 2 one, 3 none, 1 missing. Written once and built
/// for several instruction sets; which one runs is chosen when the program runs. All give the same bits: a
/// sum over the samples of a column is taken pair by pair, from the first to the last.
#include <cstdint>
#include <vector>

namespace subspectra::genotypes {

/// The sums over two samples that share half a byte, one for each of its 16 values.
inline constexpr int kHalfByteSums = 16;

struct Kernels {
  const char* name;
  /// sums[16 h + b] = g(b & 3) v[2h] + g(b >> 2) v[2h + 1], g = 2, 0, 1, 0 the copies by code; half bytes
  /// first..last-1 of a column of `samples`. A sample beyond the last adds nothing.
  void (*tabulate)(const double* v, std::int64_t samples, std::int64_t first, std::int64_t last,
                   double* sums);
  /// out[c] += sum over half bytes first..last-1 (even numbers) of column c; column c begins at bytes + c
  /// stride. `sums` are those from `first` on. Nothing beyond half byte `last` of a column is read.
  void (*add_copies)(const std::uint8_t* bytes, std::int64_t stride, std::int64_t columns, std::int64_t first,
                     std::int64_t last, const double* sums, double* out);
  /// How many samples under `mask` (one bit a sample, the lower of its two; words of 32 samples) have the low
  /// bit of their code set, the high bit, and both. `size` bytes in all.
  void (*count)(const std::uint8_t* bytes, std::int64_t size, const std::uint64_t* mask, std::int64_t* low,
                std::int64_t* high, std::int64_t* both);
};

/// The best that this processor can run.
[[nodiscard]] const Kernels& kernels();
/// All that this processor can run, the plainest first.
[[nodiscard]] std::vector<const Kernels*> all_kernels();

/// The samples that are missing in a column: whether there are any, and the sum of v over them.
struct MissingSum {
  bool any = false;
  double sum = 0.0;
};
[[nodiscard]] MissingSum sum_of_missing(const std::uint8_t* bytes, std::int64_t samples, const double* v);
/// out[i] = values[code of sample first + i].
void decode(const std::uint8_t* bytes, std::int64_t first, std::int64_t count, const double* values,
            double* out);

}  // namespace subspectra::genotypes
