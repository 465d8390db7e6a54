#pragma once
#include <string>

#include "data/feature_names.hpp"
#include "data/groups.hpp"

namespace subspectra {

/// Reads a CSV file (`.tsv`: tabs; gzip is recognised) with the header `feature,group` and one feature a
/// line, each at most once. A name that stands for several columns puts all of them into the group; a column
/// that is not listed is a group of its own with its own name. Throws BadInput with FILE:LINE:COLUMN: another
/// header, an unknown feature (with near names), one listed twice, an empty name, a group named like a
/// feature that is not listed.
[[nodiscard]] FeatureGroups read_groups(const std::string& path, const FeatureNames& names,
                                        std::uint64_t memory_limit = 0);

}  // namespace subspectra
