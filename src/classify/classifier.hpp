#pragma once
/// How classifiers are trained on some features of a table.
#include <subspectra/classifiers.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "classify/classifier_kind.hpp"
#include "classify/rule.hpp"
#include "data/dataset.hpp"
#include "spectral/fitted_discriminants.hpp"

namespace subspectra {

/// Trains the chosen classifier on one set after another of the same training rows, doing once what they
/// share.
class ClassifierTrainer {
 public:
  /// `training` is prepared and labelled. `features` ascending: the columns that sets are taken from. `ridge`
  /// is added to the diagonal of the within-class covariance (LDA). Throws InvalidArgument for options that
  /// break their rules, and for row weights where the classifier takes none.
  ClassifierTrainer(const Dataset& training, const std::vector<Index>& features, const RidgeAmount& ridge,
                    const Classifier& classifier, const TrainingContext& context = {});
  /// On the features with these places among `features`. Throws Infeasible where the rule does not exist.
  /// `control` cuts short what the training chooses by itself; there is a rule in any case.
  [[nodiscard]] RulePointer fit(const std::vector<Index>& places,
                                const RunControl& control = RunControl()) const;
  [[nodiscard]] RulePointer fit(const RunControl& control = RunControl()) const;  ///< on all of them

 private:
  std::unique_ptr<const SetTrainer> trainer_;
};

/// Throws InvalidArgument where row weights differ: `what` ("method svm-rfe") counts every row once, and
/// `instead` does not.
void refuse_weights(const Dataset& training, std::string_view what, std::string_view instead);

/// The rule on z = B'x, x the columns `features` of the prepared rows, as a rule on x. LDA:
/// fit_projected_lda.
[[nodiscard]] RulePointer fit_projected(const Dataset& training, const std::vector<Index>& features,
                                        const MatrixRef& b, const Classifier& classifier,
                                        const TrainingContext& context = {},
                                        const RunControl& control = RunControl());

/// The rule in the space of discriminants that a method fitted on the prepared rows `training`.
[[nodiscard]] RulePointer fit_rule(const Dataset& training, const FittedDiscriminants& discriminants,
                                   const Classifier& classifier, const TrainingContext& context = {},
                                   const RunControl& control = RunControl());

/// Says so in `warnings` when more discriminants are asked for than the classes of `data` have.
void warn_of_components(const Dataset& data, Index components, std::vector<std::string>& warnings);

/// Says so when the options do not suit a training set of `rows` (more neighbours than rows).
void warn_of_few_rows(Index rows, const Classifier& classifier, std::vector<std::string>& warnings);

/// Held-out rows of the folds inside a training set, by which the SVM chooses C and the scale of its
/// probabilities: five, or as many as the smallest class has rows; rows of a class with a single row are
/// never held out, groups (`cv_groups`) stay together. Empty where two classes with two rows are not to be
/// had.
[[nodiscard]] std::vector<std::vector<Index>> inner_folds(const Dataset& training, std::uint64_t seed);

}  // namespace subspectra
