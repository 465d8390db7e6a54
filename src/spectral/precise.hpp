#pragma once
/// The criterion of a set to many more digits than a search has: from the rows themselves (or the matrices
/// given), moments and all, in double-double. For the sets that an answer stands by, where rounding would
/// otherwise decide.
#include <optional>
#include <vector>

#include <subspectra/options.hpp>
#include "data/dataset.hpp"
#include "linalg/double_double.hpp"

namespace subspectra {

/// The pair (A_S, B_S), the ridge included, in the units of the table.
struct PreciseBlock {
  linalg::DoubleDoubleMatrix b;  ///< k x k
  linalg::DoubleDoubleMatrix m;  ///< k x q with A = M M'; empty where A has no factor at hand,
  linalg::DoubleDoubleMatrix a;  ///< then A itself
};

/// LDA from the rows. `still`: of these features, those that do not vary within any class. N k^2/2 products
/// of some 40 flops each; nothing where that is more than a second or two.
[[nodiscard]] std::optional<PreciseBlock> precise_lda_block(const Dataset& data,
                                                            const std::vector<Index>& features,
                                                            const RidgeAmount& ridge,
                                                            const std::vector<char>& still);

struct PreciseValue {
  double value = 0.0;
  double error = kInfinity;  ///< relative: what even so many digits leave open
  /// At least the inverse of the smallest eigenvalue of the correlations of B_S: tr of their inverse.
  double correlation_inverse = kInfinity;
};

/// Nothing where B_S is singular to that many digits.
[[nodiscard]] std::optional<PreciseValue> precise_value(PreciseBlock block, Criterion criterion);

/// The criterion of T, which has these digits.
[[nodiscard]] double precise_criterion(Criterion criterion, const linalg::DoubleDoubleMatrix& t);

}  // namespace subspectra
