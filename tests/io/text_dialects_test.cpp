/// The ways in which programs write tables as text.
#include <fmt/format.h>

#include "io/raw_table.hpp"
#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::message_of;

DatasetParts read_as(std::string_view text, CsvFormat format, const ReadOptions& options = {},
                     std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return assemble(read_csv_bytes(*bytes, "t.txt", format, options, block), options).parts();
}
DatasetParts csv_file(std::string_view text) { return read_as(text, kCsvFile); }
DatasetParts txt_file(std::string_view text) { return read_as(text, {.detect = CsvDetect::kSeparator}); }

/// Two features with these values and labels u, v.
void expect_small_table(const DatasetParts& data) {
  ASSERT_EQ(data.features(), 2);
  EXPECT_EQ(data.names[0], "a");
  EXPECT_EQ(data.dense, (Matrix(2, 2) << 1.5, 2, 3.25, -4).finished());
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"u", "v"}));
}

TEST(Dialects, SemicolonsWithDecimalCommas) {
  expect_small_table(csv_file("a;b;class\n1,5;2;u\n3,25;-4;v\n"));
  expect_small_table(csv_file("\"a\";\"b\";\"class\"\n1,5;2;\"u\"\n3,25;-4;\"v\"\n"));
  expect_small_table(csv_file("\"a\";\"b\";\"class\"\n\"1,5\";\"2\";\"u\"\n\"3,25\";\"-4\";\"v\"\n"));
  expect_small_table(csv_file("a;b;class\n1.5;2;u\n3.25;-4;v\n"));
  EXPECT_EQ(csv_file("1,5;2\n3,25;-4\n").dense, (Matrix(2, 2) << 1.5, 2, 3.25, -4).finished());
  EXPECT_EQ(csv_file("a;b\n1,5e2;,5\n-0,5;1\n").dense, (Matrix(2, 2) << 150, 0.5, -0.5, 1).finished());
}

TEST(Dialects, OfWriteCsv2WithRowNames) {
  const DatasetParts data =
      csv_file("\"\";\"a\";\"b\";\"class\"\n\"r1\";1,5;2;\"u\"\n\"r2\";3,25;-4;\"v\"\n\"r3\";1;1;\"v\"\n");
  EXPECT_EQ(data.features(), 2);
  EXPECT_EQ(*data.row_ids, (std::vector<std::string>{"r1", "r2", "r3"}));
}

TEST(Dialects, MixedDecimalsAreRefusedWithTheirLines) {
  const std::string said = message_of([] { return csv_file("a;b;class\n1,5;2;u\n3;4.5;v\n"); });
  EXPECT_TRUE(
      contains(said, "t.txt:3:2: '4.5' has a decimal point, but a number on line 2 has a decimal comma"));
  EXPECT_TRUE(contains(message_of([] { return csv_file("a;b;class\n1.234,5;2;u\n3;4,5;v\n"); }), "'1.234,5'"))
      << "thousands are no number";
}

TEST(Dialects, CommasStayTheSeparatorOfCommaFiles) {
  EXPECT_EQ(csv_file("a;x,b,class\n1,2,u\n3,4,v\n").names[0], "a;x");
  EXPECT_EQ(csv_file("a,b,class\n1,2,u;w\n3,4,v;w\n").labels->classes[0], "u;w");
}

TEST(Dialects, TextFilesShowTheirSeparator) {
  expect_small_table(txt_file("a\tb\tclass\n1.5\t2\tu\n3.25\t-4\tv\n"));
  expect_small_table(txt_file("a,b,class\n1.5,2,u\n3.25,-4,v\n"));
  expect_small_table(txt_file("a;b;class\n1,5;2;u\n3,25;-4;v\n"));
  expect_small_table(txt_file("a b class\n1.5 2 u\n3.25 -4 v\n"));
  expect_small_table(txt_file("  a   b  class \n 1.5   2   u\n3.25\t-4  v  \n"));
  expect_small_table(txt_file("\"a\" \"b\" \"class\"\n1.5 2 \"u\"\n3.25 -4 \"v\""));
  EXPECT_EQ(txt_file("a\tb\n1,5\t2\n3,25\t4\n").dense(0, 0), 1.5) << "decimal commas between tabs";
  EXPECT_EQ(txt_file("a\n1\n2\n").features(), 1);
}

TEST(Dialects, AnyBlockSizeReadsTheSame) {
  for (const std::size_t block : {4, 5, 7, 16, 1000}) {
    SCOPED_TRACE(block);
    expect_small_table(read_as("  a   b  class \n 1.5   2   u\n3.25\t-4  v  \n",
                               {.detect = CsvDetect::kSeparator}, {}, block));
    expect_small_table(read_as("\"a\";\"b\";class\r\n\"1,5\";2;u\r\n3,25;-4;v", kCsvFile, {}, block));
  }
}

TEST(Dialects, WriteTableLeavesTheHeaderOneNameShort) {
  const DatasetParts data =
      txt_file("\"a\" \"b\" \"class\"\n\"s1\" 1.5 2 \"u\"\n\"s2\" 3.25 -4 \"v\"\n\"s3\" 0 0 \"v\"\n");
  EXPECT_EQ(data.features(), 2);
  EXPECT_EQ(data.names[0], "a");
  EXPECT_EQ(*data.row_ids, (std::vector<std::string>{"s1", "s2", "s3"}));
  // Rows that R numbered.
  const DatasetParts counted = txt_file("a b class\n1 1.5 2 u\n2 3.25 -4 v\n");
  expect_small_table(counted);
  EXPECT_EQ(counted.understood, (std::vector<std::string>{"index without a name left out"}));
  EXPECT_EQ(csv_file("a,b,class\ns1,1.5,2,u\ns2,3.25,-4,v\n").names[0], "a") << "between commas, too";
}

TEST(Dialects, AHeaderIsNotShortWhereRowsEndInASeparatorOrOneIsTooLong) {
  EXPECT_TRUE(
      contains(message_of([] { return csv_file("a,b,class\n1,2,u,\n3,4,v,\n"); }), "the row has 4 fields"));
  EXPECT_TRUE(
      contains(message_of([] { return csv_file("a,b,class\n1.5,2,3,u\n3,4,v\n"); }), "the row has 4 fields"));
  EXPECT_TRUE(contains(message_of([] { return csv_file("a,b,class\ns1,2,3,u\n3,4,v\n"); }),
                       "the row has 3 fields but the header with the row names has 4"));
}

TEST(Dialects, TheWrongSeparatorNamesTheFormat) {
  EXPECT_TRUE(contains(message_of([] { return csv_file("a\tb\n1\t2\n"); }), "format = \"tsv\""));
  EXPECT_TRUE(contains(message_of([] { return read_as("a;b\n1;2\n", {}); }), "format = \"csv2\""));
  EXPECT_TRUE(
      contains(message_of([] { return read_as("a,b\n1,2\n", {.separator = '\t'}); }), "format = \"csv\""));
}

TEST(Dialects, AFormatIsForced) {
  const testing::Folder folder;
  ReadOptions options;
  options.format = "csv2";
  EXPECT_EQ(read_dataset(folder.write("t.dat", "a;b\n1,5;2\n"), options).matrix()(0, 0), 1.5);
  options.format = "tsv";
  EXPECT_EQ(read_dataset(folder.write("t.csv", "a\tb\n1.5\t2\n"), options).features(), 2);
  options.format = "xlsx";
  EXPECT_TRUE(contains(message_of<InvalidArgument>([&] { return read_dataset("x", options); }), "csv, csv2"));
  EXPECT_TRUE(
      contains(message_of([&] { return read_dataset(folder.write("t.dat", "a\n1\n")); }), "format = NAME"));
  EXPECT_EQ(read_dataset(folder.write("t.txt", "a b\n1 2\n")).features(), 2);
}

}  // namespace
}  // namespace subspectra
