#pragma once
/// Recursive feature elimination (Guyon, Weston, Barnhill and Vapnik, 2002): docs/methods/svm.md.
#include <vector>

#include <subspectra/rankers.hpp>
#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra {

enum class RfeForm { kAuto, kProducts, kRows };  ///< how machines are trained; kAuto: what is cheaper

/// What no user sets.
struct RfeTuning {
  RfeForm form = RfeForm::kAuto;
};

struct RfeResult {
  std::vector<Index> ranking;      ///< columns, best first
  Vector weights;                  ///< p: sum of w_j^2 over the machines in the last training with column j
  std::vector<double> objectives;  ///< of every training, summed over the machines
  std::vector<Index> sizes;        ///< columns in it
  bool complete = false;           ///< not stopped; what was left when it was is ranked by w_j^2
};

/// Trains the linear machines of one class against the rest (two classes: one machine) on the columns that
/// are left, with a penalized offset as `classifier` svm has it, and takes out those with the smallest sum of
/// w_j^2, again and again. `z` n x p, standardized; it is used up. Columns with `keep[j]` never leave. Of
/// equal columns the one with the lowest index leaves first. C must be finite: who calls has chosen it.
///
/// Cost with s columns left: 2 n s flops and, for each machine and Newton step, n^3/3 (s >= n; the inner
/// products follow in n^2 flops a column that leaves) or n s^2 + s^3/3 (s < n).
[[nodiscard]] RfeResult svm_rfe(Matrix z, const std::vector<int>& codes, const std::vector<char>& keep,
                                const SvmRfe& options, int threads, const RunControl& control = {},
                                const RfeTuning& tuning = {});

/// y = +-1 (n) of the machines of one class against the rest: one for two classes, else one a class.
[[nodiscard]] std::vector<Vector> machine_labels(const std::vector<int>& codes);

}  // namespace subspectra
