#pragma once
/// What the steps of a greedy search cost, counted in multiplications and additions: which of them pay is
/// decided by these numbers and never by a clock, so that an answer is the same on every machine.
#include "search/greedy.hpp"

namespace subspectra {

/// Forward from all units, as forward_pass goes.
[[nodiscard]] double forward_work(const Pencil& pencil, const SearchUnits& units,
                                  const GreedyOptions& options);
/// Backward from all units, as backward_pass goes; from so many columns of them as a matrix of their own.
[[nodiscard]] double backward_work(const Pencil& pencil, const SearchUnits& units,
                                   const GreedyOptions& options);
[[nodiscard]] double dense_backward_work(const Pencil& pencil, Index columns);
/// One look at all exchanges in a set of k among so many columns of a matrix.
[[nodiscard]] double exchange_work(const Pencil& pencil, Index k, Index columns);

}  // namespace subspectra
