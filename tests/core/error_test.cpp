#include <subspectra/error.hpp>

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

TEST(InvalidArgument, IsDataAndASentenceInTheWordsOfEachLanguage) {
  const InvalidArgument error(
      {.field = "swaps", .value = "-1", .rule = "must not be negative", .way_out = "0 is ⟨swaps 0⟩"});
  EXPECT_EQ(error.field, "swaps");
  EXPECT_EQ(error.value, "-1");
  EXPECT_EQ(error.rule, "must not be negative");
  EXPECT_EQ(error.way_out, "0 is swaps = 0");
  EXPECT_NE(error.text(Spelling::kPython).find("; 0 is swaps=0"), std::string::npos);
  EXPECT_STREQ(error.what(), "swaps must not be negative; 0 is swaps = 0");
  EXPECT_EQ(error.text(Spelling::kCommandLine), "--swaps must not be negative; 0 is --swaps 0");
  EXPECT_EQ(error.text(Spelling::kPython), "swaps= must not be negative; 0 is swaps=0");
}

TEST(InvalidArgument, ShowsTheValueWhereTheRuleHasAPlaceForIt) {
  const InvalidArgument set(
      {.field = "svm_gamma", .value = "-1", .rule = "{value}, but a positive number is needed"});
  EXPECT_EQ(set.rule, "a positive number is needed");
  EXPECT_STREQ(set.what(), "svm_gamma = -1, but a positive number is needed");
  EXPECT_EQ(set.text(Spelling::kCommandLine), "--svm-gamma -1, but a positive number is needed");
  EXPECT_EQ(set.text(Spelling::kPython), "svm_gamma=-1, but a positive number is needed");

  const InvalidArgument inside(
      {.field = "sizes", .value = "a {value}", .rule = "'{value}': numbers are needed"});
  EXPECT_EQ(inside.rule, "numbers are needed");
  EXPECT_STREQ(inside.what(), "sizes 'a {value}': numbers are needed");

  const InvalidArgument colon({.field = "sizes", .rule = ": two are needed"});
  EXPECT_EQ(colon.rule, "two are needed");
  EXPECT_STREQ(colon.what(), "sizes: two are needed");

  const InvalidArgument equals({.field = "features", .value = "3", .rule = "= {value}, but 0 is needed"});
  EXPECT_EQ(equals.rule, "0 is needed");
  EXPECT_EQ(equals.text(Spelling::kCommandLine), "--features = 3, but 0 is needed");
  EXPECT_EQ(equals.text(Spelling::kPython), "features = 3, but 0 is needed");
}

TEST(InvalidArgument, OfNoSingleFieldIsItsSentence) {
  const InvalidArgument error("⟨weights⟩ and ⟨cv_groups⟩ name one column");
  EXPECT_EQ(error.field, "");
  EXPECT_EQ(error.rule, "weights and cv_groups name one column");
  EXPECT_EQ(error.text(Spelling::kCommandLine), "--weights and --cv-groups name one column");
  EXPECT_EQ(error.marked(), "⟨weights⟩ and ⟨cv_groups⟩ name one column");
}

TEST(Errors, AreAllErrors) {
  EXPECT_THROW(throw InvalidArgument("x"), Error);
  EXPECT_THROW(throw BadInput("x"), Error);
  EXPECT_THROW(throw Infeasible("x"), Error);
  EXPECT_THROW(throw Error("x"), std::runtime_error);
}

}  // namespace
}  // namespace subspectra
