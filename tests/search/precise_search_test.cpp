#include "search/precise_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {
namespace {

/// The criterion by definition, in quadruple precision: elimination of [B M], no factor and no update.
class QuadTruth {
 public:
  __extension__ using Quad = __float128;

  QuadTruth(const DatasetParts& data, double fraction) : data_(data), fraction_(fraction) {}

  [[nodiscard]] double trace(const std::vector<Index>& set) const {
    const std::size_t k = set.size();
    const int classes = data_.labels->class_count();
    const auto n = data_.dense.rows();
    std::vector<std::vector<Quad>> m(k, std::vector<Quad>(k + static_cast<std::size_t>(classes)));
    std::vector<std::vector<Quad>> mean(k, std::vector<Quad>(static_cast<std::size_t>(classes)));
    std::vector<Quad> weight(static_cast<std::size_t>(classes));
    Quad total = 0;
    for (Index i = 0; i < n; ++i) {
      weight[code(i)] += w(i);
      total += w(i);
    }
    for (std::size_t a = 0; a < k; ++a) {
      for (Index i = 0; i < n; ++i) mean[a][code(i)] += w(i) * Quad(data_.dense(i, set[a]));
      for (std::size_t c = 0; c < weight.size(); ++c) mean[a][c] /= weight[c];
    }
    std::vector<std::vector<Quad>> between(k, std::vector<Quad>(k));
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t b = 0; b < k; ++b) {
        Quad within = 0, grand_a = 0, grand_b = 0;
        for (Index i = 0; i < n; ++i)
          within += w(i) * (Quad(data_.dense(i, set[a])) - mean[a][code(i)]) *
                    (Quad(data_.dense(i, set[b])) - mean[b][code(i)]);
        for (std::size_t c = 0; c < weight.size(); ++c) {
          grand_a += weight[c] * mean[a][c] / total;
          grand_b += weight[c] * mean[b][c] / total;
        }
        for (std::size_t c = 0; c < weight.size(); ++c)
          between[a][b] += weight[c] / total * (mean[a][c] - grand_a) * (mean[b][c] - grand_b);
        m[a][b] = within / total * (a == b ? Quad(1) + Quad(fraction_) : Quad(1));
      }
    }
    // tr B^{-1} A by Gauss-Jordan on [B A].
    for (std::size_t a = 0; a < k; ++a) {
      m[a].resize(2 * k);
      for (std::size_t b = 0; b < k; ++b) m[a][k + b] = between[a][b];
    }
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t r = 0; r < k; ++r) {
        if (r == c) continue;
        const Quad factor = m[r][c] / m[c][c];
        for (std::size_t j = c; j < 2 * k; ++j) m[r][j] -= factor * m[c][j];
      }
    }
    Quad trace = 0;
    for (std::size_t a = 0; a < k; ++a) trace += m[a][k + a] / m[a][a];
    return static_cast<double>(trace);
  }

 private:
  [[nodiscard]] std::size_t code(Index i) const {
    return static_cast<std::size_t>(data_.labels->codes[static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] Quad w(Index i) const { return data_.weights.size() > 0 ? data_.weights[i] : 1.0; }
  const DatasetParts& data_;
  double fraction_;
};

/// Column 1 is column 0 but for `apart`, the last the sum of two others but for as much; large offsets.
DatasetParts near_copies(double apart, std::uint64_t seed, bool weighted) {
  DatasetParts data = oracle::random_classes(30, 7, 3, seed);
  data.dense.col(1) = 1e3 * (data.dense.col(0) + apart * data.dense.col(1));
  data.dense.col(6) = data.dense.col(2) - data.dense.col(3) + apart * data.dense.col(6);
  data.dense.col(4).array() += 1e6;
  if (weighted) data.weights = Vector::LinSpaced(30, 0.3, 2.7);
  return data;
}

SearchUnits all_of(const DatasetParts& data, std::vector<Index> include = {}) {
  std::vector<Index> all;
  for (Index j = 0; j < data.dense.cols(); ++j) all.push_back(j);
  return SearchUnits::singles(all, include);
}

std::vector<std::vector<Index>> subsets(Index n, std::size_t k) {
  std::vector<std::vector<Index>> found;
  for (unsigned bits = 0; bits < 1U << static_cast<unsigned>(n); ++bits) {
    std::vector<Index> set;
    for (Index j = 0; j < n; ++j) {
      if ((bits >> static_cast<unsigned>(j) & 1U) != 0) set.push_back(j);
    }
    if (set.size() == k) found.push_back(set);
  }
  return found;
}

TEST(PreciseValue, AgreesWithQuadruplePrecisionUpToTheConditionsOfTables) {
  for (const double apart : {1e-2, 1e-5, 1e-8}) {
    for (const bool weighted : {false, true}) {
      for (const double fraction : {0.0, 1e-9}) {
        SCOPED_TRACE(::testing::Message() << apart << ' ' << weighted << ' ' << fraction);
        const DatasetParts parts = near_copies(apart, 11, weighted);
        const Dataset data(parts);
        const QuadTruth truth(parts, fraction);
        const auto pencil = lda_pencil(data, RidgeAmount(0.0, fraction), 1);
        for (std::size_t k = 1; k <= 7; ++k) {
          for (const auto& set : subsets(7, k)) {
            const double expected = truth.trace(set);
            const auto found = precise_value(*pencil->precise_block(set), Criterion::kTrace);
            ASSERT_TRUE(found);
            EXPECT_NEAR(found->value, expected, 1e-13 * expected);
          }
        }
      }
    }
  }
}

/// B = I and two columns of M that are one but for a part of 1e-10: det(I + M'M) = (1 + a)(2 + a) - a^2 = 2 +
/// 3a with a = 1e20, of which M'M in 31 digits still knows every one, and in doubles none.
TEST(PreciseValue, OfTheLogarithmKeepsWhatIsSmallBesideALargeEigenvalue) {
  for (const double large : {1e3, 1e10, 1e14}) {
    PreciseBlock block{.b = {2, 2}, .m = {2, 2}, .a = {}};
    block.b(0, 0) = block.b(1, 1) = 1.0;
    block.m(0, 0) = block.m(0, 1) = large;
    block.m(1, 1) = 1.0;
    const auto found = precise_value(block, Criterion::kWilks);
    ASSERT_TRUE(found);
    EXPECT_LT(found->error, 1e-10) << large;
    EXPECT_NEAR(found->value, std::log(2.0 + 3.0 * large * large), 1e-13 * found->value);
  }
}

TEST(PreciseSearch, FindsAndProvesTheBestSetsOfNearCopies) {
  for (const double apart : {1e-3, 1e-4, 1e-5}) {
    SCOPED_TRACE(apart);
    const DatasetParts parts = near_copies(apart, 5, true);
    const Dataset data(parts);
    const QuadTruth truth(parts, 0.0);
    const auto pencil = lda_pencil(data, 0.0, 1);
    for (const std::vector<Index>& include : {std::vector<Index>{}, {3}}) {
      const SearchUnits units = all_of(parts, include);
      const auto root = precise_root(*pencil, units, Criterion::kTrace);
      ASSERT_TRUE(root);
      for (std::size_t k = 1; k <= 7; ++k) {
        std::vector<double> values;
        std::vector<Index> poor;
        for (const auto& set : subsets(7, k)) {
          if (!include.empty() && std::find(set.begin(), set.end(), 3) == set.end()) continue;
          values.push_back(truth.trace(set));
          poor = set;
        }
        std::sort(values.rbegin(), values.rend());
        const std::size_t wanted = std::min<std::size_t>(3, values.size());
        const auto best = precise_best(*pencil, units, Criterion::kTrace, static_cast<Index>(k),
                                       {{poor, truth.trace(poor)}}, wanted, RunControl());
        EXPECT_TRUE(best.proven);
        ASSERT_EQ(best.sets.size(), wanted);
        for (std::size_t i = 0; i < wanted; ++i) {
          EXPECT_NEAR(best.sets[i].objective, truth.trace(best.sets[i].features), 1e-10 * values[0]);
          EXPECT_NEAR(best.sets[i].objective, values[i], 1e-9 * values[0]);
        }
      }
      for (Index j = 0; j < 7; ++j) {
        std::vector<Index> rest;
        for (Index i = 0; i < 7; ++i) {
          if (i != j) rest.push_back(i);
        }
        const bool stays = !include.empty() && j == 3;
        const double expected = stays ? 0.0 : root->value - truth.trace(rest);
        EXPECT_NEAR(root->losses[j], expected, 1e-10 * root->value);
      }
    }
  }
}

/// Units of one, two and three features.
TEST(PreciseSearch, FindsAndProvesTheBestGroups) {
  const DatasetParts parts = near_copies(1e-4, 5, true);
  const Dataset data(parts);
  const QuadTruth truth(parts, 0.0);
  const auto pencil = lda_pencil(data, 0.0, 1);
  SearchUnits units;
  units.members = {{0, 4}, {1}, {2, 5, 6}, {3}};
  units.single = false;
  units.group = {0, 1, 2, 3};
  for (const std::vector<Index>& include : {std::vector<Index>{}, {1}}) {
    units.include = include;
    for (std::size_t k = 1; k <= 4; ++k) {
      std::vector<double> values;
      for (const auto& set : subsets(4, k)) {
        if (!include.empty() && std::find(set.begin(), set.end(), 1) == set.end()) continue;
        values.push_back(truth.trace(units.features(set)));
      }
      std::sort(values.rbegin(), values.rend());
      const std::size_t wanted = std::min<std::size_t>(2, values.size());
      const auto best =
          precise_best(*pencil, units, Criterion::kTrace, static_cast<Index>(k), {}, wanted, RunControl());
      EXPECT_TRUE(best.proven);
      ASSERT_EQ(best.sets.size(), wanted);
      for (std::size_t i = 0; i < wanted; ++i) {
        EXPECT_NEAR(best.sets[i].objective, truth.trace(best.sets[i].features), 1e-10 * values[0]);
        EXPECT_NEAR(best.sets[i].objective, values[i], 1e-9 * values[0]);
      }
    }
  }
}

/// What is left of T without a feature that is worth 1e24 times as much has no digits of its own.
TEST(PreciseSearch, SeesTheRestBehindAFeatureThatSeparates) {
  DatasetParts parts = near_copies(1e-3, 5, false);
  for (Index i = 0; i < parts.dense.rows(); ++i)
    parts.dense(i, 2) = 1e-12 * parts.dense(i, 2) + (parts.labels->codes[static_cast<std::size_t>(i)] == 1);
  const Dataset data(parts);
  const QuadTruth truth(parts, 0.0);
  const auto pencil = lda_pencil(data, 0.0, 1);
  for (const std::size_t k : {1, 2, 3}) {
    std::vector<double> values;
    for (const auto& set : subsets(7, k)) values.push_back(truth.trace(set));
    std::sort(values.rbegin(), values.rend());
    const auto best = precise_best(*pencil, all_of(parts), Criterion::kTrace, static_cast<Index>(k), {},
                                   values.size(), RunControl());
    ASSERT_EQ(best.sets.size(), values.size());
    EXPECT_TRUE(best.proven);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(best.sets[i].objective, values[i], 1e-9 * values[i]);
      EXPECT_NEAR(best.sets[i].objective, truth.trace(best.sets[i].features), 1e-9 * values[i]);
    }
    const std::size_t few = values.size() / 2;
    const auto better =
        precise_best(*pencil, all_of(parts), Criterion::kTrace, static_cast<Index>(k), {}, few, RunControl());
    EXPECT_TRUE(better.proven);
    for (std::size_t i = 0; i < few; ++i) EXPECT_NEAR(better.sets[i].objective, values[i], 1e-9 * values[i]);
  }
}

TEST(PreciseSearch, SaysThatItKnowsNothingOfTooManyFeatures) {
  const DatasetParts parts = near_copies(1e-3, 5, false);
  const Dataset data(parts);
  const auto pencil = lda_pencil(data, 0.0, 1);
  SearchUnits groups = all_of(parts);
  groups.single = false;
  EXPECT_FALSE(precise_root(*pencil, groups, Criterion::kTrace));
  const DatasetParts many = oracle::random_classes(300, 200, 2, 1);
  const Dataset wide(many);
  EXPECT_FALSE(precise_root(*lda_pencil(wide, 0.0, 1), all_of(many), Criterion::kTrace));
}

}  // namespace
}  // namespace subspectra
