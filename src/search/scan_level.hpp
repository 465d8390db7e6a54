#pragma once
/// A node of the search by scans (scan_explorer.cpp): its free units as the matrices G and C, seen from
/// below, and P and U, seen from above.
#include <cstdint>
#include <vector>

#include <subspectra/run_control.hpp>
#include "search/factor_problem.hpp"
#include "search/scan_criterion.hpp"

namespace subspectra::search {

/// Rows of a block start on multiples of eight numbers.
[[nodiscard]] inline std::int64_t padded_row(std::int64_t n) { return (n + 7) / 8 * 8; }

/// T += factor y y', y_q = rows[q lead].
inline void add_outer(Matrix& t, const double* rows, std::int64_t lead, double factor) {
  for (Index q = 0; q < t.cols(); ++q) {
    for (Index p = 0; p < t.cols(); ++p) t(p, q) += factor * rows[p * lead] * rows[q * lead];
  }
}

/// One level of the recursion; allocated once a visit, reused by every node of that depth.
struct ScanLevel {
  ScanLevel(Index discriminants, bool of_trace) : r(discriminants), trace(of_trace) {}

  /// Room for `count` free units, |F|. What the level held is void.
  void resize(std::int64_t units);
  /// The node at which a visit starts, from the matrices themselves, in the order of the losses. False when a
  /// block is not positive definite to rounding. Throws linalg::Stopped. Pre: resized.
  [[nodiscard]] bool build(const FactorProblem& problem, const OpenNode& node, const RunControl& control,
                           ScanCriterion& criterion);
  /// Free unit t becomes a kept one: a pivot of (G, C). Pre: those before it were.
  void keep(std::int64_t t);
  /// Forgets the first `gone` rows of (G, C), which have been pivots.
  void forget_pivots(std::int64_t gone);

  Index r;                               ///< discriminants
  bool trace;                            ///< the criterion is the trace (FactorProblem::is_trace)
  std::int64_t count = 0, lead = 0;      ///< |F|, row length
  std::vector<std::int32_t> ids;         ///< of the free units, largest drop loss first
  std::vector<double> p, g;              ///< |F| x lead, both triangles
  std::vector<double> u, c;              ///< r rows of lead numbers
  std::vector<double> losses;            ///< of the free units
  std::vector<double> diag;              ///< of P
  double f_all = 0.0, f_kept = 0.0;      ///< f(T), f(I); this one for the trace alone
  Matrix t_all, t_kept;                  ///< T_T, T_I; not for the trace
  std::vector<std::int32_t> open_sizes;  ///< the sizes that the node serves
};

}  // namespace subspectra::search
