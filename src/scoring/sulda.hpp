#pragma once
/// Sparse uncorrelated LDA (Zhang & Chu 2013) as AISTATS15 Section 2.2 puts it: of all optima of
///     min_{B, Theta}  |Y Theta - X B|^2 + tr(B'X'P_Y X B)    subject to    Theta'Y'Y Theta = I          (10)
/// (P_Y the projector onto the columns of Y) the sparsest in l1, discriminant by discriminant:
///     min |beta|_1    subject to    X beta = X beta*_k.                                                 (11)
/// With all L = K - 1 scores the value of (10) is the same for every rotation of Theta, but (11) is not:
/// Theta is ScoringProblem::scores. In an orthonormal basis U of the columns of X and G = U'T, T = Y Theta,
/// (10) asks for (I + G G') W = G where X B* = U W, so that
///     X B* = U G (I + G'G)^{-1},
/// which is T/2 where X spans every centred vector (p >= N in general).
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

enum class SuldaRoute {
  kAuto,       ///< simplex for a rank of some hundred at most, splitting beyond
  kSimplex,    ///< the linear program, over a growing set of columns
  kSplitting,  ///< alternating directions, ended by a crossover to a vertex
};

/// What no user sets.
struct SuldaTuning {
  SuldaRoute route = SuldaRoute::kAuto;
};

/// `fit` has one answer, whatever lambda; ScoringFit::lambda and lambda_max() are 0. The objective is
/// sum_k |beta_k|_1 in the coordinates of `problem`; `gap` is the duality gap of that sum relative to it; an
/// optimal vertex has at most rank(X) nonzeros in each column. Every B satisfies the equations, one from a
/// run that was ended early as well. The trace holds the discriminants done plus the best value of the
/// current one, round by round. max_iterations: pivots or splitting steps for one discriminant.
[[nodiscard]] std::unique_ptr<ScoringSolver> sulda_solver(const ScoringProblem& problem, const Sulda& options,
                                                          int threads = 0, const SuldaTuning& tuning = {});

}  // namespace subspectra
