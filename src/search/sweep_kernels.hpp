#pragma once
/// The inner loops of the sweeps over all pairs and triples (sweep_scan.hpp), written once and built for
/// several instruction sets; which one runs is chosen when the program runs. Plain functions on raw pointers:
/// nothing inline or templated is shared with the rest. docs/theory/exact.md has the formulas.
#include <cstdint>
#include <vector>

namespace subspectra::search::kernels {

/// Rows that a triple kernel takes at a time: they share the loads of what belongs to the first feature.
inline constexpr int kSweepRows = 4;
/// What a row of a triple kernel is multiplied by, kSweepRows each: see the formulas of the kernels.
struct SweepFactors {
  double w1[kSweepRows], w2[kSweepRows], p[kSweepRows], q[kSweepRows], s[kSweepRows];
};

/// `count` is a multiple of eight.
struct SweepKernels {
  const char* name;
  /// best_r = max_l b b - p_r d_l,  b = rows(r, l) - w1_r x_l.
  void (*definite)(const double* rows, std::int64_t lead, const double* x, const double* d,
                   const SweepFactors& factors, std::int64_t count, double* best);
  /// best_r = max_l (d2_l - q_r g g) - s_r (d1_l - p_r b b),  b = rows1(r, l) - w1_r x1_l, g = rows2(r, l) -
  /// w2_r x2_l.
  void (*ratio)(const double* rows1, const double* rows2, std::int64_t lead1, std::int64_t lead2,
                const double* x1, const double* x2, const double* d1, const double* d2,
                const SweepFactors& factors, std::int64_t count, double* best);
  /// best_r = max_l d2_l - s_r d1_l + b (b p_r - q_r a),  b = rows1(r, l) - w1_r x1_l, a = rows2(r, l) - w1_r
  /// x2_l - w2_r x1_l.
  void (*trace)(const double* rows1, const double* rows2, std::int64_t lead1, std::int64_t lead2,
                const double* x1, const double* x2, const double* d1, const double* d2,
                const SweepFactors& factors, std::int64_t count, double* best);
  /// max_l h_l h_l - p d_l.
  double (*definite_pairs)(const double* h, const double* d, double p, std::int64_t count);
  /// max_l (d2_l - q g_l g_l) - s (d1_l - p b_l b_l).
  double (*ratio_pairs)(const double* b, const double* g, const double* d1, const double* d2, double p,
                        double q, double s, std::int64_t count);
  /// max_l d2_l - s d1_l + b_l (b_l p - q a_l).
  double (*trace_pairs)(const double* b, const double* a, const double* d1, const double* d2, double p,
                        double q, double s, std::int64_t count);
  /// out_l += factor x_l.
  void (*add)(const double* x, double factor, double* out, std::int64_t count);
};

/// The best that this processor can run.
[[nodiscard]] const SweepKernels& sweep_kernels();
/// All that this processor can run, the plainest first.
[[nodiscard]] std::vector<const SweepKernels*> all_sweep_kernels();

}  // namespace subspectra::search::kernels
