#include "report/details.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/version.hpp"
#include "io/write.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

Index original_row(const Dataset& data, Index row) {
  return data.original_rows().empty() ? row : data.original_rows()[static_cast<std::size_t>(row)];
}

/// Where rows have names of their own.
const std::string& row_id(const Dataset& data, Index row) {
  return (*data.details().row_ids)[static_cast<std::size_t>(original_row(data, row))];
}

/// What is no number is an empty field.
std::string number_field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string size_field(Index k) { return k > 0 ? fmt::to_string(k) : ""; }

std::vector<std::string> feature_names(const Dataset& data, const EvaluationFold& fold) {
  return data.names().selected(fold.features).all();
}

const std::string& class_name(const Dataset& data, int code) {
  return data.labels()->classes[static_cast<std::size_t>(code)];
}

}  // namespace

json details_json(const Evaluation& evaluation, const Dataset& data) {
  json rows = json::array();
  for (const HeldOutPredictions& method : evaluation.predictions) {
    for (Index i = 0; i < data.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int truth = data.labels()->codes[at];
      const bool held_out = method.times[at] > 0;
      json probabilities = json::array();
      for (Index c = 0; c < method.probabilities.cols() && held_out; ++c)
        probabilities.push_back(method.probabilities(i, c));
      json row = {{"method", method.method},
                  {"k", method.k > 0 ? json(method.k) : json()},
                  {"row", original_row(data, i)},
                  {"truth", class_name(data, truth)},
                  {"predicted", held_out ? json(class_name(data, method.predicted[at])) : json()},
                  {"times", method.times[at]},
                  {"error", held_out ? json(method.wrong[at]) : json()},
                  {"probabilities", std::move(probabilities)}};
      if (data.details().row_ids) row["id"] = row_id(data, i);
      rows.push_back(std::move(row));
    }
  }
  json folds = json::array();
  for (const EvaluationFold& fold : evaluation.folds) {
    json out = fold_json(fold);
    out["names"] = feature_names(data, fold);
    folds.push_back(std::move(out));
  }
  return {{"schema", "subspectra.evaluation-details/1"},
          {"version", version()},
          {"complete", evaluation.complete()},
          {"classes", data.labels()->classes},
          {"rows", std::move(rows)},
          {"folds", std::move(folds)}};
}

std::string details_csv(const Evaluation& evaluation, const Dataset& data, bool safe) {
  const auto field = [safe](const std::string& text) {
    return safe && csv_field(text, true) != csv_field(text) ? csv_field(text, true) : csv_text_field(text);
  };
  const auto& classes = data.labels()->classes;
  const bool with_ids = data.details().row_ids != nullptr;
  std::string text = "record,method,k,repeat,fold,row,";
  text += with_ids ? "id,truth,predicted,times,error" : "truth,predicted,times,error";
  for (const auto& name : classes) text += ',' + field("p_" + name);
  text += ",features\n";
  for (const HeldOutPredictions& method : evaluation.predictions) {
    for (Index i = 0; i < data.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool held_out = method.times[at] > 0;
      text += fmt::format("row,{},{},,,{},", method.method, size_field(method.k), original_row(data, i));
      if (with_ids) text += field(row_id(data, i)) + ',';
      text += fmt::format("{},{},{},{}", field(class_name(data, data.labels()->codes[at])),
                          held_out ? field(class_name(data, method.predicted[at])) : "", method.times[at],
                          number_field(method.wrong[at]));
      for (Index c = 0; c < method.probabilities.cols(); ++c)
        text += ',' + number_field(method.probabilities(i, c));
      text += ",\n";
    }
  }
  for (const EvaluationFold& fold : evaluation.folds) {
    text += fmt::format("fold,{},{},{},{},,{},,,{}", fold.method, size_field(fold.k), fold.repeat, fold.fold,
                        with_ids ? "," : "", number_field(fold.error));
    text.append(classes.size(), ',');
    text += fmt::format(",{}\n", field(csv_list(feature_names(data, fold))));
  }
  return text;
}

}  // namespace subspectra
