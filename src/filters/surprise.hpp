#pragma once
/// The scores of Ben-Dor, Friedman & Yakhini, "Class discovery in gene expression data" (RECOMB 2001), for a
/// partition of the rows into two classes that is given. docs/methods/filters.md
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra::filters {

/// TNoM, the threshold number of misclassifications: how many rows the best rule "one class below t, the
/// other above" gets wrong, for every feature; equal values lie on one side. Two classes; rows count once,
/// whatever their weight.
[[nodiscard]] std::vector<Index> threshold_errors(const Dataset& data, int threads);

/// log P(TNoM <= s) for s = 0..min(a, b), when a rows of one class and b of the other come in random order
/// and no two values are equal. With h_t = (rows of b) - (rows of a) among the first t, TNoM <= s if and only
/// if the walk h touches s - a or b - s: paths between two barriers, counted by reflection.
[[nodiscard]] std::vector<double> threshold_error_log_tails(Index a, Index b);

struct Surprise {
  Index errors = 0;       ///< s*: features with at most so many errors are the informative ones
  Index informative = 0;  ///< their number n(s*)
  double score = 0.0;     ///< max over s of -log10 P(Binomial(features, P(TNoM <= s)) >= n(s))
};
/// How surprising the number of informative features is: under random labels each of the features would be
/// one with probability P(TNoM <= s). Ties go to the smallest s; 0 where no s has more than its expected
/// number.
[[nodiscard]] Surprise surprise_of(const std::vector<Index>& errors, const std::vector<double>& log_tails);

}  // namespace subspectra::filters
