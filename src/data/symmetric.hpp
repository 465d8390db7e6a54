#pragma once
/// What a square matrix has to be to hold covariances.
#include <optional>

#include "core/types.hpp"

namespace subspectra {

/// Entries at mirrored places may differ by this fraction of the larger of |a_ij|, |a_ji| and sqrt(a_ii
/// a_jj): what printing with nine digits loses. Both become their mean.
inline constexpr double kSymmetryTolerance = 1e-8;

/// The first entry, row after row, that no covariance matrix holds.
struct CovarianceFlaw {
  enum class Kind { kNotFinite, kNegativeVariance, kNotSymmetric };
  Kind kind;
  Index row, column;  ///< kNotSymmetric: the entry below the diagonal
};

/// Makes a square matrix that is symmetric to the tolerance symmetric to the bit; or says why it is no
/// covariance: an entry that is not finite, a negative diagonal, mirrored entries that differ.
[[nodiscard]] std::optional<CovarianceFlaw> symmetrize_covariance(Matrix& a);

}  // namespace subspectra
