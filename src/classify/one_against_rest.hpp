#pragma once
/// What support vector machines of one class against the rest share, whatever trains a single one: the
/// machines of all classes, the choice of C on held-out rows, and the scale of the probabilities.
#include <functional>
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra::one_against_rest {

/// Trains one machine on some rows: the coefficients of the columns of the inputs and, last, the offset.
using TrainOne =
    std::function<Vector(const std::vector<Index>& rows, const std::vector<char>& positive, double c)>;

/// What the machines are trained and judged on.
struct MachineRows {
  const Matrix& inputs;  ///< n x m: decisions are inputs * coefficients + offset
  const std::vector<int>& codes;
  const Vector& shares;  ///< K, of the rows
  const std::vector<std::vector<Index>>& folds;
  TrainOne train;
};

struct Fitted {
  Matrix machines;  ///< (m + 1) x K, the offsets in the last row
  double cost = 1.0, slope = 1.0;
  Status status = Status::kConverged;  ///< time_limit, interrupted: not every C and fold was looked at
};
/// `cost` infinite: out of svm_costs() by the fewest errors on held-out rows (fit_svm's words hold for all).
/// `control` ends the look at held-out rows; the machines are trained on all rows in any case.
[[nodiscard]] Fitted fit(const MachineRows& problem, double cost, const RunControl& control);

/// log p_c ~ slope f_c + log(prior_c/share_c), normalised; n x K decisions in.
[[nodiscard]] Matrix log_posteriors(Matrix decisions, double slope, const Vector& priors,
                                    const Vector& shares);

}  // namespace subspectra::one_against_rest
