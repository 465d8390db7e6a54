#pragma once
#include <string>

#include "data/dataset.hpp"

namespace subspectra {

/// A hash of all that an answer can depend on: every number, the names of the features, labels, weights and
/// groups of the rows, and `groups` of the features where they are given. One pass over the table.
[[nodiscard]] std::string table_digest(const Dataset& data, const FeatureGroups* groups, int threads);

}  // namespace subspectra
