#include "data/finite.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "data/dataset.hpp"

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

TEST(RequireFinite, NamesColumnAndRow) {
  DatasetParts data = small_table();
  const std::vector<Index> all = {0, 1, 2, 3};
  EXPECT_NO_THROW(require_finite(data, all));
  data.dense(4, 2) = kNan;
  constexpr const char* kSentence =
      "column 'x2' holds NaN in row 4 (rows count from 0); put a number there, or leave the row out";
  EXPECT_EQ(message_of([&] { require_finite(data, all); }), kSentence);
  // By rows, in memory of another layout.
  const std::string in_data = std::string("data: ") + kSentence;
  using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const ByRows by_rows = data.dense;
  EXPECT_EQ(message_of([&] { require_finite(Dataset(by_rows), all); }), in_data);
  const Eigen::SparseMatrix<double> sparse = data.dense.sparseView();
  EXPECT_EQ(message_of([&] { require_finite(Dataset(sparse), all); }), in_data);
  data.dense(4, 2) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      message_of([&] {
        require_finite(data, {1, 2});
      }),
      "column 'x2' holds an infinite value in row 4 (rows count from 0); put a number there, or leave the row out");
  EXPECT_NO_THROW(require_finite(data, {0, 1, 3}));
}

}  // namespace
}  // namespace subspectra
