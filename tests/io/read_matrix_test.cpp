#include "io/read_matrix.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include <subspectra/error.hpp>
#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::Folder;
using testing::message_of;

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const Matrix& a) {
  Rows rows(static_cast<std::size_t>(a.rows()));
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) rows[static_cast<std::size_t>(i)].push_back(a(i, j));
  }
  return rows;
}

const Rows kTwo = {{2.0, 0.5}, {0.5, 3.0}};
const std::vector<std::string> kMatrixNames = {"u", "v"};

class ReadSquareMatrix : public ::testing::Test {
 protected:
  [[nodiscard]] SquareMatrix read(std::string_view text, const std::string& name = "S.csv") const {
    return read_square_matrix(folder_.write(name, text));
  }
  /// The sentence without the folder before the file's name.
  [[nodiscard]] std::string refusal(std::string_view text, const std::string& name = "S.csv") const {
    const std::string message = message_of([&] { return read(text, name); });
    const std::size_t begin = message.find(name);
    return begin == std::string::npos ? message : message.substr(begin);
  }
  Folder folder_;
};

TEST_F(ReadSquareMatrix, TakesNumbersAloneAndMakesUpNames) {
  const SquareMatrix s = read("2,0.5\n0.5,3\n");
  EXPECT_EQ(rows_of(s.values), kTwo);
  EXPECT_FALSE(s.names.given());
  EXPECT_EQ(s.names.all(), (std::vector<std::string>{"x0", "x1"}));
  EXPECT_EQ(s.source, folder_.path("S.csv"));
}

TEST_F(ReadSquareMatrix, TakesAHeaderRowRowNamesBothOrNeither) {
  for (const std::string_view text : {
           "u,v\n2,0.5\n0.5,3\n",           // header
           ",u,v\nu,2,0.5\nv,0.5,3\n",      // pandas
           "name,u,v\nu,2,0.5\nv,0.5,3\n",  // a named corner
           "u,v\nu,2,0.5\nv,0.5,3\n",       // R's write.table: no corner
           "u,2,0.5\nv,0.5,3\n",            // row names alone
           "\"u\",\"v\"\r\n2,0.5\r\n\r\n0.5,3",
           "\xef\xbb\xbf u , v \n 2 , 0.5 \n0.5,3\n\n",
       }) {
    SCOPED_TRACE(text);
    const SquareMatrix s = read(text);
    EXPECT_EQ(rows_of(s.values), kTwo);
    EXPECT_EQ(s.names.all(), kMatrixNames);
  }
}

TEST_F(ReadSquareMatrix, TakesNumbersAsNamesWhereTheCountSaysSo) {
  EXPECT_EQ(read("1,2\n2,0.5\n0.5,3\n").names.all(), (std::vector<std::string>{"1", "2"}));
  const SquareMatrix s = read(",01,02\n01,2,0.5\n02,0.5,3\n");
  EXPECT_EQ(s.names.all(), (std::vector<std::string>{"01", "02"}));
  EXPECT_EQ(rows_of(s.values), kTwo);
  EXPECT_EQ(read("a,\n2,0.5\n0.5,3\n").names.all(), (std::vector<std::string>{"a", "x1"}));
  EXPECT_EQ(read("class,class\n2,0.5\n0.5,3\n").names.all(), (std::vector<std::string>{"class", "class"}));
  EXPECT_EQ(read("\xe4,v\n2,0.5\n0.5,3\n").names[0], "ä") << "Latin-1, as in a table";
}

TEST_F(ReadSquareMatrix, TakesASingleEntry) {
  for (const std::string_view text : {"4", "a\n4\n", ",a\na,4\n", "a,4\n", "a\na,4\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(rows_of(read(text).values), (Rows{{4.0}}));
  }
}

TEST_F(ReadSquareMatrix, TakesTabsAndGzip) {
  EXPECT_EQ(rows_of(read("u\tv\n2\t0.5\n0.5\t3\n", "S.TSV").values), kTwo);
  const std::string path = folder_.path("S.csv.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "u,v\n2,0.5\n0.5,3\n");
  gzclose(file);
  EXPECT_EQ(rows_of(read_square_matrix(path).values), kTwo);
}

TEST_F(ReadSquareMatrix, AveragesWhatRoundingMadeDifferent) {
  const SquareMatrix s = read("1,0.3000000010\n0.3000000014,1\n");
  EXPECT_EQ(s.values(0, 1), s.values(1, 0));
  EXPECT_DOUBLE_EQ(s.values(0, 1), 0.3000000012);
  // The scale is that of the pair of features, so a correlation near zero may be all rounding.
  EXPECT_EQ(read("1e6,1e-3\n-1e-3,1e6\n").values(0, 1), 0.0);
  EXPECT_TRUE(contains(refusal("1e-6,1e-3\n-1e-3,1e-6\n"), "not symmetric"));
  // Entries near the largest double: neither the mean nor the scale overflows.
  EXPECT_EQ(read("1e308,1.5e308\n1.5e308,1e308\n").values(1, 0), 1.5e308);
  EXPECT_TRUE(contains(refusal("1e308,1.5e308\n-1.5e308,1e308\n"), "not symmetric"));
}

TEST_F(ReadSquareMatrix, SaysWhereAndWhatToDo) {
  EXPECT_EQ(
      refusal("u,v\n2,0.5\n0.6,3\n"),
      "S.csv:3:1: 0.6 here but 0.5 at line 2, column 2: the matrix is not symmetric; write it in full, or (A + A')/2 if the difference is rounding");
  EXPECT_EQ(
      refusal("\n,u,v\n\nu,2,0.5\n\nv,0.6,3\n"),
      "S.csv:6:2: 0.6 here but 0.5 at line 4, column 3: the matrix is not symmetric; write it in full, or (A + A')/2 if the difference is rounding");
  EXPECT_EQ(
      refusal("2,0.5\n0.5,-3\n"),
      "S.csv:2:2: the diagonal holds -3, but a variance is never negative; check that the file holds a covariance matrix");
  EXPECT_EQ(
      refusal("2,0.5\nNA,3\n"),
      "S.csv:2:1: a missing value where a finite number is needed; a covariance matrix has a value for every pair of features");
  EXPECT_EQ(
      refusal("2,inf\ninf,3\n"),
      "S.csv:1:2: an infinite value where a finite number is needed; a covariance matrix has a value for every pair of features");
  EXPECT_EQ(refusal("2,0.5\n0.5,three\n"),
            "S.csv:2:2: 'three' is not a number; names may stand in the first row and the first column only");
  EXPECT_TRUE(contains(refusal("2,0.5\nx,3\n"), "S.csv:2:1: 'x' is not a number"));
  EXPECT_TRUE(contains(refusal("2,x\n0.5,3\n"), "S.csv:1:2: 'x' is not a number"));
}

TEST_F(ReadSquareMatrix, RefusesWhatIsNotSquare) {
  EXPECT_EQ(
      refusal("1,2,3\n4,5,6\n"),
      "S.csv:2:1: the file ends after 2 rows of 3 numbers: not square, and a covariance matrix has as many rows as columns");
  EXPECT_EQ(
      refusal("u,v,w\n1,2,3\n4,5,6\n"),
      "S.csv:3:1: the file ends after 2 rows of 3 numbers: not square, and a covariance matrix has as many rows as columns");
  EXPECT_TRUE(
      contains(refusal(",u,v\nu,2,0.5\n"), "S.csv:2:1: the file ends after 1 row of 2 numbers: not square"));
  EXPECT_EQ(
      refusal("u,v\n1,2\n2,5\n7,8\n1,1\n"),
      "S.csv:4:1: more than 2 rows of 2 columns: not square, and a covariance matrix has as many rows as columns; a table of samples is given as DATA instead");
  EXPECT_EQ(
      refusal("1,2,3\n2,5\n"),
      "S.csv:2:3: the row has 2 fields but line 1 has 3; a covariance matrix has as many rows as columns");
  EXPECT_EQ(
      refusal("1,2\n2,5\n4\n"),
      "S.csv:3:2: the row has 1 field but line 2 has 2; a covariance matrix has as many rows as columns");
  EXPECT_TRUE(contains(refusal("u,v,w\n1,2,3\n"), "S.csv:2:1: the file ends after 1 row of 3 numbers"));
  EXPECT_TRUE(contains(refusal("u,v,w\n"), "S.csv:1:1: the file ends after 0 rows of 3 numbers"));
  EXPECT_TRUE(contains(refusal("1,2,3\n"), "S.csv:1:1: the file ends after 1 row of 3 numbers"));
  EXPECT_TRUE(contains(refusal("1,2,\n2,1,\n"), "S.csv:2:1: the file ends after 2 rows of 3 numbers"));
}

TEST_F(ReadSquareMatrix, RefusesRowsAndColumnsOfDifferentNames) {
  EXPECT_EQ(
      refusal(",u,v\nv,2,0.5\nu,0.5,3\n"),
      "S.csv:2:1: row 1 is named 'v' but column 1 is named 'u'; rows and columns of a covariance matrix are the same features in the same order");
}

TEST_F(ReadSquareMatrix, RefusesFilesThatAreNone) {
  EXPECT_TRUE(contains(refusal(""), "S.csv"));
  EXPECT_EQ(refusal("\n \n"), "S.csv: the file holds no data, only blank lines or nothing at all");
  EXPECT_EQ(
      refusal("2;1\n1;2\n"),
      "S.csv:1:1: the first line holds semicolons but no comma; save it with commas between the fields and points in the numbers");
  EXPECT_EQ(
      refusal("2,1\n1,2\n", "S.txt"),
      "S.txt: a matrix is read from .npy, .csv or .tsv (the text formats also with .gz); save it as one of these");
  EXPECT_TRUE(
      contains(message_of([&] { return read_square_matrix(folder_.path("none.csv")); }), "no such file"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_square_matrix(folder_.path("none.txt")); }), "no such file"));
  EXPECT_TRUE(
      contains(refusal("\"2,1\n1,2\n"), "S.csv:1:1: the quote that opens this field is never closed"));
}

TEST_F(ReadSquareMatrix, RefusesWhatDoesNotFitIntoMemory) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 200; ++j) text += std::string(j > 0 ? "," : "") + (i == j ? "1" : "0");
    text += '\n';
  }
  const std::string path = folder_.write("S.csv", text);
  EXPECT_EQ(read_square_matrix(path).values.sum(), 200.0);
  EXPECT_TRUE(
      contains(message_of<Error>([&] { return read_square_matrix(path, 1000); }), "alone take up to"));
}

// The array's bytes are written here by hand, so that no writer of ours has a part in it.
std::string npy(std::string_view shape, const std::vector<double>& values, std::string_view order = "False") {
  std::string header =
      "{'descr': '<f8', 'fortran_order': " + std::string(order) + ", 'shape': " + std::string(shape) + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return bytes;
}

TEST_F(ReadSquareMatrix, TakesNpyArrays) {
  const SquareMatrix s = read(npy("(2, 2)", {2.0, 0.5, 0.5, 3.0}), "S.npy");
  EXPECT_EQ(rows_of(s.values), kTwo);
  EXPECT_FALSE(s.names.given());
  EXPECT_EQ(s.names.size(), 2);
}

TEST_F(ReadSquareMatrix, RefusesNpyArraysByEntry) {
  EXPECT_EQ(
      refusal(npy("(2, 2)", {2.0, 0.5, 0.6, 3.0}), "S.npy"),
      "S.npy: entry [1, 0]: 0.6 here but 0.5 at entry [0, 1]: the matrix is not symmetric; write it in full, or (A + A')/2 if the difference is rounding");
  EXPECT_TRUE(contains(refusal(npy("(2, 2)", {2.0, 0.5, 0.6, 3.0}, "True"), "S.npy"),
                       "entry [1, 0]: 0.5 here but 0.6"));
  EXPECT_TRUE(contains(refusal(npy("(2, 2)", {2.0, NAN, 0.6, 3.0}), "S.npy"),
                       "S.npy: entry [0, 1]: a missing value"));
  EXPECT_TRUE(
      contains(refusal(npy("(1, 1)", {-1.0}), "S.npy"), "S.npy: entry [0, 0]: the diagonal holds -1"));
  EXPECT_EQ(
      refusal(npy("(2, 3)", {1, 2, 3, 4, 5, 6}), "S.npy"),
      "S.npy: holds a float64 array of 2 x 3 where a square 2-D array is needed: a covariance matrix has as many rows as columns; save np.cov(X, rowvar=False, bias=True), say");
  EXPECT_TRUE(contains(refusal(npy("(4,)", {1, 2, 3, 4}), "S.npy"), "where a square 2-D array is needed"));
  EXPECT_TRUE(contains(refusal(npy("(0, 0)", {}), "S.npy"), "where a square 2-D array is needed"));
  EXPECT_TRUE(contains(refusal(npy("(2, 2)", {2.0, 0.5, 0.5}), "S.npy"), "S.npy"));
}

TEST(ReadMatrix, TakesAnyShapeWithOrWithoutAHeader) {
  const Folder folder;
  const Rows three = {{1.0, -2.5}, {0.0, 4.0}, {1e-3, 6.0}};
  EXPECT_EQ(rows_of(read_matrix(folder.write("q.csv", "1,-2.5\n0,4\n1e-3,6\n"))), three);
  EXPECT_EQ(rows_of(read_matrix(folder.write("h.csv", "first,second\n1,-2.5\n0,4\n1e-3,6\n"))), three);
  EXPECT_EQ(rows_of(read_matrix(folder.write("t.tsv", "1\t-2.5\n0\t4\n1e-3\t6"))), three);
  EXPECT_EQ(rows_of(read_matrix(folder.write("n.npy", npy("(3, 2)", {1.0, -2.5, 0.0, 4.0, 1e-3, 6.0})))),
            three);
  EXPECT_EQ(rows_of(read_matrix(folder.write("one.csv", "7\n"))), (Rows{{7.0}}));
}

TEST(ReadMatrix, RefusesWhatIsRaggedEmptyOrNotFiniteByPlace) {
  const Folder folder;
  const auto refusal = [&](std::string_view text, const std::string& name = "q.csv") {
    const std::string path = folder.write(name, text);
    return message_of([&] { return read_matrix(path); }).substr(path.size() - name.size());
  };
  EXPECT_EQ(refusal("1,2\n3\n"), "q.csv:2:1: the row has 1 field but line 1 has 2");
  EXPECT_EQ(refusal("1,2\n3,\n"), "q.csv:2:2: a missing value where a finite number is needed");
  EXPECT_EQ(refusal("a,b\n1,2\n3,inf\n"), "q.csv:3:2: an infinite value where a finite number is needed");
  EXPECT_TRUE(
      contains(refusal("1,2\n3,x\n"), "q.csv:2:2: 'x' is not a number; names may stand in the first row"));
  EXPECT_TRUE(contains(refusal("a,b\n"), "the file holds no numbers"));
  EXPECT_TRUE(contains(refusal(npy("(2, 1)", {1.0, NAN}), "q.npy"),
                       "q.npy: entry [1, 0]: a missing value where a finite number is needed"));
  EXPECT_TRUE(contains(refusal("1", "q.txt"), "a matrix is read from .npy, .csv or .tsv"));
}

}  // namespace
}  // namespace subspectra
