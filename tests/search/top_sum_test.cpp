/// Oracle: sorted weights, added up from the largest.
#include "search/top_sum.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "search/perron_rows.hpp"

namespace subspectra::top_sum_test {
namespace {

TEST(TopSum, IsTheSumOfTheLargestWhateverTheGuess) {
  constexpr int kPasses = 100;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const auto count = 1 + static_cast<Index>(random.below(60));
    const Index n = search::rows::padded(count);
    std::vector<double> c(static_cast<std::size_t>(n), 0.0), d(static_cast<std::size_t>(n), 1.0), w;
    for (Index j = 0; j < count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      c[at] = random.normal();
      if (seed % 4 == 1) c[at] = std::round(2.0 * c[at]);  // ties and zeros
      if (seed % 4 == 2) c[at] = 1.0;
      if (seed % 4 == 3 && j % 3 != 0) c[at] = 0.0;
      d[at] = seed % 4 == 2 ? 1.0 : std::exp(3.0 * random.normal());
    }
    for (std::size_t j = 0; j < c.size(); ++j) w.push_back(std::abs(c[j]) * d[j]);
    std::sort(w.begin(), w.end(), std::greater<>());
    for (const bool with_next : {false, true}) {
      double t = 0.0, next = 0.0;  // t goes on from size to size
      for (Index m = 0; m <= count; ++m) {
        const double sum = std::accumulate(w.begin(), w.begin() + m, 0.0);
        const double after = m < std::ssize(w) ? w[static_cast<std::size_t>(m)] : 0.0;
        double* const wanted = with_next ? &next : nullptr;
        EXPECT_NEAR(search::top_sum(c.data(), d.data(), n, m, kPasses, t, wanted), sum, 1e-13 * sum) << m;
        if (with_next && !std::isnan(next)) {
          EXPECT_EQ(next, after) << m;
        }
        double far = w.front() * random.uniform();
        EXPECT_NEAR(search::top_sum(c.data(), d.data(), n, m, kPasses, far, wanted), sum, 1e-13 * sum) << m;
        if (with_next && !std::isnan(next)) {
          EXPECT_EQ(next, after) << m;
        }
        double guess = far;  // one pass more is enough then, and few passes are never too little
        EXPECT_GE(search::top_sum(c.data(), d.data(), n, m, 1, guess, wanted), sum * (1.0 - 1e-13)) << m;
      }
    }
  }
}

}  // namespace
}  // namespace subspectra::top_sum_test
