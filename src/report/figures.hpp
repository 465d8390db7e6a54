#pragma once
/// The figures of a page as SVG files, drawn here.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace subspectra {

struct PageFigure {
  std::string file;  ///< "error-gslda.svg": letters, digits and hyphens whatever the method is called
  std::string svg;
};
/// Of page_data(): every figure that the results allow, at the size that the page opens with.
[[nodiscard]] std::vector<PageFigure> page_figures(const nlohmann::json& data);

}  // namespace subspectra
