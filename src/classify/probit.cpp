#include "classify/probit.hpp"

#include <cmath>
#include <numbers>

namespace subspectra {
namespace {

constexpr double kLogRootTwoPi = 0.91893853320467274178;
constexpr double kTail = -5.0;  // to the left of it the continued fraction is exact to rounding

}  // namespace

Probit probit(double z) {
  Probit p;
  const double log_density = -0.5 * z * z - kLogRootTwoPi;
  if (z < kTail) {
    // With t = -z:  r = t + 1/(t + 2/(t + 3/(t + ...))), so that z + r and 1/(z + r) need no subtraction.
    constexpr int kTerms = 60;
    const double t = -z;
    double rest = t;
    for (int j = kTerms; j >= 3; --j) rest = t + j / rest;
    const double second = 2.0 / rest;          // 1/(z + r) - t
    const double excess = 1.0 / (t + second);  // z + r
    p.ratio = t + excess;
    p.log_cdf = log_density - std::log(p.ratio);
    p.curvature = p.ratio * excess;
    p.relative_third = 2.0 * excess - second;
    return p;
  }
  const double upper = 0.5 * std::erfc(z * std::numbers::sqrt2 / 2.0);  // Phi(-z)
  p.log_cdf = z > 0.0 ? std::log1p(-upper) : std::log(0.5 * std::erfc(-z * std::numbers::sqrt2 / 2.0));
  p.ratio = std::exp(log_density - p.log_cdf);
  const double excess = z + p.ratio;
  p.curvature = p.ratio * excess;
  p.relative_third = excess + p.ratio - 1.0 / excess;
  return p;
}

ProbitSite probit_site(double y, double mean, double variance) {
  // With z = y mean/sqrt(1 + v):  Z = Phi(z), d log Z/d mean = alpha, -d2 log Z/d mean2 = beta < 1/(1 + v).
  const double root = std::sqrt(1.0 + variance);
  const Probit p = probit(y * mean / root);
  const double alpha = y * p.ratio / root;
  const double beta = p.curvature / (1.0 + variance);
  const double left = 1.0 - variance * beta;  // of the variance; at least 1/(1 + v)
  ProbitSite site;
  site.log_normalizer = p.log_cdf;
  site.mean = mean + variance * alpha;
  site.variance = variance * left;
  // 1/variance' - 1/variance and mean'/variance' - mean/variance, without the subtractions.
  site.precision = beta / left;
  site.shift = (alpha + mean * beta) / left;
  return site;
}

}  // namespace subspectra
