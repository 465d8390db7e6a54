/// What the columns of a table are when nobody says so: numbers of rows, names of rows, the target.
#include <fmt/format.h>

#include "data/leaks.hpp"
#include "io/raw_table.hpp"
#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::csv;
using testing::Folder;
using testing::message_of;
using testing::with_target;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

TEST(IndexColumns, ThatCountFromZeroOrOneAreLeftOutAndSaid) {
  for (const std::string name : {"", "index", "Index", "Unnamed: 0", "\"\""}) {
    for (const int start : {0, 1}) {
      const DatasetParts data =
          csv(fmt::format("{},a,class\n{},5,u\n{},6,v\n{},9,u\n", name, start, start + 1, start + 2));
      EXPECT_EQ(data.features(), 1) << name;
      EXPECT_EQ(data.names[0], "a");
      EXPECT_TRUE(contains(joined(data.understood), "index ")) << name;
    }
  }
  EXPECT_EQ(csv("Unnamed: 0,a,class\n0,5,u\n1,6,v\n2,9,u\n").understood,
            (std::vector<std::string>{"index 'Unnamed: 0' left out"}));
}

TEST(IndexColumns, ThatDoNotCountOrHaveAnotherNameStay) {
  EXPECT_EQ(csv("index,a,class\n0,5,u\n2,6,v\n3,9,u\n").features(), 2);
  EXPECT_EQ(csv("index,a,class\n2,5,u\n3,6,v\n4,9,u\n").features(), 2);
  EXPECT_EQ(csv("time,a,class\n0,5,u\n1,6,v\n2,9,u\n").features(), 2);
  EXPECT_EQ(csv("0,5,8\n1,6,9\n2,9,4\n").features(), 3) << "without a header no column has a name";
}

TEST(IndexColumns, AColumnThatAModelNeedsStays) {
  ReadOptions options;
  options.needed = {"index", "a"};
  EXPECT_EQ(csv("index,a\n0,5\n1,6\n", options).features(), 2);
}

TEST(Ids, ATextColumnWithAValueOfItsOwnInEveryRowNamesTheRows) {
  const DatasetParts data = csv("sample,a,kind\ns1,5,u\ns2,6,v\ns3,9,u\n");
  EXPECT_EQ(data.labels->name, "kind");
  EXPECT_EQ(data.id_name, "sample");
  ASSERT_TRUE(data.row_ids);
  EXPECT_EQ(*data.row_ids, (std::vector<std::string>{"s1", "s2", "s3"}));
  EXPECT_EQ(data.features(), 1);
  EXPECT_TRUE(contains(joined(data.understood), "ids in 'sample'"));
  EXPECT_TRUE(contains(joined(data.notes), "'sample' names the rows: no feature and no label"));
}

TEST(Ids, GoWithTheirRows) {
  const Dataset data = csv("sample,a,kind\ns1,5,u\ns2,6,v\ns3,9,u\n");
  const Dataset part = data.with_rows({2, 0});
  ASSERT_TRUE(part.details().row_ids);
  EXPECT_EQ((*part.details().row_ids)[static_cast<std::size_t>(part.original_rows()[0])], "s3");
}

TEST(Ids, AreNeverTheLabelAndTheTableWithoutAnotherHasNone) {
  const DatasetParts data = csv("gene,s1,s2\ng1,5,1\ng2,6,3\ng3,9,2\n");
  EXPECT_FALSE(data.labels);
  EXPECT_TRUE(contains(data.no_target, "'gene' has a value of its own in every row"));
  EXPECT_TRUE(contains(data.no_target, "⟨transpose⟩"));
  EXPECT_TRUE(contains(data.no_target, "⟨labels FILE⟩"));
  EXPECT_TRUE(contains(data.no_target, "⟨target none⟩"));
  EXPECT_EQ(csv("gene,s1,s2\ng1,5,1\ng2,6,3\ng3,9,2\n", with_target("gene")).labels->class_count(), 3)
      << "unless it is asked for";
  EXPECT_EQ(csv("class,s1\ng1,5\ng2,6\ng3,9\n").labels->class_count(), 3) << "or called class";
}

TEST(Ids, OfTwoRowsOrWithAGapSayNothing) {
  EXPECT_EQ(csv("a,kind\n1,u\n2,v\n").labels->name, "kind");
  EXPECT_EQ(csv("a,kind\n1,u\n2,v\n3,\n").labels->name, "kind");
}

TEST(Ids, NumbersWithDecimalCommasAreNone) {
  EXPECT_TRUE(contains(message_of([] { return csv("a,class\n\"1,5\",u\n\"2,5\",v\n\"3,5\",u\n"); }),
                       "column 'a' holds text, such as '1,5', and is not the label column"));
}

TEST(Ids, AColumnIsNamedAsOne) {
  ReadOptions options;
  options.id = "patient";
  const DatasetParts data = csv("patient,a,class\n007,5,u\n007,6,v\n010,9,u\n", options);
  EXPECT_EQ(*data.row_ids, (std::vector<std::string>{"007", "007", "010"})) << "as it is written";
  EXPECT_EQ(data.features(), 1);
  options.id = "patiend";
  EXPECT_TRUE(contains(message_of([&] { return csv("patient,a,class\n1,5,u\n", options); }),
                       "id = \"patiend\": there is no column"));
}

TEST(Targets, AColumnOfZerosAndOnesWithTheNameOfATargetIsTakenAndSaid) {
  for (const std::string name : {"label", "y", "target", "outcome", "Y", "Outcome"}) {
    const DatasetParts data = csv(fmt::format("a,{},b\n5,0,2\n6,1,3\n9,0,1\n", name));
    ASSERT_TRUE(data.labels) << name;
    EXPECT_EQ(data.labels->name, name);
    EXPECT_EQ(data.features(), 2);
    EXPECT_TRUE(contains(joined(data.understood), fmt::format("target '{}'", name)));
  }
  EXPECT_FALSE(csv("a,z,b\n5,0,2\n6,1,3\n9,0,1\n").labels);
  EXPECT_FALSE(csv("a,y,b\n5,0,2\n6,2,3\n9,0,1\n").labels) << "not zeros and ones";
  EXPECT_FALSE(csv("a,y,b\n5,0,2\n6,0,3\n9,0,1\n").labels) << "one class alone";
  EXPECT_FALSE(csv("a,y,b\n5,0,2\n6,1,3\n9,0,1\n", with_target("none")).labels);
}

TEST(Targets, ATextColumnComesBeforeIt) {
  const DatasetParts data = csv("a,y,kind\n5,0,u\n6,1,v\n9,0,u\n4,1,v\n");
  EXPECT_EQ(data.labels->name, "kind");
  EXPECT_TRUE(contains(joined(data.warnings),
                       "labels are taken from 'kind'; ⟨target NAME⟩ takes another column ('y')"));
}

TEST(Targets, OfSeveralTextColumnsTheOneThatIsCalledSo) {
  const std::string rows = "5,u,x\n6,v,y\n9,u,y\n4,v,x\n";
  EXPECT_EQ(csv("a,label,sex\n" + rows).labels->name, "label");
  EXPECT_EQ(csv("a,stage,sex\n" + rows).labels->name, "sex") << "else the last";
  EXPECT_EQ(csv("a,y,stage,sex\n5,0,u,x\n6,1,v,y\n9,0,u,y\n4,1,v,x\n").labels->name, "y");
}

TEST(Targets, TwoNumericOnesAreNamedAndNoneIsTaken) {
  const DatasetParts data = csv("a,y,target\n5,0,1\n6,1,0\n9,0,0\n");
  EXPECT_FALSE(data.labels);
  EXPECT_TRUE(contains(data.no_target, "several could be the label: 'y', 'target'"));
}

TEST(Missing, FurtherTokensAndNumbersStandForIt) {
  ReadOptions options;
  options.na = {"-999", "missing"};
  const DatasetParts data = csv("a,b,class\n1,-999,u\nmissing,3,v\n-999.0,4,missing\n", options);
  EXPECT_TRUE(std::isnan(data.dense(0, 1)));
  EXPECT_TRUE(std::isnan(data.dense(1, 0)));
  EXPECT_TRUE(std::isnan(data.dense(2, 0))) << "the number, however it is written";
  EXPECT_EQ(data.labels->codes, (std::vector<int>{0, 1, Labels::kMissing}));
  EXPECT_EQ(data.first_missing->text(), "t.csv:2:2");
  RawTable raw;  // of a format that knows nothing of it
  raw.source = "t.npy";
  raw.dense = Matrix::Constant(3, 2, -999.0);
  raw.dense(0, 0) = 1.0;
  raw.names = FeatureNames(2);
  const DatasetParts binary = assemble(std::move(raw), options).parts();
  EXPECT_EQ(binary.dense.array().isNaN().count(), 5);
  EXPECT_TRUE(binary.first_missing);
}

TEST(Excluded, AWrongNameIsToldBeforeTheTextColumnItWasMeantFor) {
  ReadOptions options;
  options.ignore = {"smaple"};
  const std::string said =
      message_of([&] { return csv("sample,a,class\nlow end,1,x\nlow end,2,y\nhigh,3,y\n", options); });
  EXPECT_TRUE(contains(said, "names 'smaple', but no column has that name (did you mean sample?)")) << said;
}

TEST(Covariances, GivenAsATableAreRecognisedBySymmetry) {
  const std::string text = "a,b,c\n2,0.5,0.1\n0.5,1,0\n0.1,0,1\n";
  EXPECT_TRUE(contains(message_of([&] { return csv(text); }), "form a symmetric matrix"));
  EXPECT_TRUE(contains(message_of([&] { return csv(text); }), "covariance = t.csv"));
  EXPECT_EQ(csv(text, with_target("none")).rows(), 3);
  EXPECT_TRUE(contains(joined(csv(text, with_target("none")).warnings), "symmetric"));
  EXPECT_EQ(csv("a,b,c\n2,0.5,0.1\n0.5,1,0\n0.2,0,1\n").rows(), 3) << "not symmetric";
  EXPECT_EQ(csv("a,b,c,class\n2,0.5,0.1,u\n0.5,1,0,v\n0.1,0,1,u\n").rows(), 3)
      << "labels make it one of samples";
  EXPECT_EQ(csv("a,b\n2,1\n1,2\n").rows(), 2) << "too small to tell";
}

/// Two classes of `each` rows; column `a` is given, `b` is noise.
std::string labelled(int each, const std::function<std::string(int row, bool second)>& value) {
  std::string text = "a,b,class\n";
  for (int i = 0; i < 2 * each; ++i)
    text += fmt::format("{},{},{}\n", value(i, i >= each), (i * 7) % 5, i >= each ? "v" : "u");
  return text;
}

TEST(Leaks, AColumnThatAloneSeparatesPerfectlyIsNamed) {
  const auto shifted = [](int i, bool second) { return fmt::to_string(i + (second ? 100 : 0)); };
  EXPECT_TRUE(contains(joined(csv(labelled(10, shifted)).warnings),
                       "column 'a' alone separates the classes perfectly: a possible leak"));
  EXPECT_TRUE(contains(joined(csv(labelled(10, shifted)).warnings), "⟨exclude a⟩"));
  EXPECT_EQ(joined(csv(labelled(3, shifted)).warnings), "") << "six rows separate by chance";
  const auto one_off = [](int i, bool second) {
    return i == 0 ? "200" : fmt::to_string(i + (second ? 100 : 0));
  };
  EXPECT_EQ(joined(csv(labelled(10, one_off)).warnings), "");
  ReadOptions excluded;
  excluded.ignore = {"a"};
  EXPECT_EQ(joined(csv(labelled(10, shifted), excluded).warnings), "");
}

TEST(Leaks, TheLabelInDisguiseIsNamedAsThat) {
  EXPECT_TRUE(
      contains(joined(csv(labelled(10, [](int, bool second) { return second ? "7" : "3"; })).warnings),
               "column 'a' has one value for each class, the label in disguise"));
}

TEST(Leaks, ByChanceIsCountedAsOrdersOfTheRows) {
  // 3 of u and 3 of v: 2 of the 20 orders separate; of 10 columns one is expected to.
  EXPECT_NEAR(log_expected_separating({3, 3}, 10), std::log(10 * 2.0 / 20.0), 1e-12);
  EXPECT_NEAR(log_expected_separating({2, 1, 1}, 1), std::log(6.0 / 12.0), 1e-12);
}

TEST(Leaks, ZerosThatAreNotStoredCount) {
  DatasetParts data;
  data.is_sparse = true;
  data.sparse.resize(20, 1);
  for (int i = 10; i < 20; ++i) data.sparse.insert(i, 0) = i;
  data.sparse.makeCompressed();
  data.names = FeatureNames(1);
  std::vector<std::string> labels(20, "u");
  std::fill(labels.begin() + 10, labels.end(), "v");
  data.labels = Labels::from_texts("y", labels);
  EXPECT_EQ(leak_warnings(data, {}).size(), 1U);
  data.sparse.coeffRef(10, 0) = 0.0;
  EXPECT_TRUE(leak_warnings(data, {}).empty());
}

}  // namespace
}  // namespace subspectra
