#include <array>

#include "binary_files.hpp"

namespace subspectra::npz_test {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

class Npz : public BinaryFileTest {};

RawTable read(std::string_view bytes) { return read_npz_bytes(bytes, "t.npz", {}); }

TEST_F(Npz, ArraysComeAsNumpyWroteThem) {
  for (const char* name : {"stored.npz", "deflated.npz", "large.npz", "one_table.npz", "column_y.npz"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_npz(file(name), {});
    EXPECT_FALSE(table.is_sparse);
    expect_values(table, expected_values(file(name)));
  }
}

TEST_F(Npz, LabelsNamesAndArraysBesideThem) {
  const RawTable table = read_npz(file("stored.npz"), {});
  EXPECT_EQ(table.names[2], "gene 2");
  const SideColumn* y = side_named(table, "y");
  ASSERT_NE(y, nullptr);
  EXPECT_TRUE(y->is_label);
  EXPECT_FALSE(y->is_numeric);
  EXPECT_EQ(y->values[0], "tumour");
  EXPECT_EQ(y->values[3], "M\xc3\xbcller");
  const SideColumn* fold = side_named(table, "fold");
  ASSERT_NE(fold, nullptr);
  EXPECT_FALSE(fold->is_label);
  EXPECT_TRUE(fold->may_be_ignored);
  EXPECT_TRUE(fold->is_numeric);
  EXPECT_EQ(fold->values[11], "11");
  ASSERT_NE(side_named(table, "split"), nullptr);
  ASSERT_NE(side_named(table, "flag"), nullptr);
  EXPECT_EQ(side_named(table, "other"), nullptr);
  const std::string notes = ::testing::PrintToString(table.notes);
  for (const char* word : {"other", "single", "thing"})
    EXPECT_NE(notes.find(word), std::string::npos) << notes;
}

TEST_F(Npz, NumbersAsLabelsAndBytesAsNames) {
  const RawTable table = read_npz(file("deflated.npz"), {});
  EXPECT_EQ(side_named(table, "y")->values[5], "2");
  EXPECT_EQ(table.names[6], "gene 6");
  const RawTable missing = read_npz(file("one_table.npz"), {});
  EXPECT_EQ(side_named(missing, "y")->values[0], "");
  EXPECT_EQ(side_named(missing, "y")->values[1], "1.5");
  EXPECT_NE(::testing::PrintToString(missing.notes).find("'measurements'"), std::string::npos);
}

TEST_F(Npz, SparseStaysSparse) {
  for (const char* name :
       {"csr_deflated.npz", "csr_stored.npz", "csc_deflated.npz", "csc_stored.npz", "duplicates.npz"}) {
    SCOPED_TRACE(name);
    const RawTable table = read_npz(file(name), {});
    EXPECT_TRUE(table.is_sparse);
    EXPECT_TRUE(table.sparse.isCompressed());
    expect_values(table, expected_values(file(name)));
  }
  EXPECT_EQ(read_npz(file("duplicates.npz"), {}).sparse.nonZeros(),
            3);  // two entries at (2, 0) were added up
}

TEST_F(Npz, WhatDoesNotFitIsRefusedByArray) {
  const std::vector<std::array<std::string, 2>> cases = {{"two_tables.npz", "no array 'X'"},
                                                         {"short_y.npz", "array 'y': is a text array of 5"},
                                                         {"short_names.npz", "array 'names': has 3"},
                                                         {"object_y.npz", "astype('U')"},
                                                         {"coo.npz", "tocsr()"},
                                                         {"bad_indices.npz", "index 9"}};
  for (const auto& [name, word] : cases) {
    const std::string sentence = error_of([&] { static_cast<void>(read_npz(file(name), {})); });
    EXPECT_NE(sentence.find(word), std::string::npos) << name << ": " << sentence;
  }
}

TEST_F(Npz, DamagedFilesAreRefusedAndNeverCrash) {
  for (const char* name : {"stored.npz", "deflated.npz", "csr_deflated.npz", "csc_stored.npz"}) {
    SCOPED_TRACE(name);
    const std::string bytes = file_bytes(file(name));
    EXPECT_EQ(refused_when_damaged(bytes, 400, 0, [](auto b) { static_cast<void>(read(b)); }), 400);
    EXPECT_GT(refused_when_damaged(bytes, 0, 3000, [](auto b) { static_cast<void>(read(b)); }), 0);
  }
}

TEST_F(Npz, AChangedValueFailsTheCheckSum) {
  std::string bytes = file_bytes(file("stored.npz"));
  const std::size_t values = bytes.find("\x93NUMPY") + 128 + 40;
  bytes[values] = static_cast<char>(bytes[values] ^ 1);
  EXPECT_NE(error_of([&] { static_cast<void>(read(bytes)); }).find("check sum"), std::string::npos);
}

TEST_F(Npz, ASizeThatCannotBeTrueIsRefused) {
  const std::string sentence = error_of([&] { static_cast<void>(read_npz(file("bomb.npz"), {})); });
  EXPECT_NE(sentence.find("more than the file can hold"), std::string::npos) << sentence;
}

TEST(NpzMagic, OtherFilesAreSaidToBeNoArchive) {
  EXPECT_NE(error_of([] { static_cast<void>(read("a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n")); }).find("not an NPZ"),
            std::string::npos);
  EXPECT_NE(error_of([] { static_cast<void>(read("short")); }).find("not an NPZ"), std::string::npos);
}

}  // namespace
}  // namespace subspectra::npz_test
