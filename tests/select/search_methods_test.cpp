#include "select/select.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "data/groups.hpp"
#include "io/read.hpp"
#include "oracle.hpp"
#include "pencils.hpp"
#include "select/registry.hpp"
#include "spectral/deflation.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra::search_methods_test {
namespace {

Selection run(const Dataset& data, const SelectOptions& options, std::string_view method,
              const OptionTexts& texts = {}) {
  return select_features(data, MethodRegistry::from_texts(method, texts), options, RunControl());
}

const std::vector<std::vector<PathEntry>>& further(const Selection& selection) {
  return std::get<SizePath>(selection.answer).further_components;
}

TEST(SearchMethods, FindTheKnownBestPairOfSonar) {
  const auto selection = run(read_dataset("sonar"), {.k = {1, 10}}, "gslda");
  EXPECT_EQ(selection.sets()[1].features, (std::vector<Index>{10, 46}));
  EXPECT_NEAR(selection.sets()[1].objective, 0.367684, 1e-6);
  EXPECT_TRUE(selection.sets()[0].known_gap().value_or(1.0) <= kCertifiedGap)
      << "one feature is always proven";
  for (const auto& entry : selection.sets()) {
    EXPECT_GE(*entry.upper_bound, entry.objective);
    EXPECT_FALSE(entry.pass.empty());
  }
}

/// Wherever the passes are cut, no bound lies below a set that is known.
TEST(SearchMethods, AStopLeavesValidBounds) {
  DatasetParts data = oracle::random_classes(60, 40, 3, 77);
  FeatureGroups groups;
  for (Index g = 0; g < 20; ++g) {
    groups.names.push_back(fmt::format("g{}", g));
    groups.members.push_back({2 * g, 2 * g + 1});
    groups.group_of.insert(groups.group_of.end(), {g, g});
  }
  for (const char* method : {"gspca", "backward-pca", "gslda", "backward-lda"}) {
    for (const bool grouped : {false, true}) {
      SelectOptions options{.k = {1, 19}};
      options.threads = 1;
      if (grouped) options.feature_groups = std::make_shared<FeatureGroups>(groups);
      const auto whole = run(data, options, method);
      for (int at = 1; at <= 45; at += oracle::kSanitized ? 7 : 1) {
        std::stop_source stop;
        int reports = 0;
        const RunControl control(
            stop.get_token(), kInfinity,
            [&](const Progress&) {
              if (++reports == at) stop.request_stop();
            },
            0.0);
        const auto cut = select_features(data, MethodRegistry::from_texts(method, {}), options, control);
        for (const auto& entry : cut.sets()) {
          if (!entry.upper_bound) continue;
          EXPECT_GE(*entry.upper_bound * (1.0 + 1e-9),
                    whole.sets()[static_cast<std::size_t>(entry.k()) - 1].objective)
              << method << (grouped ? " groups" : "") << " stopped at report " << at << ", k = " << entry.k();
        }
      }
    }
  }
}

TEST(SearchMethods, ACovarianceThatIsAlmostOneHasValidBounds) {
  // Accepted with eigenvalues down to -1e-6 of the largest variance.
  Matrix a = Matrix::Zero(5, 5);
  a.diagonal() << 1.0, 1e-7, 1e-7, 1e-7, 1e-7;
  a(1, 2) = a(2, 1) = 2e-7;
  a(3, 4) = a(4, 3) = 5e-7;
  const MatrixProblem problem{"almost", FeatureNames(5), a, std::nullopt};
  std::stop_source stop;
  stop.request_stop();
  for (const char* method : {"espca", "gspca"}) {
    SelectOptions options{.k = {2, 3}};
    options.exclude = {"x0"};
    for (const auto& control : {RunControl(), RunControl(stop.get_token(), kInfinity)}) {
      const auto selection =
          select_features(problem, MethodRegistry::from_texts(method, {}), options, control);
      for (const auto& entry : selection.sets())
        EXPECT_GE(entry.upper_bound.value_or(1.0), 6e-7 * (1.0 - 1e-9)) << method;
    }
  }
}

TEST(SearchMethods, TheDualPassIsTheBetterOfItsTwo) {
  const auto data = read_dataset("sonar");
  const SelectOptions options{.k = {1, 60}};
  const auto both = run(data, options, "gslda");
  const auto forward = run(data, options, "forward-lda");
  const auto backward = run(data, options, "backward-lda");
  ASSERT_EQ(both.sets().size(), 60U);
  for (std::size_t i = 0; i < 60; ++i) {
    const double best = std::max(forward.sets()[i].objective, backward.sets()[i].objective);
    EXPECT_NEAR(both.sets()[i].objective, best, 1e-9 * best);
    EXPECT_EQ(both.sets()[i].features,
              both.sets()[i].pass == "forward" ? forward.sets()[i].features : backward.sets()[i].features);
  }
}

TEST(SearchMethods, MatricesGiveWhatTheTableGives) {
  const auto data = oracle::random_classes(80, 10, 3, 6);
  const auto scatter = oracle::scatter(data.dense, data.labels->codes, 3);
  const MatrixProblem pair{"pair", FeatureNames(10), scatter.between, scatter.within};
  const SelectOptions options{.k = {1, 10}, .criterion = Criterion::kLargest};
  for (const auto* name : {"gslda", "forward-lda", "backward-lda", "st"}) {
    const auto table = run(data, options, name);
    const auto matrices = select_features(pair, MethodRegistry::from_texts(name, {}), options, RunControl());
    ASSERT_EQ(table.sets().size(), matrices.sets().size()) << name;
    for (std::size_t i = 0; i < table.sets().size(); ++i) {
      EXPECT_EQ(table.sets()[i].features, matrices.sets()[i].features) << name;
      EXPECT_NEAR(table.sets()[i].objective, matrices.sets()[i].objective, 1e-9 * table.sets()[i].objective);
    }
  }
  const MatrixProblem total{"total", FeatureNames(10), scatter.between + scatter.within, std::nullopt};
  for (const auto* name : {"gspca", "forward-pca", "backward-pca"}) {
    const auto table = run(data, options, name);
    const auto matrices = select_features(total, MethodRegistry::from_texts(name, {}), options, RunControl());
    for (std::size_t i = 0; i < table.sets().size(); ++i) {
      EXPECT_EQ(table.sets()[i].features, matrices.sets()[i].features) << name;
      EXPECT_NEAR(table.sets()[i].objective, matrices.sets()[i].objective, 1e-9 * table.sets()[i].objective);
    }
  }
  EXPECT_THROW(static_cast<void>(
                   select_features(total, MethodRegistry::from_texts("gslda", {}), options, RunControl())),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(
                   select_features(pair, MethodRegistry::from_texts("fisher", {}), options, RunControl())),
               InvalidArgument);
  const MatrixProblem none{"none", FeatureNames(2), Matrix{{1.0, 2.0}, {2.0, 1.0}}, std::nullopt};
  EXPECT_THROW(
      static_cast<void>(select_features(none, MethodRegistry::from_texts("gspca", {}), {}, RunControl())),
      BadInput);
}

TEST(SearchMethods, PcaObjectivesAndLoadingsAreThoseOfTheSet) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto pair = oracle::random_factor_pair(10, 1, seed, 30.0);
    const MatrixProblem problem{"s", FeatureNames(10), pair.b, std::nullopt};
    const auto selection =
        select_features(problem, MethodRegistry::from_texts("gspca", {}), {.k = {1, 10}}, RunControl());
    for (const auto& entry : selection.sets()) {
      const Matrix a_s = pair.b(entry.features, entry.features);
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(a_s);
      EXPECT_NEAR(entry.objective, solver.eigenvalues().maxCoeff(), 1e-10);
      EXPECT_NEAR(entry.loadings.view().col(0).norm(), 1.0, 1e-12);
    }
  }
}

TEST(SearchMethods, GroupsCountInKAndStayTogether) {
  const auto data = oracle::random_classes(60, 9, 2, 2);
  auto groups = std::make_shared<FeatureGroups>();
  groups->names = {"a", "b", "c"};
  groups->members = {{0, 4, 8}, {1, 2}, {3, 5, 6, 7}};
  groups->group_of = {0, 1, 1, 2, 0, 2, 2, 2, 0};
  SelectOptions options{.k = {1, 3}};
  options.feature_groups = groups;
  for (const auto* name : {"gslda", "gspca"}) {
    const auto selection = run(data, options, name);
    ASSERT_EQ(selection.sets().size(), 3U) << name;
    for (const auto& entry : selection.sets()) {
      std::vector<Index> expected;
      for (const Index g : entry.units) {
        const auto& members = groups->members[static_cast<std::size_t>(g)];
        expected.insert(expected.end(), members.begin(), members.end());
      }
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(entry.features, expected);
    }
    EXPECT_EQ(selection.sets()[2].k(), 3);
  }
  EXPECT_THROW(static_cast<void>(run(data, options, "fisher")), InvalidArgument);
}

/// A ridge of each column's own variance has no units: powers of two, so that the numbers are the same to the
/// last digit.
TEST(SearchMethods, UnitsDoNotMatterWhereTheRidgeActs) {
  for (const bool wide : {false, true}) {
    DatasetParts data = oracle::random_classes(wide ? 15 : 40, wide ? 30 : 9, 3, 21, 1.0, 4);
    data.dense.col(4) = data.dense.col(2) + 1e-9 * data.dense.col(5);
    DatasetParts other = data;
    for (Index j = 0; j < data.dense.cols(); ++j)
      other.dense.col(j) *= std::ldexp(1.0, static_cast<int>(j % 41) - 20);
    for (const std::string method : {"gslda", "forward-lda", "backward-lda", "eslda", "fisher", "pearson"}) {
      if (wide && method == "eslda") continue;
      SCOPED_TRACE(method);
      const auto here = run(data, {.k = {1, 4}}, method), there = run(other, {.k = {1, 4}}, method);
      EXPECT_GT(here.ridge.fraction, 0.0);
      EXPECT_NEAR(here.ridge.fraction, there.ridge.fraction, 1e-12);
      ASSERT_EQ(here.sets().size(), there.sets().size());
      for (std::size_t i = 0; i < here.sets().size(); ++i) {
        EXPECT_EQ(here.sets()[i].features, there.sets()[i].features);
        EXPECT_NEAR(here.sets()[i].objective, there.sets()[i].objective, 1e-9 * here.sets()[i].objective);
      }
    }
  }
}

/// A feature that the classes do not differ in adds nothing, however small its variance: here both are
/// rounding.
TEST(SearchMethods, NothingComesFromAFeatureWhoseVariancesAreRounding) {
  Matrix a = Matrix::Zero(4, 4), b = Matrix::Identity(4, 4);
  a.topLeftCorner(3, 3) << 0.5, -0.1, 0.2, -0.1, 1.3, -0.4, 0.2, -0.4, 0.9;
  b(3, 3) = 4.9e-32;
  const auto pencil = matrix_pencil(a, b, RidgeAmount(), 4);
  const double three = renormalize(*pencil, {0, 1, 2}, Criterion::kLargest, 1, 1).objective;
  EXPECT_NEAR(renormalize(*pencil, {0, 1, 2, 3}, Criterion::kLargest, 1, 1).objective, three, 1e-14 * three);
}

/// N rows less K class means have rank N - K: no set is larger without a ridge, whatever rounding leaves of
/// the rest.
TEST(SearchMethods, NoSetIsLargerThanTheRankOfTheRows) {
  for (const auto& [n, p, classes] : {std::tuple<Index, Index, int>{12, 12, 3}, {6, 5, 2}, {10, 14, 2}}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const auto data = oracle::random_classes(n, p, classes, seed);
      const auto selection = run(data, {.k = {1, p}, .ridge = {.value = 0.0, .fraction = {}}}, "gslda");
      EXPECT_LE(selection.sets().back().k(), n - classes) << n << ' ' << p << ' ' << seed;
      EXPECT_EQ(selection.status, Status::kRankLimit);
    }
  }
}

/// A column that separates the classes all but perfectly is worth 1e14 of another: what is left of a search's
/// values for the others is rounding. Oracle: between over within, column by column; and every value from the
/// rows.
TEST(SearchMethods, PoolsAreInOrderBesideASetThatIsWorthAMillionTimesMore) {
  for (const bool grouped : {false, true}) {
    SCOPED_TRACE(grouped ? "groups" : "features");
    DatasetParts data = oracle::random_classes(30, 6, 3, 17);
    for (Index i = 0; i < 30; ++i)
      data.dense(i, 2) = data.labels->codes[static_cast<std::size_t>(i)] + 1e-8 * data.dense(i, 2);
    SelectOptions options{
        .k = {1, 2}, .criterion = Criterion::kLargest, .ridge = {.value = 0.0, .fraction = {}}};
    if (grouped) {
      FeatureGroups groups;
      for (Index g = 0; g < 6; ++g) {
        groups.names.push_back(fmt::format("g{}", g));
        groups.members.push_back({g});
        groups.group_of.push_back(g);
      }
      options.feature_groups = std::make_shared<FeatureGroups>(groups);
    }
    const auto selection = run(data, options, "eslda", {{"pool", "6"}});
    ASSERT_EQ(selection.sets().size(), 2U);
    const auto& pool = selection.sets()[0].pool;
    ASSERT_EQ(pool.size(), 6U);
    EXPECT_EQ(selection.sets()[0].features, std::vector<Index>{2});
    for (const auto& entry : selection.sets()) {
      EXPECT_EQ(entry.features, entry.pool.front().features);
      for (std::size_t i = 1; i < entry.pool.size(); ++i)
        EXPECT_LE(entry.pool[i].objective, entry.pool[i - 1].objective * (1.0 + 1e-9));
    }
    for (const auto& set : pool) {
      const auto scatter = oracle::scatter(data.dense(Eigen::all, set.features), data.labels->codes, 3);
      const double value = scatter.between(0, 0) / scatter.within(0, 0);
      EXPECT_NEAR(set.objective, value, (set.features[0] == 2 ? 1e-6 : 1e-10) * value);
    }
    if (!grouped) {  // groups are not looked at with more digits
      EXPECT_TRUE(selection.sets()[0].certified());
    }
  }
}

TEST(SearchMethods, MoreColumnsThanRowsWork) {
  const auto data = oracle::random_classes(20, 150, 2, 12, 1.5, 4);
  const auto selection = run(data, {.k = {1, 12}}, "gslda");
  ASSERT_EQ(selection.sets().size(), 12U);
  EXPECT_GT(selection.ridge.fraction, 0.0);
  ASSERT_EQ(selection.ridge_variances.size(), 150U);
  for (const auto& entry : selection.sets()) {
    auto scatter = oracle::scatter(data.dense(Eigen::all, entry.features), data.labels->codes, 2);
    scatter.within.diagonal() *= 1.0 + selection.ridge.fraction;
    const double loadings =
        (entry.loadings.view().transpose() * scatter.within * entry.loadings.view())(0, 0);
    EXPECT_NEAR(loadings, 1.0, 1e-7);  // in the units of the table, whatever the search measures columns by
    const double value = oracle::generalized_eigenvalues(scatter.between, scatter.within)[0];
    EXPECT_NEAR(entry.objective, value, 1e-8 * value);
  }
}

TEST(SearchMethods, SingularBWithoutARidge) {
  auto data = oracle::random_classes(40, 6, 2, 3);
  data.dense.col(5) = data.dense.col(1) + data.dense.col(2);
  const SelectOptions options{.k = {1, 6}, .ridge = {0.0}};
  EXPECT_THROW(static_cast<void>(run(data, options, "backward-lda")), Infeasible);
  const auto selection = run(data, options, "gslda");
  EXPECT_EQ(selection.status, Status::kRankLimit);
  EXPECT_EQ(selection.sets().size(), 5U);
  const auto said = [&](const std::string& words) {
    return std::any_of(selection.warnings.begin(), selection.warnings.end(),
                       [&](const std::string& w) { return w.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(said("no backward pass"));
  EXPECT_TRUE(said("linear combination")) << fmt::format("{}", selection.warnings.size());
}

TEST(SearchMethods, SwapsNeverLowerTheObjective) {
  const auto data = read_dataset("sonar");
  const SelectOptions options{.k = {1, 12}};
  const auto plain = run(data, options, "forward-lda");
  const auto swapped = run(data, options, "forward-lda", {{"swaps", "20"}});
  bool better = false;
  for (std::size_t i = 0; i < plain.sets().size(); ++i) {
    EXPECT_GE(swapped.sets()[i].objective, plain.sets()[i].objective * (1.0 - 1e-12));
    better = better || swapped.sets()[i].objective > plain.sets()[i].objective * 1.001;
  }
  EXPECT_TRUE(better);
}

TEST(SearchMethods, RenormalizationNeverLowersThresholding) {
  const auto data = read_dataset("ionosphere");
  for (const auto* which : {"x", "y"}) {
    const SelectOptions options{.k = {1, 33}};
    const auto with = run(data, options, "st", {{"threshold", which}});
    const auto without = run(data, options, "st", {{"threshold", which}, {"no_renormalize", "true"}});
    ASSERT_EQ(with.sets().size(), without.sets().size());
    for (std::size_t i = 0; i < with.sets().size(); ++i) {
      EXPECT_EQ(with.sets()[i].features, without.sets()[i].features);
      EXPECT_GE(with.sets()[i].objective, without.sets()[i].objective * (1.0 - 1e-10));
    }
    EXPECT_NEAR(with.sets().back().objective, without.sets().back().objective,
                1e-8 * with.sets().back().objective);
  }
}

TEST(SearchMethods, RefittingAResultGivesItsObjectives) {
  const auto data = read_dataset("sonar");
  const auto selection = run(data, {.k = {1, 8}}, "gslda");
  std::vector<GivenSet> sets;
  for (const auto& entry : selection.sets()) {
    GivenSet set;
    for (const Index j : entry.features) set.names.push_back(data.names()[j]);
    set.loadings = Vector::Ones(entry.k());
    sets.push_back(std::move(set));
  }
  const auto refitted = refit_sets(data, sets, {});
  for (std::size_t i = 0; i < sets.size(); ++i) {
    EXPECT_NEAR(refitted.sets()[i].objective, selection.sets()[i].objective,
                1e-9 * selection.sets()[i].objective);
    EXPECT_LE(*refitted.sets()[i].given_objective, refitted.sets()[i].objective * (1.0 + 1e-12));
  }
}

TEST(SearchMethods, HugeAndTinyScalesAreHandledOrRefusedButNeverNaN) {
  for (const double scale : {1e-150, 1e-70, 1e-20, 1e20, 1e70, 1e150}) {
    auto data = oracle::random_classes(40, 6, 3, 2);
    data.dense *= scale;
    for (const auto* name : {"gslda", "gspca", "st"}) {
      SCOPED_TRACE(fmt::format("{} at {:g}", name, scale));
      try {
        const Selection found = run(data, {.k = {1, 6}}, name);
        for (const auto& entry : found.sets()) {
          EXPECT_TRUE(std::isfinite(entry.objective));
          EXPECT_TRUE(entry.loadings.view().allFinite());
          EXPECT_TRUE(!entry.upper_bound || std::isfinite(*entry.upper_bound));
        }
      } catch (const BadInput& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("rescale"), std::string::npos) << refusal.what();
      }
    }
  }
}

TEST(SearchMethods, LdaDoesNotDependOnTheScaleOfTheData) {
  const auto data = oracle::random_classes(50, 8, 2, 5);
  auto scaled = data;
  scaled.dense *= 1e40;
  const auto a = run(data, {.k = {1, 8}}, "gslda"), b = run(scaled, {.k = {1, 8}}, "gslda");
  for (std::size_t i = 0; i < a.sets().size(); ++i) {
    EXPECT_EQ(a.sets()[i].features, b.sets()[i].features);
    EXPECT_NEAR(a.sets()[i].objective, b.sets()[i].objective, 1e-9 * a.sets()[i].objective);
  }
}

TEST(SearchMethods, DegenerateTables) {
  // a class of one row, two columns alike, one constant, fourteen classes
  auto data = oracle::random_classes(70, 7, 14, 3);
  data.dense.col(3) = data.dense.col(2);
  data.dense.col(6).setConstant(4.0);
  std::replace(data.labels->codes.begin() + 1, data.labels->codes.end(), 0, 1);  // row 0 alone is of class 0
  for (const auto* name : {"gslda", "forward-lda", "backward-lda", "gspca", "st"}) {
    for (const auto criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
      SCOPED_TRACE(name);
      const auto selection = run(data, {.k = {1, 6}, .criterion = criterion}, name);
      ASSERT_FALSE(selection.sets().empty());
      for (const auto& entry : selection.sets()) {
        EXPECT_TRUE(std::isfinite(entry.objective));
        EXPECT_FALSE(std::binary_search(entry.features.begin(), entry.features.end(), 6));
      }
    }
  }
}

TEST(Deflation, TableAndMatrixAgree) {
  const auto data = oracle::random_classes(30, 7, 2, 1);
  const std::vector<Index> support = {1, 4, 6};
  const Vector x = Vector{{0.6, -0.64, 0.48}};
  const auto covariance = [](const Matrix& table) {
    return oracle::scatter(table, std::vector<int>(static_cast<std::size_t>(table.rows()), 0), 1).within;
  };
  const Matrix expected = covariance(deflated(data, support, x).parts().dense);
  EXPECT_LT((deflated_covariance(covariance(data.dense), support, x) - expected).norm(), 1e-12);
  const DatasetParts sparse = deflated(oracle::as_sparse(data), support, x).parts();
  EXPECT_LT((covariance(Matrix(sparse.sparse)) - expected).norm(), 1e-12);
  Vector full = Vector::Zero(7);
  for (Index i = 0; i < 3; ++i) full[support[static_cast<std::size_t>(i)]] = x[i];
  EXPECT_LT((expected * full).norm(), 1e-12) << "nothing is left along x";
}

TEST(SearchMethods, FurtherComponentsAreOnSetsOfTheirOwn) {
  const auto data = read_dataset("ionosphere");
  const auto selection = run(data, {.k = {3, 3}, .components = 3}, "gspca");
  ASSERT_EQ(further(selection).size(), 2U);
  EXPECT_GE(selection.sets()[0].objective, further(selection)[0][0].objective);
  EXPECT_GE(further(selection)[0][0].objective, further(selection)[1][0].objective);
  EXPECT_EQ(selection.warnings.size(), 1U) << "the constant column";
}

TEST(SearchMethods, MoreComponentsThanThereAreAreLeftOutAndSaid) {
  const auto warned = [](const Selection& selection, std::string_view sentence) {
    return std::count(selection.warnings.begin(), selection.warnings.end(), sentence) == 1;
  };
  // Rank 33: one of the 34 columns is constant.
  const auto many = run(read_dataset("ionosphere"), {.k = {1, 1}, .components = 40}, "gspca");
  EXPECT_EQ(further(many).size(), 32U);
  EXPECT_TRUE(warned(many, "⟨components 40⟩ is more than there are: 33 principal components were found"));
  const auto run_on = [](const Matrix& s, Index k, Index components) {
    const MatrixProblem problem{"s", FeatureNames(s.rows()), s, std::nullopt};
    return select_features(problem, MethodRegistry::from_texts("gspca", {}),
                           {.k = {k, k}, .components = components}, {});
  };
  // Rank 1, and what is left is rounding.
  const Vector v{{0.3, 1.1, -0.7, 0.2}};
  const auto single = run_on(v * v.transpose(), 4, 3);
  EXPECT_TRUE(further(single).empty());
  EXPECT_TRUE(warned(single, "⟨components 3⟩ is more than there are: 1 principal component was found"));
  // One feature is used up by each component, until two are no longer there.
  const auto apart = run_on(Vector{{3.0, 2.0, 1.0}}.asDiagonal(), 2, 3);
  EXPECT_EQ(further(apart).size(), 1U);
  EXPECT_TRUE(warned(apart, "⟨components 3⟩ is more than there are: 2 principal components were found"));

  const auto classes = oracle::random_classes(60, 6, 3, 1);
  EXPECT_TRUE(warned(run(classes, {.k = {4, 4}, .components = 3}, "gslda"),
                     "⟨components 3⟩ is more than there are: no set here has more than 2 discriminants"));
  EXPECT_TRUE(run(classes, {.k = {4, 4}, .components = 2}, "gslda").warnings.empty());
  EXPECT_TRUE(warned(run(classes, {.k = {1, 1}, .components = 2}, "fisher"),
                     "⟨components 2⟩ is more than there are: no set here has more than 1 discriminant"));
}

/// A ridge far below rounding lets the backward pass begin where its path then has pivots of zero.
TEST(SearchMethods, SizesLeftOutAreSaidWhateverTheRidge) {
  Index left_out = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    DatasetParts data = oracle::random_classes(8, 7, 2, seed);
    for (const double ridge : {1e-18, 1e-17, 1e-16, 1e-15, 1e-14}) {
      for (const char* method : {"backward-lda", "gslda", "forward-lda"}) {
        Selection selection;
        try {
          selection = run(data, {.k = {1, 7}, .ridge = {.value = ridge, .fraction = {}}}, method);
        } catch (const Infeasible&) {
          continue;
        }
        if (selection.sets().size() == 7) continue;
        ++left_out;
        EXPECT_EQ(selection.status, Status::kRankLimit) << method << " seed " << seed << " ridge " << ridge;
        EXPECT_EQ(std::count_if(selection.warnings.begin(), selection.warnings.end(),
                                [](const std::string& text) {
                                  return text.find("larger k were left out") != text.npos;
                                }),
                  1)
            << method << " seed " << seed << " ridge " << ridge;
      }
    }
  }
  EXPECT_GT(left_out, 0);
}

TEST(SearchMethods, BoundsThatAMethodDoesNotComputeAreSaid) {
  const auto data = read_dataset("sonar");
  for (const auto* name : {"fisher", "ks", "pearson", "snr"}) {
    const auto selection = run(data, {.k = {2, 2}, .bounds = true}, name);
    ASSERT_EQ(selection.warnings.size(), 1U) << name;
    EXPECT_TRUE(selection.warnings[0].starts_with("⟨bounds⟩ does nothing here: ")) << selection.warnings[0];
  }
  EXPECT_TRUE(run(data, {.k = {2, 2}, .bounds = true}, "gslda").warnings.empty());
}

}  // namespace
}  // namespace subspectra::search_methods_test
