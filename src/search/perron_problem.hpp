#pragma once
/// The matrix of an exact search for sparse PCA, over the features of the units, and what follows from it as
/// a whole: values of sets, bounds of roots. Const after construction and shared by all visits.
#include <cstdint>
#include <mutex>
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"
#include "search/exact_hooks.hpp"
#include "search/explorer.hpp"
#include "search/planted.hpp"
#include "search/units.hpp"

namespace subspectra::search {

struct PerronProblem {
  /// Keeps `run_control`. Throws linalg::Stopped when it says stop before a large matrix is there.
  PerronProblem(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                const RunControl& run_control, const ExactHooks& exact_hooks);

  Matrix a;                  ///< over the features of the units, unit by unit, divided by `scale`
  std::vector<Index> first;  ///< unit u owns the rows first[u]..first[u + 1] - 1
  double scale = 1.0;        ///< a power of two
  bool single = true;        ///< every unit is one row
  bool forced = false;       ///< some units are in every set
  int threads = 1;
  const RunControl* control;
  ExactHooks hooks;
  Index largest_size = 1;
  double slack = 0.0;                  ///< relative error of values and bounds
  std::uint64_t budget = 1;            ///< nodes a visit
  std::size_t most_level_entries = 0;  ///< that the nodes on the stack of a visit may hold together

  [[nodiscard]] bool uses(ExactBound bound) const { return hooks.bounds.on(bound); }
  [[nodiscard]] const PerronTuning& tuning() const { return hooks.tuning.perron; }
  /// The rows of the units, in their order.
  template <class Units>
  [[nodiscard]] std::vector<Index> rows_of(const Units& units) const {
    std::vector<Index> rows;
    for (const auto u : units) {
      for (Index i = first[static_cast<std::size_t>(u)]; i < first[static_cast<std::size_t>(u) + 1]; ++i)
        rows.push_back(i);
    }
    return rows;
  }
  /// lambda_max(A_S), of the matrix divided by `scale`.
  template <class Units>
  [[nodiscard]] double scaled_value(const Units& units) const {
    return scaled_value_of_rows(rows_of(units));
  }
  [[nodiscard]] double scaled_value_of_rows(const std::vector<Index>& rows) const;
  /// At least lambda_max of everything, which bounds every size: computed once. Throws linalg::Stopped.
  [[nodiscard]] double scaled_superset() const;
  /// One sweep with d = 1, for every size at once: a bound of a root without the work of a good one.
  [[nodiscard]] double quick_bound(const OpenNode& root) const;
  /// (k - 1) lambda_{k+1} + min a_ii <= k lambda_k: docs/theory/exact-pca.md.
  [[nodiscard]] double bound_of_next(Index k, double bound) const;
  /// As many rows and as much variance: what copies of a unit have in common.
  [[nodiscard]] bool alike(Index u, Index v) const;
  /// Debug builds: throws when the planted set lies in the family {kept + some of free} that is being closed
  /// with `limit` as the value to beat.
  template <class Kept, class Free>
  void guard(const Kept& kept, const Free& free, Index k, double limit) const {
    guard_planted(hooks.planted, k, kept, free, limit * (1.0 + 1e-9),
                  [&](const std::vector<Index>& units) { return scaled_value(units); });
  }

 private:
  void find_row_sums() const;
  mutable std::once_flag row_sums_once_;
  mutable std::vector<double> row_sums_;  ///< by size
  mutable std::once_flag superset_once_;
  mutable double superset_ = kInfinity;
};

/// lambda_max; -infinity of nothing.
[[nodiscard]] double largest_eigenvalue_of_block(const Matrix& a);
/// The larger eigenvalue of [[p, b], [b, q]]; -infinity stands for a row that is not there.
[[nodiscard]] double larger_of_two(double p, double b, double q);

}  // namespace subspectra::search
