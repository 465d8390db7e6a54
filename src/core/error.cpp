#include "core/error.hpp"

#include <fmt/format.h>

namespace subspectra {

std::string Location::text() const {
  if (!place.empty()) return fmt::format("{}: {}", file, place);
  if (line > 0 && column > 0) return fmt::format("{}:{}:{}", file, line, column);
  if (line > 0) return fmt::format("{}:{}", file, line);
  return file;
}

BadInput::BadInput(const Location& where, std::string_view what_is_wrong)
    : Error(fmt::format("{}: {}", where.text(), what_is_wrong)) {}

}  // namespace subspectra
