#pragma once
/// A trained classifier with everything it needs to be applied to new rows: `subspectra.model/1`.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "classify/classifier.hpp"
#include "data/dataset.hpp"
#include "data/prepare.hpp"
#include "spectral/fitted_discriminants.hpp"

namespace subspectra {

struct TrainedModel {
  std::string method;  ///< that chose the features
  std::string target;  ///< name of the label column
  std::vector<std::string> classes;
  std::vector<Index> features;     ///< columns of the training table, ascending
  std::vector<std::string> names;  ///< of these
  bool names_given = true;         ///< false: the table had none and columns are matched by position
  Index training_features = 0;     ///< p of the training table, without what says where values are missing
  /// The features that are made of columns of the file: new rows get them in the same way.
  std::vector<DerivedFeature> derived;
  std::string id;  ///< the column that named the training rows, "" if there was none
  Index training_rows = 0;
  Preparation preparation;  ///< restricted to the chosen features
  RidgeAmount ridge;
  std::string status;  ///< how the fit ended, as its file says; "" where it does not
  RulePointer rule;    ///< what the classifier has learned

  [[nodiscard]] nlohmann::json to_json() const;
  /// Checks schema, sizes and finiteness before use; throws BadInput naming the file and the field.
  static TrainedModel from_json(const nlohmann::json& json, const std::string& file);
  /// The same from the text of a model file, and from a file.
  static TrainedModel parse(std::string_view content, const std::string& file);
  static TrainedModel load(const std::string& path, std::uint64_t memory_limit = 0);
};

/// The columns that new rows must have as numbers: those the model uses, and those it makes features of.
[[nodiscard]] std::vector<std::string> needed_columns(const TrainedModel& model);

/// The columns of `data` that the model uses, in its order. Throws BadInput that names those `data` lacks.
[[nodiscard]] Dataset model_columns(const TrainedModel& model, const Dataset& data);

/// Matches columns by name (by position where there are none), fills in missing values as trained, and gives
/// the n x K class probabilities. Throws BadInput that names the columns `data` lacks. `memory_limit` holds
/// for the columns, the probabilities and a text of them.
[[nodiscard]] Matrix predict_probabilities(const TrainedModel& model, const Dataset& data,
                                           std::uint64_t memory_limit = 0);

/// Trains the classifier on the features of fitted discriminants, with the rule in their space. Here and
/// below `seed` is that of TrainingContext and `control` that of ClassifierTrainer::fit.
[[nodiscard]] TrainedModel fit_model(const Dataset& training, const Preparation& preparation,
                                     const std::string& method, const FittedDiscriminants& discriminants,
                                     const Classifier& classifier, std::uint64_t seed = 0,
                                     const RunControl& control = RunControl());

/// Trains the classifier on the chosen features of `training` (values checked, not yet prepared). Here and
/// above rows without a label are left out; throws BadInput when none has one.
[[nodiscard]] TrainedModel fit_model(const Dataset& training, const Preparation& preparation,
                                     const std::string& method, const std::vector<Index>& features,
                                     const RidgeAmount& ridge, const Classifier& classifier,
                                     std::uint64_t seed = 0, const RunControl& control = RunControl());

}  // namespace subspectra
