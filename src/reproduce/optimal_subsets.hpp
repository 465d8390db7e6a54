#pragma once
/// The truth that heuristics are measured against: the best subset of every size of a small pair, by looking
/// at all of them.
#include "core/types.hpp"

namespace subspectra::reproduce {

inline constexpr Index kMostEnumerated = 24;

/// max over |S| = k of lambda_max(A_S, B_S), for k = 1..n (entry k - 1), to a relative 1e-10.
///
/// lambda_max(A_S, B_S) < t exactly when t B_S - A_S is positive definite. For every k the k-subsets are
/// visited depth first with the Schur complement of t B - A after the chosen ones, t the best value so far:
/// a leaf costs one look at a diagonal entry. Only where a pivot is not positive is an eigenproblem solved;
/// its value is the new t. No subset is left out on the strength of a bound.
///
/// Pre: A, B symmetric n x n, B positive definite, n <= kMostEnumerated. `start` (n values of known subsets,
/// or empty) saves eigenproblems and changes nothing else. Throws InvalidArgument, Infeasible.
[[nodiscard]] Vector best_subset_values(const Matrix& a, const Matrix& b, const Vector& start = {});

/// The smallest and the largest a_S'B_S^{-1}a_S over all subsets of each size, and how many subsets of each
/// size lie below `threshold` (n values). By a growing Cholesky factor.   O(2^n n^2).
struct SubsetRange {
  Vector least, most;
  std::vector<Index> below;
};
[[nodiscard]] SubsetRange two_class_range(const Vector& a, const Matrix& b, const Vector& threshold);

}  // namespace subspectra::reproduce
