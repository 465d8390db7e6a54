#pragma once
/// The rows of a table with classes, as verify sees them: means and deviations in extended precision.
#include <vector>

#include <subspectra/options.hpp>
#include "data/dataset.hpp"
#include "verify/long_algebra.hpp"

namespace subspectra::verify {

/// A column of a table with classes: its variance within them and between them, by the weights.
struct ColumnSpread {
  Long within = 0.0L, between = 0.0L;
  double farthest = 0.0;  ///< the largest |class mean|
  /// It does not vary within any class: what rounding leaves of a class mean, some 2^-52 of it, is no
  /// variance.
  [[nodiscard]] bool still() const;
  /// How far that may move a variance.
  [[nodiscard]] double rounding() const;
  /// What a fraction of the ridge is taken of.
  [[nodiscard]] Long ridge_variance() const { return still() ? within + between : within; }
};
/// Rows, weights and classes of a table with classes, over some columns.
struct ClassRows {
  ClassRows(const Dataset& data, const std::vector<Index>& features);
  [[nodiscard]] std::size_t class_of(Index i) const {
    return static_cast<std::size_t>(codes[static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] Long from_pivot(Index i, Index j) const {
    return static_cast<Long>(x(i, j)) - pivots[static_cast<std::size_t>(j)];
  }
  [[nodiscard]] Long weight(Index i) const { return weights[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Long deviation(Index i, Index j) const {
    return from_pivot(i, j) - means(static_cast<Index>(class_of(i)), j);
  }

  Matrix x;
  std::vector<int> codes;
  std::vector<Long> given;           ///< the weights as they are
  std::vector<Long> weights, share;  ///< of the rows and of the classes: each sums to 1
  /// About the mean of each column, a double: from it to a value there is a difference with all digits, where
  /// a mean of its own would be rounded to 2^-64 of how far from zero the column stands.
  std::vector<double> pivots;
  LongMatrix means;  ///< classes x columns, from the pivots
};

[[nodiscard]] ColumnSpread spread_of(const ClassRows& rows, Index j);
[[nodiscard]] ColumnSpread column_spread(const Dataset& data, Index feature);
/// What is added to the variance of column j.
[[nodiscard]] Long ridge_of(const ClassRows& rows, Index j, const RidgeAmount& ridge);
/// M (columns x classes, or one column for two): column c is sqrt(w_c) (mu_c - mu); of two classes
/// sqrt(w_1 w_2) (mu_1 - mu_2).
[[nodiscard]] LongMatrix between_factor(const ClassRows& rows);

}  // namespace subspectra::verify
