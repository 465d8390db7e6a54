#include <gtest/gtest.h>

#include <limits>

#include "data/dataset.hpp"
#include "spectral/pencil.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Act>
std::string message_of(Act&& act) {
  try {
    act();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// 6 rows in two classes, x3 large beside the others.
DatasetParts small_table() {
  DatasetParts data;
  data.dense = Matrix::NullaryExpr(
      6, 4, [](Index i, Index j) { return double((i * 7 + j * 5) % 11) * (j == 3 ? 1e3 : 1.0); });
  data.names = FeatureNames(4);
  data.labels = Labels::from_texts("class", {"a", "a", "a", "b", "b", "b"});
  return data;
}

TEST(FiniteValues, IsAskedBeforeAnOverflowIsReported) {
  DatasetParts data = small_table();
  data.source = "memory";
  data.dense(4, 2) = kNan;
  const std::string sentence = "memory: column 'x2' holds NaN in row 4";
  EXPECT_EQ(message_of([&] { (void)resolve_ridge(data, {0, 1, 2, 3}, Ridge{}, 1); }).find(sentence), 0U);
  EXPECT_EQ(message_of([&] { (void)lda_pencil(data, 0.1, 1); }).find(sentence), 0U);
  EXPECT_EQ(message_of([&] { (void)pca_pencil(data, 1); }).find(sentence), 0U);
}

}  // namespace
}  // namespace subspectra
