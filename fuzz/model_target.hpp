#pragma once
#include "model/model.hpp"
#include "outcome.hpp"

/// The bytes as a model file; one that is accepted must also predict and survive being written and read
/// again.
inline void fuzz_model(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  try {
    const TrainedModel model = TrainedModel::parse(fuzzing::as_text(bytes), "input");
    const TrainedModel again = TrainedModel::parse(
        model.to_json().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "again");
    DatasetParts data;
    data.source = "rows";
    data.names = FeatureNames(again.names);
    data.dense = Matrix::Constant(2, static_cast<Index>(again.names.size()), 0.5);
    (void)predict_probabilities(again, data);
  } catch (const Error&) {  // refused with words
  }
}
