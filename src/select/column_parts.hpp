#pragma once
/// Filters in parts: every part looks at columns of its own, one after another in the table.
#include <functional>

#include "data/moments.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// Whether this run does one part of the work, so that it has no answer.
[[nodiscard]] bool runs_one_part(const SelectOptions& options);

/// `score` of the class moments: in a whole run those of all columns; put together those that the parts
/// found, bit for bit the same. The run of one part keeps the moments of its columns, and there are no
/// scores.
[[nodiscard]] Vector moment_scores(const Problem& problem, Vector (*score)(const Moments&));

/// The same of scores that need no moments: `score` gives those of a table with some of the columns.
[[nodiscard]] Vector column_scores(const Problem& problem,
                                   const std::function<Vector(const Dataset&)>& score);

}  // namespace subspectra
