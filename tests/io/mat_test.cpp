#include "binary_files.hpp"

namespace subspectra {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

class Mat : public BinaryFileTest {};

TEST_F(Mat, EveryVersionAndClassGivesTheValuesThatWereWritten) {
  for (const char* name : {"cells.mat", "cells_compressed.mat", "numbers.mat", "numbers_compressed.mat",
                           "single.mat", "logical.mat", "version4.mat", "large.mat", "v73.mat"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_mat(file(name), {});
    EXPECT_FALSE(table.is_sparse);
    expect_values(table, expected_values(file(name)));
  }
}

TEST_F(Mat, Hdf5FilesOfOtherProgramsAreReadInTheOrderTheirLabelsOrMarksTell) {
  for (const char* name : {"h5py_header.mat", "h5py_marked.mat", "h5py_chars.mat", "h5py_rows.mat",
                           "h5py_columns.mat", "h5py_column_y.mat", "h5py_unlabelled.mat", "h5py_square.mat",
                           "h5py_single.mat", "h5py_square_marked.mat", "unmarked.mat"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_mat(file(name), {});
    EXPECT_FALSE(table.is_sparse);
    expect_values(table, expected_values(file(name)));
  }
  EXPECT_EQ(side_named(read_mat(file("h5py_chars.mat"), {}), "Y")->values[299], "a 5");
  const RawTable rows = read_mat(file("h5py_rows.mat"), {});
  EXPECT_EQ(rows.names[6], "gene 6");
  ASSERT_NE(side_named(rows, "y"), nullptr);
  EXPECT_TRUE(side_named(rows, "y")->is_label);
  EXPECT_EQ(side_named(rows, "y")->values[3], "M\xc3\xbcller");
  for (const char* name : {"h5py_columns.mat", "h5py_column_y.mat"}) {
    EXPECT_EQ(side_named(read_mat(file(name), {}), "y")->values[4], "1");
  }
  EXPECT_EQ(side_named(read_mat(file("h5py_single.mat"), {}), "Y")->values.size(), 12U);
}

TEST_F(Mat, SparseStaysSparse) {
  for (const char* name : {"sparse.mat", "sparse_compressed.mat", "v73_sparse.mat", "h5py_sparse.mat"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_mat(file(name), {});
    EXPECT_TRUE(table.is_sparse);
    expect_values(table, expected_values(file(name)));
    ASSERT_EQ(table.side.size(), 1U);
    EXPECT_TRUE(table.side[0].is_label);
    EXPECT_EQ(table.side[0].values[3], "1");
  }
}

TEST_F(Mat, LabelsAndNamesFromCellArrays) {
  for (const char* name :
       {"cells.mat", "cells_compressed.mat", "v73.mat", "h5py_header.mat", "h5py_marked.mat"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_mat(file(name), {});
    EXPECT_EQ(table.names[0], "gene 0");
    EXPECT_EQ(table.names[6], "gene 6");
    const SideColumn* y = side_named(table, "Y");
    ASSERT_NE(y, nullptr);
    EXPECT_TRUE(y->is_label);
    EXPECT_EQ(y->values[1], "normal");
    EXPECT_EQ(y->values[3], "M\xc3\xbcller");
    const SideColumn* fold = side_named(table, "fold");
    ASSERT_NE(fold, nullptr);
    EXPECT_TRUE(fold->is_numeric);
    EXPECT_EQ(fold->values[11], "11");
  }
}

TEST_F(Mat, LabelsFromACharMatrixAndFromRowVectors) {
  const RawTable chars = read_mat(file("single.mat"), {});
  ASSERT_NE(side_named(chars, "Y"), nullptr);
  EXPECT_EQ(side_named(chars, "Y")->values[0], "tumour");
  EXPECT_EQ(side_named(chars, "Y")->values[3], "M\xc3\xbcller");
  const SideColumn* batch =
      side_named(read_mat(file("cells.mat"), {}), "batch") == nullptr ? nullptr : &chars.side[0];
  EXPECT_NE(batch, nullptr);
  const RawTable numbers = read_mat(file("numbers.mat"), {});
  ASSERT_NE(side_named(numbers, "y"), nullptr);
  EXPECT_EQ(side_named(numbers, "y")->values[4], "2");
}

TEST_F(Mat, WhatDoesNotFitIsRefusedByArray) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"no_table.mat", "no array 'X'; it holds 'A'"},
      {"complex.mat", "complex"},
      {"short_y.mat", "array 'Y'"},
      {"struct_x.mat", "struct"},
      {"h5py_no_table.mat", "no array 'X'; it holds A"},
      {"h5py_short_y.mat", "array 'y': is a 5 array but the"},
      {"h5py_vector.mat", "a matrix of samples x features"},
      {"h5py_texts.mat", "is no numbers but a 1 x 2 array"},
      {"h5py_external.mat", "a link to another file"}};
  for (const auto& [name, word] : cases) {
    const std::string sentence = error_of([&] { static_cast<void>(read_mat(file(name), {})); });
    EXPECT_NE(sentence.find(word), std::string::npos) << name << ": " << sentence;
  }
}

TEST_F(Mat, AChangedByteInCompressedDataIsFound) {
  std::string bytes = file_bytes(file("large.mat"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const std::string damaged = file("changed-" + std::to_string(::getpid()) + ".mat");
  write_bytes(damaged, bytes);
  const std::string sentence = error_of([&] { static_cast<void>(read_mat(damaged, {})); });
  EXPECT_NE(sentence.find("damaged"), std::string::npos) << sentence;
  std::filesystem::remove(damaged);
}

TEST_F(Mat, DamagedFilesAreRefusedAndNeverCrash) {
  const std::string damaged = file("damaged-" + std::to_string(::getpid()) + ".mat");
  for (const char* name : {"cells.mat", "cells_compressed.mat", "sparse.mat", "v73.mat", "h5py_header.mat"}) {
    SCOPED_TRACE(name);
    const auto read = [&](std::string_view bytes) {
      write_bytes(damaged, bytes);
      static_cast<void>(read_mat(damaged, {}));
    };
    EXPECT_EQ(refused_when_damaged(file_bytes(file(name)), 40, 0, read), 40);
    refused_when_damaged(file_bytes(file(name)), 0, 100, read);
  }
  std::filesystem::remove(damaged);
}

}  // namespace
}  // namespace subspectra
