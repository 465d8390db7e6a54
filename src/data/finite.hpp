#pragma once
/// Values that no method can compute with are refused where they come in, by column and row; later they would
/// be noticed as something else, an overflow of another column's squares for example.
#include <Eigen/SparseCore>

#include "core/types.hpp"
#include "data/feature_names.hpp"

namespace subspectra {

class Dataset;

/// Any dense table in memory, by rows, by columns or with gaps.
using StridedValues = Eigen::Ref<const Matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// Throws BadInput that names column and row of the first value (column by column) that is NaN or infinite.
void require_finite(const StridedValues& values, const FeatureNames& names);
void require_finite(const Eigen::Ref<const Eigen::SparseMatrix<double>>& values, const FeatureNames& names);
/// The same for these columns of a table, whose source comes first in the sentence.
void require_finite(const Dataset& data, const std::vector<Index>& columns);

}  // namespace subspectra
