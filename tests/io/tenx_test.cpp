/// What 10x Genomics' pipelines write.
#include <filesystem>

#include "binary_files.hpp"
#include "reading.hpp"

namespace subspectra {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing::contains;
using testing::Folder;
using testing::message_of;

class Tenx : public BinaryFileTest {};

void expect_genes_and_cells(const RawTable& table) {
  EXPECT_TRUE(table.is_sparse);
  EXPECT_EQ(table.names[0], "S0 (ENSG0)") << "two genes are called S0";
  EXPECT_EQ(table.names[4], "S4");
  ASSERT_EQ(table.side.size(), 1U);
  EXPECT_TRUE(table.side[0].is_id);
  EXPECT_EQ(table.side[0].values[2], "AAC2-1");
}

TEST_F(Tenx, H5FilesOfBothVersionsAreCellsInRows) {
  for (const char* name : {"v3.h5", "v2.h5"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_tenx_h5(file(name), {});
    expect_values(table, expected_values(file(name)));
    expect_genes_and_cells(table);
  }
}

TEST_F(Tenx, OtherHdf5FilesAreRefusedWithWords) {
  EXPECT_TRUE(
      contains(message_of([&] { return read_tenx_h5(file("other.h5"), {}); }), "has no group 'matrix'"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_tenx_h5(file("short_names.h5"), {}); }), "texts are needed"));
}

TEST_F(Tenx, FoldersWithAndWithoutGz) {
  for (const char* name : {"tenx", "tenx_plain"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_tenx_folder(file(name), {});
    expect_values(table, expected_values(file("tenx")));
    expect_genes_and_cells(table);
  }
  const Dataset data = read_dataset(file("tenx"));
  EXPECT_EQ(data.rows(), 40);
  EXPECT_TRUE(contains(data.details().no_target, "⟨labels FILE⟩"));
}

TEST_F(Tenx, LabelsComeByBarcode) {
  const Folder folder;
  std::string text = "barcode,type\n";
  for (int i = 39; i >= 0; --i) text += fmt::format("AAC{}-1,{}\n", i, i % 3 == 0 ? "T" : "B");
  ReadOptions options;
  options.labels = folder.write("types.csv", text);
  const Dataset data = read_dataset(file("tenx"), options);
  EXPECT_EQ(data.labels()->codes[3], 1);
  EXPECT_EQ(data.labels()->codes[4], 0);
}

TEST(TenxFolders, WhatIsMissingIsNamed) {
  const Folder folder;
  EXPECT_TRUE(contains(message_of([&] { return read_tenx_folder(folder.path(""), {}); }),
                       "is a folder without matrix.mtx"));
  static_cast<void>(
      folder.write("matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n2 3 1\n1 1 5\n"));
  EXPECT_TRUE(contains(message_of([&] { return read_tenx_folder(folder.path(""), {}); }),
                       "there is no features.tsv (or genes.tsv)"));
  static_cast<void>(folder.write("genes.tsv", "e1\ta\ne2\tb\n"));
  EXPECT_TRUE(contains(message_of([&] { return read_tenx_folder(folder.path(""), {}); }),
                       "there is no barcodes.tsv"));
  static_cast<void>(folder.write("barcodes.tsv", "c1\nc2\n"));
  EXPECT_TRUE(contains(message_of([&] { return read_tenx_folder(folder.path(""), {}); }), "holds 2 where"));
  static_cast<void>(folder.write("barcodes.tsv", "c1\nc2\nc3\n"));
  EXPECT_EQ(read_tenx_folder(folder.path(""), {}).sparse.rows(), 3);
}

TEST(TenxFolders, FilesWithAPrefixBelongTogetherAndAMatrixAloneIsATable) {
  const Folder folder;
  const std::string matrix = "%%MatrixMarket matrix coordinate integer general\n%\n2 3 2\n1 1 5\n2 3 1\n";
  static_cast<void>(folder.write("GSM1_features.tsv", "e1\ta\ne2\tb\n"));
  static_cast<void>(folder.write("GSM1_barcodes.tsv", "c1\nc2\nc3\n"));
  const Dataset cells = read_dataset(folder.write("GSM1_matrix.mtx", matrix));
  EXPECT_EQ(cells.rows(), 3);
  EXPECT_EQ(cells.names()[1], "b");
  EXPECT_EQ(read_dataset(folder.write("alone.mtx", matrix)).rows(), 2);
  ReadOptions turned;
  turned.transpose = true;
  EXPECT_EQ(read_dataset(folder.path("alone.mtx"), turned).rows(), 3);
}

RawTable mtx(std::string_view text, std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return read_mtx_bytes(*bytes, "m.mtx", {}, block);
}

TEST(MatrixMarket, IsReadWithAnyBlocksAndEntriesAtOnePlaceAdd) {
  for (const std::size_t block : {4, 11, 1000}) {
    const RawTable table = mtx(
        "%%MatrixMarket matrix coordinate real general\n%c\n2 2 4\n2 2 1.5\n1 1 -1\n2 2 2\n1 2 0.5\n", block);
    EXPECT_EQ(Matrix(table.sparse), (Matrix(2, 2) << -1, 0.5, 0, 3.5).finished());
  }
  EXPECT_EQ(mtx("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n").sparse.coeff(0, 1), 1.0);
}

TEST(MatrixMarket, IsStrict) {
  const auto said = [](const std::string& body, const std::string& kind = "coordinate integer general") {
    return message_of([&] { return mtx("%%MatrixMarket matrix " + kind + "\n" + body); });
  };
  EXPECT_TRUE(contains(said("2 2 2\n1 1 1\n"), "ends after 1 of 2 entries"));
  EXPECT_TRUE(contains(said("2 2 1\n1 1 1\n2 2 1\n"), "more entries than the 1"));
  EXPECT_TRUE(contains(said("2 2 1\n3 1 1\n"), "m.mtx:3:1: '3' where a row from 1 to 2 is needed"));
  EXPECT_TRUE(contains(said("2 2 1\n1 1 x\n"), "'x' is no number"));
  EXPECT_TRUE(contains(said("2 2 1\n1 1 1 1\n"), "more on the line"));
  EXPECT_TRUE(contains(said("2 2\n1\n", "array real general"), "no sparse matrix"));
  EXPECT_TRUE(contains(said("2 2 0\n", "coordinate complex general"), "'complex'"));
  EXPECT_TRUE(contains(said("2 2 0\n", "coordinate real symmetric"), "'symmetric'"));
  EXPECT_TRUE(contains(said("2147483646 2147483646 1\n1 1 1\n"), "speaks of"));
}

}  // namespace
}  // namespace subspectra
