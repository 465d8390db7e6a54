#include "solvers/row_sparse_matrix.hpp"

namespace subspectra {

RowSparseMatrix nonzero_rows(const Matrix& b, const std::vector<Index>& columns) {
  RowSparseMatrix rows;
  std::vector<Index> kept;
  for (Index i = 0; i < b.rows(); ++i) {
    if (!(b.row(i).array() != 0.0).any()) continue;
    kept.push_back(i);
    rows.rows.push_back(columns.empty() ? i : columns[static_cast<std::size_t>(i)]);
  }
  rows.values = b(kept, Eigen::all);
  return rows;
}

}  // namespace subspectra
