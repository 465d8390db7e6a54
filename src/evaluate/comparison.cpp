#include "evaluate/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace subspectra {
namespace {

std::vector<std::size_t> by_error(const std::vector<JudgedMethod>& methods) {
  std::vector<std::size_t> order(methods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return methods[a].error < methods[b].error; });
  return order;
}

double error_of_difference(const JudgedMethod& a, const JudgedMethod& b, const SplitSizes& sizes) {
  std::vector<double> differences(a.fold_errors.size());
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = a.fold_errors[i] - b.fold_errors[i];
  return std::fmax(corrected_standard_error(differences, sizes),  // NaN of one held-out set
                   standard_error_of_rows(a.row_errors, b.row_errors, sizes.rows()));
}

}  // namespace

double standard_error_of_rows(std::span<const double> a, std::span<const double> b, double rows) {
  double asked = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = a[i] - b[i];
    if (std::isnan(difference)) continue;
    asked += 1.0;
    sum += difference;
    squares += difference * difference;
  }
  if (!(asked > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  const double mean = sum / asked;
  return std::sqrt(std::max(0.0, squares / asked - mean * mean) / rows);
}

double corrected_standard_error(std::span<const double> differences, const SplitSizes& sizes) {
  const auto n = static_cast<double>(differences.size());
  if (n < 2.0) return std::numeric_limits<double>::quiet_NaN();
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / n;
  double squares = 0.0;
  for (const double difference : differences) squares += (difference - mean) * (difference - mean);
  return std::sqrt(squares / (n - 1.0) * (1.0 / n + sizes.test / sizes.train));
}

std::vector<MethodRank> rank_methods(const std::vector<JudgedMethod>& methods, const SplitSizes& sizes) {
  std::vector<MethodRank> ranking;
  const auto order = by_error(methods);
  for (const std::size_t m : order) {
    const JudgedMethod& method = methods[m];
    const JudgedMethod& first = methods[order.front()];
    ranking.push_back({.method = method.name,
                       .k = method.k,
                       .error = method.error,
                       .behind = method.error - first.error,
                       .behind_stderr = error_of_difference(method, first, sizes)});
  }
  return ranking;
}

std::vector<MethodComparison> compare_methods(const std::vector<JudgedMethod>& methods,
                                              const SplitSizes& sizes) {
  std::vector<MethodComparison> pairs;
  const auto order = by_error(methods);
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = a + 1; b < order.size(); ++b) {
      const JudgedMethod& first = methods[order[a]];
      const JudgedMethod& second = methods[order[b]];
      pairs.push_back({.first = first.name,
                       .second = second.name,
                       .difference = first.error - second.error,
                       .stderr_ = error_of_difference(first, second, sizes)});
    }
  }
  return pairs;
}

}  // namespace subspectra
