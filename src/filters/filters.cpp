#include "filters/filters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace subspectra::filters {
namespace {

double ratio(double numerator, double denominator) {
  if (!(numerator > 0.0)) return 0.0;
  if (!(denominator > 0.0)) return std::numeric_limits<double>::max();
  return std::min(numerator / denominator, std::numeric_limits<double>::max());
}

std::vector<int> classes_present(const Moments& moments) {
  std::vector<int> present;
  for (int c = 0; c < moments.classes(); ++c) {
    if (moments.class_weights()[c] > 0.0) present.push_back(c);
  }
  return present;
}

/// sup |F_1 - F_2| over the sorted values; equal values form one step.
double ks_statistic(std::vector<std::pair<double, double>>& signed_weights) {
  std::sort(signed_weights.begin(), signed_weights.end());
  double difference = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < signed_weights.size(); ++i) {
    difference += signed_weights[i].second;
    const bool step_ends =
        i + 1 == signed_weights.size() || signed_weights[i + 1].first != signed_weights[i].first;
    if (step_ends) largest = std::max(largest, std::abs(difference));
  }
  return largest;
}

}  // namespace

Vector pearson(const Moments& moments) {
  const Vector between = moments.between_variances();
  const Vector within = moments.within_variances();
  Vector score(between.size());
  for (Index j = 0; j < score.size(); ++j) score[j] = std::sqrt(ratio(between[j], between[j] + within[j]));
  return score;
}

Vector fisher(const Moments& moments) {
  const auto present = classes_present(moments);
  const auto classes = static_cast<double>(present.size());
  Vector score = Vector::Zero(moments.features());
  for (Index j = 0; j < score.size(); ++j) {
    double variances = 0.0, differences = 0.0;
    for (std::size_t a = 0; a < present.size(); ++a) {
      const int c = present[a];
      variances += moments.class_sums_of_squares()(j, c) / moments.class_weights()[c];
      for (std::size_t b = 0; b < a; ++b) {
        const double difference = moments.class_means()(j, c) - moments.class_means()(j, present[b]);
        differences += difference * difference;
      }
    }
    score[j] = ratio(differences, (classes - 1.0) * variances);
  }
  return score;
}

Vector signal_to_noise(const Moments& moments) {
  const auto present = classes_present(moments);
  Vector score = Vector::Zero(moments.features());
  if (present.size() != 2) return score;
  for (Index j = 0; j < score.size(); ++j) {
    double deviations = 0.0;
    for (const int c : present) {
      deviations += std::sqrt(moments.class_sums_of_squares()(j, c) / moments.class_weights()[c]);
    }
    score[j] = ratio(std::abs(moments.class_means()(j, present[0]) - moments.class_means()(j, present[1])),
                     deviations);
  }
  return score;
}

Vector kolmogorov_smirnov(const Dataset& data, int threads) {
  const Index p = data.features();
  const auto& codes = data.labels()->codes;
  Vector score = Vector::Zero(p);
  Vector class_weight = Vector::Zero(data.labels()->class_count());
  for (Index i = 0; i < data.rows(); ++i) {
    if (codes[i] >= 0) class_weight[codes[i]] += data.weight(i);
  }
  std::vector<int> present;
  for (int c = 0; c < data.labels()->class_count(); ++c) {
    if (class_weight[c] > 0.0) present.push_back(c);
  }
  if (present.size() != 2) return score;
  const double w1 = class_weight[present[0]];
  const double w2 = class_weight[present[1]];
  // Step of a row in w1 w2 (F_1 - F_2): whole numbers when weights are, so that equal scores come out equal.
  const auto step = [&](Index row) {
    return codes[row] == present[0] ? data.weight(row) * w2 : -data.weight(row) * w1;
  };
  constexpr Index kTile = 64;
  parallel_for((p + kTile - 1) / kTile, threads, [&](Index tile) {
    std::vector<std::pair<double, double>> values;
    for (Index j = tile * kTile; j < std::min(p, (tile + 1) * kTile); ++j) {
      values.clear();
      double at_zero = 0.0;  // the rows a sparse column does not store; all steps together sum to zero
      data.values().each_entry(j, [&](Index row, double value) {
        if (codes[row] < 0) return;
        values.emplace_back(value, step(row));
        at_zero -= values.back().second;
      });
      if (data.values().leaves_out_zeros()) values.emplace_back(0.0, at_zero);
      score[j] = ks_statistic(values) / (w1 * w2);
    }
  });
  return score;
}

std::vector<Index> ranking(std::span<const double> scores, const std::vector<Index>& candidates) {
  std::vector<Index> order = candidates;
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return scores[a] > scores[b]; });
  return order;
}

std::vector<Index> ranking(std::span<const double> scores, const std::vector<Index>& candidates,
                           double accuracy) {
  std::vector<Index> order = ranking(scores, candidates);
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && scores[*last] >= (1.0 - accuracy) * scores[*(last - 1)]) ++last;
    std::sort(first, last);
    first = last;
  }
  return order;
}

}  // namespace subspectra::filters
