#pragma once
/// The bounds of a node of sparse PCA (docs/theory/exact-pca.md), and what a visit has to beat.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "search/perron_node.hpp"
#include "search/pool.hpp"

namespace subspectra::search {

/// What a visit has to beat, in the scale of PerronProblem::a, and the sets it finds.
class PerronLimits {
 public:
  PerronLimits(const PerronProblem& problem, const Cutoff& cutoff, SizeFindings& findings)
      : problem_(problem), cutoff_(cutoff), findings_(findings) {
    refresh();
  }
  /// Bounds up to this are closed; above exact() for the gap's sake alone (Eslda::gap).
  [[nodiscard]] double cut() const { return cut_; }
  /// Whether no set of a node with this bound is wanted; what the gap alone closes is remembered.
  bool closes(double bound) {
    if (!(bound <= cut_)) return false;
    if (bound > exact_) findings_.discarded = std::max(findings_.discarded, bound * problem_.scale);
    return true;
  }
  /// The same for sets that are known to be no better than the cut.
  void close_at_cut() { closes(cut_); }
  /// The set of `kept` and `more`, by its value from scratch: if it enters the pool there is more to beat.
  void offer(const std::vector<std::int32_t>& kept, std::initializer_list<std::int32_t> more);

  /// Another value to beat, for as long as this lives: a bound is wanted that is low, not one that closes.
  class Raised {
   public:
    Raised(PerronLimits& limits, double cut) : limits_(limits), cut_(limits.cut_), exact_(limits.exact_) {
      limits.cut_ = limits.exact_ = cut;
    }
    ~Raised() {
      limits_.cut_ = cut_;
      limits_.exact_ = exact_;
    }
    Raised(const Raised&) = delete;
    Raised& operator=(const Raised&) = delete;

   private:
    PerronLimits& limits_;
    double cut_, exact_;
  };

 private:
  void refresh();

  const PerronProblem& problem_;
  const Cutoff& cutoff_;
  SizeFindings& findings_;
  double exact_ = -kInfinity, cut_ = -kInfinity;
};

/// What bounds leave of a node.
enum class NodeFate {
  kOpen,
  kClosed,
  kOneSetLeft,  ///< as many units are left as are needed
};

/// Not thread-safe: one for every visit. It remembers whether floors have helped in this visit.
class PerronBounds {
 public:
  PerronBounds(const PerronProblem& problem, PerronLimits& limits)
      : problem_(problem), tuning_(problem.tuning()), limits_(limits) {}

  /// All bounds of a node, cheap ones first, until one closes it. Lowers node.bound and drops free units that
  /// no wanted set can have.
  [[nodiscard]] NodeFate close(PerronNode& node);
  /// Sweeps over node.residual or node.floored until the node closes or it does not pay any more.
  NodeFate sweeps(PerronNode& node, RowBoundedMatrix& matrix, int most);
  /// Finds a floor mu for the eigenvalues of C: C + W = sum_l max(lambda_l, mu) v_l v_l' has the same leading
  /// part, larger variances and smaller covariances, and bounds C from above in every set.
  NodeFate raise_floor(PerronNode& node);

  /// The node is known to be hard: floors are tried without waiting for evidence.
  void expect_hard_nodes() { work_ = kInfinity; }
  /// A floor that helped a bound of another kind says nothing about those to come.
  void forget_that_floors_helped() { floor_helped_ = false; }

 private:
  void sweep(const PerronNode& node, RowBoundedMatrix& matrix);
  [[nodiscard]] double bound_of(PerronNode& node, double worst) const;
  bool fix_out(PerronNode& node, const RowBoundedMatrix& matrix);
  bool superset_closes(PerronNode& node);
  [[nodiscard]] bool wants_floor(const PerronNode& node) const;
  double try_floor(PerronNode& node, const linalg::SymmetricEigen& eigen, double mu, double error);

  const PerronProblem& problem_;
  const PerronTuning& tuning_;
  PerronLimits& limits_;
  double work_ = 0.0;          ///< entries read since the last floor
  bool floor_helped_ = false;  ///< the last floor was better than C
  std::vector<double> buffer_, slack_, ones_;
};

}  // namespace subspectra::search
