#include "subspectra/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace subspectra {

std::string join_some(const std::vector<std::string>& entries, std::size_t shown) {
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(std::min(shown, entries.size()));
  std::string text = fmt::format("{}", fmt::join(entries.begin(), end, ", "));
  if (entries.size() > shown) text += fmt::format(" and {} more", entries.size() - shown);
  return text;
}

}  // namespace subspectra
