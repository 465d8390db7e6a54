#include "subspectra/qalpha/qalpha.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "dense_oracle.hpp"
#include "oracle.hpp"
#include "subspectra/qalpha/kernel.hpp"
#include "subspectra/qalpha/lanczos.hpp"

namespace subspectra {
namespace {

/// `relevant` features that place the rows in `clusters` groups, the rest normal noise.
Dataset clustered(Index rows, Index features, Index relevant, int clusters, std::uint64_t seed,
                  double spread = 0.3) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Matrix centres = Matrix::NullaryExpr(clusters, relevant, [&] { return 2.0 * uniform(generator); });
  Dataset data;
  data.source = "clusters";
  data.names = FeatureNames(features);
  data.dense.resize(rows, features);
  std::vector<std::string> labels;
  for (Index i = 0; i < rows; ++i) {
    const Index c = i % clusters;
    labels.push_back(std::string(1, static_cast<char>('a' + c)));
    for (Index j = 0; j < features; ++j) {
      data.dense(i, j) =
          normal(generator) * (j < relevant ? spread : 1.0) + (j < relevant ? centres(c, j) : 0.0);
    }
  }
  data.labels = Labels::from_texts("class", labels);
  return data;
}

std::vector<Index> all_of(const Dataset& data) {
  std::vector<Index> all(static_cast<std::size_t>(data.features()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

QAlphaFit fit(const Dataset& data, QAlphaOptions options, bool normalize = true, int threads = 2) {
  const bool blocks =
      options.variant == QAlphaVariant::kSupervised || options.variant == QAlphaVariant::kSemi;
  const FeatureRows rows(data, all_of(data), normalize, blocks ? data.labels->codes : std::vector<int>(),
                         threads);
  return fit_qalpha(rows, options, RunControl());
}

std::vector<std::vector<Index>> rows_by_class(const Labels& labels) {
  std::vector<std::vector<Index>> rows(labels.classes.size());
  for (std::size_t i = 0; i < labels.codes.size(); ++i) {
    if (labels.codes[i] >= 0)
      rows[static_cast<std::size_t>(labels.codes[i])].push_back(static_cast<Index>(i));
  }
  return rows;
}

double distance(const Vector& a, const Vector& b) { return (a - b).cwiseAbs().maxCoeff(); }

constexpr double kWeights = 1e-8;

TEST(QAlpha, TheWeightsAreThoseOfTheExplicitMatrixAfterTheSameSteps) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Dataset data = clustered(40, 60, 8, 3, seed);
    const Matrix m = dense::feature_rows(data);
    for (const Index k : {1, 2, 4}) {
      for (const int steps : {1, 4}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", k " << k << ", steps " << steps);
        QAlphaOptions options{.clusters = k, .max_iterations = steps, .tolerance = 0.0};
        const Matrix q = dense::equal_start(m, k);
        const auto power = dense::plain(m, q, steps);
        const auto got = fit(data, options);
        EXPECT_LT(distance(got.weights, power.alpha), kWeights);
        EXPECT_NEAR(got.objective, power.trace.back(), 1e-9 * power.trace.back());
        ASSERT_EQ(got.trace.size(), power.trace.size());
        options.variant = QAlphaVariant::kBasic;
        EXPECT_LT(distance(fit(data, options).weights, dense::plain(m, q, steps, dense::Rule::kBasic).alpha),
                  kWeights);
        options.variant = QAlphaVariant::kRitz;
        EXPECT_LT(distance(fit(data, options).weights, dense::ritz(m, q, steps).alpha), kWeights);
        EXPECT_LT(distance(fit(data, options).weights, power.alpha),
                  kWeights);  // the paper's promise is none
        options.variant = QAlphaVariant::kGap;
        EXPECT_LT(distance(fit(data, options).weights, dense::plain(m, q, steps, dense::Rule::kGap).alpha),
                  kWeights);
      }
    }
  }
}

TEST(QAlpha, TheLaplacianIsThatOfTheDefinitionForBothShifts) {
  Dataset data = clustered(24, 18, 6, 3, 5);
  data.dense = data.dense.cwiseAbs();
  const Matrix given = data.dense.transpose();
  for (const bool degree : {true, false}) {
    for (const int steps : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << degree << ' ' << steps);
      const QAlphaOptions options{
          .variant = QAlphaVariant::kLaplacian,
          .clusters = 3,
          .laplacian_shift = degree ? LaplacianShift::kDegree : LaplacianShift::kDiagonal,
          .max_iterations = steps,
          .tolerance = 0.0};
      const auto oracle = dense::laplacian(given, dense::equal_start(given, 3), steps, degree);
      EXPECT_LT(distance(fit(data, options, false).weights, oracle.alpha), kWeights);
      // The same on a sparse table, where nothing is centred by hand.
      EXPECT_LT(distance(fit(oracle::as_sparse(data), options, false).weights, oracle.alpha), kWeights);
      const Matrix m = dense::feature_rows(data);
      EXPECT_LT(distance(fit(data, options).weights,
                         dense::laplacian(m, dense::equal_start(m, 3), steps, degree).alpha),
                kWeights);
    }
  }
}

TEST(QAlpha, TheSupervisedBlocksAreThoseOfTheDefinition) {
  for (const int classes : {2, 3, 4}) {
    const Dataset data = clustered(36, 30, 6, classes, 7 + static_cast<std::uint64_t>(classes));
    const Matrix m = dense::feature_rows(data);
    for (const bool ones : {true, false}) {
      for (const int steps : {1, 3}) {
        SCOPED_TRACE(testing::Message() << classes << " classes, ones " << ones << ", steps " << steps);
        dense::Supervised oracle(m, rows_by_class(*data.labels), 2, 1, 0.5, ones);
        Vector alpha;
        for (int r = 0; r < steps; ++r) {
          alpha = dense::largest_eigenvector(oracle.g_matrix());
          oracle.advance(alpha);
        }
        const QAlphaOptions options{.variant = QAlphaVariant::kSupervised,
                                    .start = ones ? QAlphaStart::kOnes : QAlphaStart::kEqual,
                                    .max_iterations = steps,
                                    .tolerance = 0.0};
        EXPECT_LT(distance(fit(data, options).weights, alpha), kWeights);
        EXPECT_LT(distance(fit(oracle::as_sparse(data), options).weights, alpha), kWeights);
      }
    }
  }
}

TEST(QAlpha, TheSemiSupervisedCriterionIsTheWeightedSumOfBoth) {
  Dataset data = clustered(40, 24, 6, 2, 3);
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
    const QAlphaOptions options{.variant = QAlphaVariant::kSemi,
                                .start = QAlphaStart::kOnes,
                                .supervision = w,
                                .max_iterations = 3,
                                .tolerance = 0.0};
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
  const Dataset data = clustered(30, 25, 6, 3, 11);
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
      const auto got =
          fit_qalpha(mapped, {.clusters = 2, .max_iterations = steps, .tolerance = 0.0}, RunControl());
      EXPECT_LT(distance(got.weights, dense::kernel(v, 2, steps)), kWeights) << steps;
    }
  }
  // A linear kernel is the plain method.
  const auto plain = fit(data, {.max_iterations = 4, .tolerance = 0.0});
  EXPECT_LT(
      distance(dense::kernel(kernel_matrix(m, {.kind = QAlphaKernel::Kind::kLinear}), 2, 4), plain.weights),
      kWeights);
}

TEST(QAlpha, AnIncompleteFactorStatesItsError) {
  const Dataset data = clustered(50, 40, 8, 3, 2);
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

}  // namespace
}  // namespace subspectra
