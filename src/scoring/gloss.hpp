#pragma once
/// GLOSS (Sanchez Merchante, Grandvalet & Govaert 2012; AISTATS15, Section 2): optimal scoring with a group
/// lasso,
///     min_B  (1/N)|Y Theta - X B|^2 + lambda sum_i |b_i|,
/// convex, and no rotation of Theta changes the rows it chooses: B turns with Theta.
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

/// `problem` must outlive the solver. max_iterations: sweeps for one lambda. `threads` are of no consequence
/// for the answer; 0: all cores.
[[nodiscard]] std::unique_ptr<ScoringSolver> gloss_solver(const ScoringProblem& problem,
                                                          const Gloss& options = {}, int threads = 0);

}  // namespace subspectra
