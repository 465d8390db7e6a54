#pragma once
/// What a page can say only with the table at hand, and what no result file holds.
#include <nlohmann/json.hpp>

#include "data/dataset.hpp"
#include "report/page.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// For a selection: `drop_loss`, by k the share of the objective that is lost without each feature (what is
/// left is fitted again); `near`, features that agree with one of a set to a correlation of .95 and more; and
/// under a shape `class_means`. For a selection of an exact search `greedy`, by k the objective that adding
/// and dropping single features ends at. `result` is checked; `prepared` is the table it was made of,
/// prepared as then; `options` those of the selection, with its ridge.
[[nodiscard]] nlohmann::json page_facts(const nlohmann::json& result, const Dataset& prepared,
                                        const SelectOptions& options, const ImageShape& shape);

}  // namespace subspectra
