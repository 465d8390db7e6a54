#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <subspectra/error.hpp>
#include "core/base64.hpp"
#include "core/json_io.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "io/write.hpp"
#include "select/registry.hpp"

namespace subspectra {

namespace embedded {
// Defined in the file that cmake/EmbedData.cmake makes from report/dist/page.html.
extern const unsigned char page[];
extern const std::size_t page_size;
}  // namespace embedded

namespace {

using nlohmann::json;

/// How much of each list a page has; halved until it fits.
struct PageLimits {
  std::size_t names = 5000;         ///< with more features only those that are mentioned are named
  std::size_t set_features = 2000;  ///< of one set
  std::size_t path_features = 300000, path_entries = 2000;
  std::size_t weights = 100000, ranking = 20000;
  std::size_t fits = 200, fit_features = 400;
  std::size_t trace = 500, events = 4000;
  std::size_t rows = 2000;  ///< of the errors of one method
  std::size_t fold_features = 100000;
  std::size_t findings = 20000;
  std::size_t classes = 200;  ///< of a confusion matrix, and clusters
  std::size_t points = 5000;  ///< of a curve or a projection; our own have fewer

  [[nodiscard]] PageLimits halved() const {
    PageLimits half = *this;
    for (std::size_t* const limit :
         {&half.names, &half.set_features, &half.path_features, &half.path_entries, &half.weights,
          &half.ranking, &half.fits, &half.fit_features, &half.trace, &half.events, &half.rows,
          &half.fold_features, &half.findings})
      *limit = std::max<std::size_t>(*limit / 2, 1);
    return half;
  }
};

/// Six digits: more than a picture can show.
json rounded(const json& value) {
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (!std::isfinite(number)) return nullptr;
    double result = number;
    const std::string text = fmt::format("{:.6g}", number);
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
  }
  if (!value.is_structured()) return value;
  json out = value;
  for (auto& member : out) member = rounded(member);
  return out;
}

json first_entries(const json& list, std::size_t most) {
  return list.size() <= most
             ? list
             : json(std::vector<json>(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(most)));
}

/// `most` entries of a list, evenly spread, its ends among them.
std::vector<std::size_t> spread_places(std::size_t size, std::size_t most) {
  std::vector<std::size_t> places;
  const std::size_t count = std::min(size, std::max<std::size_t>(most, 2));
  places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) places.push_back(count == size ? i : i * (size - 1) / (count - 1));
  return places;
}

/// Makes one result small, noting which features it still mentions and what it lost.
class PageTrimmer {
 public:
  PageTrimmer(const PageResult& from, const PageLimits& limits, std::vector<std::string>& left_out)
      : from_(from), limits_(limits), left_out_(left_out) {}

  json trimmed() {
    json out = from_.result;
    const std::string schema = out.value("schema", "");
    if (schema.starts_with("subspectra.selection/")) trim_selection(out);
    if (schema.starts_with("subspectra.evaluation/")) trim_evaluation(out);
    if (schema.starts_with("subspectra.clustering/")) trim_clustering(out);
    if (schema.starts_with("subspectra.reproduction/")) trim_reproduction(out);
    if (schema.starts_with("subspectra.model/")) trim_model(out);
    if (out.contains("data")) trim_names(out["data"]);
    return out;
  }

 private:
  void say_left_out(const std::string& what) { left_out_.push_back(fmt::format("{}: {}", from_.name, what)); }
  void mention(const json& features) {
    for (const json& feature : features)
      if (feature.is_number_integer()) mentioned_.insert(feature.get<Index>());
  }

  void cut(json& owner, const char* name, std::size_t most, std::string_view what) {
    if (!owner.contains(name) || !owner[name].is_array() || owner[name].size() <= most) return;
    say_left_out(fmt::format("{} of {} {} are on the page", most, owner[name].size(), what));
    owner[name] = first_entries(owner[name], most);
  }

  void thin(json& owner, const char* name, std::size_t most, std::string_view what) {
    if (!owner.contains(name) || !owner[name].is_array() || owner[name].size() <= most) return;
    json kept = json::array();
    for (const std::size_t at : spread_places(owner[name].size(), most)) kept.push_back(owner[name][at]);
    say_left_out(fmt::format("every so many of the {} {}, {} in all", owner[name].size(), what, kept.size()));
    owner[name] = std::move(kept);
  }

  void drop(json& owner, const char* name, const std::string& what = {}) {
    if (owner.erase(name) > 0 && !what.empty()) say_left_out(what);
  }

  void trim_path(json& path) {
    std::size_t features = 0, shortened = 0, full = 0;
    for (json& entry : path) {
      entry.erase("names");  // the page knows them by number
      entry.erase("units");
      if (entry.contains("pool") && entry["pool"].size() > 1) full += entry["pool"].size();
      entry.erase("pool");
      const std::size_t size = entry["features"].size();
      const std::size_t room =
          std::min(limits_.set_features, limits_.path_features - std::min(features, limits_.path_features));
      if (size > room) {
        ++shortened;
        entry["size"] = size;
        entry["features"] = first_entries(entry["features"], room);
        if (entry.contains("loadings")) entry["loadings"] = first_entries(entry["loadings"], room);
      }
      if (entry.contains("loadings")) entry["loadings"] = rounded(entry["loadings"]);
      features += entry["features"].size();
      mention(entry["features"]);
    }
    if (shortened > 0)
      say_left_out(fmt::format("of {} only the first features are listed, {} of a set at most",
                               counted(shortened, "large set"), limits_.set_features));
    if (full > 0) say_left_out(fmt::format("the {} further sets of `pool`", full));
  }

  void trim_fit(json& fit, bool with_matrix) {
    if (!with_matrix) fit.erase("matrix");
    json& features = fit["features"];
    if (features.size() > limits_.fit_features) {
      // The largest rows stay.
      std::vector<std::size_t> order(features.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      if (fit.contains("row_norms") && fit["row_norms"].size() == features.size()) {
        const json& norms = fit["row_norms"];
        const auto norm = [&](std::size_t i) { return norms[i].is_number() ? norms[i].get<double>() : 0.0; };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return norm(a) > norm(b); });
      }
      order.resize(limits_.fit_features);
      std::sort(order.begin(), order.end());
      for (const char* name : {"features", "row_norms", "matrix"}) {
        if (!fit.contains(name) || fit[name].size() < order.back()) continue;
        json kept = json::array();
        for (const std::size_t i : order) kept.push_back(fit[name][i]);
        fit[name] = std::move(kept);
      }
      fits_shortened_ = true;
    }
    for (const char* name : {"row_norms", "matrix"})
      if (fit.contains(name)) fit[name] = rounded(fit[name]);
    mention(fit["features"]);
  }

  void trim_weights(json& out) {
    if (out.contains("weights") && out["weights"].size() > limits_.weights)
      drop(out, "weights", fmt::format("the {} weights", out["weights"].size()));
    if (out.contains("weights")) out["weights"] = rounded(out["weights"]);
    cut(out, "ranking", limits_.ranking, "places of the ranking");
    if (out.contains("ranking")) mention(first_entries(out["ranking"], 1000));
  }

  void trim_selection(json& out) {
    thin(out, "path", limits_.path_entries, "sets");
    trim_path(out["path"]);
    if (out.contains("components")) {
      for (json& component : out["components"]) trim_path(component["path"]);
    }
    if (out.contains("ridge") && out["ridge"].is_object()) out["ridge"].erase("variances");
    drop(out, "partition", "the two sides of the partition, row by row");
    drop(out, "gaussian_process", "the lengthscales");
    thin(out, "trace", limits_.trace, "iterations");
    thin(out, "lambda_path", limits_.fits, "lambdas");
    if (out.contains("lambda_path")) {
      for (json& fit : out["lambda_path"]) trim_fit(fit, false);
    }
    if (out.contains("discriminants")) trim_fit(out["discriminants"], true);
    if (fits_shortened_)
      say_left_out(
          fmt::format("of the discriminants the {} largest rows are on the page", limits_.fit_features));
    trim_weights(out);
  }

  void trim_evaluation(json& out) {
    // By method: the smallest and the largest k stay, and those that were chosen.
    std::map<std::string, std::vector<std::size_t>> by_method;
    std::map<std::string, std::set<json>> chosen;
    for (const json& choice : out.value("chosen", json::array()))
      for (const char* name : {"k_best", "k_one_standard_error"})
        chosen[choice.value("method", "")].insert(choice.value(name, json()));
    const json& rows = out["results"];
    for (std::size_t i = 0; i < rows.size(); ++i) by_method[rows[i].value("method", "")].push_back(i);
    std::set<std::size_t> kept;
    for (const auto& [method, places] : by_method) {
      for (const std::size_t at : spread_places(places.size(), limits_.rows)) kept.insert(places[at]);
      for (const std::size_t at : places)
        if (chosen[method].contains(rows[at].value("k", json()))) kept.insert(at);
    }
    if (kept.size() < rows.size()) {
      say_left_out(fmt::format("errors of {} of {} sizes are on the page", kept.size(), rows.size()));
      json some = json::array();
      for (const std::size_t at : kept) some.push_back(rows[at]);
      out["results"] = std::move(some);
    }
    if (out.contains("chosen")) {
      for (json& choice : out["chosen"]) trim_choice(choice);
    }
    std::size_t features = 0;
    if (out.contains("folds")) {
      for (json& fold : out["folds"]) {
        features += fold.contains("features") ? fold["features"].size() : 0;
        if (features > limits_.fold_features)
          fold.erase("features");
        else if (fold.contains("features"))
          mention(fold["features"]);
      }
    }
    if (features > limits_.fold_features) say_left_out("the sets of most folds");
  }

  void trim_choice(json& choice) {
    if (choice.contains("confusion") && choice["confusion"].size() > limits_.classes)
      drop(choice, "confusion",
           fmt::format("the confusion matrix of {} classes", choice["confusion"].size()));
    for (const char* name : {"roc", "calibration", "projection", "projection_rows", "projection_classes"})
      thin(choice, name, limits_.points, "points");
    for (const char* name : {"projection", "roc", "calibration"})
      if (choice.contains(name)) choice[name] = rounded(choice[name]);
    if (!choice.contains("features")) return;
    for (const json& feature : choice["features"])
      if (feature.contains("index")) mentioned_.insert(feature["index"].get<Index>());
  }

  void trim_clustering(json& out) {
    drop(out, "labels", "the cluster of every row");
    out.erase("rows");
    std::vector<json*> partitions = {&out};
    if (out.contains("all_features") && out["all_features"].is_object()) {
      out["all_features"].erase("labels");
      partitions.push_back(&out["all_features"]);
    }
    for (json* const partition : partitions) {
      cut(*partition, "sizes", limits_.classes, "clusters");
      cut(*partition, "eigenvalues", limits_.classes, "eigenvalues");
    }
    mention(out["features"]);
    out.erase("names");
    trim_weights(out);
  }

  void trim_reproduction(json& out) {
    constexpr std::size_t kLargestDetails = 200000;
    cut(out, "results", limits_.findings, "numbers");
    if (out.contains("details") && dump_json_leniently(out["details"]).size() > kLargestDetails)
      drop(out, "details", "the details of the experiment");
  }

  /// What `predict` needs is for the model file; the page says what the model is and why.
  void trim_model(json& out) {
    for (const char* name :
         {"centroids", "factor", "inputs", "sites", "support_vectors", "preprocessing", "rows", "machines"})
      out.erase(name);
    json kept = json::object();
    for (const auto& [name, value] : out.items()) {
      constexpr std::size_t kLongestMember = 100000;
      if (name == "chosen_by" || name == "discriminants" || name == "names" || name == "features" ||
          dump_json_leniently(value).size() < kLongestMember)
        kept[name] = value;
    }
    out = std::move(kept);
    if (out.contains("chosen_by") && out["chosen_by"].is_object()) trim_choice(out["chosen_by"]);
  }

  void trim_names(json& data) {
    if (!data.contains("names") || !data["names"].is_array() || data["names"].size() <= limits_.names) return;
    const json& all = data["names"];
    json some = json::object();
    for (const Index feature : mentioned_)
      if (feature >= 0 && static_cast<std::size_t>(feature) < all.size())
        some[std::to_string(feature)] = all[static_cast<std::size_t>(feature)];
    say_left_out(fmt::format("names of features that no set mentions ({} of {})", all.size() - some.size(),
                             all.size()));
    data["names"] = std::move(some);
  }

  const PageResult& from_;
  const PageLimits& limits_;
  std::vector<std::string>& left_out_;
  std::set<Index> mentioned_;
  bool fits_shortened_ = false;
};

/// What the objectives of a selection measure, and among which features it chose: two of them can be told
/// apart as better and worse where both say the same. The ridge is the one that was used.
json measure_of(const json& result) {
  const std::string schema = result.value("schema", "");
  if (!schema.starts_with("subspectra.selection/")) return {};
  const json options = result.value("options", json::object());
  const json data = result.value("data", json::object());
  const json classes = data.value("classes", json::array());
  bool variance = classes.empty();
  for (const MethodEntry& method : MethodRegistry::entries())
    variance = variance || (method.traits->variance && method.traits->name == result.value("method", ""));
  json scale = json::array({variance});
  std::vector<const char*> names = {"weights", "missing", "standardize", "transform", "groups"};
  if (!variance) {
    scale.push_back(classes);
    names.insert(names.end(), {"criterion", "ridge", "target", "labels"});
  }
  for (const char* const name : names) {
    json value = options.value(name, json());
    // Only a method that compares columns with their transforms makes anything of `auto`.
    if (std::string_view(name) == "transform" && (value.is_null() || value == "auto")) value = "none";
    scale.push_back(std::move(value));
  }
  json among = json::array({options.value("include", json()), options.value("exclude", json())});
  return {{"scale", dump_json_leniently(scale)}, {"among", dump_json_leniently(among)}};
}

json data_within(const std::vector<PageResult>& results, const ImageShape& shape, const PageLimits& limits) {
  std::vector<std::string> left_out;
  json files = json::array();
  for (const PageResult& one : results) {
    json events = json::array();
    const std::size_t count = one.events.size();
    for (const std::size_t at : spread_places(count, limits.events)) events.push_back(one.events[at]);
    if (events.size() < count)
      left_out.push_back(
          fmt::format("{}: {} of {} lines of the log are on the page", one.name, events.size(), count));
    files.push_back({{"name", one.name},
                     {"command", one.command},
                     {"flags", one.flags},
                     {"measure", measure_of(one.result)},
                     {"result", PageTrimmer(one, limits, left_out).trimmed()},
                     {"facts", one.facts},
                     {"events", std::move(events)}});
  }
  return {{"schema", "subspectra.page/1"},
          {"version", version()},
          {"shape", shape.given() ? json{shape.height, shape.width} : json()},
          {"left_out", left_out},
          {"files", std::move(files)}};
}

/// Where the data go; it stands once in the bundle (a test says so).
constexpr std::string_view kDataMarker = "DATA-GO-HERE";
constexpr std::size_t kMostPageBytes = 15'000'000;

}  // namespace

json page_data(const std::vector<PageResult>& results, const ImageShape& shape) {
  // The packed size is about a third of the text.
  PageLimits limits;
  json data = data_within(results, shape, limits);
  for (int halvings = 0; halvings < 12; ++halvings) {
    if (base64(gzip_bytes(dump_json_leniently(data))).size() + embedded::page_size <= kMostPageBytes) break;
    limits = limits.halved();
    data = data_within(results, shape, limits);
  }
  return data;
}

std::string page_html(const json& data) {
  const std::string_view page(reinterpret_cast<const char*>(embedded::page), embedded::page_size);
  const std::size_t at = page.find(kDataMarker);
  if (at == std::string_view::npos) throw Error("the page that is built in has no place for data");
  std::string html(page.substr(0, at));
  html += base64(gzip_bytes(dump_json_leniently(data)));
  html += page.substr(at + kDataMarker.size());
  if (html.size() > kMostPageBytes)
    throw Error(
        fmt::format("the page would have {} MB; give fewer files, or fewer sizes", html.size() / 1'000'000));
  return html;
}

}  // namespace subspectra
