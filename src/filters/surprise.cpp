#include "filters/surprise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/parallel.hpp"

namespace subspectra::filters {
namespace {

/// Rows of the two classes that share a value.
struct Step {
  double value = 0.0;
  std::array<Index, 2> rows{};
};

Index fewest_errors(std::vector<Step>& steps, const std::array<Index, 2>& totals) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.value < b.value; });
  std::array<Index, 2> below{};
  Index fewest = std::min(totals[0], totals[1]);  // all rows on one side
  for (std::size_t i = 0; i < steps.size(); ++i) {
    below[0] += steps[i].rows[0];
    below[1] += steps[i].rows[1];
    if (i + 1 < steps.size() && steps[i + 1].value == steps[i].value) continue;
    fewest = std::min({fewest, below[1] + totals[0] - below[0], below[0] + totals[1] - below[1]});
  }
  return fewest;
}

/// log x!, without the global that std::lgamma leaves the sign in.
double log_factorial(double x) {
  int sign = 0;
  return ::lgamma_r(x + 1.0, &sign);
}

double log_choose(Index n, Index k) {
  const auto x = static_cast<double>(n), y = static_cast<double>(k);
  return log_factorial(x) - log_factorial(y) - log_factorial(x - y);
}

}  // namespace

std::vector<Index> threshold_errors(const Dataset& data, int threads) {
  const auto& codes = data.labels()->codes;
  const auto counts = data.labels()->counts();
  std::vector<int> side(counts.size(), -1);
  int classes = 0;
  for (std::size_t c = 0; c < counts.size() && classes < 2; ++c) {
    if (counts[c] > 0) side[c] = classes++;
  }
  std::vector<int> sides;
  sides.reserve(codes.size());
  for (const int code : codes) sides.push_back(code < 0 ? -1 : side[static_cast<std::size_t>(code)]);
  std::vector<Index> features(static_cast<std::size_t>(data.features()));
  std::iota(features.begin(), features.end(), Index{0});
  return threshold_errors(data, features, sides, threads);
}

std::vector<Index> threshold_errors(const Dataset& data, const std::vector<Index>& features,
                                    const std::vector<int>& sides, int threads) {
  std::array<Index, 2> totals{};
  for (const int side : sides) {
    if (side >= 0) ++totals[static_cast<std::size_t>(side)];
  }
  const auto p = static_cast<Index>(features.size());
  std::vector<Index> errors(features.size());
  constexpr Index kTile = 64;
  parallel_for((p + kTile - 1) / kTile, threads, [&](Index tile) {
    std::vector<Step> steps;
    for (Index f = tile * kTile; f < std::min(p, (tile + 1) * kTile); ++f) {
      steps.clear();
      Step zeros{.value = 0.0, .rows = totals};  // rows that a sparse column does not store
      const auto add = [&](Index row, double value) {
        const int side = sides[static_cast<std::size_t>(row)];
        if (side < 0) return;
        steps.push_back({.value = value, .rows = {}});
        ++steps.back().rows[static_cast<std::size_t>(side)];
        --zeros.rows[static_cast<std::size_t>(side)];
      };
      data.values().each_entry(features[static_cast<std::size_t>(f)], add);
      if (data.values().leaves_out_zeros()) steps.push_back(zeros);
      errors[static_cast<std::size_t>(f)] = fewest_errors(steps, totals);
    }
  });
  return errors;
}

std::vector<double> threshold_error_log_tails(Index a, Index b) {
  const Index n = a + b;
  const double all = log_choose(n, a);
  std::vector<double> log_tails;
  for (Index s = 0; s < std::min(a, b); ++s) {
    const std::array<Index, 2> barriers = {s - a, b - s};
    // Paths that touch a barrier: sum over j of (-1)^{j+1} times those that touch j of them in turn,
    // beginning with either. Their number is that of the free paths to the end point mirrored at these
    // barriers, the last one first.
    double sum = 0.0;  // relative to the larger term at j = 1: the probability itself may underflow
    double scale = -kInfinity;
    for (const Index barrier : barriers)
      scale = std::max(scale, log_choose(n, (n + 2 * barrier - b + a) / 2));
    for (Index j = 1;; ++j) {
      double paths = 0.0;
      for (const std::size_t first : {0U, 1U}) {
        Index end = b - a;
        for (Index i = j; i-- > 0;) {
          end = 2 * barriers[(first + static_cast<std::size_t>(i)) % 2] - end;
        }
        if (std::abs(end) > n) continue;
        paths += std::exp(log_choose(n, (n + end) / 2) - scale);
      }
      if (paths == 0.0) break;
      sum += j % 2 == 1 ? paths : -paths;
    }
    log_tails.push_back(std::min(0.0, scale - all + std::log(sum)));
  }
  log_tails.push_back(0.0);  // all rows on one side
  return log_tails;
}

SurpriseScale::SurpriseScale(Index features) {
  log_factorials_.reserve(static_cast<std::size_t>(features) + 1);
  for (Index i = 0; i <= features; ++i) log_factorials_.push_back(log_factorial(static_cast<double>(i)));
}

double SurpriseScale::score(double log_p, Index n, double floor) const {
  const auto m = static_cast<Index>(log_factorials_.size()) - 1;
  const double p = std::exp(log_p);
  if (static_cast<double>(n) <= static_cast<double>(m) * p) return 0.0;
  const double log_choose = log_factorials_.back() - log_factorials_[static_cast<std::size_t>(n)] -
                            log_factorials_[static_cast<std::size_t>(m - n)];
  const double first =
      log_choose + static_cast<double>(n) * log_p + static_cast<double>(m - n) * std::log1p(-p);
  const double most = -first / std::log(10.0);  // the other terms can only make the tail likelier
  if (most <= floor) return std::max(0.0, most);
  const double odds = p / (1.0 - p);
  double term = 1.0,
         sum = 1.0;  // relative to the term at n: beyond n > m p they fall geometrically or faster
  for (Index i = n; i < m && term > 0x1.0p-60 * sum; ++i) {
    term *= static_cast<double>(m - i) / static_cast<double>(i + 1) * odds;
    sum += term;
  }
  return std::max(0.0, -(first + std::log(sum))) / std::log(10.0);
}

Surprise SurpriseScale::surprise_of(const std::vector<Index>& errors,
                                    const std::vector<double>& log_tails) const {
  std::vector<Index> with(log_tails.size(), 0);
  for (const Index s : errors) ++with[static_cast<std::size_t>(s)];
  Surprise best;
  Index informative = 0;
  for (std::size_t s = 0; s < log_tails.size(); ++s) {
    informative += with[s];
    if (with[s] == 0) continue;
    const double found = score(log_tails[s], informative, best.score);
    if (found > best.score) best = {static_cast<Index>(s), informative, found};
  }
  return best;
}

}  // namespace subspectra::filters
