#pragma once
/// What is added to the diagonal of the within-class covariance B.
#include <functional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "data/moments.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra {

/// From this condition of the correlations on `auto` adds a fraction: beyond it a Cholesky factor has too few
/// digits left.
inline constexpr double kMostCondition = 1e10;

/// A matrix that is given may have eigenvalues down to minus this fraction of its largest variance: printing
/// rounds.
inline constexpr double kForgivenDip = 1e-6;

struct ResolvedRidge {
  RidgeAmount amount;
  std::string note;  ///< why, in a sentence, when the rule had to add something; else empty
};

/// Where the within-class covariance of the rows is at hand, or can be made and kept.
using WithinRows = std::function<const CovarianceOperator&()>;

/// Those of `features` that do not vary within any class. What rounding leaves of a class mean is some 2^-52
/// of it, and a deviation of that size is no variance: against it every objective would be without meaning.
[[nodiscard]] std::vector<Index> without_within_variance(const Moments& moments,
                                                         const std::vector<Index>& features);

/// What a fraction is taken of, one a feature: its within-class variance, or its total variance where it does
/// not vary within any class (indicators, rare words, classes of one row).
[[nodiscard]] Vector ridge_variances(const Moments& moments);
/// The same of matrices: B_jj, or A_jj where B_jj is 0.
[[nodiscard]] Vector ridge_variances(const Matrix& a, const Matrix& b);

/// `auto`: nothing while the correlations C of B (over `candidates`) have a condition of at most
/// kMostCondition, and every candidate varies within a class; else B + f diag(B), so that no answer depends
/// on units, with f = 1e-3 of the smallest eigenvalue of C that is above 1/kMostCondition of the largest, and
/// at least 1e-6 of the largest (the condition is then below that up to which rounding costs no certificate,
/// search/certificate.hpp). Eigenvalues come from the p x p matrix when p <= N and from the N x N Gram matrix
/// otherwise: never more than min(p, N)^2 numbers. If no candidate varies within a class, f = 1e-3. Throws
/// Error when min(p, N)^2 numbers do not fit.
[[nodiscard]] ResolvedRidge resolve_ridge(const Dataset& data, const std::vector<Index>& candidates,
                                          const Ridge& ridge, int threads, std::uint64_t memory_limit = 0,
                                          const WithinRows& within = {});

/// Those of `features` that B has no variance for: what B_jj <= 0 says of a matrix.
[[nodiscard]] std::vector<Index> without_within_variance(const Matrix& b, const std::vector<Index>& features);

/// The same rule for matrices A and B given as they are, whose features have these names. Throws BadInput
/// when B (with the ridge that was asked for) is not positive semidefinite to rounding.
[[nodiscard]] ResolvedRidge resolve_ridge(const Matrix& a, const Matrix& b,
                                          const std::vector<Index>& candidates, const Ridge& ridge,
                                          const FeatureNames& names = {});

}  // namespace subspectra
