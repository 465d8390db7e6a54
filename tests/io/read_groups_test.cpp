#include "io/read_groups.hpp"

#include <gtest/gtest.h>

#include "reading.hpp"

namespace subspectra {
namespace {

using testing::contains;
using testing::Folder;
using testing::message_of;
using Members = std::vector<std::vector<Index>>;
using Texts = std::vector<std::string>;

FeatureGroups groups(std::string_view text, const FeatureNames& names, const std::string& file = "g.csv") {
  const Folder folder;
  return read_groups(folder.write(file, text), names);
}

std::string refusal(std::string_view text, const FeatureNames& names) {
  const std::string message = message_of([&] { return groups(text, names); });
  const std::size_t begin = message.find("g.csv");
  return begin == std::string::npos ? message : message.substr(begin);
}

const FeatureNames kNames(Texts{"V1", "V2", "V3", "V4", "V5"});

TEST(Groups, AreOrderedByTheirLowestFeatureWhateverTheFilesOrder) {
  const FeatureGroups g = groups("feature,group\nV5,late\nV4,pair\nV2,pair\n\nV1,late\n", kNames);
  EXPECT_EQ(g.names, (Texts{"late", "pair", "V3"}));
  EXPECT_EQ(g.members, (Members{{0, 4}, {1, 3}, {2}}));
  EXPECT_EQ(g.group_of, (std::vector<Index>{0, 1, 2, 1, 0}));
  EXPECT_EQ(g.size(), 3);
}

TEST(Groups, FeaturesThatAreNotListedAreGroupsOfTheirOwn) {
  const FeatureGroups g = groups("Feature,Group\nV2,only\n", kNames);
  EXPECT_EQ(g.names, (Texts{"V1", "only", "V3", "V4", "V5"}));
  EXPECT_EQ(g.members, (Members{{0}, {1}, {2}, {3}, {4}}));
}

TEST(Groups, ANameThatStandsForSeveralColumnsTakesAllOfThem) {
  const FeatureNames names(Texts{"a", "b", "a", "b"});
  const FeatureGroups g = groups("feature,group\na,both\n", names);
  EXPECT_EQ(g.names, (Texts{"both", "b", "b"}));
  EXPECT_EQ(g.members, (Members{{0, 2}, {1}, {3}}));
}

TEST(Groups, NamesThatLookLikeNumbersOrMissingValuesStayTexts) {
  const FeatureNames names(Texts{"01", "NA", "1"});
  const FeatureGroups g = groups("feature,group\n01,007\nNA,nan\n1,007\n", names);
  EXPECT_EQ(g.names, (Texts{"007", "nan"}));
  EXPECT_EQ(g.members, (Members{{0, 2}, {1}}));
}

TEST(Groups, MadeUpNamesTabsAndQuotesAreUnderstood) {
  const FeatureGroups g = groups("feature\tgroup\nx3\t\"a, b\"\nx0\t\"a, b\"\n", FeatureNames(4), "g.tsv");
  EXPECT_EQ(g.names, (Texts{"a, b", "x1", "x2"}));
  EXPECT_EQ(g.members, (Members{{0, 3}, {1}, {2}}));
  EXPECT_EQ(groups("feature,group\n\xe4,g\n", FeatureNames(Texts{"ä"})).names, (Texts{"g"})) << "Latin-1";
}

TEST(Groups, AGroupMayHaveTheNameOfAListedFeature) {
  const FeatureGroups g = groups("feature,group\nV1,V2\nV2,V2\nV3,V4\nV4,V5\nV5,V5\n", kNames);
  EXPECT_EQ(g.names, (Texts{"V2", "V4", "V5"}));
  EXPECT_EQ(g.members, (Members{{0, 1}, {2}, {3, 4}}));
}

TEST(Groups, SaysWhereAndWhatToDo) {
  EXPECT_EQ(
      refusal("feature,group\nV1,a\n\nV2,a\nV1,b\n", kNames),
      "g.csv:5:1: feature 'V1' is listed twice, first on line 2; a feature is in one group, so list it once");
  EXPECT_EQ(refusal("feature,group\nV1,a\nv33,a\n", kNames),
            "g.csv:3:1: no feature is named 'v33' (did you mean V3?); names are matched exactly");
  EXPECT_EQ(refusal("feature,group\nsomething,a\n", kNames),
            "g.csv:2:1: no feature is named 'something'; names are matched exactly");
  EXPECT_EQ(
      refusal("V1,a\nV2,a\n", kNames),
      "g.csv:1:1: the header is 'V1','a' where feature,group is needed: the first line is feature,group and every other one names a feature and its group");
  EXPECT_EQ(
      refusal("feature,group\nV1,a\nV2\n", kNames),
      "g.csv:3:1: the line has 1 field where 2 are needed: the first line is feature,group and every other one names a feature and its group");
  EXPECT_TRUE(contains(refusal("feature,group,x\nV1,a,1\n", kNames), "g.csv:1:3: the line has 3 fields"));
  EXPECT_EQ(
      refusal("feature,group\nV1,\n", kNames),
      "g.csv:2:2: the group is empty; name it, or leave the line out (a feature that is not listed is a group of its own)");
  EXPECT_TRUE(contains(refusal("feature,group\n,a\n", kNames), "g.csv:2:1: the feature is empty"));
  EXPECT_EQ(
      refusal("feature,group\nV1,V3\n", kNames),
      "g.csv:2:2: the group 'V3' has the name of a feature that is not listed and so is a group of its own; rename the group, or list the feature");
  EXPECT_EQ(
      refusal("feature,group\n", kNames),
      "g.csv: no feature is listed: the first line is feature,group and every other one names a feature and its group");
  EXPECT_TRUE(contains(refusal("\n\n", kNames), "no feature is listed"));
  EXPECT_TRUE(contains(refusal("feature;group\nV1;a\n", kNames), "semicolons"));
}

TEST(Groups, AHundredThousandFeaturesAreTaken) {
  std::string text = "feature,group\n";
  constexpr Index kFeatures = 100'000;
  for (Index j = 0; j < kFeatures; ++j) {
    text += "x" + std::to_string(j) + ",g" + std::to_string(j % 1000) + "\n";
  }
  const FeatureGroups g = groups(text, FeatureNames(FeatureNames(kFeatures).all()));
  EXPECT_EQ(g.size(), 1000);
  for (Index j = 0; j < kFeatures; ++j) ASSERT_EQ(g.group_of[static_cast<std::size_t>(j)], j % 1000);
}

}  // namespace
}  // namespace subspectra
