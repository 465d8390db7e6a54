#pragma once
/// How far two ways to group the same rows agree, whatever the groups are called.
#include <vector>

#include <subspectra/cluster.hpp>

#include "core/types.hpp"

namespace subspectra {

/// The assignment of rows to columns, each at most once, with the largest sum of gain(row, column): the
/// column of every row, -1 for rows that are left over where there are more of them. Hungarian algorithm
/// (Kuhn 1955, Munkres 1957) by shortest augmenting paths, O(n^3). Throws InvalidArgument on a gain that is
/// not finite.
[[nodiscard]] std::vector<Index> best_matching(const MatrixRef& gain);

/// counts(a, b): rows with code a in the one and b in the other. Rows whose code is negative in either are
/// left out. Throws InvalidArgument when the lengths differ.
[[nodiscard]] Matrix contingency(const std::vector<int>& a, const std::vector<int>& b);

/// Hubert & Arabie 1985: pairs that are together in both, corrected for chance. 1 for equal partitions, 0 on
/// average for independent ones; it can be negative. 1 where both are trivial (fewer than two rows, all
/// together in both, all apart in both).
[[nodiscard]] double adjusted_rand_index(const MatrixRef& counts);

/// accuracy is 0 where no row has both.
[[nodiscard]] Agreement agreement(const std::vector<int>& clusters, const std::vector<int>& classes);

}  // namespace subspectra
