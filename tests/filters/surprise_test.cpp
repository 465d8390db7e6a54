#include "filters/surprise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle.hpp"

namespace subspectra::filters {
namespace {

/// Every threshold between, below and above the values, both ways round.
Index errors_by_trying(const Vector& x, const std::vector<int>& codes) {
  std::vector<double> cuts(x.begin(), x.end());
  cuts.push_back(-kInfinity);
  Index fewest = x.size();
  for (const double cut : cuts) {
    for (const int low : {0, 1}) {
      Index wrong = 0;
      for (Index i = 0; i < x.size(); ++i) {
        if ((x[i] <= cut ? low : 1 - low) != codes[static_cast<std::size_t>(i)]) ++wrong;
      }
      fewest = std::min(fewest, wrong);
    }
  }
  return fewest;
}

TEST(Surprise, ErrorsAreThoseOfTheBestThreshold) {
  DatasetParts data = oracle::random_classes(30, 8, 2, 3);
  for (std::size_t i = 0; i < 4; ++i) data.labels->codes[2 * i] = 1;
  data.dense.col(5) = data.dense.col(5).array().round();  // ties
  data.dense.col(6).setConstant(1.0);
  data.dense.col(7) = (data.dense.col(7).array() > 0.8).select(data.dense.col(7), 0.0);
  for (const DatasetParts& table : {data, oracle::as_sparse(data)}) {
    const auto errors = threshold_errors(table, 2);
    for (Index j = 0; j < 8; ++j)
      EXPECT_EQ(errors[static_cast<std::size_t>(j)], errors_by_trying(data.dense.col(j), data.labels->codes))
          << j;
  }
}

TEST(Surprise, TailsAreThoseOfAllLabellings) {
  for (const auto& [a, b] : {std::pair<int, int>{1, 1}, {1, 5}, {3, 4}, {5, 5}, {4, 9}}) {
    std::vector<int> codes(static_cast<std::size_t>(a), 0);
    codes.insert(codes.end(), static_cast<std::size_t>(b), 1);
    const Vector x = Vector::LinSpaced(a + b, 0.0, 1.0);
    std::vector<double> counts(static_cast<std::size_t>(std::min(a, b)) + 1, 0.0);
    double all = 0.0;
    do {
      const Index errors = errors_by_trying(x, codes);
      for (std::size_t s = static_cast<std::size_t>(errors); s < counts.size(); ++s) counts[s] += 1.0;
      all += 1.0;
    } while (std::next_permutation(codes.begin(), codes.end()));
    const auto log_tails = threshold_error_log_tails(a, b);
    ASSERT_EQ(log_tails.size(), counts.size());
    for (std::size_t s = 0; s < counts.size(); ++s)
      EXPECT_NEAR(std::exp(log_tails[s]), counts[s] / all, 1e-12) << a << ' ' << b << ' ' << s;
  }
}

TEST(Surprise, TailsOfManyRowsDoNotUnderflow) {
  const auto log_tails = threshold_error_log_tails(4000, 6000);
  EXPECT_LT(log_tails[0], -6000.0);  // 2 of C(10000, 4000) orders
  EXPECT_NEAR(log_tails[0],
              std::log(2.0) - (std::lgamma(10001.0) - std::lgamma(4001.0) - std::lgamma(6001.0)), 1e-6);
  EXPECT_TRUE(std::is_sorted(log_tails.begin(), log_tails.end()));
  EXPECT_EQ(log_tails.back(), 0.0);
}

TEST(Surprise, IsTheBinomialTailOfTheBestThreshold) {
  // 10 features; errors 0, 0, 1 and seven at chance. P(TNoM <= s) as for 5 and 5 rows.
  const std::vector<Index> errors = {0, 0, 1, 4, 4, 5, 5, 5, 5, 5};
  const auto log_tails = threshold_error_log_tails(5, 5);
  const auto tail = [&](double p, int n) {
    double sum = 0.0;
    for (int i = n; i <= 10; ++i) {
      sum += std::exp(std::lgamma(11.0) - std::lgamma(i + 1.0) - std::lgamma(11.0 - i) + i * std::log(p) +
                      (10 - i) * std::log1p(-p));
    }
    return -std::log10(sum);
  };
  const double at_0 = tail(std::exp(log_tails[0]), 2), at_1 = tail(std::exp(log_tails[1]), 3);
  const Surprise found = SurpriseScale(10).surprise_of(errors, log_tails);
  EXPECT_NEAR(found.score, std::max(at_0, at_1), 1e-9);
  EXPECT_EQ(found.informative, at_0 >= at_1 ? 2 : 3);
  EXPECT_EQ(found.errors, at_0 >= at_1 ? 0 : 1);
  EXPECT_EQ(SurpriseScale(3).surprise_of({5, 5, 5}, log_tails).score, 0.0);
  // What is no more than the floor may be given as anything that is no more either.
  EXPECT_NEAR(SurpriseScale(10).score(log_tails[1], 3, at_1 - 0.01), at_1, 1e-9);
  EXPECT_LE(SurpriseScale(10).score(log_tails[1], 3, at_1 + 10.0), at_1 + 10.0);
}

}  // namespace
}  // namespace subspectra::filters
