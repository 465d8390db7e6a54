#include "data/dataset.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cmath>

#include "data/moments.hpp"
#include "data/prepare.hpp"

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
  EXPECT_EQ(Dataset(assigned).values().column(0)[1], 5.0);
  const DatasetParts copy = assigned;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_NE(copy.sparse.valuePtr(), values);
}

TEST(Dataset, RowsMayBeReorderedAndRepeated) {
  for (const bool sparse : {false, true}) {
    SCOPED_TRACE(sparse);
    const Dataset all = small(sparse);
    const Dataset part = all.with_rows({2, 0, 2});
    ASSERT_EQ(part.rows(), 3);
    const Matrix x = part.values().matrix();
    EXPECT_EQ(x.row(0), all.values().matrix().row(2));
    EXPECT_EQ(x.row(1), all.values().matrix().row(0));
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
    EXPECT_EQ(part.values().column(0), (Vector(3) << 0, 8, 0).finished());
    EXPECT_EQ(part.values().column(1), (Vector(3) << 0, 6, 0).finished());
    EXPECT_EQ(part.weight(1), 2.0);
    EXPECT_TRUE(part.labels());
  }
}

// --- the constructors that users call
// ------------------------------------------------------------------------

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix numbers() {
  Matrix x(4, 3);
  x << 1, 0, 3, 0, 5, 6, 7, 0, 0, 10, 11, 0;
  return x;
}

const std::vector<int> kLabels = {3, -1, 3, 10};

TEST(Values, ColumnsAreReplacedAndZerosStoredHoweverTheOthersAreKept) {
  for (const bool sparse : {false, true}) {
    const Dataset all = small(sparse);
    for (const Dataset& data : {all, all.with_rows({2, 0, 2})}) {
      Matrix columns(3, 2);
      columns << 0, 5, -7, 0, 0, 0;
      Matrix expected = data.values().matrix();
      expected(Eigen::all, {1, 2}) = columns;
      const std::array<Index, 2> replaced = {1, 2};
      const Values changed = data.values().with_columns(replaced, columns);
      EXPECT_EQ(changed.matrix(), expected);
      EXPECT_EQ(changed.leaves_out_zeros(), sparse);
      EXPECT_EQ(changed.entries(1), sparse ? 1 : 3);
      const Values full = data.values().with_zeros("small");
      EXPECT_EQ(full.matrix(), data.values().matrix());
      EXPECT_FALSE(full.leaves_out_zeros());
      if (!sparse) EXPECT_EQ(full.data(), data.values().data());
    }
  }
}

TEST(Dataset, IsAViewOfDenseMemoryWithAnyStrides) {
  const Matrix x = numbers();
  const RowMajor by_rows = x;
  Matrix wide(9, 8);
  Eigen::Map<Matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> spread(
      wide.data() + 1, 4, 3, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(18, 2));
  spread = x;
  std::vector<double> plain(x.data(), x.data() + x.size());
  const Eigen::Ref<const Matrix> reference = x;
  const auto block = x.topRows(4);
  const struct {
    Dataset data;
    const double* memory;
  } all[] = {{Dataset(x, kLabels), x.data()},
             {Dataset(by_rows, kLabels), by_rows.data()},
             {Dataset(spread, kLabels), wide.data() + 1},
             {Dataset(reference, kLabels), x.data()},
             {Dataset(block, kLabels), x.data()},
             {Dataset(Eigen::Map<const Matrix>(x.data(), 4, 3), kLabels), x.data()},
             {Dataset(plain, 4, 3, kLabels), plain.data()},
             {Dataset(by_rows.data(), 4, 3, 3, 1, kLabels), by_rows.data()},
             {Dataset(DenseView{x.data(), 4, 3, 1, 4}, kLabels), x.data()}};
  for (const auto& [data, memory] : all) {
    EXPECT_EQ(data.values().data(), memory);
    EXPECT_FALSE(data.is_sparse());
    EXPECT_FALSE(data.values().has_packed_copy());
    EXPECT_EQ(data.values().matrix(), x);
    EXPECT_EQ(data.values().column(1), x.col(1));
    EXPECT_EQ(data.values().packed(), x);
    EXPECT_EQ(data.with_rows({3, 1, 3}).values().matrix(), x({3, 1, 3}, Eigen::all));
    EXPECT_EQ(data.with_features({2, 0}).values().matrix(), x(Eigen::all, {2, 0}));
    Vector products(3);
    data.values().transposed_times(VectorRef(Vector::LinSpaced(4, 1, 4)), products, 1);
    EXPECT_EQ(products, (x.transpose() * Vector::LinSpaced(4, 1, 4)).eval());
  }
}

TEST(Dataset, TakesCompressedColumnsWithoutACopy) {
  const Matrix x = numbers();
  const Eigen::SparseMatrix<double> sparse = x.sparseView();
  const Eigen::Map<const Eigen::SparseMatrix<double>> map(4, 3, sparse.nonZeros(), sparse.outerIndexPtr(),
                                                          sparse.innerIndexPtr(), sparse.valuePtr());
  const auto count = static_cast<std::size_t>(sparse.nonZeros());
  const CscView view{
      4, 3, {sparse.outerIndexPtr(), 4}, {sparse.innerIndexPtr(), count}, {sparse.valuePtr(), count}};
  for (const Dataset& data : {Dataset(sparse, kLabels), Dataset(map, kLabels), Dataset(view, kLabels)}) {
    EXPECT_TRUE(data.is_sparse());
    EXPECT_EQ(data.values().data(), sparse.valuePtr());
    EXPECT_EQ(data.values().matrix(), x);
    EXPECT_EQ(data.with_rows({3, 1, 3}).values().matrix(), x({3, 1, 3}, Eigen::all));
    EXPECT_EQ(data.with_rows({3, 1, 3}).with_rows({2, 2, 1, 0}).values().matrix(),
              x({3, 3, 1, 3}, Eigen::all));
    EXPECT_EQ(data.with_features({2, 0}).values().matrix(), x(Eigen::all, {2, 0}));
    EXPECT_EQ(data.values().block(std::vector<Index>{1, 0}, std::vector<Index>{2}), x({1, 0}, {2}));
    Vector products(3);
    data.values().transposed_times(VectorRef(Vector::LinSpaced(4, 1, 4)), products, 1);
    EXPECT_EQ(products, (x.transpose() * Vector::LinSpaced(4, 1, 4)).eval());
    std::vector<double> rows;
    data.with_rows({1, 0}).values().each_row([&](Index, const Vector& row) { rows.push_back(row[2]); });
    EXPECT_EQ(rows, (std::vector<double>{6, 3}));
  }
}

TEST(Dataset, OwnsWhatIsMovedIn) {
  Matrix x = numbers();
  const double* const memory = x.data();
  const Dataset dense(std::move(x), kLabels);
  EXPECT_EQ(dense.values().data(), memory);
  Eigen::SparseMatrix<double> sparse = numbers().sparseView();
  const double* const stored = sparse.valuePtr();
  const Dataset moved(std::move(sparse));
  EXPECT_EQ(moved.values().data(), stored);
  EXPECT_EQ(moved.values().matrix(), numbers());
  EXPECT_EQ(Dataset(DenseMatrix(numbers())).matrix(), DenseMatrix(numbers()));
}

TEST(Dataset, OwnsTemporariesThatWouldBeGone) {
  const Matrix x = numbers();
  const auto plain = [&] { return std::vector<double>(x.data(), x.data() + x.size()); };
  const auto constant = [&]() -> const Matrix { return x; };  // NOLINT(readability-const-return-type)
  const auto sparse = [&] { return Eigen::SparseMatrix<double>(x.sparseView()); };
  std::vector<double> moved = plain();
  const double* const memory = moved.data();
  const Dataset of_vector(std::move(moved), 4, 3, kLabels);
  EXPECT_EQ(of_vector.values().data(), memory);
  const std::vector<Dataset> all = {
      of_vector,
      Dataset(plain(), 4, 3),
      Dataset(std::array<double, 12>{1, 0, 7, 10, 0, 5, 0, 11, 3, 6, 0, 0}, 4, 3),
      Dataset(constant(), kLabels),
      Dataset(numbers().leftCols(3), kLabels),
      Dataset(Matrix(x.transpose()).transpose()),
      Dataset(Eigen::Ref<const Matrix>(RowMajor(x)), kLabels),
      Dataset(sparse().middleCols(0, 3), kLabels)};
  const std::vector<double> noise(400, 7.0);  // takes the place of what is gone
  for (const Dataset& data : all) EXPECT_EQ(data.values().matrix(), x);
  EXPECT_EQ(Dataset(sparse().middleCols(1, 2)).values().matrix(), x.rightCols(2));
  // What has no owner to move in, or other numbers than doubles, does not compile.
  static_assert(!std::is_constructible_v<Dataset, std::vector<float>, Index, Index>);
  static_assert(!std::is_constructible_v<Dataset, const std::vector<int>&, Index, Index>);
  static_assert(!std::is_constructible_v<Dataset, Eigen::MatrixXf>);
  static_assert(std::is_constructible_v<Dataset, std::span<double>, Index, Index>);
}

TEST(Dataset, RowsAreTakenByNumberAndShareTheValues) {
  const Matrix x = numbers();
  const Dataset data(x, kLabels, {.weights = {1, 2, 3, 4}, .groups = {"a", "b", "c", "d"}});
  const Dataset fold = data.with_rows({3, 0, 3}).with_rows({0, 1});
  EXPECT_EQ(fold.values().data(), x.data());
  EXPECT_FALSE(fold.values().has_packed_copy());
  EXPECT_EQ(fold.original_rows(), (std::vector<Index>{3, 0}));
  EXPECT_EQ(fold.class_codes()[0], 2);
  EXPECT_EQ(fold.weights()[0], 4.0);
  EXPECT_EQ(fold.row_groups(), (std::vector<std::string>{"d", "a"}));
  EXPECT_EQ(fold.values().columns(std::vector<Index>{1}), (Matrix(2, 1) << 11, 0).finished());
  EXPECT_FALSE(fold.values().has_packed_copy());
  EXPECT_EQ(fold.values().packed(), x({3, 0}, Eigen::all));  // the first kernel that asks makes the block
  EXPECT_TRUE(fold.values().has_packed_copy());
  EXPECT_FALSE(data.values().has_packed_copy());
  // All rows in their order are the table itself.
  EXPECT_FALSE((data.with_rows({0, 1, 2, 3}).values().packed().data() != x.data()));
}

TEST(Dataset, LabelsAreNumbersOrTextsAndClassesAreSorted) {
  const Matrix x = numbers();
  const std::vector<std::string> by_value = {"-1", "3", "10"};
  const auto classes = [](const Dataset& data) {
    return std::vector<std::string>(data.classes().begin(), data.classes().end());
  };
  const std::vector<std::string_view> views = {"3", "-1", "3", "10"};
  const Eigen::VectorXi eigen = Eigen::Map<const Eigen::VectorXi>(kLabels.data(), 4);
  const Vector floating = eigen.cast<double>();
  EXPECT_EQ(classes(Dataset(x, kLabels)), by_value);
  EXPECT_EQ(classes(Dataset(x, std::span<const int>(kLabels))), by_value);
  EXPECT_EQ(classes(Dataset(x, eigen)), by_value);
  EXPECT_EQ(classes(Dataset(x, floating)), by_value);
  EXPECT_EQ(classes(Dataset(x, views)), by_value);
  const Dataset texts(x, std::vector<std::string>{"b", "", "a", "b"});
  EXPECT_EQ(classes(texts), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(texts.class_codes()[1], -1);
  EXPECT_FALSE(Dataset(x).has_labels());
  EXPECT_TRUE(Dataset(x).classes().empty());
  EXPECT_EQ(Dataset(x).feature_names(), (std::vector<std::string>{"x0", "x1", "x2"}));
}

template <class Make>
std::string refusal(const Make& make) {
  try {
    (void)make();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Dataset, RefusesAtTheDoorWhatDoesNotFitTogether) {
  const Matrix x = numbers();
  const Eigen::SparseMatrix<double> sparse = x.sparseView();
  EXPECT_EQ(refusal([&] {
              return Dataset(x, std::vector<int>{1, 2});
            }),
            "y has 2 entries for 4 rows; give one for each row");
  EXPECT_EQ(refusal([&] { return Dataset(x, {.names = {"a"}}); }),
            "names has 1 entry for 3 columns; give one for each column");
  EXPECT_EQ(refusal([&] {
              return Dataset(x, {.weights = {1, 1}});
            }),
            "weights has 2 entries for 4 rows; give one for each row");
  EXPECT_EQ(
      refusal([&] {
        return Dataset(x, {.weights = {1, -1, 1, 1}});
      }),
      "weights holds -1 at row 1, but a weight is a number from 0 up; correct it, or write 0 to leave the row out");
  EXPECT_EQ(refusal([&] { return Dataset(x, {.groups = {"a"}}); }),
            "groups has 1 entry for 4 rows; give one for each row");
  EXPECT_EQ(
      refusal([&] {
        return Dataset(x, std::vector<double>{1, std::nan(""), 1, 2});
      }),
      "y holds nan at row 1, which is no class; give whole numbers or texts, \"\" for a row without a label");
  EXPECT_EQ(refusal([&] { return Dataset(std::vector<double>(5), 4, 3); }),
            "x has 5 numbers for 4 x 3; give rows times columns numbers, column after column");
  EXPECT_EQ(refusal([&] {
              return Dataset(DenseView{nullptr, 4, 3, 1, 4});
            }),
            "x is a null pointer; give the address of the first number");
  EXPECT_EQ(refusal([&] { return Dataset(x).with_rows({4}); }),
            "rows names row 4, but there are 4 of them; count from 0 to one below their number");
  const std::vector<std::int32_t> outer = {0, 2}, far = {0, 4}, twice = {1, 1};
  const std::vector<double> values = {1, 2};
  const std::string way_out =
      "; give compressed columns with row numbers that ascend within each (makeCompressed())";
  EXPECT_EQ(refusal([&] {
              return Dataset(CscView{4, 1, outer, far, values});
            }),
            "x names row 4 in column 0, but there are 4 rows" + way_out);
  EXPECT_EQ(refusal([&] {
              return Dataset(CscView{4, 1, outer, twice, values});
            }),
            "x has row numbers that do not ascend in column 0" + way_out);
  EXPECT_EQ(refusal([&] {
              return Dataset(CscView{4, 2, outer, twice, values});
            }),
            "x has 2 positions for 2 columns, but one more than columns is needed" + way_out);
}

TEST(Dataset, RefusesSizesWhoseProductOverflowsAndNamesThatAreNotUtf8) {
  EXPECT_EQ(
      refusal([] { return Dataset(std::vector<double>(), Index{1} << 33, Index{1} << 31); }),
      "x has 0 numbers for 8589934592 x 2147483648; give rows times columns numbers, column after column");
  const Matrix x = numbers();
  EXPECT_EQ(refusal([&] {
              return Dataset(x, {.names = {"a", "\xff\xfe", "é"}});
            }),
            "names holds '\\xFF\\xFE' at 1, which is not UTF-8; convert it to UTF-8");
  EXPECT_EQ(refusal([&] {
              return Dataset(x, std::vector<std::string>{"a", "b", "b", "\xc0\xaf"});
            }),
            "y holds '\\xC0\\xAF' at 3, which is not UTF-8; convert it to UTF-8");
  EXPECT_NO_THROW(Dataset(x, {.names = {"a", "é", "\xf0\x9f\x98\x80"}}));
}

TEST(Dataset, AValueThatIsNoNumberIsRefusedByRowAndColumn) {
  Matrix x = numbers();
  x(2, 1) = std::nan("");
  const Eigen::SparseMatrix<double> sparse = x.sparseView();
  for (const Dataset& data : {Dataset(x, kLabels, {.names = {"a", "b", "c"}}),
                              Dataset(sparse, kLabels, {.names = {"a", "b", "c"}})}) {
    EXPECT_EQ(
        refusal([&] { return check_values(data, {}); }),
        "x holds NaN in row 2 of column 'b' (1 missing value in 1 column: b (1)); use prepare.missing = MissingPolicy::kMean or prepare.missing = MissingPolicy::kDrop, or leave columns out with exclude");
    EXPECT_EQ(check_values(data, {.missing = MissingPolicy::kDrop}).rows(), 3);
  }
  x(2, 1) = kInfinity;
  EXPECT_EQ(
      refusal([&] { return check_values(Dataset(x), {.missing = MissingPolicy::kMean}); }),
      "x holds an infinite value in row 2 of column 'x1' (1 infinite value in 1 column: x1 (1)); correct what is wrong, write NaN for a missing value, or use prepare.missing = MissingPolicy::kDrop");
}

TEST(Dataset, PreparationCopiesOnlyWhatItChanges) {
  Matrix x = numbers();
  const Dataset data(x, kLabels);
  const Dataset fold = data.with_rows({0, 1, 3});
  EXPECT_EQ(Preparation::learn(fold, {}).apply(fold).values().data(), x.data());
  const PrepareOptions mean{.missing = MissingPolicy::kMean};
  EXPECT_EQ(Preparation::learn(fold, mean).apply(fold).values().data(), x.data());
  EXPECT_NE(Preparation::learn(fold, {.standardize = true}).apply(fold).values().data(), x.data());
  x(3, 0) = std::nan("");
  const Dataset filled = Preparation::learn(fold, mean).apply(fold);
  EXPECT_EQ(filled.values().matrix()(2, 0), 0.5);
  EXPECT_TRUE(std::isnan(x(3, 0)));  // the caller's memory is never written
}

TEST(Dataset, ReadsMemoryThatCannotBeWritten) {
  constexpr Index kRows = 128, kColumns = 4;
  constexpr std::size_t kBytes = 8 * kRows * kColumns;
  void* const pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const numbers_there = static_cast<double*>(pages);
  const Matrix x = Matrix::Random(kRows, kColumns);
  std::copy(x.data(), x.data() + x.size(), numbers_there);
  ASSERT_EQ(::mprotect(pages, kBytes, PROT_READ), 0);
  std::vector<int> y;
  for (Index i = 0; i < kRows; ++i) y.push_back(static_cast<int>(i % 2));
  {
    const Dataset data(numbers_there, kRows, kColumns, 1, kRows, y);
    const PrepareOptions options{.missing = MissingPolicy::kMean, .standardize = true};
    const Dataset checked = check_values(data, options);
    const Dataset prepared = Preparation::learn(checked, options).apply(checked);
    EXPECT_NEAR(prepared.values().packed().col(0).squaredNorm(), static_cast<double>(kRows), 1e-9);
    EXPECT_EQ(compute_moments(data, Moments::SecondOrder::kFull, 1).within_covariance(),
              compute_moments(Dataset(x, y), Moments::SecondOrder::kFull, 1).within_covariance());
  }
  EXPECT_EQ(::munmap(pages, kBytes), 0);
}

TEST(Dataset, MomentsOfAFoldAreThoseOfItsCopyAndPackNothing) {
  Matrix x = Matrix::Random(60, 7);
  std::vector<int> y;
  for (int i = 0; i < 60; ++i) y.push_back(i % 3);
  const RowMajor by_rows = x;
  std::vector<Index> rows;
  for (Index i = 59; i > 0; i -= 2) rows.push_back(i);
  const Dataset copy(Matrix(x(rows, Eigen::all)), std::vector<int>([&] {
                       std::vector<int> chosen;
                       for (const Index i : rows) chosen.push_back(y[static_cast<std::size_t>(i)]);
                       return chosen;
                     }()));
  for (const Dataset& all : {Dataset(x, y), Dataset(by_rows, y)}) {
    const Dataset fold = all.with_rows(rows);
    for (const auto order : {Moments::SecondOrder::kDiagonal, Moments::SecondOrder::kFull}) {
      const Moments a = compute_moments(fold, order, 1), b = compute_moments(copy, order, 1);
      EXPECT_EQ(a.class_means(), b.class_means());
      EXPECT_EQ(a.class_sums_of_squares(), b.class_sums_of_squares());
      if (order == Moments::SecondOrder::kFull) {
        EXPECT_EQ(a.within_covariance(), b.within_covariance());
      }
    }
    EXPECT_FALSE(fold.values().has_packed_copy());
  }
}

}  // namespace
}  // namespace subspectra
