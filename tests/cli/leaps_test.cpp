/// eslda against leaps, the exhaustive search of R.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_program.hpp"

namespace subspectra {
namespace {

void agrees_with_leaps(const std::string& data, int most) {
  const auto r = testing::run_words({"/usr/bin/Rscript", SUBSPECTRA_SOURCE_DIR "/tests/cli/leaps.R",
                                     SUBSPECTRA_SOURCE_DIR "/data/" + data + ".csv", std::to_string(most)});
  if (r.code != 0) GTEST_SKIP() << "R with the package leaps is not here (apt-get install r-cran-leaps)";
  const auto ours = testing::run_program(
      {"select", data, "--method", "eslda", "-k", "1:" + std::to_string(most), "--json", "--ridge", "0"});
  ASSERT_EQ(ours.code, 0) << ours.err;
  const auto result = ours.json();
  EXPECT_EQ(result["status"], "optimal");
  std::istringstream lines(r.out);
  for (int k = 1; k <= most; ++k) {
    double expected = 0.0;
    ASSERT_TRUE(lines >> expected);
    const auto& entry = result["path"][static_cast<std::size_t>(k - 1)];
    EXPECT_NEAR(entry["objective"].get<double>(), expected, 1e-9 * expected) << k;
    EXPECT_TRUE(entry["certified"].get<bool>());
  }
}

TEST(Leaps, SonarAgrees) { agrees_with_leaps("sonar", 5); }

/// What tests/cli/leaps.R says about Sonar at k = 6, 7, 8, where it takes minutes.
TEST(Leaps, SonarAgreesWithWhatTookMinutes) {
  const std::array<double, 3> expected = {0.675973516416, 0.741286962585, 0.780175747245};
  const auto ours =
      testing::run_program({"select", "sonar", "--method", "eslda", "-k", "6:8", "--json", "--ridge", "0"});
  ASSERT_EQ(ours.code, 0) << ours.err;
  const auto result = ours.json();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& entry = result["path"][i];
    EXPECT_NEAR(entry["objective"].get<double>(), expected[i], 1e-9 * expected[i]);
    EXPECT_TRUE(entry["certified"].get<bool>());
  }
}
TEST(Leaps, IonosphereAgrees) { agrees_with_leaps("ionosphere", 33); }

}  // namespace
}  // namespace subspectra
