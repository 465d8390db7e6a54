#pragma once
/// Filters: one score a feature, from that feature and the labels alone. docs/methods/filters.md
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "data/moments.hpp"

namespace subspectra::filters {

/// sqrt(between / total sum of squares): the correlation ratio; for two classes |corr(x, y)|.
[[nodiscard]] Vector pearson(const Moments& moments);
/// sum_{c<d} (mu_c - mu_d)^2 / ((K - 1) sum_c sigma_c^2); for two classes (mu_1 - mu_2)^2/(sigma_1^2 +
/// sigma_2^2).
[[nodiscard]] Vector fisher(const Moments& moments);
/// |mu_1 - mu_2| / (sigma_1 + sigma_2), Golub et al. 1999. Two classes.
[[nodiscard]] Vector signal_to_noise(const Moments& moments);
/// The largest difference between the two classes' (weighted) empirical distribution functions. Two classes.
[[nodiscard]] Vector kolmogorov_smirnov(const Dataset& data, int threads);

// In all: classes without rows are passed over, variances divide by the class weight, 0/0 is 0, and a perfect
// separator (something / 0) scores the largest finite number, so that scores can be written to JSON.

/// Features by falling score, ties to the lowest index.
[[nodiscard]] std::vector<Index> ranking(std::span<const double> scores,
                                         const std::vector<Index>& candidates);

/// The same of scores >= 0 that are known to a relative `accuracy`: one that is within it of the score before
/// it is a tie with that, and ties, however many follow one another, go by index.
[[nodiscard]] std::vector<Index> ranking(std::span<const double> scores, const std::vector<Index>& candidates,
                                         double accuracy);

}  // namespace subspectra::filters
