#pragma once
/// The page: results in one HTML file that needs no network (docs/report.md). What people look at is drawn by
/// report/src, whose bundle is embedded; here the results are made small, packed and put into it.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/image_shape.hpp"

namespace subspectra {

/// A result with what is known beside it.
struct PageResult {
  std::string name;        ///< of its file
  std::string command;     ///< that made it, as somebody would type it
  std::string flags = {};  ///< those of the command that another one on the same rows needs, too
  nlohmann::json result;   ///< checked (page_input.hpp), or of our own making
  nlohmann::json facts = nlohmann::json::object();  ///< page_facts.hpp
  nlohmann::json events = nlohmann::json::array();  ///< of an exact search
};

/// What the page is given, with lists cut where they are long and every cut told of in `left_out`. Rows of
/// the table are never in it.
[[nodiscard]] nlohmann::json page_data(const std::vector<PageResult>& results, const ImageShape& shape);

/// The whole file. Throws Error where the data do not fit into 15 MB even when cut.
[[nodiscard]] std::string page_html(const nlohmann::json& data);

}  // namespace subspectra
