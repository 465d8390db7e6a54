#pragma once
/// Fits along a grid of lambdas.
#include <vector>

#include "scoring/solver.hpp"

namespace subspectra {

/// One fit a lambda, in the order of `lambdas` (falling), each started from the one before it, or from the
/// one after it where the solver rises. A falling run ends after two fits in a row with more than
/// `most_features`; a run that is told to stop ends with the fits it has.
[[nodiscard]] std::vector<ScoringFit> fit_lambda_path(ScoringSolver& solver,
                                                      const std::vector<double>& lambdas, Index most_features,
                                                      const RunControl& control);

}  // namespace subspectra
