#include "qalpha/qalpha.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "dense_oracle.hpp"
#include "oracle.hpp"
#include "qalpha/kernel.hpp"
#include "tables.hpp"

namespace subspectra {
namespace {

using tables::all_of;
using tables::clustered;
using tables::fit;
using tables::for_each_of;
using tables::rows_by_class;

double distance(const Vector& a, const Vector& b) { return (a - b).cwiseAbs().maxCoeff(); }

constexpr double kWeights = 1e-8;

constexpr auto four_steps = [](auto& method) {
  method.max_iterations = 4;
  method.tolerance = 0.0;
  method.start = QAlphaStart::kEqual;
};

TEST(QAlpha, TheWeightsAreThoseOfTheExplicitMatrixAfterTheSameSteps) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const DatasetParts data = clustered(40, 60, 8, 3, seed);
    const Matrix m = dense::feature_rows(data);
    for (const Index k : {1, 2, 4}) {
      for (const int steps : {1, 4}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", k " << k << ", steps " << steps);
        const Matrix q = dense::equal_start(m, k);
        const auto power = dense::plain(m, q, steps);
        const auto got = fit(data, QAlpha{.clusters = k, .max_iterations = steps, .tolerance = 0.0});
        EXPECT_LT(distance(got.weights, power.alpha), kWeights);
        EXPECT_NEAR(got.objective, power.trace.back(), 1e-9 * power.trace.back());
        ASSERT_EQ(got.trace.size(), power.trace.size());
        const QAlphaBasic basic{.clusters = k, .max_iterations = steps, .tolerance = 0.0};
        EXPECT_LT(distance(fit(data, basic).weights, dense::plain(m, q, steps, dense::Rule::kBasic).alpha),
                  kWeights);
        const QAlphaRitz ritz{.clusters = k, .max_iterations = steps, .tolerance = 0.0};
        EXPECT_LT(distance(fit(data, ritz).weights, dense::ritz(m, q, steps).alpha), kWeights);
        EXPECT_LT(distance(fit(data, ritz).weights, power.alpha),
                  kWeights);  // the paper's promise is none
        const QAlphaGap gap{.clusters = k, .max_iterations = steps, .tolerance = 0.0};
        EXPECT_LT(distance(fit(data, gap).weights, dense::plain(m, q, steps, dense::Rule::kGap).alpha),
                  kWeights);
      }
    }
  }
}

TEST(QAlpha, TheLaplacianIsThatOfTheDefinitionForBothShifts) {
  DatasetParts data = clustered(24, 18, 6, 3, 5);
  data.dense = data.dense.cwiseAbs();
  const Matrix given = data.dense.transpose();
  for (const bool degree : {true, false}) {
    for (const int steps : {1, 2, 5}) {
      SCOPED_TRACE(::testing::Message() << degree << ' ' << steps);
      const QAlphaLaplacian centred{
          .clusters = 3,
          .laplacian_shift = degree ? LaplacianShift::kDegree : LaplacianShift::kDiagonal,
          .max_iterations = steps,
          .tolerance = 0.0};
      QAlphaLaplacian as_given = centred;
      as_given.no_normalize = true;
      const auto oracle = dense::laplacian(given, dense::equal_start(given, 3), steps, degree);
      EXPECT_LT(distance(fit(data, as_given).weights, oracle.alpha), kWeights);
      // The same on a sparse table, where nothing is centred by hand.
      EXPECT_LT(distance(fit(oracle::as_sparse(data), as_given).weights, oracle.alpha), kWeights);
      const Matrix m = dense::feature_rows(data);
      EXPECT_LT(distance(fit(data, centred).weights,
                         dense::laplacian(m, dense::equal_start(m, 3), steps, degree).alpha),
                kWeights);
    }
  }
}

// The start, and the coherence at the end, take a pass; so does an iteration's Y, with the image of the first
// weights; a product takes one, and every second one another for its image.
TEST(QAlpha, TakesAPassAndAHalfForAProduct) {
  for (const int steps : {1, 2, 6}) {
    const auto got =
        fit(clustered(40, 60, 8, 3, 5), QAlpha{.clusters = 3, .max_iterations = steps, .tolerance = 0.0});
    EXPECT_GE(got.passes, got.products + steps + 2) << steps;
    EXPECT_LE(got.passes, (3 * got.products) / 2 + steps + 2) << steps;
  }
}

TEST(QAlpha, TheSupervisedBlocksAreThoseOfTheDefinition) {
  for (const int classes : {2, 3, 4}) {
    const DatasetParts data = clustered(36, 30, 6, classes, 7 + static_cast<std::uint64_t>(classes));
    const Matrix m = dense::feature_rows(data);
    for (const bool ones : {true, false}) {
      for (const int steps : {1, 3}) {
        SCOPED_TRACE(::testing::Message() << classes << " classes, ones " << ones << ", steps " << steps);
        dense::Supervised oracle(m, rows_by_class(*data.labels), 2, 1, 0.5, ones);
        Vector alpha;
        for (int r = 0; r < steps; ++r) {
          alpha = dense::largest_eigenvector(oracle.g_matrix());
          oracle.advance(alpha);
        }
        const QAlphaSupervised options{.start = ones ? QAlphaStart::kOnes : QAlphaStart::kEqual,
                                       .max_iterations = steps,
                                       .tolerance = 0.0};
        EXPECT_LT(distance(fit(data, options).weights, alpha), kWeights);
        EXPECT_LT(distance(fit(oracle::as_sparse(data), options).weights, alpha), kWeights);
      }
    }
  }
}

TEST(QAlpha, TheSemiSupervisedCriterionIsTheWeightedSumOfBoth) {
  DatasetParts data = clustered(40, 24, 6, 2, 3);
  for (std::size_t i = 0; i < 40; i += 3) data.labels->codes[i] = Labels::kMissing;
  const Matrix m = dense::feature_rows(data);
  const auto classes = rows_by_class(*data.labels);
  const double share = 40.0 / static_cast<double>(classes[0].size() + classes[1].size());
  for (const double w : {0.0, 0.3, 1.0}) {
    dense::Supervised oracle(m, classes, 2, 1, 0.5, true);
    Matrix q = dense::equal_start(m, 2);
    Vector alpha;
    for (int r = 0; r < 3; ++r) {
      alpha = dense::largest_eigenvector((1.0 - w) * dense::g_matrix(m, q) +
                                         w * share * share * oracle.g_matrix());
      oracle.advance(alpha);
      q = dense::orthonormal(dense::affinity(m, alpha) * q);
    }
    const QAlphaSemi options{
        .supervision = w, .start = QAlphaStart::kOnes, .max_iterations = 3, .tolerance = 0.0};
    EXPECT_LT(distance(fit(data, options).weights, alpha), kWeights) << w;
  }
}

Matrix kernel_matrix(const Matrix& m, const QAlphaKernel& kernel) {
  const Index p = m.rows(), q = m.cols();
  Matrix v(p, p);
  for (Index i = 0; i < p; ++i) {
    for (Index j = 0; j < p; ++j) {
      const Vector x = m.row(i), y = m.row(j);
      switch (kernel.kind) {
        case QAlphaKernel::Kind::kLinear:
          v(i, j) = x.dot(y);
          break;
        case QAlphaKernel::Kind::kPoly:
          v(i, j) = std::pow(x.dot(y) + kernel.offset, static_cast<double>(kernel.degree));
          break;
        case QAlphaKernel::Kind::kRbf:
          v(i, j) = std::exp(-(x - y).squaredNorm() / (2.0 * kernel.sigma * kernel.sigma));
          break;
        case QAlphaKernel::Kind::kBlock2:
          v(i, j) = 0.0;
          for (Index s = 0; s < q; s += kernel.length) {
            const Index length = std::min(kernel.length, q - s);
            v(i, j) += std::pow(x.segment(s, length).dot(y.segment(s, length)), 2);
          }
      }
    }
  }
  return v;
}

TEST(QAlpha, TheKernelVariantIsThatOfTheDefinitionOnTheKernelMatrix) {
  const DatasetParts data = clustered(30, 25, 6, 3, 11);
  const Matrix m = dense::feature_rows(data);
  for (const char* text : {"linear", "poly:2:1", "poly:3:0.5", "rbf:1.5", "block2:7"}) {
    SCOPED_TRACE(text);
    const auto kernel = OptionCodec<QAlphaKernel>::parse(text);
    const FeatureRows rows(data, all_of(data), true, {}, 2);
    const auto factor = kernel_factor(rows, kernel, 0.0, 0, RunControl());
    const Matrix v = kernel_matrix(m, kernel);
    EXPECT_LT((factor.r.transpose() * factor.r - v).cwiseAbs().maxCoeff(), 1e-12);
    const FeatureRows mapped(factor.r, 2);
    for (const int steps : {1, 4}) {
      const auto got = fit_qalpha(
          mapped, QAlphaOfKernel{.clusters = 2, .max_iterations = steps, .tolerance = 0.0}, {}, RunControl());
      EXPECT_LT(distance(got.weights, dense::kernel(v, 2, steps)), kWeights) << steps;
    }
  }
  // A linear kernel is the plain method.
  const auto plain = fit(data, QAlpha{.max_iterations = 4, .tolerance = 0.0});
  EXPECT_LT(
      distance(dense::kernel(kernel_matrix(m, {.kind = QAlphaKernel::Kind::kLinear}), 2, 4), plain.weights),
      kWeights);
}

TEST(QAlpha, AnIncompleteFactorStatesItsError) {
  const DatasetParts data = clustered(50, 40, 8, 3, 2);
  const FeatureRows rows(data, all_of(data), true, {}, 1);
  const QAlphaKernel kernel{.kind = QAlphaKernel::Kind::kRbf, .sigma = 3.0};
  const Matrix v = kernel_matrix(dense::feature_rows(data), kernel);
  for (const double tolerance : {0.5, 0.1, 1e-3}) {
    const auto factor = kernel_factor(rows, kernel, tolerance, 0, RunControl());
    const Matrix rest = v - factor.r.transpose() * factor.r;
    EXPECT_LE(factor.error, tolerance);
    EXPECT_NEAR(factor.error, rest.trace() / v.trace(), 1e-12);
    EXPECT_LT(factor.r.rows(), 41);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(rest).eigenvalues().minCoeff(), -1e-12);
  }
}

/// |A_alpha Q|_F^2, and what the gap subtracts from twice of it.
double energy(const Matrix& m, const Matrix& q, const Vector& alpha, bool gap) {
  const Matrix a = dense::affinity(m, alpha);
  const double leading = (a * q).squaredNorm();
  return gap ? 2.0 * leading - a.squaredNorm() : leading;
}

TEST(QAlpha, TheGradientOfTheCriterionIsTwiceLambdaTimesTheWeights) {
  const DatasetParts data = clustered(30, 20, 6, 3, 4);
  const Matrix m = dense::feature_rows(data);
  const auto check = [&](const auto& method) {
    const auto got = fit(data, method);
    const bool gap = method.kTraits.name == "qalpha-gap";
    EXPECT_NEAR(energy(m, got.q, got.weights, gap), got.objective, 1e-10 * got.objective);
    constexpr double kStep = 1e-5;
    for (Index i = 0; i < m.rows(); ++i) {
      Vector up = got.weights, down = got.weights;
      up[i] += kStep;
      down[i] -= kStep;
      const double slope = (energy(m, got.q, up, gap) - energy(m, got.q, down, gap)) / (2.0 * kStep);
      EXPECT_NEAR(slope, 2.0 * got.objective * got.weights[i], 1e-7 * got.objective) << i;
    }
  };
  for_each_of<QAlpha, QAlphaBasic, QAlphaGap>([](auto& method) { method.clusters = 3; }, check);
}

TEST(QAlpha, TheObjectiveNeverDecreasesWhereThatIsProved) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const DatasetParts data = clustered(25, 50, seed % 2 == 0 ? 0 : 6, 3, seed);  // noise alone, too
    for (const double tolerance : {0.0, 1e-6}) {
      const auto set = [&](auto& method) {
        method.clusters = 3;
        method.start = QAlphaStart::kRandom;
        method.max_iterations = 30;
        method.tolerance = tolerance;
      };
      for_each_of<QAlpha, QAlphaBasic, QAlphaRitz, QAlphaGap>(set, [&](const auto& method) {
        const auto got = fit(data, method, 2, seed);
        for (std::size_t i = 1; i < got.trace.size(); ++i)
          EXPECT_GE(got.trace[i], got.trace[i - 1] * (1.0 - 1e-12)) << i;
      });
    }
  }
}

TEST(QAlpha, RelevantFeaturesComeFirstWithPositiveWeightsAndAreCutOff) {
  const DatasetParts data = clustered(60, 202, 6, 3, 8, 0.15);
  const auto got = fit(data, QAlpha{.clusters = 3});
  const auto order = weight_order(got.weights);
  for (Index i = 0; i < 6; ++i) EXPECT_LT(order[static_cast<std::size_t>(i)], 6);
  EXPECT_GT(got.weights.minCoeff(), 0.0);
  EXPECT_NEAR(got.weights.norm(), 1.0, 1e-12);
  const auto cut = weight_cut(got.weights);
  EXPECT_EQ(cut.k, 6);
  EXPECT_GT(cut.ratio, 2.0);
  EXPECT_TRUE(got.resolved);
}

TEST(QAlpha, RowOrderSignsScalesAndColumnOrderDoNotMatter) {
  const DatasetParts data = clustered(40, 30, 6, 3, 9);
  const QAlpha options{.clusters = 3, .max_iterations = 6, .tolerance = 0.0};
  const Vector weights = fit(data, options).weights;
  std::mt19937_64 generator(1);
  std::vector<Index> rows(40), columns(30);
  std::iota(rows.begin(), rows.end(), Index{0});
  std::iota(columns.begin(), columns.end(), Index{0});
  std::shuffle(rows.begin(), rows.end(), generator);
  std::shuffle(columns.begin(), columns.end(), generator);
  EXPECT_LT(distance(fit(Dataset(data).with_rows(rows).parts(), options).weights, weights), 1e-9);
  DatasetParts changed = data;
  for (Index j = 0; j < 30; ++j) {
    changed.dense.col(j) *= (j % 2 == 0 ? -1.0 : 1.0) * std::pow(10.0, static_cast<double>(j - 15));
    changed.dense.col(j).array() += 3.0 * changed.dense.col(j).cwiseAbs().maxCoeff();
  }
  EXPECT_LT(distance(fit(changed, options).weights, weights), 1e-9);
  EXPECT_LT(distance(fit(Dataset(data).with_features(columns).parts(), options).weights, weights(columns)),
            1e-9);
  // Values that would not survive being squared.
  changed.dense.col(3) *= 1e190;
  changed.dense.col(4) *= 1e-190;
  EXPECT_LT(distance(fit(changed, options).weights, weights), 1e-9);
  EXPECT_LT(distance(fit(oracle::as_sparse(changed), options).weights, weights), 1e-7);
}

TEST(QAlpha, ASampleWeightIsARepeatedRow) {
  DatasetParts data = clustered(24, 15, 5, 2, 10);
  std::vector<int> times(24);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int>(1 + i % 3);
  const DatasetParts longer = oracle::repeated(data, times);
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 24).cast<double>();
  for_each_of<QAlpha, QAlphaGap, QAlphaSupervised>(four_steps, [&](const auto& method) {
    EXPECT_LT(distance(fit(data, method).weights, fit(longer, method).weights), kWeights);
    EXPECT_LT(distance(fit(oracle::as_sparse(data), method).weights, fit(longer, method).weights), kWeights);
  });
}

TEST(QAlpha, TheNumberOfThreadsChangesNoBit) {
  const DatasetParts data = clustered(50, 3000, 20, 3, 12);
  const DatasetParts sparse = oracle::as_sparse(data);
  const auto set = [](auto& method) {
    if constexpr (requires { method.clusters; }) method.clusters = 3;
    method.max_iterations = 3;
  };
  for_each_of<QAlpha, QAlphaLaplacian, QAlphaSupervised>(set, [&](const auto& method) {
    for (const DatasetParts* const table : {&data, &sparse}) {
      const auto one = fit(*table, method, 1), four = fit(*table, method, 4);
      EXPECT_TRUE((one.weights.array() == four.weights.array()).all());
      EXPECT_EQ(one.objective, four.objective);
    }
  });
}

TEST(QAlpha, SparseTablesGiveTheWeightsOfDenseOnes) {
  DatasetParts data = clustered(60, 80, 8, 3, 13);
  for (Index j = 0; j < data.features(); ++j) {
    for (Index i = 0; i < data.rows(); ++i) {
      if ((i * 7 + j * 3) % 5 != 0) data.dense(i, j) = 0.0;
    }
  }
  const DatasetParts sparse = oracle::as_sparse(data);
  const auto check = [&](auto method) {
    for (const bool as_given : {false, true}) {
      method.no_normalize = as_given;
      EXPECT_LT(distance(fit(data, method).weights, fit(sparse, method).weights), 1e-9) << as_given;
    }
  };
  for_each_of<QAlpha, QAlphaBasic, QAlphaGap, QAlphaLaplacian, QAlphaSupervised, QAlphaSemi>(four_steps,
                                                                                             check);
}

TEST(QAlpha, MoreClustersThanTheRankAreCutToIt) {
  const DatasetParts data = clustered(4, 10, 5, 2, 14);  // centred: rank 3
  const auto check = [&](const auto& method) {
    const auto got = fit(data, method);
    EXPECT_EQ(got.clusters, 3);
    EXPECT_TRUE(got.weights.allFinite());
    EXPECT_NEAR(got.weights.norm(), 1.0, 1e-12);
  };
  for_each_of<QAlpha, QAlphaBasic, QAlphaLaplacian, QAlphaGap>([](auto& method) { method.clusters = 7; },
                                                               check);
  const auto two =
      fit(clustered(2, 10, 5, 2, 15), QAlpha{.clusters = 2});  // every feature is +-(1, -1)/sqrt(2)
  EXPECT_EQ(two.clusters, 1);
  EXPECT_LT(distance(two.weights, Vector::Constant(10, 1.0 / std::sqrt(10.0))), 1e-10);
  // A class of one row has one direction.
  DatasetParts lone = clustered(20, 12, 4, 2, 16);
  lone.labels->classes.emplace_back("c");
  lone.labels->codes[5] = 2;
  const auto supervised = fit(lone, QAlphaSupervised{.start = QAlphaStart::kOnes});
  EXPECT_TRUE(supervised.weights.allFinite());
  EXPECT_EQ(supervised.clusters, 2);
  EXPECT_EQ(supervised.least_clusters, 1);
}

TEST(QAlpha, DuplicatesShareTheirWeightAndRankByIndex) {
  DatasetParts data = clustered(30, 14, 6, 3, 17);
  data.dense.col(13) = data.dense.col(2);
  data.dense.col(9) = data.dense.col(2);
  const auto got = fit(data, QAlpha{.clusters = 2});
  EXPECT_NEAR(got.weights[13], got.weights[2], 1e-12);
  EXPECT_NEAR(got.weights[9], got.weights[2], 1e-12);
  const auto order = weight_order(got.weights);
  const auto place = [&](Index j) { return std::find(order.begin(), order.end(), j) - order.begin(); };
  EXPECT_EQ(place(9), place(2) + 1);
  EXPECT_EQ(place(13), place(2) + 2);
}

TEST(QAlpha, OfSeveralStartsTheBestIsKept) {
  const DatasetParts data = clustered(30, 60, 3, 2, 18, 1.0);
  const auto one = fit(data, QAlpha{.clusters = 2, .start = QAlphaStart::kRandom});
  const auto five = fit(data, QAlpha{.clusters = 2, .start = QAlphaStart::kRandom, .restarts = 5});
  ASSERT_EQ(five.starts.size(), 5U);
  EXPECT_EQ(five.starts[0], one.objective);
  EXPECT_EQ(five.objective, *std::max_element(five.starts.begin(), five.starts.end()));
  const auto other =
      fit(data, QAlpha{.clusters = 2, .start = QAlphaStart::kRandom, .max_iterations = 1}, 2, 9);
  EXPECT_NE(other.trace[0], one.trace[0]);
}

TEST(QAlpha, OnesAreRefusedWhereCentredFeaturesAreOrthogonalToThem) {
  const DatasetParts data = clustered(20, 8, 3, 2, 19);
  for (const Index k : {1, 2, 3}) {  // beside other columns it would be a direction lost
    EXPECT_THROW(static_cast<void>(fit(data, QAlpha{.clusters = k, .start = QAlphaStart::kOnes})),
                 InvalidArgument)
        << k;
  }
  EXPECT_NO_THROW(
      static_cast<void>(fit(data, QAlpha{.clusters = 1, .start = QAlphaStart::kOnes, .no_normalize = true})));
}

TEST(QAlpha, TheEquivalentFormAndLemma13Hold) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const DatasetParts data = clustered(40, 90, 6, 3, seed, 0.2);
    const FeatureRows rows(data, all_of(data), true, {}, 2);
    const auto got = fit_qalpha(rows, QAlpha{.clusters = 2}, {}, RunControl());
    const Matrix m = dense::feature_rows(data), a = dense::affinity(m, got.weights);
    const Matrix rest = a - got.q * got.q.transpose() * a;
    EXPECT_NEAR(rest.squaredNorm() - a.squaredNorm(), -got.objective, 1e-9 * got.objective);
    EXPECT_NEAR(affinity_energy(rows, got.weights).value(), a.squaredNorm(), 1e-10 * a.squaredNorm());
    const auto cut = weight_cut(got.weights);
    const auto bound = irrelevant_bound(rows, got, cut);
    const auto order = weight_order(got.weights);
    const std::vector<Index> below(order.begin() + cut.k, order.end());
    EXPECT_NEAR(bound.sum, got.weights(below).sum(), 1e-12);
    const Matrix m2 = m(below, Eigen::all);
    EXPECT_NEAR(bound.lemma.value(), std::sqrt((m2 * m2.transpose()).squaredNorm() / got.objective), 1e-9);
    EXPECT_LE(bound.sum, bound.sharper * (1.0 + 1e-12));
    EXPECT_LE(bound.sharper, *bound.lemma * (1.0 + 1e-12));
  }
}

TEST(QAlpha, ACutIsWhereTheWeightsFallMostAboveTheNoise) {
  Vector weights(7);
  weights << 0.02, 0.5, 0.45, 1e-9, 0.4, 0.021, -0.01;
  const auto cut = weight_cut(weights);
  EXPECT_EQ(cut.k, 3);
  EXPECT_NEAR(cut.ratio, 0.4 / 0.021, 1e-12);
  EXPECT_EQ(weight_cut(Vector::Ones(1)).k, 0);
  EXPECT_EQ(weight_cut(Vector::Ones(5)).k, 0);
  weights << 1.0, 0.99, 0.95, 0.93, 0.9, 0.89, 0.84;  // nowhere by a factor of 1.1
  EXPECT_EQ(weight_cut(weights).k, 0);
  EXPECT_NEAR(weight_cut(weights).ratio, 0.89 / 0.84, 1e-12);
  weights[6] = 0.8;
  EXPECT_EQ(weight_cut(weights).k, 6);
}

// Propositions 7 to 9: f = (a'b)(a'c)(b'c) of unit vectors is at least -1/8, and over orthonormal c_1..c_k
// drawn uniformly its sum has the mean (k/q)(a'b)^2.
TEST(QAlpha, EntriesOfGAreBiasedTowardsPositiveValues) {
  std::mt19937_64 generator(2);
  std::normal_distribution<double> normal;
  constexpr Index kQ = 6;
  const auto draw = [&](Index columns) {
    return Matrix(Matrix::NullaryExpr(kQ, columns, [&] { return normal(generator); }));
  };
  const Vector a = draw(1).col(0).normalized(), b = (a + 0.5 * draw(1).col(0)).normalized();
  for (const Index k : {1, 3}) {
    double sum = 0.0, squares = 0.0, least = 1.0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
      const Matrix c = dense::orthonormal(draw(k));
      const double f = a.dot(b) * (c.transpose() * a).dot(c.transpose() * b);
      sum += f;
      squares += f * f;
      const Vector x = draw(1).col(0).normalized(), y = draw(1).col(0).normalized();
      least = std::min(least, x.dot(y) * x.dot(c.col(0)) * y.dot(c.col(0)));
    }
    const double mean = sum / kDraws, error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mean, static_cast<double>(k) / kQ * a.dot(b) * a.dot(b), 5.0 * error);
    EXPECT_GE(least, -0.125);
  }
}

// Theorem 10 at mu = 1/6, sigma = sqrt(2)/6: how often the leading eigenvector is positive.
TEST(QAlpha, TheLeadingEigenvectorOfAPositiveMeanIsMostlyPositive) {
  std::mt19937_64 generator(3);
  std::normal_distribution<double> normal(1.0 / 6.0, std::sqrt(2.0) / 6.0);
  const auto positive = [&](Index n, int runs) {
    int count = 0;
    for (int r = 0; r < runs; ++r) {
      Matrix g(n, n);
      for (Index j = 0; j < n; ++j) {
        for (Index i = j; i < n; ++i) g(i, j) = g(j, i) = normal(generator);
      }
      count += dense::largest_eigenvector(g).minCoeff() > 0.0 ? 1 : 0;
    }
    return static_cast<double>(count) / runs;
  };
  // .629 and .966, five standard errors.
  EXPECT_NEAR(positive(5, 2000), 0.629, 0.055);
  EXPECT_NEAR(positive(20, 1000), 0.966, 0.029);
}

}  // namespace
}  // namespace subspectra
