#pragma once
/// Every held-out row and every fold of an evaluation, one by one.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include <subspectra/evaluate.hpp>

#include "data/dataset.hpp"

namespace subspectra {

/// `subspectra.evaluation-details/1`: `rows`, an entry a method and row, and `folds`, an entry a method and
/// held-out set. `evaluation` kept its predictions.
[[nodiscard]] nlohmann::json details_json(const Evaluation& evaluation, const Dataset& data);

/// The same as one CSV table: lines with "row" in the column `record`, then lines with "fold". Fields that
/// have no meaning for a record are empty. `safe` as in csv_field.
[[nodiscard]] std::string details_csv(const Evaluation& evaluation, const Dataset& data, bool safe = false);

}  // namespace subspectra
