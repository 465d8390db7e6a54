#pragma once
/// What a greedy search moves: single features, or groups of them that enter and leave as a whole.
#include <vector>

#include "core/types.hpp"

namespace subspectra {

struct SearchUnits {
  std::vector<std::vector<Index>>
      members;                 ///< of each unit: ascending pencil positions; units by their lowest
  std::vector<Index> include;  ///< units that are in every set, ascending
  bool single = true;          ///< every unit is one feature
  std::vector<Index> group;    ///< of each unit its group in the user's list; empty when single

  [[nodiscard]] Index count() const { return static_cast<Index>(members.size()); }
  [[nodiscard]] std::vector<Index> features() const;  ///< of all units, ascending
  [[nodiscard]] std::vector<Index> features(const std::vector<Index>& units) const;  ///< ascending
  [[nodiscard]] std::vector<char> included() const;                                  ///< by unit
  [[nodiscard]] bool one_each() const;  ///< single features, or groups of one
  /// Every candidate its own unit.
  static SearchUnits singles(const std::vector<Index>& candidates, const std::vector<Index>& include);
};

}  // namespace subspectra
