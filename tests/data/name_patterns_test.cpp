#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fnmatch.h>

#include <random>
#include <string>
#include <vector>

#include "data/name_patterns.hpp"

namespace subspectra::name_patterns_test {
namespace {

using Columns = std::vector<Index>;

TEST(NamePatterns, AreThoseOfAShell) {
  EXPECT_TRUE(matches_name_pattern("gene_*", "gene_7"));
  EXPECT_TRUE(matches_name_pattern("gene_*", "gene_"));
  EXPECT_FALSE(matches_name_pattern("gene_*", "Gene_7"));
  EXPECT_TRUE(matches_name_pattern("V[1-5]", "V3"));
  EXPECT_FALSE(matches_name_pattern("V[1-5]", "V6"));
  EXPECT_FALSE(matches_name_pattern("V[1-5]", "V13"));
  EXPECT_TRUE(matches_name_pattern("V[!1-5]", "V6"));
  EXPECT_TRUE(matches_name_pattern("x?", "xé")) << "a character, not a byte";
  EXPECT_TRUE(matches_name_pattern("[α-ω]*", "βeta"));
  EXPECT_TRUE(matches_name_pattern("a[*]", "a*"));
  EXPECT_FALSE(matches_name_pattern("a[*]", "ab"));
  EXPECT_TRUE(matches_name_pattern("[]x]", "]"));
  EXPECT_TRUE(matches_name_pattern("[a", "[a")) << "a bracket that is not closed is itself";
  EXPECT_TRUE(matches_name_pattern("*", ""));
  EXPECT_FALSE(matches_name_pattern("?", ""));
}

// Oracle: fnmatch of the C library, on words over an alphabet in which every special character is common.
TEST(NamePatterns, AgreeWithTheSystemsOnManyWords) {
  std::mt19937 random(0);
  const auto word = [&](std::string_view letters, std::size_t most) {
    std::string text(random() % (most + 1), ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  int fitting = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = word("ab*?[]-!", 7), name = word("ab-]!", 6);
    // What stands between brackets with a range that runs backwards, or ends at a bracket, POSIX leaves open.
    if (pattern.find('[') != std::string::npos && pattern.find('-') != std::string::npos) continue;
    const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    fitting += expected ? 1 : 0;
    ASSERT_EQ(matches_name_pattern(pattern, name), expected) << pattern << " on " << name;
  }
  EXPECT_GT(fitting, 1000);
}

TEST(NamePatterns, TakeNoTimeThatGrowsWithThePowerOfTheStars) {
  const std::string name(20'000, 'a');
  EXPECT_FALSE(matches_name_pattern("a*a*a*a*a*a*a*a*a*a*b", name));
}

TEST(NamePatterns, ANameThatExistsIsThatNameAlone) {
  const FeatureNames names({"V1", "V[1]", "V2", "W", "V1"});
  const auto found = columns_named(names, {"V[1]", "V1", "V[12]", "V*", "Z*", "Z"});
  EXPECT_EQ(found[0], (Columns{1}));
  EXPECT_EQ(found[1], (Columns{0, 4}));
  EXPECT_EQ(found[2], (Columns{0, 2, 4}));
  EXPECT_EQ(found[3], (Columns{0, 1, 2, 4}));
  EXPECT_TRUE(found[4].empty());
  EXPECT_TRUE(found[5].empty());
  EXPECT_EQ(columns_named(FeatureNames(12), {"x1*"})[0], (Columns{1, 10, 11}));
}

TEST(NamePatterns, AreSpelledOutForReaders) {
  const std::vector<std::string> columns = {"V1", "V[1]", "note_a", "note_b"};
  const auto name = [&](Index j) { return columns[static_cast<std::size_t>(j)]; };
  EXPECT_EQ(spelled_out({"note_*", "V[1]", "none*", "V1"}, 4, name),
            (std::vector<std::string>{"note_a", "note_b", "V[1]", "none*", "V1"}));
  EXPECT_EQ(spelled_out({"V1"}, 4, name), (std::vector<std::string>{"V1"}));
}

}  // namespace
}  // namespace subspectra::name_patterns_test
