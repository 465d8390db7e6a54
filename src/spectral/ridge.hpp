#pragma once
/// The number added to the diagonal of the within-class covariance B.
#include <functional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra {

struct ResolvedRidge {
  double value = 0.0;
  std::string note;  ///< why, in a sentence, when the rule had to add something; else empty
};

/// Where the within-class covariance of the rows is at hand, or can be made and kept.
using WithinRows = std::function<const CovarianceOperator&()>;

/// `auto`: nothing when B (over `candidates`) has full rank, i.e. lambda_min > p 2^-52 lambda_max; else 1e-3
/// times its smallest eigenvalue above that threshold. Eigenvalues come from the p x p matrix when p <= N and
/// from the N x N Gram matrix otherwise: never more than min(p, N)^2 numbers. If B = 0 (no variation within
/// any class), 1e-3 times the smallest positive total variance of a candidate. Throws Error when min(p, N)^2
/// numbers do not fit.
[[nodiscard]] ResolvedRidge resolve_ridge(const Dataset& data, const std::vector<Index>& candidates,
                                          const Ridge& ridge, int threads, std::uint64_t memory_limit = 0,
                                          const WithinRows& within = {});

/// The same rule for a matrix B given as it is. Throws BadInput when B is not positive semidefinite to
/// rounding.
[[nodiscard]] ResolvedRidge resolve_ridge(const Matrix& b, const std::vector<Index>& candidates,
                                          const Ridge& ridge);

}  // namespace subspectra
