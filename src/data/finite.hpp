#pragma once
/// Values that no method can compute with are refused where they come in, by column and row; later they would
/// be noticed as something else, an overflow of another column's squares for example.
#include <vector>

#include "core/types.hpp"

namespace subspectra {

class Dataset;

/// Throws BadInput that names source, column and row of the first value of these columns (column by column)
/// that is NaN or infinite.
void require_finite(const Dataset& data, const std::vector<Index>& columns);

}  // namespace subspectra
