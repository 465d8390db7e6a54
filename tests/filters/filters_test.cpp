#include "filters/filters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle.hpp"

namespace subspectra {
namespace {

struct ClassSummary {
  double n = 0, mean = 0, variance = 0;
};
ClassSummary summary_of(const DatasetParts& data, Index j, int code) {
  ClassSummary s;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.labels->codes[i] == code) s.n += 1, s.mean += data.dense(i, j);
  }
  s.mean /= s.n;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.labels->codes[i] == code) s.variance += std::pow(data.dense(i, j) - s.mean, 2) / s.n;
  }
  return s;
}

Moments diagonal(const DatasetParts& data) {
  return compute_moments(data, Moments::SecondOrder::kDiagonal, 1);
}

TEST(Filters, TwoClassScoresAreTheTextbookOnes) {
  DatasetParts data = oracle::random_classes(41, 7, 2, 1);
  for (int extra = 0; extra < 6; ++extra) data.labels->codes[2 * extra] = 1;  // unequal class sizes
  const Vector pearson = filters::pearson(diagonal(data));
  const Vector fisher = filters::fisher(diagonal(data));
  const Vector snr = filters::signal_to_noise(diagonal(data));
  for (Index j = 0; j < data.features(); ++j) {
    const auto a = summary_of(data, j, 0);
    const auto b = summary_of(data, j, 1);
    // Pearson's correlation with the label as 0/1, from its definition.
    double sxy = 0, sxx = 0, syy = 0;
    const double mean_x = data.dense.col(j).mean();
    const double mean_y = b.n / (a.n + b.n);
    for (Index i = 0; i < data.rows(); ++i) {
      const double dx = data.dense(i, j) - mean_x;
      const double dy = data.labels->codes[i] - mean_y;
      sxy += dx * dy, sxx += dx * dx, syy += dy * dy;
    }
    EXPECT_NEAR(pearson[j], std::abs(sxy) / std::sqrt(sxx * syy), 1e-12);
    EXPECT_NEAR(fisher[j], std::pow(a.mean - b.mean, 2) / (a.variance + b.variance), 1e-12);
    EXPECT_NEAR(snr[j], std::abs(a.mean - b.mean) / (std::sqrt(a.variance) + std::sqrt(b.variance)), 1e-12);
  }
}

TEST(Filters, ManyClassScoresFollowTheirFormulas) {
  const DatasetParts data = oracle::random_classes(60, 5, 4, 2);
  const Vector pearson = filters::pearson(diagonal(data));
  const Vector fisher = filters::fisher(diagonal(data));
  for (Index j = 0; j < data.features(); ++j) {
    double between = 0, within = 0, pairs = 0, variances = 0;
    const double mean = data.dense.col(j).mean();
    for (int c = 0; c < 4; ++c) {
      const auto s = summary_of(data, j, c);
      between += s.n * std::pow(s.mean - mean, 2);
      within += s.n * s.variance;
      variances += s.variance;
      for (int d = 0; d < c; ++d) pairs += std::pow(s.mean - summary_of(data, j, d).mean, 2);
    }
    EXPECT_NEAR(pearson[j], std::sqrt(between / (between + within)), 1e-12);
    EXPECT_NEAR(fisher[j], pairs / (3.0 * variances), 1e-12);
  }
}

/// Oracle: the two distribution functions compared at every value.
double naive_ks(const DatasetParts& data, Index j) {
  double largest = 0;
  const auto& codes = data.labels->codes;
  for (Index at = 0; at < data.rows(); ++at) {
    double below[2] = {0, 0}, total[2] = {0, 0};
    for (Index i = 0; i < data.rows(); ++i) {
      total[codes[i]] += data.weight(i);
      if (data.dense(i, j) <= data.dense(at, j)) below[codes[i]] += data.weight(i);
    }
    largest = std::max(largest, std::abs(below[0] / total[0] - below[1] / total[1]));
  }
  return largest;
}

TEST(Filters, KolmogorovSmirnovCountsTiesWeightsAndZerosOfSparseColumns) {
  DatasetParts data = oracle::random_classes(37, 6, 2, 3);
  for (Index i = 0; i < data.rows(); ++i) {
    data.dense(i, 1) = std::round(data.dense(i, 1));                             // many ties
    data.dense(i, 2) = data.dense(i, 2) < 0.5 ? 0.0 : data.dense(i, 2);          // zeros below
    data.dense(i, 3) = std::abs(data.dense(i, 3)) < 0.7 ? 0 : data.dense(i, 3);  // zeros in the middle
    data.dense(i, 4) = 0.0;
  }
  for (const bool weighted : {false, true}) {
    if (weighted) data.weights = Vector::LinSpaced(data.rows(), 0.5, 3.0);
    const Vector dense = filters::kolmogorov_smirnov(data, 2);
    const Vector sparse = filters::kolmogorov_smirnov(oracle::as_sparse(data), 2);
    for (Index j = 0; j < data.features(); ++j) {
      EXPECT_NEAR(dense[j], naive_ks(data, j), 1e-12) << j;
      EXPECT_NEAR(sparse[j], dense[j], 1e-12) << j;
    }
  }
}

TEST(Filters, AWeightIsThatManyRepetitions) {
  DatasetParts data = oracle::random_classes(30, 4, 2, 4);
  const std::vector<int> times = {1, 2, 3, 1, 1, 2, 5, 1, 1, 2, 1, 1, 2, 3, 1,
                                  1, 4, 1, 1, 1, 2, 2, 1, 1, 3, 1, 1, 1, 2, 1};
  const DatasetParts many = oracle::repeated(data, times);
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 30).cast<double>();
  EXPECT_LT((filters::fisher(diagonal(data)) - filters::fisher(diagonal(many))).norm(), 1e-12);
  EXPECT_LT((filters::pearson(diagonal(data)) - filters::pearson(diagonal(many))).norm(), 1e-12);
  EXPECT_LT((filters::kolmogorov_smirnov(data, 1) - filters::kolmogorov_smirnov(many, 1)).norm(), 1e-12);
}

TEST(Filters, ConstantColumnsScoreZeroAndPerfectSeparatorsStayFinite) {
  DatasetParts data = oracle::random_classes(20, 3, 2, 5);
  data.dense.col(0).setConstant(0.1);
  for (Index i = 0; i < 20; ++i) data.dense(i, 1) = data.labels->codes[i];
  const Moments moments = diagonal(data);
  EXPECT_EQ(filters::pearson(moments)[0], 0.0);
  EXPECT_EQ(filters::fisher(moments)[0], 0.0);
  EXPECT_EQ(filters::signal_to_noise(moments)[0], 0.0);
  EXPECT_NEAR(filters::pearson(moments)[1], 1.0, 1e-15);
  EXPECT_EQ(filters::fisher(moments)[1], std::numeric_limits<double>::max());
  EXPECT_EQ(filters::signal_to_noise(moments)[1], std::numeric_limits<double>::max());
  EXPECT_NEAR(filters::kolmogorov_smirnov(data, 1)[1], 1.0, 1e-15);
}

TEST(Filters, KolmogorovSmirnovTakesWhicheverTwoClassesArePresentAndTiesExactly) {
  DatasetParts data = oracle::random_classes(31, 3, 2, 8);
  data.dense.col(2) = -data.dense.col(1);  // the same statistic, summed from the other end
  const Vector expected = filters::kolmogorov_smirnov(data, 1);
  EXPECT_EQ(expected[1], expected[2]);
  for (const auto& [first, second] :
       {std::pair{0, 4}, {3, 5}}) {  // codes beyond 0 and 1, others without rows
    DatasetParts other = data;
    other.labels->classes = {"a", "b", "c", "d", "e", "f"};
    for (int& code : other.labels->codes) code = code == 0 ? first : second;
    EXPECT_EQ(filters::kolmogorov_smirnov(other, 1), expected);
  }
}

TEST(Filters, TiesInTheRankingGoToTheLowestIndex) {
  const std::vector<double> scores = {1.0, 3.0, 1.0, 3.0, 2.0};
  EXPECT_EQ(filters::ranking(scores, {0, 1, 2, 3, 4}), (std::vector<Index>{1, 3, 4, 0, 2}));
  EXPECT_EQ(filters::ranking(scores, {2, 3}), (std::vector<Index>{3, 2}));
}

TEST(Filters, RankingTakesNoOrderFromDigitsThatAreNotKnown) {
  const std::vector<double> scores = {0.0, 2.0, 3.0, 2.0015, 0.5, 3.0001, 0.0, 2.003};
  const std::vector<Index> all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(filters::ranking(scores, all), (std::vector<Index>{5, 2, 7, 3, 1, 4, 0, 6}));
  // 2, 2.0015 and 2.003 are a chain, each within 1e-3 of the next.
  EXPECT_EQ(filters::ranking(scores, all, 1e-3), (std::vector<Index>{2, 5, 1, 3, 7, 4, 0, 6}));
  EXPECT_EQ(filters::ranking(scores, {1, 3, 5}, 1e-6), (std::vector<Index>{5, 3, 1}));
  EXPECT_TRUE(filters::ranking(scores, {}, 1e-3).empty());
}

}  // namespace
}  // namespace subspectra
