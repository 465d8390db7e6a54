#include "search/perron_rows.hpp"

#include <cstdint>
#include <cstring>

// GCC alone makes the copies of a function for several vector units and chooses when the library is loaded;
// its resolvers run before a sanitizer is ready.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_CLONES __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define SUBSPECTRA_CLONES
#endif

namespace subspectra::search::rows {
namespace {

// Vector types of the compiler, not the standard library: nothing in here may be a template instance that
// another file could share.
constexpr Index kHalf = 4;
using Pack = double __attribute__((vector_size(kHalf * 8)));
using Mask = std::int64_t __attribute__((vector_size(kHalf * 8)));
constexpr std::int64_t kNoSign = INT64_MAX;

}  // namespace

#define SUBSPECTRA_LOAD(name, p) \
  Pack name;                     \
  __builtin_memcpy(&name, p, sizeof name)

SUBSPECTRA_CLONES
void weights_above(const double* c, const double* d, Index n, double t, Above* out) {
  const Mask no_sign = Mask{} + kNoSign;
  const Pack threshold = Pack{} + t, infinite = Pack{} + __builtin_inf();
  Pack sum0{}, sum1{}, least0 = infinite, least1 = infinite, most0{}, most1{};
  Mask count0{}, count1{};
  for (Index j = 0; j < n; j += kLanes) {
    SUBSPECTRA_LOAD(c0, c + j);
    SUBSPECTRA_LOAD(c1, c + j + kHalf);
    SUBSPECTRA_LOAD(d0, d + j);
    SUBSPECTRA_LOAD(d1, d + j + kHalf);
    const Pack w0 = (Pack)((Mask)c0 & no_sign) * d0, w1 = (Pack)((Mask)c1 & no_sign) * d1;
    const Mask above0 = w0 > threshold, above1 = w1 > threshold;
    count0 -= above0;
    count1 -= above1;
    const Pack high0 = above0 ? w0 : infinite, high1 = above1 ? w1 : infinite;
    const Pack low0 = above0 ? Pack{} : w0, low1 = above1 ? Pack{} : w1;
    sum0 += w0 - low0;
    sum1 += w1 - low1;
    least0 = high0 < least0 ? high0 : least0;
    least1 = high1 < least1 ? high1 : least1;
    most0 = low0 > most0 ? low0 : most0;
    most1 = low1 > most1 ? low1 : most1;
  }
  sum0 += sum1;
  count0 += count1;
  least0 = least1 < least0 ? least1 : least0;
  most0 = most1 > most0 ? most1 : most0;
  out->sum = (sum0[0] + sum0[1]) + (sum0[2] + sum0[3]);
  out->count = static_cast<double>((count0[0] + count0[1]) + (count0[2] + count0[3]));
  double least = least0[0], most = most0[0];
  for (Index l = 1; l < kHalf; ++l) {
    least = least0[l] < least ? least0[l] : least;
    most = most0[l] > most ? most0[l] : most;
  }
  out->least_above = least;
  out->most_below = most;
}

SUBSPECTRA_CLONES
void add_scaled(const double* a, const double* b, double f, Index n, double* out) {
  const Pack factor = Pack{} + f;
  for (Index j = 0; j < n; j += kHalf) {
    SUBSPECTRA_LOAD(x, a + j);
    SUBSPECTRA_LOAD(y, b + j);
    x += factor * y;
    __builtin_memcpy(out + j, &x, sizeof x);
  }
}

SUBSPECTRA_CLONES
double largest_excess(const double* c, const double* t, const double* slack, double with, double without,
                      Index n) {
  const Mask no_sign = Mask{} + kNoSign;
  const Pack in = Pack{} + with, out = Pack{} + without;
  Pack most = Pack{} - __builtin_inf();
  for (Index j = 0; j < n; j += kHalf) {
    SUBSPECTRA_LOAD(x, c + j);
    SUBSPECTRA_LOAD(y, t + j);
    SUBSPECTRA_LOAD(s, slack + j);
    x = (Pack)((Mask)x & no_sign);
    const Pack gone = x * out, gain = x * in - (gone > y ? gone : y) - s;
    most = gain > most ? gain : most;
  }
  double largest = most[0];
  for (Index l = 1; l < kHalf; ++l) largest = most[l] > largest ? most[l] : largest;
  return largest;
}

SUBSPECTRA_CLONES
double largest_square_excess(const double* c, const double* g, double f, Index n) {
  const Pack factor = Pack{} + f;
  Pack most = Pack{} - __builtin_inf();
  for (Index j = 0; j < n; j += kHalf) {
    SUBSPECTRA_LOAD(x, c + j);
    SUBSPECTRA_LOAD(y, g + j);
    const Pack e = x * x - factor * y;
    most = e > most ? e : most;
  }
  double largest = most[0];
  for (Index l = 1; l < kHalf; ++l) largest = most[l] > largest ? most[l] : largest;
  return largest;
}

SUBSPECTRA_CLONES
double dot(const double* c, const double* x, Index n) {
  Pack sum0{}, sum1{};
  for (Index j = 0; j < n; j += kLanes) {
    SUBSPECTRA_LOAD(c0, c + j);
    SUBSPECTRA_LOAD(c1, c + j + kHalf);
    SUBSPECTRA_LOAD(x0, x + j);
    SUBSPECTRA_LOAD(x1, x + j + kHalf);
    sum0 += c0 * x0;
    sum1 += c1 * x1;
  }
  sum0 += sum1;
  return (sum0[0] + sum0[1]) + (sum0[2] + sum0[3]);
}

}  // namespace subspectra::search::rows
