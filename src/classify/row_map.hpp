#pragma once
/// From the rows of a table to the space in which a classifier that keeps training rows works.
#include <nlohmann/json_fwd.hpp>

#include "core/types.hpp"

namespace subspectra {

class ModelReader;

/// z = scale o (B'(x - centre)); without a projection z = scale o (x - centre), without scales they are 1.
struct RowMap {
  Vector centre;      ///< k
  Matrix projection;  ///< B, k x L; has_projection says whether it is used
  bool has_projection = false;
  Vector scale;                                                  ///< L, or empty
  [[nodiscard]] Index width() const;                             ///< L
  [[nodiscard]] Matrix operator()(const MatrixRef& rows) const;  ///< n x k -> n x L
};

/// The member `projection` of a model file, null where there is none.
[[nodiscard]] nlohmann::json projection_json(const RowMap& map);
/// From a model file, for k columns; with a centre of 0 and no scales. Throws BadInput.
[[nodiscard]] RowMap read_projection(const ModelReader& reader, Index k);

/// Columns with mean 0 and deviation 1 (divisor n); a constant column becomes 0.
struct StandardizedRows {
  Vector centre;         ///< k, the means
  Vector inverse_scale;  ///< k, 1/deviation; 0 for a constant column
  Matrix z;              ///< n x k
};
[[nodiscard]] StandardizedRows standardize_rows(const MatrixRef& rows);

/// |a_i - b_j|^2 by |a_i|^2 + |b_j|^2 - 2 a_i'b_j (a n x L, b m x L), never negative; infinite where a square
/// overflows.   2 n m L flops.
[[nodiscard]] Matrix squared_distances(const MatrixRef& a, const MatrixRef& b);

}  // namespace subspectra
