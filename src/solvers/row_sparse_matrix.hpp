#pragma once
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// A matrix B with few nonzero rows, one a column of the table X it is applied to.
struct RowSparseMatrix {
  std::vector<Index> rows;  ///< ascending columns of X
  Matrix values;            ///< |rows| x L
  [[nodiscard]] Index entries() const { return static_cast<Index>((values.array() != 0.0).count()); }
};

/// The rows of `b` that are not zero; row i belongs to column `columns[i]` of X (empty: to column i).
[[nodiscard]] RowSparseMatrix nonzero_rows(const Matrix& b, const std::vector<Index>& columns = {});

}  // namespace subspectra
