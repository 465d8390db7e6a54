#pragma once
/// Sparse PCA over thousands of features, from the rows of a table: which of them can be in a set of k that
/// is better than the best one known. The covariance is never formed; it passes by in blocks of rows. What is
/// left is a small problem for the tree (perron_explorer.cpp). docs/theory/exact-pca.md.
///
/// Let S be a set of k that beats t, i one of its features, and r_i^2 the sum of the k - 1 largest a_ij^2 of
/// row i, j != i. Of a unit vector with x_i = c on i and length s = (1 - c^2)^(1/2) on S - i,
///     x'A x <= a_ii c^2 + 2 c s r_i + ub s^2,   ub >= lambda_max of every set of k - 1,
/// so that lambda_max(A_S) is at most the larger eigenvalue of [[ub, r_i], [r_i, a_ii]]. Where that does not
/// exceed t, i is in no such set. Once it is out, the rows of the others and ub are those of what is left,
/// because all features of S are.
#include <optional>
#include <vector>

#include "search/exact.hpp"
#include "search/exact_tuning.hpp"

namespace subspectra::search {

/// The units that are left, ascending, those of the best set known of every size among them; nothing where
/// no screen is made (groups, forced units, no rows, few features, a size without a set) or it was stopped.
/// Pre: B is the identity.
[[nodiscard]] std::optional<std::vector<Index>> screened_by_variance(
    const Pencil& pencil, const SearchUnits& units, const std::vector<std::vector<RankedSet>>& start,
    const ExactOptions& options, const ScreenTuning& tuning, const RunControl& control);

}  // namespace subspectra::search
