#pragma once
/// Fisher's discriminants with an l1 penalty (Witten & Tibshirani 2011), one after the other:
///     max_b  b'Sigma_b^k b - lambda sum_j sigma_j |b_j|    subject to    sum_j sigma_j^2 b_j^2 <= 1,
/// sigma_j^2 the variance of column j within the classes (divisor N), or a little where that is none (a
/// column that is constant within every class could be had for nothing), and
///     Sigma_b^k = (1/N) X'Y (Y'Y)^{-1/2} P_k (Y'Y)^{-1/2} Y'X,
/// P_k the projector orthogonal to (Y'Y)^{-1/2} Y'X b_i, i < k. The criterion is convex, so that its tangent
/// at b minorizes it; the maximum of the tangent minus the penalty over the ellipsoid is, with c = Sigma_b^k
/// b,
///     d_j = soft(c_j, lambda sigma_j/2)/sigma_j^2,    b = d/sqrt(sum_j sigma_j^2 d_j^2),  0 where d = 0,
/// and going there never lowers the criterion. What comes out is a local maximum, the one that belongs to the
/// start: the leading eigenvector of diag(sigma)^{-2} Sigma_b^k with sum_j sigma_j^2 b_j^2 = 1, the largest
/// sigma_j b_j positive. A fit therefore depends on lambda alone and not on the fits before it.
///
/// Rescaling a column changes its row of B and nothing else.
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

/// `fit` gives B in the coordinates of `problem`; a discriminant that the penalty leaves nothing of is 0, and
/// so are the ones after it, whose start would be the same. ScoringFit::objective is the sum of the maximized
/// criteria (larger is better); the trace holds, iteration by iteration, the discriminants done plus the
/// current one, and rises within each. There is no gap. `lambda_max` is the smallest lambda for which the
/// first discriminant ends at 0, up to 0.1 % above it: at 2 max_j |c_j|/sigma_j of the start the first step
/// does, but later steps do for much smaller ones, and bisection finds from where on. Just below it the local
/// maximum can have a negative criterion, which b = 0 would better; it is reported as it is.
[[nodiscard]] std::unique_ptr<ScoringSolver> plda_solver(const ScoringProblem& problem, const Plda& options,
                                                         int threads = 0);

}  // namespace subspectra
