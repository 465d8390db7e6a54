#include "evaluate/choice_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/options.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

json size_json(Index k) { return k > 0 ? json(k) : json(); }

/// Rows that weigh 1 are counted; the mean of several repeats may be no whole number.
json count_json(double rows) {
  constexpr double kLargestExact = 0x1p53;
  const double whole = std::round(rows);
  if (whole == rows && whole < kLargestExact) return static_cast<std::int64_t>(whole);
  return rows;
}

json features_json(const EvaluationChoice& choice) {
  json features = json::array();
  for (const ChosenFeature& feature : choice.features) {
    json substitutes = json::array();
    for (const FeatureSubstitute& one : feature.substitutes) {
      substitutes.push_back({{"index", one.index},
                             {"name", one.name},
                             {"frequency", one.frequency},
                             {"correlation", one.correlation}});
    }
    features.push_back({{"index", feature.index},
                        {"name", feature.name},
                        {"frequency", feature.frequency ? json(*feature.frequency) : json()},
                        {"substitutes", std::move(substitutes)}});
  }
  return features;
}

json matrix_rows(const DenseMatrix& matrix, json (*number)(double)) {
  json rows = json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    json row = json::array();
    for (Index j = 0; j < matrix.cols(); ++j) row.push_back(number(matrix(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

json used_json(const UsedConfiguration& used) {
  return {{"method", used.method},
          {"lambda", used.lambda ? json(*used.lambda) : json()},
          {"ridge", used.ridge ? OptionCodec<Ridge>::json(as_option(*used.ridge)) : json()},
          {"k", used.k ? json(*used.k) : json()},
          {"transform", OptionCodec<Transform>::json(used.transform)},
          {"shrinkage", OptionCodec<Shrinkage>::json(used.shrinkage)}};
}

json choice_json(const EvaluationChoice& choice, bool compact) {
  json out = {{"method", choice.method},
              {"k_best", size_json(choice.k_best)},
              {"k_one_standard_error", size_json(choice.k_one_standard_error)}};
  if (!choice.judged()) return out;
  out.update({{"error", choice.error},
              {"stderr", choice.stderr_},
              {"trivial_error", choice.trivial_error},
              {"trivial_stderr", choice.trivial_stderr},
              {"confusion", matrix_rows(choice.confusion, count_json)},
              {"sensitivity", choice.sensitivity},
              {"specificity", choice.specificity},
              {"features", features_json(choice)},
              {"feature_count", choice.feature_count}});
  if (const std::string doubt = choice.doubt(); !doubt.empty()) out["doubt"] = doubt;
  if (choice.p_value) {
    out["p_value"] = *choice.p_value;
    out["permutations"] = choice.permutations;
  }
  if (choice.auc) out["auc"] = *choice.auc;
  if (choice.used) out["used"] = used_json(*choice.used);
  json calibration = json::array();
  for (const CalibrationBin& bin : choice.calibration)
    calibration.push_back({bin.predicted, bin.observed, count_json(bin.rows)});
  out["calibration"] = std::move(calibration);
  if (compact) return out;
  json roc = json::array();
  for (const RocPoint& point : choice.roc) roc.push_back({point.false_positives, point.true_positives});
  out["roc"] = std::move(roc);
  out["projection"] = matrix_rows(choice.projection, [](double value) { return json(value); });
  out["projection_rows"] = choice.projection_rows;
  out["projection_classes"] = choice.projection_classes;
  return out;
}

}  // namespace subspectra
