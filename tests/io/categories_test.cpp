/// Text columns as features.
#include <fmt/format.h>

#include "data/derived_features.hpp"
#include "io/raw_table.hpp"
#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::csv;
using testing::message_of;

const std::string kPatients =
    "age,stage,smoker,class\n50,I,TRUE,u\n60,II,FALSE,v\n70,III,TRUE,u\n40,I,FALSE,v\n30,II,TRUE,u\n20,,FALSE,v\n";

TEST(Categories, BecomeIndicatorsOfAllValuesButTheFirst) {
  const DatasetParts data = csv(kPatients);
  EXPECT_EQ(data.names.all(), (std::vector<std::string>{"age", "stage=II", "stage=III", "smoker"}));
  EXPECT_EQ(Vector(data.dense.col(1).head(5)), (Vector(5) << 0, 1, 0, 0, 1).finished());
  EXPECT_EQ(Vector(data.dense.col(2).head(5)), (Vector(5) << 0, 0, 1, 0, 0).finished());
  EXPECT_EQ(Vector(data.dense.col(3)), (Vector(6) << 1, 0, 1, 0, 1, 0).finished()) << "TRUE and FALSE";
  EXPECT_TRUE(std::isnan(data.dense(5, 1)) && std::isnan(data.dense(5, 2)))
      << "a missing value is one in all";
  EXPECT_EQ(data.first_missing->text(), "t.csv:7:2");
  EXPECT_EQ(data.understood, (std::vector<std::string>{"categories 'stage' (3), 'smoker' (2)"}));
  ASSERT_TRUE(data.categories);
  EXPECT_EQ(data.categories->names, (std::vector<std::string>{"age", "stage", "smoker"}));
  EXPECT_EQ(data.categories->members[1], (std::vector<Index>{1, 2}));
}

TEST(Categories, OfTwoValuesNeedNoGroup) {
  const DatasetParts data = csv("a,sex,class\n1,f,u\n2,m,v\n3,f,v\n4,m,u\n");
  EXPECT_EQ(data.names[1], "sex=m");
  EXPECT_FALSE(data.categories);
}

TEST(Categories, GroupsGoWithTheirFeatures) {
  const Dataset data = csv(kPatients);
  EXPECT_FALSE(data.with_features({0, 1}).details().categories);
  const auto part = data.with_features({1, 2, 3}).details().categories;
  ASSERT_TRUE(part);
  EXPECT_EQ(part->names, (std::vector<std::string>{"stage", "smoker"}));
  EXPECT_EQ(part->group_of, (std::vector<Index>{0, 0, 1}));
}

TEST(Categories, NoneRefusesTextAndNamesTakesThese) {
  ReadOptions options;
  options.categorical = "none";
  EXPECT_TRUE(
      contains(message_of([&] { return csv(kPatients, options); }), "columns 'stage', 'smoker' hold text"));
  options.categorical = "stage,smoker";
  EXPECT_EQ(csv(kPatients, options).features(), 4);
  options.categorical = "stage";
  EXPECT_TRUE(contains(message_of([&] { return csv(kPatients, options); }),
                       "column 'smoker' holds text, such as 'TRUE',"));
  options.categorical = "grade";  // numbers that are names
  const DatasetParts data = csv("grade,a,class\n1,4,u\n2,6,v\n3,5,u\n2,7,v\n", options);
  EXPECT_EQ(data.names.all(), (std::vector<std::string>{"a", "grade=2", "grade=3"}));
  options.categorical = "grad";
  EXPECT_TRUE(contains(message_of([&] { return csv("grade,a,class\n1,4,u\n2,6,v\n", options); }), "'grade'"));
}

TEST(Categories, TooManyValuesAreRefusedWithAWayOut) {
  std::string text = "name,a,class\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("n{},{},{}\n", i % 30, i, i % 2 == 0 ? "u" : "v");
  EXPECT_TRUE(contains(message_of([&] { return csv(text); }), "ignore = {\"name\"}"));
  ReadOptions options;
  options.categorical = "name";
  EXPECT_EQ(csv(text, options).features(), 30) << "29 indicators beside a";
}

TEST(Categories, DatesAreRefusedWithWords) {
  for (const std::string date :
       {"2020-01-31", "31.01.2020", "1/31/20", "2020-01-31T10:30:00", "2020/1/31 10:30"}) {
    const std::string said =
        message_of([&] { return csv(fmt::format("day,a,class\n{0},1,u\n{0},2,v\n{0},3,u\n", date)); });
    EXPECT_TRUE(contains(said, "column 'day' holds dates")) << said;
    EXPECT_TRUE(contains(said, "days since")) << said;
  }
  EXPECT_EQ(csv("v,a,class\n1.2.3,1,u\n1.2.3,2,v\n1.2.4,3,u\n1.2.4,5,v\n").features(), 2)
      << "versions are no dates";
}

TEST(Categories, AConstantTextIsLeftOut) {
  const DatasetParts data = csv("site,a,class\nx,1,u\nx,2,v\nx,3,u\n");
  EXPECT_EQ(data.features(), 1);
  EXPECT_EQ(data.left_out, (std::vector<std::string>{"site"}));
}

TEST(Categories, OfAModelAreMadeAgainForNewRows) {
  ReadOptions options;
  options.target = "none";
  options.needed = {"age", "stage"};
  options.derived = {{.name = "stage=II", .column = "stage", .value = "II"},
                     {.name = "stage=III", .column = "stage", .value = "III"}};
  const DatasetParts data = csv("stage,age\nIII,5\nIV,6\n", options);
  EXPECT_EQ(data.names.all(), (std::vector<std::string>{"age", "stage=II", "stage=III"}));
  EXPECT_EQ(data.dense.row(0), (Matrix(1, 3) << 5, 0, 1).finished().row(0));
  EXPECT_EQ(data.dense.row(1), (Matrix(1, 3) << 6, 0, 0).finished().row(0))
      << "a value that training did not have";
  ASSERT_EQ(data.warnings.size(), 1U);
  EXPECT_EQ(
      data.warnings[0],
      "column 'stage' holds a value that the model has not seen ('IV'): there 1 row has none of those it knows");
  EXPECT_TRUE(contains(message_of([&] { return csv("age\n5\n", options); }), "lacks column 'stage'"));
  // One row whose text looks like a number stays text.
  options.derived = {{.name = "stage=2", .column = "stage", .value = "2"}};
  EXPECT_EQ(csv("stage,age\n2,5\n", options).dense(0, 1), 1.0);
}

TEST(Categories, OfSparseTables) {
  RawTable raw;
  raw.source = "t.arff";
  raw.is_sparse = true;
  raw.sparse.resize(4, 1);
  raw.sparse.insert(1, 0) = 5.0;
  raw.sparse.makeCompressed();
  raw.names = FeatureNames(std::vector<std::string>{"a"});
  SideColumn side;
  side.name = "sex";
  side.values = {"f", "m", "f", "m"};
  raw.side = {side};
  SideColumn label;
  label.name = "class";
  label.values = {"u", "v", "v", "u"};
  raw.side.push_back(label);
  const DatasetParts data = assemble(std::move(raw), {}).parts();
  EXPECT_EQ(Matrix(data.sparse), (Matrix(4, 2) << 0, 0, 5, 1, 0, 0, 0, 1).finished());
}

}  // namespace
}  // namespace subspectra
