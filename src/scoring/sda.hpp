#pragma once
/// Sparse discriminant analysis (Clemmensen, Hastie, Witten & Ersboll 2011): discriminants one after the
/// other, each an elastic net on scores that are fitted along with it,
///     min_{theta, beta}  (1/N)|Y theta - X beta|^2 + l2 |beta|^2 + lambda |beta|_1,
///     theta'Y'Y theta = 1,   theta'Y'Y q = 0 for q = 1 and the scores before.
/// Not convex in both: what is found is a point that neither of the two steps improves.
#include <memory>

#include "scoring/solver.hpp"

namespace subspectra {

struct SdaOptions {
  double l2 = 1e-6;         ///< in the scale of the objective above
  double tolerance = 1e-6;  ///< stop when an elastic net lowers the objective by less than this fraction
  double lasso_tolerance = 1e-8;  ///< duality gap of an elastic net as a fraction of |Y theta|^2/2
  Index max_iterations = 500;     ///< elastic nets for one discriminant
  Index max_sweeps = 100'000;     ///< for one elastic net
  int threads = 0;                ///< of no consequence for the answer; 0: all cores
  void validate() const;          ///< throws InvalidArgument
};

/// `problem` must outlive the solver. A fit's scores are those of the discriminants in order; one whose beta
/// is zero keeps the scores it started from. The objective is the sum over discriminants.
[[nodiscard]] std::unique_ptr<ScoringSolver> sda_solver(const ScoringProblem& problem,
                                                        const SdaOptions& options = {});

}  // namespace subspectra
