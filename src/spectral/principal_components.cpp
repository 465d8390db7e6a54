#include "spectral/principal_components.hpp"

#include <algorithm>

#include "eigen/leading.hpp"
#include "spectral/covariance_operator.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

PrincipalComponents principal_components(const Dataset& data, const std::vector<Index>& features, Index count,
                                         int threads) {
  const CovarianceOperator covariance(data, CovarianceOperator::Centring::kWhole, threads);
  const auto p = static_cast<Index>(features.size());
  const bool wide = p > data.rows();
  const auto pairs =
      leading_pairs(wide ? covariance.gram(features, threads) : covariance.block(features, threads), count);
  const double floor = static_cast<double>(std::max(p, data.rows())) * 0x1.0p-52 *
                       (pairs.values.size() > 0 ? pairs.values[0] : 0.0);
  const auto r = static_cast<Index>((pairs.values.array() > floor).count());
  PrincipalComponents result;
  result.total_variance = Vector(covariance.diagonal()(features)).sum();
  result.variances = pairs.values.head(r);
  if (wide) {
    // Z Z' u = s u gives the loading Z'u / sqrt(s).
    result.loadings = covariance.transposed_times(pairs.vectors.leftCols(r), threads)(features, Eigen::all) *
                      result.variances.cwiseSqrt().cwiseInverse().asDiagonal();
    make_largest_positive(result.loadings);
  } else {
    result.loadings = pairs.vectors.leftCols(r);
  }
  return result;
}

}  // namespace subspectra
