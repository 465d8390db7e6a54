#include "binary_files.hpp"

namespace subspectra {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

class H5ad : public BinaryFileTest {};

TEST_F(H5ad, DenseTablesComeAsAnndataWroteThem) {
  for (const char* name : {"dense.h5ad", "dense32.h5ad", "whole.h5ad", "chunks.h5ad"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_h5ad(file(name), {});
    EXPECT_FALSE(table.is_sparse);
    expect_values(table, expected_values(file(name)));
  }
}

TEST_F(H5ad, SparseStaysSparse) {
  for (const char* name : {"csr.h5ad", "csc.h5ad", "csr_gzip.h5ad", "old.h5ad"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_h5ad(file(name), {});
    EXPECT_TRUE(table.is_sparse);
    expect_values(table, expected_values(file(name)));
  }
}

TEST_F(H5ad, ObsColumnsOfEveryKindAndTheNamesOfVar) {
  for (const char* name : {"dense.h5ad", "csr.h5ad", "csc.h5ad"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_h5ad(file(name), {});
    EXPECT_EQ(table.names[1], "gene1");
    const SideColumn* kind = side_named(table, "class");
    ASSERT_NE(kind, nullptr);
    EXPECT_FALSE(kind->is_label);
    EXPECT_TRUE(kind->may_be_ignored);
    EXPECT_FALSE(kind->is_numeric);
    EXPECT_EQ(kind->values[0], "T cell");
    EXPECT_EQ(kind->values[2], "\xc2\xb5");
    EXPECT_EQ(kind->values[4], "");  // a missing category
    ASSERT_NE(side_named(table, "donor"), nullptr);
    EXPECT_EQ(side_named(table, "donor")->values[5], "donor-1");
    EXPECT_FALSE(side_named(table, "donor")->is_numeric);
    ASSERT_NE(side_named(table, "counts"), nullptr);
    EXPECT_EQ(side_named(table, "counts")->values[3], "30");
    EXPECT_TRUE(side_named(table, "counts")->is_numeric);
    ASSERT_NE(side_named(table, "score"), nullptr);
    EXPECT_TRUE(side_named(table, "score")->is_numeric);
    ASSERT_NE(side_named(table, "good"), nullptr);
    EXPECT_EQ(side_named(table, "good")->values[0], "1");
    EXPECT_EQ(side_named(table, "good")->values[1], "0");
  }
  const RawTable old = read_h5ad(file("old.h5ad"), {});
  ASSERT_EQ(old.side.size(), 1U);
  EXPECT_EQ(old.side[0].values[1], "y");
  EXPECT_EQ(old.side[0].values[5], "");
  const RawTable fixed = read_h5ad(file("chunks.h5ad"), {});
  EXPECT_EQ(fixed.names[516], "g516");
  EXPECT_EQ(side_named(fixed, "class")->values[1], "bb");
}

TEST_F(H5ad, WithoutAClassTheLastTextColumnIsTheTarget) {
  RawTable table = read_h5ad(file("dense.h5ad"), {});
  const DatasetParts named = assemble(read_h5ad(file("dense.h5ad"), {}), {}).parts();
  ASSERT_TRUE(named.labels.has_value());
  EXPECT_EQ(named.labels->name, "class");
  std::erase_if(table.side, [](const SideColumn& column) { return column.name == "class"; });
  const DatasetParts data = assemble(std::move(table), {}).parts();
  ASSERT_TRUE(data.labels.has_value());
  EXPECT_EQ(data.labels->name, "donor");  // "good" comes later, but holds numbers
  EXPECT_TRUE(data.warnings.empty()) << "there was no other text column to take";
  RawTable more = read_h5ad(file("dense.h5ad"), {});
  for (SideColumn& column : more.side) {
    if (column.name == "class") column.name = "tissue";
  }
  const DatasetParts chosen = assemble(std::move(more), {}).parts();
  ASSERT_EQ(chosen.warnings.size(), 1U);
  EXPECT_NE(chosen.warnings[0].find("the last of 2 text columns; ⟨target NAME⟩ takes another"),
            std::string::npos)
      << chosen.warnings[0];
}

TEST_F(H5ad, WhatDoesNotFitIsRefusedWithItsPlace) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"no_x.h5ad", "has no X"},
      {"absurd.h5ad", "10000000 x 10000000"},
      {"absurd_sparse.h5ad", "2147483643 columns"},
      {"compact.h5ad", "1100 x 13 values of 114400 bytes together, but 1144 are"},
      {"lzf.h5ad", "compression='gzip'"},
      {"external.h5ad", "link to another file"},
      {"bad_codes.h5ad", "obs/class"}};
  for (const auto& [name, word] : cases) {
    const std::string sentence = error_of([&] { static_cast<void>(read_h5ad(file(name), {})); });
    EXPECT_NE(sentence.find(word), std::string::npos) << name << ": " << sentence;
  }
}

TEST_F(H5ad, DamagedFilesAreRefusedAndNeverCrash) {
  const std::string damaged = file("damaged-" + std::to_string(::getpid()) + ".h5ad");
  for (const char* name : {"dense.h5ad", "csr.h5ad", "chunks.h5ad"}) {
    SCOPED_TRACE(name);
    const auto read = [&](std::string_view bytes) {
      write_bytes(damaged, bytes);
      static_cast<void>(read_h5ad(damaged, {}));
    };
    EXPECT_GE(refused_when_damaged(file_bytes(file(name)), 40, 100, read), 39);
  }
  std::filesystem::remove(damaged);
}

}  // namespace
}  // namespace subspectra
