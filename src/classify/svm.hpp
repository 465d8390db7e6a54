#pragma once
/// The linear support vector machine, one against the rest, for any number of classes (docs/models.md).
#include <subspectra/classifiers.hpp>

#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "classify/lda.hpp"
#include "classify/rule.hpp"
#include "core/types.hpp"

namespace subspectra {

/// f_c(x) = weights_c'(x - centre) + offset_c, one function a class. The class with the largest f_c is
/// predicted; p_c ~ exp(slope f_c) prior_c / share_c, so that equal priors and shares leave the machine's
/// answer as it is. Two classes have one machine, f_2 = -f_1.
struct SvmRule final : Rule {
  Vector centre;       ///< k, the mean of the training rows
  Matrix weights;      ///< k x K, in the units of the rows (the standard deviations are divided in)
  Vector offsets;      ///< K
  double slope = 1.0;  ///< > 0, from held-out rows
  Vector priors;       ///< K
  Vector shares;       ///< K: of the training rows; a class without rows has 0, and so probability 0
  double cost = 1.0;   ///< C that was used

  // The status time_limit or interrupted: C and slope by the folds looked at so far.
  [[nodiscard]] std::string_view classifier() const override { return Svm::kTraits.name; }
  [[nodiscard]] Matrix log_posteriors(const MatrixRef& rows) const override;  ///< n x k -> n x K, normalised
  [[nodiscard]] Index entries() const override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::string cut_short_sentence() const override;
  [[nodiscard]] nlohmann::json to_json() const override;
};

/// For each class, with y = +1 in it and -1 elsewhere, over z = (x - mean)/deviation of the training rows,
///     min_{w, b}  (|w|^2 + b^2)/2 + C sum_i max(0, 1 - y_i (w'z_i + b))^2,
/// by LIBLINEAR's trust-region Newton method on the primal, which draws no random numbers. A constant column
/// gets weight 0.
///
/// `folds`: the held-out rows (ascending) of each inner fold; folds whose other rows are of one class are
/// passed over. They choose C out of svm_costs() (the fewest errors, ties to the smallest C) and fit the
/// slope by maximum likelihood with Platt's smoothed targets, (n_c + 1)/(n_c + 2) for the true class. Without
/// folds C is 1 and the slope 1. The columns are standardized over all the rows, those of inner folds
/// included: labels are not looked at. Of `options` the
/// kernel is not looked at. `control` ends the work on folds with the best C so far (1 where none
/// has been through all folds); the machines themselves are trained to the end.
[[nodiscard]] SvmRule fit_svm(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                              const std::vector<std::vector<Index>>& folds, const Svm& options,
                              const RunControl& control = RunControl());

/// What a machine that was stopped before the folds had ended has to say of its C; empty for another status.
[[nodiscard]] std::string svm_cut_short_sentence(Status status, double cost);

/// K: the share of the rows that each class has.
[[nodiscard]] Vector class_shares(const std::vector<int>& codes, Index classes);

/// The values of C that are tried: 4^-6, ..., 4^3.
[[nodiscard]] const std::vector<double>& svm_costs();

}  // namespace subspectra
