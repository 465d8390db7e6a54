#include "io/categories.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "io/text_kinds.hpp"

namespace subspectra {

CategoryColumn category_of(const SideColumn& column, const std::map<std::string_view, std::size_t>& values) {
  CategoryColumn category{.column = &column, .features = {}, .values = values.size()};
  if (const auto truth = truth_values(values)) {
    category.features.push_back({.name = column.name, .column = column.name, .value = truth->second});
    category.first = {.name = fmt::format("{}={}", column.name, truth->first),
                      .column = column.name,
                      .value = truth->first};
    return category;
  }
  bool first = true;
  for (const auto& [value, rows] : values) {
    DerivedFeature feature{
        .name = fmt::format("{}={}", column.name, value), .column = column.name, .value = std::string(value)};
    if (std::exchange(first, false)) {
      category.first = std::move(feature);
    } else {
      category.features.push_back(std::move(feature));
    }
  }
  return category;
}

Matrix category_values(const std::vector<std::string>& texts, const std::vector<DerivedFeature>& features) {
  Matrix values = Matrix::Zero(static_cast<Index>(texts.size()), static_cast<Index>(features.size()));
  for (Index i = 0; i < values.rows(); ++i) {
    const std::string& text = texts[static_cast<std::size_t>(i)];
    for (Index j = 0; j < values.cols(); ++j) {
      if (text.empty()) {
        values(i, j) = std::numeric_limits<double>::quiet_NaN();
      } else if (text == features[static_cast<std::size_t>(j)].value) {
        values(i, j) = 1.0;
      }
    }
  }
  return values;
}

}  // namespace subspectra
