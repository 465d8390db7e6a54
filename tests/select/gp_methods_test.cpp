#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include <subspectra/rankers.hpp>
#include "classify/gp.hpp"
#include "oracle.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"

namespace subspectra::gp_methods_test {
namespace {

Selection run(const Dataset& data, const OptionTexts& texts = {}, const SelectOptions& options = {},
              const RunControl& control = RunControl()) {
  return select_features(data, MethodRegistry::from_texts("gp-ard", texts), options, control);
}

/// Two classes that a circle separates: no single feature and no plane tells them apart.
DatasetParts circle(Index rows, Index features, std::uint64_t seed) {
  DatasetParts data = oracle::random_classes(rows, features, 2, seed, 0.0);
  for (Index i = 0; i < rows; ++i) {
    const double radius = std::hypot(data.dense(i, 1), data.dense(i, 3));
    data.labels->codes[static_cast<std::size_t>(i)] = radius > 1.18 ? 1 : 0;  // half of the rows
  }
  return data;
}

TEST(GpArd, RanksByInverseLengthScaleAndFindsWhatNoLineSeparates) {
  const DatasetParts data = circle(90, 6, 2);
  for (const char* approximation : {"laplace", "ep"}) {
    SCOPED_TRACE(approximation);
    const Selection selection = run(data, {{"approximation", approximation}}, {.k = {1, 4}});
    ASSERT_EQ(selection.weights.size(), 6);
    ASSERT_EQ(selection.ranking.size(), 6U);
    EXPECT_EQ(std::min(selection.ranking[0], selection.ranking[1]), 1);
    EXPECT_EQ(std::max(selection.ranking[0], selection.ranking[1]), 3);
    for (std::size_t i = 1; i < 6; ++i)
      EXPECT_GE(selection.weights[selection.ranking[i - 1]], selection.weights[selection.ranking[i]]);
    ASSERT_EQ(selection.sets().size(), 4U);
    EXPECT_EQ(selection.status, Status::kConverged);
    EXPECT_LT(record_of(selection)["log_marginal_likelihood"].get<double>(), 0.0);
  }
}

TEST(GpArd, FixedLengthScalesAreTheWeights) {
  DatasetParts data = oracle::random_classes(30, 4, 2, 3);
  data.dense.col(1).setConstant(5.0);  // no candidate
  const Selection selection =
      run(data, {{"hyperparameters", "fixed"}, {"lengthscale", "4,0.5,2"}, {"signal", "1.5"}}, {.k = {1, 3}});
  EXPECT_DOUBLE_EQ(selection.weights[0], 0.25);
  EXPECT_DOUBLE_EQ(selection.weights[1], 0.0);
  EXPECT_DOUBLE_EQ(selection.weights[2], 2.0);
  EXPECT_DOUBLE_EQ(selection.weights[3], 0.5);
  EXPECT_EQ(selection.ranking, (std::vector<Index>{2, 3, 0}));
  const GpEvidence same = gp_evidence(
      data.dense(Eigen::all, std::vector<Index>{0, 2, 3}),
      [&] {
        Vector y(30);
        for (Index i = 0; i < 30; ++i) y[i] = i % 2 == 1 ? 1.0 : -1.0;
        return y;
      }(),
      {.lengthscales = Eigen::Vector3d(4.0, 0.5, 2.0), .signal = 1.5}, GpApproximation::kLaplace);
  EXPECT_NEAR(record_of(selection)["log_marginal_likelihood"].get<double>(),
              same.posterior.log_marginal_likelihood, 1e-9);
}

TEST(GpArd, SeveralClassesAreCombinedByTheMeanOfInverseSquares) {
  const DatasetParts data = oracle::random_classes(60, 4, 3, 4, 2.0, 1);
  const Selection selection = run(data, {}, {.k = {1, 2}});
  EXPECT_EQ(selection.ranking.front(), 0);
  const GpRule rule = fit_gp(data.dense, data.labels->codes, 3, GpArd{});
  ASSERT_EQ(rule.machines.size(), 3U);
  for (Index d = 0; d < 4; ++d) {
    double mean = 0.0;
    for (const auto& machine : rule.machines) mean += std::pow(machine.kernel.lengthscales[d], -2.0) / 3.0;
    EXPECT_NEAR(selection.weights[d], std::sqrt(mean), 1e-9 * selection.weights[d]);
  }
}

TEST(GpArd, StopsAtOnceWithARanking) {
  std::stop_source source;
  source.request_stop();
  const Selection selection =
      run(circle(60, 5, 5), {}, {.k = {1, 2}}, RunControl(source.get_token(), kInfinity));
  EXPECT_EQ(selection.status, Status::kInterrupted);
  EXPECT_EQ(selection.ranking.size(), 5U);
}

TEST(GpArd, RefusesWeightsAndWrongOptions) {
  DatasetParts data = oracle::random_classes(30, 4, 2, 6);
  EXPECT_THROW((void)run(data, {{"lengthscale", "1,2"}}), InvalidArgument);
  EXPECT_THROW((void)run(data, {{"signal", "0"}}), InvalidArgument);
  EXPECT_THROW((void)run(data, {{"approximation", "exact"}}), InvalidArgument);
  EXPECT_THROW((void)run(data, {}, {.memory_limit = {2000}}), Error);
  data.weights = Vector::LinSpaced(30, 1.0, 2.0);
  EXPECT_THROW((void)run(data), InvalidArgument);
}

}  // namespace
}  // namespace subspectra::gp_methods_test
