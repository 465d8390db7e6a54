#pragma once
/// Result files that become a page. They may come from anybody: what the page and the figures read is looked
/// at here.
#include <nlohmann/json.hpp>
#include <string>

namespace subspectra {

/// Throws BadInput with the file and the member: no JSON, no result that a page can show, a member of the
/// wrong type, a number that is not finite, a list of the wrong length, a feature that the table does not
/// have.
void check_page_result(const nlohmann::json& result, const std::string& file);

/// A result file, checked, or the log of an exact search (JSON lines) as the array of its events.
[[nodiscard]] nlohmann::json read_page_input(const std::string& path);
/// The same of a text; `name` stands for its file in what is refused.
[[nodiscard]] nlohmann::json parse_page_input(const std::string& text, const std::string& name);

}  // namespace subspectra
