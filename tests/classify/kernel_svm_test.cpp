#include "classify/kernel_svm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "classify/classifier.hpp"
#include "oracle.hpp"

namespace subspectra::kernel_svm_test {
namespace {

/// Not Eigen's exp(), whose vector version gives a denormal and not 0 for minus infinity.
Matrix exponentials(const Matrix& logs) {
  return logs.unaryExpr([](double value) { return std::exp(value); });
}

double kernel(const KernelSvmRule& rule, const Vector& u, const Vector& v) {
  if (rule.kernel == SvmKernel::kRbf) return std::exp(-rule.gamma * (u - v).squaredNorm());
  if (rule.kernel == SvmKernel::kLinear) return u.dot(v);
  return std::pow(rule.gamma * u.dot(v) + 1.0, static_cast<double>(rule.degree));
}

KernelSvmRule train(const DatasetParts& data, const KernelSvmOptions& options,
                    const std::vector<std::vector<Index>>& folds = {}) {
  return fit_kernel_svm(data.dense, data.labels->codes, data.labels->class_count(), folds, options);
}

/// The conditions of optimality of every machine: 0 <= y a <= C, sum a = 0, and y f >= 1, = 1, <= 1 as y a is
/// 0, between, C. The coefficients stand beside support vectors alone: rows without one have a = 0.
void expect_optimal(const KernelSvmRule& rule, const DatasetParts& data) {
  const Matrix z = [&] {
    Matrix centred = data.dense.rowwise() - data.dense.colwise().mean();
    for (Index j = 0; j < centred.cols(); ++j) {
      const double deviation = std::sqrt(centred.col(j).squaredNorm() / static_cast<double>(data.rows()));
      centred.col(j) *= deviation > 0.0 ? 1.0 / deviation : 0.0;
    }
    return centred;
  }();
  constexpr double kTolerance = 1e-3;  // LIBSVM stops at 1e-4
  const Matrix decisions = rule.decisions(data.dense);
  const Index machines = rule.offsets.size() == 2 ? 1 : rule.offsets.size();
  for (Index c = 0; c < machines; ++c) {
    EXPECT_NEAR(rule.coefficients.col(c).sum(), 0.0, 1e-9);
    for (Index i = 0; i < data.rows(); ++i) {
      const double y = data.labels->codes[static_cast<std::size_t>(i)] == c ? 1.0 : -1.0;
      double f = rule.offsets[c], a = 0.0;
      for (Index s = 0; s < rule.vectors.rows(); ++s) {
        f += rule.coefficients(s, c) * kernel(rule, rule.vectors.row(s), z.row(i));
        if ((rule.vectors.row(s) - z.row(i)).norm() < 1e-12) a = rule.coefficients(s, c);
      }
      EXPECT_NEAR(f, decisions(i, c), 1e-9 * (1.0 + std::abs(f)));
      EXPECT_GE(y * a, 0.0);
      EXPECT_LE(y * a, rule.cost * (1.0 + 1e-9));
      const bool below_cost = y * a<rule.cost*(1.0 - 1e-9), above_zero = y * a> 0.0;
      EXPECT_TRUE(!below_cost || y * f >= 1.0 - kTolerance) << i << ": " << y * f;
      EXPECT_TRUE(!above_zero || y * f <= 1.0 + kTolerance) << i << ": " << y * f;
    }
  }
}

TEST(KernelSvm, TheConditionsOfOptimalityHold) {
  for (const int classes : {2, 5}) {
    for (const Index features : {3, 70}) {
      for (const SvmKernel kind : {SvmKernel::kPoly, SvmKernel::kRbf, SvmKernel::kLinear}) {
        for (const double cost : {0.1, 10.0}) {
          SCOPED_TRACE(::testing::Message()
                       << classes << " classes, " << features << " features, C " << cost);
          const DatasetParts data = oracle::random_classes(40, features, classes, 3);
          expect_optimal(train(data, {.kernel = kind, .degree = 3, .cost = cost}), data);
        }
      }
    }
  }
}

TEST(KernelSvm, TellsApartWhatNoLineDoes) {
  DatasetParts data = oracle::random_classes(200, 2, 2, 5, 0.0);  // class: the sign of x1 x2
  for (Index i = 0; i < data.rows(); ++i)
    data.labels->codes[static_cast<std::size_t>(i)] = data.dense(i, 0) * data.dense(i, 1) > 0.0 ? 1 : 0;
  const auto folds = inner_folds(data, 0);
  const auto errors = [&](const Matrix& p) {
    Index wrong = 0;
    for (Index i = 0; i < p.rows(); ++i) {
      Index predicted = 0;
      p.row(i).maxCoeff(&predicted);
      wrong += predicted != data.labels->codes[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    return wrong;
  };
  for (const SvmKernel kind : {SvmKernel::kPoly, SvmKernel::kRbf}) {
    const KernelSvmRule rule = train(data, {.kernel = kind}, folds);
    EXPECT_LT(errors(rule.log_posteriors(data.dense)), 12);
    EXPECT_NEAR(rule.log_posteriors(data.dense).array().exp().rowwise().sum().maxCoeff(), 1.0, 1e-12);
    EXPECT_EQ(rule.gamma, 0.5);  // 1/(two columns)
  }
  EXPECT_GT(errors(train(data, {.kernel = SvmKernel::kLinear, .cost = 1.0}).log_posteriors(data.dense)), 50);
}

TEST(KernelSvm, DegenerateTablesAreTrainedOn) {
  DatasetParts data = oracle::random_classes(30, 6, 3, 7);
  data.dense.col(2).setConstant(4.0);
  data.dense.col(3) = data.dense.col(0);
  data.dense.row(4) = data.dense.row(1);
  data.dense.col(5) *= 1e150;
  for (auto& code : data.labels->codes) code = code == 2 ? 0 : code;
  data.labels->codes.back() = 2;  // a class of one
  for (const SvmKernel kind : {SvmKernel::kPoly, SvmKernel::kRbf}) {
    const KernelSvmRule rule = train(data, {.kernel = kind}, inner_folds(data, 1));
    EXPECT_TRUE(rule.log_posteriors(data.dense).allFinite());
    EXPECT_EQ(rule.gamma, 0.2) << "the constant column does not count";
  }
  // A class without rows has probability 0.
  data.labels->codes.back() = 0;
  const Matrix p = exponentials(train(data, {.kernel = SvmKernel::kRbf}).log_posteriors(data.dense));
  EXPECT_EQ(p.col(2).maxCoeff(), 0.0);
}

TEST(KernelSvm, WorksInTheSpaceOfGivenDiscriminants) {
  const DatasetParts data = oracle::random_classes(40, 4, 3, 11);
  const Matrix b = (Matrix(4, 2) << 1.0, 0.0, 2.0, 1.0, 0.0, 1.0, -1.0, 0.5).finished();
  const ModelOptions options{
      .classifier = Classifier::kSvm, .cost = 1.0, .svm_kernel = SvmKernel::kRbf, .seed = 3};
  const ClassifierRule rule = fit_projected(data, {0, 1, 2, 3}, b, options);
  DatasetParts projected = Dataset(data).with_features({0, 1}).parts();
  projected.dense = data.dense * b;
  const ClassifierRule plain = ClassifierTrainer(projected, {0, 1}, 0.0, options).fit();
  const Matrix fresh = oracle::random_classes(30, 4, 3, 12).dense;
  EXPECT_LT((log_posteriors(rule, fresh) - log_posteriors(plain, fresh * b)).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_EQ(classifier_of(rule), Classifier::kSvm);
}

}  // namespace
}  // namespace subspectra::kernel_svm_test
