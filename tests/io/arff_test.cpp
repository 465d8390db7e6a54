#include <cmath>

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::message_of;
using testing::with_target;

DatasetParts arff(std::string_view text, const ReadOptions& options = {},
                  std::size_t block = kTextBlockBytes) {
  const auto bytes = memory_bytes(text);
  return assemble(read_arff_bytes(*bytes, "t.arff", options, block), options).parts();
}

constexpr std::string_view kDense =
    "% a comment\n"
    "@RELATION 'some thing'\n\n"
    "@Attribute 'petal length' NUMERIC\n"
    "@attribute width real % behind\n"
    "@attribute \"n\" {1, 2}\n"
    "@attribute class {Iris-a, 'Iris b'}\n"
    "@DATA\n"
    "1.5,2,1,Iris-a\n"
    "% between\n"
    "?, -3e2 ,2,'Iris b'\r\n"
    "4,5,?,?\n";

TEST(Arff, InfiniteValuesAndMissingLabelsHaveTheirPlaces) {
  const DatasetParts data =
      arff("@attribute a real\n@attribute class {u,v}\n@data\n1,u\n2,?\n-1e999,v\ninf,v\n");
  ASSERT_TRUE(data.first_infinite && data.first_unlabelled);
  EXPECT_EQ(data.first_infinite->where.text(), "t.arff:6:1");
  EXPECT_EQ(data.first_infinite->sentence(), "'-1e999' is too large for a double");
  EXPECT_EQ(data.first_unlabelled->text(), "t.arff:5:3");
}

TEST(Arff, TextIsLeftAloneInAttributesThatAreNotNeeded) {
  ReadOptions options = with_target("none");
  options.needed = {"a"};
  const DatasetParts data = arff("@attribute id string\n@attribute a real\n@data\nq1,1\nq2,2\n", options);
  EXPECT_EQ(data.names.all(), (std::vector<std::string>{"a"}));
  options.needed = {"id", "a"};
  EXPECT_TRUE(contains(
      message_of([&] { return arff("@attribute id string\n@attribute a real\n@data\nq1,1\n", options); }),
      "t.arff:4:1: 'q1' is not a number in column 'id', which the model uses"));
}

TEST(Arff, DenseRows) {
  for (const std::size_t block : {std::size_t{1}, std::size_t{7}, kTextBlockBytes}) {
    const DatasetParts data = arff(kDense, {}, block);
    ASSERT_EQ(data.rows(), 3);
    ASSERT_EQ(data.features(), 3);
    EXPECT_EQ(data.names[0], "petal length");
    EXPECT_EQ(data.names[2], "n");
    EXPECT_EQ(data.dense(1, 1), -300.0);
    EXPECT_EQ(data.dense(1, 2), 2.0);
    EXPECT_TRUE(std::isnan(data.dense(1, 0)));
    EXPECT_EQ(data.first_missing->text(), "t.arff:11:1");
    EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"Iris b", "Iris-a"}));
    EXPECT_EQ(data.labels->codes, (std::vector<int>{1, 0, -1}));
  }
}

TEST(Arff, TheLastTextAttributeIsTheDefaultTarget) {
  const DatasetParts data =
      arff("@relation r\n@attribute a numeric\n@attribute kind {u,v}\n@data\n1,u\n2,v\n");
  EXPECT_EQ(data.labels->name, "kind");
  const DatasetParts numbers =
      arff("@relation r\n@attribute a numeric\n@attribute kind {0,1}\n@data\n1,0\n2,1\n");
  EXPECT_FALSE(numbers.labels);
  EXPECT_EQ(numbers.features(), 2);
  EXPECT_TRUE(contains(numbers.notes[0], "'kind' is read as numbers"));
  EXPECT_EQ(
      arff("@relation r\n@attribute a numeric\n@attribute kind {0,1}\n@data\n1,0\n2,1\n", with_target("kind"))
          .labels->class_count(),
      2);
}

TEST(Arff, StringsAndDatesAreTextAndMustBeLeftOut) {
  const std::string_view text =
      "@relation r\n@attribute id string\n@attribute d date 'yyyy'\n@attribute a integer\n@attribute class {u,v}\n"
      "@data\n'it\\'s',\"2001\",1,u\nb,2002,2,v\n";
  EXPECT_TRUE(contains(message_of([&] { return arff(text); }), "columns 'id', 'd' hold text"));
  ReadOptions options;
  options.ignore = {"id", "d"};
  EXPECT_EQ(arff(text, options).features(), 1);
  options.ignore = {"d"};
  options.cv_groups = "id";
  EXPECT_EQ(arff(text, options).row_groups[0], "it's");
}

TEST(Arff, SparseRowsMeanTheFirstNominalValueWhereNothingStands) {
  const DatasetParts data = arff(
      "@relation r\n@attribute a real\n@attribute b {5,6}\n@attribute c numeric\n@attribute class {x,y}\n@data\n"
      "{0 1.5, 3 y}\n{1 6,2 ?}\n{ }\n{2 4 , 0 3} % comment\n");
  ASSERT_TRUE(data.is_sparse);
  ASSERT_EQ(data.rows(), 4);
  const Matrix dense = data.sparse;
  EXPECT_EQ(dense(0, 0), 1.5);
  EXPECT_EQ(dense(0, 1), 5.0);
  EXPECT_EQ(dense(1, 1), 6.0);
  EXPECT_TRUE(std::isnan(dense(1, 2)));
  EXPECT_EQ(dense(2, 0), 0.0);
  EXPECT_EQ(dense(3, 0), 3.0);
  EXPECT_EQ(dense(3, 2), 4.0);
  EXPECT_EQ(data.labels->classes, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(data.labels->codes, (std::vector<int>{1, 0, 0, 0}));
  const DatasetParts numeric = arff("@attribute a real\n@attribute class numeric\n@data\n{0 1}\n{1 2}\n");
  EXPECT_EQ(numeric.labels->classes, (std::vector<std::string>{"0", "2"}));
}

TEST(Arff, BadFilesAreRefusedAtTheirCharacter) {
  const auto data = [](std::string_view rows) {
    return "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n" + std::string(rows);
  };
  const auto said = [](const std::string& text) { return message_of([&] { return arff(text); }); };
  EXPECT_TRUE(contains(said(data("1,x\noops,y\n")), "t.arff:6:1: 'oops' is not a number in attribute 'a'"));
  EXPECT_TRUE(contains(said(data("1,x\n2,z\n")), "t.arff:6:3: 'z' is not among the values"));
  EXPECT_TRUE(contains(said(data("1\n")), "the row has 1 value but there are 2 attributes"));
  EXPECT_TRUE(contains(said(data("1,x,3\n")), "the row has 3 values but there are 2 attributes"));
  EXPECT_TRUE(contains(said(data("1,x,{2}\n")), "instance weights"));
  EXPECT_TRUE(contains(said(data("1,'x\n")), "t.arff:5:3: the quote"));
  EXPECT_TRUE(contains(said(data("1,'x'y\n")), "text follows the closing quote"));
  EXPECT_TRUE(contains(said(data("1,x\n{0 2}\n")), "t.arff:6:1: dense and sparse rows"));
  EXPECT_TRUE(contains(said(data("{0 1, 0 2}\n")), "t.arff:5:7: attribute index 0 stands twice"));
  EXPECT_TRUE(contains(said(data("{2 1}\n")), "attribute index 2 does not exist"));
  EXPECT_TRUE(contains(said(data("{99999999999999999999999 1}\n")), "does not exist"));
  EXPECT_TRUE(contains(said(data("{0 1\n")), "not closed"));
  EXPECT_TRUE(contains(said(data("{0 1,\n")), "not closed"));
  EXPECT_TRUE(contains(said(data("{a 1}\n")), "an index is needed"));
  EXPECT_TRUE(contains(said(data("{0}\n")), "a value are needed"));
  EXPECT_TRUE(contains(said(data("{0 1} 2\n")), "text follows the closing }"));
  EXPECT_TRUE(contains(said(data("")), "no rows below @data"));
  EXPECT_TRUE(contains(said(data("oops,y,7\n")), "the row has 3 values")) << "its length comes first";
  EXPECT_TRUE(contains(said("@relation r\n@attribute a numeric\n"), "ends before @data"));
  EXPECT_TRUE(contains(said(""), "ends before @data"));
  EXPECT_TRUE(contains(said("@data\n1\n"), "t.arff:1:1: @data without any @attribute"));
  EXPECT_TRUE(contains(said("hello\n"), "'hello' in the header"));
  EXPECT_TRUE(
      contains(said("@attribute a relational\n"), "t.arff:1:14: attribute 'a' has the type 'relational'"));
  EXPECT_TRUE(contains(said("@attribute a {x,y\n@data\n"), "not closed"));
  EXPECT_TRUE(contains(said("@attribute a {}\n@data\n"), "empty"));
}

}  // namespace
}  // namespace subspectra
