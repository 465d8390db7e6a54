#pragma once
/// Features that are chosen together: `groups` FILE.
#include <string>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// A partition of the p features. Groups are ordered by their lowest feature.
struct FeatureGroups {
  std::vector<std::string> names;
  std::vector<std::vector<Index>> members;  ///< ascending, none empty; every feature in exactly one
  std::vector<Index> group_of;              ///< p positions in `names`

  [[nodiscard]] Index size() const { return static_cast<Index>(names.size()); }
};

}  // namespace subspectra
