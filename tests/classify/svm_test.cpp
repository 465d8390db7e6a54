#include "classify/svm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "classify/classifier.hpp"
#include "classify/kernel_svm.hpp"
#include "classify/row_map.hpp"
#include "classify/svm_cost.hpp"
#include "oracle.hpp"

namespace subspectra::svm_test {
namespace {

using Folds = std::vector<std::vector<Index>>;

SvmRule train(const DatasetParts& data, double cost, const Folds& folds = {},
              Prior prior = Prior::kEmpirical) {
  return fit_svm(data.dense, data.labels->codes, data.labels->class_count(), folds,
                 {.prior = prior, .C = cost});
}

Matrix decisions(const SvmRule& rule, const Matrix& rows) {
  return ((rows.rowwise() - rule.centre.transpose()) * rule.weights).rowwise() + rule.offsets.transpose();
}

/// (x - mean)/deviation, 0 for a constant column.
Matrix standardized(const Matrix& x) {
  Matrix z = x.rowwise() - x.colwise().mean();
  for (Index j = 0; j < z.cols(); ++j) {
    const double deviation = std::sqrt(z.col(j).squaredNorm() / static_cast<double>(z.rows()));
    z.col(j) *= deviation > 0.0 ? 1.0 / deviation : 0.0;
  }
  return z;
}

/// |gradient| of (|w|^2 + b^2)/2 + C sum max(0, 1 - y f)^2 at the machine of class c, over its size at w = 0.
double relative_gradient(const SvmRule& rule, const DatasetParts& data, int c) {
  const Matrix z = standardized(data.dense);
  const Vector f = decisions(rule, data.dense).col(c);
  Vector w = Vector::Zero(z.cols() + 1);  // in standardized columns: f - b = Z w
  for (Index j = 0; j < z.cols(); ++j) {
    const Vector centred = data.dense.col(j).array() - data.dense.col(j).mean();
    w[j] = rule.weights(j, c) * std::sqrt(centred.squaredNorm() / static_cast<double>(z.rows()));
  }
  w[z.cols()] = rule.offsets[c];
  Vector gradient = w, at_zero = Vector::Zero(w.size());
  for (Index i = 0; i < z.rows(); ++i) {
    const double y = data.labels->codes[static_cast<std::size_t>(i)] == c ? 1.0 : -1.0;
    Vector row(w.size());
    row << z.row(i).transpose(), 1.0;
    gradient -= 2.0 * rule.cost * y * std::max(0.0, 1.0 - y * f[i]) * row;
    at_zero -= 2.0 * rule.cost * y * row;
  }
  return gradient.norm() / at_zero.norm();
}

TEST(Svm, TwoPointsHaveAClosedForm) {
  DatasetParts data = oracle::random_classes(2, 1, 2, 1);
  data.dense << 7.0, 3.0;  // z = +1 for class a, -1 for class b: min w^2/2 + 2 C (1 - w)^2, b = 0
  for (const double cost : {0.01, 1.0, 100.0}) {
    const SvmRule rule = train(data, cost);
    const double w = 4.0 * cost / (1.0 + 4.0 * cost);
    EXPECT_NEAR(rule.weights(0, 0), w / 2.0, 1e-9);  // the deviation is 2
    EXPECT_NEAR(rule.weights(0, 1), -w / 2.0, 1e-9);
    EXPECT_NEAR(rule.offsets[0], 0.0, 1e-9);
    EXPECT_DOUBLE_EQ(rule.centre[0], 5.0);
  }
}

TEST(Svm, TheGradientOfItsObjectiveVanishes) {
  struct Case {
    Index rows, features;
    int classes;
  };
  for (const Case& one : {Case{60, 5, 2}, Case{90, 6, 3}, Case{20, 80, 2}, Case{24, 60, 4}}) {
    for (const double cost : {0.01, 1.0, 10.0}) {
      SCOPED_TRACE(::testing::Message() << one.rows << " x " << one.features << ", C = " << cost);
      const DatasetParts data = oracle::random_classes(one.rows, one.features, one.classes, 3);
      const SvmRule rule = train(data, cost);
      // The solver stops when its objective no longer falls: half of the digits in the gradient.
      for (int c = 0; c < one.classes; ++c) EXPECT_LT(relative_gradient(rule, data, c), 1e-6);
    }
  }
}

TEST(Svm, UnitsAndOffsetsOfTheColumnsDoNotMatter) {
  const DatasetParts data = oracle::random_classes(50, 4, 3, 5);
  DatasetParts other = data;
  other.dense.col(0) *= 1e6;
  other.dense.col(1).array() += 1e5;
  other.dense.col(2) *= -1e-6;
  const Folds folds = inner_folds(data, 0);
  const Matrix a = train(data, kInfinity, folds).log_posteriors(data.dense);
  const Matrix b = train(other, kInfinity, folds).log_posteriors(other.dense);
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Svm, ThePredictedClassIsTheMachines) {
  for (const int classes : {2, 4}) {
    const DatasetParts data = oracle::random_classes(80, 5, classes, 7);
    const SvmRule rule = train(data, 1.0, inner_folds(data, 0));
    const Matrix f = decisions(rule, data.dense), p = rule.log_posteriors(data.dense);
    for (Index i = 0; i < f.rows(); ++i) {
      Index by_decision = 0, by_probability = 0;
      f.row(i).maxCoeff(&by_decision);
      p.row(i).maxCoeff(&by_probability);
      EXPECT_EQ(by_decision, by_probability);
      EXPECT_NEAR(p.row(i).array().exp().sum(), 1.0, 1e-12);
    }
  }
}

TEST(Svm, ProbabilitiesAreOnTheScaleOfNewRows) {
  const DatasetParts data = oracle::random_classes(300, 5, 3, 11, 1.5);
  const DatasetParts fresh = oracle::random_classes(3000, 5, 3, 12, 1.5);
  SvmRule rule = train(data, 1.0, inner_folds(data, 0));
  const auto loss = [&] {
    const Matrix p = rule.log_posteriors(fresh.dense);
    double sum = 0.0;
    for (Index i = 0; i < p.rows(); ++i) sum -= p(i, fresh.labels->codes[static_cast<std::size_t>(i)]);
    return sum / static_cast<double>(p.rows());
  };
  const double fitted = loss(), slope = rule.slope;
  rule.slope = 2.0 * slope;
  EXPECT_GT(loss(), fitted);
  rule.slope = 0.5 * slope;
  EXPECT_GT(loss(), fitted);
}

TEST(Svm, EqualPriorsDivideByTheShares) {
  DatasetParts data = oracle::random_classes(60, 4, 2, 13);
  for (std::size_t i = 0; i < 20; ++i) data.labels->codes[i] = 0;
  const Folds folds = inner_folds(data, 0);
  const Matrix as_in_rows = train(data, 1.0, folds).log_posteriors(data.dense);
  const SvmRule equal = train(data, 1.0, folds, Prior::kUniform);
  const Matrix balanced = equal.log_posteriors(data.dense);
  for (Index i = 0; i < data.rows(); ++i) {
    EXPECT_NEAR(balanced(i, 0) - balanced(i, 1),
                as_in_rows(i, 0) - as_in_rows(i, 1) - std::log(equal.shares[0] / equal.shares[1]), 1e-9);
  }
}

TEST(Svm, CostComesFromTheGridAndFitsTheFoldsBest) {
  const DatasetParts data = oracle::random_classes(90, 30, 2, 17, 0.7);
  const Folds folds = inner_folds(data, 0);
  const SvmRule rule = train(data, kInfinity, folds);
  EXPECT_NE(std::find(svm_costs().begin(), svm_costs().end(), rule.cost), svm_costs().end());
  // Oracle: the same folds on columns standardized once, each machine by Newton's method with dense Hessians.
  const Matrix z = standardized(data.dense);
  std::vector<Index> errors;
  for (const double cost : svm_costs()) {
    Index wrong = 0;
    for (const auto& fold : folds) {
      std::vector<Index> rest;
      for (Index i = 0; i < z.rows(); ++i) {
        if (std::find(fold.begin(), fold.end(), i) == fold.end()) rest.push_back(i);
      }
      Matrix x(static_cast<Index>(rest.size()), z.cols() + 1);
      Vector y(x.rows());
      for (std::size_t i = 0; i < rest.size(); ++i) {
        x.row(static_cast<Index>(i)) << z.row(rest[i]), 1.0;
        y[static_cast<Index>(i)] = data.labels->codes[static_cast<std::size_t>(rest[i])] == 0 ? 1.0 : -1.0;
      }
      const auto objective = [&](const Vector& v) {
        return 0.5 * v.squaredNorm() + cost * (1.0 - y.array() * (x * v).array()).max(0.0).square().sum();
      };
      Vector w = Vector::Zero(x.cols());
      for (int step = 0; step < 100; ++step) {
        Matrix h = Matrix::Identity(x.cols(), x.cols());
        Vector g = Vector::Zero(x.cols());
        for (Index i = 0; i < x.rows(); ++i) {
          if (y[i] * x.row(i).dot(w) >= 1.0) continue;
          h += 2.0 * cost * x.row(i).transpose() * x.row(i);
          g += 2.0 * cost * y[i] * x.row(i).transpose();
        }
        const Vector direction = h.ldlt().solve(g) - w;
        double length = 1.0;
        while (length > 1e-6 && objective(w + length * direction) > objective(w)) length /= 2.0;
        w += length * direction;
      }
      for (const Index i : fold) {
        const double f = z.row(i).dot(w.head(z.cols())) + w[z.cols()];
        if ((f >= 0.0 ? 0 : 1) != data.labels->codes[static_cast<std::size_t>(i)]) ++wrong;
      }
    }
    errors.push_back(wrong);
  }
  const auto best = std::min_element(errors.begin(), errors.end()) - errors.begin();
  EXPECT_EQ(rule.cost, svm_costs()[static_cast<std::size_t>(best)]);
}

TEST(Svm, ConstantColumnsGetNothingAndEqualOnesShare) {
  DatasetParts data = oracle::random_classes(40, 4, 2, 19);
  data.dense.col(1).setConstant(1e300);
  data.dense.col(3) = data.dense.col(0);
  const SvmRule rule = train(data, 1.0);
  EXPECT_EQ(rule.weights(1, 0), 0.0);
  EXPECT_NEAR(rule.weights(3, 0), rule.weights(0, 0), 1e-8);
  EXPECT_TRUE(rule.log_posteriors(data.dense).allFinite());
  data.dense.setConstant(2.0);  // nothing to learn from: the priors decide
  EXPECT_NEAR(train(data, 1.0, inner_folds(data, 0)).log_posteriors(data.dense)(0, 0), std::log(0.5), 1e-6);
}

TEST(Svm, AClassWithoutRowsHasProbabilityZero) {
  DatasetParts data = oracle::random_classes(40, 3, 2, 23);
  data.labels->classes = {"a", "b", "c"};  // nobody is in c
  const SvmRule rule = train(data, kInfinity, inner_folds(data, 0));
  const Matrix p = rule.log_posteriors(data.dense);
  EXPECT_TRUE((p.col(2).array() == -kInfinity).all());
  DatasetParts two = data;
  two.labels->classes = {"a", "b"};
  EXPECT_LT((train(two, kInfinity, inner_folds(two, 0)).log_posteriors(data.dense) - p.leftCols(2))
                .cwiseAbs()
                .maxCoeff(),
            1e-12);
}

TEST(Svm, AClassOfOneRowIsLearnedButNeverHeldOut) {
  DatasetParts data = oracle::random_classes(41, 3, 2, 29);
  data.labels->classes = {"a", "b", "c"};
  data.labels->codes[40] = 2;
  data.dense.row(40).setConstant(9.0);
  const Folds folds = inner_folds(data, 0);
  ASSERT_EQ(folds.size(), 5U);
  for (const auto& fold : folds) EXPECT_FALSE(std::binary_search(fold.begin(), fold.end(), Index{40}));
  const SvmRule rule = train(data, kInfinity, folds);
  Index predicted = 0;
  rule.log_posteriors(data.dense).row(40).maxCoeff(&predicted);
  EXPECT_EQ(predicted, 2);
}

TEST(Svm, FoldsOfFewRowsAndOfGroups) {
  const DatasetParts tiny = oracle::random_classes(2, 2, 2, 31);
  EXPECT_TRUE(inner_folds(tiny, 0).empty());
  const SvmRule rule = train(tiny, kInfinity, {});
  EXPECT_EQ(rule.cost, 1.0);
  EXPECT_EQ(rule.slope, 1.0);
  DatasetParts grouped = oracle::random_classes(24, 2, 2, 37);
  for (Index i = 0; i < 24; ++i) grouped.row_groups.push_back(std::to_string(i / 8));
  const Folds folds = inner_folds(grouped, 0);
  EXPECT_EQ(folds.size(), 3U);
  for (const auto& fold : folds) {
    for (const Index i : fold)
      EXPECT_EQ(grouped.row_groups[static_cast<std::size_t>(i)],
                grouped.row_groups[static_cast<std::size_t>(fold[0])]);
  }
}

TEST(ClassifierTrainer, TheSvmRefusesWeightsAndTakesOneProjectionForAnother) {
  DatasetParts data = oracle::random_classes(40, 6, 3, 41);
  const Classifier options = Svm{.C = 0.5};
  // B = I is no projection at all.
  const std::vector<Index> all = {0, 1, 2, 3, 4, 5};
  const Matrix direct = ClassifierTrainer(data, all, 0.0, options).fit()->log_posteriors(data.dense);
  const Matrix projected =
      fit_projected(data, all, Matrix::Identity(6, 6), options)->log_posteriors(data.dense);
  EXPECT_LT((direct - projected).cwiseAbs().maxCoeff(), 1e-6);
  const Matrix two = data.dense(Eigen::all, std::vector<Index>{1, 4});
  const Matrix part = ClassifierTrainer(data, all, 0.0, options).fit({1, 4})->log_posteriors(two);
  const Matrix alone = ClassifierTrainer(data, {1, 4}, 0.0, options).fit()->log_posteriors(two);
  EXPECT_EQ(part, alone);
  data.weights = Vector::LinSpaced(40, 1.0, 2.0);
  EXPECT_THROW(ClassifierTrainer(data, all, 0.0, options), InvalidArgument);
}

TEST(ClassifierTrainer, ManyProjectedDirectionsGiveTheSameLda) {
  // With as many directions as features the rule in their space is the rule on the features.
  const DatasetParts data = oracle::random_classes(60, 6, 3, 43);
  const std::vector<Index> all = {0, 1, 2, 3, 4, 5};
  const Matrix direct =
      ClassifierTrainer(data, all, 0.0, Lda{.shrinkage = 0.0}).fit()->log_posteriors(data.dense);
  const Matrix b = Matrix::Random(6, 6);
  const RulePointer rule = fit_projected(data, all, b, Lda{});
  EXPECT_LE(dynamic_cast<const LdaRule&>(*rule).discriminants.cols(), 3);
  EXPECT_LT((direct - rule->log_posteriors(data.dense)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Svm, ReachesTheMinimumForLargeCWithManyMoreFeaturesThanRows) {
  const DatasetParts data = oracle::random_classes(60, 2000, 4, 30, 0.1);
  const SvmRule rule = train(data, 64.0);
  for (int c = 0; c < 4; ++c) EXPECT_LT(relative_gradient(rule, data, c), 1e-9);
}

TEST(Svm, CIsChosenAloneAsItIsChosenWithTheMachine) {
  struct Case {
    Index rows, features;
    int classes;
  };
  for (const Case& one : {Case{40, 6, 2}, Case{45, 6, 3}, Case{30, 80, 2}}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const DatasetParts data = oracle::random_classes(one.rows, one.features, one.classes, 20 + seed, 0.5);
      const auto folds = inner_folds(data, seed);
      EXPECT_EQ(choose_svm_cost(standardize_rows(data.dense).z, data.labels->codes, one.classes, folds),
                train(data, kInfinity, folds).cost);
    }
  }
}

TEST(Svm, StoppedItTrainsWithTheBestCSoFar) {
  const DatasetParts data = oracle::random_classes(60, 4, 3, 51, 0.5);
  const Folds folds = inner_folds(data, 0);
  std::stop_source stop;
  stop.request_stop();
  const RunControl stopped(stop.get_token(), kInfinity);
  const auto at_one = [&](const Matrix& weights) {
    return (weights - train(data, 1.0).weights).cwiseAbs().maxCoeff() < 1e-12;
  };
  const SvmRule rule = fit_svm(data.dense, data.labels->codes, 3, folds, {}, stopped);
  EXPECT_EQ(rule.status, Status::kInterrupted);
  EXPECT_EQ(rule.cost, 1.0);  // no C has been through all folds
  EXPECT_EQ(rule.slope, 1.0);
  EXPECT_TRUE(at_one(rule.weights));
  EXPECT_NE(rule.cut_short_sentence().find("C = 1 and the scale"), std::string::npos);
  EXPECT_EQ(fit_svm(data.dense, data.labels->codes, 3, folds, {}).status, Status::kConverged);
  // Without folds there is nothing to cut short.
  EXPECT_EQ(fit_svm(data.dense, data.labels->codes, 3, {}, {.C = 1.0}, stopped).status, Status::kConverged);
  const KernelSvmRule kernel = fit_kernel_svm(data.dense, data.labels->codes, 3, folds,
                                              {.svm_kernel = SvmKernel::kRbf}, nullptr, stopped);
  EXPECT_EQ(kernel.status, Status::kInterrupted);
  EXPECT_EQ(kernel.cost, 1.0);
  EXPECT_EQ(choose_svm_cost(standardize_rows(data.dense).z, data.labels->codes, 3, folds, 1, stopped), 1.0);
}

}  // namespace
}  // namespace subspectra::svm_test
