#pragma once
/// Iteratively reweighted ridge regression, AISTATS15 Eq. (20): with a variance gamma_i for every feature,
///     B = Gamma X'(lambda N I + X Gamma X')^{-1} T,
/// then new variances from B. The rule makes the method: the relevance vector machine (24) or its fast form,
/// or Figueiredo's penalty (Jeffreys' prior). A variance that falls below the threshold takes its feature out
/// for good, so that an iteration costs less and less.
#include <memory>

#include <subspectra/scoring.hpp>

#include "scoring/solver.hpp"

namespace subspectra {

/// rvm-row. alpha not given is lambda N, which makes it EM for the evidence. A feature leaves when gamma_i <=
/// prune max(max_j gamma_j, lambda N). Every fit starts from gamma = 1 unless the solver is `warm`: then a
/// larger lambda than the last goes on from the last fit's features and variances. With a threshold for
/// variances, features on their way out at the end are taken out where that lowers the cost.
[[nodiscard]] std::unique_ptr<ScoringSolver> rvm_row_solver(const ScoringProblem& problem,
                                                            const RvmRow& options, int threads = 0,
                                                            bool warm = false);
/// jeffreys-row, from gamma = 1: phi = sum_i log(|b_i|^2 + epsilon).
[[nodiscard]] std::unique_ptr<ScoringSolver> jeffreys_row_solver(const ScoringProblem& problem,
                                                                 const JeffreysRow& options, int threads = 0);
/// jeffreys-entry: every discriminant has variances of its own; the scores follow B.
[[nodiscard]] std::unique_ptr<ScoringSolver> jeffreys_entry_solver(const ScoringProblem& problem,
                                                                   const JeffreysEntry& options,
                                                                   int threads = 0);

}  // namespace subspectra
