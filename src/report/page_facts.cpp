#include "report/page_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <subspectra/error.hpp>
#include "core/text.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

// Fits of one set less a feature each: a few seconds at most.
constexpr std::size_t kMostDropFits = 3000;
constexpr std::size_t kLargestDropSet = 60;
// Columns that copies are looked for of, times rows, times columns.
constexpr double kMostNearProducts = 4e9;
constexpr double kNear = 0.95;
constexpr std::size_t kMostNearListed = 5;

/// All of them where `left_out` is past the end.
std::vector<std::string> names_without(const Dataset& data, const std::vector<Index>& features,
                                       std::size_t left_out) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (i != left_out) names.push_back(data.names()[features[i]]);
  }
  return names;
}

/// A set is fitted again as it is, too: where that is not the objective of the file, the file means another
/// criterion or other rows.
json drop_losses(const json& path, const Dataset& prepared, const SelectOptions& options) {
  constexpr double kSameObjective = 1e-6;
  struct Asked {
    std::string k;
    std::size_t size = 0;
    double objective = 0.0;
  };
  std::vector<Asked> asked;
  std::vector<GivenSet> sets;
  for (const json& entry : path) {
    if (!entry.contains("objective") || !entry["objective"].is_number()) continue;
    const auto features = entry["features"].get<std::vector<Index>>();
    const auto objective = entry["objective"].get<double>();
    if (features.size() < 2 || features.size() > kLargestDropSet || !(objective > 0.0)) continue;
    if (entry.contains("units")) continue;  // groups leave as a whole
    if (sets.size() + features.size() + 1 > kMostDropFits) break;
    asked.push_back(
        {.k = std::to_string(entry["k"].get<Index>()), .size = features.size(), .objective = objective});
    for (std::size_t i = 0; i <= features.size(); ++i)
      sets.push_back({.names = names_without(prepared, features, i), .loadings = {}});
  }
  SelectOptions refit = options;
  refit.k = KRange();
  refit.include.clear();
  refit.exclude.clear();
  json losses = json::object();
  try {
    const Selection left = refit_sets(prepared, sets, refit);
    std::size_t at = 0;
    for (const Asked& one : asked) {
      json own = json::array();
      for (std::size_t i = 0; i < one.size; ++i) {
        const PathEntry& set = left.sets()[at + i];
        if (set.features.size() + 1 != one.size)
          return json::object();  // a name that stands for several columns
        own.push_back(std::max(0.0, 1.0 - set.objective / one.objective));
      }
      const double whole = left.sets()[at + one.size].objective;
      if (!(std::abs(whole - one.objective) <= kSameObjective * one.objective)) return json::object();
      at += one.size + 1;
      losses[one.k] = std::move(own);
    }
  } catch (const Error&) {
    return json::object();  // the page does without
  }
  return losses;
}

/// What the greedy method ends at, beside the sets of an exact search. Nothing where that would take long, or
/// where a value lies above a bound: then the file means other rows or another criterion.
json greedy_objectives(const json& result, const Dataset& prepared, const SelectOptions& options) {
  constexpr double kMostSeconds = 5.0;
  constexpr double kSameObjective = 1e-6;
  const std::string name = result.value("method", "");
  const auto& methods = MethodRegistry::entries();
  const auto exact = std::find_if(methods.begin(), methods.end(), [&](const MethodEntry& method) {
    return method.traits->proves && method.traits->name == name;
  });
  if (exact == methods.end() || result["path"].empty()) return {};
  const json asked = result.value("options", json::object());
  const auto names_in = [&](const char* option) {
    std::vector<std::string> names;
    for (const json& one : asked.value(option, json::array()))
      if (one.is_string()) names.push_back(one.get<std::string>());
    return names;
  };
  std::map<Index, double> most;
  std::vector<Index> sizes;
  for (const json& entry : result["path"]) {
    if (!entry.contains("objective") || !entry["objective"].is_number()) continue;
    const auto k = entry["k"].get<Index>();
    const bool bounded = entry.contains("upper_bound") && entry["upper_bound"].is_number();
    most[k] = bounded ? entry["upper_bound"].get<double>() : HUGE_VAL;
    sizes.push_back(k);
  }
  if (sizes.empty()) return {};
  SelectOptions own = options;
  own.k = KRange::list(sizes);
  own.certify = own.bounds = false;
  own.part_work = nullptr;
  own.components = 1;
  if (own.include.empty()) own.include = names_in("include");
  if (own.exclude.empty()) own.exclude = names_in("exclude");
  const json groups = asked.value("groups", json(""));
  const bool grouped = !groups.is_string() || !groups.get_ref<const std::string&>().empty();
  if (grouped && !own.feature_groups) return {};
  json greedy = json::object();
  try {
    const bool variance = exact->traits->variance || prepared.labels() == nullptr;
    const RunControl control(std::stop_token(), kMostSeconds);
    const Selection found = select_features(prepared, Method(variance ? "gspca" : "gslda"), own, control);
    if (control.should_stop()) return {};
    for (const PathEntry& entry : found.sets()) {
      const auto at = most.find(entry.k());
      if (at == most.end()) continue;
      if (!(entry.objective <= at->second * (1.0 + kSameObjective))) return {};
      greedy[std::to_string(entry.k())] = entry.objective;
    }
  } catch (const Error&) {
    return {};  // the page does without
  }
  return greedy;
}

/// With mean 0 and length 1, or zeros where it is constant.
Vector standardized_column(const Dataset& data, Index feature) {
  Vector column = data.values().column(feature);
  column.array() -= column.mean();
  const double length = column.norm();
  if (!(length > 0.0) || !std::isfinite(length)) return Vector::Zero(column.size());
  return column / length;
}

json near_features(const json& path, const Dataset& data) {
  std::set<Index> wanted;
  for (const json& entry : path) {
    if (entry["features"].size() > kLargestDropSet) continue;
    for (const json& feature : entry["features"]) wanted.insert(feature.get<Index>());
  }
  const double products = static_cast<double>(wanted.size()) * static_cast<double>(data.rows()) *
                          static_cast<double>(data.features());
  if (wanted.empty() || products > kMostNearProducts) return json::object();
  Matrix chosen(data.rows(), static_cast<Index>(wanted.size()));
  Index at = 0;
  for (const Index feature : wanted) chosen.col(at++) = standardized_column(data, feature);
  std::vector<std::vector<std::pair<double, Index>>> near(wanted.size());
  for (Index j = 0; j < data.features(); ++j) {
    const Vector column = standardized_column(data, j);
    at = 0;
    for (const Index feature : wanted) {
      const double correlation = std::abs(chosen.col(at).dot(column));
      if (feature != j && correlation >= kNear)
        near[static_cast<std::size_t>(at)].emplace_back(-correlation, j);
      ++at;
    }
  }
  json out = json::object();
  at = 0;
  for (const Index feature : wanted) {
    auto& list = near[static_cast<std::size_t>(at++)];
    if (list.empty()) continue;
    std::sort(list.begin(), list.end());
    list.resize(std::min(list.size(), kMostNearListed));
    json names = json::array();
    for (const auto& [unused, j] : list) names.push_back(data.names()[j]);
    out[std::to_string(feature)] = std::move(names);
  }
  return out;
}

json class_means(const Dataset& data) {
  const bool labelled = data.labels() != nullptr;
  const auto classes = static_cast<Index>(labelled ? data.labels()->classes.size() : 1);
  Matrix sums = Matrix::Zero(classes, data.features());
  Vector counts = Vector::Zero(classes);
  const auto class_of = [&](Index row) {
    return labelled ? static_cast<Index>(data.labels()->codes[static_cast<std::size_t>(row)]) : Index{0};
  };
  for (Index i = 0; i < data.rows(); ++i) {
    if (class_of(i) >= 0) counts[class_of(i)] += 1.0;
  }
  for (Index j = 0; j < data.features(); ++j) {
    data.values().each_entry(j, [&](Index row, double value) {
      if (class_of(row) >= 0 && std::isfinite(value)) sums(class_of(row), j) += value;
    });
  }
  json values = json::array();
  json names = json::array();
  for (Index c = 0; c < std::min<Index>(classes, 12); ++c) {
    json row = json::array();
    for (Index j = 0; j < data.features(); ++j)
      row.push_back(static_cast<double>(static_cast<float>(sums(c, j) / std::max(counts[c], 1.0))));
    values.push_back(std::move(row));
    names.push_back(labelled ? data.labels()->classes[static_cast<std::size_t>(c)] : std::string("all rows"));
  }
  return {{"names", std::move(names)}, {"values", std::move(values)}};
}

}  // namespace

json page_facts(const json& result, const Dataset& prepared, const SelectOptions& options,
                const ImageShape& shape) {
  json facts = json::object();
  if (prepared.rows() == 0) return facts;
  if (shape.given() && shape.height * shape.width == prepared.features())
    facts["class_means"] = class_means(prepared);
  if (result.value("schema", "").starts_with("subspectra.selection/") && result.contains("path")) {
    if (json losses = drop_losses(result["path"], prepared, options); !losses.empty())
      facts["drop_loss"] = std::move(losses);
    if (json near = near_features(result["path"], prepared); !near.empty()) facts["near"] = std::move(near);
    if (json greedy = greedy_objectives(result, prepared, options); !greedy.empty())
      facts["greedy"] = std::move(greedy);
  }
  return facts;
}

json page_facts(const json& result, const std::string& file, Dataset table, const ClaimedRows& claimed,
                const ImageShape& shape) {
  const std::string source = table.source();
  table = check_values(std::move(table), claimed.prepare, claimed.exclude);
  const Preparation preparation = Preparation::learn(table, claimed.prepare);
  const Dataset prepared = preparation.apply(std::move(table));
  if (prepared.rows() != claimed.rows || prepared.features() != claimed.features) {
    throw BadInput({.file = source},
                   fmt::format("has {} and {}, but {} was made of {} and {}; give the table of the result",
                               counted(prepared.rows(), "row"), counted(prepared.features(), "feature"), file,
                               counted(claimed.rows, "row"), counted(claimed.features, "feature")));
  }
  SelectOptions options;
  options.criterion = claimed.criterion;
  options.ridge = as_option(claimed.ridge);
  return page_facts(result, prepared, options, shape);
}

}  // namespace subspectra
