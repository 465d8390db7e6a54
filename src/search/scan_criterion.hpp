#pragma once
/// What `largest` and `wilks` of several discriminants ask of a node of the search by scans
/// (scan_explorer.cpp): everything goes through the r x r matrix T of the node, T_I from below and T_T from
/// above, and r rows of numbers beside the free features, C or U. docs/theory/exact.md has the proofs.
#include <cstdint>
#include <vector>

#include <subspectra/options.hpp>
#include "core/types.hpp"

namespace subspectra::search {

/// The eigenpairs of a node's T, the largest first.
struct SmallSpectrum {
  Vector values;
  Matrix axes;  ///< rows: the eigenvectors
};

/// How a pair is asked about: with y_q the q-th row of `axes` times the rows of the features (the r numbers
/// of C or U of one feature), H = G + sum_q signs_q y_q y_q' (P in the place of G for drops), a pair is worth
/// a look exactly if
///     sign det H_ij > theta det G_ij
/// or, with `sign` -1, if H_ii or H_jj is negative; with `sign` +1 it is not if H_ii or H_jj is.
struct PairForm {
  bool all = false;  ///< every pair is worth a look
  double sign = 1.0, theta = 0.0;
  Matrix axes;
  Vector signs;
};

class ScanCriterion {
 public:
  /// `criterion` is kLargest or kWilks, r >= 2. `slack`: what values and bounds may be wrong by, relative.
  ScanCriterion(Criterion criterion, Index r, double slack)
      : largest_(criterion == Criterion::kLargest), r_(r), slack_(slack) {}

  /// T of the node at which a visit starts: below it, T carries the rounding errors of its entries.
  void start_at(const SmallSpectrum& at) { scale_ = at.values[0]; }
  [[nodiscard]] SmallSpectrum spectrum(const Matrix& t) const;
  [[nodiscard]] double value(const SmallSpectrum& at) const;

  /// out_i = f(T) - f(T without i) or less, of features with rows u (r rows of `lead` numbers) and diagonal
  /// entries diag_i of P.
  void losses(const SmallSpectrum& at, const double* u, std::int64_t lead, const double* diag,
              std::int64_t count, double* out);
  /// f(I + i) of one feature with c_q = rows[q lead] and the diagonal entry `diag` of G.
  [[nodiscard]] double with_one_more(const SmallSpectrum& at, const double* rows, std::int64_t lead,
                                     double diag) const;
  /// Pairs that take f from T_I (`at`) above `limit`.
  [[nodiscard]] PairForm keep_form(const SmallSpectrum& at, double limit) const;
  /// Pairs without which f(T_T) stays above `limit`.
  [[nodiscard]] PairForm drop_form(const SmallSpectrum& at, double limit) const;

 private:
  /// What rounding of T may have taken from log det(I + T).
  [[nodiscard]] double rounding() const;

  bool largest_;
  Index r_;
  double slack_, scale_ = 0.0;
  std::vector<double> row_;  ///< scratch
};

}  // namespace subspectra::search
