#pragma once
/// GLOSS (Sanchez Merchante, Grandvalet & Govaert 2012; AISTATS15, Section 2): optimal scoring with a group
/// lasso,
///     min_B  (1/N)|Y Theta - X B|^2 + lambda sum_i |b_i|,
/// convex, and no rotation of Theta changes the rows it chooses: B turns with Theta.
#include <memory>

#include "scoring/solver.hpp"

namespace subspectra {

struct GlossOptions {
  double tolerance = 1e-7;     ///< duality gap relative to the objective at B = 0
  Index max_sweeps = 100'000;  ///< for one lambda
  int threads = 0;             ///< of no consequence for the answer; 0: all cores
};

/// `problem` must outlive the solver.
[[nodiscard]] std::unique_ptr<ScoringSolver> gloss_solver(const ScoringProblem& problem,
                                                          const GlossOptions& options = {});

}  // namespace subspectra
