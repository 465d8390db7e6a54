/// `discriminants.matrix` is in the units of the table, whatever the method worked on.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "run_program.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using testing::run_program;

/// Oracle: optimal scoring centres columns and gives them a unit norm by itself, so that it fits the same
/// discriminants to a table and to a standardized one.
TEST(DiscriminantUnits, StandardizingDoesNotChangeWhatDoesNotDependOnUnits) {
  for (const std::string method : {"gloss", "sda"}) {
    SCOPED_TRACE(method);
    const auto fitted = [&](const std::string& flag) {
      return run_program({"select", "sonar", "--method", method, "--lambda", "0.002", flag, "--json"}).json();
    };
    const json plain = fitted("--quiet"), standardized = fitted("--standardize");
    ASSERT_EQ(plain["discriminants"]["features"], standardized["discriminants"]["features"]);
    const json &a = plain["discriminants"]["matrix"], &b = standardized["discriminants"]["matrix"];
    ASSERT_FALSE(a.empty());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double x = a[i][0], y = b[i][0];
      EXPECT_NEAR(x, y, 1e-5 * std::abs(x)) << i;  // what the solvers' tolerance leaves
    }
  }
}

}  // namespace
}  // namespace subspectra
