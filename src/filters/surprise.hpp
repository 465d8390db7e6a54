#pragma once
/// The scores of Ben-Dor, Friedman & Yakhini, "Class discovery in gene expression data" (RECOMB 2001), for a
/// partition of the rows into two classes that is given; partition_search.hpp looks for one.
/// docs/methods/filters.md
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra::filters {

/// TNoM, the threshold number of misclassifications: how many rows the best rule "one class below t, the
/// other above" gets wrong, for every feature; equal values lie on one side. Two classes; rows count once,
/// whatever their weight.
[[nodiscard]] std::vector<Index> threshold_errors(const Dataset& data, int threads);
/// The same for these features, the sides of the rows (0, 1, or -1: does not count) in place of the labels.
[[nodiscard]] std::vector<Index> threshold_errors(const Dataset& data, const std::vector<Index>& features,
                                                  const std::vector<int>& sides, int threads);

/// log P(TNoM <= s) for s = 0..min(a, b), when a rows of one class and b of the other come in random order
/// and no two values are equal. With h_t = (rows of b) - (rows of a) among the first t, TNoM <= s if and only
/// if the walk h touches s - a or b - s: paths between two barriers, counted by reflection.
[[nodiscard]] std::vector<double> threshold_error_log_tails(Index a, Index b);

struct Surprise {
  Index errors = 0;       ///< s*: features with at most so many errors are the informative ones
  Index informative = 0;  ///< their number n(s*)
  double score = 0.0;     ///< max over s of -log10 P(Binomial(features, P(TNoM <= s)) >= n(s))
};
/// How surprising the number of informative features is among so many: under random labels each of them would
/// be one with probability P(TNoM <= s).
class SurpriseScale {
 public:
  explicit SurpriseScale(Index features);

  /// -log10 P(Binomial(features, p) >= n); 0 where n is no more than expected. Where it is no more than
  /// `floor` some number that is no more either.
  [[nodiscard]] double score(double log_p, Index n, double floor = 0.0) const;
  /// The largest score over s. Ties go to the smallest s; 0 where no s has more than its expected number.
  [[nodiscard]] Surprise surprise_of(const std::vector<Index>& errors,
                                     const std::vector<double>& log_tails) const;

 private:
  std::vector<double> log_factorials_;
};

}  // namespace subspectra::filters
