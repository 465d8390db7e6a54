#include <fmt/format.h>

#include <cmath>

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::csv;
using testing::message_of;
using testing::with_target;

TEST(Csv, HeaderNumbersAndClassLabels) {
  const DatasetParts data = csv("V1,V2,class\n0.5,-1e-3,M\n2,3,R\n4,5,M\n");
  ASSERT_EQ(data.rows(), 3);
  ASSERT_EQ(data.features(), 2);
  EXPECT_EQ(data.dense(0, 0), 0.5);
  EXPECT_EQ(data.dense(0, 1), -1e-3);
  EXPECT_EQ(data.dense(2, 1), 5.0);
  EXPECT_EQ(data.names[1], "V2");
  ASSERT_TRUE(data.labels);
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"M", "R"}));
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(data.notes.front(), "header row: 3 names");
  EXPECT_FALSE(data.first_missing);
}

TEST(Csv, WithoutHeaderTheColumnsAreCounted) {
  const DatasetParts data = csv("1,2,3\n4,5,6\n");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_FALSE(data.names.given());
  EXPECT_EQ(data.names[2], "x2");
  EXPECT_EQ(data.notes.front(), "no header row: the first line is all numbers; columns are x0..x2");
  EXPECT_FALSE(data.labels);
}

TEST(Csv, ALabelColumnAloneDoesNotMakeAHeader) {
  const DatasetParts data = csv("0.1,0.2,good\n0.3,0.4,bad\n");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.labels->name, "x2");
  EXPECT_TRUE(
      contains(data.notes.front(), "no header row: the first line has numbers where the second has numbers"));
}

TEST(Csv, ColumnNumbersAreAHeaderWhenALabelNameStandsBesideThem) {
  EXPECT_EQ(csv("0,1,2,y\n0.5,0.6,0.7,a\n0.1,0.2,0.3,b\n").rows(), 2);
  EXPECT_EQ(csv("2010,2011,2012,y\n0.5,0.6,0.7,a\n0.1,0.2,0.3,b\n").names[0], "2010");
  EXPECT_EQ(csv("3,9,class\n0.5,0.6,a\n0.1,0.2,b\n").names[1], "9");
  EXPECT_EQ(csv("\"7\",\"5\"\n0.5,0.6\n0.1,0.2\n").names[0], "7");  // quoted over unquoted: names
  EXPECT_EQ(csv("\"7\",\"5\"\n\"0.5\",\"0.6\"\n").rows(), 2);
  const DatasetParts counted = csv("0,1,2\n0.5,0.6,0.7\n");
  EXPECT_EQ(counted.rows(), 2);
  EXPECT_TRUE(contains(counted.notes[1], "read as data"));
}

TEST(Csv, TextColumnBeforeNumbersKeepsTheirFileNumbers) {
  const DatasetParts data = csv("a,1.5,2\nb,3,4\n");
  EXPECT_EQ(data.labels->name, "x0");
  EXPECT_EQ(data.names[0], "x1");
  EXPECT_EQ(data.names[1], "x2");
}

TEST(Csv, QuotesFollowRfc4180) {
  const DatasetParts data = csv("\"a \"\"b\"\"\",\"c,d\",class\r\n\"1.5\",2,\"x\ny\"\r\n 3 ,\t4,\"NA\" \r\n");
  EXPECT_EQ(data.names[0], "a \"b\"");
  EXPECT_EQ(data.names[1], "c,d");
  EXPECT_EQ(data.dense(0, 0), 1.5);
  EXPECT_EQ(data.dense(1, 1), 4.0);
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"NA", "x\ny"}));  // a quoted NA is a text
}

TEST(Csv, ByteOrderMarkAndEveryLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    for (const bool last : {true, false}) {
      const DatasetParts data =
          csv("\xEF\xBB\xBF"
              "a,b" +
              end + "1,2" + end + end + "  " + end + "3,4" + (last ? end : ""));
      EXPECT_EQ(data.names[0], "a");
      ASSERT_EQ(data.rows(), 2);
      EXPECT_EQ(data.dense(1, 1), 4.0);
    }
  }
}

TEST(Csv, MissingValuesAndInfinities) {
  const DatasetParts data = csv(
      "a,b,class\n1,2,x\n,NA,\nN/A,nan,NA\nnull,NULL,?\n?,#N/A,x\n-inf,+Infinity,y\nNone,<NA>,y\n+1.5,.5,y\n");
  ASSERT_EQ(data.rows(), 8);
  for (Index i = 1; i <= 4; ++i) {
    EXPECT_TRUE(std::isnan(data.dense(i, 0))) << i;
    EXPECT_TRUE(std::isnan(data.dense(i, 1))) << i;
  }
  EXPECT_EQ(data.dense(5, 0), -kInfinity);
  EXPECT_EQ(data.dense(5, 1), kInfinity);
  EXPECT_TRUE(std::isnan(data.dense(6, 0)));
  EXPECT_EQ(data.dense(7, 0), 1.5);
  ASSERT_TRUE(data.first_missing);
  EXPECT_EQ(data.first_missing->text(), "t.csv:3:1");
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, -1, -1, -1, 0, 1, 1, 1}));
}

TEST(Csv, AColumnThatIsMissingAtFirstMayStillBeText) {
  const DatasetParts data = csv("id,a\n,1\nNA,2\nx,3\n");
  EXPECT_EQ(data.labels->name, "id");
  EXPECT_EQ(data.labels->codes, (std::vector<int>{-1, -1, 0}));
  EXPECT_FALSE(data.first_missing);
}

TEST(Csv, NumericClassesAreLabelsAndSortedByValue) {
  const DatasetParts data = csv("a,class\n1,10\n2,9\n3,1.0\n4,1\n");
  EXPECT_EQ(data.features(), 1);
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"1", "9", "10"}));
  EXPECT_EQ(data.labels->codes, (std::vector<int>{2, 1, 0, 0}));
}

TEST(Csv, TextInANumericColumnIsRefusedWithItsPlace) {
  const std::string message = message_of([] { return csv("V6,V7,class\n1,2,a\n3,abc,b\n"); });
  EXPECT_TRUE(contains(message, "t.csv:3:2: 'abc' is not a number in column 'V7'"));
  EXPECT_TRUE(contains(message, "ignore = {\"V7\"}"));
}

TEST(Csv, LinesInsideQuotesCount) {
  const std::string message = message_of([] { return csv("a,b,class\n1,2,\"x\ny\r\nz\"\n1,oops,b\n"); });
  EXPECT_TRUE(contains(message, "t.csv:5:2: 'oops'"));
}

TEST(Csv, RaggedRowsAreRefusedWithTheCounts) {
  EXPECT_TRUE(contains(message_of([] { return csv("a,b,c\n1,2,3\n4,5\n"); }),
                       "t.csv:3:3: the row has 2 fields but the header has 3"));
  EXPECT_TRUE(contains(message_of([] { return csv("a,b,c\n1,2,3\n4,5,6,7,8\n"); }),
                       "t.csv:3:4: the row has 5 fields but the header has 3"));
  EXPECT_TRUE(contains(message_of([] { return csv("a,b\nr1,1,2\nr2,3\n"); }),
                       "the row has 2 fields but the header with the row names has 3"));
  EXPECT_TRUE(contains(message_of([] { return csv("1,2\n3\n"); }), "the first row has 2"));
}

// Text among numbers is often a field too many or too few: the advice must be about that.
TEST(Csv, ARowOfTheWrongLengthIsSaidBeforeWhatItsFieldsHold) {
  for (const char* row : {"x,4,5,6\n", "4,x,5,6\n"}) {
    EXPECT_TRUE(contains(message_of([&] { return csv(std::string("a,b,c\n1,2,3\n") + row); }),
                         "t.csv:3:4: the row has 4 fields but the header has 3"));
    EXPECT_TRUE(contains(message_of([&] { return csv(std::string("a,b,c\n1,2,3\n4,5,6\n") + row); }),
                         "t.csv:4:4: the row has 4 fields but the header has 3"));
  }
  EXPECT_TRUE(
      contains(message_of([] { return csv("a,b,c\n1,2,3\n4,5,6\noops,7\n"); }), "the row has 2 fields"));
}

TEST(Csv, TheFirstInfiniteValueHasAPlaceAndTooLargeIsNotInfinite) {
  const DatasetParts infinite = csv("a,b,class\n1,2,u\n3,-Inf,u\n1e400,6,v\n");
  ASSERT_TRUE(infinite.first_infinite);
  EXPECT_EQ(infinite.first_infinite->where.text(), "t.csv:3:2");
  EXPECT_EQ(infinite.first_infinite->sentence(), "'-Inf' is infinite");
  const DatasetParts large = csv("a,b,class\n1,2,u\n3,1,u\n-1e400,inf,v\n");
  ASSERT_TRUE(large.first_infinite);
  EXPECT_EQ(large.first_infinite->where.text(), "t.csv:4:1");
  EXPECT_EQ(large.first_infinite->sentence(), "'-1e400' is too large for a double");
  ReadOptions options;
  options.ignore = {"a"};
  EXPECT_EQ(csv("a,b,class\ninf,2,u\n3,inf,v\n", options).first_infinite->where.text(), "t.csv:3:2");
}

TEST(Csv, TheFirstMissingValueIsOneOfAColumnThatCounts) {
  ReadOptions options;
  options.ignore = {"a", "t"};
  const DatasetParts data = csv("a,t,b,c,class\n,,1,2,u\n3,x,1,2,u\n,y,1,,v\n5,z,,6,v\n", options);
  ASSERT_TRUE(data.first_missing);
  EXPECT_EQ(data.first_missing->text(), "t.csv:4:4");
}

TEST(Csv, TheFirstMissingLabelHasAPlace) {
  EXPECT_EQ(csv("a,class\n1,u\n2,NA\n3,\n4,v\n").first_unlabelled->text(), "t.csv:3:2");
  EXPECT_EQ(csv("a,kind\n1,\n2,u\n3,\n4,v\n").first_unlabelled->text(), "t.csv:2:2")
      << "missing before the column was known to be text";
  EXPECT_FALSE(csv("a,class\n1,u\n2,v\n").first_unlabelled);
}

TEST(Csv, TextIsLeftAloneInColumnsThatAreNotNeeded) {
  ReadOptions options = with_target("none");
  options.needed = {"a", "b"};
  const DatasetParts data = csv("id,a,note,b\nq1,1,7,2\nq2,3,later,4\n", options);
  EXPECT_EQ(data.names.all(), (std::vector<std::string>{"a", "b"})) << "a mixed column is left out, too";
  EXPECT_EQ(data.dense(1, 1), 4.0);
  const auto message = [&](std::string_view text) { return message_of([&] { return csv(text, options); }); };
  EXPECT_TRUE(contains(message("id,a,b\nq1,1,2\nq2,x,4\n"), "t.csv:3:2: 'x' is not a number in column 'a'"));
  EXPECT_TRUE(contains(message("id,a,b\nq1,x,2\nq2,y,4\n"), "t.csv:2:2: 'x' is not a number in column 'a'"));
  EXPECT_FALSE(contains(message("id,a,b\nq1,x,2\nq2,y,4\n"), "exclude"));
  EXPECT_TRUE(contains(message("1,2\n3,4\n5,x\n"), "t.csv:3:2")) << "made-up names say nothing about needs";
}

TEST(Csv, AnOpenQuoteIsReportedWhereItBegan) {
  EXPECT_TRUE(contains(message_of([] { return csv("a,b\n1,2\n3,\"4\n5,6\n7,8\n"); }),
                       "t.csv:3:2: the quote that opens"));
  EXPECT_TRUE(contains(message_of([] { return csv("a,b\n1,\"2\"x\n"); }),
                       "t.csv:2:2: text follows the closing quote"));
}

TEST(Csv, OtherSeparatorsAreNamedWithTheWayOut) {
  EXPECT_TRUE(contains(message_of([] { return csv("a;b;c\n1;2;3\n"); }),
                       "t.csv:1:1: the first line holds semicolons"));
  EXPECT_TRUE(contains(message_of([] { return csv("a\tb\n1\t2\n"); }), "name the file .tsv"));
  EXPECT_TRUE(contains(message_of([] { return csv("a,b\n1,2\n", {}, '\t'); }), "name the file .csv"));
}

TEST(Csv, DecimalCommasAreHinted) {
  EXPECT_TRUE(contains(message_of([] { return csv("a\tb\n1\t2\n1\t3,5\n", {}, '\t'); }),
                       "if 3,5 has a decimal comma, write 3.5"));
  EXPECT_TRUE(contains(message_of([] { return csv("a,b\n\"1,5\",2\n", with_target("none")); }), "write 1.5"));
}

TEST(Csv, ZeroBytesAndUtf16AreRefused) {
  EXPECT_TRUE(contains(message_of([] { return csv(std::string_view("a,b\n1,\0002\n", 10)); }),
                       "t.csv:2:2: a zero byte"));
  EXPECT_TRUE(contains(message_of([] {
                         return csv(
                             std::string_view("\xFF\xFE"
                                              "a\0",
                                              4));
                       }),
                       "UTF-16"));
}

TEST(Csv, NothingToReadIsSaid) {
  EXPECT_TRUE(contains(message_of([] { return csv(""); }), "holds no data"));
  EXPECT_TRUE(contains(message_of([] { return csv("\n\r\n  \n"); }), "holds no data"));
  EXPECT_TRUE(contains(message_of([] { return csv("a,b,c\n"); }), "a header row and no data"));
  EXPECT_TRUE(contains(message_of([] { return csv("class\nx\ny\n"); }), "no column of numbers"));
}

TEST(Csv, AColumnWithoutNameAndValuesIsLeftOut) {
  const DatasetParts data = csv("a,b,\n1,2,\n3,4,\n");
  EXPECT_EQ(data.features(), 2);
  EXPECT_FALSE(data.first_missing);
  EXPECT_TRUE(contains(data.notes[1], "column 3 has neither name nor values"));
  EXPECT_EQ(csv(",a\n1,2\n3,4\n").names[0], "x0");  // an index column as pandas writes it
}

TEST(Csv, ExcludedColumnsMayHoldAnything) {
  ReadOptions options;
  options.ignore = {"id", "mixed"};
  const DatasetParts data = csv("id,a,mixed,class\nr1,1,1,x\nr2,2,abc,y\n", options);
  EXPECT_EQ(data.features(), 1);
  EXPECT_EQ(data.names[0], "a");
  EXPECT_EQ(data.labels->name, "class");
}

TEST(Csv, WeightsAndGroupsAreTakenOut) {
  ReadOptions options;
  options.weights = "w";
  options.cv_groups = "subject";
  const DatasetParts data = csv("a,w,subject,class\n1,2,s1,x\n3,0.5,7,y\n", options);
  EXPECT_EQ(data.features(), 1);
  EXPECT_EQ(data.weights[1], 0.5);
  EXPECT_EQ(data.row_groups, (std::vector<std::string>{"s1", "7"}));
}

TEST(Csv, AMemoryLimitIsKept) {
  ReadOptions options;
  options.memory_limit.bytes = 1000;
  EXPECT_TRUE(contains(message_of<Error>([&] { return csv("1,2,3\n", options); }), "alone take up to"));
}

// The text of a quoted field is gathered where it stands; the quotes in it move every byte behind them.
TEST(Csv, AQuotedFieldKeepsItsQuotesWhereverABlockEnds) {
  std::string field;
  for (int i = 0; i < 60; ++i) field += i % 5 == 0 ? "\"\"" : i % 7 == 0 ? ",\n" : "ab";
  std::string expected = field;
  for (auto at = expected.find("\"\""); at != std::string::npos; at = expected.find("\"\"", at + 1))
    expected.erase(at, 1);
  const std::string text = "a,class\n1,\"" + field + "\" \n2,\"" + field + "!\"\n";
  for (const std::size_t block : {4, 5, 6, 7, 9, 16, 33, 64, 200}) {
    const auto bytes = memory_bytes(text);
    const DatasetParts data = assemble(read_csv_bytes(*bytes, "t.csv", {}, {}, block), {}).parts();
    EXPECT_EQ(data.labels->classes, (std::vector<std::string>{expected, expected + "!"})) << block;
  }
}

// Every token, quote and line end gets cut by a block border for some block size; all must give the same
// table.
TEST(Csv, BlockBordersChangeNothing) {
  std::string text = "\xEF\xBB\xBF\"na\"\"me\",b,\"with,comma\",class\r\n";
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("{:.17g}, {} ,\"{}\",\"cl\r\nass {}\"\r\n", i / 7.0, i % 9 == 0 ? "NA" : "+1e-5",
                        -i * 1e300, i % 3);
  }
  const DatasetParts whole = csv(text);
  ASSERT_EQ(whole.rows(), 50);
  ASSERT_EQ(whole.labels->class_count(), 3);
  for (const std::size_t block : {1, 4, 5, 6, 7, 8, 11, 13, 16, 17, 31, 64, 100, 1000}) {
    SCOPED_TRACE(block);
    const auto bytes = memory_bytes(text);
    const DatasetParts data = assemble(read_csv_bytes(*bytes, "t.csv", {}, {}, block), {}).parts();
    ASSERT_EQ(data.rows(), whole.rows());
    ASSERT_EQ(data.features(), whole.features());
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(data.names[j], whole.names[j]);
      for (Index i = 0; i < 50; ++i) {
        const bool both_missing = std::isnan(data.dense(i, j)) && std::isnan(whole.dense(i, j));
        EXPECT_TRUE(both_missing || data.dense(i, j) == whole.dense(i, j)) << i << ' ' << j;
      }
    }
    EXPECT_EQ(data.labels->codes, whole.labels->codes);
    EXPECT_EQ(data.first_missing->text(), whole.first_missing->text());
  }
}

// More rows than one block of the row store holds, and more columns than one of its strips; value = 10000 i +
// j.
TEST(Csv, LongAndWideTablesKeepEveryValueInItsPlace) {
  const auto check = [](Index rows, Index columns, Index text_at) {
    std::string text;
    for (Index j = 0; j <= columns; ++j)
      text += fmt::format("{}{}", j > 0 ? "," : "", j == text_at ? "class" : fmt::format("v{}", j));
    text += '\n';
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j <= columns; ++j) {
        if (j > 0) text += ',';
        text += j == text_at ? (i % 2 == 0 ? "a" : "b") : fmt::format("{}", 10000 * i + j);
      }
      text += '\n';
    }
    const DatasetParts data = csv(text);
    ASSERT_EQ(data.rows(), rows);
    ASSERT_EQ(data.features(), columns);
    for (Index j = 0; j < columns; ++j) {
      const Index in_file = j < text_at ? j : j + 1;
      for (Index i = 0; i < rows; ++i) ASSERT_EQ(data.dense(i, j), static_cast<double>(10000 * i + in_file));
    }
    EXPECT_EQ(data.labels->counts()[0], (rows + 1) / 2);
  };
  check(70001, 1, 1);    // more than 65,536 rows
  check(21, 1300, 600);  // three strips, the text in the second one
  check(900, 700, 0);    // two blocks by two strips
}

}  // namespace
}  // namespace subspectra
