#pragma once
/// Class discovery (Ben-Dor, Friedman & Yakhini, RECOMB 2001): the rows put into two classes so that
/// surprisingly many features tell them apart. docs/methods/filters.md
#include <cstdint>
#include <vector>

#include <subspectra/rankers.hpp>
#include <subspectra/run_control.hpp>
#include "core/types.hpp"
#include "data/dataset.hpp"
#include "filters/surprise.hpp"

namespace subspectra::filters {

struct FoundPartition {
  std::vector<int> sides;  ///< 0 or 1, one a row; that of the first row is 0
  Surprise surprise;
  std::vector<double> starts;  ///< the score that every start reached
  Index moves = 0;             ///< of all starts
};

/// The partition of the rows with the largest surprise_of `features` that was found: from every start tabu
/// search over the rows that change sides one at a time. A start is the best of some cuts of single features:
/// at the widest gap between neighbouring values, or anywhere. The answer does not depend on the number of
/// threads. Stopped early it has what was found until then, one cut at least. At least two rows, and one
/// feature. Throws Error (memory).
[[nodiscard]] FoundPartition most_surprising_partition(const Dataset& data,
                                                       const std::vector<Index>& features,
                                                       const MaxSurprise& options, std::uint64_t seed,
                                                       int threads, std::uint64_t memory_limit,
                                                       const RunControl& control);

}  // namespace subspectra::filters
