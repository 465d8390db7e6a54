#pragma once
/// Columns in the papers' coordinates: centred, of unit norm.
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// x (N x |features|) <- these columns minus their weighted mean, times sqrt(weight), of unit norm; gives the
/// norms, 0 for a constant column, which becomes zero. Values of any size a double has are taken. Dense,
/// whether the table is sparse or not.
Vector unit_columns(const Dataset& data, const std::vector<Index>& features, const Vector& root_weights,
                    int threads, Matrix& x);

/// sqrt(w_i) of the sample weights scaled to a mean of 1; all 1 without weights.
[[nodiscard]] Vector root_weights(const Dataset& data);

}  // namespace subspectra
