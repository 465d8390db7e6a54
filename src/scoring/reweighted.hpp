#pragma once
/// Iteratively reweighted ridge regression, AISTATS15 Eq. (20): with a variance gamma_i for every feature,
///     B = Gamma X'(lambda N I + X Gamma X')^{-1} T,
/// then new variances from B. The rule makes the method: the relevance vector machine (24) or its fast form,
/// or Figueiredo's penalty (Jeffreys' prior). A variance that falls below the threshold takes its feature out
/// for good, so that an iteration costs less and less.
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <subspectra/scoring.hpp>

#include "core/options.hpp"
#include "scoring/solver.hpp"

namespace subspectra {

/// What ends the iterations.
struct IterationOptions {
  Index max_iterations = 1000;
  double tolerance = 1e-6;  ///< largest change of a row norm over the largest row norm; 0 runs all iterations
  int threads = 0;
};

struct RvmOptions {
  double alpha = 0.0;  ///< of the penalty (22); 0: lambda N, which makes it EM for the evidence
  /// A feature leaves when gamma_i <= prune max(max_j gamma_j, lambda N).
  double prune = 1e-6;
  RvmUpdate update = RvmUpdate::kFast;
  bool warm = false;  ///< a larger lambda than the last goes on from the last fit's features and variances
  IterationOptions iterations;
};

struct JeffreysOptions {
  double epsilon = 1e-10;  ///< phi = sum_i log(|b_i|^2 + epsilon)
  double prune = 1e-6;
  IterationOptions iterations;
};

/// rvm-row. Every fit starts from gamma = 1 unless the solver is told to go on from the last one. With a
/// threshold for variances, features on their way out at the end are taken out where that lowers the cost.
[[nodiscard]] std::unique_ptr<ScoringSolver> rvm_row_solver(const ScoringProblem& problem,
                                                            const RvmOptions& options);
/// jeffreys-row, from gamma = 1.
[[nodiscard]] std::unique_ptr<ScoringSolver> jeffreys_row_solver(const ScoringProblem& problem,
                                                                 const JeffreysOptions& options);
/// jeffreys-entry: every discriminant has variances of its own; the scores follow B.
[[nodiscard]] std::unique_ptr<ScoringSolver> jeffreys_entry_solver(const ScoringProblem& problem,
                                                                   const JeffreysOptions& options);

}  // namespace subspectra
