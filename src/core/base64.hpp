#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace subspectra {

/// Bytes as letters of RFC 4648, padded.
[[nodiscard]] std::string base64(std::string_view bytes);
/// The bytes again; nothing where the text is not what base64() writes of any.
[[nodiscard]] std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace subspectra
