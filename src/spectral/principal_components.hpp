#pragma once
/// Principal components of a table over some of its features.
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

struct PrincipalComponents {
  Vector variances;             ///< r eigenvalues of the covariance (divisor N), descending
  Matrix loadings;              ///< |features| x r, unit columns, the largest entry of each positive
  double total_variance = 0.0;  ///< of all these features
};

/// The first `count`, or as many as have a variance above max(N, p) 2^-52 of the first one. With more
/// features than rows from the N x N matrix of inner products: no p x p matrix is formed.
[[nodiscard]] PrincipalComponents principal_components(const Dataset& data,
                                                       const std::vector<Index>& features, Index count,
                                                       int threads);

}  // namespace subspectra
