#include "search/units.hpp"

#include <algorithm>

namespace subspectra {

std::vector<Index> SearchUnits::features() const {
  std::vector<Index> all;
  for (const auto& unit : members) all.insert(all.end(), unit.begin(), unit.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Index> SearchUnits::features(const std::vector<Index>& units) const {
  std::vector<Index> all;
  for (const Index u : units) {
    const auto& unit = members[static_cast<std::size_t>(u)];
    all.insert(all.end(), unit.begin(), unit.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<char> SearchUnits::included() const {
  std::vector<char> flags(members.size(), 0);
  for (const Index u : include) flags[static_cast<std::size_t>(u)] = 1;
  return flags;
}

bool SearchUnits::one_each() const {
  return std::all_of(members.begin(), members.end(), [](const auto& own) { return own.size() == 1; });
}

SearchUnits SearchUnits::singles(const std::vector<Index>& candidates, const std::vector<Index>& include) {
  SearchUnits units;
  for (const Index j : candidates) {
    if (std::binary_search(include.begin(), include.end(), j)) units.include.push_back(units.count());
    units.members.push_back({j});
  }
  return units;
}

}  // namespace subspectra
