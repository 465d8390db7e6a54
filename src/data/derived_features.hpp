#pragma once
/// Features that are made of columns of the file: 0/1 columns of categories, and of what is missing.
#include <memory>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// Appends columns to the numbers of a table, and their names; the groups of categories stay. `memory` counts
/// them, if there is one.
void append_features(DatasetParts& data, const Matrix& columns, const std::vector<std::string>& names,
                     MemoryBudget* memory = nullptr);

/// One 0/1 column for every column of the file that lacks values in `with_gaps`, features of this table: "age
/// is missing". Those that were made of one category share theirs.
[[nodiscard]] Dataset with_missing_indicators(Dataset data, const std::vector<Index>& with_gaps,
                                              std::uint64_t memory_limit = 0);

/// The same for new rows: those of `features` that say where a column is missing. A column that is not there
/// makes none.
[[nodiscard]] Dataset with_missing_indicators(const Dataset& data,
                                              const std::vector<DerivedFeature>& features);

/// The groups of p features of which some were made of one column; null where each stands alone.
[[nodiscard]] std::shared_ptr<const FeatureGroups> category_groups(
    const FeatureNames& names, const std::vector<DerivedFeature>& derived);

}  // namespace subspectra
