#include "data/prepare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle.hpp"

namespace subspectra {
namespace {

const double kNaN = std::nan("");

DatasetParts with_gaps() {
  DatasetParts data = oracle::random_classes(6, 3, 2, 1);
  data.dense(1, 0) = kNaN;
  data.dense(4, 0) = kNaN;
  data.dense(4, 2) = kNaN;
  return data;
}

TEST(CheckValues, RefusesMissingValuesWithColumnsCountsAndTheWayOut) {
  try {
    (void)check_values(with_gaps(), {});
    FAIL();
  } catch (const BadInput& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("3 missing values in 2 columns: x0 (2), x2 (1)"), std::string::npos) << text;
    EXPECT_NE(text.find("prepare.missing = MissingPolicy::kMean"), std::string::npos);
  }
}

TEST(CheckValues, PointsAtTheFirstMissingValueWhenTheReaderKnowsIt) {
  DatasetParts data = with_gaps();
  data.first_missing = Location{.file = "t.csv", .line = 3, .column = 1};
  try {
    (void)check_values(data, {});
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("t.csv:3:1: ")) << error.what();
  }
}

TEST(CheckValues, DropsRowsAndRemembersWhichAreLeft) {
  DatasetParts data = with_gaps();
  data.labels->codes[0] = Labels::kMissing;
  const DatasetParts kept = check_values(data, {.missing = MissingPolicy::kDrop}).parts();
  EXPECT_EQ(kept.original_rows, (std::vector<Index>{2, 3, 5}));
  EXPECT_EQ(kept.warnings.size(), 2U);
}

TEST(CheckValues, AColumnWithoutAnyValueIsNamedAndCountsAsConstant) {
  DatasetParts data = with_gaps();
  data.dense.col(1).setConstant(kNaN);
  for (const DatasetParts& table : {data, oracle::as_sparse(data)}) {
    const DatasetParts checked = check_values(table, {.missing = MissingPolicy::kMean}).parts();
    EXPECT_EQ(
        checked.warnings,
        (std::vector<std::string>{
            "column x1 holds no value in any row and counts as constant, since there is no mean to put in",
            "3 missing values in 2 columns were replaced by training means: x0 (2), x2 (1)"}));
    for (const bool standardize : {false, true}) {
      const PrepareOptions options{.missing = MissingPolicy::kMean, .standardize = standardize};
      const DatasetParts prepared = Preparation::learn(checked, options).apply(checked).parts();
      EXPECT_EQ(Dataset(prepared).values().column(1), Vector::Zero(6));
    }
  }
  data.weights = Vector::Ones(6);
  data.weights[0] = 0.0;
  data.dense(0, 1) = 7.0;  // its only value stands in a row that does not count
  EXPECT_EQ(check_values(data, {.missing = MissingPolicy::kMean}).warnings().size(), 3U);
  data.dense(0, 1) = kNaN;
  try {
    (void)check_values(data, {.missing = MissingPolicy::kDrop});
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(
        std::string(error.what())
            .find(
                "column x1 holds no value in any row, so that prepare.missing = MissingPolicy::kDrop keeps none; leave it out with exclude"),
        std::string::npos)
        << error.what();
  }
}

TEST(CheckValues, AClassThatLosesItsLastRowIsNoLongerAClass) {
  DatasetParts data = oracle::random_classes(9, 2, 3, 1);
  for (const Index i : {0, 3, 6}) data.dense(i, 1) = kNaN;  // all rows of class a
  const DatasetParts kept = check_values(data, {.missing = MissingPolicy::kDrop}).parts();
  EXPECT_EQ(kept.labels->classes, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(kept.labels->codes, (std::vector<int>{0, 1, 0, 1, 0, 1}));
}

TEST(CheckValues, InfiniteValuesAreNotMissingOnes) {
  DatasetParts data = oracle::random_classes(6, 3, 2, 1);
  data.dense(2, 1) = kInfinity;
  EXPECT_THROW((void)check_values(data, {}), BadInput);
  EXPECT_THROW((void)check_values(data, {.missing = MissingPolicy::kMean}), BadInput);
  EXPECT_EQ(check_values(data, {.missing = MissingPolicy::kDrop}).rows(), 5);
  EXPECT_THROW((void)check_values(oracle::as_sparse(data), {}), BadInput);
}

TEST(CheckValues, PointsAtTheFirstInfiniteValueAndCountsThemAll) {
  DatasetParts data = oracle::random_classes(6, 3, 2, 1);
  data.dense(2, 1) = kInfinity;
  const auto message = [&] {
    try {
      (void)check_values(data, {});
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message().find("1 value that no finite double holds in 1 column: x1 (1)"), std::string::npos)
      << message();
  data.dense(4, 2) = -kInfinity;
  data.first_infinite =
      InfiniteCell{.where = {.file = "t.csv", .line = 4, .column = 2, .place = {}}, .text = "1e400"};
  EXPECT_TRUE(message().starts_with("t.csv:4:2: '1e400' is too large for a double (2 values")) << message();
}

TEST(Preparation, ARestrictedOneDoesTheSameToTheColumnsItKnows) {
  for (const bool sparse : {false, true}) {
    const DatasetParts training = sparse ? oracle::as_sparse(with_gaps()) : with_gaps();
    const auto whole = Preparation::learn(training, {.missing = MissingPolicy::kMean, .standardize = true});
    const std::vector<Index> chosen = {0, 2};
    Matrix rows = Dataset(training).values().columns(chosen);
    whole.restricted({0, 2}).apply_to(rows);
    EXPECT_EQ(rows, whole.apply(training).values().columns(chosen));
  }
}

TEST(CheckValues, ExcludedColumnsMayHaveGaps) {
  const DatasetParts checked = check_values(with_gaps(), {}, {"x0", "x2"}).parts();
  EXPECT_TRUE(checked.dense.allFinite());
  EXPECT_EQ(checked.dense.col(1), with_gaps().dense.col(1));
  EXPECT_THROW((void)check_values(with_gaps(), {}, {"x0"}), BadInput) << "x2 still has one";
}

TEST(CheckValues, RowsOfWeightZeroLeave) {
  DatasetParts data = oracle::random_classes(4, 2, 2, 1);
  data.weights = Vector::Ones(4);
  data.weights[2] = 0.0;
  EXPECT_EQ(check_values(data, {}).rows(), 3);
  data.weights.setZero();
  EXPECT_THROW((void)check_values(data, {}), BadInput);
}

TEST(Preparation, PutsTrainingMeansIntoOtherRows) {
  const DatasetParts training = with_gaps();
  DatasetParts other = oracle::random_classes(2, 3, 2, 9);
  other.dense(0, 0) = kNaN;
  const auto preparation = Preparation::learn(training, {.missing = MissingPolicy::kMean});
  const double mean =
      (training.dense(0, 0) + training.dense(2, 0) + training.dense(3, 0) + training.dense(5, 0)) / 4.0;
  EXPECT_NEAR(preparation.apply(other).values().packed()(0, 0), mean, 1e-14);
  EXPECT_EQ(preparation.apply(other).values().packed()(1, 0), other.dense(1, 0));
}

TEST(Preparation, StandardizesToUnitVarianceAlsoAfterImputationAndUnderWeights) {
  DatasetParts data = with_gaps();
  data.dense.col(1).setConstant(3.0);
  const PrepareOptions options{.missing = MissingPolicy::kMean, .standardize = true};
  const DatasetParts out = Preparation::learn(data, options).apply(data).parts();
  for (const Index j : {0, 2}) {
    EXPECT_NEAR(out.dense.col(j).mean(), 0.0, 1e-14);
    EXPECT_NEAR(out.dense.col(j).squaredNorm() / 6.0, 1.0, 1e-14);
  }
  EXPECT_EQ(out.dense.col(1).norm(), 0.0) << "a constant column is only centred";

  data = oracle::random_classes(6, 2, 2, 3);
  const std::vector<int> times = {1, 2, 1, 3, 1, 2};
  const auto many = Preparation::learn(oracle::repeated(data, times), {.standardize = true});
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 6).cast<double>();
  const auto weighted = Preparation::learn(data, {.standardize = true});
  EXPECT_LT((many.scale - weighted.scale).norm() + (many.centre - weighted.centre).norm(), 1e-13);
}

TEST(Preparation, StandardizesColumnsWhoseSquaresOverflowOrVanish) {
  const DatasetParts data = oracle::random_classes(20, 3, 2, 5);
  const DatasetParts plain = Preparation::learn(data, {.standardize = true}).apply(data).parts();
  DatasetParts scaled = data;
  scaled.dense.col(0) *= 0x1p+700;
  scaled.dense.col(1) *= 0x1p-700;
  EXPECT_EQ(Preparation::learn(scaled, {.standardize = true}).apply(scaled).values().packed(), plain.dense);
}

TEST(Preparation, StandardizesValuesWhoseSquaresOverflowOrVanish) {
  const DatasetParts plain = oracle::random_classes(20, 3, 2, 4);
  const DatasetParts expected = Preparation::learn(plain, {.standardize = true}).apply(plain).parts();
  for (const double factor : {1e300, 1e-300, 1e160, 1e-170}) {
    DatasetParts data = plain;
    data.dense *= factor;
    const DatasetParts out = Preparation::learn(data, {.standardize = true}).apply(data).parts();
    EXPECT_LT((out.dense - expected.dense).cwiseAbs().maxCoeff(), 1e-12) << factor;
    const auto sparse = Preparation::learn(oracle::as_sparse(data), {.standardize = true});
    EXPECT_LT((sparse.scale / factor - Preparation::learn(plain, {.standardize = true}).scale).norm(), 1e-12);
  }
}

TEST(Preparation, ScalesSparseTablesWithoutCentringThem) {
  DatasetParts data = oracle::random_classes(30, 4, 2, 3);
  data.dense = (data.dense.array() < 0.5).select(0.0, data.dense);
  const auto dense = Preparation::learn(data, {.standardize = true});
  const auto sparse = Preparation::learn(oracle::as_sparse(data), {.standardize = true});
  EXPECT_LT((dense.scale - sparse.scale).norm(), 1e-13);
  EXPECT_EQ(sparse.centre.size(), 0);
  const DatasetParts out = sparse.apply(oracle::as_sparse(data)).parts();
  EXPECT_LT((Matrix(out.sparse) - data.dense * dense.scale.cwiseInverse().asDiagonal()).norm(), 1e-12);
}

/// The value in the middle when a row of weight w stands there w times.
double median_of_repeats(const Vector& values, const std::vector<int>& times) {
  std::vector<double> all;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    for (int t = 0; t < times[static_cast<std::size_t>(i)]; ++t) all.push_back(values[i]);
  }
  std::sort(all.begin(), all.end());
  const std::size_t middle = all.size() / 2;
  return all.size() % 2 == 1 ? all[middle] : 0.5 * (all[middle - 1] + all[middle]);
}

TEST(Preparation, TheMedianFillsGapsAsIfRowsOfWeightTwoStoodTwice) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    DatasetParts data = oracle::random_classes(11, 3, 2, seed);
    data.dense(2, 0) = kNaN;
    data.dense(7, 1) = kNaN;
    const std::vector<int> times = {1, 2, 3, 1, 1, 2, 1, 4, 1, 2, static_cast<int>(seed % 3) + 1};
    data.weights.resize(11);
    for (Index i = 0; i < 11; ++i) data.weights[i] = times[static_cast<std::size_t>(i)];
    for (const DatasetParts& table : {data, oracle::as_sparse(data)}) {
      const auto learned = Preparation::learn(table, {.missing = MissingPolicy::kMedian});
      for (Index j = 0; j < 3; ++j)
        EXPECT_DOUBLE_EQ(learned.imputation[j], median_of_repeats(data.dense.col(j), times)) << seed;
    }
  }
}

TEST(Preparation, StandardizesWhatTheMedianFilled) {
  DatasetParts data = with_gaps();
  const PrepareOptions options{.missing = MissingPolicy::kMedian, .standardize = true};
  const Dataset prepared = Preparation::learn(data, options).apply(data);
  for (Index j = 0; j < 3; ++j) {
    const Vector column = prepared.values().column(j);
    EXPECT_NEAR(column.mean(), 0.0, 1e-14);
    EXPECT_NEAR(column.squaredNorm() / 6.0, 1.0, 1e-14);
  }
}

TEST(Preparation, BendsByMediansAsTheFormulaSays) {
  DatasetParts data = oracle::random_classes(21, 4, 2, 5);
  data.dense.col(1) = (3.0 * data.dense.col(1).array()).exp();
  data.dense.col(2).setConstant(3.0);
  data.dense(4, 2) = 7.0;  // all but one are one value: there is nothing to bend
  const Dataset table(data);
  const Dataset bent = Preparation::bending(table).apply(table);
  const std::vector<int> once(21, 1);
  for (const Index j : {0, 1, 3}) {
    const Vector x = data.dense.col(j);
    const double median = median_of_repeats(x, once);
    const Vector away = (x.array() - median).abs();
    const double spread = 2.0 * 1.4826 * median_of_repeats(away, once);
    const Vector expected = ((x.array() - median) / spread).unaryExpr([](double z) { return std::asinh(z); });
    EXPECT_LT((bent.values().column(j) - expected).norm(), 1e-13) << j;
  }
  EXPECT_EQ(bent.values().column(2), data.dense.col(2));
  // Neither units nor a part of the columns change it; values near the largest double stay finite.
  const Preparation part = Preparation::bending(table, {1, 3});
  EXPECT_EQ(part.apply(table).values().column(1), bent.values().column(1));
  EXPECT_EQ(part.apply(table).values().column(0), data.dense.col(0));
  DatasetParts scaled = data;
  scaled.dense.col(0) *= 1e200;
  scaled.dense(3, 3) = 1e308;
  scaled.dense(4, 3) = -1e308;
  const Dataset far(scaled);
  const Dataset bent_far = Preparation::bending(far).apply(far);
  EXPECT_LT((bent_far.values().column(0) - bent.values().column(0)).norm(), 1e-12);
  EXPECT_TRUE(bent_far.values().column(3).allFinite());
}

TEST(Preparation, BendsCountsByTheDistanceOfThoseThatAreNotWhereMostAre) {
  DatasetParts data = oracle::random_classes(9, 3, 2, 5);
  data.dense.setZero();
  data.dense.col(0) << 0, 3, 0, 1, 0, 40, 0, 0, 2;
  data.dense.col(1) << 5, 5, 0, 5, 0, 0, 5, 5, 5;  // two values
  data.dense.col(2) << 1, 0, 4, 3, 2, 2, 0, 8, 1;  // zero is rare, and stays zero where it is left out
  const Dataset dense(data), sparse(oracle::as_sparse(data));
  const auto bend = [](double spread) { return [spread](double x) { return std::asinh(x / spread); }; };
  const Dataset bent = Preparation::bending(dense).apply(dense);
  EXPECT_LT((bent.values().column(0) - data.dense.col(0).unaryExpr(bend(0.5 * 2.5))).norm(), 1e-14)
      << "half the median of 1, 2, 3 and 40";
  EXPECT_EQ(bent.values().column(1), data.dense.col(1));
  const DatasetParts both = Preparation::bending(sparse).apply(sparse).parts();
  EXPECT_EQ(both.sparse.nonZeros(), oracle::as_sparse(data).sparse.nonZeros());
  const Matrix found(both.sparse);
  EXPECT_LT((found.col(0) - bent.values().column(0)).norm(), 1e-14);
  EXPECT_LT((found.col(2) - data.dense.col(2).unaryExpr(bend(0.5 * 2.0))).norm(), 1e-14);
  // New rows, which come dense, and units.
  Matrix rows = data.dense;
  Preparation::bending(sparse).apply_to(rows);
  EXPECT_LT((rows - found).norm(), 1e-14);
  data.dense.col(0) *= 1e-200;
  const Dataset tiny(data);
  EXPECT_LT((Preparation::bending(tiny).apply(tiny).values().column(0) - bent.values().column(0)).norm(),
            1e-12);
}

TEST(Preparation, BendingCountsWeightsAndComesAfterGapsAndScales) {
  DatasetParts data = oracle::random_classes(11, 3, 2, 6);
  data.weights.resize(11);
  for (Index i = 0; i < 11; ++i) data.weights[i] = static_cast<double>(1 + i % 3);
  std::vector<int> times;
  for (Index i = 0; i < 11; ++i) times.push_back(static_cast<int>(1 + i % 3));
  const auto learned = Preparation::learn(data, {.transform = Transform::kAsinh});
  for (Index j = 0; j < 3; ++j)
    EXPECT_DOUBLE_EQ(learned.median[j], median_of_repeats(data.dense.col(j), times));
  data.dense(2, 0) = kNaN;
  const Dataset table(data);
  const PrepareOptions first{.missing = MissingPolicy::kMean, .standardize = true};
  PrepareOptions both = first;
  both.transform = Transform::kAsinh;
  const Dataset step = Preparation::learn(table, first).apply(table);
  EXPECT_EQ(Preparation::learn(table, both).apply(table).values().packed(),
            Preparation::bending(step).apply(step).values().packed());
  EXPECT_FALSE(Preparation::learn(table, {.missing = MissingPolicy::kMean}).spread.size() > 0);
}

TEST(CheckValues, AnIndicatorSaysWhereValuesAreMissing) {
  DatasetParts data = with_gaps();
  for (const DatasetParts& table : {data, oracle::as_sparse(data)}) {
    const Dataset checked = check_values(table, {.missing = MissingPolicy::kIndicator});
    ASSERT_EQ(checked.features(), 5);
    EXPECT_EQ(checked.names()[3], "x0 is missing");
    EXPECT_EQ(checked.names()[4], "x2 is missing");
    EXPECT_EQ(checked.values().column(3), (Vector(6) << 0, 1, 0, 0, 1, 0).finished());
    EXPECT_EQ(checked.values().column(4), (Vector(6) << 0, 0, 0, 0, 1, 0).finished());
    EXPECT_EQ(checked.details().derived,
              (std::vector<DerivedFeature>{{.name = "x0 is missing", .column = "x0"},
                                           {.name = "x2 is missing", .column = "x2"}}));
    const auto learned = Preparation::learn(checked, {.missing = MissingPolicy::kIndicator});
    const auto means = Preparation::learn(table, {.missing = MissingPolicy::kMean});
    EXPECT_EQ(Vector(learned.imputation.head(3)), means.imputation);
  }
  DatasetParts whole = oracle::random_classes(6, 3, 2, 1);
  EXPECT_EQ(check_values(whole, {.missing = MissingPolicy::kIndicator}).features(), 3);
}

TEST(CheckValues, FeaturesOfOneCategoryShareTheirIndicator) {
  DatasetParts data = with_gaps();
  data.names = FeatureNames(std::vector<std::string>{"s=b", "a", "s=c"});
  data.dense(1, 2) = kNaN;
  data.derived = {{.name = "s=b", .column = "s", .value = "b"}, {.name = "s=c", .column = "s", .value = "c"}};
  const Dataset checked = check_values(data, {.missing = MissingPolicy::kIndicator});
  ASSERT_EQ(checked.features(), 4);
  EXPECT_EQ(checked.names()[3], "s is missing");
}

}  // namespace
}  // namespace subspectra
