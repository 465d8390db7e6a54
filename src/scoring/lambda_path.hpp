#pragma once
/// Fits along a grid of lambdas.
#include <vector>

#include "scoring/solver.hpp"

namespace subspectra {

/// `count` numbers from `largest` down to `ratio` times it, evenly spaced in their logarithm.
[[nodiscard]] std::vector<double> lambda_grid(double largest, double ratio, Index count);

/// One fit a lambda, in the order of `lambdas` (falling), each started from the one before it, or from the
/// one after it where the solver rises. A falling run ends after two fits in a row with more than
/// `most_features`; a run that is told to stop ends with the fits it has.
[[nodiscard]] std::vector<ScoringFit> fit_lambda_path(ScoringSolver& solver,
                                                      const std::vector<double>& lambdas, Index most_features,
                                                      const RunControl& control);

}  // namespace subspectra
