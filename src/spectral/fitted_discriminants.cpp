#include "spectral/fitted_discriminants.hpp"

namespace subspectra {

FittedDiscriminants leading_columns(const FittedDiscriminants& record, Index count) {
  FittedDiscriminants leading = record;
  const auto columns = record.matrix.leftCols(count);
  std::vector<Index> used;
  for (Index i = 0; i < columns.rows(); ++i) {
    if ((columns.row(i).array() != 0.0).any()) used.push_back(i);
  }
  leading.features.clear();
  for (const Index i : used) leading.features.push_back(record.features[static_cast<std::size_t>(i)]);
  leading.matrix = columns(used, Eigen::all);
  leading.row_norms = leading.matrix.rowwise().norm();
  leading.entries = static_cast<Index>((leading.matrix.array() != 0.0).count());
  return leading;
}

}  // namespace subspectra
