#pragma once
/// Result files, each with its schema: subspectra.selection/1, evaluation/1, clustering/1.
#include <nlohmann/json.hpp>

#include <subspectra/selection.hpp>
#include "cluster/clustering.hpp"
#include "evaluate/cross_validation.hpp"

namespace subspectra {

struct ResultContext {
  nlohmann::json options = nlohmann::json::object();  ///< every option as used
  double read_s = 0.0, total_s = 0.0;
  const FeatureGroups* groups = nullptr;  ///< of `groups`
  Spelling spelling = Spelling::kCpp;     ///< of options in `warnings`
};

[[nodiscard]] nlohmann::json data_json(const Dataset& data);  ///< the `data` member
[[nodiscard]] nlohmann::json selection_json(const Selection& selection, const Dataset& data,
                                            const ResultContext& context);
[[nodiscard]] nlohmann::json evaluation_json(const Evaluation& evaluation, const Dataset& data,
                                             const ResultContext& context);
/// Among the options as used: the ridge when all rows train, null where nothing needed one.
[[nodiscard]] nlohmann::json ridge_all_rows_json(const Evaluation& evaluation);
/// An entry of `folds`.
[[nodiscard]] nlohmann::json fold_json(const EvaluationFold& fold);
[[nodiscard]] nlohmann::json clustering_json(const Clustering& clustering, const Dataset& data,
                                             const ResultContext& context);

}  // namespace subspectra
