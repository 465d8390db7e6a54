#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace subspectra {

std::string join_some(const std::vector<std::string>& entries, std::size_t shown) {
  return join_some(
      entries.size(), [&](std::size_t i) { return entries[i]; }, shown);
}

std::string join_some(std::size_t count, const std::function<std::string(std::size_t)>& entry,
                      std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, count); ++i) text += (i > 0 ? ", " : "") + entry(i);
  if (count > shown) text += fmt::format(" and {} more", count - shown);
  return text;
}

}  // namespace subspectra
