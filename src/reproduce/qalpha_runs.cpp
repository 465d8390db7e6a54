#include "reproduce/qalpha_runs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace subspectra::reproduce {

double Sample::mean() const {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Sample::error() const {
  if (values.size() < 2) return 0.0;
  const double centre = mean();
  const auto count = static_cast<double>(values.size());
  double squares = 0.0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / (count - 1.0) / count);
}

double Sample::percentile(double share) const {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Finding with_sample(Finding finding, const Sample& sample) {
  if (sample.empty()) return finding;
  finding.obtained = sample.mean();
  if (sample.values.size() > 1) finding.spread = sample.error();
  return finding;
}

void close_runs(Index done, Index planned, const RunControl& control, Reproduction& result) {
  result.settings["runs_done"] = done;
  result.settings["runs_planned"] = planned;
  result.status = done == planned ? Status::kHeuristic : control.status_or(Status::kInterrupted);
  if (done < planned) {
    result.notes.push_back(
        fmt::format("Stopped: {} of {} runs, over all settings, were done.", done, planned));
  }
}

Index runs_of(const ReproduceOptions& options, Index quick, Index full) {
  return options.runs > 0 ? options.runs : options.quick ? quick : full;
}

Vector qalpha_weights(const Dataset& data, const QAlpha& method, std::uint64_t seed,
                      const RunControl& control) {
  const FeatureRows rows(data, first_features(data.features()), !method.no_normalize, {}, 1);
  return fit_qalpha(rows, method, {.seed = seed}, control.silent()).weights;
}

Vector qalpha_weights(const Dataset& data, const QAlphaOfKernel& method, std::uint64_t seed,
                      const RunControl& control) {
  const FeatureRows given(data, first_features(data.features()), !method.no_normalize, {}, 1);
  auto factor = kernel_factor(given, method, 0, control.silent());
  return fit_qalpha(FeatureRows(std::move(factor.r), 1), method, {.seed = seed}, control.silent()).weights;
}

Index relevant_among(const Vector& weights, Index count, Index relevant) {
  const auto order = weight_order(weights);
  return std::count_if(order.begin(), order.begin() + count, [&](Index j) { return j < relevant; });
}

Index negative_weights(const Vector& weights) {
  constexpr double kRounding = 1e-9;  // of the largest weight: what the eigenvector is exact to
  return (weights.array() < -kRounding * weights.maxCoeff()).count();
}

}  // namespace subspectra::reproduce
