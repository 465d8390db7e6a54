#include "search/screened.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/pass_work.hpp"

namespace subspectra {
namespace {

constexpr Index kTimesLargest = 4;  ///< the size of the largest set, and
constexpr Index kFewest = 100;      ///< columns, where they can be had for the forward pass's work

/// By unit, what its columns reach alone: the sum over them of A_ii/B_ii, which every criterion grows with.
std::vector<double> single_scores(const Pencil& pencil, const SearchUnits& units) {
  std::vector<double> scores;
  for (const auto& members : units.members) {
    double score = 0.0;
    for (const Index j : members) score += pencil.a_diagonal()[j] / pencil.diagonal()[j];
    scores.push_back(score);
  }
  return scores;
}

/// Those of the forward pass, then the best alone, while a backward pass from them costs no more than the
/// forward pass did. Ascending.
std::vector<Index> screened_units(const Pencil& pencil, const SearchUnits& units, const GreedyPass& forward,
                                  const GreedyOptions& options) {
  const auto scores = single_scores(pencil, units);
  std::vector<Index> best(scores.size());
  std::iota(best.begin(), best.end(), Index{0});
  std::stable_sort(best.begin(), best.end(), [&](Index a, Index b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  std::vector<char> taken(scores.size(), 0);
  for (const Index u : forward.dependent) taken[static_cast<std::size_t>(u)] = 1;
  std::vector<Index> chosen;
  Index columns = 0;
  const auto width = [&](Index u) {
    return static_cast<Index>(units.members[static_cast<std::size_t>(u)].size());
  };
  for (const Index u : forward.order) {
    taken[static_cast<std::size_t>(u)] = 1;
    chosen.push_back(u);
    columns += width(u);
  }
  const double affordable = forward_work(pencil, units, options);
  const Index most = std::max(kFewest, kTimesLargest * columns);
  for (const Index u : best) {
    if (taken[static_cast<std::size_t>(u)] != 0) continue;
    if (columns + width(u) > most || dense_backward_work(pencil, columns + width(u)) > affordable) break;
    chosen.push_back(u);
    columns += width(u);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

ScreenedColumns::ScreenedColumns(const Pencil& pencil, const SearchUnits& units, const GreedyPass& forward,
                                 const GreedyOptions& options)
    : unit_(screened_units(pencil, units, forward, options)) {
  for (const Index u : unit_) {
    const auto& members = units.members[static_cast<std::size_t>(u)];
    features_.insert(features_.end(), members.begin(), members.end());
  }
  std::sort(features_.begin(), features_.end());
  units_.single = units.single;
  for (const Index u : unit_) units_.members.push_back(places(units.members[static_cast<std::size_t>(u)]));
  for (const Index u : units.include)
    units_.include.push_back(std::lower_bound(unit_.begin(), unit_.end(), u) - unit_.begin());
  pencil_ =
      factor_pencil((*pencil.factor())(features_, Eigen::all), pencil.block(features_, options.threads));
}

std::vector<Index> ScreenedColumns::places(const std::vector<Index>& features) const {
  std::vector<Index> found;
  found.reserve(features.size());
  for (const Index j : features)
    found.push_back(std::lower_bound(features_.begin(), features_.end(), j) - features_.begin());
  return found;
}

GreedyPass ScreenedColumns::backward_pass(const GreedyOptions& options, const RunControl& control) const {
  GreedyPass pass = subspectra::backward_pass(*pencil_, units_, options, control);
  for (Index& unit : pass.order) unit = unit_[static_cast<std::size_t>(unit)];
  return pass;
}

SwapResult ScreenedColumns::improve(const std::vector<Index>& support, const std::vector<Index>& include,
                                    Index most, const GreedyOptions& options,
                                    const RunControl& control) const {
  std::vector<Index> all(features_.size());
  std::iota(all.begin(), all.end(), Index{0});
  SwapResult result =
      improve_by_swaps(*pencil_, places(support), all, places(include),
                       {.criterion = options.criterion, .most = most, .threads = options.threads}, control);
  for (Index& j : result.support) j = features_[static_cast<std::size_t>(j)];
  return result;
}

}  // namespace subspectra
