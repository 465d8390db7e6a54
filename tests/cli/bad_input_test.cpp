/// Bad data: exit code 3, one line with the place, nothing written.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "run_program.hpp"

namespace subspectra {
namespace {

using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

struct BadTable {
  std::string name;  ///< of the test and the file
  std::string content;
  std::vector<std::string> arguments;  ///< after `COMMAND FILE`
  std::string expected;                ///< in the message; FILE stands for the path
  std::string command = "select";
  std::string ending = ".csv";
};

class BadInputs : public ::testing::TestWithParam<BadTable> {};

TEST_P(BadInputs, AreRefusedWithThePlace) {
  const BadTable& bad = GetParam();
  const ScratchDirectory scratch;
  const std::string file = scratch.write(bad.name + bad.ending, bad.content);
  std::vector<std::string> words = {bad.command, file, "-o", scratch.file("result.json")};
  words.insert(words.end(), bad.arguments.begin(), bad.arguments.end());
  const Finished run = run_program(words);
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_EQ(run.out, "");
  std::string expected = bad.expected;
  if (const auto at = expected.find("FILE"); at != std::string::npos) expected.replace(at, 4, file);
  EXPECT_NE(run.err.find("subspectra: error: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(expected), std::string::npos) << run.err << "expected: " << expected;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(scratch.entries().size(), 1U) << "something was left behind";
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadInputs,
    ::testing::Values(
        BadTable{"ragged", "a,b,class\n1,2,u\n3,v\n", {}, "FILE:3:"},
        BadTable{"text_in_numbers", "a,b,class\n1,2,u\n3,4,u\n5,oops,v\n6,7,v\n", {}, "FILE:4:2"},
        BadTable{"unknown_target", "a,b,label\n1,2,u\n3,4,v\n", {"--target", "labl"}, "label"},
        BadTable{"one_class", "a,b,class\n1,2,u\n3,4,u\n", {}, "one class only"},
        BadTable{"few_rows",
                 "a,b,class\n1,2,u\n3,4,u\n5,7,u\n6,7,u\n2,1,u\n4,4,v\n5,9,v\n",
                 {"--cv", "5"},
                 "v",
                 "evaluate"},
        BadTable{"no_labels", "a,b\n1,2\n3,4\n5,5\n", {}, "label", "evaluate"},
        BadTable{"missing", "a,b,class\n1,2,u\n3,NA,u\n5,6,v\n7,7,v\n", {}, "FILE:3:2"},
        BadTable{"infinite",
                 "a,b,class\n1,2,u\n3,inf,u\n5,6,v\n7,7,v\n",
                 {},
                 "FILE:3:2: 'inf' is infinite (1 value that no finite double holds in 1 column: b (1))"},
        BadTable{
            "infinite_tsv",
            "a\tb\tclass\n1\t2\tu\n+Infinity\t4\tu\n5\t-inf\tv\n-INF\t7\tv\n",
            {"--missing", "error"},
            "FILE:3:1: '+Infinity' is infinite (3 values that no finite double holds in 2 columns: a (2), b (1))",
            "select",
            ".tsv"},
        BadTable{"too_large",
                 "a,b,class\n1,2,u\n3,4,u\n5,1e400,v\n7,7,v\n",
                 {"--missing", "mean"},
                 "FILE:4:2: '1e400' is too large for a double"},
        BadTable{
            "negative_weight",
            "a,b,w,class\n1,2,1,u\n3,4,-1,u\n5,1,2,v\n7,7,1,v\n",
            {"--weights", "w"},
            "FILE:3:3: '-1' is no weight (column 'w', --weights); a weight is a number from 0 up: correct"},
        BadTable{"missing_weight",
                 "a\tw\tclass\n1\t1\tu\n3\tNaN\tu\n5\t2\tv\n7\t1\tv\n",
                 {"--weights", "w"},
                 "FILE:3:2: a missing value is no weight",
                 "evaluate",
                 ".tsv"},
        BadTable{"text_weight",
                 "a,w,class\n1,heavy,u\n3,1,u\n5,2,v\n7,1,v\n",
                 {"--weights", "w"},
                 "FILE:2:2: 'heavy' is no weight"},
        BadTable{"arff_weight",
                 "@relation t\n@attribute a numeric\n@attribute w numeric\n@attribute class {u,v}\n@data\n"
                 "1,1,u\n2,1,u\n3,-4,v\n5,1,v\n",
                 {"--weights", "w"},
                 "FILE:8:3: '-4' is no weight",
                 "select",
                 ".arff"},
        BadTable{"no_label", "a,b,class\n1,2,u\n3,4,\n5,1,v\n7,7,v\n", {}, "FILE:3:3: 1 row has no label"},
        BadTable{"constant", "a,b,class\n1,2,u\n1,2,u\n1,2,v\n", {}, "no feature varies"},
        BadTable{"unknown_feature", "a,b,class\n1,2,u\n3,1,u\n5,6,v\n", {"--include", "bb"}, "'bb'"},
        BadTable{"truncated",
                 std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\xd4", 12),
                 {},
                 "FILE",
                 "select",
                 ".csv.gz"},
        BadTable{"empty", "", {}, "FILE"}, BadTable{"strange", "x", {}, "FILE", "select", ".parquet"}),
    [](const auto& test) { return test.param.name; });

TEST(BadPlaces, DirectoryMissingAndUnreadable) {
  const ScratchDirectory scratch;
  EXPECT_EQ(run_program({"select", scratch.path()}).code, 3);
  const Finished missing = run_program({"select", scratch.file("none.csv")});
  EXPECT_EQ(missing.code, 3);
  EXPECT_NE(missing.err.find("none.csv"), std::string::npos);
  const Finished name = run_program({"select", "sonr"});
  EXPECT_EQ(name.code, 3);
  EXPECT_NE(name.err.find("sonar"), std::string::npos) << name.err;
  const std::string locked = scratch.write("locked.csv", "a,class\n1,u\n2,v\n");
  ::chmod(locked.c_str(), 0);
  if (::geteuid() != 0) {  // root reads everything
    EXPECT_EQ(run_program({"select", locked}).code, 3);
  }
}

TEST(Matrices, WithoutVarianceAreRefusedWithTheRule) {
  const ScratchDirectory scratch;
  const std::string zero = scratch.write("zero.csv", "0,0\n0,0\n");
  const std::string half = scratch.write("half.csv", "a,b\n0,0\n0,2\n");
  const auto said = [](const std::vector<std::string>& words) {
    const Finished run = run_program(words);
    EXPECT_EQ(run.code, 3) << run.err;
    return run.err;
  };
  EXPECT_EQ(
      said({"select", "--covariance", zero}),
      "subspectra: error: " + zero +
          ": the diagonal of the covariance matrix is 0 for every feature, and a feature without variance is never chosen; give a matrix with a positive diagonal\n");
  EXPECT_NE(said({"select", "--covariance", half, "--exclude", "b"}).find("that is not excluded"),
            std::string::npos);
  EXPECT_NE(said({"select", "--between", zero, "--within", zero}).find("the diagonal of A and of B is 0"),
            std::string::npos);
}

TEST(MissingValues, MeanAndDropAreWaysOut) {
  const std::string table = "a,b,class\n1,2,u\n3,NA,u\n2,2,u\n5,6,v\n7,7,v\n";
  EXPECT_EQ(run_program({"select", "-", "--missing", "mean"}, {.input = table}).code, 0);
  const Finished drop = run_program({"select", "-", "--missing", "drop", "--json"}, {.input = table});
  EXPECT_EQ(drop.json()["data"]["rows"], 4);
}

TEST(MissingValues, AColumnWithNoneIsReportedAndNeverChosen) {
  const std::string table = "a,b,c,class\n1,2,NA,u\n3,1,,u\n5,6,NA,v\n7,8,NA,v\n2,3,NA,u\n9,8,NA,v\n";
  const Finished run =
      run_program({"select", "-", "--missing", "mean", "--json", "-k", "1:2"}, {.input = table});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("warning: column c holds no value in any row and counts as constant"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("replaced by training means"), std::string::npos) << run.err;
  const auto result = run.json();
  for (const auto& entry : result["path"]) {
    EXPECT_EQ(entry["names"].dump().find("\"c\""), std::string::npos);
  }
  EXPECT_EQ(
      run_program({"evaluate", "-", "--missing", "mean", "-k", "1", "--cv", "3"}, {.input = table}).code, 0);
  const Finished included =
      run_program({"select", "-", "--missing", "mean", "--include", "c"}, {.input = table});
  EXPECT_EQ(included.code, 4) << included.err;
  const Finished dropped = run_program({"select", "-", "--missing", "drop"}, {.input = table});
  EXPECT_EQ(dropped.code, 3);
  EXPECT_NE(dropped.err.find("column c holds no value in any row"), std::string::npos) << dropped.err;
}

TEST(TextColumns, AreLeftOutByName) {
  const std::string texts = "site,a,b,class\np,1,2,u\nq,3,1,u\np,2,2,v\nr,5,6,v\n";
  EXPECT_EQ(run_program({"select", "-"}, {.input = texts}).code, 3) << "three values for four rows";
  const Finished run =
      run_program({"evaluate", "-", "--exclude", "site", "--cv", "2", "-k", "1"}, {.input = texts});
  EXPECT_EQ(run.code, 0) << run.err;
}

}  // namespace
}  // namespace subspectra
