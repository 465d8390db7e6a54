#include "svm/rfe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <subspectra/error.hpp>
#include "classify/row_map.hpp"
#include "classify/svm.hpp"
#include "oracle.hpp"

namespace subspectra {
namespace {

RfeResult run(const DatasetParts& data, const SvmRfe& options, RfeForm form = RfeForm::kAuto,
              std::vector<char> keep = {}, int threads = 0) {
  keep.resize(static_cast<std::size_t>(data.features()), 0);
  return svm_rfe(standardize_rows(data.dense).z, data.labels->codes, keep, options, threads, {},
                 {.form = form});
}

/// Oracle: LIBLINEAR, by fit_svm, trained anew on every set; one feature leaves at a time.
std::vector<Index> plain_loop(const DatasetParts& data, double cost) {
  std::vector<Index> left(static_cast<std::size_t>(data.features())), gone;
  std::iota(left.begin(), left.end(), Index{0});
  while (!left.empty()) {
    const Matrix part = data.dense(Eigen::all, left);
    const SvmRule rule = fit_svm(part, data.labels->codes, data.labels->class_count(), {}, {.C = cost});
    const Vector mean = part.colwise().mean();
    Vector scores(part.cols());
    for (Index j = 0; j < part.cols(); ++j) {
      const double variance = (part.col(j).array() - mean[j]).square().mean();
      scores[j] = rule.weights.row(j).squaredNorm() * variance;
    }
    Index worst = 0;
    scores.minCoeff(&worst);
    gone.push_back(left[static_cast<std::size_t>(worst)]);
    left.erase(left.begin() + worst);
  }
  std::reverse(gone.begin(), gone.end());
  return gone;
}

TEST(SvmRfe, OneAtATimeIsThePlainLoopWithLiblinear) {
  for (const int classes : {2, 5}) {
    for (const Index features : {8, 40}) {  // fewer and more than the 30 rows
      for (const double cost : {0.05, 1.0}) {
        SCOPED_TRACE(::testing::Message() << classes << " classes, " << features << " features, C " << cost);
        const DatasetParts data = oracle::random_classes(30, features, classes, 5);
        EXPECT_EQ(run(data, {.C = cost, .rfe_step = 1.0}).ranking, plain_loop(data, cost));
      }
    }
  }
}

TEST(SvmRfe, RowsAndProductsGiveTheSameRanking) {
  for (const int classes : {2, 5}) {
    for (const Index features : {10, 90}) {
      for (const double step : {1.0, 7.0, 0.5}) {
        const DatasetParts data = oracle::random_classes(40, features, classes, 7);
        const SvmRfe options{.C = 0.3, .rfe_step = step, .rfe_single = 16};
        const RfeResult a = run(data, options, RfeForm::kRows), b = run(data, options, RfeForm::kProducts),
                        c = run(data, options);
        EXPECT_EQ(a.ranking, b.ranking);
        EXPECT_EQ(a.ranking, c.ranking);
        EXPECT_LT((a.weights - b.weights).cwiseAbs().maxCoeff(), 1e-9 * a.weights.maxCoeff());
        ASSERT_EQ(a.objectives.size(), b.objectives.size());
        for (std::size_t i = 0; i < a.objectives.size(); ++i)
          EXPECT_NEAR(a.objectives[i], b.objectives[i], 1e-9 * a.objectives[i]);
      }
    }
  }
}

TEST(SvmRfe, AShareLeavesDownToTheSizeFromWhichOneLeavesAtATime) {
  const DatasetParts data = oracle::random_classes(20, 100, 2, 1);
  const auto sizes = run(data, {.C = 1.0, .rfe_step = 0.5, .rfe_single = 20}).sizes;
  const std::vector<Index> expected = {100, 50, 25, 20, 19, 18};
  ASSERT_EQ(sizes.size(), 23U);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), sizes.begin()));
  EXPECT_EQ(run(data, {.C = 1.0, .rfe_step = 30.0}).sizes, (std::vector<Index>{100, 70, 40, 10}));
  EXPECT_EQ(run(data, {.C = 1.0, .rfe_step = 0.5, .rfe_single = 0}).sizes,
            (std::vector<Index>{100, 50, 25, 12, 6, 3, 1}));
  for (const double wrong : {0.0, -1.0, 1.5, kInfinity})
    EXPECT_THROW(run(data, {.C = 1.0, .rfe_step = wrong}), InvalidArgument);
}

TEST(SvmRfe, TheInformativeFeaturesComeFirst) {
  const DatasetParts data = oracle::random_classes(80, 300, 2, 2, 2.0, 4);
  auto ranking = run(data, {.C = 0.01}).ranking;
  ranking.resize(4);
  EXPECT_EQ(std::set<Index>(ranking.begin(), ranking.end()), (std::set<Index>{0, 1, 2, 3}));
}

TEST(SvmRfe, DuplicatesLeaveByIndexKeptOnesStayAndThreadsDoNotMatter) {
  DatasetParts data = oracle::random_classes(25, 60, 3, 4);
  data.dense.col(50) = data.dense.col(1);
  data.dense.row(3) = data.dense.row(0);
  std::vector<char> keep(60, 0);
  keep[17] = keep[40] = 1;
  const RfeResult one = run(data, {.C = 0.5, .rfe_step = 1.0}, RfeForm::kAuto, keep, 1);
  const RfeResult two = run(data, {.C = 0.5, .rfe_step = 1.0}, RfeForm::kAuto, keep, 2);
  EXPECT_EQ(one.ranking, two.ranking);
  EXPECT_EQ(one.weights, two.weights);
  EXPECT_EQ(std::set<Index>(one.ranking.begin(), one.ranking.begin() + 2), (std::set<Index>{17, 40}));
  const auto place = [&](Index j) {
    return std::find(one.ranking.begin(), one.ranking.end(), j) - one.ranking.begin();
  };
  EXPECT_LT(place(50), place(1)) << "the lowest index leaves first";
}

TEST(SvmRfe, AClassOfOneAndExtremeCostsAreRanked) {
  DatasetParts data = oracle::random_classes(21, 30, 2, 9);
  for (auto& code : data.labels->codes) code = 0;
  data.labels->codes.front() = 1;
  for (const double cost : {1e-8, 1.0, 1e8}) {
    auto ranking = run(data, {.C = cost}).ranking;
    std::sort(ranking.begin(), ranking.end());
    ASSERT_EQ(ranking.size(), 30U);
    for (Index j = 0; j < 30; ++j) EXPECT_EQ(ranking[static_cast<std::size_t>(j)], j);
  }
}

TEST(SvmRfe, StoppedItRanksWhatIsLeftByTheWeightsOfNow) {
  const DatasetParts data = oracle::random_classes(21, 30, 2, 9);
  std::stop_source source;
  source.request_stop();
  const RfeResult stopped =
      svm_rfe(standardize_rows(data.dense).z, data.labels->codes, std::vector<char>(30, 0), {.C = 1.0}, 0,
              RunControl(source.get_token(), kInfinity));
  EXPECT_FALSE(stopped.complete);
  ASSERT_EQ(stopped.ranking.size(), 30U);
  for (std::size_t i = 1; i < 30; ++i)
    EXPECT_GE(stopped.weights[stopped.ranking[i - 1]], stopped.weights[stopped.ranking[i]]);
}

}  // namespace
}  // namespace subspectra
