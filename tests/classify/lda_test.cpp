#include "classify/lda.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <subspectra/error.hpp>
#include "data/moments.hpp"
#include "oracle.hpp"

namespace subspectra::lda_test {
namespace {

LdaRule train(const DatasetParts& data, Prior prior = Prior::kEmpirical, Index components = 0,
              double ridge = 0.0) {
  const Moments moments = compute_moments(data, Moments::SecondOrder::kFull, 1);
  Matrix within = moments.within_covariance();
  within.diagonal().array() += ridge;
  return fit_lda(moments.class_weights(), moments.class_means(), within, prior, components);
}

/// Oracle: Gaussian densities with the pooled covariance, by explicit inverse.
Matrix naive_posteriors(const DatasetParts& data, const Matrix& rows, const Vector& priors) {
  const int classes = data.labels->class_count();
  const Matrix inverse = oracle::scatter(data.dense, data.labels->codes, classes).within.inverse();
  Matrix result(rows.rows(), classes);
  for (int c = 0; c < classes; ++c) {
    Vector mean = Vector::Zero(data.features());
    double count = 0;
    for (Index i = 0; i < data.rows(); ++i) {
      if (data.labels->codes[i] == c) mean += data.dense.row(i).transpose(), count += 1;
    }
    mean /= count;
    for (Index i = 0; i < rows.rows(); ++i) {
      const Vector d = rows.row(i).transpose() - mean;
      result(i, c) = priors[c] * std::exp(-0.5 * d.dot(inverse * d));
    }
  }
  for (Index i = 0; i < rows.rows(); ++i) result.row(i) /= result.row(i).sum();
  return result;
}

TEST(Lda, PosteriorsAreThoseOfGaussiansWithThePooledCovariance) {
  for (const int classes : {2, 3, 14}) {
    SCOPED_TRACE(classes);
    const DatasetParts data = oracle::random_classes(140, 5, classes, 5, 0.7);
    const DatasetParts fresh = oracle::random_classes(20, 5, classes, 6, 0.7);
    for (const Prior prior : {Prior::kEmpirical, Prior::kUniform}) {
      const LdaRule rule = train(data, prior);
      const Matrix expected = naive_posteriors(data, fresh.dense, rule.priors);
      EXPECT_LT((rule.log_posteriors(fresh.dense).array().exp().matrix() - expected).cwiseAbs().maxCoeff(),
                1e-10);
    }
  }
}

TEST(Lda, PriorsAreTheTrainingSharesOrEqual) {
  DatasetParts data = oracle::random_classes(30, 2, 2, 1);
  for (int i = 0; i < 8; ++i) data.labels->codes[2 * i] = 1;
  EXPECT_NEAR(train(data).priors[1], 23.0 / 30.0, 1e-15);
  EXPECT_EQ(train(data, Prior::kUniform).priors[1], 0.5);
}

TEST(Lda, ALargeOffsetCostsNoMoreThanRounding) {
  DatasetParts data = oracle::random_classes(60, 4, 3, 2);
  const Matrix before = train(data).log_posteriors(data.dense);
  data.dense.array() += 1e8;
  const Matrix after = train(data).log_posteriors(data.dense);
  EXPECT_LT((before - after).cwiseAbs().maxCoeff(), 1e-5);  // the data themselves lost eight digits
}

TEST(Lda, FewerComponentsUseOnlyTheLeadingDiscriminants) {
  const DatasetParts data = oracle::random_classes(100, 6, 5, 3);
  const LdaRule all = train(data);
  const LdaRule two = train(data, Prior::kEmpirical, 2);
  EXPECT_EQ(all.discriminants.cols(), 4);
  ASSERT_EQ(two.discriminants.cols(), 2);
  EXPECT_LT((two.discriminants - all.discriminants.leftCols(2)).norm(), 1e-12);
}

TEST(Lda, AClassWithoutRowsIsNeverPredicted) {
  DatasetParts data = oracle::random_classes(40, 3, 3, 4);
  for (auto& code : data.labels->codes) code = code == 2 ? 0 : code;
  const Matrix posteriors = train(data, Prior::kUniform).log_posteriors(data.dense).array().exp();
  EXPECT_LT(posteriors.col(2).maxCoeff(), 1e-300);
  EXPECT_TRUE(posteriors.allFinite());
}

TEST(Lda, SingularCovarianceIsInfeasibleWithoutARidge) {
  DatasetParts data = oracle::random_classes(40, 3, 2, 4);
  data.dense.col(2) = data.dense.col(0);
  EXPECT_THROW((void)train(data), Infeasible);
  EXPECT_TRUE(train(data, Prior::kEmpirical, 0, 1e-3).log_posteriors(data.dense).allFinite());
}

}  // namespace
}  // namespace subspectra::lda_test
