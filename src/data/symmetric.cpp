#include "data/symmetric.hpp"

#include <algorithm>
#include <cmath>

namespace subspectra {

std::optional<CovarianceFlaw> symmetrize_covariance(Matrix& a) {
  using Kind = CovarianceFlaw::Kind;
  const Index p = a.rows();
  for (Index i = 0; i < p; ++i) {
    for (Index j = 0; j < p; ++j) {
      if (!std::isfinite(a(i, j))) return CovarianceFlaw{Kind::kNotFinite, i, j};
    }
  }
  for (Index i = 0; i < p; ++i) {
    if (!(a(i, i) >= 0.0)) return CovarianceFlaw{Kind::kNegativeVariance, i, i};
  }
  for (Index i = 0; i < p; ++i) {
    for (Index j = 0; j < i; ++j) {
      const double lower = a(i, j);
      const double upper = a(j, i);
      if (lower == upper) continue;
      const double deviation = std::sqrt(a(i, i)) * std::sqrt(a(j, j));
      const double scale = std::max({std::abs(lower), std::abs(upper), deviation});
      if (!(std::abs(lower - upper) <= kSymmetryTolerance * scale))
        return CovarianceFlaw{Kind::kNotSymmetric, i, j};
      a(i, j) = a(j, i) = 0.5 * lower + 0.5 * upper;
    }
  }
  return std::nullopt;
}

}  // namespace subspectra
