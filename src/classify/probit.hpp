#pragma once
/// The probit likelihood p(y|f) = Phi(y f), y = +1 or -1, safe in both tails (docs/theory/gp.md).
#include "core/types.hpp"

namespace subspectra {

/// log Phi(z) and what its derivatives are made of, with r = phi(z)/Phi(z):
///     d/dz log Phi = r,    -d2/dz2 log Phi = r (z + r),    d3/dz3 log Phi = -r (1 - (z + r)(z + 2r)).
/// No term is a difference of large numbers: below z = -5 they come from the continued fraction of r.
struct Probit {
  double log_cdf = 0.0;    ///< log Phi(z)
  double ratio = 0.0;      ///< r > 0; about -z far to the left
  double curvature = 0.0;  ///< r (z + r), from 0 to 1
  double relative_third =
      0.0;  ///< d3/dz3 log Phi over the curvature, which may underflow: z + 2 r - 1/(z + r)
};
[[nodiscard]] Probit probit(double z);

/// Moments of N(f; mean, variance) Phi(y f) and the Gaussian site that gives them.
struct ProbitSite {
  double log_normalizer = 0.0;  ///< log of the integral
  double mean = 0.0, variance = 0.0;
  double precision = 0.0;  ///< of the site: 1/variance - 1/(variance before), never negative
  double shift = 0.0;      ///< its precision times its mean
};
[[nodiscard]] ProbitSite probit_site(double y, double mean, double variance);

}  // namespace subspectra
