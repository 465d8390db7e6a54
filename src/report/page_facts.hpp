#pragma once
/// What a page can say only with the table at hand, and what no result file holds.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/prepare.hpp"
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

/// What the file of a selection says of the rows it was made of, and of what sets were judged by.
struct ClaimedRows {
  Index rows = 0, features = 0;
  PrepareOptions prepare;
  std::vector<std::string> exclude;
  Criterion criterion = Criterion::kLargest;
  RidgeAmount ridge;
};
/// The same on a table as it was read, prepared as the file says. Throws BadInput where the rows are not so
/// many; `file` is the name of the result.
[[nodiscard]] nlohmann::json page_facts(const nlohmann::json& result, const std::string& file, Dataset table,
                                        const ClaimedRows& claimed, const ImageShape& shape);

}  // namespace subspectra
