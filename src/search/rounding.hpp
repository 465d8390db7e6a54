#pragma once
/// What doubles may have taken from a bound that starts from all candidates together.
#include <algorithm>
#include <cmath>

#include "core/types.hpp"
#include "spectral/covariance_operator.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

/// Bounds and proofs are made in doubles while rounding moves them by no more than this fraction: with the
/// 5e-10 to which a certified value is known it makes the 1e-9 of a certificate.
inline constexpr double kRoundingBudget = 4.44e-10;

/// The rows the moments are of; 0 for a matrix that was given.
inline Index rows_of_moments(const Pencil& pencil) {
  const CovarianceOperator* const rows = pencil.origin().rows();
  return rows == nullptr ? 0 : rows->rows();
}

/// How the relative error of m'B^{-1}m grows with the size of the problem, in units of c 2^-52 (c the
/// condition of B, whose diagonal is 1): a Cholesky factor is exact for B + E with |E| <= gamma |R|'|R|,
/// gamma = n 2^-53 at worst, |R|'|R| of a norm up to n |B| (Higham, Accuracy and Stability of Numerical
/// Algorithms, Theorems 10.3 and 10.4), the moments for E with |E_ij| <= N 2^-53 at worst (his section 3.1),
/// of a norm up to n. With roundings that do not conspire all counts of operations become their roots (Higham
/// and Mary, SIAM J. Sci. Comput. 41, 2019): n for the factor and sqrt(n N) for the moments of N rows. An
/// eighth of their sum is taken, 4 at least: roundings are a third of 2^-53 in the mean, and BLAS sums in
/// blocks; that factor is an experience (certificate_fuzzer), the growth is not. Where columns are more than
/// rows the factor has a side of N and its entries are sums over n.
inline double rounding_growth(Index n, Index rows) {
  const auto side = static_cast<double>(rows > 0 ? std::min(n, rows) : n);
  const auto sums = static_cast<double>(rows > 0 ? std::max(n, rows) : 0);
  return std::max(4.0, (side + std::sqrt(side * sums)) / 8.0);
}

/// The fraction by which rounding may have moved a bound over n features and the moments of `rows` rows (0:
/// the matrix was given) at this condition of the correlations.
inline double rounding_of_bounds(Index n, Index rows, double condition) {
  return rounding_growth(n, rows) * kEpsilon * condition;
}

/// Up to this condition of the correlations it stays within kRoundingBudget.
inline double trusted_condition(Index n, Index rows) {
  return kRoundingBudget / (rounding_growth(n, rows) * kEpsilon);
}

}  // namespace subspectra
