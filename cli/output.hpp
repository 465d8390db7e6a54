#pragma once
/// Where results and messages go: results to stdout or a file, everything else to stderr.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace subspectra::cli {

/// Everything to standard output, or an Error with the system's reason (a full disk behind a redirection).
void write_stdout(std::string_view text);

/// To a file by way of a temporary name, or to standard output when `path` is "-".
void write_result(const std::string& path, std::string_view text);

/// Throws Error when `path` clearly cannot be written (no such directory, no permission): said before the
/// work, not after it. "" and "-" pass.
void require_writable(const std::string& path);

/// "subspectra: KIND: SENTENCE" on stderr, options written as flags; line breaks inside become blanks, so
/// that it stays one line.
void say(std::string_view kind, std::string_view sentence);

/// Indented, with an array of plain values on one line; ends with a line break. Bytes that are no UTF-8 are
/// replaced.
[[nodiscard]] std::string json_text(const nlohmann::json& value);

/// A CSV field as RFC 4180 wants it.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace subspectra::cli
