/// True results hold, and every kind of lie is found by the check that is there for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "oracle.hpp"
#include "report/json.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "verify/check.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

json options_of(const SelectOptions& options, const PrepareOptions& prepare = {}) {
  json all = options_json(options);
  all.update(options_json(prepare));
  return all;
}

json result_of(const DatasetParts& data, std::string_view method, const SelectOptions& options,
               const OptionTexts& texts = {}, const PrepareOptions& prepare = {}) {
  const auto selection = select_features(data, MethodRegistry::from_texts(method, texts), options, {});
  return selection_json(selection, data,
                        {.options = options_of(options, prepare), .groups = options.feature_groups.get()});
}

json result_of(const MatrixProblem& problem, std::string_view method, const SelectOptions& options) {
  const auto selection = select_features(problem, MethodRegistry::from_texts(method, {}), options, {});
  return selection_json(selection, placeholder(problem), {.options = options_of(options)});
}

Verification verified(const json& result, const DatasetParts& data, const FeatureGroups* groups = nullptr,
                      const VerifyOptions& options = {}) {
  return verify_claims(parse_claims(result.dump(), "result.json"), data, groups, options, {});
}

Verification verified(const json& result, const MatrixProblem& problem) {
  return verify_claims(
      parse_claims(result.dump(), "result.json"),
      VerifyMatrices{problem.source, problem.names, problem.a, problem.b ? &*problem.b : nullptr}, nullptr,
      {}, {});
}

void expect_holds(const Verification& verification) {
  for (const auto& finding : verification.findings) {
    EXPECT_TRUE(finding.ok) << "k = " << finding.k << ": " << finding.words;
    if (finding.deviation && finding.tolerance) {
      EXPECT_LE(*finding.deviation, *finding.tolerance);
    }
  }
  for (const auto& words : verification.not_checked()) ADD_FAILURE() << words;
  EXPECT_GT(verification.entries, 0);
  EXPECT_EQ(verification.verdict(), Verdict::kHolds);
}

std::set<CheckKind> failed_kinds(const Verification& verification) {
  std::set<CheckKind> kinds;
  for (const auto& finding : verification.findings) {
    if (!finding.ok) kinds.insert(finding.kind);
  }
  return kinds;
}

Index checked(const Verification& verification, CheckKind kind) {
  return std::count_if(verification.findings.begin(), verification.findings.end(),
                       [&](const Finding& finding) { return finding.kind == kind; });
}

/// All sets of k out of n, as masks.
void for_each_set(Index n, Index k, const std::function<void(const std::vector<Index>&)>& visit) {
  for (unsigned mask = 0; mask < (1U << static_cast<unsigned>(n)); ++mask) {
    std::vector<Index> set;
    for (Index j = 0; j < n; ++j) {
      if ((mask >> static_cast<unsigned>(j)) & 1U) set.push_back(j);
    }
    if (static_cast<Index>(set.size()) == k) visit(set);
  }
}

void scale_claims(json& entry, double by) {
  for (const char* number : {"objective", "upper_bound"}) entry[number] = entry[number].get<double>() * by;
}

double criterion_of(Criterion criterion, const Vector& values) {
  if (criterion == Criterion::kLargest) return values[0];
  if (criterion == Criterion::kTrace) return values.sum();
  return values.cwiseMax(0.0).array().log1p().sum();
}

constexpr std::array kCriteria = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};

TEST(Verify, ResultsOfEveryKindOfMethodHoldOnTheEmbeddedData) {
  for (const char* name : {"sonar", "ionosphere"}) {
    const DatasetParts data = read_dataset(name).parts();
    for (const char* method : {"gslda", "gspca", "fisher", "st", "ks"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, method));
      SelectOptions options{.k = {1, 12}};
      options.bounds = std::string_view(method).starts_with("gs");
      const auto verification = verified(result_of(data, method, options), data);
      expect_holds(verification);
      EXPECT_EQ(verification.entries, 12);
      EXPECT_EQ(checked(verification, CheckKind::kObjective), 12);
      EXPECT_EQ(checked(verification, CheckKind::kLoadings), 12);
    }
  }
}

TEST(Verify, ASetThatIsMissingFromAProvenPoolIsFound) {
  const DatasetParts data = oracle::random_classes(60, 9, 3, 5);
  for (const char* method : {"eslda", "espca"}) {
    for (const Criterion criterion : kCriteria) {
      SelectOptions options{.k = {2, 4}};
      options.criterion = criterion;
      json result = result_of(data, method, options, {{"pool", "6"}});
      ASSERT_EQ(result["status"], "optimal");
      const auto whole = verified(result, data);
      expect_holds(whole);
      EXPECT_EQ(checked(whole, CheckKind::kPoolComplete), 3);
      for (const int missing : {1, 4}) {
        json less = result;
        less["path"][1]["pool"].erase(missing);
        EXPECT_EQ(failed_kinds(verified(less, data)), std::set{CheckKind::kPoolComplete})
            << method << " without set " << missing;
      }
      json shorter = result;  // the file itself says that six were asked for
      shorter["path"][1]["pool"].erase(5);
      EXPECT_EQ(failed_kinds(verified(shorter, data)), std::set{CheckKind::kPoolComplete});
      shorter["path"][1].erase("pool");
      EXPECT_EQ(failed_kinds(verified(shorter, data)), std::set{CheckKind::kPool});
      for (json& entry : result["path"]) entry["pool"].erase(5);
      result["options"]["pool"] = 5;  // the five best are as good a pool
      expect_holds(verified(result, data));
      result["status"] = "time_limit";
      EXPECT_EQ(checked(verified(result, data), CheckKind::kPoolComplete), 0);
    }
  }
}

TEST(Verify, EveryCriterionWithThreeClassesWeightsAndConstraints) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    DatasetParts data = oracle::random_classes(60, 9, 3, seed);
    if (seed % 2 == 1) {
      data.weights.resize(60);
      for (Index i = 0; i < 60; ++i) data.weights[i] = 0.5 + static_cast<double>(i % 4);
    }
    data.dense.col(7).setConstant(3.0);
    for (const Criterion criterion : kCriteria) {
      for (const char* method : {"gslda", "forward-lda", "backward-lda", "fisher"}) {
        SCOPED_TRACE(fmt::format("seed {} {} {}", seed, method, static_cast<int>(criterion)));
        SelectOptions options{.k = {1, 7}};
        options.criterion = criterion;
        options.bounds = seed == 2;
        if (seed > 1) {
          options.include = {"x4"};
          options.exclude = {"x1"};
        }
        const json result = result_of(data, method, options);
        const auto verification = verified(result, data);
        expect_holds(verification);
        EXPECT_EQ(verification.candidates, seed > 1 ? 7 : 8);
        if (std::string_view(method) != "fisher") {
          EXPECT_EQ(checked(verification, CheckKind::kEnumeration), verification.entries);
        }
      }
    }
  }
}

TEST(Verify, WideSparseOffsetAndStandardizedTables) {
  DatasetParts wide = oracle::random_classes(12, 20, 2, 5);
  expect_holds(verified(result_of(wide, "gslda", {.k = {1, 6}}), wide));  // a ridge
  wide.dense.array() += 1e6;
  expect_holds(verified(result_of(wide, "gslda", {.k = {1, 6}}), wide));
  expect_holds(verified(result_of(wide, "gspca", {.k = {1, 6}}), wide));
  DatasetParts scaled = oracle::random_classes(40, 8, 3, 6);
  for (Index j = 0; j < 8; ++j) scaled.dense.col(j) *= std::pow(10.0, static_cast<double>(2 * j - 8));
  expect_holds(verified(result_of(scaled, "gslda", {.k = {1, 8}}), scaled));
  SelectOptions wilks{.k = {1, 8}};
  wilks.criterion = Criterion::kWilks;
  const DatasetParts separated =
      oracle::random_classes(40, 8, 3, 6, 1e6);  // lambda_1 = 1e12, lambda_2 below 1
  expect_holds(verified(result_of(separated, "gslda", wilks), separated));
  const DatasetParts sparse = oracle::as_sparse(oracle::random_classes(40, 8, 2, 7));
  expect_holds(verified(result_of(sparse, "gslda", {.k = {1, 8}}), sparse));
  const PrepareOptions standardize{.standardize = true};
  const DatasetParts prepared = Preparation::learn(scaled, standardize).apply(scaled).parts();
  expect_holds(verified(result_of(prepared, "gslda", {.k = {1, 8}}, {}, standardize), prepared));
}

TEST(Verify, GroupsCountAsUnits) {
  const DatasetParts data = oracle::random_classes(60, 12, 3, 8);
  auto groups = std::make_shared<FeatureGroups>();
  for (Index j = 0; j < 12; ++j) {
    if (j % 3 == 0) {
      groups->names.push_back(fmt::format("g{}", j / 3));
      groups->members.emplace_back();
    }
    groups->members.back().push_back(j);
    groups->group_of.push_back(j / 3);
  }
  for (const char* method : {"gslda", "gspca"}) {
    SelectOptions options{.k = {1, 4}};
    options.groups = "groups.csv";
    options.feature_groups = groups;
    options.exclude = {"x5"};
    options.include = {"x7"};
    json result = result_of(data, method, options);
    const auto verification = verified(result, data, groups.get());
    expect_holds(verification);
    EXPECT_EQ(verification.candidates, 4);
    result["path"][1]["units"][1] = 3 - result["path"][1]["units"][1].get<int>() % 2;
    EXPECT_TRUE(failed_kinds(verified(result, data, groups.get())).contains(CheckKind::kConstraints));
    EXPECT_THROW((void)verified(result, data, nullptr), InvalidArgument);
  }
}

TEST(Verify, AColumnFarFromZeroHasAllItsDigits) {
  for (const double far : {1e9, 1e12, 1e14}) {
    DatasetParts data = oracle::random_classes(60, 5, 2, 60);
    data.dense.col(2).array() += far;
    SelectOptions options{.k = {1, 5}};
    for (const auto& ridge : {Ridge{}, Ridge{0.0}, Ridge{.value = {}, .fraction = 1e-3}}) {
      options.ridge = ridge;
      expect_holds(verified(result_of(data, "gslda", options), data));
    }
  }
}

TEST(Verify, MatricesWithAFeatureThatBHasNoVarianceFor) {
  const DatasetParts data = oracle::random_classes(50, 6, 3, 61);
  auto scatter = oracle::scatter(data.dense, data.labels->codes, 3);
  scatter.within.row(2).setZero();
  scatter.within.col(2).setZero();
  const MatrixProblem pair{"A and B", FeatureNames(6), scatter.between, scatter.within};
  for (const auto& ridge :
       {Ridge{}, Ridge{0.0}, Ridge{.value = 0.1, .fraction = {}}, Ridge{.value = {}, .fraction = 0.01}}) {
    SelectOptions options{.k = {1, 5}};
    options.ridge = ridge;
    for (const char* method : {"gslda", "eslda"}) {
      const json result = result_of(pair, method, options);
      const auto verification = verified(result, pair);
      expect_holds(verification);
      EXPECT_EQ(verification.candidates, ridge.value == 0.0 ? 5 : 6);
    }
  }
}

TEST(Verify, MatricesComponentsThresholdsAndRefits) {
  const DatasetParts data = oracle::random_classes(50, 10, 4, 9);
  const auto scatter = oracle::scatter(data.dense, data.labels->codes, 4);
  const MatrixProblem pair{"A and B", FeatureNames(10), scatter.between, scatter.within};
  for (const Criterion criterion : kCriteria) {
    SelectOptions options{.k = {1, 10}};
    options.criterion = criterion;
    expect_holds(verified(result_of(pair, "gslda", options), pair));
  }
  const MatrixProblem single{"S", FeatureNames(10), scatter.within, std::nullopt};
  SelectOptions three{.k = {1, 4}};
  three.components = 3;
  json components = result_of(single, "gspca", three);
  ASSERT_EQ(components["components"].size(), 2U);
  const auto verification = verified(components, single);
  expect_holds(verification);
  EXPECT_EQ(verification.entries, 12);
  components["components"][1]["path"][2]["objective"] =
      components["components"][1]["path"][2]["objective"].get<double>() * 1.0001;
  EXPECT_TRUE(failed_kinds(verified(components, single)).contains(CheckKind::kObjective));
  expect_holds(verified(result_of(data, "gspca", three), data));

  for (const char* threshold : {"x", "y"}) {
    json cut = result_of(data, "st", {.k = {1, 6}}, {{"no_renormalize", "true"}, {"threshold", threshold}});
    expect_holds(verified(cut, data));
    cut["path"][2]["objective"] = cut["path"][2]["objective"].get<double>() * 1.0001;
    EXPECT_TRUE(failed_kinds(verified(cut, data)).contains(CheckKind::kObjective));
  }
  const SelectOptions plain;
  const auto refit = refit_sets(data, {{{"x3", "x1", "x8"}, {}}, {{"x2"}, {}}}, plain);
  expect_holds(verified(selection_json(refit, data, {.options = options_of(plain)}), data));
}

TEST(Verify, TheMethodsAreThoseOfTheRegistry) {
  for (const MethodEntry& method : MethodRegistry::entries()) {
    if (method.traits->composite) continue;  // it writes no selection result
    ClaimedResult claims;
    claims.method = method.traits->name;
    EXPECT_EQ(claims.by_variance(), method.traits->variance) << claims.method;
    EXPECT_NE(claims.sets_kind(), SetsKind::kUnknown) << claims.method;
  }
}

/// Every set taken out of it in turn, and all of them.
void expect_removals_are_found(const json& result, const char* path, const DatasetParts& data) {
  const json::json_pointer place(path);
  const std::size_t sets = result[place].size();
  for (std::size_t missing = 0; missing <= sets; ++missing) {
    json less = result;
    if (missing == sets) {
      less[place] = json::array();
    } else {
      less[place].erase(missing);
    }
    const auto verification = verified(less, data);
    EXPECT_TRUE(failed_kinds(verification).contains(CheckKind::kSizes)) << path << " without set " << missing;
    // A method of one set has no list of sizes.
    if (missing == sets || std::string_view(path) != "/path" || result["method"] == "all") continue;
    EXPECT_EQ(verification.missing, std::vector<Index>{result[place][missing]["k"].get<Index>()});
  }
}

TEST(Verify, WhatAnyMethodWritesHoldsAndNoSetCanBeTakenOut) {
  DatasetParts small = oracle::random_classes(36, 6, 2, 51);
  small.dense.col(4).setConstant(2.0);
  const DatasetParts wide = oracle::random_classes(10, 14, 2, 52);  // a ridge
  DatasetParts indicator = oracle::random_classes(30, 5, 2, 53);
  for (Index i = 0; i < 30; ++i) indicator.dense(i, 2) = indicator.labels->codes[static_cast<std::size_t>(i)];
  for (const MethodEntry& method : MethodRegistry::entries()) {
    if (method.traits->composite) continue;
    const std::string name(method.traits->name);
    const SetsKind kind = [&] {
      ClaimedResult claims;
      claims.method = name;
      return claims.sets_kind();
    }();
    for (const DatasetParts* data : std::initializer_list<const DatasetParts*>{&small, &wide, &indicator}) {
      SCOPED_TRACE(fmt::format("{} on {} columns", name, data->dense.cols()));
      const json result = result_of(*data, name, {.k = {1, 4}});
      const auto verification = verified(result, *data);
      EXPECT_TRUE(failed_kinds(verification).empty());
      for (const auto& finding : verification.findings) EXPECT_TRUE(finding.ok) << finding.words;
      // Components are no sets; a path over lambda may have none of the sizes.
      const bool sets = !result["path"].empty();
      EXPECT_EQ(sets, kind != SetsKind::kNone);
      EXPECT_EQ(verification.verdict(), sets ? Verdict::kHolds : Verdict::kUnchecked);
      for (const auto& words : verification.not_checked()) EXPECT_FALSE(sets) << words;
      if (sets && data == &small) expect_removals_are_found(result, "/path", *data);
    }
  }
}

TEST(Verify, SizesAreMissingOnlyForAReason) {
  const DatasetParts data = oracle::random_classes(40, 6, 2, 54);
  json result = result_of(data, "gslda", {.k = {1, 6}});
  result["path"].erase(2);
  EXPECT_EQ(failed_kinds(verified(result, data)), std::set{CheckKind::kSizes});
  result["status"] = "time_limit";  // then the file does not claim to have them
  const auto stopped = verified(result, data);
  EXPECT_EQ(stopped.verdict(), Verdict::kHolds);
  EXPECT_EQ(stopped.missing, std::vector<Index>{3});
  result["path"] = json::array();
  EXPECT_EQ(verified(result, data).verdict(), Verdict::kUnchecked);
  result["status"] = "rank_limit";
  EXPECT_EQ(verified(result, data).verdict(), Verdict::kFails);
  // Larger sets than there are independent features do not exist.
  DatasetParts copied = data;
  copied.dense.col(5) = copied.dense.col(0) + copied.dense.col(1);
  SelectOptions no_ridge{.k = {1, 6}};
  no_ridge.ridge.value = 0.0;
  json dependent = result_of(copied, "pearson", no_ridge);
  ASSERT_EQ(dependent["path"].size(), 5U);
  expect_holds(verified(dependent, copied));
  dependent["path"].erase(4);
  EXPECT_EQ(failed_kinds(verified(dependent, copied)), std::set{CheckKind::kSizes});
  // Sizes that cannot be are not asked for: fewer than are included, more than vary.
  SelectOptions constrained{.k = {1, 6}};
  constrained.include = {"x1", "x4"};
  copied = data;
  copied.dense.col(0).setConstant(1.0);
  const json few = result_of(copied, "gslda", constrained);
  ASSERT_EQ(few["path"].size(), 4U);
  const auto verification = verified(few, copied);
  expect_holds(verification);
  EXPECT_EQ(verification.possible, KRange(2, 5));
  expect_removals_are_found(few, "/path", copied);
}

TEST(Verify, NoComponentCanBeTakenOut) {
  const DatasetParts data = oracle::random_classes(30, 6, 2, 55);
  SelectOptions three{.k = {1, 3}};
  three.components = 3;
  json result = result_of(data, "gspca", three);
  expect_holds(verified(result, data));
  expect_removals_are_found(result, "/components/0/path", data);
  expect_removals_are_found(result, "/components/1/path", data);
  json less = result;
  less["components"].erase(1);
  EXPECT_TRUE(failed_kinds(verified(less, data)).contains(CheckKind::kSizes));
  less.erase("components");
  EXPECT_TRUE(failed_kinds(verified(less, data)).contains(CheckKind::kSizes));
  // Two columns have two components; the third that was asked for does not exist.
  DatasetParts two = oracle::random_classes(30, 2, 2, 56);
  three.k = {1, 2};
  const json all = result_of(two, "gspca", three);
  ASSERT_EQ(all["components"].size(), 1U);
  expect_holds(verified(all, two));
}

TEST(Verify, AFractionOfTheVariancesIsRecomputed) {
  DatasetParts data = oracle::random_classes(10, 16, 2, 57);
  for (Index i = 0; i < 10; ++i) {
    data.dense(i, 3) = 1e5 * data.labels->codes[static_cast<std::size_t>(i)];  // nothing within a class
    data.dense(i, 7) = 1e-4 * data.dense(i, 7) + 1e3;
  }
  data.weights.resize(10);
  for (Index i = 0; i < 10; ++i) data.weights[i] = 1.0 + static_cast<double>(i % 3);
  for (const char* method : {"gslda", "eslda", "pearson"}) {
    const json result = result_of(data, method, {.k = {1, 5}});
    ASSERT_TRUE(result["options"]["ridge"].is_string());
    const auto verification = verified(result, data);
    expect_holds(verification);
    EXPECT_EQ(checked(verification, CheckKind::kRidge), 1);
    json lie = result;
    lie["ridge"]["variances"][3] = lie["ridge"]["variances"][3].get<double>() * 1.0001;
    EXPECT_EQ(failed_kinds(verified(lie, data)), std::set{CheckKind::kRidge});
    lie = result;
    lie["ridge"]["fraction"] = 0.25;
    EXPECT_EQ(failed_kinds(verified(lie, data)), std::set{CheckKind::kRidge});
    lie = result;
    lie.erase("ridge");
    EXPECT_EQ(failed_kinds(verified(lie, data)), std::set{CheckKind::kRidge});
    lie = result;
    lie["options"]["ridge"] = "rel:0.5";
    lie["ridge"]["fraction"] = 0.5;
    EXPECT_TRUE(failed_kinds(verified(lie, data)).contains(CheckKind::kObjective));
    lie["options"]["ridge"] = 0.0;
    EXPECT_TRUE(failed_kinds(verified(lie, data)).contains(CheckKind::kRidge));
  }
  const DatasetParts more = oracle::random_classes(50, 6, 3, 58);
  const auto scatter = oracle::scatter(more.dense, more.labels->codes, 3);
  const MatrixProblem pair{"A and B", FeatureNames(6), scatter.between, scatter.within};
  SelectOptions fraction{.k = {1, 6}};
  fraction.ridge.fraction = 0.01;
  json result = result_of(pair, "gslda", fraction);
  expect_holds(verified(result, pair));
  result["ridge"]["variances"][0] = 1e-3;
  EXPECT_EQ(failed_kinds(verified(result, pair)), std::set{CheckKind::kRidge});
}

TEST(Verify, AColumnWithoutWithinClassVarianceIsInNoSetWithoutARidge) {
  DatasetParts data = oracle::random_classes(30, 5, 2, 59);
  for (Index i = 0; i < 30; ++i) data.dense(i, 2) = data.labels->codes[static_cast<std::size_t>(i)];
  SelectOptions none{.k = {1, 5}};
  none.ridge.value = 0.0;
  json result = result_of(data, "gslda", none);
  const auto verification = verified(result, data);
  expect_holds(verification);
  EXPECT_EQ(verification.candidates, 4);
  result["path"][0]["features"] = {2};
  result["path"][0]["names"] = {"x2"};
  EXPECT_TRUE(failed_kinds(verified(result, data)).contains(CheckKind::kConstraints));
}

TEST(Verify, MoreThan24CandidatesAreCheckedByABranchAndBound) {
  const DatasetParts data = oracle::random_classes(80, 30, 3, 60, 0.4, 12);
  const DatasetParts related = oracle::random_classes(80, 30, 2, 60, 3.0, 12);  // many share a direction
  for (const char* method : {"gslda", "eslda", "gspca", "espca"}) {
    const bool pca = std::string_view(method).ends_with("pca");
    for (const Criterion criterion : kCriteria) {
      if (pca && criterion != Criterion::kLargest) continue;
      SCOPED_TRACE(fmt::format("{} {}", method, static_cast<int>(criterion)));
      SelectOptions options{.k = {14, 15}};
      options.criterion = criterion;
      json result = result_of(pca ? related : data, method, options);
      const auto verification = verified(result, pca ? related : data);
      expect_holds(verification);
      EXPECT_GT(checked(verification, CheckKind::kBranchAndBound), 0);
      // A set that is worse than the best, told as the best.
      if (std::string_view(method).starts_with("gs")) continue;
      for (json& entry : result["path"]) scale_claims(entry, 1.0 - 1e-6);
      EXPECT_TRUE(failed_kinds(verified(result, pca ? related : data)).contains(CheckKind::kBranchAndBound));
    }
  }
}

TEST(Verify, WhatTheBranchAndBoundDoesNotFinishIsSaid) {
  const DatasetParts data = oracle::random_classes(80, 30, 2, 61, 0.3, 20);
  json result = result_of(data, "eslda", {.k = {14, 15}});
  const auto verification = verified(result, data, nullptr, {.node_limit = 2});
  EXPECT_EQ(verification.verdict(), Verdict::kUnchecked);
  ASSERT_EQ(verification.not_checked().size(), 1U);
  EXPECT_NE(verification.not_checked()[0].find("⟨node_limit⟩"), std::string::npos)
      << verification.not_checked()[0];
  EXPECT_EQ(verification.unchecked[0].sizes.size(), 2U);
  expect_holds(verified(result, data));
}

TEST(Verify, ASetThatIsMissingFromALargePoolIsFound) {
  const DatasetParts data = oracle::random_classes(60, 28, 2, 62, 1.0, 6);
  SelectOptions options{.k = {13, 14}};
  json result = result_of(data, "eslda", options, {{"pool", "4"}});
  ASSERT_EQ(result["status"], "optimal");
  expect_holds(verified(result, data));
  json less = result;
  less["path"][0]["pool"].erase(2);
  EXPECT_TRUE(failed_kinds(verified(less, data)).contains(CheckKind::kPoolComplete));
  less = result;
  less["options"]["pool"] = 3;
  EXPECT_TRUE(failed_kinds(verified(less, data)).contains(CheckKind::kPool));
}

TEST(Verify, ThousandsOfCandidatesAreCheckedFromTheRows) {
  DatasetParts data = oracle::random_classes(12, 900, 2, 63);
  const json result = result_of(data, "gslda", {.k = {1, 3}});
  const auto verification = verified(result, data);
  expect_holds(verification);
  EXPECT_EQ(checked(verification, CheckKind::kBranchAndBound), 3);
  json lie = result;
  scale_claims(lie["path"][0], 0.99);
  EXPECT_EQ(verified(lie, data).verdict(), Verdict::kFails);
}

TEST(Verify, NearCopiesAreRecomputedWithAllDigitsOrSaid) {
  DatasetParts data = oracle::random_classes(40, 4, 2, 64);
  for (Index i = 0; i < 40; ++i)
    data.dense(i, 3) = data.dense(i, 0) + 1e-4 * std::sin(static_cast<double>(3 * i));
  json result = result_of(data, "gslda", {.k = {1, 4}});
  expect_holds(verified(result, data));
  for (json& entry : result["path"]) {
    if (entry["certified"] == true) scale_claims(entry, 1.0 + 1e-7);
  }
  EXPECT_TRUE(failed_kinds(verified(result, data)).contains(CheckKind::kObjective));
}

/// The last column is the first but for this much, by which the classes differ.
DatasetParts with_near_copy(Index features, double apart) {
  DatasetParts data = oracle::random_classes(48, features, 2, 65);
  for (Index i = 0; i < 48; ++i)
    data.dense(i, features - 1) =
        data.dense(i, 0) +
        apart * (data.labels->codes[static_cast<std::size_t>(i)] + std::sin(static_cast<double>(3 * i)));
  return data;
}

json without_ridge(const DatasetParts& data, std::string_view method, Index most) {
  SelectOptions options{.k = {1, most}};
  options.ridge.value = 0.0;
  return result_of(data, method, options);
}

TEST(Verify, WhatNearCopiesAreCertifiedForIsRecomputedInMoreDigits) {
  for (const Index features : {2, 3}) {
    for (const char* method : {"eslda", "gslda"}) {
      for (const double apart : {1e-6, 1e-7}) {
        SCOPED_TRACE(fmt::format("{} of {}, {}", method, features, apart));
        const DatasetParts data = with_near_copy(features, apart);
        const json result = without_ridge(data, method, features);
        ASSERT_EQ(result["path"].size(), static_cast<std::size_t>(features));
        const json& last = result["path"].back();
        ASSERT_EQ(last["certified"], true);
        const auto honest = verified(result, data);
        EXPECT_EQ(honest.failures(), 0);
        // Loadings have the digits of doubles; all else is known.
        for (const auto& words : honest.not_checked())
          EXPECT_NE(words.find("the loadings: "), std::string::npos) << words;
        EXPECT_EQ(checked(honest, CheckKind::kEnumeration), std::ssize(result["path"]));
        json lie = result;
        scale_claims(lie["path"].back(), 1.001);
        EXPECT_EQ(failed_kinds(verified(lie, data)), std::set{CheckKind::kObjective});
        if (features == 2) continue;
        // The copies are far better than any other two, but a file may say otherwise.
        lie = result;
        json& pair = lie["path"][1];
        ASSERT_EQ(pair["features"], json({0, 2}));
        pair["features"] = {0, 1};
        pair["names"] = {"x0", "x1"};
        EXPECT_TRUE(failed_kinds(verified(lie, data)).contains(CheckKind::kObjective));
        const DatasetParts plain = oracle::random_classes(48, 2, 2, 65);
        const json other = without_ridge(plain, "eslda", 2)["path"][1];
        for (const char* key : {"objective", "upper_bound", "loadings"}) pair[key] = other[key];
        EXPECT_TRUE(failed_kinds(verified(lie, data)).contains(CheckKind::kEnumeration));
      }
    }
  }
}

TEST(Verify, ASizeThatNearCopiesAllowCannotBeTakenOut) {
  for (const Index features : {2, 3}) {
    for (const char* method : {"eslda", "gslda"}) {
      SCOPED_TRACE(fmt::format("{} of {}", method, features));
      const DatasetParts data = with_near_copy(features, 1e-7);
      json result = without_ridge(data, method, features);
      result["path"].erase(result["path"].size() - 1);
      const auto verification = verified(result, data);
      // Greedy passes may end where doubles hold the features for dependent, and say so.
      if (result["status"] == "rank_limit") {
        EXPECT_EQ(verification.verdict(), Verdict::kUnchecked);
        result["status"] = "heuristic";
      } else {
        EXPECT_EQ(result["status"], "optimal");
      }
      EXPECT_TRUE(failed_kinds(verified(result, data)).contains(CheckKind::kSizes));
      EXPECT_EQ(verification.missing, std::vector<Index>{features});
    }
  }
  // Of copies to the last digit there is no such set.
  DatasetParts data = with_near_copy(3, 0.0);
  json result = without_ridge(data, "pearson", 3);
  ASSERT_EQ(result["path"].size(), 2U);
  expect_holds(verified(result, data));
}

TEST(Verify, WhatIsCertifiedHasTheDigitsThatArePromised) {
  const DatasetParts data = oracle::random_classes(40, 5, 3, 66);
  for (const char* method : {"eslda", "espca"}) {
    for (const double by : {1.0 + 3e-9, 1.0 - 3e-9}) {
      json result = result_of(data, method, {.k = {1, 4}});
      scale_claims(result["path"][2], by);
      EXPECT_TRUE(failed_kinds(verified(result, data)).contains(CheckKind::kObjective)) << method << by;
    }
  }
}

struct Lie {
  std::string name;
  std::function<void(json&)> tell;
  CheckKind found_by;
};

class Lies : public ::testing::TestWithParam<Lie> {};

TEST_P(Lies, AreFound) {
  const DatasetParts data = oracle::random_classes(60, 8, 2, 11, 0.4);
  SelectOptions options{.k = {1, 6}};
  options.include = {"x2"};
  options.exclude = {"x6"};
  options.bounds = true;
  json result = result_of(data, "gslda", options);
  json& entry = result["path"][2];
  entry["pool"] = json::array(
      {{{"features", entry["features"]}, {"names", entry["names"]}, {"objective", entry["objective"]}}});
  expect_holds(verified(result, data));
  GetParam().tell(result);
  const auto verification = verified(result, data);
  EXPECT_TRUE(failed_kinds(verification).contains(GetParam().found_by));
  EXPECT_EQ(verification.verdict(), Verdict::kFails);
  for (const auto& finding : verification.findings) EXPECT_EQ(finding.ok, finding.words.empty());
}

json& third(json& result) { return result["path"][2]; }
void scale(json& number, double by) { number = number.get<double>() * by; }

INSTANTIATE_TEST_SUITE_P(
    All, Lies,
    ::testing::Values(
        Lie{"objective", [](json& r) { scale(third(r)["objective"], 1.0001); }, CheckKind::kObjective},
        Lie{"objective_slightly", [](json& r) { scale(third(r)["objective"], 1.0 - 1e-7); }, CheckKind::kObjective},
        Lie{"another_feature",
            [](json& r) {  // with its name, so that only the numbers tell
              auto& entry = third(r);
              std::set<int> set = entry["features"].get<std::set<int>>();
              for (int j = 0; j < 8; ++j) {
                if (j != 6 && !set.contains(j)) {
                  set.erase(*set.rbegin() == 2 ? *set.begin() : *set.rbegin());
                  set.insert(j);
                  break;
                }
              }
              entry["features"] = set;
              entry["names"] = json::array();
              for (const int j : set) entry["names"].push_back(fmt::format("x{}", j));
            },
            CheckKind::kObjective},
        Lie{"wrong_name", [](json& r) { third(r)["names"][0] = "x7"; }, CheckKind::kFeatures},
        Lie{"out_of_range", [](json& r) { third(r)["features"][2] = 8; }, CheckKind::kFeatures},
        Lie{"far_out_of_range", [](json& r) { third(r)["features"][2] = 281474976710655; }, CheckKind::kFeatures},
        Lie{"twice", [](json& r) { third(r)["features"][1] = third(r)["features"][0]; }, CheckKind::kFeatures},
        Lie{"empty", [](json& r) { third(r)["features"] = third(r)["names"] = json::array(); }, CheckKind::kFeatures},
        Lie{"order", [](json& r) { std::swap(third(r)["features"][0], third(r)["features"][1]); }, CheckKind::kFeatures},
        Lie{"k", [](json& r) { third(r)["k"] = 4; }, CheckKind::kFeatures},
        Lie{"k_not_asked", [](json& r) { r["options"]["k"] = {1, 3}; }, CheckKind::kFeatures},
        Lie{"include", [](json& r) { r["options"]["include"] = {"x6"}; }, CheckKind::kConstraints},
        Lie{"include_unknown", [](json& r) { r["options"]["include"] = {"x9"}; }, CheckKind::kConstraints},
        Lie{"exclude", [](json& r) { r["options"]["exclude"] = {"x2"}; }, CheckKind::kConstraints},
        Lie{"units", [](json& r) { third(r)["units"] = {0, 1, 2}; }, CheckKind::kConstraints},
        Lie{"ridge", [](json& r) { r["options"]["ridge"] = 0.01; }, CheckKind::kObjective},
        Lie{"criterion", [](json& r) { r["options"]["criterion"] = "wilks"; }, CheckKind::kObjective},
        Lie{"length", [](json& r) { scale(third(r)["loadings"][0][0], 1.0001); }, CheckKind::kLoadings},
        Lie{"sign",
            [](json& r) {
              for (auto& row : third(r)["loadings"]) scale(row[0], -1.0);
            },
            CheckKind::kLoadings},
        Lie{"rows", [](json& r) { third(r)["loadings"].erase(0); }, CheckKind::kLoadings},
        Lie{"no_loadings", [](json& r) { third(r).erase("loadings"); }, CheckKind::kLoadings},
        Lie{"columns", [](json& r) { third(r)["loadings"] = {{1.0, 0.0}, {0.0, 1.0}, {0.0, 0.0}}; }, CheckKind::kLoadings},
        Lie{"gap", [](json& r) { third(r)["gap"] = third(r)["gap"].get<double>() + 1e-6; }, CheckKind::kBounds},
        Lie{"gap_null", [](json& r) { third(r)["gap"] = nullptr; }, CheckKind::kBounds},
        Lie{"gap_missing", [](json& r) { third(r).erase("gap"); }, CheckKind::kBounds},
        Lie{"certified", [](json& r) { third(r)["certified"] = true; }, CheckKind::kBounds},
        Lie{"no_bound", [](json& r) { third(r)["upper_bound"] = nullptr; }, CheckKind::kBounds},
        Lie{"bound_below",
            [](json& r) {
              auto& entry = third(r);
              entry["upper_bound"] = entry["objective"].get<double>() * 0.99;
              entry["gap"] = -0.01;
            },
            CheckKind::kBounds},
        Lie{"bound_below_smaller_k",
            [](json& r) {  // consistent in itself, but k = 2 has more
              auto& entry = third(r);
              entry["objective"] = entry["upper_bound"] = r["path"][1]["objective"].get<double>() * 0.99;
              entry["gap"] = 0.0;
              entry["certified"] = true;
            },
            CheckKind::kBounds},
        Lie{"upper_list", [](json& r) { third(r)["bounds"]["upper"]["single-drop"] = 1e-3; }, CheckKind::kBounds},
        Lie{"lower_list", [](json& r) { third(r)["bounds"]["lower_any"]["two-class"] = 10.0; }, CheckKind::kBounds},
        Lie{"lower_best", [](json& r) { third(r)["bounds"]["lower_best"]["x"] = 100.0; }, CheckKind::kBounds},
        Lie{"optimal",
            [](json& r) {
              r["status"] = "optimal";
              third(r)["certified"] = false;
            },
            CheckKind::kStatus},
        Lie{"status", [](json& r) { r["status"] = "perfect"; }, CheckKind::kStatus},
        Lie{"pool_first",
            [](json& r) {
              auto& set = third(r)["pool"][0];
              set["features"] = set["features"] == json({2, 3, 4}) ? json({2, 3, 5}) : json({2, 3, 4});
              set["names"] = {"x2", "x3", set["features"][2] == 4 ? "x4" : "x5"};
            },
            CheckKind::kPool},
        Lie{"pool_value", [](json& r) { scale(third(r)["pool"][0]["objective"], 0.9999); }, CheckKind::kPool},
        Lie{"pool_twice", [](json& r) { third(r)["pool"].push_back(third(r)["pool"][0]); }, CheckKind::kPool},
        Lie{"pool_size", [](json& r) { third(r)["pool"].push_back({{"features", {2}}, {"names", {"x2"}}, {"objective", 1e-9}}); },
            CheckKind::kPool}),
    [](const auto& test) { return test.param.name; });

/// Oracle: every set by the textbook's generalized eigenvalues; it shares nothing with the walk.
TEST(Enumeration, FindsABoundJustBelowTheBestAndAcceptsOneJustAbove) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Index p = 9;
    const DatasetParts data = oracle::random_classes(50, p, seed == 0 ? 2 : 4, seed + 20, 0.5, 6);
    const auto scatter = oracle::scatter(data.dense, data.labels->codes, data.labels->class_count());
    for (const Criterion criterion : kCriteria) {
      SelectOptions options{.k = {2, 7}};
      options.criterion = criterion;
      json result = result_of(data, "gslda", options);
      for (auto& entry : result["path"]) {
        SCOPED_TRACE(fmt::format("seed {} criterion {} k {}", seed, static_cast<int>(criterion),
                                 entry["k"].get<int>()));
        double best = 0.0;
        for_each_set(p, entry["k"].get<Index>(), [&](const auto& set) {
          const Vector values =
              oracle::generalized_eigenvalues(scatter.between(set, set), scatter.within(set, set));
          best = std::max(best, criterion_of(criterion, values.head(std::min<Index>(
                                                            values.size(), data.labels->class_count() - 1))));
        });
        const auto claim = [&](double bound) {  // whatever the objective says, the bound is tested
          entry["upper_bound"] = bound;
          const auto verification = verified(result, data);
          for (const auto& finding : verification.findings) {
            if (finding.kind == CheckKind::kEnumeration && finding.k == entry["k"].get<Index>())
              return finding;
          }
          return Finding{};
        };
        EXPECT_TRUE(claim(best * (1.0 + 1e-6)).ok);
        const Finding below = claim(best * (1.0 - 1e-6));
        EXPECT_FALSE(below.ok);
        ASSERT_TRUE(below.recomputed.has_value());
        EXPECT_NEAR(*below.recomputed, best, 1e-8 * best);
      }
    }
  }
}

TEST(Enumeration, CoversVariancesAndStopsWhenAsked) {
  const DatasetParts data = oracle::random_classes(50, 10, 2, 31);
  json result = result_of(data, "gspca", {.k = {1, 10}});
  const auto full = verified(result, data);
  expect_holds(full);
  EXPECT_EQ(full.sets_enumerated, 1023.0);
  const auto skipped = verified(result, data, nullptr, {.no_enumerate = true});
  EXPECT_EQ(checked(skipped, CheckKind::kEnumeration), 0);
  EXPECT_FALSE(skipped.not_checked().empty());
  EXPECT_EQ(skipped.verdict(), Verdict::kUnchecked);
  for (auto& entry : result["path"]) {
    entry["upper_bound"] = entry["objective"].get<double>() * (1.0 - 1e-4);
  }
  EXPECT_EQ(checked(full, CheckKind::kEnumeration), 10);
  EXPECT_TRUE(failed_kinds(verified(result, data)).contains(CheckKind::kEnumeration));

  const DatasetParts larger = oracle::random_classes(60, 24, 2, 32);
  const json many = result_of(larger, "gslda", {.k = {1, 24}});
  const RunControl control({}, 0.2);
  const auto stopped = verify_claims(parse_claims(many.dump(), "result.json"), larger, nullptr, {}, control);
  EXPECT_EQ(stopped.stop, RunControl::Stop::kTimeLimit);
  EXPECT_EQ(stopped.verdict(), Verdict::kUnchecked);
  EXPECT_FALSE(stopped.not_checked().empty());
}

TEST(Enumeration, DependentFeaturesAreInNoSet) {
  DatasetParts data = oracle::random_classes(40, 6, 2, 33);
  data.dense.col(5) = data.dense.col(0) + data.dense.col(1);
  SelectOptions options{.k = {1, 5}};
  options.ridge.value = 0.0;
  json result = result_of(data, "forward-lda", options);
  for (auto& entry : result["path"]) {  // what enumeration without the dependent sets proves
    if (!entry.contains("upper_bound")) {
      entry["upper_bound"] = 100.0;
      entry["gap"] = (100.0 - entry["objective"].get<double>()) / entry["objective"].get<double>();
      entry["certified"] = false;
    }
  }
  expect_holds(verified(result, data));
}

TEST(OtherData, AreRefused) {
  const DatasetParts data = oracle::random_classes(30, 5, 2, 41);
  const json result = result_of(data, "gslda", {.k = {1, 3}});
  const auto refused = [&](const DatasetParts& other, const std::string& part) {
    try {
      (void)verified(result, other);
      ADD_FAILURE() << "accepted: " << part;
    } catch (const BadInput& problem) {
      EXPECT_NE(std::string(problem.what()).find(part), std::string::npos) << problem.what();
    }
  };
  refused(oracle::random_classes(31, 5, 2, 41), "31 rows here and 30 there");
  refused(oracle::random_classes(30, 6, 2, 41), "6 features here and 5 there");
  refused(oracle::random_classes(30, 5, 3, 41), "the classes are");
  DatasetParts other = data;
  other.names = FeatureNames({"x0", "x1", "y", "x3", "x4"});
  refused(other, "feature 2 is 'y' here and 'x2' there");
  other = data;
  std::swap(other.labels->codes[0], other.labels->codes[1]);
  EXPECT_EQ(verified(result, other).verdict(), Verdict::kFails);  // the same shape: the numbers tell
  other.labels->codes[0] = other.labels->codes[1];
  refused(other, "the classes are");
  other.labels.reset();
  refused(other, "no labels here");
  const MatrixProblem matrices{"S", FeatureNames(5), Matrix::Identity(5, 5), std::nullopt};
  EXPECT_THROW((void)verified(result, matrices), BadInput);
  EXPECT_THROW((void)verified(result_of(matrices, "gspca", {.k = {1, 3}}), data), BadInput);
}

TEST(Claims, WhatIsNoResultIsRefusedWithThePlace) {
  const DatasetParts data = oracle::random_classes(30, 5, 2, 42);
  const json result = result_of(data, "gslda", {.k = {1, 3}});
  const auto refused = [](const std::string& text, const std::string& part) {
    try {
      (void)parse_claims(text, "result.json");
      ADD_FAILURE() << "accepted: " << part;
    } catch (const BadInput& problem) {
      EXPECT_NE(std::string(problem.what()).find(part), std::string::npos) << problem.what();
    }
  };
  const std::string whole = result.dump();
  for (std::size_t length = 0; length < whole.size(); length += 7)
    refused(whole.substr(0, length), "not valid JSON");
  refused(std::string(100000, '['), "not valid JSON");
  refused("[1]", "no subspectra.selection/1");
  refused(R"({"schema": "subspectra.model/1"})", "no subspectra.selection/1");
  refused(R"({"schema": "subspectra.selection/1"})", "'method': is missing");
  const auto changed = [&](const char* pointer, json value) {
    json other = result;
    other[json::json_pointer(pointer)] = std::move(value);
    return other.dump();
  };
  refused(changed("/path", 3), "'path': must be a list");
  refused(changed("/path/1/features", {1, -1}), "'path[1].features'");
  refused(changed("/path/1/features", {1, 1.5}), "'path[1].features'");
  refused(changed("/path/1/features/0", 18446744073709551615U), "'path[1].features'");
  refused(changed("/path/1/objective", nullptr), "'path[1].objective': must be a finite number");
  refused(changed("/path/1/loadings", {{1.0, 2.0}, {1.0}}),
          "'path[1].loadings': must be rows of equal length");
  refused(changed("/path/1/loadings", {{"a"}, {1.0}}), "'path[1].loadings'");
  refused(changed("/path/1/names", {1}), "'path[1].names'");
  refused(changed("/path/1/gap", "0"), "'path[1].gap'");
  refused(changed("/path/1/certified", 1), "'path[1].certified': must be true or false");
  refused(changed("/path/1/pool", {{{"features", 1}}}), "'path[1].pool[0].features'");
  refused(changed("/options/criterion", "best"), "'options.criterion': one of auto|largest|trace|wilks");
  refused(changed("/options/ridge", -1.0), "'options.ridge'");
  for (const char* ridge : {"auto", "rel:", "rel:-1", "rel:nan", "rel:inf", "rel:1e400", "rel:0x1", "0.1"})
    refused(changed("/options/ridge", ridge), "'options.ridge': must be a number from 0 up, or \"rel:F\"");
  refused(changed("/ridge", {{"fraction", 0.1}, {"variances", {1.0}}}),
          "'ridge.variances': must be 5 numbers");
  refused(changed("/ridge", {{"variances", {1.0}}}), "'ridge.fraction': is missing");
  refused(changed("/options/k/0", 1e300), "'options.k'");
  refused(changed("/options/components", -1), "'options.components'");
  refused(changed("/lambda_path", {1}), "'lambda_path[0]': must be an object");
  const auto text_with = [&](const std::string& was, const std::string& now) {
    std::string text = whole;
    const auto at = text.find(was);
    EXPECT_NE(at, std::string::npos) << was;
    return at == std::string::npos ? text : text.replace(at, was.size(), now);
  };
  refused(text_with("\"status\":", "\"status\":\"optimal\",\"status\":"), "the member 'status' stands twice");
  refused(text_with("\"objective\":", "\"objective\":1e400,\"was\":"), "larger than a double holds");
  refused(text_with("\"objective\":", "\"objective\":NaN,\"was\":"), "not valid JSON");
  refused(changed("/options/k", {1}), "'options.k'");
  refused(changed("/options/missing", 1), "'options.missing'");
  refused(changed("/options/index_base", 2), "'options.index_base'");
  refused(changed("/data/names", {"x0"}), "'data.names': must be 5 names");
  refused(changed("/data/class_counts", {30}), "'data.class_counts'");
  refused(changed("/data/rows", -30), "'data.rows'");
}

}  // namespace
}  // namespace subspectra
