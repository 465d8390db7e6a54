#pragma once
/// Where results and messages go: results to stdout or a file, everything else to stderr.
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/atomic_file.hpp"
#include "report/csv.hpp"

namespace subspectra::cli {

/// Text for people to standard output, printable: names come from files, and a terminal obeys what stands in
/// them. An Error with the system's reason when it cannot be written (a full disk behind a redirection).
void write_stdout(std::string_view text);

/// The same to standard error, whose being closed is no error.
void write_stderr(std::string_view text);

/// To a file by way of a temporary name, or to standard output when `path` is "-": byte for byte, unless that
/// is a terminal. `stop` ends waiting for somebody to read a pipe.
void write_result(const std::string& path, std::string_view text, const std::stop_token& stop = {});

/// -o: the result as its table where the name of the file ends in .csv, and as JSON, which `text` is,
/// elsewhere. `csv_safe`: no name in the table is a spreadsheet's formula.
void write_result_as_named(const std::string& path, const nlohmann::json& result, std::string_view text,
                           const std::stop_token& stop = {}, bool csv_safe = false);

/// "subspectra: KIND: SENTENCE" on stderr, options written as flags; line breaks inside become blanks, so
/// that it stays one line.
void say(std::string_view kind, std::string_view sentence);

/// Indented, with an array of plain values on one line; ends with a line break. Bytes that are no UTF-8 are
/// replaced.
[[nodiscard]] std::string json_text(const nlohmann::json& value);

}  // namespace subspectra::cli
