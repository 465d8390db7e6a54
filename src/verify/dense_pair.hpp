#pragma once
/// The pair (A, B) over some features as two explicit matrices, and the criterion of a set from the textbook.
#include <memory>
#include <optional>
#include <vector>

#include <subspectra/selection.hpp>
#include "data/dataset.hpp"
#include "verify/long_algebra.hpp"
#include "verify/more_digits.hpp"

namespace subspectra::verify {

struct DensePair {
  std::vector<Index> features;  ///< ascending; row and column i of A and B belong to features[i]
  Matrix a, b;                  ///< b empty: the identity (PCA)
  /// The same B, and M with A = M M', in extended precision: of a table with classes, unless it is very
  /// large.
  LongMatrix long_b, long_m;
  std::shared_ptr<MoreDigits> more;  ///< of the same rows or matrices; null for PCA
  Index rank = 0;                    ///< of A at most
  /// Rounding of A. With B: of a class mean, in standard deviations; without: of a variance, absolute.
  double noise = 0.0;

  [[nodiscard]] bool identity() const { return b.size() == 0; }
  /// Places of these features (each one of `features`) in the matrices.
  [[nodiscard]] std::vector<Index> places(const std::vector<Index>& of) const;
};

/// LDA: A = Sigma_b, B = Sigma_w and the ridge; else A is the covariance and B = I. Divisor: the sum of the
/// weights. Throws BadInput when squares overflow.   O(N n^2)
[[nodiscard]] DensePair table_pair(const Dataset& data, std::vector<Index> features, bool lda,
                                   const RidgeAmount& ridge);
[[nodiscard]] DensePair matrix_pair(const Matrix& a, const Matrix* b, std::vector<Index> features,
                                    const RidgeAmount& ridge);

/// The criterion of one set.
struct DenseValue {
  bool feasible = false;   ///< B_S is positive definite to rounding
  bool quad = false;       ///< in quadruple precision
  bool dependent = false;  ///< it is singular to more digits than any search has
  double value = 0.0;
  Vector eigenvalues;      ///< of (A_S, B_S), descending, not below 0
  double tolerance = 0.0;  ///< relative: max(1e-8, 100 cond 2^-52), cond of B_S scaled to a unit diagonal
  double sharp = 0.0;      ///< of the value here: max(2e-9, 100 cond epsilon), epsilon 2^-63 with long_b
  double error = 0.0;      ///< of the value here without what a certificate promises: 100 cond epsilon
  double slack = 0.0, sharp_slack = 0.0;  ///< absolute, beside them: matter only for values next to 0
  double condition = 1.0;
  [[nodiscard]] double largest() const { return eigenvalues.size() > 0 ? eigenvalues[0] : 0.0; }
  /// How far the value here may be from the true one.
  [[nodiscard]] double allowance() const { return sharp * value + sharp_slack; }
};
[[nodiscard]] DenseValue dense_value(const DensePair& pair, const std::vector<Index>& places,
                                     Criterion criterion);
/// The same in quadruple precision, for a set that those digits do not tell enough of (docs/verify.md). Not
/// feasible where this does not know it either; nothing where it cannot be asked.
[[nodiscard]] std::optional<DenseValue> sharper_value(const DensePair& pair, const std::vector<Index>& places,
                                                      Criterion criterion);

}  // namespace subspectra::verify
