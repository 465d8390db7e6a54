/// Columns in other units, times 10^U(-6, 6): the same sets, objectives and predictions from every method
/// that promises it (docs/theory/objective.md has the list).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <subspectra/subspectra.hpp>

#include "oracle.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra::units_test {
namespace {

/// Powers of two near 10^U(-6, 6), so that a difference is no rounding of the table itself.
Vector units(Index features, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> power(-6.0, 6.0);
  Vector scale(features);
  for (Index j = 0; j < features; ++j) scale[j] = std::exp2(std::round(power(generator) * std::log2(10.0)));
  return scale;
}

DatasetParts in_units(DatasetParts data, const Vector& scale) {
  data.dense = (data.dense * scale.asDiagonal()).eval();
  return data;
}

struct Table {
  const char* name;
  DatasetParts data;
};

std::vector<Table> tables() {
  std::vector<Table> all;
  all.push_back({"two classes", oracle::random_classes(60, 12, 2, 3)});
  all.push_back({"four classes", oracle::random_classes(80, 12, 4, 4, 0.5)});
  all.push_back({"more columns than rows", oracle::random_classes(24, 60, 3, 5)});
  DatasetParts copies = oracle::random_classes(60, 12, 2, 6);
  copies.dense.col(9) = copies.dense.col(1);
  copies.dense.col(10).setOnes();
  all.push_back({"a copy and a constant", std::move(copies)});
  return all;
}

void expect_same_sets(const Selection& a, const Selection& b) {
  ASSERT_EQ(a.sets().size(), b.sets().size());
  for (std::size_t i = 0; i < a.sets().size(); ++i) {
    EXPECT_EQ(a.sets()[i].features, b.sets()[i].features) << i;
    EXPECT_NEAR(a.sets()[i].objective, b.sets()[i].objective, 1e-6 * std::abs(a.sets()[i].objective)) << i;
  }
}

Selection run(const Dataset& data, std::string_view method, const Ridge& ridge,
              Criterion criterion = Criterion::kTrace) {
  return select_features(data, Method(method), {.k = {1, 6}, .criterion = criterion, .ridge = ridge},
                         RunControl());
}

const std::vector<std::string_view> kByTheCriterion = {"gslda", "forward-lda", "backward-lda", "eslda"};
const std::vector<std::string_view> kFilters = {"pearson", "fisher", "ks"};
const std::vector<std::string_view> kByUnitNorms = {"rvm-row", "rvm-entry", "gloss",        "sda",
                                                    "plda",    "sulda",     "jeffreys-row", "jeffreys-entry"};

TEST(Units, SearchesByTheCriterionDoNotDependOnThem) {
  const std::vector<std::pair<const char*, Ridge>> ridges = {
      {"auto", Ridge{}},
      {"rel:0.01", Ridge{.value = {}, .fraction = 0.01}},
      {"0", Ridge{.value = 0.0, .fraction = {}}}};
  for (const Table& table : tables()) {
    const Vector scale = units(table.data.features(), 17);
    for (const auto& [name, ridge] : ridges) {
      for (const auto method : kByTheCriterion) {
        for (const Criterion criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
          if (method == "eslda" && table.data.features() > 20) continue;  // minutes
          SCOPED_TRACE(fmt::format("{}, ridge {}, {}, criterion {}", table.name, name, method,
                                   static_cast<int>(criterion)));
          try {
            const Selection plain = run(table.data, method, ridge, criterion);
            expect_same_sets(plain, run(in_units(table.data, scale), method, ridge, criterion));
          } catch (const Infeasible&) {  // B is singular and no ridge allowed: in all units
            EXPECT_THROW((void)run(in_units(table.data, scale), method, ridge, criterion), Infeasible);
          }
        }
      }
    }
  }
}

TEST(Units, FiltersDoNotDependOnThem) {
  for (const Table& table : tables()) {
    const Vector scale = units(table.data.features(), 18);
    for (const auto method : kFilters) {
      if (method == "ks" && table.data.labels->class_count() != 2) continue;
      SCOPED_TRACE(fmt::format("{}, {}", table.name, method));
      const Selection plain = run(table.data, method, {});
      const Selection scaled = run(in_units(table.data, scale), method, {});
      EXPECT_EQ(plain.ranking, scaled.ranking);
      expect_same_sets(plain, scaled);
      for (std::size_t j = 0; j < plain.weights.size(); ++j)
        EXPECT_NEAR(plain.weights[j], scaled.weights[j], 1e-9 * std::abs(plain.weights[j]));
    }
  }
  const DatasetParts two = oracle::random_classes(60, 12, 2, 3);
  for (const char* method : {"snr", "sfd", "svm-rfe", "svm-rmb"}) {
    SCOPED_TRACE(method);
    expect_same_sets(run(two, method, {}), run(in_units(two, units(12, 18)), method, {}));
  }
}

// Relevance weights are of rows of unit norm; what a set is judged by, its variance, has units.
TEST(Units, RelevanceWeightsDoNotDependOnThem) {
  const DatasetParts data = oracle::random_classes(60, 12, 2, 3);
  const DatasetParts scaled = in_units(data, units(12, 21));
  for (const char* method : {"qalpha", "qalpha-basic", "qalpha-ritz", "qalpha-supervised"}) {
    SCOPED_TRACE(method);
    const Selection a = run(data, method, {}), b = run(scaled, method, {});
    EXPECT_EQ(a.ranking, b.ranking);
    for (std::size_t j = 0; j < a.weights.size(); ++j) EXPECT_NEAR(a.weights[j], b.weights[j], 1e-8);
  }
}

TEST(Units, OptimalScoringDoesNotDependOnThem) {
  for (const Table& table : tables()) {
    const Vector scale = units(table.data.features(), 19);
    for (const auto method : kByUnitNorms) {
      SCOPED_TRACE(fmt::format("{}, {}", table.name, method));
      const Selection plain = run(table.data, method, {});
      const Selection scaled = run(in_units(table.data, scale), method, {});
      expect_same_sets(plain, scaled);
      ASSERT_EQ(plain.fits().size(), scaled.fits().size());
      for (std::size_t f = 0; f < plain.fits().size(); ++f) {
        EXPECT_NEAR(plain.fits()[f].lambda, scaled.fits()[f].lambda, 1e-9 * plain.fits()[f].lambda);
        EXPECT_EQ(plain.fits()[f].features, scaled.fits()[f].features);
      }
    }
  }
}

TEST(Units, PredictionsDoNotDependOnThem) {
  const std::vector<Ridge> ridges = {Ridge{}, Ridge{.value = {}, .fraction = 0.01}};
  for (const Table& table : tables()) {
    const Vector scale = units(table.data.features(), 20);
    const Dataset plain(table.data), scaled(in_units(table.data, scale));
    for (const auto& ridge : ridges) {
      for (const char* method : {"gslda", "fisher", "all", "gloss", "rvm-row"}) {
        for (const Classifier& classifier : {Classifier(Lda{}), Classifier(Svm{.C = 1.0})}) {
          SCOPED_TRACE(fmt::format("{}, {}, {}", table.name, method, classifier.name()));
          FitOptions options{.k = 4, .classifier = classifier};
          options.select.ridge = ridge;
          const DenseMatrix a = fit(plain, Method(method), options).predict_proba(plain);
          const DenseMatrix b = fit(scaled, Method(method), options).predict_proba(scaled);
          ASSERT_EQ(a.rows(), b.rows());
          for (Index i = 0; i < a.rows(); ++i) {
            for (Index c = 0; c < a.cols(); ++c) EXPECT_NEAR(a(i, c), b(i, c), 1e-6);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace subspectra::units_test
