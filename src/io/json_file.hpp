#pragma once
/// JSON files that somebody gives: models, results, checkpoints.
#include <cstdint>
#include <string>
#include <string_view>

namespace subspectra {

/// The text of a regular file. Throws BadInput as checked_file_size does, and "is too large for WHAT" beyond
/// `largest` bytes; Error before memory is taken for a text that takes more than may be used, itself or as
/// the tree that parsing makes of it.
[[nodiscard]] std::string json_file_text(const std::string& path, std::uint64_t largest,
                                         std::string_view too_large, std::uint64_t memory_limit = 0);

}  // namespace subspectra
