#include "synth/brownian.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

#include "io/write.hpp"
#include "reading.hpp"
#include "run_program.hpp"
#include "synth/distributions.hpp"

namespace subspectra::synth {
namespace {

using subspectra::testing::Folder;
using subspectra::testing::message_of;
using subspectra::testing::run_words;

const std::string kReference = SUBSPECTRA_SOURCE_DIR "/tests/synth/reference.py";

/// Runs the reference; skips the test where it cannot run.
#define EXPECT_REFERENCE_AGREES(...)                                          \
  do {                                                                        \
    const auto run = run_words({SUBSPECTRA_PYTHON, kReference, __VA_ARGS__}); \
    if (run.code == 77 || run.code == 127) GTEST_SKIP() << "no NumPy";        \
    EXPECT_EQ(run.code, 0) << run.out << run.err;                             \
  } while (false)

TEST(BrownianClasses, AreWhatAReferenceInAnotherLanguageMakes) {
  const Folder folder;
  write_csv(folder.path("t.csv"), Brownian{.rows = 31, .features = 17, .seed = 12345}.make());
  EXPECT_REFERENCE_AGREES("brownian", "31", "17", "12345", folder.path("t.csv"));
  write_csv(folder.path("t.csv"), Brownian{.rows = 2, .features = 1, .seed = 0}.make());
  EXPECT_REFERENCE_AGREES("brownian", "2", "1", "0", folder.path("t.csv"));
}

TEST(BrownianPair, IsWhatAReferenceInAnotherLanguageMakes) {
  const Folder folder;
  for (const auto& [kind, name] : EnumNames<WalkKind>::kNames) {
    for (const Index n : {1, 2, 16}) {
      SCOPED_TRACE(std::string(name) + ' ' + std::to_string(n));
      const auto [a, b] = BrownianPair{.kind = kind, .features = n, .seed = 99}.make();
      write_npy(folder.path("A.npy"), a);
      write_npy(folder.path("B.npy"), b);
      EXPECT_REFERENCE_AGREES(std::string(name), std::to_string(n), "99", folder.path("A.npy"),
                              folder.path("B.npy"));
    }
  }
}

TEST(BrownianClasses, HaveTheVariancesOfAWalkAndTheDifferenceThatWasPutIn) {
  constexpr Index kRows = 20000;
  constexpr Index kFeatures = 8;
  const DatasetParts data = Brownian{.rows = kRows, .features = kFeatures, .seed = 3}.make().parts();
  ASSERT_EQ(data.rows(), kRows);
  ASSERT_EQ(data.labels->classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.labels->counts(), (std::vector<Index>{kRows / 2, kRows / 2}));
  Matrix means = Matrix::Zero(2, kFeatures);
  Matrix squares = Matrix::Zero(2, kFeatures);
  for (Index i = 0; i < kRows; ++i) {
    const int c = data.labels->codes[static_cast<std::size_t>(i)];
    means.row(c) += data.dense.row(i) / (kRows / 2.0);
    squares.row(c) += data.dense.row(i).cwiseAbs2() / (kRows / 2.0);
  }
  const Matrix variances = squares - means.cwiseAbs2();
  // The difference that was put in: the row of the other class with the same noise is not at hand, but the
  // difference of the means is, with standard error sqrt((j + 1) 2 / (N/2)).
  Random walk(3, std::uint64_t{1} << 41U);
  double at = 0.0;
  for (Index j = 0; j < kFeatures; ++j) {
    SCOPED_TRACE(j);
    const double variance = static_cast<double>(j + 1);
    at += walk.normal();
    const double standard_error = std::sqrt(variance * 4.0 / kRows);
    EXPECT_NEAR(means(0, j), 0.0, 4.0 * standard_error);
    EXPECT_NEAR(means(1, j) - means(0, j), 0.8 * at / std::sqrt(kFeatures), 4.0 * standard_error);
    for (const int c : {0, 1}) {
      EXPECT_NEAR(variances(c, j) / variance, 1.0, 4.0 * std::sqrt(4.0 / kRows));  // s.e. sqrt(2/(N/2))
    }
  }
}

TEST(BrownianClasses, MoreRowsLeaveTheFirstOnesAsTheyWere) {
  const DatasetParts few = Brownian{.rows = 5, .features = 6, .seed = 7}.make().parts();
  const DatasetParts many = Brownian{.rows = 50, .features = 6, .seed = 7}.make().parts();
  EXPECT_EQ(few.dense, many.dense.topRows(5));
  const DatasetParts again = Brownian{.rows = 5, .features = 6, .seed = 7}.make().parts();
  const DatasetParts other = Brownian{.rows = 5, .features = 6, .seed = 8}.make().parts();
  EXPECT_EQ(again.dense, few.dense);
  EXPECT_NE(other.dense, few.dense);
}

TEST(BrownianPair, IsSymmetricPositiveDefiniteAndDifferentForEverySeed) {
  for (const auto& [kind, name] : EnumNames<WalkKind>::kNames) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(std::string(name) + ' ' + std::to_string(seed));
      const auto [a, b] = BrownianPair{.kind = kind, .features = 16, .seed = seed}.make();
      for (const Matrix& m : {a, b}) {
        EXPECT_EQ(m, m.transpose());
        EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(m).eigenvalues()[0], 0.0);
      }
      EXPECT_NE(a, b);
      EXPECT_NE(a, (BrownianPair{.kind = kind, .features = 16, .seed = seed + 100}.make().first));
    }
  }
}

// Averaged over seeds a covariance is that of the walk, times (N-1)/N for the mean that is taken off. H is
// drawn as U(0.1, 0.9), so the variance at time t is the mean of t^2H: (t^1.8 - t^0.2)/(1.6 log t).
TEST(BrownianPair, HasTheVariancesOfItsWalksOnAverage) {
  constexpr Index kSize = 6;
  constexpr int kSeeds = 4000;
  const double centred = 1.0 - 1.0 / (4.0 * kSize);
  for (const auto& [kind, name] : EnumNames<WalkKind>::kNames) {
    Matrix sum = Matrix::Zero(kSize, 2);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto [a, b] = BrownianPair{.kind = kind, .features = kSize, .seed = seed}.make();
      sum.col(0) += a.diagonal() / kSeeds;
      sum.col(1) += b.diagonal() / kSeeds;
    }
    for (Index i = 0; i < kSize; ++i) {
      SCOPED_TRACE(std::string(name) + ' ' + std::to_string(i));
      const double t = static_cast<double>(i + 1);
      double variance = t;
      if (kind == WalkKind::kFractional && i > 0)
        variance = (std::pow(t, 1.8) - std::pow(t, 0.2)) / (1.6 * std::log(t));
      // One diagonal entry has a relative spread of about 0.8 (H at t = 6, and sqrt(kurtosis/N)).
      for (const Index m : {0, 1})
        EXPECT_NEAR(sum(i, m) / (variance * centred), 1.0, 4.0 * 0.8 / std::sqrt(kSeeds));
    }
  }
}

TEST(Distributions, GammaHasItsMeanAndVariance) {
  constexpr int kDraws = 200000;
  for (const double shape : {0.5, 0.9, 1.0, 2.0, 7.5}) {
    SCOPED_TRACE(shape);
    Random random(1);
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double g = gamma(random, shape);
      ASSERT_GE(g, 0.0);
      sum += g;
      squares += g * g;
    }
    const double mean = sum / kDraws;
    EXPECT_NEAR(mean, shape, 4.0 * std::sqrt(shape / kDraws));
    // Var of (g - shape)^2 is 2 shape^2 + 6 shape.
    EXPECT_NEAR(squares / kDraws - mean * mean, shape,
                5.0 * std::sqrt((2.0 * shape * shape + 6.0 * shape) / kDraws));
  }
}

// P(|x| <= 1) where it is known: erf(1/sqrt 2) for beta = 2, 1 - exp(-sqrt 2) for Laplace with variance 1,
// and for beta = 1/2, s = 1/sqrt 120: |x/s|^(1/2) ~ Gamma(2), so 1 - (1 + y) exp(-y) at y = 120^(1/4).
TEST(Distributions, GeneralizedGaussianHasTheKnownProbabilities) {
  constexpr int kDraws = 200000;
  const double y = std::pow(120.0, 0.25);
  const std::vector<std::pair<double, double>> known = {{2.0, std::erf(std::sqrt(0.5))},
                                                        {1.0, 1.0 - std::exp(-std::sqrt(2.0))},
                                                        {0.5, 1.0 - (1.0 + y) * std::exp(-y)}};
  for (const auto& [beta, probability] : known) {
    SCOPED_TRACE(beta);
    Random random(2);
    double inside = 0.0;
    double positive = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = generalized_gaussian(random, beta);
      inside += std::abs(x) <= 1.0 ? 1.0 : 0.0;
      positive += x > 0.0 ? 1.0 : 0.0;
    }
    const double standard_error = std::sqrt(0.25 / kDraws);
    EXPECT_NEAR(inside / kDraws, probability, 4.0 * standard_error);
    EXPECT_NEAR(positive / kDraws, 0.5, 4.0 * standard_error);
  }
}

// Kurtosis Gamma(5/beta) Gamma(1/beta)/Gamma(3/beta)^2: 25.2 at beta = 1/2, 6 for Laplace, 3 for the normal
// distribution, 1.92 at 8; the uniform one, the limit, has 1.8.
TEST(Distributions, GeneralizedGaussianHasItsVarianceAndKurtosisOnBothSidesOfTheNormalOne) {
  constexpr int kDraws = 200000;
  for (const double beta : {0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0}) {
    SCOPED_TRACE(beta);
    const auto moment = [&](double order) {  // E |x|^order at unit variance
      return std::tgamma((order + 1.0) / beta) / std::tgamma(1.0 / beta) *
             std::pow(std::tgamma(1.0 / beta) / std::tgamma(3.0 / beta), order / 2.0);
    };
    const double kurtosis = moment(4.0);
    Random random(3);
    double squares = 0.0, fourths = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = generalized_gaussian(random, beta);
      squares += x * x / kDraws;
      fourths += x * x * x * x / kDraws;
    }
    EXPECT_NEAR(squares, 1.0, 5.0 * std::sqrt((kurtosis - 1.0) / kDraws));
    EXPECT_NEAR(fourths, kurtosis, 5.0 * std::sqrt((moment(8.0) - kurtosis * kurtosis) / kDraws));
    EXPECT_EQ(beta > 2.0, kurtosis < 3.0 - 1e-9);
  }
}

// Kolmogorov and Smirnov's distance to the density, integrated by Simpson's rule. sqrt(n) D is above 2.2 with
// probability 2 exp(-2 2.2^2) = 1.3e-4.
TEST(Distributions, GeneralizedGaussianHasItsDensity) {
  constexpr int kDraws = 100000;
  for (const double beta : {0.5, 1.3, 2.0, 4.0, 8.0}) {
    SCOPED_TRACE(beta);
    Random random(4);
    std::vector<double> sizes;
    for (int i = 0; i < kDraws; ++i) sizes.push_back(std::abs(generalized_gaussian(random, beta)));
    std::sort(sizes.begin(), sizes.end());
    const double s = std::sqrt(std::tgamma(1.0 / beta) / std::tgamma(3.0 / beta));
    const auto density = [&](double x) {
      return beta / (s * std::tgamma(1.0 / beta)) * std::exp(-std::pow(x / s, beta));
    };
    double at = 0.0, below = 0.0, distance = 0.0;  // P(|x| <= at)
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double step = sizes[i] - at;
      below += step / 6.0 * (density(at) + 4.0 * density(at + 0.5 * step) + density(sizes[i]));
      at = sizes[i];
      distance = std::max(
          {distance, static_cast<double>(i + 1) / kDraws - below, below - static_cast<double>(i) / kDraws});
    }
    EXPECT_NEAR(below, 1.0, 1e-3);
    EXPECT_LT(distance * std::sqrt(static_cast<double>(kDraws)), 2.2);
  }
}

TEST(BrownianPair, HasStepsOnBothSidesOfTheNormalDistribution) {
  Random random(5);
  int sub_gaussian = 0;
  double least = 8.0, most = 0.0;
  for (int i = 0; i < 10000; ++i) {
    const double beta = walk_shape(random);
    least = std::min(least, beta);
    most = std::max(most, beta);
    sub_gaussian += beta > 2.0 ? 1 : 0;
  }
  EXPECT_GE(least, 0.5);
  EXPECT_LT(least, 0.51);
  EXPECT_LE(most, 8.0);
  EXPECT_GT(most, 7.9);
  EXPECT_NEAR(sub_gaussian, 5000, 4 * 50);
}

TEST(Brownian, RefusesSizesThatAreNone) {
  const auto message = [](const auto& problem) { return message_of<Error>([&] { return problem.make(); }); };
  const Index huge = Index{1} << 40;
  const Brownian one_row{.rows = 1, .features = 5}, no_feature{.rows = 10, .features = 0},
      huge_table{.rows = huge, .features = huge};
  const BrownianPair negative{.features = -3}, huge_pair{.features = huge};
  EXPECT_THROW((void)one_row.make(), InvalidArgument);
  EXPECT_EQ(message(one_row), "rows = 1, but at least 2 are needed: one a class");
  EXPECT_EQ(message(no_feature), "features = 0, but at least 1 is needed");
  EXPECT_EQ(message(negative), "features = -3, but at least 1 is needed");
  EXPECT_NE(message(huge_table).find("fewer rows"), std::string::npos);
  EXPECT_NE(message(huge_pair).find("fewer features"), std::string::npos);
}

}  // namespace
}  // namespace subspectra::synth
