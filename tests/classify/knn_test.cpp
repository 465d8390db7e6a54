#include "classify/knn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "classify/classifier.hpp"
#include "oracle.hpp"

namespace subspectra::knn_test {
namespace {

/// Not Eigen's exp(), whose vector version gives a denormal and not 0 for minus infinity.
Matrix exponentials(const Matrix& logs) {
  return logs.unaryExpr([](double value) { return std::exp(value); });
}

KnnRule train(const DatasetParts& data, Index neighbors, Prior prior = Prior::kEmpirical) {
  return fit_knn(data.dense, data.labels->codes, data.labels->class_count(),
                 {.prior = prior, .neighbors = neighbors});
}

/// Oracle: every distance by its definition, sorted; rows as far as the last one share what is left.
Matrix naive(const DatasetParts& data, Index neighbors, const Matrix& rows) {
  const Index n = data.rows(), classes = data.labels->class_count();
  Matrix p(rows.rows(), classes);
  for (Index i = 0; i < rows.rows(); ++i) {
    std::vector<std::pair<double, int>> all;
    for (Index t = 0; t < n; ++t) {
      all.emplace_back((data.dense.row(t) - rows.row(i)).squaredNorm(),
                       data.labels->codes[static_cast<std::size_t>(t)]);
    }
    std::sort(all.begin(), all.end());
    const Index m = std::min(neighbors, n);
    const double last = all[static_cast<std::size_t>(m - 1)].first;
    constexpr double kSame = 1e-9;  // the rows below are either equal or clearly apart
    Vector votes = Vector::Zero(classes), tied = Vector::Zero(classes);
    for (const auto& [distance, code] : all) {
      if (distance < last - kSame) votes[code] += 1.0;
      if (std::abs(distance - last) <= kSame) tied[code] += 1.0;
    }
    votes += tied * ((static_cast<double>(m) - votes.sum()) / tied.sum());
    for (Index c = 0; c < classes; ++c) {
      const auto count =
          std::count(data.labels->codes.begin(), data.labels->codes.end(), static_cast<int>(c));
      p(i, c) = votes[c] + static_cast<double>(count) / static_cast<double>(n);
    }
    p.row(i) /= p.row(i).sum();
  }
  return p;
}

TEST(Knn, AgreesWithTheDefinition) {
  for (const int classes : {2, 5}) {
    for (const Index features : {1, 4, 60}) {  // 60: more than the rows
      for (const Index neighbors : {1, 5, 1000}) {
        const DatasetParts data = oracle::random_classes(50, features, classes, 3);
        const DatasetParts fresh = oracle::random_classes(600, features, classes, 4);  // several blocks
        const Matrix p = exponentials(train(data, neighbors).log_posteriors(fresh.dense));
        EXPECT_LT((p - naive(data, neighbors, fresh.dense)).cwiseAbs().maxCoeff(), 1e-12);
      }
    }
  }
}

TEST(Knn, RowsThatTieShareTheirVotesWhateverTheirOrder) {
  DatasetParts data = oracle::random_classes(40, 2, 2, 5);
  data.dense = data.dense.array().round();  // many equal rows and distances
  const Matrix grid = oracle::random_classes(60, 2, 2, 6).dense.array().round();
  const Matrix p = exponentials(train(data, 5).log_posteriors(grid));
  EXPECT_LT((p - naive(data, 5, grid)).cwiseAbs().maxCoeff(), 1e-12);
  std::vector<Index> backwards;
  for (Index i = data.rows(); i-- > 0;) backwards.push_back(i);
  const Matrix q = exponentials(train(Dataset(data).with_rows(backwards).parts(), 5).log_posteriors(grid));
  EXPECT_LT((p - q).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Knn, ALargeOffsetCostsNoDigits) {
  const DatasetParts data = oracle::random_classes(50, 3, 3, 7);
  DatasetParts moved = data;
  moved.dense.array() += 1e6;
  const Matrix fresh = oracle::random_classes(100, 3, 3, 8).dense;
  const Matrix here = train(data, 3).log_posteriors(fresh);
  const Matrix there = train(moved, 3).log_posteriors((fresh.array() + 1e6).matrix());
  EXPECT_LT((here - there).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Knn, PriorsAndClassesWithoutRowsAreHeeded) {
  DatasetParts data = oracle::random_classes(30, 2, 3, 9);
  for (auto& code : data.labels->codes) code = code == 2 ? 0 : code;  // class c has no rows
  const Matrix fresh = oracle::random_classes(20, 2, 3, 10).dense;
  const Matrix empirical = exponentials(train(data, 4).log_posteriors(fresh));
  const Matrix uniform = exponentials(train(data, 4, Prior::kUniform).log_posteriors(fresh));
  for (Index i = 0; i < fresh.rows(); ++i) {
    EXPECT_EQ(empirical(i, 2), 0.0);
    EXPECT_EQ(uniform(i, 2), 0.0);
    EXPECT_GT(empirical.row(i).head(2).minCoeff(), 0.0);
    // shares 2/3 and 1/3: equal priors double the odds of the second.
    EXPECT_NEAR(uniform(i, 1) / uniform(i, 0), 2.0 * empirical(i, 1) / empirical(i, 0), 1e-9);
  }
}

TEST(Knn, WorksInTheSpaceOfGivenDiscriminants) {
  const DatasetParts data = oracle::random_classes(40, 4, 2, 11);
  const Matrix b = (Matrix(4, 1) << 1.0, 2.0, 0.0, -1.0).finished();
  const RulePointer rule = fit_projected(data, {0, 1, 2, 3}, b, Knn{.neighbors = 3});
  DatasetParts projected = data;
  projected.dense = data.dense * b;
  const Matrix fresh = oracle::random_classes(30, 4, 2, 12).dense;
  const Matrix p = exponentials(rule->log_posteriors(fresh));
  EXPECT_LT((p - naive(projected, 3, fresh * b)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(rule->entries(), 4);
}

}  // namespace
}  // namespace subspectra::knn_test
