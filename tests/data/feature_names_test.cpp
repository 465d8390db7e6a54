#include "data/feature_names.hpp"

#include <gtest/gtest.h>

namespace subspectra {
namespace {

TEST(FeatureNames, GivenNamesAreFoundEveryTimeTheyOccur) {
  const FeatureNames names(std::vector<std::string>{"a", "b", "a"});
  EXPECT_TRUE(names.given());
  EXPECT_EQ(names.size(), 3);
  EXPECT_EQ(names.find("a"), (std::vector<Index>{0, 2}));
  EXPECT_TRUE(names.find("c").empty());
  EXPECT_EQ(names.selected({2, 1})[1], "b");
}

TEST(FeatureNames, MadeUpNamesTakeNoMemoryAndAreFoundByNumber) {
  const FeatureNames names(Index{2'000'000'000});
  EXPECT_FALSE(names.given());
  EXPECT_EQ(names[1234567890], "x1234567890");
  EXPECT_EQ(names.find("x1234567890"), (std::vector<Index>{1234567890}));
  for (const char* const wrong :
       {"x", "x-1", "x+1", "x01", "y1", "x1a", "x2000000000", "x99999999999999999999", ""}) {
    EXPECT_TRUE(names.find(wrong).empty()) << wrong;
  }
  EXPECT_EQ(names.find("x0"), (std::vector<Index>{0}));
  EXPECT_EQ(names.selected({7, 3})[0], "x7");
}

TEST(FeatureNames, NearNamesComeNearestFirst) {
  const std::vector<std::string> all = {"alcohol", "malic_acid", "class", "clasp", "Class2"};
  EXPECT_EQ(near_names("clas", all), (std::vector<std::string>{"class", "clasp", "Class2"}));
  EXPECT_EQ(near_names("CLASS", all).front(), "class");
  EXPECT_EQ(near_names("malic", all), (std::vector<std::string>{"malic_acid"}));
  EXPECT_EQ(near_names("calss", all).front(), "class");  // two neighbours changed places
  EXPECT_TRUE(near_names("zzz", all).empty());
  EXPECT_EQ(near_names("clas", all, 1).size(), 1U);
  EXPECT_EQ(FeatureNames(20).near("X12").front(), "x12");
}

TEST(FeatureNames, DuplicatesAreReportedWithTheirColumns) {
  EXPECT_EQ(duplicate_name_reports(FeatureNames(std::vector<std::string>{"V1", "V3", "V2", "V3", "V1"})),
            (std::vector<std::string>{"V3 (columns 1, 3)", "V1 (columns 0, 4)"}));
  EXPECT_TRUE(duplicate_name_reports(FeatureNames(5)).empty());
}

TEST(FeatureNames, FindsManyNamesInOnePass) {
  const std::vector<std::string> wanted = {"b", "zz", "a", "b"};
  const FeatureNames named({"a", "b", "c", "b"});
  using Columns = std::vector<std::vector<Index>>;
  EXPECT_EQ(named.find_each(wanted), (Columns{{1, 3}, {}, {0}, {1, 3}}));
  EXPECT_EQ(FeatureNames(3).find_each({"x2", "x3"}), (Columns{{2}, {}}));
}

}  // namespace
}  // namespace subspectra
