#pragma once
/// The perspective relaxation of a node of the search by scans: a bound on what m of its free features bring
/// together, far below that of all of them. docs/theory/exact.md has the proof.
///
/// G (n x n) positive definite, C (n x r), D > 0 with W = G - diag(D) positive semidefinite. For any beta
/// (n x r), with s = C - W beta,
///   tr C_S' G_S^{-1} C_S <= sum_q beta_q'W beta_q + sum over i in S of |s_i|^2/D_i,
/// so the m largest terms bound every S of m features. The best beta is that of weights 0 <= z <= 1 with sum
/// m: beta = (W + diag(D/z))^{-1} C; z <- min(1, z t^(1/2)/theta), t_i = |s_i|^2/D_i, comes close in a few
/// steps.
#include "core/types.hpp"
#include "search/exact_tuning.hpp"

namespace subspectra::search {

struct RelaxedBound {
  double bound = kInfinity;  ///< of every S of m features, what rounding may have taken from it included
  double value = 0.0;        ///< of the relaxation at the last weights: no beta gives a smaller bound
  double shared = 0.0;       ///< of `bound`, all but the terms
  Vector terms;              ///< |s_i|^2/D_i
  Matrix beta;
};

/// `weights` is where it begins (any sum; empty: all alike) and where it ends. No further than where the
/// bound is at most `worth`. Pre: 1 <= m < n.
[[nodiscard]] RelaxedBound relaxed_bound(const Matrix& g, const Matrix& c, const Vector& d, Index m,
                                         double worth, const RelaxationEffort& effort, Vector& weights);

/// D > 0 with B - diag(D) positive semidefinite that comes close to the largest sum of weights_i D_i. Empty
/// where none is found.
[[nodiscard]] Vector diagonal_minorant(const Matrix& b, const Vector& weights);

/// The same for the relaxed bound of sets of m features, which it lowers step by step from that of `weights`.
[[nodiscard]] Vector minorant_for_size(const Matrix& b, const Matrix& c, const Vector& weights, Index m);

}  // namespace subspectra::search
