#include "spectral/deflation.hpp"

namespace subspectra {

Matrix deflated_covariance(const MatrixRef& a, const std::vector<Index>& support, const VectorRef& loadings) {
  Vector x = Vector::Zero(a.rows());
  for (Index i = 0; i < loadings.size(); ++i) x[support[static_cast<std::size_t>(i)]] = loadings[i];
  const Vector ax = a * x;
  const double variance = x.dot(ax);
  Matrix out = a - ax * x.transpose() - x * ax.transpose() + variance * x * x.transpose();
  return 0.5 * (out + out.transpose());
}

Dataset deflated(const Dataset& table, const std::vector<Index>& support, const VectorRef& loadings) {
  const Matrix part = table.values().columns(support);
  const Matrix changed = part - (part * loadings) * loadings.transpose();
  DatasetParts data = table.parts();  // a copy: these columns change
  if (!data.is_sparse) {
    for (std::size_t i = 0; i < support.size(); ++i)
      data.dense.col(support[i]) = changed.col(static_cast<Index>(i));
    return data;
  }
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(data.sparse.nonZeros()) +
                  static_cast<std::size_t>(changed.size()));
  std::size_t next = 0;
  for (Index j = 0; j < data.sparse.cols(); ++j) {
    if (next < support.size() && support[next] == j) {
      for (Index i = 0; i < changed.rows(); ++i) {
        const double value = changed(i, static_cast<Index>(next));
        if (value != 0.0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
      }
      ++next;
      continue;
    }
    for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) {
      entries.emplace_back(static_cast<int>(it.row()), static_cast<int>(j), it.value());
    }
  }
  SparseMatrix sparse(data.sparse.rows(), data.sparse.cols());
  sparse.setFromTriplets(entries.begin(), entries.end());
  sparse.makeCompressed();
  data.sparse.swap(sparse);
  return data;
}

}  // namespace subspectra
