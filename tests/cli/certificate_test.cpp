/// A certificate is a promise: where rounding leaves too few digits for one, none is given.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::run_program;

const std::string kInputs = SUBSPECTRA_SOURCE_DIR "/tests/replay/inputs/";

/// The two columns agree to seven digits and more, and what doubles give for the pair is off by 16 and by 21
/// percent.
TEST(Certificates, AreNotGivenToNearCopies) {
  for (const std::string table : {"celsius.csv", "copy.csv"}) {
    for (const std::string method : {"gslda", "forward-lda", "backward-lda"}) {
      SCOPED_TRACE(table + ' ' + method);
      const json result = run_program({"select", kInputs + table, "--method", method, "--json"}).json();
      EXPECT_NE(result["status"], "optimal");
      for (const auto& entry : result["path"]) {
        if (entry["k"] > 1) {
          EXPECT_FALSE(entry.value("certified", false)) << entry;
        }
      }
      EXPECT_EQ(run_program({"select", kInputs + table, "--method", method, "--require-optimal"}).code, 5);
    }
  }
}

TEST(Certificates, AWithdrawnOneIsSaidWithItsSize) {
  const auto run = run_program({"select", kInputs + "copy.csv"});
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.err.find("nothing is certified at k = 2"), std::string::npos) << run.err;
}

TEST(Certificates, StayWhereFeaturesAreNoCopies) {
  const json plain = run_program({"select", "sonar", "--method", "eslda", "-k", "1:4", "--json"}).json();
  EXPECT_EQ(plain["status"], "optimal");
  for (const auto& entry : plain["path"]) EXPECT_TRUE(entry["certified"]) << entry;
}

/// With weights the class means of a column that is constant in each class are rounded, and 1e-17 of it was
/// taken for variance: 4.75e+46, certified.
TEST(Certificates, RoundingOfAClassMeanIsNoVariance) {
  const std::string table = kInputs + "sepcol.csv";
  for (const std::vector<std::string> weights : {std::vector<std::string>{}, {"--weights", "w"}}) {
    std::vector<std::string> words = {"select", table, "--ridge", "0", "--json"};
    words.insert(words.end(), weights.begin(), weights.end());
    const auto run = run_program(words);
    const json result = run.json();
    ASSERT_FALSE(result["path"].empty());
    for (const auto& entry : result["path"]) {
      EXPECT_LT(entry["objective"], 10.0);
      for (const auto& name : entry["names"]) EXPECT_NE(name, "same");
    }
    EXPECT_NE(result["warnings"].dump().find("perfectly"), std::string::npos) << result["warnings"];
  }
  const auto forced = run_program({"select", table, "--ridge", "0", "--include", "same"});
  EXPECT_EQ(forced.code, 4);
  EXPECT_NE(forced.err.find("--ridge auto"), std::string::npos) << forced.err;
  const json automatic = run_program({"select", table, "-k", "1", "--json"}).json();
  EXPECT_EQ(automatic["path"][0]["names"][0], "same");  // a ridge lets it be chosen
}

TEST(Certificates, ATableOfNothingButSuchColumnsIsRefusedInWords) {
  const testing::ScratchDirectory scratch;
  const std::string table = scratch.file("t.csv");
  ASSERT_EQ(testing::run_shell("printf 'a,class\\n1,u\\n1,u\\n2,v\\n2,v\\n' > " + table).code, 0);
  const auto run = run_program({"select", table, "--ridge", "0"});
  EXPECT_EQ(run.code, 4);
  EXPECT_NE(run.err.find("no feature varies within a class"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace subspectra
