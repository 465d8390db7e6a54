#pragma once
/// What needs rows held out inside the training rows before it can choose features: the composite method
/// `auto`, and any method under `ridge cv`. docs/methods/auto.md
#include <string>

#include <subspectra/classifiers.hpp>
#include <subspectra/method.hpp>
#include <subspectra/selection.hpp>

#include "data/prepare.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// What sets are judged by.
struct Judging {
  const Classifier& classifier;
  Transform transform = Transform::kAuto;  ///< auto: the columns as they are and bent are compared
};

/// run_method, and what it refuses: a composite method compares its candidates on folds of these rows and is
/// then run as the one it takes, with its report in `comparison`; under `ridge cv` the fraction is chosen on
/// the same folds, with the sizes of `options`. Candidates are judged by Fisher's rule where the classifier
/// is one that chooses something by itself, which would take hundreds of times as long. Stopped before one
/// fold was done a composite method has no set; a ridge is then the automatic one.
[[nodiscard]] Selection run_judged(const RowStatistics& rows, const Method& method,
                                   const SelectOptions& options, const Judging& judging,
                                   const RunControl& control);

/// What makes rows as the rule of `found` sees them: `preparation`, which made `prepared`, and where the
/// comparison chose to bend the columns that, of `features`.
[[nodiscard]] Preparation preparation_of(const Selection& found, const Preparation& preparation,
                                         const Dataset& prepared, const std::vector<Index>& features,
                                         const Judging& judging);

/// The classifier to train on the sets of `found`: the one asked for, with the shrinkage that was chosen.
[[nodiscard]] Classifier classifier_of(const Selection& found, const Classifier& asked);

/// "forward-lda, 24 features, ridge rel:0.3"
[[nodiscard]] std::string shown(const UsedConfiguration& used);

/// What was chosen and what it beat, in a sentence.
[[nodiscard]] std::string comparison_sentence(const ComparisonReport& report);

}  // namespace subspectra
