/// Moments of the papers' tables against their definitions; tolerances are five standard errors or more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io/write.hpp"
#include "reading.hpp"
#include "run_program.hpp"
#include "synth/registry.hpp"

namespace subspectra::synth {
namespace {

TEST(PapersTables, AreWhatAReferenceInAnotherLanguageMakes) {
  const subspectra::testing::Folder folder;
  for (const std::string name : {"weston-linear", "weston-nonlinear", "clusters", "sessions", "bendor"}) {
    SCOPED_TRACE(name);
    write_csv(folder.path("t.csv"), *synthesize(find_synth(name).from_texts({{"seed", "77"}})).table);
    const auto run =
        subspectra::testing::run_words({SUBSPECTRA_PYTHON, SUBSPECTRA_SOURCE_DIR "/tests/synth/reference.py",
                                        name, "77", folder.path("t.csv")});
    if (run.code == 77 || run.code == 127) GTEST_SKIP() << "no NumPy";
    EXPECT_EQ(run.code, 0) << run.out << run.err;
  }
}

struct Summary {
  double mean = 0.0, variance = 0.0, rows = 0.0;
};
/// Of y x_j, y = +/-1, or of x_j among the rows for which `take` holds.
template <class Take>
Summary summary(const Vector& x, Take take) {
  Summary s;
  for (Index i = 0; i < x.size(); ++i) {
    if (take(i)) s.rows += 1.0, s.mean += x[i];
  }
  s.mean /= s.rows;
  for (Index i = 0; i < x.size(); ++i) {
    if (take(i)) s.variance += (x[i] - s.mean) * (x[i] - s.mean) / s.rows;
  }
  return s;
}

Vector times_label(const DatasetParts& data, Index j) {
  Vector x = data.dense.col(j);
  for (Index i = 0; i < x.size(); ++i)
    x[i] *= data.labels->codes[static_cast<std::size_t>(i)] == 0 ? -1.0 : 1.0;
  return x;
}

TEST(Weston, LinearHasTheMixturesMoments) {
  const DatasetParts data = WestonLinear{.rows = 40000, .features = 9, .seed = 1}.make().parts();
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"-1", "1"}));
  EXPECT_NEAR(static_cast<double>(data.labels->counts()[0]), 20000.0, 500.0);
  for (Index j = 0; j < 6; ++j) {
    // y x_j is N(m, 1) with probability q and N(0, 1) otherwise: mean q m, variance 1 + q (1 - q) m^2.
    const double q = j < 3 ? 0.7 : 0.3, m = static_cast<double>(j % 3 + 1);
    const Summary s = summary(times_label(data, j), [](Index) { return true; });
    const double variance = 1.0 + q * (1.0 - q) * m * m;
    EXPECT_NEAR(s.mean, q * m, 5.0 * std::sqrt(variance / 40000.0)) << j;
    EXPECT_NEAR(s.variance, variance, 0.05 * variance) << j;
  }
  // Either the first three or the others carry the label: their deviations are opposed.
  const Vector a = times_label(data, 2), b = times_label(data, 5);
  const double covariance = ((a.array() - a.mean()) * (b.array() - b.mean())).mean();
  EXPECT_NEAR(covariance, -0.21 * 9.0, 0.1);
  for (Index j = 6; j < 9; ++j) {
    const Summary s = summary(data.dense.col(j), [](Index) { return true; });
    EXPECT_NEAR(s.mean, 0.0, 0.12);
    EXPECT_NEAR(s.variance, 20.0, 0.8);
  }
}

TEST(Weston, NonlinearHasFourClouds) {
  const DatasetParts data = WestonNonlinear{.rows = 40000, .features = 4, .seed = 2}.make().parts();
  for (const int code : {0, 1}) {
    for (const double sign : {-1.0, 1.0}) {
      // The clouds of a class lie 6 deviations apart in x_2: its sign tells which.
      const auto take = [&](Index i) {
        return data.labels->codes[static_cast<std::size_t>(i)] == code && data.dense(i, 1) * sign > 0.0;
      };
      const Summary first = summary(data.dense.col(0), take);
      EXPECT_NEAR(first.rows, 10000.0, 500.0);
      EXPECT_NEAR(first.mean, sign * (code == 0 ? 0.75 : -3.0), 0.07);
      EXPECT_NEAR(first.variance, 1.0, 0.15);
      EXPECT_NEAR(summary(data.dense.col(1), take).mean, sign * 3.0, 0.07);
    }
  }
  EXPECT_NEAR(summary(data.dense.col(3), [](Index) { return true; }).variance, 20.0, 0.8);
}

TEST(Weston, MoreRowsLeaveTheFirstOnesAndTooFewFeaturesAreRefused) {
  const Matrix five = WestonLinear{.rows = 5, .features = 20, .seed = 3}.make().values().packed();
  const Matrix nine = WestonLinear{.rows = 9, .features = 20, .seed = 3}.make().values().packed();
  const Matrix others = WestonLinear{.rows = 5, .features = 20, .seed = 4}.make().values().packed();
  EXPECT_EQ(five, nine.topRows(5));
  EXPECT_NE(five, others);
  EXPECT_THROW((void)WestonLinear{.features = 5}.make(), InvalidArgument);
  EXPECT_THROW((void)WestonNonlinear{.features = 1}.make(), InvalidArgument);
  EXPECT_EQ(WestonLinear{}.make().features(), 202);
  EXPECT_EQ(WestonNonlinear{}.make().features(), 52);
}

/// Share of a column's variance that lies between classes.
double between_share(const DatasetParts& data, Index j) {
  const Summary all = summary(data.dense.col(j), [](Index) { return true; });
  double within = 0.0;
  for (int c = 0; c < data.labels->class_count(); ++c) {
    const Summary s = summary(data.dense.col(j),
                              [&](Index i) { return data.labels->codes[static_cast<std::size_t>(i)] == c; });
    within += s.rows / static_cast<double>(data.rows()) * s.variance;
  }
  return 1.0 - within / all.variance;
}

TEST(Clusters, RelevantFeaturesShareTheClustersAndTheOthersHaveTheirOwn) {
  const DatasetParts data = Clusters{.classes = 4, .seed = 5}.make().parts();
  EXPECT_EQ(data.rows(), 60);
  EXPECT_EQ(data.features(), 125);
  EXPECT_EQ(data.labels->counts(), (std::vector<Index>{15, 15, 15, 15}));
  for (Index j = 0; j < 5; ++j) EXPECT_GT(between_share(data, j), 0.8) << j;
  double others = 0.0;
  for (Index j = 5; j < 125; ++j) others += between_share(data, j) / 120.0;
  EXPECT_NEAR(others, 3.0 / 59.0, 0.03);  // what chance gives 4 classes of 60 rows
  EXPECT_EQ(Clusters{.classes = 7}.make().rows(), 63);
  // A permuted feature has the values of a relevant one: the same marginal.
  const DatasetParts planted = Clusters{.classes = 4, .relevant = 125, .seed = 5}.make().parts();
  Vector a = data.dense.col(50), b = planted.dense.col(50);
  EXPECT_NE(a, b);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
}

TEST(Clusters, CentresAndVariancesAreUniform) {
  // Class means over many features: variance of U(-1, 1) is 1/3, the mean class variance 0.01.
  const DatasetParts data =
      Clusters{.rows = 200, .features = 3000, .classes = 2, .relevant = 3000, .seed = 6}.make().parts();
  double squares = 0.0, within = 0.0, largest = 0.0;
  for (Index j = 0; j < 3000; ++j) {
    const Summary s = summary(data.dense.col(j), [&](Index i) { return i < 100; });
    squares += s.mean * s.mean / 3000.0;
    within += s.variance / 3000.0;
    largest = std::max(largest, std::abs(s.mean));
  }
  EXPECT_NEAR(squares, 1.0 / 3.0, 0.03);
  EXPECT_NEAR(within, 0.01 * 99.0 / 100.0, 0.0006);
  EXPECT_LT(largest, 1.06);
}

TEST(Sessions, SignsChangeFromSessionToSession) {
  const Sessions options{.spread = 0.01, .seed = 7};
  const DatasetParts data = options.make().parts();
  EXPECT_EQ(data.rows(), 120);
  EXPECT_EQ(data.features(), 60);
  EXPECT_EQ(data.labels->counts(), (std::vector<Index>{40, 40, 40}));
  // Without noise every entry is +/- the centre of its class, and the sign is that of the session.
  const DatasetParts exact =
      Sessions{.features = 400, .relevant = 400, .spread = 0.0, .seed = 7}.make().parts();
  Index flips = 0;
  for (Index j = 0; j < 400; ++j) {
    for (Index i = 1; i < 120; ++i) {
      const bool same_sign = exact.dense(i, j) * exact.dense(i - 1, j) > 0.0;
      if (i % 8 != 0) {
        EXPECT_TRUE(same_sign);
        if (i % 40 != 0) {
          EXPECT_EQ(exact.dense(i, j), exact.dense(i - 1, j));
        }
      } else if (!same_sign) {
        ++flips;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(flips), 400.0 * 14.0 / 2.0, 250.0);
  // The centres are U(0, 1): mean square 1/3. The squares do not see the signs.
  EXPECT_NEAR(exact.dense.squaredNorm() / 48000.0, 1.0 / 3.0, 0.05);
}

TEST(Sessions, NormalizedBeforeTheSignsAreFlipped) {
  const DatasetParts data = Sessions{.normalize = true, .seed = 8}.make().parts();
  const DatasetParts plain = Sessions{.seed = 8}.make().parts();
  for (Index j = 0; j < data.features(); ++j) EXPECT_NEAR(data.dense.col(j).norm(), 1.0, 1e-12);
  // Undo the signs by those of the positive table: centred.
  Index centred = 0;
  for (Index j = 0; j < data.features(); ++j) {
    const Vector unsigned_values = plain.dense.col(j).cwiseAbs();
    const double mean = unsigned_values.mean();
    const Vector want = unsigned_values.array() - mean;
    if ((data.dense.col(j).cwiseAbs() - want.cwiseAbs() / want.norm()).cwiseAbs().maxCoeff() < 1e-9)
      ++centred;
  }
  EXPECT_GT(centred, 10);  // those whose entries were all positive before the signs
  EXPECT_THROW((void)Sessions{.session = 0}.make(), InvalidArgument);
  EXPECT_THROW((void)Sessions{.spread = -1.0}.make(), InvalidArgument);
}

TEST(BenDor, HasTheModelsMomentsUnderBothReadings) {
  for (const Spread reading : {Spread::kVariance, Spread::kDeviation}) {
    const BenDor options{
        .features = 400, .a = 800, .b = 900, .e = 0.75, .d = 10.0, .s = 0.5, .spread_as = reading, .seed = 9};
    const DatasetParts data = options.make().parts();
    EXPECT_EQ(data.labels->counts(), (std::vector<Index>{800, 900}));
    const auto variance_of = [&](double spread) {
      return reading == Spread::kVariance ? spread : spread * spread;
    };
    double squares = 0.0;
    for (Index j = 0; j < 400; ++j) {
      const Summary a = summary(data.dense.col(j), [](Index i) { return i < 800; });
      const Summary b = summary(data.dense.col(j), [](Index i) { return i >= 800; });
      if (j >= 100) {
        EXPECT_NEAR(a.mean - b.mean, 0.0, 0.3);
        EXPECT_NEAR(a.variance, variance_of(0.5), 0.35 * variance_of(0.5));
        continue;
      }
      squares += (a.mean * a.mean + b.mean * b.mean) / 200.0;
      for (const Summary& s : {a, b}) {
        // The mean of the model is known from the sample only to its standard error.
        const double spread = std::abs(s.mean) * 0.5, error = 5.0 * std::sqrt(s.variance / 800.0);
        EXPECT_LT(s.variance, variance_of(spread + 0.5 * error) * 1.35) << j;
        EXPECT_GT(s.variance, variance_of(std::max(0.0, spread - 0.5 * error)) * 0.65) << j;
      }
    }
    EXPECT_NEAR(squares, 15.0 * 15.0 / 3.0, 20.0);  // U(-15, 15)
  }
  const BenDor defaults;
  EXPECT_EQ(defaults.irrelevant(), 432);
  EXPECT_EQ(defaults.make().rows(), 72);
  EXPECT_THROW((void)BenDor{.e = 1.5}.make(), InvalidArgument);
  EXPECT_THROW((void)BenDor{.a = 0}.make(), InvalidArgument);
}

}  // namespace
}  // namespace subspectra::synth
