#include "io/write.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "io/read.hpp"
#include "io/read_matrix.hpp"
#include "reading.hpp"
#include "run_program.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::Folder;
using testing::message_of;
using testing::run_words;
using Texts = std::vector<std::string>;

/// Numbers whose digits are hard to write.
Matrix hard_numbers() {
  Matrix a(3, 4);
  a << 0.1, 1.0 / 3.0, 1e-310, 5e-324,                                           //
      std::numeric_limits<double>::max(), -2.2250738585072014e-308, 1e15, 1e22,  //
      123456789012345680.0, -7.0, 0.30000000000000004, 2.2204460492503131e-16;
  return a;
}

DatasetParts labelled(Matrix values, Texts names, Texts labels) {
  DatasetParts data;
  data.dense = std::move(values);
  data.names = FeatureNames(std::move(names));
  data.labels = Labels::from_texts("class", labels);
  return data;
}

TEST(WriteCsv, IsReadBackToTheBit) {
  const Folder folder;
  const DatasetParts data = labelled(hard_numbers(), {"p", "q", "r", "s"}, {"yes", "no", "yes"});
  for (const std::string name : {"t.csv", "t.tsv", "t.csv.gz", "T.TSV.GZ"}) {
    SCOPED_TRACE(name);
    write_csv(folder.path(name), data);
    const DatasetParts back = read_dataset(folder.path(name)).parts();
    EXPECT_EQ(back.dense, data.dense);
    EXPECT_EQ(back.names.all(), data.names.all());
    EXPECT_EQ(back.labels->codes, data.labels->codes);
    EXPECT_EQ(back.labels->classes, data.labels->classes);
  }
}

TEST(WriteNpz, IsReadBackToTheBit) {
  const Folder folder;
  const Texts names = {"p", "1", "grün", "日本𝄞"}, labels = {"yes", "", "né"};
  const DatasetParts data = labelled(hard_numbers(), names, labels);
  write_table(folder.path("t.npz"), data);
  const DatasetParts back = read_dataset(folder.path("t.npz")).parts();
  EXPECT_EQ(back.dense, data.dense);
  EXPECT_EQ(back.names.all(), names);
  EXPECT_EQ(back.labels->codes, data.labels->codes);
  EXPECT_EQ(back.labels->classes, data.labels->classes);
  DatasetParts bare;
  bare.dense = hard_numbers();
  bare.names = FeatureNames(bare.dense.cols());
  bare.source = "bare";
  write_npz(folder.path("bare.npz"), bare);
  const DatasetParts same = read_dataset(folder.path("bare.npz")).parts();
  EXPECT_EQ(same.dense, bare.dense);
  EXPECT_FALSE(same.labels.has_value());
  EXPECT_EQ(same.names[3], "x3");
  EXPECT_EQ(npz_bytes(bare), npz_bytes(bare));
}

TEST(WriteCsv, IsWhatOneWouldWriteByHand) {
  Matrix values(2, 2);
  values << -0.0, 1.5, std::nan(""), -std::numeric_limits<double>::infinity();
  EXPECT_EQ(csv_text(labelled(values, {"u", "v"}, {"a", ""})), "u,v,class\n0,1.5,a\nNA,-inf,\n");
  DatasetParts unlabelled;
  unlabelled.dense = values;
  unlabelled.names = FeatureNames(2);
  EXPECT_EQ(csv_text(unlabelled, '\t'), "x0\tx1\n0\t1.5\nNA\t-inf\n");
  EXPECT_EQ(csv_text(MatrixRef(values), FeatureNames(2)), "x0,x1\n0,1.5\nNA,-inf\n");
}

TEST(WriteCsv, NamesAndLabelsThatCouldMisleadAReaderSurvive) {
  const Folder folder;
  const Texts names = {"1", "a,b", "say \"hi\"", " blank ", "NA", "two\nlines"};
  const Texts labels = {"x,y", "NA", "", "\"", "plain"};
  const DatasetParts data = labelled(Matrix::Random(5, 6), names, labels);
  write_csv(folder.path("t.csv"), data);
  const DatasetParts back = read_dataset(folder.path("t.csv")).parts();
  EXPECT_EQ(back.names.all(), names);
  EXPECT_EQ(back.dense, data.dense);
  EXPECT_EQ(back.labels->classes, data.labels->classes);
  EXPECT_EQ(back.labels->codes, data.labels->codes);
  EXPECT_EQ(back.labels->codes[2], Labels::kMissing);
}

TEST(WriteCsv, NumbersAsNamesAreStillAHeader) {
  const Folder folder;
  write_csv(folder.path("t.csv"), labelled(Matrix::Random(3, 2), {"7", "0.5"}, {"1", "2", "1"}));
  EXPECT_EQ(read_dataset(folder.path("t.csv")).names().all(), (Texts{"7", "0.5"}));
}

TEST(WriteCsv, SparseTablesAreWrittenInFull) {
  DatasetParts data;
  data.is_sparse = true;
  data.sparse.resize(2, 3);
  data.sparse.insert(1, 0) = 2.5;
  data.sparse.insert(0, 2) = -1.0;
  data.sparse.makeCompressed();
  data.names = FeatureNames(3);
  EXPECT_EQ(csv_text(data), "x0,x1,x2\n0,0,-1\n2.5,0,0\n");
}

TEST(WriteMatrix, IsReadBackToTheBit) {
  const Folder folder;
  const Matrix half = Matrix::Random(7, 7);
  const Matrix a = half * half.transpose() + (half * half.transpose()).transpose();
  ASSERT_EQ(a, a.transpose());
  const Texts names = {"1", "2", "c", "d", "e", "f", "g"};
  for (const std::string name : {"A.npy", "A.csv", "A.tsv", "A.csv.gz"}) {
    SCOPED_TRACE(name);
    write_matrix(folder.path(name), a, FeatureNames(names));
    const SquareMatrix back = read_square_matrix(folder.path(name));
    EXPECT_EQ(back.values, a);
    EXPECT_EQ(back.names.given(), name != "A.npy");
    EXPECT_TRUE(!back.names.given() || back.names.all() == names);
  }
}

TEST(WriteMatrix, BlocksAndEmptyMatricesAreWrittenAsTheyAre) {
  const Matrix large = Matrix::Random(6, 6);
  const auto block = large.block(1, 2, 3, 2);
  EXPECT_EQ(npy_bytes(block), npy_bytes(Matrix(block)));
  const std::string empty = npy_bytes(Matrix(0, 3));
  EXPECT_EQ(empty.size() % 64, 0U);
  EXPECT_TRUE(contains(empty, "'shape': (0, 3)"));
  EXPECT_EQ(csv_text(MatrixRef(Matrix(0, 1)), FeatureNames(1)), "x0\n");
}

// Oracle: NumPy reads the file. Any Python without it is no reason to fail.
TEST(WriteMatrix, NumPyReadsWhatWasWritten) {
  const Folder folder;
  write_npy(folder.path("a.npy"), hard_numbers());
  write_csv_matrix(folder.path("a.csv"), hard_numbers(), FeatureNames(4));
  const std::string script =
      "import sys\n"
      "try:\n import numpy as np\nexcept ImportError:\n sys.exit(77)\n"
      "a = np.load(sys.argv[1]); b = np.loadtxt(sys.argv[2], delimiter=',', skiprows=1)\n"
      "want = np.array([[0.1, 1/3, 1e-310, 5e-324], [sys.float_info.max, -sys.float_info.min, 1e15, 1e22],\n"
      "                 [123456789012345680.0, -7.0, 0.30000000000000004, sys.float_info.epsilon]])\n"
      "assert a.dtype == np.float64 and a.flags.f_contiguous, a.flags\n"
      "assert (a == want).all() and (b == want).all(), (a, b)\n";
  const auto run = run_words({SUBSPECTRA_PYTHON, "-c", script, folder.path("a.npy"), folder.path("a.csv")});
  if (run.code == 77 || run.code == 127) GTEST_SKIP() << "no NumPy";
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST(WriteMatrix, RefusesUnknownEndingsBeforeAnythingIsWritten) {
  const Folder folder;
  const Matrix a = Matrix::Identity(2, 2);
  const auto message = [&](const std::string& name, auto&& write) {
    const std::string text = message_of<InvalidArgument>([&] {
      write(folder.path(name));
      return 0;
    });
    EXPECT_FALSE(std::filesystem::exists(folder.path(name)));
    return text.substr(std::min(text.find(name), text.size()));
  };
  EXPECT_EQ(
      message("a.txt", [&](const std::string& path) { write_matrix(path, a, FeatureNames(2)); }),
      "a.txt: the ending does not tell the format to write; end the name in one of .npy .csv .tsv .csv.gz .tsv.gz");
  EXPECT_TRUE(
      contains(message("a.npy.gz", [&](const std::string& path) { write_matrix(path, a, FeatureNames(2)); }),
               ".npy .csv"));
  EXPECT_TRUE(
      contains(message("a.npz", [&](const std::string& path) { write_npy(path, a); }), "one of .npy"));
  EXPECT_TRUE(contains(message("t.npy", [&](const std::string& path) { write_csv(path, Dataset{}); }),
                       ".csv .tsv .csv.gz"));
  EXPECT_EQ(message_of<Error>([&] { return csv_text(MatrixRef(a), FeatureNames(3)); }),
            "3 names for 2 columns; one name a column is needed");
}

// Oracle: zlib's own reader of gzip files.
TEST(Gzip, RoundTripsNothingAndMuch) {
  const Folder folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3'000'000}}) {
    std::string content;
    while (content.size() < size) content += std::to_string(content.size() * content.size());
    content.resize(size);
    EXPECT_EQ(gzip_bytes(content), gzip_bytes(content));
    gzFile file = gzopen(folder.write("x.gz", gzip_bytes(content)).c_str(), "rb");
    std::string back(size + 10, '\0');
    back.resize(static_cast<std::size_t>(gzread(file, back.data(), static_cast<unsigned>(back.size()))));
    EXPECT_EQ(gzdirect(file), 0);
    gzclose(file);
    EXPECT_EQ(back, content);
  }
}

}  // namespace
}  // namespace subspectra
