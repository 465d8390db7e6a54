#pragma once
/// The matrices of an exact search over a factor pencil: B and M over the candidates, unit after unit, scaled
/// so that B has a unit diagonal (the criterion does not change) and M has as many columns as A has rank.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/types.hpp"
#include "linalg/blas.hpp"
#include "search/exact_hooks.hpp"
#include "search/explorer.hpp"
#include "search/planted.hpp"

namespace subspectra::search {

/// A node's smaller problem, from the matrices themselves: G, C, P and U over the free rows
/// (docs/theory/exact.md).
struct Residual {
  Matrix g, c, p, u;
  Matrix kept;  ///< T_I = M_I' B_I^{-1} M_I, r x r
};

struct FactorProblem {
  /// Throws linalg::Stopped when `control` says stop before B is inverted.
  FactorProblem(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                const RunControl& control, const ExactHooks& exact_hooks);

  Matrix b;                  ///< features x features
  Matrix m;                  ///< features x r
  std::vector<Index> first;  ///< unit u owns the rows first[u]..first[u + 1] - 1
  bool single = true;        ///< every unit is one row
  Criterion criterion = Criterion::kLargest;
  /// D > 0 with B - diag(D) positive semidefinite, as large as is cheap to find; empty where no bound uses
  /// it.
  Vector minorant;
  ExactHooks hooks;
  double slack = 0.0;        ///< relative error of what is computed from B^{-1}
  double whole = 0.0;        ///< the criterion of all units together
  double level_bytes = 0.0;  ///< that the levels of one visit may take

  /// The criterion is |C|^2-like: gains and losses add up over the columns of M.
  [[nodiscard]] bool is_trace() const { return m.cols() == 1 || criterion == Criterion::kTrace; }
  /// Debug builds: throws when the planted set lies in the family {kept + some of free} that is being closed
  /// with `limit` as the value to beat.
  template <class Kept, class Free>
  void guard(const Kept& kept, const Free& free, Index k, double limit) const {
    guard_planted(hooks.planted, k, kept, free, limit * (1.0 + 1e-9 + slack),
                  [&](const std::vector<Index>& units) { return value(units); });
  }

  [[nodiscard]] bool uses(ExactBound bound) const { return hooks.bounds.on(bound); }
  /// Wilks' criterion of one column is log(1 + t), and the search runs on t: the criterion of a t.
  [[nodiscard]] double monotone_image_to_criterion(double value) const;
  [[nodiscard]] std::vector<Index> rows(const std::vector<Index>& units) const;
  template <class Units>
  [[nodiscard]] std::vector<Index> rows_of(const Units& units) const {
    return rows(std::vector<Index>(units.begin(), units.end()));
  }
  /// In the scale of the search; by a factorization of the set's own block. -infinity when it is singular.
  [[nodiscard]] double value(const std::vector<Index>& units) const;
  /// As many rows, and as much of M in them: what copies of a unit have in common, with whatever sign.
  [[nodiscard]] bool alike(Index u, Index v) const;
  /// Nothing when a block is not positive definite to rounding. Throws linalg::Stopped.
  [[nodiscard]] std::optional<Residual> residual(const OpenNode& node, const RunControl& control) const;
  /// What a visit holds: the node's smaller problem and the levels below it.
  [[nodiscard]] double visit_bytes() const;
  /// So many levels of nodes with `free` free rows, two blocks each: with thousands of candidates a few only.
  [[nodiscard]] std::size_t most_depth(Index free) const;
  /// T's criterion in the scale of the search.
  [[nodiscard]] double of(const Matrix& t) const;
};

/// M V with the eigenvectors of M'M: the same M M', without the columns that rounding left over.
[[nodiscard]] Matrix without_null_columns(const Matrix& m);

/// A^{-1} in place, both triangles; false when A is not positive definite. Throws linalg::Stopped.
[[nodiscard]] bool inverted(Matrix& a, int threads, const RunControl& control);

/// tr(A B^{-1}) over all candidates, in the scale of the criterion: T_S of any set has no larger trace, and
/// so no larger eigenvalue; its log det(I + T_S) is at most r log(1 + trace/r). One inverse; infinity where
/// that is too long to wait for, or B singular.
[[nodiscard]] double trace_bound(const Pencil& pencil, const SearchUnits& units, const ExactRun& run);

/// What a visit has to beat, and the nodes it may close.
class Limits {
 public:
  Limits(const Cutoff& cutoff, SizeFindings& findings) : cutoff_(&cutoff), findings_(&findings) { update(); }
  /// A set that was found: whether it enters the pool, which may raise the limit.
  void offer(std::vector<Index> units, double value) {
    if (findings_->pool.offer(std::move(units), value)) update();
  }
  /// Sets up to this are left out for the gap's sake alone (Eslda::gap).
  void discard(double bound) { findings_->discarded = std::max(findings_->discarded, bound); }
  /// Bounds up to this are closed; above exact() for the gap's sake alone.
  [[nodiscard]] double limit() const { return limit_; }
  [[nodiscard]] double exact() const { return exact_; }
  /// Whether a bound closes its node; what the gap alone closes is remembered.
  [[nodiscard]] bool closed(double bound) {
    if (bound > limit_) return false;
    if (bound > exact_) discard(bound);
    return true;
  }

 private:
  void update() {
    exact_ = cutoff_->exact(findings_->pool.threshold());
    limit_ = cutoff_->with_gap(findings_->pool.threshold());
  }

  const Cutoff* cutoff_;
  SizeFindings* findings_;
  double exact_ = 0.0, limit_ = 0.0;
};

/// A size that a visit serves, and what it has to beat there.
struct VisitSize {
  Index k;
  double root_bound;  ///< of the node that is visited
  Limits limits;
};

/// The sizes for which a node of the visit is still open, as places in the visit's list, ascending.
using OpenSizes = std::vector<std::int32_t>;

/// The node's own size and the others, ascending.
[[nodiscard]] std::vector<VisitSize> sizes_of(const OpenNode& node, const Cutoff& cutoff,
                                              VisitFindings& findings);
/// A node of the tree for the engine; `sizes`: at least one, ascending.
[[nodiscard]] OpenNode open_node(const std::vector<ServedSize>& sizes, std::vector<std::int32_t> kept,
                                 std::vector<std::int32_t> free);

/// The two ways down: scan_explorer.cpp (single features, few discriminants) and block_explorer.cpp (the
/// rest).
void scan_explore(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget,
                  const Cutoff& cutoff, const RunControl& control, VisitFindings& findings);
void block_explore(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget,
                   const Cutoff& cutoff, const RunControl& control, VisitFindings& findings);

}  // namespace subspectra::search
