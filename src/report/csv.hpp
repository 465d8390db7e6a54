#pragma once
/// Result files as tables: the rows that a command prints, every digit of every number, for spreadsheets, R
/// and pandas.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace subspectra {

/// A text as CSV field, as RFC 4180 wants it. `safe`: a spreadsheet takes what begins with = + - @, a tab or
/// a carriage return for a formula and runs it; an apostrophe before it makes it text again (a number stays
/// as it is).
[[nodiscard]] std::string csv_field(std::string_view text, bool safe = false);

/// Entries with ; between; a ; or backslash within one stands behind a backslash.
[[nodiscard]] std::string csv_list(const std::vector<std::string>& entries);

/// The table of a result, by its schema: subspectra.selection/1 a row a set (of components, which have no
/// sets, a row a feature), evaluation/1 a row a method and size, reproduction/1 a row a number,
/// verification/1 a row a finding. The first row has the names of the columns; a column that no row has a
/// value for is left out. docs/formats/results.md says what is in them. `safe` as in csv_field. Throws Error
/// for another schema.
[[nodiscard]] std::string result_csv(const nlohmann::json& result, bool safe = false);

/// Whether a file of this name is to be CSV.
[[nodiscard]] bool is_csv_name(std::string_view path);

}  // namespace subspectra
