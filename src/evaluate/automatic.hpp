#pragma once
/// What needs rows held out inside the training rows before it can choose features: the composite method
/// `auto`, and any method under `ridge cv`. docs/methods/auto.md
#include <string>

#include <subspectra/classifiers.hpp>
#include <subspectra/method.hpp>
#include <subspectra/selection.hpp>

#include "select/problem.hpp"

namespace subspectra {

/// run_method, and what it refuses: a composite method compares its candidates on folds of these rows and is
/// then run as the one it takes, with its report in `comparison`; under `ridge cv` the fraction is chosen on
/// the same folds, with the sizes of `options`. Candidates are judged by Fisher's rule where the classifier
/// is one that chooses something by itself, which would take hundreds of times as long. Stopped before one
/// fold was done a composite method has no set; a ridge is then the automatic one.
[[nodiscard]] Selection run_judged(const RowStatistics& rows, const Method& method,
                                   const SelectOptions& options, const Classifier& classifier,
                                   const RunControl& control);

/// "forward-lda, 24 features, ridge rel:0.3"
[[nodiscard]] std::string shown(const UsedConfiguration& used);

/// What was chosen and what it beat, in a sentence.
[[nodiscard]] std::string comparison_sentence(const ComparisonReport& report);

}  // namespace subspectra
