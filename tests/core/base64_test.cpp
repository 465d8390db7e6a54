#include "core/base64.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace subspectra {
namespace {

// RFC 4648, section 10.
TEST(Base64, WritesTheExamplesOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, ReadsWhatItWrites) {
  Random random(1);
  for (std::size_t size = 0; size < 40; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    EXPECT_EQ(bytes_of_base64(base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatNobodyWrites) {
  for (const char* wrong : {"A", "AB", "ABC", "AB=C", "A===", "====", "AB C",
                            "Zh==", "Zm9=", "Zg==Zg==", "Zg=a", "\xff\xff\xff\xff"})
    EXPECT_FALSE(bytes_of_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace subspectra
