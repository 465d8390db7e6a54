#include "evaluate/chosen_features.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>

#include "linalg/blas.hpp"

namespace subspectra {
namespace {

using FeatureCounts = std::map<Index, Index>;

/// Columns of `features` with mean 0 and length 1; a column that does not vary is 0, and so is a gap.
Matrix unit_columns(const Dataset& data, const std::vector<Index>& rows, const std::vector<Index>& features) {
  Matrix columns = data.values().block(rows, features);
  for (Index j = 0; j < columns.cols(); ++j) {
    auto column = columns.col(j);
    double largest = 0.0;
    for (const double value : column) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    double sum = 0.0, count = 0.0;
    for (double& value : column) {
      value = std::isfinite(value) && largest > 0.0 ? value / largest : std::nan("");
      if (std::isnan(value)) continue;
      sum += value;
      count += 1.0;
    }
    for (double& value : column) value = std::isnan(value) ? 0.0 : value - sum / count;
    const double length = column.norm();
    if (length > 1e-12 * std::sqrt(static_cast<double>(columns.rows()))) {
      column /= length;
    } else {
      column.setZero();
    }
  }
  return columns;
}

/// Correlations of every feature of the model (row) with every candidate (column).
class Nearness {
 public:
  Nearness(const Dataset& data, const std::vector<Index>& rows, const std::vector<Index>& features,
           const std::vector<Index>& candidates)
      : features_(features), candidates_(candidates), correlations_(features.size(), candidates.size()) {
    if (candidates.empty()) return;
    linalg::gemm(1.0, linalg::Op::kTranspose, unit_columns(data, rows, features), linalg::Op::kNone,
                 unit_columns(data, rows, candidates), 0.0, correlations_);
  }
  [[nodiscard]] double operator()(Index feature, Index candidate) const {
    return correlations_(place(features_, feature), place(candidates_, candidate));
  }

 private:
  static Index place(const std::vector<Index>& sorted, Index feature) {
    return std::lower_bound(sorted.begin(), sorted.end(), feature) - sorted.begin();
  }
  const std::vector<Index>& features_;
  const std::vector<Index>& candidates_;
  Matrix correlations_;
};

struct Pair {
  Index feature = 0, substitute = 0;
  double correlation = 0.0;
};

/// The pairs of one fold; see chosen_features.
std::vector<Pair> pairs_of_fold(std::vector<Index> absent, std::vector<Index> instead,
                                const Nearness& correlation, double near) {
  std::vector<Pair> all;
  for (const Index f : absent) {
    for (const Index g : instead) all.push_back({f, g, correlation(f, g)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Pair& a, const Pair& b) {
    return std::abs(a.correlation) > std::abs(b.correlation);
  });
  std::vector<Pair> pairs;
  const auto take = [&](const Pair& pair) {
    pairs.push_back(pair);
    absent.erase(std::find(absent.begin(), absent.end(), pair.feature));
    instead.erase(std::find(instead.begin(), instead.end(), pair.substitute));
  };
  const auto has = [](const std::vector<Index>& list, Index feature) {
    return std::find(list.begin(), list.end(), feature) != list.end();
  };
  for (const Pair& pair : all) {
    if (std::abs(pair.correlation) < near) break;
    if (has(absent, pair.feature) && has(instead, pair.substitute)) take(pair);
  }
  if (absent.size() == 1 && instead.size() == 1) {
    take({absent.front(), instead.front(), correlation(absent.front(), instead.front())});
  }
  return pairs;
}

std::vector<Index> difference(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

/// The most frequent keys, ascending; of equal ones the lowest.
std::vector<Index> most_frequent(const FeatureCounts& counts, std::size_t most) {
  std::vector<std::pair<Index, Index>> list(counts.begin(), counts.end());
  if (list.size() > most) {
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    list.resize(most);
    std::sort(list.begin(), list.end());
  }
  std::vector<Index> keys;
  keys.reserve(list.size());
  for (const auto& [key, count] : list) keys.push_back(key);
  return keys;
}

void add_substitutes(const Dataset& data, const std::vector<std::vector<Index>>& sets,
                     const std::vector<Index>& rows, const SubstituteRules& rules,
                     const FeatureCounts& outside, std::vector<ChosenFeature>& chosen) {
  std::vector<Index> features;
  features.reserve(chosen.size());
  for (const auto& feature : chosen) features.push_back(feature.index);
  const std::vector<Index> candidates = most_frequent(outside, rules.most_candidates);
  const Nearness correlation(data, rows, features, candidates);
  std::map<std::pair<Index, Index>, Index> folds_with;
  for (const auto& set : sets) {
    std::vector<Index> instead = difference(set, features);
    std::erase_if(instead,
                  [&](Index g) { return !std::binary_search(candidates.begin(), candidates.end(), g); });
    if (instead.empty()) continue;
    for (const Pair& pair :
         pairs_of_fold(difference(features, set), std::move(instead), correlation, rules.near_correlation)) {
      ++folds_with[{pair.feature, pair.substitute}];
    }
  }
  for (const auto& [pair, count] : folds_with) {
    auto& feature = *std::find_if(chosen.begin(), chosen.end(),
                                  [f = pair.first](const ChosenFeature& one) { return one.index == f; });
    feature.substitutes.push_back({.index = pair.second,
                                   .name = data.names()[pair.second],
                                   .frequency = static_cast<double>(count) / static_cast<double>(sets.size()),
                                   .correlation = correlation(pair.first, pair.second)});
  }
  for (auto& feature : chosen) {
    std::stable_sort(
        feature.substitutes.begin(), feature.substitutes.end(),
        [](const FeatureSubstitute& a, const FeatureSubstitute& b) { return a.frequency > b.frequency; });
    if (feature.substitutes.size() > rules.most_substitutes)
      feature.substitutes.resize(rules.most_substitutes);
  }
}

}  // namespace

std::vector<ChosenFeature> chosen_features(const Dataset& data, const std::vector<Index>& features,
                                           const std::vector<std::vector<Index>>& sets,
                                           const std::vector<Index>& rows, const SubstituteRules& rules) {
  FeatureCounts inside, outside;
  for (const Index f : features) inside[f] = 0;
  for (const auto& set : sets) {
    for (const Index f : set) {
      const auto found = inside.find(f);
      ++(found != inside.end() ? found->second : outside[f]);
    }
  }
  std::vector<ChosenFeature> chosen;
  for (const Index f : most_frequent(inside, rules.most_listed)) {
    ChosenFeature feature{.index = f, .name = data.names()[f], .frequency = {}, .substitutes = {}};
    if (!sets.empty()) feature.frequency = static_cast<double>(inside[f]) / static_cast<double>(sets.size());
    chosen.push_back(std::move(feature));
  }
  if (features.size() <= rules.most_listed && !outside.empty())
    add_substitutes(data, sets, rows, rules, outside, chosen);
  return chosen;
}

}  // namespace subspectra
