#include "report/svg.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace subspectra::svg_test {
namespace {

void expect_numbers(const std::string& svg, const std::string& what) {
  for (const char* const wrong : {"nan", "inf"}) EXPECT_EQ(svg.find(wrong), std::string::npos) << what;
}

// 10^-324 is 0, and 1e17 + 1 is 1e17: ticks that were added up or multiplied never came to an end.
TEST(SvgChart, AxesOfAnyEndsHaveFewTicksAndPlacesThatAreNumbers) {
  const double most = std::numeric_limits<double>::max();
  const std::vector<double> ends = {
      0.0, 5e-324, 1e-310, 1e-9, 1.0, 3.5, 80.0, 1e17, 1e17 + 32, 9007199254740991.0, 1e300, 1e308, most};
  for (const double first : ends) {
    for (const double second : ends) {
      for (const bool logarithmic : {false, true}) {
        for (const double low : {first, -first}) {
          for (const double high : {second, -second}) {
            if (low > high) continue;
            const std::string what = fmt::format("{} to {}, logarithmic: {}", low, high, logarithmic);
            const SvgChart::Axis axis{.label = "x", .low = low, .high = high, .logarithmic = logarithmic};
            SvgChart chart(820.0, 330.0, axis, {.label = "y", .low = low, .high = high}, {});
            chart.dot(high, low, 3.0, "#000000", "#000000");
            const std::string svg = chart.drawing().svg("", "");
            expect_numbers(svg, what);
            EXPECT_LT(svg.size(), 12000U) << what;
            expect_numbers(bars_drawing({{"a", low}, {"b", high}}, "bars", false).svg("", ""), what);
          }
        }
      }
    }
  }
}

TEST(SvgChart, TicksAreRoundNumbers) {
  SvgChart chart(820.0, 330.0, {.label = "k", .low = 1.0, .high = 1000.0, .logarithmic = true}, {}, {});
  const std::string svg = chart.drawing().svg("", "");
  for (const char* const tick : {">1</text>", ">10</text>", ">100</text>", ">1000</text>"})
    EXPECT_NE(svg.find(tick), std::string::npos) << tick;
}

}  // namespace
}  // namespace subspectra::svg_test
