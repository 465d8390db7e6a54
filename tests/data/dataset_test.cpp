#include "data/dataset.hpp"

#include <gtest/gtest.h>

namespace subspectra {
namespace {

DatasetParts small(bool sparse) {
  DatasetParts data;
  Matrix x(3, 4);
  x << 1, 0, 3, 0, 0, 6, 0, 8, 9, 0, 11, 0;
  data.is_sparse = sparse;
  if (sparse) {
    data.sparse = x.sparseView();
    data.sparse.makeCompressed();
  } else {
    data.dense = x;
  }
  data.names = FeatureNames(4);
  data.labels = Labels::from_texts("y", {"b", "", "a"});
  data.weights = Vector::LinSpaced(3, 1, 3);
  data.row_groups = {"g", "h", "i"};
  return data;
}

TEST(Labels, ClassesAreSortedByValueIfAllAreNumbersElseByBytes) {
  EXPECT_EQ(Labels::from_texts("y", {"10", "9", "+1", "1.0"}).classes,
            (std::vector<std::string>{"1", "9", "10"}));
  EXPECT_EQ(Labels::from_texts("y", {"10", "9", "x"}).classes, (std::vector<std::string>{"10", "9", "x"}));
  const Labels labels = Labels::from_texts("y", {"b", "", "a", "b"});
  EXPECT_EQ(labels.codes, (std::vector<int>{1, Labels::kMissing, 0, 1}));
  EXPECT_EQ(labels.counts(), (std::vector<Index>{1, 2}));
  EXPECT_EQ(labels.class_count(), 2);
  // Above 2^53 two numbers may read alike, so they stay texts.
  EXPECT_EQ(Labels::from_texts("y", {"9007199254740993", "9007199254740992"}).class_count(), 2);
  EXPECT_EQ(Labels::from_texts("y", {}).class_count(), 0);
}

TEST(Dataset, MovingASparseTableMovesItsValues) {
  DatasetParts data;
  data.is_sparse = true;
  data.sparse.resize(3, 2);
  data.sparse.insert(1, 0) = 5.0;
  data.sparse.makeCompressed();
  const double* const values = data.sparse.valuePtr();
  DatasetParts moved = std::move(data);
  EXPECT_EQ(moved.sparse.valuePtr(), values);
  DatasetParts assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.sparse.valuePtr(), values);
  EXPECT_EQ(Dataset(assigned).column(0)[1], 5.0);
  const DatasetParts copy = assigned;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_NE(copy.sparse.valuePtr(), values);
}

TEST(Dataset, RowsMayBeReorderedAndRepeated) {
  for (const bool sparse : {false, true}) {
    SCOPED_TRACE(sparse);
    const Dataset all = small(sparse);
    const Dataset part = all.with_rows({2, 0, 2});
    ASSERT_EQ(part.rows(), 3);
    const Matrix x = part.columns({0, 1, 2, 3});
    EXPECT_EQ(x.row(0), all.columns({0, 1, 2, 3}).row(2));
    EXPECT_EQ(x.row(1), all.columns({0, 1, 2, 3}).row(0));
    EXPECT_EQ(x.row(2), x.row(0));
    EXPECT_EQ(part.labels()->codes, (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(part.weights()[0], 3.0);
    EXPECT_EQ(part.row_groups()[1], "g");
    EXPECT_EQ(part.with_rows({1}).original_rows(), (std::vector<Index>{0}));
    EXPECT_EQ(all.with_rows({}).rows(), 0);
  }
}

TEST(Dataset, FeaturesMayBeReorderedAndKeepTheirNames) {
  for (const bool sparse : {false, true}) {
    SCOPED_TRACE(sparse);
    const Dataset part = Dataset(small(sparse)).with_features({3, 1});
    ASSERT_EQ(part.features(), 2);
    EXPECT_EQ(part.names()[0], "x3");
    EXPECT_EQ(part.column(0), (Vector(3) << 0, 8, 0).finished());
    EXPECT_EQ(part.column(1), (Vector(3) << 0, 6, 0).finished());
    EXPECT_EQ(part.weight(1), 2.0);
    EXPECT_TRUE(part.labels());
  }
}

}  // namespace
}  // namespace subspectra
