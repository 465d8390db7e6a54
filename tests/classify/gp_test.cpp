#include "classify/gp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <subspectra/error.hpp>
#include "classify/classifier.hpp"
#include "classify/gp_kernel.hpp"
#include "classify/probit.hpp"
#include "oracle.hpp"

namespace subspectra {
namespace {

constexpr std::array kBoth = {GpApproximation::kLaplace, GpApproximation::kEp};

/// test(options) with the defaults of either classifier.
template <class Test>
void with_each_classifier(const Test& test) {
  test(GpLaplace{});
  test(GpEp{});
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// k(x, x') from its definition.
Matrix dense_kernel(const Matrix& a, const Matrix& b, const GpKernel& kernel) {
  Matrix k(a.rows(), b.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.rows(); ++j) {
      double sum = 0.0;
      for (Index d = 0; d < a.cols(); ++d) {
        const double l = kernel.lengthscales[kernel.lengthscales.size() == 1 ? 0 : d];
        sum += (a(i, d) - b(j, d)) * (a(i, d) - b(j, d)) / (l * l);
      }
      k(i, j) = kernel.signal * kernel.signal * std::exp(-0.5 * sum);
    }
  }
  return k;
}

Vector signs(const DatasetParts& data) {
  Vector y(data.rows());
  for (Index i = 0; i < y.size(); ++i)
    y[i] = data.labels->codes[static_cast<std::size_t>(i)] == 1 ? 1.0 : -1.0;
  return y;
}

/// P(y_i f_i + e_i > 0 for all i), f ~ N(0, K), e ~ N(0, I), for two or three points: the orthant probability
/// of N(0, D(K + I)D), which is known in closed form.
double orthant(const Matrix& k, const Vector& y) {
  Matrix c = k + Matrix::Identity(k.rows(), k.cols());
  const auto angle = [&](Index i, Index j) {
    return std::asin(y[i] * y[j] * c(i, j) / std::sqrt(c(i, i) * c(j, j)));
  };
  if (k.rows() == 2) return 0.25 + angle(0, 1) / (2.0 * std::numbers::pi);
  return 0.125 + (angle(0, 1) + angle(0, 2) + angle(1, 2)) / (4.0 * std::numbers::pi);
}

TEST(Probit, AgreesWithItsDefinitionAndItsOwnDifferences) {
  EXPECT_NEAR(probit(0.0).log_cdf, std::log(0.5), 1e-15);
  EXPECT_NEAR(probit(-10.0).log_cdf, -53.231285150512, 1e-10);
  EXPECT_NEAR(probit(-40.0).log_cdf, -804.608442013753, 1e-9);
  for (const double z : {-300.0, -41.0, -12.0, -5.001, -4.999, -1.0, 0.0, 0.7, 3.0, 6.0}) {
    SCOPED_TRACE(z);
    const Probit p = probit(z);
    if (z > -30.0) {
      EXPECT_NEAR(p.log_cdf, std::log(normal_cdf(z)), 1e-12 * (1.0 + std::abs(p.log_cdf)));
    }
    const double h = 1e-4 * (1.0 + std::abs(z) / 100.0);
    const Probit up = probit(z + h), down = probit(z - h);
    EXPECT_NEAR((up.log_cdf - down.log_cdf) / (2.0 * h), p.ratio, 1e-7 * (1.0 + p.ratio));
    EXPECT_NEAR(-(up.ratio - down.ratio) / (2.0 * h), p.curvature, 1e-7);
    EXPECT_NEAR(-(up.curvature - down.curvature) / (2.0 * h), p.relative_third * p.curvature, 1e-7);
    EXPECT_GE(p.curvature, 0.0);
    EXPECT_LE(p.curvature, 1.0);
  }
  // Far out: no overflow, no NaN.
  EXPECT_NEAR(probit(-1e8).curvature, 1.0, 1e-12);
  EXPECT_EQ(probit(60.0).ratio, 0.0);
  EXPECT_EQ(probit(60.0).log_cdf, 0.0);
  EXPECT_TRUE(std::isfinite(probit(60.0).relative_third));
}

/// Integral, mean and variance of N(f; mean, variance) Phi(y f) by the trapezoidal rule.
struct Moments1 {
  double mass = 0.0, mean = 0.0, variance = 0.0;
};
Moments1 tilted_moments(double y, double mean, double variance) {
  const double sd = std::sqrt(variance);
  constexpr int kSteps = 40000;
  double m0 = 0.0, m1 = 0.0, m2 = 0.0;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = -14.0 + 28.0 * i / kSteps;
    const double f = mean + sd * u;
    const double weight = std::exp(-0.5 * u * u) * normal_cdf(y * f);
    m0 += weight;
    m1 += weight * f;
    m2 += weight * f * f;
  }
  const double step = 28.0 / kSteps;
  const double m = m1 / m0;
  return {.mass = m0 * step / std::sqrt(2.0 * std::numbers::pi), .mean = m, .variance = m2 / m0 - m * m};
}

TEST(Probit, SiteHasTheMomentsOfTheTiltedDistribution) {
  for (const double y : {-1.0, 1.0}) {
    for (const double mean : {-3.0, 0.0, 0.4, 2.0}) {
      for (const double variance : {0.01, 1.0, 30.0}) {
        SCOPED_TRACE(::testing::Message() << y << ' ' << mean << ' ' << variance);
        const ProbitSite site = probit_site(y, mean, variance);
        const Moments1 exact = tilted_moments(y, mean, variance);
        EXPECT_NEAR(std::exp(site.log_normalizer), exact.mass, 1e-9);
        EXPECT_NEAR(site.mean, exact.mean, 1e-7 * (1.0 + std::abs(exact.mean)));
        EXPECT_NEAR(site.variance, exact.variance, 1e-7 * exact.variance + 1e-10);
        EXPECT_GE(site.precision, 0.0);
        EXPECT_NEAR(site.precision + 1.0 / variance, 1.0 / site.variance, 1e-9 / site.variance);
        EXPECT_NEAR(site.shift + mean / variance, site.mean / site.variance,
                    1e-9 * (1.0 + std::abs(site.mean) / site.variance));
      }
    }
  }
  // A point far on the right side asks for nothing, and never for less than nothing.
  EXPECT_GE(probit_site(1.0, 50.0, 1e-3).precision, 0.0);
  EXPECT_LT(probit_site(1.0, 50.0, 1e-3).precision, 1e-100);
}

TEST(GaussianProcess, OnePointIsExact) {
  const Matrix x = Matrix::Constant(1, 1, 3.0);
  for (const double s : {0.1, 1.0, 20.0}) {
    const GpEvidence ep =
        gp_evidence(x, Vector::Ones(1), {.lengthscales = Vector::Ones(1), .signal = s}, GpApproximation::kEp);
    EXPECT_NEAR(ep.posterior.log_marginal_likelihood, std::log(0.5), 1e-10);
    EXPECT_NEAR(ep.gradient[1], 0.0, 1e-8);  // one half whatever s is
    const Moments1 exact = tilted_moments(1.0, 0.0, s * s);
    const double variance = 1.0 / (1.0 / (s * s) + ep.posterior.site_precision[0]);
    EXPECT_NEAR(variance, exact.variance, 1e-6 * exact.variance);
    EXPECT_NEAR(variance * ep.posterior.site_shift[0], exact.mean, 1e-6 * exact.mean);
  }
}

TEST(GaussianProcess, EpMarginalsAreTheTiltedOnesOnTwoPoints) {
  Matrix x(2, 1);
  x << 0.0, 0.8;
  for (const double other : {1.0, -1.0}) {
    const Vector y = Eigen::Vector2d(1.0, other);
    const GpKernel kernel{.lengthscales = Vector::Constant(1, 1.3), .signal = 3.0};
    const GpEvidence ep = gp_evidence(x, y, kernel, GpApproximation::kEp);
    const Matrix k = dense_kernel(x, x, kernel);
    const Matrix s = ep.posterior.site_precision.asDiagonal();
    const Matrix sigma = (k.inverse() + s).inverse();
    const Vector mu = sigma * ep.posterior.site_shift;
    for (Index i = 0; i < 2; ++i) {
      const double tau = 1.0 / sigma(i, i) - ep.posterior.site_precision[i];
      const double nu = mu[i] / sigma(i, i) - ep.posterior.site_shift[i];
      const Moments1 exact = tilted_moments(y[i], nu / tau, 1.0 / tau);
      EXPECT_NEAR(mu[i], exact.mean, 1e-6);
      EXPECT_NEAR(sigma(i, i), exact.variance, 1e-6);
    }
    // The moments are EP's own; its evidence is near the truth, not equal to it.
    EXPECT_NEAR(ep.posterior.log_marginal_likelihood, std::log(orthant(k, y)), 0.02);
  }
}

TEST(GaussianProcess, EvidenceOfThreePointsAgainstTheOrthantAndBruteForce) {
  Matrix x(3, 2);
  x << 0.0, 0.3, 1.1, -0.2, 0.4, 0.9;
  for (const Vector& y : {Vector(Eigen::Vector3d(1, 1, -1)), Vector(Eigen::Vector3d(1, -1, 1)),
                          Vector(Eigen::Vector3d(1, 1, 1))}) {
    for (const double s : {0.5, 2.0, 8.0}) {
      SCOPED_TRACE(::testing::Message() << y.transpose() << ", s = " << s);
      const GpKernel kernel{.lengthscales = Eigen::Vector2d(0.9, 1.4), .signal = s};
      const Matrix k = dense_kernel(x, x, kernel);
      const double exact = std::log(orthant(k, y));
      if (s == 2.0) {  // the sum over a grid of f = L u says the same
        const Matrix l = Eigen::LLT<Matrix>(k).matrixL();
        constexpr int kSteps = 30;
        const double step = 14.0 / kSteps;
        double sum = 0.0;
        for (int a = 0; a <= kSteps; ++a) {
          for (int b = 0; b <= kSteps; ++b) {
            for (int c = 0; c <= kSteps; ++c) {
              const Eigen::Vector3d u(-7.0 + a * step, -7.0 + b * step, -7.0 + c * step);
              const Eigen::Vector3d f = l * u;
              sum += std::exp(-0.5 * u.squaredNorm()) * normal_cdf(y[0] * f[0]) * normal_cdf(y[1] * f[1]) *
                     normal_cdf(y[2] * f[2]);
            }
          }
        }
        EXPECT_NEAR(std::log(sum * std::pow(step / std::sqrt(2.0 * std::numbers::pi), 3)), exact, 1e-6);
      }
      const double ep = gp_evidence(x, y, kernel, GpApproximation::kEp).posterior.log_marginal_likelihood;
      const double laplace =
          gp_evidence(x, y, kernel, GpApproximation::kLaplace).posterior.log_marginal_likelihood;
      EXPECT_NEAR(ep, exact, s < 1.0 ? 1e-4 : 0.03);
      // Easy (a weak prior signal): both nearly the truth. Hard: the posterior is skewed and EP is closer.
      if (s < 1.0) {
        EXPECT_NEAR(laplace, exact, 0.02);
      } else {
        EXPECT_LT(std::abs(ep - exact), std::abs(laplace - exact));
      }
    }
  }
}

TEST(GaussianProcess, PredictionOfAThirdPointAgainstOrthants) {
  Matrix x(2, 1), fresh(1, 1);
  x << 0.0, 1.0;
  fresh << 0.3;
  const GpKernel kernel{.lengthscales = Vector::Constant(1, 0.7), .signal = 2.0};
  Matrix all(3, 1);
  all << x, fresh;
  const double joint = orthant(dense_kernel(all, all, kernel), Eigen::Vector3d(-1, 1, 1));
  const double both = orthant(dense_kernel(x, x, kernel), Eigen::Vector2d(-1, 1));
  const GpEp options{.hyperparameters = Hyperparameters::kFixed, .lengthscale = {{0.7}}, .signal = 2.0};
  const GpRule rule = fit_gp(x, {0, 1}, 2, options);
  EXPECT_NEAR(std::exp(rule.log_posteriors(fresh)(0, 1)), joint / both, 0.01);
  EXPECT_NEAR(rule.log_marginal_likelihood(), std::log(both), 0.02);
}

/// Laplace with K^{-1} and plain inverses, as in a textbook.
struct DenseLaplace {
  Vector f, gradient, w;
  double evidence = 0.0;
};
DenseLaplace dense_laplace(const Matrix& k, const Vector& y) {
  const Matrix inverse = k.inverse();
  DenseLaplace result;
  Vector f = Vector::Zero(y.size());
  Vector g(f.size()), w(f.size());
  double log_p = 0.0;
  const auto derivatives = [&] {
    log_p = 0.0;
    for (Index i = 0; i < f.size(); ++i) {
      const double phi = std::exp(-0.5 * f[i] * f[i]) / std::sqrt(2.0 * std::numbers::pi);
      const double cdf = normal_cdf(y[i] * f[i]);
      log_p += std::log(cdf);
      g[i] = y[i] * phi / cdf;
      w[i] = phi * phi / (cdf * cdf) + y[i] * f[i] * phi / cdf;
    }
  };
  for (int step = 0; step < 60; ++step) {
    derivatives();
    const Matrix hessian = inverse + Matrix(w.asDiagonal());
    f += 0.9 * hessian.inverse() * (g - inverse * f);
  }
  derivatives();
  const Matrix hessian = inverse + Matrix(w.asDiagonal());
  result.f = f;
  result.gradient = g;
  result.w = w;
  result.evidence = log_p - 0.5 * f.dot(inverse * f) - 0.5 * std::log(k.determinant()) -
                    0.5 * std::log(hessian.determinant());
  return result;
}

TEST(GaussianProcess, LaplaceAgreesWithTheTextbook) {
  const DatasetParts data = oracle::random_classes(14, 3, 2, 5);
  const DatasetParts fresh = oracle::random_classes(9, 3, 2, 6);
  const GpKernel kernel{.lengthscales = Eigen::Vector3d(0.8, 1.3, 2.0), .signal = 1.7};
  const Matrix k = dense_kernel(data.dense, data.dense, kernel);
  const DenseLaplace exact = dense_laplace(k, signs(data));
  const GpEvidence found = gp_evidence(data.dense, signs(data), kernel, GpApproximation::kLaplace);
  EXPECT_NEAR(found.posterior.log_marginal_likelihood, exact.evidence, 1e-8);
  EXPECT_LT((found.posterior.mode - exact.f).cwiseAbs().maxCoeff(), 1e-8);

  const GpRule rule = fit_gp(
      data.dense, data.labels->codes, 2,
      GpLaplace{.hyperparameters = Hyperparameters::kFixed, .lengthscale = {{0.8, 1.3, 2.0}}, .signal = 1.7});
  const Matrix cross = dense_kernel(data.dense, fresh.dense, kernel);
  const Matrix noisy = k + Matrix(exact.w.cwiseInverse().asDiagonal());
  const Matrix log_p = rule.log_posteriors(fresh.dense);
  for (Index i = 0; i < fresh.rows(); ++i) {
    const double mean = cross.col(i).dot(exact.gradient);
    const double variance = 1.7 * 1.7 - cross.col(i).dot(noisy.inverse() * cross.col(i));
    EXPECT_NEAR(std::exp(log_p(i, 1)), normal_cdf(mean / std::sqrt(1.0 + variance)), 1e-8);
    EXPECT_NEAR(std::exp(log_p(i, 0)) + std::exp(log_p(i, 1)), 1.0, 1e-12);
  }
}

/// Central differences of the log marginal likelihood against the gradient.
void check_gradient(const Matrix& x, const Vector& y, const GpKernel& kernel, GpApproximation approximation,
                    double tolerance) {
  const GpEvidence at = gp_evidence(x, y, kernel, approximation);
  ASSERT_EQ(at.gradient.size(), kernel.lengthscales.size() + 1);
  constexpr double kStep = 1e-4;
  for (Index d = 0; d < at.gradient.size(); ++d) {
    const auto moved = [&](double by) {
      GpKernel other = kernel;
      (d < kernel.lengthscales.size() ? other.lengthscales[d] : other.signal) *= std::exp(by);
      return gp_evidence(x, y, other, approximation).posterior.log_marginal_likelihood;
    };
    const double difference = (moved(kStep) - moved(-kStep)) / (2.0 * kStep);
    EXPECT_NEAR(at.gradient[d], difference, tolerance * (1.0 + std::abs(difference))) << "derivative " << d;
  }
}

TEST(GaussianProcess, GradientsAgreeWithDifferences) {
  const DatasetParts data = oracle::random_classes(40, 4, 2, 8);
  const Vector y = signs(data);
  for (const GpApproximation approximation : kBoth) {
    for (const double s : {0.3, 1.5, 12.0}) {
      SCOPED_TRACE(::testing::Message()
                   << OptionCodec<GpApproximation>::format(approximation) << ", s = " << s);
      check_gradient(data.dense, y, {.lengthscales = Vector::Constant(1, 1.6), .signal = s}, approximation,
                     1e-6);
      check_gradient(data.dense, y, {.lengthscales = Eigen::Vector4d(0.9, 1.4, 3.0, 20.0), .signal = s},
                     approximation, 1e-6);
    }
  }
}

TEST(GaussianProcess, MoreRowsThanATileChangeNothing) {
  // 150 rows are several tiles and blocks of sites: the gradient sees all of them.
  const DatasetParts data = oracle::random_classes(150, 3, 2, 9);
  for (const GpApproximation approximation : kBoth) {
    check_gradient(data.dense, signs(data), {.lengthscales = Eigen::Vector3d(1.0, 1.5, 4.0), .signal = 2.0},
                   approximation, 1e-6);
  }
}

TEST(GaussianProcess, DuplicateRowsAndConstantFeatures) {
  DatasetParts data = oracle::random_classes(24, 3, 2, 10);
  data.dense.col(2).setConstant(7.0);
  Matrix twice(72, 3);
  twice << data.dense, data.dense, data.dense;
  Vector y(72);
  y << signs(data), signs(data), -signs(data);  // the same row with both labels
  const GpKernel kernel{.lengthscales = Eigen::Vector3d(0.7, 1.5, 0.1), .signal = 30.0};
  for (const GpApproximation approximation : kBoth) {
    const GpEvidence found = gp_evidence(twice, y, kernel, approximation);
    EXPECT_TRUE(found.posterior.converged);
    EXPECT_TRUE(std::isfinite(found.posterior.log_marginal_likelihood));
    EXPECT_NEAR(found.gradient[2], 0.0, 1e-9);  // the constant one
    check_gradient(twice, y, kernel, approximation, 1e-5);
    const GpEvidence without = gp_evidence(
        twice.leftCols(2), y, {.lengthscales = Eigen::Vector2d(0.7, 1.5), .signal = 30.0}, approximation);
    EXPECT_NEAR(without.posterior.log_marginal_likelihood, found.posterior.log_marginal_likelihood, 1e-9);
    if (approximation == GpApproximation::kEp) {
      EXPECT_GE(found.posterior.site_precision.minCoeff(), 0.0);
    }
  }
}

TEST(GaussianProcess, SitePrecisionIsNeverNegative) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const DatasetParts data = oracle::random_classes(50, 2, 2, seed, 3.0);
    for (const double s : {0.1, 3.0, 100.0}) {
      for (const double l : {0.01, 1.0, 50.0}) {
        const GpEvidence found =
            gp_evidence(data.dense, signs(data), {.lengthscales = Vector::Constant(1, l), .signal = s},
                        GpApproximation::kEp);
        EXPECT_GE(found.posterior.site_precision.minCoeff(), 0.0);
        EXPECT_TRUE(found.posterior.converged) << "s = " << s << ", l = " << l;
        EXPECT_LE(found.posterior.log_marginal_likelihood, 0.0);
      }
    }
  }
}

TEST(GaussianProcess, OptimizationRaisesTheEvidenceAndArdFindsTheFeatures) {
  const DatasetParts data = oracle::random_classes(60, 5, 2, 11, 2.0, 2);
  with_each_classifier([&](auto options) {
    options.hyperparameters = Hyperparameters::kFixed;
    const double start = fit_gp(data.dense, data.labels->codes, 2, options).log_marginal_likelihood();
    options.hyperparameters = Hyperparameters::kOptimize;
    const GpRule common = fit_gp(data.dense, data.labels->codes, 2, options);
    EXPECT_GT(common.log_marginal_likelihood(), start);
    EXPECT_EQ(common.status, Status::kConverged);
    EXPECT_GT(common.machines.front().evaluations, 3);
    options.ard = true;
    const GpRule each = fit_gp(data.dense, data.labels->codes, 2, options);
    EXPECT_GE(each.log_marginal_likelihood(), common.log_marginal_likelihood() - 1e-6);
    const Vector l = each.lengthscales();
    ASSERT_EQ(l.size(), 5);
    EXPECT_LT(l.head(2).maxCoeff(), l.tail(3).minCoeff());
  });
}

TEST(GaussianProcess, ThreadsChangeNoBit) {
  const DatasetParts data = oracle::random_classes(140, 6, 3, 12);
  with_each_classifier([&](auto options) {
    options.ard = true;
    options.restarts = 1;
    options.max_iterations = 3;
    const GpRule one = fit_gp(data.dense, data.labels->codes, 3, options, {.threads = 1});
    const GpRule four = fit_gp(data.dense, data.labels->codes, 3, options, {.threads = 4});
    EXPECT_EQ(one.log_marginal_likelihood(), four.log_marginal_likelihood());
    EXPECT_EQ(one.lengthscales(), four.lengthscales());
    EXPECT_EQ(one.log_posteriors(data.dense), four.log_posteriors(data.dense));
  });
}

TEST(GaussianProcess, SeveralClassesOneMissingAndOneAlone) {
  const DatasetParts data = oracle::random_classes(45, 3, 3, 13, 3.0);
  with_each_classifier([&](auto options) {
    options.restarts = 1;
    const GpRule rule = fit_gp(data.dense, data.labels->codes, 3, options);
    ASSERT_EQ(rule.machines.size(), 3U);
    const Matrix log_p = rule.log_posteriors(data.dense);
    Index right = 0;
    for (Index i = 0; i < data.rows(); ++i) {
      EXPECT_NEAR(log_p.row(i).array().exp().sum(), 1.0, 1e-12);
      Index best = 0;
      log_p.row(i).maxCoeff(&best);
      right += best == data.labels->codes[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    EXPECT_GE(right, 40);
    // Class 1 of four has no rows: two of three left share a machine as if there were two classes.
    std::vector<int> codes;
    std::vector<int> two;
    std::vector<Index> rows;
    for (Index i = 0; i < data.rows(); ++i) {
      const int code = data.labels->codes[static_cast<std::size_t>(i)];
      if (code == 1) continue;
      rows.push_back(i);
      codes.push_back(code);
      two.push_back(code / 2);
    }
    const Matrix part = data.dense(rows, Eigen::all);
    const GpRule missing = fit_gp(part, codes, 4, options);
    const GpRule plain = fit_gp(part, two, 2, options);
    ASSERT_EQ(missing.machines.size(), 1U);
    const Matrix a = missing.log_posteriors(part), b = plain.log_posteriors(part);
    EXPECT_EQ(a.col(0), b.col(0));
    EXPECT_EQ(a.col(2), b.col(1));
    EXPECT_TRUE((a.col(1).array() == -kInfinity).all());
    EXPECT_TRUE((a.col(3).array() == -kInfinity).all());
    const GpRule alone = fit_gp(part, std::vector<int>(codes.size(), 2), 3, options);
    EXPECT_TRUE((alone.log_posteriors(part).col(2).array() == 0.0).all());
  });
}

TEST(GaussianProcess, OffsetsScalesAndAllRowsAlike) {
  const DatasetParts data = oracle::random_classes(40, 2, 2, 14);
  with_each_classifier([&](auto options) {
    options.restarts = 1;
    const GpRule rule = fit_gp(data.dense, data.labels->codes, 2, options);
    const Matrix expected = rule.log_posteriors(data.dense);
    for (const double scale : {1e-120, 1e120}) {  // length-scales follow the data
      const Matrix scaled = scale * data.dense;
      const Matrix found = fit_gp(scaled, data.labels->codes, 2, options).log_posteriors(scaled);
      EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-4) << scale;
    }
    const Matrix shifted = data.dense.array() + 1e6;
    const Matrix found = fit_gp(shifted, data.labels->codes, 2, options).log_posteriors(shifted);
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-4);
    // Nothing to learn from: the share of the labels decides.
    const Matrix alike = Matrix::Ones(30, 2);
    std::vector<int> codes(30, 0);
    for (std::size_t i = 0; i < 10; ++i) codes[i] = 1;
    const Matrix log_p = fit_gp(alike, codes, 2, options).log_posteriors(alike);
    EXPECT_NEAR(std::exp(log_p(0, 1)), 1.0 / 3.0, 0.05);
    const GpRule nothing = fit_gp(Matrix(30, 0), codes, 2, options);
    EXPECT_NEAR(std::exp(nothing.log_posteriors(Matrix(1, 0))(0, 1)), 1.0 / 3.0, 0.05);
  });
}

TEST(GaussianProcess, ProjectedInputsAreThoseOfTheDiscriminants) {
  const DatasetParts data = oracle::random_classes(40, 5, 2, 15);
  const Matrix b = Matrix::Random(5, 2);
  const GpLaplace options{.restarts = 1};
  const GpRule rule = fit_projected_gp(data.dense, data.labels->codes, 2, b, options);
  const Matrix z = data.dense * b;
  const GpRule direct = fit_gp(z, data.labels->codes, 2, options);
  EXPECT_LT((rule.log_posteriors(data.dense) - direct.log_posteriors(z)).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(GaussianProcess, StopsWithTheBestSoFar) {
  const DatasetParts data = oracle::random_classes(40, 5, 2, 16);
  std::stop_source source;
  source.request_stop();
  const GpRule rule = fit_gp(data.dense, data.labels->codes, 2, GpLaplace{.ard = true}, {},
                             RunControl(source.get_token(), kInfinity));
  EXPECT_EQ(rule.status, Status::kInterrupted);
  ASSERT_EQ(rule.machines.size(), 1U);
  EXPECT_EQ(rule.lengthscales().size(), 5);
  EXPECT_TRUE(std::isfinite(rule.log_marginal_likelihood()));
  EXPECT_TRUE(rule.log_posteriors(data.dense).allFinite());
  const GpRule limited =
      fit_gp(data.dense, data.labels->codes, 2, GpLaplace{.ard = true, .max_iterations = 2});
  EXPECT_EQ(limited.status, Status::kIterationLimit);
}

TEST(GaussianProcess, RefusesWhatDoesNotFit) {
  const DatasetParts data = oracle::random_classes(20, 3, 2, 17);
  const auto message = [&](const GpLaplace& options, const GpContext& context = {}) -> std::string {
    try {
      (void)fit_gp(data.dense, data.labels->codes, 2, options, context);
    } catch (const Error& error) {
      return error.what();
    }
    return "(no error)";
  };
  EXPECT_NE(
      message({.lengthscale = {{1.0, 2.0}}}).find("lengthscale lists 2, but there are 3 input features"),
      std::string::npos);
  EXPECT_NE(message({}, {.memory_limit = 1000}).find("train on fewer rows"), std::string::npos);
  EXPECT_THROW((void)OptionCodec<LengthScales>::parse("1,-2"), InvalidArgument);
  EXPECT_THROW((void)OptionCodec<LengthScales>::parse(""), InvalidArgument);
  EXPECT_EQ(OptionCodec<LengthScales>::parse("1,2.5").values, (std::vector<double>{1.0, 2.5}));
  EXPECT_EQ(OptionCodec<LengthScales>::format({{1.0, 2.5}}), "1,2.5");

  DatasetParts weighted = data;
  weighted.weights = Vector::LinSpaced(20, 1.0, 2.0);
  EXPECT_THROW(ClassifierTrainer(weighted, {0, 1}, 0.0, GpEp{}), InvalidArgument);
}

/// A smooth kernel with a large signal: K has a condition number beyond 1/rounding.
TEST(GaussianProcess, LaplacePredictsItsOwnModeWhereTheKernelIsIllConditioned) {
  const DatasetParts data = oracle::random_classes(300, 3, 2, 29, 0.7);
  for (const auto& [lengthscale, signal] : std::vector<std::pair<double, double>>{
           {20.0, 100.0}, {50.0, 1000.0}, {200.0, 1000.0}, {2000.0, 1e4}}) {
    GpLaplace options{.hyperparameters = Hyperparameters::kFixed, .signal = signal};
    options.lengthscale.values = {lengthscale};
    const GpRule rule = fit_gp(data.dense, data.labels->codes, 2, options);
    const auto& machine = rule.machines.front();
    // K's entries are signal^2 and its rounding 1e-8 for the last: whether Newton's last step is then below
    // 1e-7 of the mode depends on the machine's kernels, and is not asked.
    EXPECT_TRUE(machine.posterior.converged || signal >= 1e4) << lengthscale << ' ' << signal;
    const Matrix log = rule.log_posteriors(data.dense);
    const Index positive = machine.positive;
    Index clear = 0;
    for (Index i = 0; i < data.rows(); ++i) {
      if (std::abs(machine.posterior.mode[i]) < 1e-3) continue;
      ++clear;
      EXPECT_EQ(log(i, positive) > log(i, 1 - positive), machine.posterior.mode[i] > 0.0)
          << lengthscale << ' ' << signal << " row " << i;
    }
    EXPECT_GT(clear, 250);
  }
}

TEST(GaussianProcess, AnIterationThatRoundingEndsIsNoConvergence) {
  const DatasetParts data = oracle::random_classes(40, 2, 2, 31, 0.7);
  GpLaplace options{.hyperparameters = Hyperparameters::kFixed, .signal = 1.0};
  options.lengthscale.values = {3.0};
  EXPECT_EQ(fit_gp(data.dense, data.labels->codes, 2, options).cut_short_sentence(), "");
  options.signal = 1e8;
  const GpRule rule = fit_gp(data.dense, data.labels->codes, 2, options);
  EXPECT_EQ(rule.status, Status::kIterationLimit);
  EXPECT_NE(rule.cut_short_sentence().find("did not converge at ⟨signal 1e+08⟩"), std::string::npos);
}

TEST(GaussianProcess, StoppedItKeepsTheBestPointSoFar) {
  const DatasetParts data = oracle::random_classes(40, 3, 2, 23, 1.0);
  with_each_classifier([&](auto options) {
    for (const bool ard : {false, true}) {
      SCOPED_TRACE(ard);
      options.ard = ard;
      options.restarts = 3;
      // Before anything was looked at: where the optimization would start.
      std::stop_source at_once;
      at_once.request_stop();
      const GpRule first =
          fit_gp(data.dense, data.labels->codes, 2, options, {}, RunControl(at_once.get_token(), kInfinity));
      EXPECT_EQ(first.status, Status::kInterrupted);
      ASSERT_EQ(first.machines.size(), 1U);
      EXPECT_EQ(first.machines[0].evaluations, 0);
      EXPECT_FALSE(first.machines[0].converged);
      EXPECT_EQ(first.machines[0].kernel.signal, 2.0);
      EXPECT_TRUE(first.log_posteriors(data.dense).allFinite());
      // After the third evaluation: no worse than the start, no better than the end.
      std::stop_source later;
      int reports = 0;
      const RunControl control(
          later.get_token(), kInfinity,
          [&](const Progress&) {
            if (++reports == 3) later.request_stop();
          },
          0.0);
      const GpRule some = fit_gp(data.dense, data.labels->codes, 2, options, {}, control);
      EXPECT_EQ(some.status, Status::kInterrupted);
      EXPECT_EQ(some.machines[0].evaluations, 3);
      const GpRule whole = fit_gp(data.dense, data.labels->codes, 2, options);
      EXPECT_GE(some.log_marginal_likelihood(), first.log_marginal_likelihood());
      EXPECT_LE(some.log_marginal_likelihood(), whole.log_marginal_likelihood() + 1e-9);
      EXPECT_EQ(whole.cut_short_sentence(), "");
      EXPECT_NE(some.cut_short_sentence().find(
                    "(interrupted): length-scale and signal are the best of 3 gradients"),
                std::string::npos)
          << some.cut_short_sentence();
    }
  });
}

/// At the optimum no hyperparameter that its bounds let move has a slope left, and those at the upper bound
/// of a length-scale would only go further out.
TEST(GaussianProcess, TheAscentEndsWhereNoDerivativeWithinTheBoundsIsLeft) {
  const DatasetParts data = oracle::random_classes(70, 9, 2, 33, 1.2, 3);
  with_each_classifier([&](auto options) {
    options.ard = true;
    options.restarts = 1;
    const GpRule rule = fit_gp(data.dense, data.labels->codes, 2, options);
    const GpMachine& machine = rule.machines.front();
    EXPECT_TRUE(machine.converged);
    const GpEvidence at = gp_evidence(data.dense, signs(data), machine.kernel, rule.approximation);
    EXPECT_NEAR(at.posterior.log_marginal_likelihood, rule.log_marginal_likelihood(), 1e-9);
    const double allowed = options.tolerance * (1.0 + std::abs(rule.log_marginal_likelihood()));
    EXPECT_LE(machine.slope, allowed);
    const double longest = machine.kernel.lengthscales.maxCoeff();
    Index at_bound = 0;
    for (Index d = 0; d < 9; ++d) {
      SCOPED_TRACE(d);
      const double l = machine.kernel.lengthscales[d];
      const bool bound = l >= longest * (1.0 - 1e-12) && l > 100.0;
      at_bound += bound ? 1 : 0;
      if (bound) {  // by u = r^2/l^2 the likelihood falls, and not by rounding
        const double u = std::pow(gp::TrainingKernel(data.dense, 1).spreads()[d] / l, 2);
        EXPECT_LE(-at.gradient[d] / (2.0 * u), 1e-3);
      } else {
        EXPECT_LE(std::abs(at.gradient[d]), 1.01 * allowed);
      }
    }
    EXPECT_EQ(machine.lengthscales_at_bound, at_bound);
    EXPECT_GE(at_bound, 3);  // of six that carry nothing
    if (!machine.signal_at_bound) {
      EXPECT_LE(std::abs(at.gradient[9]), 1.01 * allowed);
    }
    // A hundred times the accuracy raises the likelihood by next to nothing: the end was no plateau.
    options.tolerance = 1e-7;
    options.max_iterations = 2000;
    const GpRule finer = fit_gp(data.dense, data.labels->codes, 2, options);
    EXPECT_NEAR(finer.log_marginal_likelihood(), rule.log_marginal_likelihood(), 1e-4);
    EXPECT_LT(
        (finer.machines[0].kernel.lengthscales.cwiseInverse() - machine.kernel.lengthscales.cwiseInverse())
            .cwiseAbs()
            .maxCoeff(),
        1e-3 * machine.kernel.lengthscales.cwiseInverse().maxCoeff());
  });
}

TEST(GaussianProcess, UnitsOfTheColumnsDoNotMatterToTheOptimum) {
  const DatasetParts data = oracle::random_classes(60, 5, 2, 34, 1.5, 3);
  Vector units(5);
  units << 1.0, 7.0, 0.2, 3.0, 0.5;
  const Matrix other = data.dense * units.asDiagonal();
  GpLaplace options{.ard = true, .restarts = 1, .tolerance = 1e-8};
  const GpRule a = fit_gp(data.dense, data.labels->codes, 2, options);
  const GpRule b = fit_gp(other, data.labels->codes, 2, options);
  // Where a length-scale is at its bound the bounds, which are of the whole rows, differ a little.
  EXPECT_NEAR(a.log_marginal_likelihood(), b.log_marginal_likelihood(), 1e-3);
  for (Index d = 0; d < 5; ++d) {
    if (a.lengthscales()[d] > 50.0) continue;
    EXPECT_NEAR(b.lengthscales()[d] / units[d], a.lengthscales()[d], 1e-2 * a.lengthscales()[d]);
  }
}

TEST(GaussianProcess, TheBoundsAreThoseOfTheDataOrAroundAValueOutsideOfThem) {
  // Classes far apart, where a large s costs little.
  DatasetParts data = oracle::random_classes(30, 2, 2, 35, 0.0);
  for (Index i = 0; i < 30; ++i)
    data.dense(i, 0) =
        data.labels->codes[static_cast<std::size_t>(i)] == 1 ? 3.0 + 0.01 * i : -3.0 - 0.01 * i;
  for (const double given :
       {2.0, 50.0, 99.0}) {  // inside: the bound stays, in the stage after the first, too
    for (const bool ard : {false, true}) {
      const GpRule rule =
          fit_gp(data.dense, data.labels->codes, 2, GpEp{.signal = given, .ard = ard, .restarts = 2});
      EXPECT_LE(rule.machines[0].kernel.signal, 100.0) << given << ard;
      EXPECT_EQ(rule.machines[0].signal_at_bound, rule.machines[0].kernel.signal > 99.999) << given << ard;
    }
  }
  // Outside: a start that is looked at as given, with room around it.
  const GpRule wide = fit_gp(data.dense, data.labels->codes, 2,
                             GpLaplace{.signal = 300.0, .restarts = 1, .max_iterations = 1});
  EXPECT_NEAR(wide.machines[0].kernel.signal, 300.0, 1e-9);
  EXPECT_FALSE(wide.machines[0].signal_at_bound);
}

}  // namespace
}  // namespace subspectra
