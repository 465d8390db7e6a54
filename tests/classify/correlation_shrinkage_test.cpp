#include "classify/correlation_shrinkage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <subspectra/error.hpp>
#include "classify/classifier.hpp"
#include "classify/lda.hpp"
#include "oracle.hpp"
#include "spectral/ridge.hpp"

namespace subspectra::correlation_shrinkage_test {
namespace {

std::vector<Index> first(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

double intensity_of(const DatasetParts& parts, const std::vector<Index>& features,
                    const std::vector<Index>* places = nullptr) {
  const Dataset data(parts);
  const Moments moments = compute_moments(data, features, Moments::SecondOrder::kFull, 1);
  return CorrelationShrinkage(data, features, moments, moments.within_covariance()).intensity(places);
}

/// Oracle: the definition, pair by pair and row by row.
double naive_intensity(const DatasetParts& data, const std::vector<Index>& features) {
  const Index n = data.dense.rows();
  const auto k = static_cast<Index>(features.size());
  const int classes = data.labels->class_count();
  const auto weight = [&](Index i) { return data.weights.size() == 0 ? 1.0 : data.weights[i]; };
  const auto code = [&](Index i) { return data.labels->codes[static_cast<std::size_t>(i)]; };
  double total = 0.0, squares = 0.0;
  for (Index i = 0; i < n; ++i) total += weight(i);
  for (Index i = 0; i < n; ++i) squares += weight(i) / total * weight(i) / total;
  Matrix z(n, k);
  Index present = 0;
  for (int c = 0; c < classes; ++c) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += code(i) == c ? weight(i) : 0.0;
    if (sum == 0.0) continue;
    ++present;
    for (Index j = 0; j < k; ++j) {
      double mean = 0.0;
      for (Index i = 0; i < n; ++i)
        mean += code(i) == c ? weight(i) / sum * data.dense(i, features[static_cast<std::size_t>(j)]) : 0.0;
      for (Index i = 0; i < n; ++i) {
        if (code(i) == c) z(i, j) = data.dense(i, features[static_cast<std::size_t>(j)]) - mean;
      }
    }
  }
  for (Index j = 0; j < k; ++j) {
    double variance = 0.0;
    for (Index i = 0; i < n; ++i) variance += weight(i) / total * z(i, j) * z(i, j);
    z.col(j) /= variance > 0.0 ? std::sqrt(variance) : 1.0;
  }
  double uncertain = 0.0, certain = 0.0;
  for (Index a = 0; a < k; ++a) {
    for (Index b = 0; b < k; ++b) {
      if (a == b) continue;
      double r = 0.0, spread = 0.0;
      for (Index i = 0; i < n; ++i) r += weight(i) / total * z(i, a) * z(i, b);
      for (Index i = 0; i < n; ++i) spread += weight(i) / total * std::pow(z(i, a) * z(i, b), 2);
      uncertain += (spread - r * r) / (1.0 / squares - static_cast<double>(present));
      certain += r * r;
    }
  }
  return std::min(1.0, uncertain / certain);
}

TEST(CorrelationShrinkage, TheIntensityIsThatOfItsDefinition) {
  for (const auto& [n, p, classes] :
       {std::tuple<Index, Index, int>{40, 5, 2}, {30, 12, 3}, {25, 60, 4}, {1100, 4, 14}}) {
    SCOPED_TRACE(n);
    DatasetParts data = oracle::random_classes(n, p, classes, 7);
    data.dense.col(1) += data.dense.col(0);
    EXPECT_NEAR(intensity_of(data, first(p)), naive_intensity(data, first(p)), 1e-12);
    data.weights.resize(n);
    for (Index i = 0; i < n; ++i) data.weights[i] = 0.25 + 0.5 * static_cast<double>(i % 4);
    EXPECT_NEAR(intensity_of(data, first(p)), naive_intensity(data, first(p)), 1e-12);
  }
}

TEST(CorrelationShrinkage, ASubsetTakesItsPairsOfTheSums) {
  DatasetParts data = oracle::random_classes(30, 9, 3, 8);
  data.dense.col(4) += data.dense.col(2);
  const std::vector<Index> places = {2, 4, 7};
  EXPECT_NEAR(intensity_of(data, first(9), &places), naive_intensity(data, places), 1e-12);
}

TEST(CorrelationShrinkage, UnitsDoNotMatter) {
  DatasetParts data = oracle::random_classes(30, 6, 2, 9);
  const double before = intensity_of(data, first(6));
  for (Index j = 0; j < 6; ++j) data.dense.col(j) *= std::pow(10.0, static_cast<double>(3 * j - 9));
  EXPECT_NEAR(intensity_of(data, first(6)), before, 1e-10);
}

TEST(CorrelationShrinkage, SparseRowsGiveTheSame) {
  DatasetParts data = oracle::random_classes(30, 6, 2, 10);
  for (Index i = 0; i < 30; ++i) data.dense(i, i % 6) = 0.0;
  EXPECT_NEAR(intensity_of(oracle::as_sparse(data), first(6)), intensity_of(data, first(6)), 1e-12);
}

TEST(CorrelationShrinkage, FewRowsAreTrustedLessThanMany) {
  const auto of_rows = [](Index n) {
    DatasetParts data = oracle::random_classes(n, 8, 2, 11);
    for (Index j = 1; j < 8; ++j) data.dense.col(j) += data.dense.col(0);
    return intensity_of(data, first(8));
  };
  EXPECT_GT(of_rows(12), 2.0 * of_rows(120));
  EXPECT_LT(of_rows(2000), 0.01);
}

TEST(CorrelationShrinkage, OneFeatureClassesOfOneRowAndConstantColumnsHaveAnAnswer) {
  DatasetParts data = oracle::random_classes(20, 4, 2, 12);
  EXPECT_EQ(intensity_of(data, {2}), 0.0);
  data.dense.col(1).setConstant(3.0);
  EXPECT_TRUE(std::isfinite(intensity_of(data, first(4))));
  DatasetParts rows = oracle::random_classes(6, 3, 6, 13);  // nothing varies within a class of one row
  EXPECT_EQ(intensity_of(rows, first(3)), 0.0);
  DatasetParts pair = oracle::random_classes(3, 3, 2, 14);  // two rows and one: the deviations are of rank 1
  EXPECT_LE(intensity_of(pair, first(3)), 1.0);
}

/// Oracle: Gaussian densities with the correlations shrunken by `intensity`, by explicit inverse.
Matrix naive_log_posteriors(const DatasetParts& data, double intensity) {
  const int classes = data.labels->class_count();
  Matrix covariance = oracle::scatter(data.dense, data.labels->codes, classes).within;
  const Vector variances = covariance.diagonal();
  covariance *= 1.0 - intensity;
  covariance.diagonal() = variances;
  const Matrix inverse = covariance.inverse();
  Matrix result(data.dense.rows(), classes);
  for (int c = 0; c < classes; ++c) {
    Vector mean = Vector::Zero(data.dense.cols());
    double count = 0.0;
    for (Index i = 0; i < data.dense.rows(); ++i) {
      if (data.labels->codes[static_cast<std::size_t>(i)] != c) continue;
      mean += data.dense.row(i).transpose();
      count += 1.0;
    }
    mean /= count;
    for (Index i = 0; i < data.dense.rows(); ++i) {
      const Vector d = data.dense.row(i).transpose() - mean;
      result(i, c) = std::log(count) - 0.5 * d.dot(inverse * d);
    }
  }
  normalise_log_posteriors(result);
  return result;
}

RulePointer trained(const DatasetParts& parts, const Lda& options, const RidgeAmount& ridge = {}) {
  return ClassifierTrainer(Dataset(parts), first(parts.features()), ridge, options).fit();
}

TEST(ShrunkenRule, ItsPosteriorsAreThoseOfGaussiansWithShrunkenCorrelations) {
  for (const auto& [n, p, classes] : {std::tuple<Index, Index, int>{60, 5, 2}, {40, 30, 3}, {20, 35, 3}}) {
    SCOPED_TRACE(p);
    const DatasetParts data = oracle::random_classes(n, p, classes, 15, 0.5);
    for (const Shrinkage& shrinkage : {Shrinkage{}, Shrinkage{0.3}, Shrinkage{1.0}}) {
      const RulePointer rule = trained(data, {.shrinkage = shrinkage});
      const double intensity = shrinkage.intensity.value_or(naive_intensity(data, first(p)));
      EXPECT_LT(
          (rule->log_posteriors(data.dense) - naive_log_posteriors(data, intensity)).cwiseAbs().maxCoeff(),
          1e-8);
    }
  }
}

TEST(ShrunkenRule, ZeroIsThePlainRuleWithItsRidge) {
  const DatasetParts data = oracle::random_classes(40, 5, 3, 16);
  const RulePointer rule = trained(data, {.shrinkage = 0.0}, 0.5);
  const Moments moments = compute_moments(Dataset(data), Moments::SecondOrder::kFull, 1);
  Matrix within = moments.within_covariance();
  within.diagonal().array() += 0.5;
  const LdaRule plain = fit_lda(moments.class_weights(), moments.class_means(), within, Prior::kEmpirical);
  EXPECT_EQ(rule->log_posteriors(data.dense), plain.log_posteriors(data.dense));
  EXPECT_FALSE(rule->to_json().contains("shrinkage"));
}

TEST(ShrunkenRule, TheRidgeComesBackOnlyWhereShrinkingDoesNotDo) {
  DatasetParts data = oracle::random_classes(40, 4, 2, 17);
  EXPECT_EQ(trained(data, {}, 0.5)->log_posteriors(data.dense),
            trained(data, {})->log_posteriors(data.dense));
  for (Index i = 0; i < 40; ++i) data.dense(i, 2) = data.labels->codes[static_cast<std::size_t>(i)];
  EXPECT_THROW((void)trained(data, {}), Infeasible);
  const Matrix separated = trained(data, {}, {0.0, 1e-3})->log_posteriors(data.dense);
  for (Index i = 0; i < 40; ++i)
    EXPECT_GT(separated(i, data.labels->codes[static_cast<std::size_t>(i)]), -1e-3);
}

/// The rule by the definition for more features than rows, where the plain inverse still has digits.
TEST(ShrunkenRule, ManyMoreFeaturesThanRowsHaveTheRuleOfTheDenseCovariance) {
  for (const auto& [n, p, classes] :
       {std::tuple<Index, Index, int>{30, 520, 2}, {24, 600, 3}, {40, 510, 14}}) {
    SCOPED_TRACE(p);
    DatasetParts data = oracle::random_classes(n, p, classes, 25, 0.5);
    data.dense.col(7) = data.dense.col(3);
    data.dense.col(8) = -5.0 * data.dense.col(3);
    for (const Shrinkage& shrinkage : {Shrinkage{}, Shrinkage{0.3}, Shrinkage{1.0}}) {
      const RulePointer rule = trained(data, {.shrinkage = shrinkage});
      const double intensity = shrinkage.intensity.value_or(naive_intensity(data, first(p)));
      EXPECT_NEAR(rule->to_json()["shrinkage"].get<double>(), intensity, 1e-10);
      EXPECT_LT(
          (rule->log_posteriors(data.dense) - naive_log_posteriors(data, intensity)).cwiseAbs().maxCoeff(),
          1e-6);
    }
  }
}

TEST(ShrunkenRule, ManyMoreFeaturesThanRowsTakeTheRidgeThatIsTold) {
  const Index p = 520;
  DatasetParts data = oracle::random_classes(26, p, 2, 27, 0.5);
  data.weights = Vector::Ones(26);
  data.weights[3] = 2.0;
  const auto by_definition = [&](const RidgeAmount& ridge) {
    const Moments moments = compute_moments(Dataset(data), Moments::SecondOrder::kFull, 1);
    Matrix within = moments.within_covariance();
    within.diagonal() += ridge.fraction * ridge_variances(moments);
    within.diagonal().array() += ridge.value;
    return fit_lda(moments.class_weights(), moments.class_means(), within, Prior::kEmpirical)
        .log_posteriors(data.dense);
  };
  for (const RidgeAmount& ridge : {RidgeAmount(0.5), RidgeAmount(0.0, 0.01)}) {
    const Matrix found = trained(data, {.shrinkage = 0.0}, ridge)->log_posteriors(data.dense);
    EXPECT_LT((found - by_definition(ridge)).cwiseAbs().maxCoeff(), 1e-6);
  }
  EXPECT_THROW((void)trained(data, {.shrinkage = 0.0}), Infeasible);
  for (Index i = 0; i < 26; ++i) data.dense(i, 2) = data.labels->codes[static_cast<std::size_t>(i)];
  EXPECT_THROW((void)trained(data, {}), Infeasible);  // a feature that does not vary within a class
  EXPECT_TRUE(trained(data, {}, {0.0, 1e-3})->log_posteriors(data.dense).allFinite());
}

TEST(ShrunkenRule, SetsOfAnySizeOfAWideTableHaveTheRuleTheyHaveAlone) {
  const DatasetParts data = oracle::random_classes(30, 4200, 2, 28, 0.5);
  const ClassifierTrainer together(Dataset(data), first(4200), 0.0, Lda{});
  for (const Index k : {1, 20, 600}) {
    SCOPED_TRACE(k);
    const Matrix part = data.dense.leftCols(k);
    const Matrix alone = ClassifierTrainer(Dataset(data), first(k), 0.0, Lda{}).fit()->log_posteriors(part);
    EXPECT_LT((together.fit(first(k))->log_posteriors(part) - alone).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(ShrunkenRule, ARidgeThatIsOpenIsResolvedOnlyWhereTheRuleNeedsIt) {
  DatasetParts data = oracle::random_classes(40, 4, 2, 29);
  int asked = 0;
  const auto open = [&] {
    ++asked;
    return RidgeAmount(0.0, 1e-3);
  };
  const auto fit = [&](const Lda& options) {
    return ClassifierTrainer(Dataset(data), first(4), {}, options, {.open_ridge = open}).fit();
  };
  (void)fit({});
  EXPECT_EQ(asked, 0);
  (void)fit({.shrinkage = 0.0});
  EXPECT_EQ(asked, 1);  // the plain rule has the ridge of the criterion
  for (Index i = 0; i < 40; ++i) data.dense(i, 2) = data.labels->codes[static_cast<std::size_t>(i)];
  EXPECT_EQ(fit({})->log_posteriors(data.dense), trained(data, {}, {0.0, 1e-3})->log_posteriors(data.dense));
  EXPECT_EQ(asked, 2);
}

TEST(ShrunkenRule, CopiesOfAColumnAndMoreFeaturesThanRowsNeedNoRidge) {
  DatasetParts data = oracle::random_classes(12, 30, 3, 18);
  data.dense.col(7) = data.dense.col(3);
  EXPECT_TRUE(trained(data, {})->log_posteriors(data.dense).allFinite());
}

TEST(ShrunkenRule, UnitsChangeNoPosterior) {
  DatasetParts data = oracle::random_classes(30, 8, 3, 19);
  const Matrix before = trained(data, {})->log_posteriors(data.dense);
  for (Index j = 0; j < 8; ++j) data.dense.col(j) *= std::pow(10.0, static_cast<double>(2 * j - 6));
  EXPECT_LT((trained(data, {})->log_posteriors(data.dense) - before).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(ShrunkenRule, AShareOutsideZeroToOneIsRefused) {
  const DatasetParts data = oracle::random_classes(20, 2, 2, 20);
  for (const double share : {-0.1, 1.5, std::nan("")}) {
    EXPECT_THROW((void)trained(data, {.shrinkage = share}), InvalidArgument);
  }
}

}  // namespace
}  // namespace subspectra::correlation_shrinkage_test
