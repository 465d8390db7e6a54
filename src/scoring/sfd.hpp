#pragma once
/// The sparse Fisher discriminant of Mika, Ratsch & Muller (2001) for two classes,
///     min_{w, b, xi}  |w|_1 + C sum_i xi_i^2,    w'x_i + b = y_i + xi_i,   y = +/-1,
/// over the centred, unit-norm columns: b drops out and a lasso on the centred labels is left,
///     min_w  |y - X w|^2 + lambda |w|_1,    lambda = 1/C.
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

/// A fit's lambda is 1/C and its objective that of the last line above: 1/C times the first one. y = +1 is
/// the class with the positive score; `scores` are the centred labels, a multiple of problem.scores, so that
/// X B approximates scored_classes(problem, scores) as for the other methods. Throws InvalidArgument unless
/// two classes have rows. `problem` must outlive the solver. max_iterations:
/// sweeps for one lambda. `threads` are of no consequence for the answer; 0: all cores.
[[nodiscard]] std::unique_ptr<ScoringSolver> sfd_solver(const ScoringProblem& problem,
                                                        const Sfd& options = {}, int threads = 0);

}  // namespace subspectra
