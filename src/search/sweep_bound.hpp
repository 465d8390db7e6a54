#pragma once
/// A bound for sets of few features under a ridge: the Fenchel dual of the k-sparse ridge regression that
/// two-class discriminant analysis is, and the same for the trace of several discriminants.
/// docs/theory/exact.md has the proof.
///
/// B = W + diag(lambda), W positive semidefinite. For any beta (n x r), with s_i = M_i - (W beta)_i,
///   tr T_S <= sum_q beta_q'W beta_q + sum over i in S of |s_i|^2/lambda_i.
/// The terms of the kept features count, and the largest of the free ones. The best beta is that of the
/// perspective relaxation, weights 0 <= zeta <= 1 with sum m on the free features: beta = (zeta/lambda) s.
#include <vector>

#include "search/sweep_problem.hpp"

namespace subspectra::search {

struct DualBound {
  double bound = kInfinity;   ///< on tr T_S, what rounding may have taken from it included
  double kept = 0.0;          ///< all but the terms of the free features
  std::vector<double> terms;  ///< of the free features, in their order
};

/// For sets of `kept` and `more` of `free`; the better the closer `worth` (a trace) is: no further than where
/// the bound is below it. Pre: problem.ridge() is not empty, !problem.by_blocks(), there is a factor.
[[nodiscard]] DualBound dual_bound(const SweepProblem& problem, const std::vector<std::int32_t>& kept,
                                   const std::vector<std::int32_t>& free, Index more, double worth);

}  // namespace subspectra::search
