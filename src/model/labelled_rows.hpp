#pragma once
/// What a model says of rows whose classes are known.
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "model/model.hpp"

namespace subspectra {

struct LabelledRows {
  Index rows = 0;   ///< with a label
  Index wrong = 0;  ///< of these
  double error = 0.0;
  std::vector<std::string> truths;   ///< the classes of the model, then those that it does not know
  std::vector<std::string> unknown;  ///< the latter
  Index unknown_rows = 0;
  DenseMatrix confusion;  ///< rows by truth and by the class of the model that was named
};

/// `predicted`: a class of the model for every row. Nothing where no row has a label.
[[nodiscard]] std::optional<LabelledRows> judge_labelled_rows(const TrainedModel& model, const Dataset& data,
                                                              const std::vector<int>& predicted);

}  // namespace subspectra
