#pragma once
/// A symmetric matrix over the features of the free units of a node, and its row-wise bound (exact-pca.md in
/// docs/theory): for any scaling d > 0 and any set G of g rows
///     lambda_max(C_G) <= max_{i in G} c_ii + R_i/d_i,   R_i = the g - 1 largest |c_ij| d_j of row i.
/// It holds the numbers and moves them when units are kept or dropped; perron_bounds.hpp finds R and d.
#include <vector>

#include "core/types.hpp"
#include "search/perron_rows.hpp"

namespace subspectra::search {

struct RowBoundedMatrix {
  Index stride = 0;
  std::vector<double> off_diagonal;  ///< rows of `stride` entries, zeros on the diagonal and beyond
  std::vector<double> diagonal;
  std::vector<double> d, sum, threshold;  ///< by row: scaling, R_i, and t_i, about the (g - 1)-th largest
  double worst = kInfinity;               ///< the bound at the last sweep

  double* row(Index i) { return off_diagonal.data() + i * stride; }
  [[nodiscard]] const double* row(Index i) const { return off_diagonal.data() + i * stride; }

  void resize(Index rows);
  void set(const Matrix& matrix);
  [[nodiscard]] Matrix dense(Index rows) const;
  /// A scaling to begin with, from the sums of the rows; no entry below `smallest` of the largest.
  void first_guess(Index rows, double smallest);
  /// The matrix of the node that keeps row `first` of `from` as well: C + c c'/pivot, pivot = lambda -
  /// c_first.
  void keep(const RowBoundedMatrix& from, Index rows, Index first, Index width, double pivot);
  /// The vectors of `from` without rows first..first + width.
  void carry(const RowBoundedMatrix& from, Index rows, Index first, Index width);
  /// max_i c_ii + R_i/d_i, and max_i c_ii.
  [[nodiscard]] double measure(Index rows, double* top) const;
  /// d <- sqrt(d R/(reference - c)), scaled to a largest entry of 1.
  void relax(Index rows, double reference, double smallest);
  /// The rows in `stay` (ascending), in place.
  void drop(const std::vector<Index>& stay);
};

}  // namespace subspectra::search
