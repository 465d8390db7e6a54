#pragma once
/// Which pairs, or triples, of n features beat a threshold: all of them are tried, without a division.
/// docs/theory/exact.md has the formulas and what rounding may do to them.
///
/// A scan takes a block of first features, i in [first, last), and tries i < j (< l) < n. The interface is
/// plain data and a table of functions, so that a device can scan a block in the processor's place.
#include <cstdint>

namespace subspectra::search {

/// How a set is judged, as a condition on what is left of the matrices after a pivot on each of its features.
enum class SweepKind {
  kDefinite,  ///< x1 = B - A/t: beaten when x1 of the set is not positive definite
  kRatio,     ///< x1 = B, x2 = B + A: when log det x2 - log det x1 > base
  kTrace,     ///< x1 = B, x2 = A: when tr x1^{-1} x2 > base
};

/// n features as seen from those that are kept for good.
struct SweepView {
  SweepKind kind = SweepKind::kDefinite;
  std::int64_t n = 0, lead = 0;  ///< n rounded up to a multiple of eight
  std::int64_t stride = 0;       ///< from a row of x1 (of x2) to the next; `lead` numbers can be read
  const double* x1 = nullptr;    ///< n rows, symmetric
  /// The same; null where it is made of the rows of `c` as they are needed.
  const double* x2 = nullptr;
  /// r rows of `lead` numbers: A = C'C, of which x1 (kDefinite) or x2 is made. Null where both stand there.
  const double* c = nullptr;
  std::int64_t r = 0;
  const double *d1 = nullptr, *d2 = nullptr;  ///< their diagonals, of `lead` numbers
  double base = 0.0;                          ///< what is to be beaten (kRatio, kTrace)
  double error1 = 0.0, error2 = 0.0;          ///< of an entry of x1, x2
  double size1 = 1.0, size2 = 1.0;            ///< the largest diagonal entries
};

/// What a scan tells, and asks. `go_on` false: it is to end at once.
struct SweepListener {
  void* user = nullptr;
  bool (*found)(void* user, std::int64_t i, std::int64_t j, std::int64_t l) = nullptr;  ///< l = -1: a pair
  bool (*go_on)(void* user) = nullptr;  ///< asked about every millisecond
};

struct SweepEngine {
  const char* name;
  /// False: it was told to end; what it found up to then has been told.
  bool (*pairs)(const SweepView& view, std::int64_t first, std::int64_t last, const SweepListener& listener);
  bool (*triples)(const SweepView& view, std::int64_t first, std::int64_t last,
                  const SweepListener& listener);
};

/// First features that share the loads of a row.
inline constexpr std::int64_t kSweepBlock = 16;

namespace kernels {
struct SweepKernels;
}
/// On the processor; blocks of at most kSweepBlock first features.
[[nodiscard]] const SweepEngine& processor_sweep();

/// The processor's scans by the kernels of one instruction set, for the tests.
bool sweep_pairs(const kernels::SweepKernels& kernels, const SweepView& view, std::int64_t first,
                 std::int64_t last, const SweepListener& listener);
bool sweep_triples(const kernels::SweepKernels& kernels, const SweepView& view, std::int64_t first,
                   std::int64_t last, const SweepListener& listener);

/// Pairs of one feature with `count` others, whose rows and diagonals stand there already (those of x1, of
/// x2): listener.found(i, l). Error as in the view.
struct SweepRow {
  SweepKind kind = SweepKind::kDefinite;
  const double *x1 = nullptr, *x2 = nullptr;  ///< entries of the feature's row
  const double *d1 = nullptr, *d2 = nullptr;
  double own1 = 0.0, own2 = 0.0;  ///< the feature's own diagonal entries
  double base = 0.0, error1 = 0.0, error2 = 0.0, size1 = 1.0, size2 = 1.0;
};
bool sweep_row(const SweepRow& row, std::int64_t i, std::int64_t first_l, std::int64_t count,
               const SweepListener& listener);

}  // namespace subspectra::search
