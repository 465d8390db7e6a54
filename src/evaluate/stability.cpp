#include "evaluate/stability.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace subspectra {

std::optional<Stability> nogueira_stability(const std::vector<std::vector<Index>>& sets, Index p) {
  if (sets.size() < 2 || p < 1) return std::nullopt;
  const auto m = static_cast<double>(sets.size());
  const auto features = static_cast<double>(p);
  std::unordered_map<Index, double> frequency;  // only of features that occur: p may be millions
  double mean_size = 0.0;
  for (const auto& set : sets) {
    mean_size += static_cast<double>(set.size()) / m;
    for (const Index f : set) frequency[f] += 1.0 / m;
  }
  const double share = mean_size / features;
  const double chance = share * (1.0 - share);
  if (!(chance > 1e-12 * share)) return Stability{1.0, {1.0, 1.0}};
  double variance = 0.0;
  for (const auto& set : sets) {  // in the order of the sets, so that the sum is the same every time
    for (const Index f : set) {
      // Each feature's M/(M-1) h (1 - h), shared out over the h M sets that hold it.
      const double h = frequency[f];
      variance += (m / (m - 1.0)) * (1.0 - h) / m;
    }
  }
  Stability result;
  result.index = 1.0 - variance / features / chance;
  // Per-set contributions Phi_i; Var(Phi) = 4/M^2 sum (Phi_i - mean)^2.
  std::vector<double> contribution;
  double mean = 0.0;
  for (const auto& set : sets) {
    double agreement = 0.0;
    for (const Index f : set) agreement += frequency[f];
    const double own_share = static_cast<double>(set.size()) / features;
    const double value = (agreement / features - own_share * share +
                          result.index / 2.0 * (2.0 * share * own_share - own_share - share + 1.0)) /
                         chance;
    contribution.push_back(value);
    mean += value / m;
  }
  double squares = 0.0;
  for (const double value : contribution) squares += (value - mean) * (value - mean);
  const double half_width = 1.959963984540054 * 2.0 / m * std::sqrt(squares);
  // h (1 - h) is concave: its mean is at most that of the mean share, hence Phi >= 1 - M/(M-1) = -1/(M-1).
  result.interval = {std::max(-1.0 / (m - 1.0), result.index - half_width),
                     std::min(1.0, result.index + half_width)};
  return result;
}

}  // namespace subspectra
