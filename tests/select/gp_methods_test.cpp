#include "select/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include <subspectra/rankers.hpp>
#include "classify/gp.hpp"
#include "io/read.hpp"
#include "oracle.hpp"
#include "report/json.hpp"
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
    const Vector centred = data.dense.col(d).array() - data.dense.col(d).mean();
    const double square = 2.0 * centred.squaredNorm() / 60.0;  // of the distance of two rows, in the mean
    double mean = 0.0;
    for (const auto& machine : rule.machines) {
      const double l = machine.kernel.lengthscales[d];
      if (square >= 1e-4 * l * l) mean += std::pow(l, -2.0) / 3.0;
    }
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

std::size_t warnings_with(const Selection& selection, std::string_view words) {
  return static_cast<std::size_t>(
      std::count_if(selection.warnings.begin(), selection.warnings.end(),
                    [&](const std::string& text) { return text.find(words) != std::string::npos; }));
}

TEST(GpArd, TellsTheProcessItFitted) {
  DatasetParts data = circle(60, 5, 7);
  data.dense.col(4).setConstant(2.0);  // no candidate
  const Selection selection = run(data, {}, {.k = {1, 2}});
  ASSERT_TRUE(selection.gaussian_process);
  const GaussianProcessReport& process = *selection.gaussian_process;
  EXPECT_EQ(process.features, (std::vector<Index>{0, 1, 2, 3}));
  ASSERT_EQ(process.machines.size(), 1U);
  const auto& machine = process.machines.front();
  EXPECT_EQ(machine.positive, data.labels->classes[1]);
  ASSERT_EQ(machine.lengthscales.size(), 4U);
  Vector y(60);
  for (Index i = 0; i < 60; ++i) y[i] = data.labels->codes[static_cast<std::size_t>(i)] == 1 ? 1.0 : -1.0;
  const GpEvidence same =
      gp_evidence(data.dense.leftCols(4), y,
                  {.lengthscales = oracle::as_vector(machine.lengthscales), .signal = machine.signal},
                  GpApproximation::kLaplace);
  EXPECT_NEAR(same.posterior.log_marginal_likelihood, machine.log_marginal_likelihood, 1e-9);
  EXPECT_EQ(process.log_marginal_likelihood, machine.log_marginal_likelihood);
  EXPECT_DOUBLE_EQ(selection.weights[1], 1.0 / machine.lengthscales[1]);
  const auto json = selection_json(selection, data, {.options = nlohmann::json::object()});
  const auto& told = json["gaussian_process"];
  EXPECT_EQ(told["machines"][0]["signal"], machine.signal);
  EXPECT_EQ(told["machines"][0]["lengthscales"], machine.lengthscales);
  EXPECT_EQ(told["log_marginal_likelihood"], json["options"]["log_marginal_likelihood"]);
  EXPECT_TRUE(json["options"]["signal"].is_null());  // what was asked for: the run can be repeated
  EXPECT_EQ(run(oracle::random_classes(45, 3, 3, 8), {}, {.k = 1}).gaussian_process->machines.size(), 3U);
}

TEST(GpArd, FeaturesThatCannotBeToldApartGoByIndex) {
  DatasetParts data = circle(90, 7, 9);
  data.dense.col(5) = data.dense.col(1);  // a copy, and one in another unit
  data.dense.col(6) = -data.dense.col(3);
  const Selection selection = run(data, {}, {.k = {1, 7}});
  EXPECT_EQ(selection.weights[1] > 0.0, selection.weights[5] > 0.0);
  ASSERT_EQ(selection.ranking.size(), 7U);
  const auto place = [&](Index feature) {
    return std::find(selection.ranking.begin(), selection.ranking.end(), feature) - selection.ranking.begin();
  };
  EXPECT_EQ(place(5), place(1) + 1);
  EXPECT_EQ(place(6), place(3) + 1);
  // What does not matter has no weight at all, and stands in order.
  std::vector<Index> nothing;
  for (const Index j : selection.ranking) {
    if (selection.weights[j] == 0.0) nothing.push_back(j);
  }
  EXPECT_FALSE(nothing.empty());
  EXPECT_TRUE(std::is_sorted(nothing.begin(), nothing.end()));
}

TEST(GpArd, SaysWhereItFoundNoOptimum) {
  const DatasetParts data = circle(60, 5, 5);
  const Selection few = run(data, {{"max_iterations", "2"}}, {.k = 1});
  EXPECT_EQ(few.status, Status::kIterationLimit);
  EXPECT_EQ(warnings_with(few, "are no optimum yet: after 4 gradients"), 1U);  // two a stage
  EXPECT_FALSE(few.gaussian_process->machines[0].converged);
  EXPECT_GT(few.gaussian_process->machines[0].slope, 1e-3);
  const Selection whole = run(data, {}, {.k = 1});
  EXPECT_EQ(whole.status, Status::kConverged);
  EXPECT_EQ(warnings_with(whole, "optimum"), 0U);
  EXPECT_EQ(run(data, {{"tolerance", "0"}}, {.k = 1}).status, Status::kConverged);  // to rounding
}

/// Oracle: an independent implementation (its own Laplace approximation and parallel EP, another optimizer)
/// from several starts; for Laplace the maximum that most of its 14 starts end in.
TEST(GpArd, ReachesTheLikelihoodsOfSonarThatAreKnown) {
  const auto sonar = read_dataset("sonar", {});
  for (const auto& [approximation, best] :
       std::vector<std::pair<std::string, double>>{{"laplace", -64.42293}, {"ep", -59.17163}}) {
    SCOPED_TRACE(approximation);
    const Selection selection = run(sonar, {{"approximation", approximation}}, {.k = {1, 5}});
    EXPECT_EQ(selection.status, Status::kConverged);
    EXPECT_NEAR(selection.gaussian_process->log_marginal_likelihood, best, 1e-3);
    EXPECT_LE(selection.gaussian_process->machines[0].signal, 100.0);
  }
}

}  // namespace
}  // namespace subspectra::gp_methods_test
