#include "io/raw_table.hpp"

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::csv;
using testing::message_of;
using testing::with_target;

RawTable table(std::vector<std::string> names, std::vector<SideColumn> side) {
  RawTable raw;
  raw.source = "t.npz";
  raw.dense = Matrix::Random(2, static_cast<Index>(names.size()));
  raw.names = FeatureNames(std::move(names));
  raw.side = std::move(side);
  return raw;
}

SideColumn column(std::string name, std::vector<std::string> values) {
  SideColumn side;
  side.name = std::move(name);
  side.values = std::move(values);
  return side;
}

SideColumn label_array(std::string name, std::vector<std::string> values) {
  SideColumn side = column(std::move(name), std::move(values));
  side.is_label = true;
  return side;
}

TEST(Assemble, TheDefaultTargetFollowsTheContract) {
  const SideColumn text = column("kind", {"u", "v"});
  EXPECT_EQ(
      assemble(table({"a"}, {label_array("y", {"0", "1"}), column("class", {"p", "q"})}), {}).labels()->name,
      "class");
  EXPECT_EQ(assemble(table({"a", "class"}, {label_array("y", {"0", "1"})}), {}).labels()->name, "y");
  const DatasetParts numeric = assemble(table({"a", "class", "b"}, {}), {}).parts();
  EXPECT_EQ(numeric.labels->name, "class");
  EXPECT_EQ(numeric.features(), 2);
  EXPECT_EQ(numeric.names[1], "b");
  EXPECT_EQ(assemble(table({"a"}, {text}), {}).labels()->name, "kind");
  EXPECT_FALSE(assemble(table({"a"}, {}), {}).labels());
  EXPECT_FALSE(assemble(table({"a"}, {label_array("y", {"0", "1"})}), with_target("none")).labels());
}

TEST(Assemble, ColumnsThatMayBeIgnoredAreNeitherTargetNorRefused) {
  SideColumn extra = column("split", {"train", "test"});
  extra.may_be_ignored = true;
  EXPECT_FALSE(assemble(table({"a"}, {extra}), {}).labels());
  EXPECT_EQ(assemble(table({"a"}, {extra}), with_target("split")).labels()->class_count(), 2);
}

TEST(Assemble, AnUnknownTargetGetsNearNames) {
  EXPECT_TRUE(contains(message_of([] { return csv("a,b,class\n1,2,x\n", with_target("clas")); }),
                       "t.csv: target = \"clas\": there is no column of that name; near names: 'class'"));
  EXPECT_TRUE(
      contains(message_of([] { return csv("a,b\n1,2\n", with_target("zzzzz")); }), "'target = \"none\"'"));
  EXPECT_TRUE(contains(message_of([] { return csv("y,a,y\nu,2,v\n", with_target("y")); }),
                       "2 columns are named 'y'"));
}

TEST(Assemble, TextThatIsNoTargetIsRefusedByName) {
  const std::string one = message_of([] { return csv("id,a,class\nr1,1,x\nr2,2,y\n"); });
  EXPECT_TRUE(contains(one, "t.csv:2:1: column 'id' holds text, such as 'r1', and is not the label column"));
  EXPECT_TRUE(contains(one, "ignore = {\"id\"}"));
  EXPECT_TRUE(
      contains(message_of([] { return csv("a,class\n1,x\n2,y\n", with_target("none")); }), "column 'class'"));
}

TEST(Assemble, WeightsMustBeNumbersFromZeroUp) {
  const auto said = [](std::string_view text) {
    ReadOptions options;
    options.weights = "w";
    return message_of([&] { return csv(text, options); });
  };
  EXPECT_TRUE(contains(said("a,w,class\n1,1,x\n2,-1,y\n"), "t.csv:3:2: '-1' is no weight"));
  EXPECT_TRUE(contains(said("a,w,class\n1,1,x\n2,NA,y\n"), "t.csv:3:2: a missing value is no weight"));
  EXPECT_TRUE(contains(said("a,w,class\n1,0,x\n2,0,y\n"), "every weight is 0"));
  EXPECT_TRUE(contains(said("a,w,class\n1,big,x\n"), "t.csv:2:2: 'big' is no weight"));
  EXPECT_TRUE(contains(said("a,w,class\n1,1,x\n2,big,y\n"), "t.csv:3:2: 'big' is no weight"));
  EXPECT_TRUE(contains(said("a,w,class\n1,1,x\n2,inf,y\n"), "t.csv:3:2: 'inf' is no weight"));
  EXPECT_TRUE(contains(said("a,w,class\n1,\"-2\",x\n"), "t.csv:2:2: '-2' is no weight"));
  // A quoted line end before it: the line is that of the field.
  EXPECT_TRUE(contains(said("class,w,a\nu,1,3\n\"x\ny\",-1,2\n"), "t.csv:4:2: '-1' is no weight"));
  EXPECT_TRUE(contains(said("a,w,class\n1,-1,x,9\n"), "the row has 4 fields"));
  EXPECT_TRUE(contains(said("w,w,class\n1,-1,x\n"), "2 columns are named 'w'"));
  EXPECT_TRUE(contains(said("a,class\n1,x\n"), "weights = w: there is no column"));
}

TEST(Assemble, AWeightThatIsNoneOfABinaryTableHasItsRow) {
  ReadOptions options;
  options.weights = "w";
  for (const std::string bad : {"-1", "", "inf", "heavy"}) {
    SideColumn weights = column("w", {"1", bad});
    weights.may_be_ignored = true;
    const std::string said = message_of([&] { return assemble(table({"a"}, {weights}), options); });
    EXPECT_TRUE(contains(said, "t.npz: weight column 'w', row 1: ")) << said;
    EXPECT_TRUE(contains(said, bad.empty() ? "a missing value is no weight" : "'" + bad + "' is no weight"))
        << said;
  }
}

TEST(Assemble, EveryRowNeedsAGroup) {
  ReadOptions options;
  options.cv_groups = "g";
  EXPECT_TRUE(
      contains(message_of([&] { return csv("a,g,class\n1,u,x\n2,,y\n", options); }), "t.csv:3:2: no group"));
}

TEST(Assemble, DuplicateNamesAreKeptAndReported) {
  const DatasetParts data = csv("a,b,a\n1,2,3\n");
  EXPECT_EQ(data.features(), 3);
  ASSERT_EQ(data.warnings.size(), 1U);
  EXPECT_EQ(data.warnings[0], "1 feature name stands for several columns: a (columns 0, 2)");
}

TEST(Assemble, TwoColumnsNamedClassAreRefusedWithTheWayOut) {
  const std::string message = message_of([] { return csv("a,class,class\n1,u,x\n2,v,y\n"); });
  EXPECT_TRUE(contains(message, "2 columns are named 'class'"));
  EXPECT_TRUE(contains(message, "different names"));
}

TEST(Assemble, AMissingLabelOfABinaryTableHasItsRow) {
  const DatasetParts data = assemble(table({"a"}, {label_array("y", {"u", ""})}), {}).parts();
  ASSERT_TRUE(data.first_unlabelled);
  EXPECT_EQ(data.first_unlabelled->text(), "t.npz: label column 'y', row 1");
}

TEST(Assemble, ALabelColumnWithoutLabelsIsRefused) {
  EXPECT_TRUE(contains(message_of([] { return csv("a,class\n1,\n2,NA\n"); }), "holds no label at all"));
}

TEST(Assemble, NamesAndLabelsThatAreNotUtf8AreReadAsLatin1) {
  const DatasetParts data =
      assemble(table({"\xb5m", "h\xc3\xb6he"}, {column("class", {"gr\xfcn", "rot"})}), {}).parts();
  EXPECT_EQ(data.names[0], "\xc2\xb5m");
  EXPECT_EQ(data.names[1], "h\xc3\xb6he") << "what is UTF-8 stays";
  EXPECT_EQ(data.labels->classes[0], "gr\xc3\xbcn");
  ASSERT_EQ(data.warnings.size(), 1U);
  EXPECT_TRUE(contains(data.warnings[0], "2 names or labels are not UTF-8"));
}

TEST(NumberText, IsTheShortestTextThatReadsBack) {
  EXPECT_EQ(number_text(1.0), "1");
  EXPECT_EQ(number_text(-2.5), "-2.5");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(1e100), "1e+100");
  EXPECT_EQ(number_text(123456789012.0), "123456789012");
}

}  // namespace
}  // namespace subspectra
