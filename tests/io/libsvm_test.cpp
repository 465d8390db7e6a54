#include <cmath>

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::message_of;

DatasetParts svm(std::string_view text, const ReadOptions& options = {},
                 std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return assemble(read_libsvm_bytes(*bytes, "t.svm", options, block), options).parts();
}

TEST(Libsvm, InfiniteValuesAndMissingLabelsHaveTheirPlaces) {
  const DatasetParts data = svm("1 1:2 2:1e999\n? 1:inf\n-1 2:3\n");
  ASSERT_TRUE(data.first_infinite && data.first_unlabelled);
  EXPECT_EQ(data.first_infinite->where.text(), "t.svm:1:9");
  EXPECT_EQ(data.first_infinite->sentence(), "'1e999' is too large for a double");
  EXPECT_EQ(data.first_unlabelled->text(), "t.svm:2:1");
}

TEST(Libsvm, SparseStaysSparse) {
  for (const std::size_t block : {std::size_t{1}, std::size_t{5}, kTextBlockBytes}) {
    const DatasetParts data =
        svm("+1 1:0.5 3:2\n-1 2:1e-3 # a comment\n# only a comment\n\n1 3:-4 1:7 2:0\r\n", {}, block);
    ASSERT_TRUE(data.is_sparse);
    ASSERT_EQ(data.rows(), 3);
    ASSERT_EQ(data.features(), 3);
    EXPECT_EQ(data.sparse.nonZeros(), 5);  // 2:0 is not stored
    EXPECT_EQ(data.sparse.coeff(0, 0), 0.5);
    EXPECT_EQ(data.sparse.coeff(1, 1), 1e-3);
    EXPECT_EQ(data.sparse.coeff(2, 0), 7.0);
    EXPECT_EQ(data.sparse.coeff(2, 2), -4.0);
    EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"-1", "1"}));
    EXPECT_EQ(data.labels->codes, (std::vector<int>{1, 0, 1}));
    EXPECT_EQ(data.names[2], "x2");
  }
}

TEST(Libsvm, WidthAndIndexBaseAreOptions) {
  ReadOptions options;
  options.features = 10;
  EXPECT_EQ(svm("1 3:1\n", options).features(), 10);
  options.index_base = 0;
  const DatasetParts data = svm("1 0:5 9:6\n", options);
  EXPECT_EQ(data.sparse.coeff(0, 0), 5.0);
  EXPECT_EQ(data.sparse.coeff(0, 9), 6.0);
  EXPECT_TRUE(contains(message_of([&] { return svm("1 0:5 10:6\n", options); }),
                       "t.svm:1:7: feature index 10 is over"));
}

TEST(Libsvm, QueriesCanGroupRows) {
  ReadOptions options;
  options.cv_groups = "qid";
  const DatasetParts data = svm("1 qid:7 1:1\n2 qid:8 1:2\n", options);
  EXPECT_EQ(data.row_groups, (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(svm("1 qid:7 1:1\n2 1:2\n").rows(), 2);
}

TEST(Libsvm, MissingLabelsAndValues) {
  const DatasetParts data = svm("? 1:nan\nb 1:2\n");
  EXPECT_EQ(data.labels->codes, (std::vector<int>{-1, 0}));
  EXPECT_TRUE(std::isnan(data.sparse.coeff(0, 0)));
  EXPECT_EQ(data.first_missing->text(), "t.svm:1:5");
}

TEST(Libsvm, BadRowsAreRefusedAtTheirCharacter) {
  EXPECT_TRUE(contains(message_of([] { return svm("1 1:2\n1 0:2\n"); }), "t.svm:2:3: feature index 0"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 0:2\n"); }), "index_base = 0"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 2:1 1:4 2:3\n"); }),
                       "t.svm:1:11: feature index 2 stands twice"));
  EXPECT_TRUE(contains(message_of([] { return svm("1:2 3:4\n"); }),
                       "t.svm:1:1: '1:2' stands where the label should"));
  EXPECT_TRUE(contains(message_of([] { return svm("1,2 3:4\n"); }), "several labels"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 3:abc\n"); }), "t.svm:1:5: 'abc' is not a number"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 3:\n"); }), "t.svm:1:5"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 3\n"); }), "'3' is not INDEX:VALUE"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 -3:1\n"); }), "below 1"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 1:1 qid:3\n"); }), "qid:"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 2147483647:1\n"); }), "over 2147483646"));
  EXPECT_TRUE(contains(message_of([] { return svm("1 99999999999999999999:1\n"); }), "over 2147483646"));
  EXPECT_TRUE(contains(message_of([] { return svm("# nothing\n\n"); }), "no rows"));
  EXPECT_TRUE(contains(message_of([] { return svm("1\n2\n"); }), "no column of numbers"));
}

TEST(Libsvm, AWidthThatDoesNotFitIsRefusedBeforeItIsAllocated) {
  ReadOptions options;
  options.memory_limit.bytes = std::uint64_t{1} << 32U;
  EXPECT_TRUE(
      contains(message_of<Error>([&] { return svm("1 2147483646:1\n", options); }), "features = 2147483646"))
      << "one stray index does not make billions of columns";
  options.features = 2147483646;
  EXPECT_TRUE(contains(message_of<Error>([&] { return svm("1 2147483646:1\n", options); }), "may be used"));
}

TEST(Libsvm, AFeatureMayBeTheTarget) {
  const DatasetParts data = svm("1 1:5 2:1\n2 1:6\n1 2:3\n", testing::with_target("x0"));
  EXPECT_EQ(data.features(), 1);
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"0", "5", "6"}));
  EXPECT_EQ(data.names[0], "x1");
  EXPECT_EQ(data.sparse.coeff(2, 0), 3.0);
  EXPECT_FALSE(svm("1 1:5\n", testing::with_target("none")).labels);
}

}  // namespace
}  // namespace subspectra
