#pragma once
/// Features that are chosen together: `groups` FILE.
#include <string>
#include <vector>

#include "core/types.hpp"
#include "data/feature_names.hpp"

namespace subspectra {

/// A partition of the p features. Groups are ordered by their lowest feature.
struct FeatureGroups {
  std::vector<std::string> names;
  std::vector<std::vector<Index>> members;  ///< ascending, none empty; every feature in exactly one
  std::vector<Index> group_of;              ///< p positions in `names`

  [[nodiscard]] Index size() const { return static_cast<Index>(names.size()); }
};

/// Reads a CSV file (`.tsv`: tabs; gzip is recognised) with the header `feature,group` and one feature a
/// line, each at most once. A name that stands for several columns puts all of them into the group; a column
/// that is not listed is a group of its own with its own name. Throws BadInput with FILE:LINE:COLUMN: another
/// header, an unknown feature (with near names), one listed twice, an empty name, a group named like a
/// feature that is not listed.
[[nodiscard]] FeatureGroups read_groups(const std::string& path, const FeatureNames& names);

}  // namespace subspectra
