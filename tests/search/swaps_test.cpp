#include "search/swaps.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "pencils.hpp"

namespace subspectra {
namespace {

TEST(Swaps, EndWhereNoExchangeHelps) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (const auto criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
      for (const Index r : {1, 3}) {
        SCOPED_TRACE(fmt::format("seed {} r {} criterion {}", seed, r, static_cast<int>(criterion)));
        const auto pair = oracle::random_factor_pair(11, r, seed);
        const auto pencil = factor_pencil(pair.m, pair.b);
        const Matrix a = pair.m * pair.m.transpose();
        const auto candidates = oracle::all_units(11).features();
        const std::vector<Index> include = seed % 3 == 0 ? std::vector<Index>{2} : std::vector<Index>{};
        const std::vector<Index> start = {0, 2, 5, 9};
        const auto found =
            improve_by_swaps(*pencil, start, candidates, include, {.criterion = criterion, .most = 100}, {});
        const double value = oracle::set_value(a, pair.b, found.support, criterion);
        EXPECT_NEAR(found.objective, value, 1e-9 * value);
        EXPECT_GE(value, oracle::set_value(a, pair.b, start, criterion) * (1.0 - 1e-12));
        EXPECT_TRUE(
            std::includes(found.support.begin(), found.support.end(), include.begin(), include.end()));
        for (const Index out : found.support) {
          if (std::find(include.begin(), include.end(), out) != include.end()) continue;
          for (Index in = 0; in < 11; ++in) {
            if (std::binary_search(found.support.begin(), found.support.end(), in)) continue;
            auto set = found.support;
            std::replace(set.begin(), set.end(), out, in);
            std::sort(set.begin(), set.end());
            EXPECT_LE(oracle::set_value(a, pair.b, set, criterion), value * (1.0 + 1e-8));
          }
        }
      }
    }
  }
}

TEST(Swaps, StopAtTheirNumber) {
  const auto pair = oracle::random_factor_pair(14, 1, 8);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto candidates = oracle::all_units(14).features();
  EXPECT_EQ(improve_by_swaps(*pencil, {0, 1, 2}, candidates, {}, {.most = 0}, {}).exchanges, 0);
  EXPECT_LE(improve_by_swaps(*pencil, {0, 1, 2}, candidates, {}, {.most = 1}, {}).exchanges, 1);
}

}  // namespace
}  // namespace subspectra
