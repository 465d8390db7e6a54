#pragma once
/// Sparse discriminant analysis (Clemmensen, Hastie, Witten & Ersboll 2011): discriminants one after the
/// other, each an elastic net on scores that are fitted along with it,
///     min_{theta, beta}  (1/N)|Y theta - X beta|^2 + l2 |beta|^2 + lambda |beta|_1,
///     theta'Y'Y theta = 1,   theta'Y'Y q = 0 for q = 1 and the scores before.
/// Not convex in both: what is found is a point that neither of the two steps improves.
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

/// What no user sets.
struct SdaTuning {
  double lasso_tolerance = 1e-8;  ///< duality gap of an elastic net as a fraction of |Y theta|^2/2
};

/// `problem` must outlive the solver. A fit's scores are those of the discriminants in order; one whose beta
/// is zero keeps the scores it started from. The objective is the sum over discriminants; l2 is in its scale,
/// and a discriminant ends when an elastic net lowers it by less than the fraction `tolerance`. `threads` are
/// of no consequence for the answer; 0: all cores.
[[nodiscard]] std::unique_ptr<ScoringSolver> sda_solver(const ScoringProblem& problem,
                                                        const Sda& options = {}, int threads = 0,
                                                        const SdaTuning& tuning = {});

}  // namespace subspectra
