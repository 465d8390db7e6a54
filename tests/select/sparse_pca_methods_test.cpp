#include "select/select.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "io/read.hpp"
#include "oracle.hpp"
#include "pitprops.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"

namespace subspectra::sparse_pca_methods_test {
namespace {

Selection run(const Dataset& data, const SelectOptions& options, std::string_view method,
              const OptionTexts& texts = {}, const RunControl& control = RunControl()) {
  return select_features(data, MethodRegistry::from_texts(method, texts), options, control);
}
Selection run(const MatrixProblem& problem, const SelectOptions& options, std::string_view method,
              const OptionTexts& texts = {}) {
  return select_features(problem, MethodRegistry::from_texts(method, texts), options, RunControl());
}
MatrixProblem pitprops() { return {"pitprops", FeatureNames(13), oracle::pitprops(), std::nullopt}; }

const std::vector<std::vector<PathEntry>>& further(const Selection& selection) {
  return std::get<SizePath>(selection.answer).further_components;
}

double bound_named(const PathEntry& entry, std::string_view name) {
  if (!entry.bounds) return -kInfinity;
  for (const auto& [known, value] : entry.bounds->upper) {
    if (known == name) return value;
  }
  return -kInfinity;
}

TEST(SparsePcaMethods, SetsAreJudgedAsThoseOfGspcaAndNeverBeatTheProvenOnes) {
  const auto problem = pitprops();
  const auto best = run(problem, {.k = {1, 13}}, "espca");
  ASSERT_EQ(best.status, Status::kOptimal);
  for (const auto* name : {"spca", "dspca"}) {
    const auto found = run(problem, {.k = {1, 13}}, name);
    ASSERT_FALSE(found.sets().empty()) << name;
    if (std::string_view(name) == "dspca") {
      EXPECT_EQ(found.sets().size(), 13U);
    }
    for (const auto& entry : found.sets()) {
      SCOPED_TRACE(fmt::format("{} k {}", name, entry.k()));
      const double optimum = best.sets()[static_cast<std::size_t>(entry.k() - 1)].objective;
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(Matrix(problem.a(entry.features, entry.features)));
      EXPECT_NEAR(entry.objective, solver.eigenvalues().maxCoeff(), 1e-12);
      EXPECT_LE(entry.objective, optimum * (1.0 + 1e-12));
      EXPECT_GE(entry.objective, 0.85 * optimum);
      EXPECT_GE(entry.upper_bound.value_or(-1.0), optimum * (1.0 - 1e-12));
      EXPECT_NEAR(entry.loadings.view().col(0).norm(), 1.0, 1e-12);
    }
  }
}

TEST(SparsePcaMethods, APairIsRefusedAsTheyKnowNoMetric) {
  auto problem = pitprops();
  problem.b = Matrix(Vector::LinSpaced(13, 0.1, 10.0).asDiagonal());
  for (const auto* name : {"spca", "dspca"})
    EXPECT_THROW((void)run(problem, {.k = {1, 5}}, name), InvalidArgument) << name;
}

TEST(SparsePcaMethods, SizesThatNoLambdaGivesAreSaidAndNothingIsProven) {
  // Scales so far apart that one feature is all the variance there is.
  const MatrixProblem problem{"far", FeatureNames(4), Vector{{1e24, 1.0, 1e-12, 1e-24}}.asDiagonal(),
                              std::nullopt};
  const auto found = run(problem, {.k = {1, 4}}, "spca");
  if (found.sets().size() == 4) GTEST_SKIP() << "every size was found";
  EXPECT_NE(found.status, Status::kOptimal);
  EXPECT_TRUE(std::any_of(found.warnings.begin(), found.warnings.end(), [](const std::string& warning) {
    return warning.find("left out") != std::string::npos;
  }));
}

TEST(SparsePcaMethods, TablesAndTheirCovarianceAgree) {
  const auto data = oracle::random_classes(50, 9, 2, 6);
  const Matrix z = data.dense.rowwise() - data.dense.colwise().mean();
  const MatrixProblem problem{"s", FeatureNames(9), z.transpose() * z / 50.0, std::nullopt};
  for (const auto* name : {"spca", "dspca"}) {
    const auto table = run(data, {.k = {1, 9}}, name);
    const auto matrix = run(problem, {.k = {1, 9}}, name);
    ASSERT_EQ(table.sets().size(), matrix.sets().size()) << name;
    for (std::size_t i = 0; i < table.sets().size(); ++i)
      EXPECT_EQ(table.sets()[i].features, matrix.sets()[i].features) << name << " " << i;
  }
}

TEST(SparsePcaMethods, TheSdpBoundIsOfferedUnderBounds) {
  const auto problem = pitprops();
  for (const auto* name : {"gspca", "espca", "dspca"}) {
    const auto found = run(problem, {.k = {2, 6}, .bounds = true}, name);
    for (const auto& entry : found.sets()) {
      SCOPED_TRACE(fmt::format("{} k {}", name, entry.k()));
      const double bound = bound_named(entry, "sdp");
      EXPECT_GE(bound, entry.objective);
      EXPECT_LE(*entry.upper_bound, bound);
    }
  }
  const auto plain = run(problem, {.k = {2, 6}}, "gspca");
  for (const auto& entry : plain.sets()) EXPECT_NE(entry.bound, "sdp");
}

TEST(SparsePcaMethods, ComponentsFollowAndWideTablesAreSoft) {
  const auto data = oracle::random_classes(30, 80, 2, 3, 2.0, 6);
  for (const auto* name : {"spca", "dspca"}) {
    const auto found = run(data, {.k = {3, 3}, .components = 2}, name);
    ASSERT_EQ(found.sets().size(), 1U) << name;
    ASSERT_EQ(further(found).size(), 1U) << name;
    EXPECT_EQ(further(found)[0].size(), 1U) << name;
  }
  EXPECT_EQ(record_of(run(data, {.k = {3, 3}}, "spca"))["l2"], "inf");
  EXPECT_EQ(record_of(run(oracle::random_classes(30, 8, 2, 3), {.k = {3, 3}}, "spca"))["l2"], 1e-6);
}

TEST(SparsePcaMethods, GivenPenaltiesFixTheSize) {
  const auto problem = pitprops();
  const auto by_rho = run(problem, {}, "dspca", {{"rho", "0.3"}});
  EXPECT_TRUE(by_rho.size_fixed);
  ASSERT_EQ(by_rho.sets().size(), 1U);
  EXPECT_LT(by_rho.sets()[0].k(), 13);
  const auto by_lambda = run(problem, {}, "spca", {{"lambda", "2"}});
  EXPECT_TRUE(by_lambda.size_fixed);
  ASSERT_EQ(by_lambda.sets().size(), 1U);
  const auto nothing = run(problem, {}, "spca", {{"lambda", "1e6"}});
  EXPECT_TRUE(nothing.sets().empty());
  EXPECT_EQ(nothing.warnings.size(), 1U);
}

TEST(SparsePcaMethods, IncludeAndRefusals) {
  const auto problem = pitprops();
  const auto with = run(problem, {.k = {2, 4}, .include = {"x12"}}, "dspca");
  for (const auto& entry : with.sets())
    EXPECT_TRUE(std::binary_search(entry.features.begin(), entry.features.end(), Index{12}));
  EXPECT_THROW((void)run(problem, {.include = {"x12"}}, "spca"), InvalidArgument);
  EXPECT_THROW((void)run(problem, {}, "spca", {{"lambda", "cv"}}), InvalidArgument);
  EXPECT_THROW((void)run(problem, {}, "spca", {{"lambda", "cv-min"}}), InvalidArgument);
  EXPECT_THROW((void)run(problem, {}, "spca", {{"l2", "-1"}}), InvalidArgument);
  EXPECT_THROW((void)run(problem, {}, "dspca", {{"rho", "-1"}}), InvalidArgument);
  EXPECT_THROW((void)run(problem, {}, "dspca", {{"tolerance", "2"}}), InvalidArgument);
  EXPECT_THROW((void)run(problem, {}, "dspca", {{"max_iterations", "0"}}), InvalidArgument);
}

TEST(SparsePcaMethods, StoppedTheyHaveSetsAndValidBounds) {
  const auto data = read_dataset("sonar");
  std::stop_source source;
  source.request_stop();
  for (const auto* name : {"spca", "dspca"}) {
    const auto found = run(data, {.k = {5, 5}}, name, {}, RunControl(source.get_token(), kInfinity));
    EXPECT_EQ(found.status, Status::kInterrupted) << name;
    for (const auto& entry : found.sets()) EXPECT_GE(*entry.upper_bound, entry.objective) << name;
  }
  EXPECT_EQ(run(data, {.k = {5, 5}}, "dspca", {{"max_iterations", "2"}}).status, Status::kIterationLimit);
}

TEST(SparsePcaMethods, ThreadsDoNotMatter) {
  const auto data = read_dataset("ionosphere");
  for (const auto* name : {"spca", "dspca"}) {
    const auto one = run(data, {.k = {4, 6}, .threads = 1}, name);
    const auto two = run(data, {.k = {4, 6}, .threads = 2}, name);
    ASSERT_EQ(one.sets().size(), two.sets().size());
    for (std::size_t i = 0; i < one.sets().size(); ++i) {
      EXPECT_EQ(one.sets()[i].features, two.sets()[i].features);
      EXPECT_EQ(one.sets()[i].objective, two.sets()[i].objective);
      EXPECT_EQ(one.sets()[i].upper_bound, two.sets()[i].upper_bound);
    }
  }
}

}  // namespace
}  // namespace subspectra::sparse_pca_methods_test
