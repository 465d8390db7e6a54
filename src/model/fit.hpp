#pragma once
/// From a table to a model: the size chosen by cross-validation where it was not given, the features on all
/// rows, the rule.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/model.hpp>

#include "evaluate/cross_validation.hpp"
#include "model/model.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// How many features there are, and who says so.
struct ChosenSize {
  KRange k;                              ///< the one size; the whole range if stopped before any was judged
  std::optional<Evaluation> evaluation;  ///< that chose k; nothing when k was given
  EvaluationChoice choice = {};          ///< by the folds that ran, be they too few for `evaluation->chosen`
  [[nodiscard]] bool unjudged() const { return evaluation && evaluation->rows.empty(); }
};

/// A model with the way it came about.
struct FitResult {
  TrainedModel model;
  Selection selection;
  ChosenSize chosen;
  Index k = 0;
  Status status = Status::kInterrupted;
  std::vector<std::string> warnings;
  std::string file;  ///< the text of the model file
  std::string note;  ///< how k was chosen, in a sentence; empty where it was given or could not be judged
};

/// `data` has passed check_values and has labels. `k` of `selection`: one size is taken as it is; a range, or
/// none, is decided by 5-fold cross-validation, the smallest size within one standard error of the best. A
/// limit or a signal ends the choice of k, and the method with the best set or the ranking it has; what a
/// model needs at least is run in any case: the passes of an exact search, and of other methods that have no
/// set of the size yet one forward pass in their place, which a warning says.
[[nodiscard]] FitResult fit_features(const Dataset& data, const Method& method,
                                     const SelectOptions& selection, const PrepareOptions& prepare,
                                     const Classifier& classifier, const RunControl& control);

/// The model file: the model, how k was chosen, and the options: those of the caller, then the classifier's,
/// then the method's as used.
[[nodiscard]] nlohmann::json model_json(const FitResult& fit, nlohmann::json options,
                                        const nlohmann::json& classifier_options, std::uint64_t seed);

}  // namespace subspectra
