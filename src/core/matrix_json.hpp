#pragma once
#include <nlohmann/json.hpp>

#include "core/types.hpp"

namespace subspectra {

[[nodiscard]] inline nlohmann::json to_json(const Vector& values) {
  return std::vector<double>(values.begin(), values.end());
}

/// A list of rows.
[[nodiscard]] inline nlohmann::json to_json(const Matrix& matrix) {
  nlohmann::json rows = nlohmann::json::array();
  for (Index i = 0; i < matrix.rows(); ++i) rows.push_back(to_json(Vector(matrix.row(i))));
  return rows;
}

}  // namespace subspectra
