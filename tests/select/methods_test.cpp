#include "select/registry.hpp"
#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "filters/filters.hpp"
#include "io/read.hpp"
#include "oracle.hpp"

namespace subspectra::methods_test {
namespace {

Selection run(const Dataset& data, SelectOptions options, std::string_view method = "fisher") {
  return select_features(data, MethodRegistry::from_texts(method, {}), options, RunControl());
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

/// Oracle: eigenvalues of the dense pair on the set, straight from the definition.
double naive_objective(const DatasetParts& data, const std::vector<Index>& set, Criterion criterion,
                       const RidgeAmount& ridge) {
  auto scatter = oracle::scatter(data.dense(Eigen::all, set), data.labels->codes, data.labels->class_count());
  scatter.within.diagonal() *= 1.0 + ridge.fraction;
  scatter.within.diagonal().array() += ridge.value;
  const Vector values = oracle::generalized_eigenvalues(scatter.between, scatter.within).cwiseMax(0.0);
  if (criterion == Criterion::kLargest) return values[0];
  return criterion == Criterion::kTrace ? values.sum() : values.array().log1p().sum();
}

TEST(Select, PathIsNestedAndItsObjectivesAgreeWithDenseEigenvalues) {
  for (const int classes : {2, 3, 6}) {
    for (const Criterion criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
      SCOPED_TRACE(classes);
      const DatasetParts data = oracle::random_classes(70, 12, classes, 3);
      const auto selection = run(data, {.k = {1, 12}, .criterion = criterion});
      ASSERT_EQ(selection.sets().size(), 12U);
      EXPECT_EQ(selection.status, Status::kHeuristic);
      for (const auto& entry : selection.sets()) {
        EXPECT_TRUE(std::is_sorted(entry.features.begin(), entry.features.end()));
        std::vector<Index> first(selection.ranking.begin(), selection.ranking.begin() + entry.k());
        std::sort(first.begin(), first.end());
        EXPECT_EQ(entry.features, first);
        const double expected = naive_objective(data, entry.features, criterion, selection.ridge);
        EXPECT_NEAR(entry.objective, expected, 1e-10 * expected);
        const auto scatter =
            oracle::scatter(data.dense(Eigen::all, entry.features), data.labels->codes, classes);
        const Matrix identity = entry.loadings.view().transpose() * scatter.within * entry.loadings.view();
        EXPECT_LT((identity - Matrix::Identity(identity.rows(), identity.cols())).norm(), 1e-9);
      }
    }
  }
}

TEST(Select, ReachesTheKnownValuesOfSonarAndIonosphere) {
  // All features, objective 1/(RSS/TSS) - 1 of a regression on the label, computed elsewhere.
  EXPECT_NEAR(run(read_dataset("sonar"), {.k = {60, 60}}).sets().back().objective, 1.639475, 1e-6);
  const auto ionosphere = run(read_dataset("ionosphere"), {.k = {33, 33}});
  EXPECT_EQ(ionosphere.sets().back().k(), 33);
  ASSERT_FALSE(ionosphere.warnings.empty());
  EXPECT_NE(ionosphere.warnings.front().find("V2"), std::string::npos) << "the constant column is named";
}

TEST(Select, IncludedFeaturesComeFirstAndExcludedOnesNever) {
  const DatasetParts data = oracle::random_classes(50, 8, 2, 4);
  const auto selection = run(data, {.k = {1, 6}, .include = {"x7", "x5"}, .exclude = {"x0"}});
  ASSERT_EQ(selection.sets().front().k(), 2);
  for (const auto& entry : selection.sets()) {
    EXPECT_TRUE(std::binary_search(entry.features.begin(), entry.features.end(), 5));
    EXPECT_TRUE(std::binary_search(entry.features.begin(), entry.features.end(), 7));
    EXPECT_FALSE(std::binary_search(entry.features.begin(), entry.features.end(), 0));
  }
}

TEST(Select, ConstraintsThatNoSetSatisfiesAreInfeasible) {
  DatasetParts data = oracle::random_classes(50, 5, 2, 5);
  data.dense.col(4).setConstant(1.0);
  EXPECT_THROW(run(data, {.include = {"x1"}, .exclude = {"x1"}}), Infeasible);
  EXPECT_THROW(run(data, {.k = {1, 1}, .include = {"x1", "x2"}}), Infeasible);
  EXPECT_THROW(run(data, {.include = {"x4"}}), Infeasible);
  EXPECT_THROW(run(data, {.k = {5, 5}}), Infeasible) << "only four columns vary";
  EXPECT_THROW(run(data, {.k = {1, 6}}), InvalidArgument) << "there are five columns";
  EXPECT_NE(message_of([&] { run(data, {.include = {"y1"}}); }).find("x1"), std::string::npos)
      << "near names";
}

TEST(Select, DependentFeaturesArePassedOverAndTheRankLimitIsSaid) {
  DatasetParts data = oracle::random_classes(50, 5, 2, 6);
  data.dense.col(1) = data.dense.col(0);  // a duplicate
  const auto selection = run(data, {.k = {1, 5}, .ridge = {0.0}});
  EXPECT_EQ(selection.status, Status::kRankLimit);
  EXPECT_EQ(selection.sets().back().k(), 4);
  EXPECT_TRUE(
      std::any_of(selection.warnings.begin(), selection.warnings.end(), [](const std::string& warning) {
        return warning.find("1 feature depends linearly") != std::string::npos &&
               warning.find("x1") != std::string::npos;
      }));
  // With the automatic ridge both copies can be chosen.
  const auto ridged = run(data, {.k = {1, 5}});
  EXPECT_GT(ridged.ridge.fraction, 0.0);
  EXPECT_EQ(ridged.sets().back().k(), 5);
}

TEST(Select, MoreFeaturesThanRowsWorksWithTheAutomaticRidge) {
  const DatasetParts data = oracle::random_classes(14, 60, 3, 7);
  const auto selection = run(data, {.k = {1, 40}});
  ASSERT_EQ(selection.sets().size(), 40U);
  for (const auto& entry : selection.sets()) {
    const double expected = naive_objective(data, entry.features, Criterion::kWilks, selection.ridge);
    EXPECT_NEAR(entry.objective, expected, 1e-6 * expected);  // cond(B_S) up to 1e6 with this ridge
  }
}

TEST(Select, SparseAndDenseTablesGiveTheSameAnswer) {
  DatasetParts data = oracle::random_classes(60, 9, 2, 8);
  data.dense = (data.dense.array().abs() < 0.8).select(0.0, data.dense);
  for (const MethodEntry& method : MethodRegistry::entries()) {
    if (method.traits->composite) continue;  // fit and evaluate run it
    const auto dense = run(data, {.k = {1, 9}}, method.traits->name);
    const auto sparse = run(oracle::as_sparse(data), {.k = {1, 9}}, method.traits->name);
    ASSERT_EQ(dense.ranking, sparse.ranking) << method.traits->name;
    for (std::size_t i = 0; i < dense.sets().size(); ++i) {
      EXPECT_NEAR(dense.sets()[i].objective, sparse.sets()[i].objective, 1e-10);
    }
  }
}

TEST(Select, ColumnOrderAndScaleDoNotChangeWhatIsChosen) {
  const DatasetParts data = oracle::random_classes(60, 10, 2, 9);
  const std::vector<Index> order = {3, 1, 4, 0, 5, 9, 2, 6, 8, 7};
  DatasetParts shuffled = Dataset(data).with_features(order).parts();
  shuffled.dense.col(2) *= -1e6;
  const auto a = run(data, {.k = {1, 10}});
  const auto b = run(shuffled, {.k = {1, 10}});
  for (std::size_t i = 0; i < a.sets().size(); ++i) {
    std::vector<Index> back;
    for (const Index j : b.sets()[i].features) back.push_back(order[j]);
    std::sort(back.begin(), back.end());
    EXPECT_EQ(a.sets()[i].features, back);
    EXPECT_NEAR(a.sets()[i].objective, b.sets()[i].objective, 1e-9 * a.sets()[i].objective);
  }
}

TEST(Select, LabelsThatCannotServeAreRefusedWithTheWayOut) {
  DatasetParts data = oracle::random_classes(12, 3, 3, 1);
  EXPECT_NE(message_of([&] { run(data, {}, "ks"); }).find("two classes"), std::string::npos);
  data.labels->codes.assign(12, 1);
  EXPECT_NE(message_of([&] { run(data, {}); }).find("one class only"), std::string::npos);
  data.labels->codes[3] = Labels::kMissing;
  EXPECT_NE(message_of([&] { run(data, {}); }).find("MissingPolicy::kDrop"), std::string::npos);
  data.labels.reset();
  EXPECT_NE(message_of([&] { run(data, {}); }).find("target"), std::string::npos);
}

TEST(Select, AMissingLabelIsPointedAt) {
  DatasetParts data = oracle::random_classes(12, 3, 2, 1);
  data.labels->codes[3] = Labels::kMissing;
  data.first_unlabelled = Location{.file = "t.csv", .line = 5, .column = 4, .place = {}};
  const std::string message = message_of([&] { run(data, {}); });
  EXPECT_TRUE(message.starts_with("t.csv:5:4: 1 row has no label")) << message;
}

TEST(Select, OneConstantColumnIsSpokenOfInTheSingular) {
  DatasetParts data = oracle::random_classes(12, 3, 2, 1);
  data.dense.col(1).setConstant(2.0);
  const auto warnings = run(data, {}).warnings;
  ASSERT_FALSE(warnings.empty());
  EXPECT_EQ(warnings[0], "1 constant column carries nothing and is never chosen: x1");
}

TEST(Select, HugeAndTinyScalesAreHandledOrRefusedButNeverNaN) {
  for (const double scale : {1e-150, 1e150}) {
    DatasetParts data = oracle::random_classes(40, 4, 2, 2);
    data.dense *= scale;
    try {
      const Selection found = run(data, {.k = {1, 4}});
      for (const auto& entry : found.sets()) EXPECT_TRUE(std::isfinite(entry.objective));
    } catch (const BadInput& error) {
      EXPECT_NE(std::string(error.what()).find("rescale"), std::string::npos);
    }
  }
}

TEST(Methods, UnknownNamesGetNearOnes) {
  EXPECT_NE(message_of([] { (void)MethodRegistry::find("fischer"); }).find("fisher"), std::string::npos);
}

}  // namespace
}  // namespace subspectra::methods_test
