#include "search/path.hpp"

#include <algorithm>

namespace subspectra {

const SizeBounds::Named* SizeBounds::best_upper() const {
  const auto found = std::min_element(upper.begin(), upper.end(),
                                      [](const Named& a, const Named& b) { return a.second < b.second; });
  return found == upper.end() ? nullptr : &*found;
}

std::optional<double> PathEntry::gap() const {
  if (!upper_bound) return std::nullopt;
  if (objective == 0.0) return *upper_bound == 0.0 ? std::optional(0.0) : std::nullopt;
  return (*upper_bound - objective) / objective;
}

}  // namespace subspectra
