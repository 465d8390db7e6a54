/// Quadruple precision against long double where that suffices, and against the same sets in other columns
/// where it does not.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle.hpp"
#include "verify/dense_pair.hpp"

namespace subspectra {
namespace {

using verify::DensePair;

constexpr std::array kEveryCriterion = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};

TEST(MoreDigits, AgreeWhereFewerSuffice) {
  for (const Index classes : {2, 4}) {
    DatasetParts parts = oracle::random_classes(60, 6, classes, 71);
    const DensePair table = verify::table_pair(Dataset(parts), {0, 1, 2, 3, 4, 5}, true, {0.0, 1e-3});
    const Matrix a = table.a, b = table.b;
    const DensePair matrices = verify::matrix_pair(a, &b, {0, 1, 2, 3, 4, 5}, {});
    for (const Criterion criterion : kEveryCriterion) {
      for (const std::vector<Index>& set : {std::vector<Index>{3}, {0, 4}, {1, 2, 3, 5}}) {
        const auto value = verify::dense_value(table, set, criterion);
        for (const DensePair* pair : {&table, &matrices}) {
          const auto sharper = verify::sharper_value(*pair, set, criterion);
          ASSERT_TRUE(sharper && sharper->feasible);
          EXPECT_NEAR(sharper->value, value.value, 1e-13 * value.value);
          EXPECT_LT(sharper->error, 1e-14);
        }
      }
    }
  }
}

/// b = a + 2^-s d exactly, so that {a, b} and {a, d} span the same and have the same value.
TEST(MoreDigits, NearCopiesHaveTheValueOfTheirDifference) {
  DatasetParts parts = oracle::random_classes(50, 3, 3, 72);
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 3; ++j) parts.dense(i, j) = std::round(256.0 * parts.dense(i, j));
  }
  const DensePair apart = verify::table_pair(Dataset(parts), {0, 1, 2}, true, {});
  for (const int bits : {8, 16, 24, 30}) {
    DatasetParts copied = parts;
    copied.dense.col(1) = parts.dense.col(0) + std::ldexp(1.0, -bits) * parts.dense.col(1);
    const DensePair pair = verify::table_pair(Dataset(copied), {0, 1, 2}, true, {});
    for (const Criterion criterion : kEveryCriterion) {
      const double expected = verify::dense_value(apart, {0, 1, 2}, criterion).value;
      const auto value = verify::sharper_value(pair, {0, 1, 2}, criterion);
      ASSERT_TRUE(value && value->feasible) << bits;
      EXPECT_NEAR(value->value, expected, 1e-12 * expected) << bits;
      EXPECT_LT(value->error, 1e-10);
    }
    const auto rank = pair.more->rank({0, 1, 2});
    ASSERT_TRUE(rank);
    EXPECT_EQ(rank->sure, 3);
  }
  parts.dense.col(1) = 2.0 * parts.dense.col(0) + parts.dense.col(2);
  const DensePair pair = verify::table_pair(Dataset(parts), {0, 1, 2}, true, {});
  EXPECT_TRUE(verify::sharper_value(pair, {0, 1, 2}, Criterion::kLargest)->dependent);
  EXPECT_EQ(pair.more->rank({0, 1, 2})->most, 2);
}

}  // namespace
}  // namespace subspectra
