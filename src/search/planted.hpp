#pragma once
/// A watch over a set that a search must not lose (ExactHooks::planted): tests plant the best set and debug
/// builds shout where a node that holds it is closed.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/types.hpp"

namespace subspectra::search {

/// Throws when `planted` lies in the family {kept + some of free} that is being closed, though `value` of it
/// beats `limit`. Does nothing in other builds, or for sets of another size than k.
template <class Kept, class Free, class Value>
void guard_planted([[maybe_unused]] const std::vector<Index>& planted, [[maybe_unused]] Index k,
                   [[maybe_unused]] const Kept& kept, [[maybe_unused]] const Free& free,
                   [[maybe_unused]] double limit, [[maybe_unused]] const Value& value) {
#ifndef NDEBUG
  if (planted.empty() || static_cast<Index>(planted.size()) != k) return;
  const auto has = [](const auto& list, Index u) {
    return std::any_of(list.begin(), list.end(), [&](const auto v) { return static_cast<Index>(v) == u; });
  };
  for (const auto u : kept) {
    if (!has(planted, static_cast<Index>(u))) return;
  }
  for (const Index u : planted) {
    if (!has(kept, u) && !has(free, u)) return;
  }
  if (value(planted) > limit) {
    throw std::logic_error("exact search: a node that holds the planted set was closed");
  }
#endif
}

}  // namespace subspectra::search
