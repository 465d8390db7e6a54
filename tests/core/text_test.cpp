#include "core/text.hpp"

#include <gtest/gtest.h>

namespace subspectra {
namespace {

TEST(JoinSome, ShowsTheFirstFewAndCountsTheRest) {
  EXPECT_EQ(join_some({"a", "b"}), "a, b");
  EXPECT_EQ(join_some({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(join_some(std::vector<std::string>()), "");
}

TEST(JoinSome, MakesOnlyTheEntriesItShows) {
  std::size_t made = 0;
  const auto entry = [&](std::size_t i) {
    ++made;
    return "x" + std::to_string(i);
  };
  EXPECT_EQ(join_some(1'000'000'000, entry, 3), "x0, x1, x2 and 999999997 more");
  EXPECT_EQ(made, 3U);
}

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(2L, "class", "classes"), "2 classes");
}

}  // namespace
}  // namespace subspectra
