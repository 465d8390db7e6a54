#pragma once
/// rvm-entry (AISTATS15, Section 4): every entry of B has its own penalty, by reweighted l1. For each
/// discriminant
///     beta = argmin (1/N)|Y theta - X beta|^2 + lambda sum_i w_i |beta_i|,   w_i = 2 sqrt(z_i),
///     z_i = x_i'(alpha I + X Gamma X')^{-1} x_i,   Gamma = diag(|beta_i|/sqrt(z_i)),
/// (23) with the factor 2 that the derivative of the penalty has; then the scores that fit X B best. Starts
/// from Gamma = I. Most iterations are over the features at hand and their nearest rivals alone; the last
/// one, which moves nothing, is over all.
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

/// What no user sets.
struct RvmEntryTuning {
  double lasso_tolerance = 1e-7;  ///< duality gap of every weighted lasso, relative to |Y theta|^2/2
};

/// alpha not given is lambda N.
[[nodiscard]] std::unique_ptr<ScoringSolver> rvm_entry_solver(const ScoringProblem& problem,
                                                              const RvmEntry& options, int threads = 0,
                                                              const RvmEntryTuning& tuning = {});

}  // namespace subspectra
