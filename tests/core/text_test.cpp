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

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("gene \xc3\xa9 \xe9\xba\xa6"), "gene \xc3\xa9 \xe9\xba\xa6");
  EXPECT_EQ(printable(std::string("\0\t\x1b[0m\x7f", 7)), "\\x00\\x09\\x1B[0m\\x7F");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a\\u009B31m");
  EXPECT_EQ(printable("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c"), "\\u202E\\u2066\\u061C");
  EXPECT_EQ(printable("a\xc2\xad\xcd\x8f\xe1\x85\x9f\xe3\x85\xa4"), "a\\u00AD\\u034F\\u115F\\u3164");
  EXPECT_EQ(printable("\xff\xc0\x80\xed\xa0\x80"), "\\xFF\\xC0\\x80\\xED\\xA0\\x80") << "no UTF-8";
  EXPECT_EQ(printable("a\nb"), "a\\x0Ab");
  EXPECT_EQ(printable("a\nb\r", LineBreaks::kKeep), "a\nb\\x0D");
  EXPECT_EQ(shown("a\xe2\x80\xae"), "'a\\u202E'");
}

TEST(IsUtf8, KnowsOverlongFormsAndSurrogates) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xf0\x9f\x98\x80"));
  for (const char* const text :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe9\xba"})
    EXPECT_FALSE(is_utf8(text));
}

}  // namespace
}  // namespace subspectra
