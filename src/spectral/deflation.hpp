#pragma once
/// Projection deflation (Mackey 2008): what is left of the variance when a direction x, |x| = 1, is projected
/// out, A <- (I - x x') A (I - x x'). It keeps A positive semidefinite, which Hotelling's A - lambda x x'
/// does not when x is no eigenvector of A, as sparse components are not.
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// x is `loadings` on the features `support`, zero elsewhere.
[[nodiscard]] Matrix deflated_covariance(const MatrixRef& a, const std::vector<Index>& support,
                                         const VectorRef& loadings);
/// The table whose covariance is deflated: X <- X (I - x x'). Only the columns of the support change.
[[nodiscard]] Dataset deflated(const Dataset& table, const std::vector<Index>& support,
                               const VectorRef& loadings);

}  // namespace subspectra
