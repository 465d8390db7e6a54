#include "core/error.hpp"

#include <gtest/gtest.h>

namespace subspectra {
namespace {

TEST(Location, IsWrittenAsEditorsReadIt) {
  EXPECT_EQ((Location{.file = "a.csv", .line = 3, .column = 7, .place = {}}.text()), "a.csv:3:7");
  EXPECT_EQ((Location{.file = "a.csv", .line = 3, .column = 0, .place = {}}.text()), "a.csv:3");
  EXPECT_EQ((Location{.file = "a.csv", .line = 0, .column = 0, .place = {}}.text()), "a.csv");
  EXPECT_EQ((Location{.file = "a.npz", .line = 0, .column = 0, .place = "array 'X'"}.text()),
            "a.npz: array 'X'");
}

TEST(BadInput, PutsThePlaceBeforeTheSentence) {
  const BadInput error(Location{.file = "a.csv", .line = 2, .column = 5, .place = {}}, "'x' is not a number");
  EXPECT_STREQ(error.what(), "a.csv:2:5: 'x' is not a number");
  EXPECT_STREQ(BadInput("one class only").what(), "one class only");
}

TEST(Errors, AreAllErrors) {
  EXPECT_THROW(throw InvalidArgument("x"), Error);
  EXPECT_THROW(throw BadInput("x"), Error);
  EXPECT_THROW(throw Infeasible("x"), Error);
  EXPECT_THROW(throw Error("x"), std::runtime_error);
}

}  // namespace
}  // namespace subspectra
