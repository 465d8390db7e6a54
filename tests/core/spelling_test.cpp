#include "core/spelling.hpp"

#include <gtest/gtest.h>

namespace subspectra {
namespace {

std::string flags(std::string_view text) { return spelled(text, Spelling::kCommandLine); }
std::string python(std::string_view text) { return spelled(text, Spelling::kPython); }
std::string cpp(std::string_view text) { return spelled(text, Spelling::kCpp); }

TEST(Spelled, NamesAFieldAsItsReadersWriteIt) {
  EXPECT_EQ(flags("raise ⟨memory_limit⟩."), "raise --memory-limit.");
  EXPECT_EQ(python("raise ⟨memory_limit⟩."), "raise memory_limit=.");
  EXPECT_EQ(cpp("raise ⟨memory_limit⟩."), "raise memory_limit.");
}

TEST(Spelled, HasShortFlagsForSmallLettersOnly) {
  EXPECT_EQ(flags("⟨k⟩ ⟨o⟩ ⟨C⟩ ⟨k 5⟩ ⟨l2 0.1⟩"), "-k -o --C -k 5 --l2 0.1");
}

TEST(Spelled, WritesAValueAsTheLanguageDoes) {
  EXPECT_EQ(flags("⟨ridge auto⟩, ⟨ridge 0.5⟩, ⟨ridge VALUE⟩"), "--ridge auto, --ridge 0.5, --ridge VALUE");
  EXPECT_EQ(python("⟨ridge auto⟩, ⟨ridge -1e-05⟩, ⟨ridge VALUE⟩"),
            "ridge=\"auto\", ridge=-1e-05, ridge=VALUE");
  EXPECT_EQ(cpp("⟨ridge auto⟩, ⟨ridge 0.5⟩"), "ridge = {}, ridge = {.value = 0.5}");
  EXPECT_EQ(python("⟨shape HxW⟩ ⟨k 1:9⟩ ⟨exclude V7⟩"), "shape=HxW k=\"1:9\" exclude=\"V7\"");
  EXPECT_EQ(flags("⟨exclude a b⟩"), "--exclude a b");
  EXPECT_EQ(flags("⟨k ⟩, but"), "-k , but");  // an empty value is a value
}

TEST(Spelled, AvoidsTheWordsOfPython) {
  EXPECT_EQ(python("⟨lambda⟩ ⟨lambda auto⟩"), "lambda_= lambda_=\"auto\"");
  EXPECT_EQ(cpp("⟨lambda⟩"), "lambda");
}

TEST(Spelled, NamesMembersInCpp) {
  EXPECT_EQ(cpp("⟨cv loo⟩, ⟨k 3:2⟩, ⟨missing mean⟩"),
            "folds = kLeaveOneOut, k = {3, 2}, prepare.missing = MissingPolicy::kMean");
  EXPECT_EQ(cpp("⟨ignore a,b⟩"), "ignore = {\"a\", \"b\"}");
  EXPECT_EQ(spelled("⟨ignore a,b⟩", Spelling::kCommandLine), "--exclude a,b");
  EXPECT_EQ(cpp("⟨cv 3⟩, ⟨cv_groups⟩ or ⟨C⟩"), "folds = 3, cv_groups or C");
  EXPECT_EQ(python("⟨cv 3⟩ or ⟨C⟩"), "cv=3 or C=");
  EXPECT_EQ(
      cpp("⟨svm_kernel poly and rbf⟩, ⟨transform none⟩, ⟨criterion wilks⟩, ⟨start ones⟩, ⟨start @FILE⟩"),
      "svm_kernel = SvmKernel::kPoly and SvmKernel::kRbf, prepare.transform = Transform::kNone, criterion = Criterion::kWilks, start = StartKind::kOnes, start = Start::from_file(FILE)");
  EXPECT_EQ(cpp("⟨lambda cv-min⟩, ⟨lambda auto:F⟩, ⟨lambda 0.1⟩"),
            "lambda = LambdaChoice::Kind::kCvMin, lambda = {LambdaChoice::Kind::kAuto, F}, lambda = 0.1");
  EXPECT_EQ(cpp("⟨method forward-lda⟩, ⟨classifier svm⟩, ⟨classifier lda|svm⟩"),
            "method = ForwardLda{}, classifier = Svm{}, classifier = lda|svm");
  EXPECT_EQ(cpp("⟨target none⟩ ⟨target NAME⟩ ⟨device cpu⟩ ⟨exclude @FILE⟩ ⟨exclude V7⟩"),
            "target = \"none\" target = NAME device = \"cpu\" exclude = {...} exclude = {\"V7\"}");
}

TEST(Spelled, ValuesOfAnErrorAreThoseOfCpp) {
  const auto value = [](std::string field, std::string text) {
    return InvalidArgument({.field = std::move(field), .value = std::move(text), .rule = "{value}, no"})
        .value;
  };
  EXPECT_EQ(value("k", "1:100"), "{1, 100}");
  EXPECT_EQ(value("ridge", "rel:-1"), "{.fraction = -1}");
  EXPECT_EQ(value("criterion", "trace"), "Criterion::kTrace");
  EXPECT_EQ(value("exclude", "V99"), "V99");
  EXPECT_EQ(value("method", "gsdla"), "gsdla");
}

TEST(Spelled, LeavesAloneWhatIsNoName) {
  for (const std::string text : {"⟨⟩", "⟨ k⟩", "⟨3d⟩", "⟨a-b⟩", "⟨x, y⟩", "⟨open", "shut⟩", "⟨é⟩", "plain"}) {
    EXPECT_EQ(flags(text), text);
    EXPECT_EQ(python(text), text);
    EXPECT_EQ(cpp(text), text);
  }
  EXPECT_EQ(flags("⟨x, y⟩ of ⟨groups⟩"), "⟨x, y⟩ of --groups");
}

TEST(Spelled, KeepsACommandInBackticksAsItIsTyped) {
  const char* const text =
      "give a result of `subspectra select ⟨o⟩`, or ⟨refit⟩; `⟨data DIR⟩` names a folder";
  EXPECT_EQ(flags(text), "give a result of `subspectra select -o`, or --refit; `--data DIR` names a folder");
  EXPECT_EQ(python(text), "give a result of `subspectra select -o`, or refit=; `data=DIR` names a folder");
  EXPECT_EQ(cpp(text), "give a result of `subspectra select -o`, or refit; `data = DIR` names a folder");
}

TEST(MarkedOption, IsReadBack) {
  EXPECT_EQ(flags(marked_option("time_limit")), "--time-limit");
  EXPECT_EQ(flags(marked_option("method", "gslda")), "--method gslda");
}

}  // namespace
}  // namespace subspectra
