#pragma once
#include <string>
#include <vector>

namespace subspectra {

/// "V3, V7, V9 and 4 more": the first `shown` entries, for messages.
[[nodiscard]] std::string join_some(const std::vector<std::string>& entries, std::size_t shown = 8);

}  // namespace subspectra
