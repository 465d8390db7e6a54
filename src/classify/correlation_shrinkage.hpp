#pragma once
/// How far the within-class correlations of a set of features are to be pulled towards 0.
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "data/moments.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra {

/// Schaefer & Strimmer (Stat. Appl. Genet. Mol. Biol. 4(1):32, 2005), their correlation pooled within
/// classes. With z the deviations from the class means in units of the within-class standard deviations, h
/// the rows' shares of the weight, r_ij = sum h z_i z_j and q_ij = sum h z_i^2 z_j^2,
///     intensity = sum_{i != j} Var(r_ij) / sum_{i != j} r_ij^2,   Var(r_ij) = (q_ij - r_ij^2)/(1/sum h^2 -
///     K),
/// at most 1: the share of 0 in (1 - intensity) R + intensity I that is expected to come nearest to the
/// correlations of the population. No units, nothing to tune. Both sums are kept, so that any subset of the
/// features costs its pairs alone.
class CorrelationShrinkage {
 public:
  /// `moments` are those of `features` of these rows, `within` their within-class covariance.
  CorrelationShrinkage(const Dataset& rows, const std::vector<Index>& features, const Moments& moments,
                       const MatrixRef& within);
  /// Of the features at these places, of all where it is null. 1 where the classes leave no row to judge by,
  /// 0 where there are no two features, or none of them is correlated.
  [[nodiscard]] double intensity(const std::vector<Index>* places) const;

 private:
  Matrix uncertainties_;  ///< q_ij - r_ij^2, 0 on the diagonal
  Matrix correlations_;   ///< r_ij, 0 on the diagonal
  double degrees_;        ///< 1/sum h^2 less the classes: rows that say something
};

/// The intensity of all features of these rows, more of them than rows, from sums over the rows:
///     sum_ij r_ij^2 = |Z Z'|^2,   sum_ij q_ij = sum over rows of (sum_i z_i^2)^2 h,
/// N^2 k flops and nothing k x k. `within` is the within-class covariance of the rows.
[[nodiscard]] double shrinkage_by_rows(const Dataset& rows, const CovarianceOperator& within, int threads);

}  // namespace subspectra
