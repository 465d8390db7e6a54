#include <fmt/format.h>

#include "binary_files.hpp"

namespace subspectra::npy_test {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using ::testing::Test;

class Npy : public BinaryFileTest {};

/// A version 1 file with this header text and these bytes behind it.
std::string npy_with(const std::string& header, const std::string& values, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xffU);
  bytes += static_cast<char>(header.size() >> 8U);
  if (version > 1) bytes.append(2, '\0');
  return bytes + header + values;
}
RawTable read(std::string_view bytes) { return read_npy_bytes(bytes, "t.npy", {}); }

TEST_F(Npy, EveryNumericTypeInBothByteOrdersGivesTheValuesNumpyWrote) {
  std::vector<std::string> names = {"bool.npy",     "fortran.npy",  "halves.npy",  "version1.npy",
                                    "version2.npy", "version3.npy", "large_c.npy", "large_f.npy",
                                    "wide.npy",     "tall_f.npy"};
  for (const char* type : {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
    for (const char* order : {"little", "big"}) names.push_back(fmt::format("{}_{}.npy", type, order));
  }
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const RawTable table = read_npy(file(name), {});
    EXPECT_FALSE(table.is_sparse);
    EXPECT_TRUE(table.side.empty());
    expect_values(table, expected_values(file(name)));
  }
}

TEST_F(Npy, SaysWhereTheFirstMissingValueStands) {
  const RawTable table = read_npy(file("f8_little.npy"), {});
  ASSERT_TRUE(table.first_missing.has_value());
  EXPECT_NE(table.first_missing->text().find("row 3, column 4"), std::string::npos)
      << table.first_missing->text();
}

TEST_F(Npy, WhatIsNoTableIsRefusedWithAdvice) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"vector.npy", "reshape(-1, 1)"}, {"scalar.npy", "2-D"},          {"cube.npy", "reshape(len(X), -1)"},
      {"complex.npy", "complex"},       {"objects.npy", "astype"},      {"texts.npy", "astype(float)"},
      {"structured.npy", "structured"}, {"dates.npy", "astype(float)"}, {"no_rows.npy", "no values"}};
  for (const auto& [name, word] : cases) {
    const std::string sentence = error_of([&] { static_cast<void>(read_npy(file(name), {})); });
    EXPECT_NE(sentence.find(word), std::string::npos) << name << ": " << sentence;
    EXPECT_NE(sentence.find(name), std::string::npos) << sentence;
  }
}

TEST_F(Npy, DamagedFilesAreRefusedAndNeverCrash) {
  const std::string bytes = file_bytes(file("f8_little.npy"));
  EXPECT_GE(refused_when_damaged(bytes, static_cast<int>(bytes.size()), 0,
                                 [](auto b) { static_cast<void>(read(b)); }),
            static_cast<int>(bytes.size()));
  EXPECT_GT(refused_when_damaged(bytes, 0, 2000, [](auto b) { static_cast<void>(read(b)); }), 0);
}

TEST(NpyHeader, AHandWrittenOneIsRead) {
  const std::string two(16, '\0');
  const RawTable table = read(npy_with("{\"shape\":(2L,1L),'descr':'<f8','fortran_order':False}", two));
  EXPECT_EQ(table.dense.rows(), 2);
  EXPECT_EQ(table.dense.cols(), 1);
}

TEST(NpyHeader, OnlyTheDictionaryNumpyWritesIsAccepted) {
  const std::string two(16, '\0');
  for (const char* header : {"", "{}", "{'descr':'<f8','fortran_order':False,'shape':(2,1)",
                             "{'descr':'<f8','fortran_order':0,'shape':(2,1)}",
                             "{'descr':'<f8','fortran_order':False,'shape':(2,-1)}",
                             "{'descr':'<f8','fortran_order':False,'shape':[2,1]}",
                             "{'descr':'<f9','fortran_order':False,'shape':(2,1)}",
                             "{'descr':'<f8','fortran_order':False,'shape':(2,1)}x",
                             "{'descr':'<f8','descr':'<f8','fortran_order':False,'shape':(2,1)}",
                             "{'descr':'<f8','fortran_order':False,'shape':(2,1),'more':1}",
                             "{'descr':__import__('os'),'fortran_order':False,'shape':(2,1)}"}) {
    const std::string sentence = error_of([&] { static_cast<void>(read(npy_with(header, two))); });
    EXPECT_NE(sentence.find("t.npy: damaged"), std::string::npos) << header << ": " << sentence;
  }
}

TEST(NpyHeader, AbsurdSizesAreRefusedWithoutTakingMemory) {
  for (const char* shape : {"(4611686018427387904,4)", "(18446744073709551615,1)", "(100000000,100000000)",
                            "(3,1)", "(99999999999999999999999,1)"}) {
    const std::string header = fmt::format("{{'descr':'<f8','fortran_order':False,'shape':{}}}", shape);
    const std::string sentence =
        error_of([&] { static_cast<void>(read(npy_with(header, std::string(16, '\0')))); });
    EXPECT_NE(sentence.find("damaged"), std::string::npos) << sentence;
  }
  EXPECT_NE(error_of([] { static_cast<void>(read(npy_with("{}", "", 9))); }).find("version 9.0"),
            std::string::npos);
  EXPECT_NE(
      error_of([] { static_cast<void>(read("\x89PNG\r\n....................")); }).find("not a NumPy array"),
      std::string::npos);
}

TEST(NpyPath, AMissingFileADirectoryAndAnEmptyFileAreSaidToBeSo) {
  EXPECT_NE(error_of([] { static_cast<void>(read_npy("/nowhere/x.npy", {})); }).find("/nowhere/x.npy"),
            std::string::npos);
  EXPECT_NE(error_of([] { static_cast<void>(read_npy("/", {})); }).find("directory"), std::string::npos);
}

}  // namespace
}  // namespace subspectra::npy_test
