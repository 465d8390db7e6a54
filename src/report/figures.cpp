#include "report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/json_io.hpp"
#include "core/text.hpp"
#include "core/types.hpp"
#include "report/svg.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using Anchor = SvgDrawing::Anchor;
using Mark = SvgChart::Key::Mark;
using Points = std::vector<std::pair<double, double>>;

constexpr double kChartWidth = 820.0;
constexpr std::size_t kMostBars = 40;

std::optional<double> number_of(const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

const json& member_of(const json& from, const char* name) {
  static const json kNull;
  const auto found = from.find(name);
  return found == from.end() ? kNull : *found;
}

const json& list_of(const json& from, const char* name) {
  static const json kEmpty = json::array();
  const json& found = member_of(from, name);
  return found.is_array() ? found : kEmpty;
}

bool is_true(const json& from, const char* name) {
  const json& found = member_of(from, name);
  return found.is_boolean() && found.get<bool>();
}

std::string text_of(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A name as it stands in a figure.
std::string label_of(const std::string& name, std::size_t most = 24) {
  std::string out;
  std::size_t letters = 0;
  for (std::string_view rest = name; !rest.empty();) {
    const CodePoint first = first_code_point(rest);
    if (++letters > most) return out + "...";
    out += rest.substr(0, first.bytes);
    rest.remove_prefix(first.bytes);
  }
  return out;
}

std::vector<std::pair<std::string, double>> largest_bars(std::vector<std::pair<std::string, double>> bars) {
  std::stable_sort(bars.begin(), bars.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  bars.resize(std::min(bars.size(), kMostBars));
  return bars;
}

/// Files of one table belong together, as they do on the page.
std::string table_of(const json& file) {
  const json& data = member_of(file["result"], "data");
  if (!data.is_object()) return text_of(file, "name");
  return dump_json_leniently(
      json::array({member_of(data, "source"), member_of(data, "rows"), member_of(data, "features")}));
}

/// And evaluations of the same classes.
std::string problem_of(const json& file) {
  const json& data = member_of(file["result"], "data");
  return table_of(file) +
         dump_json_leniently(json::array({member_of(data, "target"), member_of(data, "classes")}));
}

/// A method on one table with its errors. The first has the first colour, and so on.
struct FigureMethod {
  std::string name;  ///< with a number where several files have one of this name
  const json* file = nullptr;
  std::string method;
  std::vector<const json*> rows;
  const json* choice = nullptr;
};

std::vector<FigureMethod> figure_methods(const json& data, const std::string& problem) {
  std::vector<FigureMethod> judged;
  for (const json& file : data["files"]) {
    const json& result = file["result"];
    if (!text_of(result, "schema").starts_with("subspectra.evaluation/") || problem_of(file) != problem)
      continue;
    const std::size_t first = judged.size();
    for (const json& row : list_of(result, "results")) {
      const std::string method = text_of(row, "method");
      const auto begin = judged.begin() + static_cast<std::ptrdiff_t>(first);
      auto own = std::find_if(begin, judged.end(), [&](const auto& one) { return one.method == method; });
      if (own == judged.end()) {
        const auto taken = [&](const std::string& name) {
          return std::any_of(judged.begin(), judged.end(), [&](const auto& one) { return one.name == name; });
        };
        std::string name = method;
        for (int i = 2; taken(name); ++i) name = fmt::format("{} ({})", method, i);
        judged.push_back({.name = name, .file = &file, .method = method, .rows = {}, .choice = nullptr});
        own = judged.end() - 1;
      }
      own->rows.push_back(&row);
    }
    for (const json& choice : list_of(result, "chosen")) {
      for (std::size_t i = first; i < judged.size(); ++i)
        if (judged[i].method == text_of(choice, "method")) judged[i].choice = &choice;
    }
  }
  return judged;
}

Points errors_by_k(const FigureMethod& method) {
  Points points;
  for (const json* const row : method.rows) {
    const auto k = number_of(*row, "k");
    const auto error = number_of(*row, "error");
    if (k && error) points.emplace_back(*k, *error);
  }
  return points;
}

/// One result with its names, on a page with others.
class ResultFigures {
 public:
  ResultFigures(const json& page, const json& file, const std::optional<std::pair<Index, Index>>& shape,
                std::string stem_suffix, std::vector<PageFigure>& out)
      : page_(page),
        file_(file),
        result_(file["result"]),
        shape_(shape),
        suffix_(std::move(stem_suffix)),
        out_(out) {}

  void draw() {
    const std::string schema = text_of(result_, "schema");
    if (schema.starts_with("subspectra.selection/")) draw_selection();
    if (schema.starts_with("subspectra.evaluation/")) draw_evaluation();
    if (schema.starts_with("subspectra.model/")) draw_model();
    if (schema.starts_with("subspectra.clustering/")) draw_clustering();
    if (schema.starts_with("subspectra.reproduction/")) draw_reproduction();
  }

  void draw_comparison(const std::vector<FigureMethod>& methods) {
    draw_curves(methods);
    draw_ranking(methods);
    draw_differences(methods);
  }

 private:
  std::string name_of(Index feature) const {
    const json& names = member_of(member_of(result_, "data"), "names");
    if (names.is_array() && static_cast<std::size_t>(feature) < names.size())
      return names[static_cast<std::size_t>(feature)].get<std::string>();
    if (names.is_object()) {
      const auto found = names.find(std::to_string(feature));
      if (found != names.end() && found->is_string()) return found->get<std::string>();
    }
    return fmt::format("{}{}", names.is_object() ? "feature " : "x", feature);
  }
  std::string class_name(std::size_t c) const {
    const json& data = member_of(result_, "data");
    const json& classes = list_of(data.is_object() ? data : result_, "classes");  // a model has its own
    return c < classes.size() ? classes[c].get<std::string>() : std::to_string(c);
  }

  void keep(const std::string& what, const std::string& method, const std::string& title,
            const SvgDrawing& drawing) {
    std::string stem = what;
    for (const std::string& part : {method, suffix_}) {
      if (part.empty()) continue;
      stem += '-';
      for (const char c : part.substr(0, 40)) stem += (c >= 'a' && c <= 'z') || is_digit(c) ? c : '-';
    }
    out_.push_back({stem + ".svg", drawing.svg(title, text_of(file_, "command"))});
  }

  static SvgChart::Axis size_axis(const std::vector<double>& ks) {
    const auto [low, high] = std::minmax_element(ks.begin(), ks.end());
    const bool logarithmic =
        *low >= 1.0 && *high / *low >= 80.0 && *high - *low > 3.0 * static_cast<double>(ks.size());
    return {.label = "features, k", .low = *low, .high = *high, .logarithmic = logarithmic, .whole = true};
  }

  /// Other selections whose objectives measure the same, and the greedy one.
  std::vector<std::pair<std::string, Points>> other_paths() const {
    std::vector<std::pair<std::string, Points>> others;
    const json& scale = member_of(member_of(file_, "measure"), "scale");
    for (const json& file : page_["files"]) {
      if (&file == &file_ || table_of(file) != table_of(file_)) continue;
      const json& other = member_of(member_of(file, "measure"), "scale");
      if (!other.is_string() || other != scale) continue;
      Points points;
      for (const json& entry : list_of(file["result"], "path")) {
        const auto k = number_of(entry, "k");
        const auto value = number_of(entry, "objective");
        if (k && value) points.emplace_back(*k, *value);
      }
      if (!points.empty()) others.emplace_back(text_of(file["result"], "method"), std::move(points));
    }
    if (const json& greedy = member_of(member_of(file_, "facts"), "greedy"); greedy.is_object()) {
      Points points;
      for (const json& entry : list_of(result_, "path")) {
        const auto k = number_of(entry, "k");
        if (!k) continue;
        if (const auto value = number_of(greedy, fmt::format("{:.0f}", *k).c_str()))
          points.emplace_back(*k, *value);
      }
      if (!points.empty()) others.emplace_back("greedy", std::move(points));
    }
    return others;
  }

  void draw_path(const json& path, const std::string& method) {
    Points objective;
    Points bound;
    std::vector<double> ks;
    double top = 0.0;
    for (const json& entry : path) {
      const auto k_found = number_of(entry, "k");
      const auto value_found = number_of(entry, "objective");
      if (!k_found || !value_found) continue;
      const double k = *k_found;
      const double value = *value_found;
      ks.push_back(k);
      top = std::max(top, value);
      objective.emplace_back(k, value);
      if (const auto upper = number_of(entry, "upper_bound")) bound.emplace_back(k, *upper);
    }
    if (ks.empty()) return;
    std::vector<std::pair<std::string, Points>> others = other_paths();
    for (const auto& [name, points] : others) {
      for (const auto& [k, value] : points) {
        ks.push_back(k);
        top = std::max(top, value);
      }
    }
    const double cap = top > 0.0 ? 1.12 * top : 1.0;
    const bool some_proven =
        std::any_of(path.begin(), path.end(), [](const json& entry) { return is_true(entry, "certified"); });
    std::vector<SvgChart::Key> keys = {{method, ink::kAccent, Mark::kLine}};
    const bool some_open =
        !std::all_of(path.begin(), path.end(), [](const json& entry) { return is_true(entry, "certified"); });
    if (bound.size() > 1 && some_open)
      keys.push_back({"up to the bound: no set lies above", ink::kAccent, Mark::kBand});
    if (some_proven) keys.push_back({"proven best", ink::kAccent, Mark::kDot});
    if (some_open) keys.push_back({"not proven", ink::kAccent, Mark::kRing});
    for (std::size_t i = 0; i < others.size(); ++i)
      keys.push_back({label_of(others[i].first), category_colour(i + 1), Mark::kDashes});
    SvgChart chart(kChartWidth, 330.0, size_axis(ks), {.label = "objective", .low = 0.0, .high = cap}, keys);
    Points band;
    band.reserve(2 * bound.size());
    for (const auto& [k, value] : bound) band.emplace_back(chart.x(k), chart.y(std::min(value, cap)));
    std::map<double, double> of_k(objective.begin(), objective.end());
    for (auto at = bound.rbegin(); at != bound.rend(); ++at)
      band.emplace_back(chart.x(at->first), chart.y(of_k[at->first]));
    chart.drawing().area(band, ink::kAccent, 0.15);
    for (std::size_t i = 0; i < others.size(); ++i)
      chart.curve(others[i].second, {category_colour(i + 1), 1.8, "5 4"});
    chart.curve(objective, {ink::kAccent, 2.0});
    if (path.size() <= 150) {
      for (const json& entry : path) {
        const auto k = number_of(entry, "k");
        const auto value = number_of(entry, "objective");
        if (k && value)
          chart.dot(*k, *value, 4.0, is_true(entry, "certified") ? ink::kAccent : ink::kPaper, ink::kAccent);
      }
    }
    keep("path", method, fmt::format("{}: objective against the number of features", method),
         chart.drawing());
  }

  void draw_tiles(const json& path, const std::string& method) {
    constexpr std::size_t kMostRows = 80;
    std::vector<Index> order;
    std::set<Index> seen;
    for (const json& entry : path) {
      for (const json& feature : entry["features"])
        if (seen.insert(feature.get<Index>()).second) order.push_back(feature.get<Index>());
    }
    if (order.empty()) return;
    const std::size_t all = order.size();
    order.resize(std::min(order.size(), kMostRows));
    std::map<Index, std::size_t> row_of;
    double left = 50.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      row_of[order[i]] = i;
      left = std::max(left, std::min(190.0, 20.0 + 6.6 * static_cast<double>(name_of(order[i]).size())));
    }
    const double cell = std::min(30.0, (kChartWidth - left - 8.0) / static_cast<double>(path.size()));
    constexpr double kRow = 17.0, kTop = 26.0;
    SvgDrawing drawing(std::max(600.0, left + cell * static_cast<double>(path.size()) + 8.0),
                       kTop + kRow * static_cast<double>(order.size()) + 34.0);
    for (std::size_t i = 0; i < order.size(); ++i)
      drawing.text(left - 8.0, kTop + kRow * static_cast<double>(i) + 12.5, label_of(name_of(order[i])),
                   Anchor::kEnd);
    const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(24.0 / cell)));
    for (std::size_t j = 0; j < path.size(); ++j) {
      const double x = left + cell * static_cast<double>(j);
      if (j % step == 0)
        drawing.text(x + 0.5 * cell, kTop - 6.0, std::to_string(path[j]["k"].get<Index>()), Anchor::kMiddle,
                     ink::kMuted, 11.0);
      drawing.rectangle(x, kTop, cell - (cell > 5.0 ? 1.5 : 0.0),
                        kRow * static_cast<double>(order.size()) - 1.0, ink::kEmpty);
      const json& features = path[j]["features"];
      const json& loadings = list_of(path[j], "loadings");
      for (std::size_t i = 0; i < features.size(); ++i) {
        const auto row = row_of.find(features[i].get<Index>());
        if (row == row_of.end()) continue;
        const bool below = i < loadings.size() && !loadings[i].empty() && loadings[i][0].is_number() &&
                           loadings[i][0].get<double>() < 0.0;
        drawing.rectangle(x, kTop + kRow * static_cast<double>(row->second) + 1.0,
                          cell - (cell > 5.0 ? 1.5 : 0.0), kRow - 2.0, below ? ink::kNegative : ink::kAccent);
      }
    }
    const std::string rest =
        all > order.size() ? fmt::format(" (the first {} of {})", order.size(), all) : std::string();
    drawing.text(8.0, drawing.height() - 10.0,
                 "features, k: in the set with a loading above 0 (blue) or below (orange)" + rest,
                 Anchor::kStart, ink::kMuted, 11.0);
    keep("features", method, fmt::format("{}: features by size of the set", method), drawing);
  }

  void draw_loadings(const json& path, const std::string& method) {
    const json* entry = nullptr;
    for (const json& one : path) {
      if (!list_of(one, "loadings").empty()) entry = &one;
    }
    const json* features = nullptr;
    const json* values = nullptr;
    std::string where;
    if (entry != nullptr) {
      features = &(*entry)["features"];
      values = &(*entry)["loadings"];
      where = fmt::format("k = {}", (*entry)["k"].get<Index>());
    } else if (const json& fit = member_of(result_, "discriminants"); fit.is_object()) {
      features = &list_of(fit, "features");
      values = &list_of(fit, "matrix");
      where = counted(features->size(), "feature");
    }
    if (values == nullptr || values->empty()) return;
    // Components that were found one after another have features of their own.
    const json& further = list_of(result_, "components");
    const std::size_t components =
        further.empty() ? std::min<std::size_t>((*values)[0].size(), 6) : std::size_t{1};
    for (std::size_t c = 0; c < components; ++c) {
      const auto bars = loading_bars(*features, *values, c);
      if (bars.empty()) continue;
      const std::string number =
          components > 1 || !further.empty() ? fmt::format(", component {}", c + 1) : std::string();
      keep(c == 0 ? "loadings" : fmt::format("loadings-{}", c + 1), method,
           fmt::format("{}: loadings, {}{}", method, where, number), bars_drawing(bars, "loading", false));
    }
    if (shape_ && entry != nullptr) draw_mask(*entry, method, further.empty() ? 4 : 1);
    if (entry == nullptr) return;
    std::size_t drawn = 0;
    for (const json& component : further) {
      const auto number = number_of(component, "component");
      const json* own = nullptr;
      for (const json& one : list_of(component, "path")) {
        if (list_of(one, "loadings").empty() || one["k"].get<Index>() > (*entry)["k"].get<Index>()) continue;
        own = &one;
      }
      if (!number || *number < 2.0 || *number > 1e6 || own == nullptr || ++drawn > 5) continue;
      const std::string what = fmt::format("loadings-{:.0f}", *number);
      keep(what, method,
           fmt::format("{}: loadings, k = {}, component {:.0f}", method, (*own)["k"].get<Index>(), *number),
           bars_drawing(loading_bars((*own)["features"], (*own)["loadings"], 0), "loading", false));
      if (shape_ && drawn <= 3)
        draw_loading_map(*own, 0, fmt::format("loading-map-{:.0f}", *number), method,
                         fmt::format(", component {:.0f}", *number));
    }
  }

  std::vector<std::pair<std::string, double>> loading_bars(const json& features, const json& values,
                                                           std::size_t component) const {
    std::vector<std::pair<std::string, double>> bars;
    for (std::size_t i = 0; i < values.size() && i < features.size(); ++i) {
      if (component < values[i].size() && values[i][component].is_number())
        bars.emplace_back(label_of(name_of(features[i].get<Index>())), values[i][component].get<double>());
    }
    return largest_bars(std::move(bars));
  }

  void draw_pixels(const std::string& what, const std::string& method, const std::string& title,
                   const std::function<std::string(Index)>& colour) {
    const auto [height, width] = *shape_;
    constexpr Index kMostPixels = 250000;
    if (height * width > kMostPixels) return;
    const double cell = std::max(1.0, std::floor(480.0 / static_cast<double>(std::max(height, width))));
    SvgDrawing drawing(std::max(480.0, cell * static_cast<double>(width)),
                       cell * static_cast<double>(height));
    for (Index y = 0; y < height; ++y) {
      for (Index x = 0; x < width;) {
        const std::string fill = colour(y * width + x);
        Index end = x + 1;
        while (end < width && colour(y * width + end) == fill) ++end;
        drawing.rectangle(cell * static_cast<double>(x), cell * static_cast<double>(y),
                          cell * static_cast<double>(end - x), cell, fill);
        x = end;
      }
    }
    keep(what, method, title, drawing);
  }

  void draw_loading_map(const json& entry, std::size_t component, const std::string& what,
                        const std::string& method, const std::string& which) {
    std::map<Index, double> loading;
    double most = 0.0;
    const json& values = list_of(entry, "loadings");
    for (std::size_t i = 0; i < entry["features"].size(); ++i) {
      const bool known =
          i < values.size() && component < values[i].size() && values[i][component].is_number();
      const double value = known ? values[i][component].get<double>() : 0.0;
      loading[entry["features"][i].get<Index>()] = value;
      most = std::max(most, std::abs(value));
    }
    const std::string title = fmt::format("{}: loadings, k = {}{}", method, entry["k"].get<Index>(), which);
    draw_pixels(what, method, title, [&](Index pixel) {
      const auto found = loading.find(pixel);
      if (found == loading.end() || !(most > 0.0)) return std::string(ink::kEmpty);
      return shade_of(found->second < 0.0 ? ink::kNegative : ink::kAccent, std::abs(found->second) / most);
    });
  }

  void draw_mask(const json& entry, const std::string& method, std::size_t most_components) {
    const json& values = list_of(entry, "loadings");
    const std::size_t components = values.empty() ? 0 : std::min(values[0].size(), most_components);
    for (std::size_t c = 0; c < components; ++c)
      draw_loading_map(entry, c, c == 0 ? "loading-map" : fmt::format("loading-map-{}", c + 1), method,
                       components > 1 ? fmt::format(", component {}", c + 1) : std::string());
    std::set<Index> chosen;
    for (const json& feature : entry["features"]) chosen.insert(feature.get<Index>());
    const Index k = entry["k"].get<Index>();
    const json& means = member_of(member_of(file_, "facts"), "class_means");
    if (!means.is_object()) {
      draw_pixels("mask", method, fmt::format("{}: the chosen pixels, k = {}", method, k), [&](Index pixel) {
        return std::string(chosen.contains(pixel) ? ink::kAccent : ink::kEmpty);
      });
      return;
    }
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const json& row : means["values"]) {
      for (const json& value : row) {
        low = std::min(low, value.get<double>());
        high = std::max(high, value.get<double>());
      }
    }
    for (std::size_t c = 0; c < means["values"].size(); ++c) {
      const json& row = means["values"][c];
      draw_pixels(fmt::format("mask-{}", c + 1), method,
                  fmt::format("{}: k = {} over the mean of {}", method, k,
                              label_of(means["names"][c].get<std::string>())),
                  [&](Index pixel) {
                    if (chosen.contains(pixel)) return std::string(ink::kNegative);
                    const double share =
                        high > low ? (row[static_cast<std::size_t>(pixel)].get<double>() - low) / (high - low)
                                   : 0.0;
                    const auto level = static_cast<int>(std::lround(255.0 - 220.0 * share));
                    return fmt::format("#{0:02x}{0:02x}{0:02x}", level);
                  });
    }
  }

  void draw_weights(const std::string& method) {
    std::vector<double> weights;
    for (const json& value : list_of(result_, "weights"))
      if (value.is_number()) weights.push_back(value.get<double>());
    if (weights.empty()) return;
    std::sort(weights.begin(), weights.end(), std::greater<>());
    Points points;
    const std::size_t step = std::max<std::size_t>(1, weights.size() / 2000);
    for (std::size_t i = 0; i < weights.size(); i += step)
      points.emplace_back(static_cast<double>(i + 1), weights[i]);
    const json& cut = member_of(member_of(result_, "relevance"), "cut");
    const auto after = number_of(cut, "k");
    std::vector<SvgChart::Key> keys;
    if (after) keys.push_back({fmt::format("largest fall, after {:.0f}", *after), ink::kWarn, Mark::kDashes});
    SvgChart chart(
        kChartWidth, 300.0,
        {.label = "feature by rank", .low = 1.0, .high = static_cast<double>(weights.size()), .whole = true},
        {.label = "weight", .low = std::min(0.0, weights.back()), .high = weights.front()}, keys);
    if (points.size() <= 200) {
      for (const auto& [rank, weight] : points) chart.upright(rank, 0.0, weight, {ink::kAccent, 3.0});
    } else {
      chart.curve(points, {ink::kAccent, 2.0});
    }
    if (after) chart.upright(*after + 0.5, weights.back(), weights.front(), {ink::kWarn, 1.8, "5 4"});
    keep("weights", method, fmt::format("{}: weights, from the largest", method), chart.drawing());
    Points trace;
    for (const json& point : list_of(result_, "trace"))
      if (const auto value = number_of(point, "objective"))
        trace.emplace_back(*number_of(point, "iteration"), *value);
    draw_curve(trace, "trace", method, "iteration", "objective", "objective by iteration");
  }

  void draw_curve(const Points& points, const char* what, const std::string& method, const char* along,
                  const char* value, const char* title) {
    if (points.size() < 2) return;
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    SvgChart chart(kChartWidth, 260.0,
                   {.label = along, .low = points.front().first, .high = points.back().first, .whole = true},
                   {.label = value, .low = low->second, .high = high->second}, {});
    chart.curve(points, {ink::kAccent, 2.0});
    keep(what, method, fmt::format("{}: {}", method, title), chart.drawing());
  }

  void draw_lambdas(const std::string& method) {
    const json& fits = list_of(result_, "lambda_path");
    std::map<Index, Points> norms;
    std::map<Index, double> largest;
    std::set<double> lambdas;
    double low = HUGE_VAL, high = 0.0, top = 0.0;
    for (const json& fit : fits) {
      const auto lambda = number_of(fit, "lambda");
      if (!lambda || !(*lambda > 0.0)) continue;
      low = std::min(low, *lambda);
      high = std::max(high, *lambda);
      lambdas.insert(*lambda);
      const json& rows = list_of(fit, "row_norms");
      for (std::size_t i = 0; i < rows.size() && i < fit["features"].size(); ++i) {
        if (!rows[i].is_number()) continue;
        const Index feature = fit["features"][i].get<Index>();
        norms[feature].emplace_back(*lambda, rows[i].get<double>());
        largest[feature] = std::max(largest[feature], rows[i].get<double>());
        top = std::max(top, rows[i].get<double>());
      }
    }
    if (!(high > low) || norms.empty()) return;
    for (auto& [feature, points] : norms) {  // what a fit does not list is 0 in it
      std::set<double> listed;
      for (const auto& [lambda, norm] : points) listed.insert(lambda);
      for (const double lambda : lambdas)
        if (!listed.contains(lambda)) points.emplace_back(lambda, 0.0);
    }
    std::vector<Index> order;
    order.reserve(largest.size());
    for (const auto& [feature, unused] : largest) order.push_back(feature);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return largest[a] > largest[b]; });
    order.resize(std::min<std::size_t>(order.size(), 80));
    std::vector<SvgChart::Key> keys;
    keys.reserve(16);
    for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 7); ++i)
      keys.push_back({label_of(name_of(order[i]), 16), category_colour(i), Mark::kLine});
    SvgChart chart(
        kChartWidth, 340.0,
        {.label = "lambda, falling", .low = low, .high = high, .logarithmic = true, .falling = true},
        {.label = "row norm", .low = 0.0, .high = top}, keys);
    for (std::size_t i = order.size(); i-- > 0;) {
      Points& points = norms[order[i]];
      std::sort(points.begin(), points.end());
      chart.curve(points,
                  i < 7 ? SvgDrawing::Stroke{category_colour(i), 2.0} : SvgDrawing::Stroke{"#c3c9d1", 1.0});
    }
    keep("lambda", method, fmt::format("{}: optimal-scoring path", method), chart.drawing());
  }

  void draw_search(const std::string& method) {
    const json& events = list_of(file_, "events");
    if (events.empty()) return;
    Index k = 0;
    for (const json& event : events) k = std::max(k, event["k"].get<Index>());
    Points incumbent;
    Points bound;
    double end = 0.0, low = HUGE_VAL, high = -HUGE_VAL;
    const auto step_to = [](Points& points, double time, double value) {
      if (!points.empty()) points.emplace_back(time, points.back().second);
      points.emplace_back(time, value);
    };
    for (const json& event : events) {
      if (event["k"].get<Index>() != k) continue;
      const double time = *number_of(event, "time_s");
      end = std::max(end, time);
      for (const auto& [name, points] : {std::pair{"incumbent", &incumbent}, std::pair{"bound", &bound}}) {
        if (const auto value = number_of(event, name)) {
          step_to(*points, time, *value);
          low = std::min(low, *value);
          high = std::max(high, *value);
        }
      }
    }
    if (incumbent.empty() || !(end > 0.0)) return;
    SvgChart chart(kChartWidth, 280.0, {.label = "seconds", .low = 0.0, .high = end},
                   {.label = "objective", .low = low, .high = high},
                   {{"bound", ink::kWarn, Mark::kLine}, {"best set so far", ink::kAccent, Mark::kLine}});
    chart.curve(bound, {ink::kWarn, 2.0});
    chart.curve(incumbent, {ink::kAccent, 2.0});
    keep("search", method, fmt::format("{}: incumbent and bound, k = {}", method, k), chart.drawing());
    Points open;
    double most = 1.0;
    for (const json& event : events) {
      if (event["k"].get<Index>() != k) continue;
      step_to(open, *number_of(event, "time_s"), *number_of(event, "open"));
      most = std::max(most, open.back().second);
    }
    SvgChart nodes(kChartWidth, 200.0, {.label = "seconds", .low = 0.0, .high = end},
                   {.label = "open nodes", .low = 0.0, .high = most, .whole = true}, {});
    nodes.curve(open, {ink::kMuted, 1.8});
    keep("open-nodes", method, fmt::format("{}: open nodes over time, k = {}", method, k), nodes.drawing());
  }

  void draw_selection() {
    const std::string method = text_of(result_, "method");
    const json& path = list_of(result_, "path");
    draw_path(path, method);
    draw_tiles(path, method);
    draw_loadings(path, method);
    draw_weights(method);
    draw_lambdas(method);
    draw_search(method);
  }

  // --- evaluations

  void draw_errors(const std::string& method, const std::vector<const json*>& rows, const json& choice,
                   const std::vector<FigureMethod>& judged) {
    Points error, apparent, null;
    std::vector<double> ks;
    double low = HUGE_VAL, high = 0.0;
    for (const json* const row : rows) {
      const auto k = number_of(*row, "k");
      const auto value = number_of(*row, "error");
      if (!k || !value) continue;
      const double se = number_of(*row, "stderr").value_or(0.0);
      ks.push_back(*k);
      error.emplace_back(*k, *value);
      low = std::min(low, *value - se);
      high = std::max(high, *value + se);
      if (const auto flattering = number_of(*row, "apparent_error")) {
        apparent.emplace_back(*k, *flattering);
        low = std::min(low, *flattering);
      }
      if (const auto permuted = number_of(*row, "null_error")) {
        null.emplace_back(*k, *permuted);
        high = std::max(high, *permuted);
      }
    }
    if (ks.size() < 2) return;
    const auto trivial = number_of(choice, "trivial_error");
    if (trivial) high = std::max(high, *trivial);
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const Points points = errors_by_k(judged[i]);
      if (points.empty() || (judged[i].file == &file_ && judged[i].method == method)) continue;
      others.push_back(i);
      for (const auto& [k, value] : points) {
        ks.push_back(k);
        high = std::max(high, value);
      }
    }
    std::vector<SvgChart::Key> keys = {{"held-out rows ± standard error", ink::kAccent, Mark::kDot},
                                       {"training rows", ink::kMuted, Mark::kDashes}};
    if (trivial) keys.push_back({"always the largest class", ink::kText, Mark::kLine});
    if (!null.empty()) keys.push_back({"permuted labels", ink::kBad, Mark::kDashes});
    for (const std::size_t i : others)
      keys.push_back({label_of(judged[i].name), category_colour(i), Mark::kLine});
    const auto chosen = number_of(choice, "k_one_standard_error");
    const auto best = number_of(choice, "k_best");
    SvgChart chart(kChartWidth, 330.0, size_axis(ks),
                   {.label = "error", .low = std::max(0.0, 0.9 * low), .high = 1.05 * high, .percent = true},
                   keys);
    if (trivial) chart.across(*trivial, {ink::kText, 1.4});
    for (const std::size_t i : others) chart.curve(errors_by_k(judged[i]), {category_colour(i), 1.2});
    chart.curve(null, {ink::kBad, 2.0, "2 3"});
    chart.curve(apparent, {ink::kMuted, 1.6, "5 4"});
    for (const json* const row : rows) {
      const auto k = number_of(*row, "k");
      const auto se = number_of(*row, "stderr");
      const auto value = number_of(*row, "error");
      if (k && se && value) chart.upright(*k, *value - *se, *value + *se, {"#7fa9d0", 1.5});
    }
    chart.curve(error, {ink::kAccent, 2.0});
    for (const auto& [k, value] : error) {
      chart.dot(k, value, 3.2, ink::kAccent, ink::kAccent);
      const bool is_chosen = chosen && *chosen == k;
      if (!is_chosen && !(best && *best == k)) continue;
      chart.dot(k, value, 8.0, "none", ink::kText);
      chart.drawing().text(chart.x(k), chart.y(value) + (is_chosen ? 24.0 : -14.0),
                           is_chosen && chosen != best ? "1 s.e. choice" : "smallest error", Anchor::kMiddle);
    }
    keep("error", method, fmt::format("{}: error on held-out rows", method), chart.drawing());
  }

  void draw_confusion(const json& choice, const std::string& method) {
    const json& confusion = list_of(choice, "confusion");
    const std::size_t n = confusion.size();
    if (n == 0) return;
    const double side = n <= 3 ? 110.0 : std::clamp(640.0 / static_cast<double>(n), 6.0, 60.0);
    constexpr double kLeft = 130.0, kTop = 60.0;
    const bool named = side >= 12.0;
    SvgDrawing drawing(std::max(460.0, kLeft + side * static_cast<double>(n) + 12.0),
                       kTop + side * static_cast<double>(n) + 12.0);
    drawing.text(kLeft + 0.5 * side * static_cast<double>(n), 18.0, "named", Anchor::kMiddle, ink::kMuted);
    drawing.text_upwards(14.0, kTop + 0.5 * side * static_cast<double>(n), "true class", ink::kMuted);
    for (std::size_t i = 0; i < n; ++i) {
      const double y = kTop + side * static_cast<double>(i);
      const double middle = side * (static_cast<double>(i) + 0.5);
      if (named)
        drawing.text(kLeft - 8.0, y + 0.5 * side + 4.0, label_of(class_name(i), 13), Anchor::kEnd, ink::kText,
                     std::min(12.0, side));
      if (side >= 44.0)
        drawing.text(kLeft + middle, kTop - 8.0,
                     label_of(class_name(i), static_cast<std::size_t>(side / 7.0)), Anchor::kMiddle);
      double sum = 0.0;
      for (const json& value : confusion[i]) sum += value.get<double>();
      for (std::size_t j = 0; j < n; ++j) {
        const double value = confusion[i][j].get<double>();
        const double share = sum > 0.0 ? value / sum : 0.0;
        const double x = kLeft + side * static_cast<double>(j);
        drawing.rectangle(x + 1.0, y + 1.0, std::max(side - 2.0, 1.0), std::max(side - 2.0, 1.0),
                          shade_of(i == j ? ink::kAccent : ink::kNegative, share));
        if (side < 28.0) continue;
        const std::string_view fill = share > 0.55 ? ink::kPaper : ink::kText;
        drawing.text(x + 0.5 * side, y + 0.5 * side + (side > 60.0 ? 0.0 : 4.0), short_number(value),
                     Anchor::kMiddle, fill, side > 60.0 ? 18.0 : 11.0);
        if (side > 60.0)
          drawing.text(x + 0.5 * side, y + 0.5 * side + 18.0, fmt::format("{:.0f} %", 100.0 * share),
                       Anchor::kMiddle, fill);
      }
    }
    keep("confusion", method, fmt::format("{}: confusion matrix of the held-out rows", method), drawing);
  }

  void draw_unit_square(const json& choice, const char* what, const std::string& method,
                        const std::string& title, const char* along, const char* value, bool dots) {
    const json& points = list_of(choice, what);
    if (points.empty()) return;
    double most = 1.0;
    for (const json& point : points)
      most = std::max(most, point.size() > 2 && point[2].is_number() ? point[2].get<double>() : 0.0);
    SvgChart chart(440.0, 430.0, {.label = along, .low = 0.0, .high = 1.0},
                   {.label = value, .low = 0.0, .high = 1.0}, {});
    chart.curve({{0.0, 0.0}, {1.0, 1.0}}, {ink::kMuted, 1.0, "5 4"});
    Points curve;
    for (const json& point : points)
      if (point[0].is_number() && point[1].is_number())
        curve.emplace_back(point[0].get<double>(), point[1].get<double>());
    // What is found without a false alarm stands above the corner.
    Points line = curve;
    if (!dots && !line.empty() && line.front().second > 0.0) line.insert(line.begin(), {0.0, 0.0});
    chart.curve(line, {ink::kAccent, dots ? 1.2 : 2.2});
    for (std::size_t i = 0; dots && i < curve.size(); ++i) {
      const double rows = points[i].size() > 2 && points[i][2].is_number() ? points[i][2].get<double>() : 1.0;
      const double share = std::clamp(curve[i].second, 0.0, 1.0);
      const double spread = rows > 0.0 ? std::sqrt(share * (1.0 - share) / rows) : 0.0;
      chart.upright(curve[i].first, share - spread, share + spread, {"#7fa9d0", 1.5});
      chart.dot(curve[i].first, curve[i].second, 2.5 + 7.0 * std::sqrt(rows / most), ink::kAccent,
                ink::kPaper);
    }
    keep(what, method, title, chart.drawing());
  }

  void draw_projection(const json& choice, const std::string& method) {
    const json& points = list_of(choice, "projection");
    const json& classes = list_of(choice, "projection_classes");
    const json& rows = list_of(choice, "projection_rows");
    if (points.empty() || points[0].empty()) return;
    const bool flat = points[0].size() < 2;
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    std::set<std::size_t> present;
    const auto class_of = [&](std::size_t i) {
      return i < classes.size() ? classes[i].get<std::size_t>() : std::size_t{0};
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
      present.insert(class_of(i));
      for (std::size_t d = 0; d < points[i].size() && d < 2; ++d) {
        if (!points[i][d].is_number()) continue;
        low[d] = std::min(low[d], points[i][d].get<double>());
        high[d] = std::max(high[d], points[i][d].get<double>());
      }
    }
    // Beyond the last colour they begin again, as rings.
    const auto hollow = [](std::size_t c) { return c >= kCategoryColours; };
    std::vector<SvgChart::Key> keys;
    if (!classes.empty() && present.size() <= 2 * kCategoryColours) {
      for (const std::size_t c : present)
        keys.push_back({label_of(class_name(c)), category_colour(c), hollow(c) ? Mark::kRing : Mark::kDot});
    }
    if (flat && !classes.empty()) keys.push_back({"named wrongly", ink::kMuted, Mark::kRing});
    const std::vector<std::size_t> lanes(present.begin(), present.end());
    if (flat) {
      low[1] = -0.5;
      high[1] = static_cast<double>(lanes.size()) - 0.5;
    }
    SvgChart::Axis up{.label = flat ? "" : "second direction", .low = low[1], .high = high[1]};
    SvgChart chart(flat ? 760.0 : 640.0, flat ? 90.0 + 110.0 * static_cast<double>(lanes.size()) : 520.0,
                   {.label = flat ? "log odds of " + label_of(class_name(1)) : "first direction",
                    .low = low[0],
                    .high = high[0]},
                   up, keys);
    if (flat && low[0] < 0.0 && high[0] > 0.0) chart.upright(0.0, low[1], high[1], {ink::kText, 1.0});
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!points[i][0].is_number() || (!flat && !points[i][1].is_number())) continue;
      const std::size_t c = class_of(i);
      double y = 0.0;
      if (flat) {
        const double seed =
            i < rows.size() && rows[i].is_number() ? rows[i].get<double>() : static_cast<double>(i);
        const double wave = std::sin(12.9898 * (seed + 1.0)) * 43758.5453;
        const auto lane =
            static_cast<double>(std::lower_bound(lanes.begin(), lanes.end(), c) - lanes.begin());
        y = static_cast<double>(lanes.size()) - 1.0 - lane + 0.76 * (wave - std::floor(wave) - 0.5);
      } else {
        y = points[i][1].get<double>();
      }
      chart.dot(points[i][0].get<double>(), y, points.size() > 700 ? 2.2 : 3.4,
                hollow(c) || (flat && !classes.empty() && (points[i][0].get<double>() > 0.0) != (c == 1))
                    ? std::string(ink::kPaper)
                    : shade_of(category_colour(c), 0.75),
                category_colour(c));
    }
    for (std::size_t lane = 0; !classes.empty() && lane < lanes.size(); ++lane) {
      const std::size_t c = lanes[lane];
      if (flat) {
        chart.drawing().text(chart.x(low[0]), chart.y(static_cast<double>(lanes.size() - lane) - 0.56),
                             "true class " + label_of(class_name(c), 22));
        continue;
      }
      double x = 0.0, y = 0.0, count = 0.0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (class_of(i) != c || !points[i][0].is_number() || !points[i][1].is_number()) continue;
        x += points[i][0].get<double>();
        y += points[i][1].get<double>();
        count += 1.0;
      }
      if (!(count > 0.0)) continue;
      const std::string name = label_of(class_name(c), 16);
      const double half = 4.0 + 4.0 * static_cast<double>(name.size());
      chart.drawing().rectangle(chart.x(x / count) - half, chart.y(y / count) - 12.0, 2.0 * half, 16.0,
                                ink::kPaper);
      chart.drawing().text(chart.x(x / count), chart.y(y / count), name, Anchor::kMiddle, ink::kText, 13.0);
    }
    keep("projection", method, fmt::format("{}: held-out rows, projected", method), chart.drawing());
  }

  void draw_choice(const json& choice) {
    const std::string method = text_of(choice, "method");
    draw_confusion(choice, method);
    const auto auc = number_of(choice, "auc");
    draw_unit_square(choice, "roc", method,
                     auc ? fmt::format("{}: ROC, area {:.3f}", method, *auc) : method + ": ROC",
                     "false-positive rate", "true-positive rate", false);
    draw_unit_square(choice, "calibration", method, method + ": calibration", "probability that was said",
                     "share that was so", true);
    draw_projection(choice, method);
    std::vector<std::pair<std::string, double>> bars;
    std::map<Index, double> share;
    for (const json& feature : list_of(choice, "features")) {
      if (const auto frequency = number_of(feature, "frequency")) {
        bars.emplace_back(label_of(text_of(feature, "name")), *frequency);
        share[feature["index"].get<Index>()] = *frequency;
      }
    }
    if (bars.empty()) return;
    std::stable_sort(bars.begin(), bars.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    bars.resize(std::min(bars.size(), kMostBars));
    keep("frequency", method, fmt::format("{}: how often the folds chose each feature", method),
         bars_drawing(bars, "share of the folds", true));
    if (shape_) {
      draw_pixels("frequency-map", method, fmt::format("{}: how often the folds chose each pixel", method),
                  [&](Index pixel) {
                    const auto found = share.find(pixel);
                    return found == share.end() ? std::string(ink::kEmpty)
                                                : shade_of(ink::kAccent, found->second);
                  });
    }
  }

  void draw_curves(const std::vector<FigureMethod>& methods) {
    std::vector<double> ks;
    double low = HUGE_VAL, high = 0.0;
    std::vector<SvgChart::Key> keys;
    std::size_t curves = 0;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Points points = errors_by_k(methods[m]);
      if (points.empty()) continue;
      ++curves;
      keys.push_back({label_of(methods[m].name), category_colour(m), Mark::kLine});
      for (const auto& [k, error] : points) {
        ks.push_back(k);
        low = std::min(low, error);
        high = std::max(high, error);
      }
    }
    if (curves < 2) return;
    keys.push_back({"1 s.e. choice", ink::kMuted, Mark::kRing});
    SvgChart chart(kChartWidth, 330.0, size_axis(ks),
                   {.label = "error", .low = 0.95 * low, .high = 1.03 * high, .percent = true}, keys);
    for (std::size_t m = 0; m < methods.size(); ++m)
      chart.curve(errors_by_k(methods[m]), {category_colour(m), 2.0});
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const auto chosen =
          methods[m].choice == nullptr ? std::nullopt : number_of(*methods[m].choice, "k_one_standard_error");
      for (const auto& [k, error] : errors_by_k(methods[m]))
        if (chosen == k) chart.dot(k, error, 6.0, ink::kPaper, category_colour(m));
    }
    keep("compare", "", "Error of every method on held-out rows", chart.drawing());
  }

  void draw_ranking(const std::vector<FigureMethod>& methods) {
    std::vector<SvgDot> dots;
    std::optional<double> trivial;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      if (methods[m].choice == nullptr) continue;
      const json& choice = *methods[m].choice;
      const auto error = number_of(choice, "error");
      if (!error) continue;
      const auto k = number_of(choice, "k_one_standard_error");
      if (!trivial) trivial = number_of(choice, "trivial_error");
      dots.push_back({.name = label_of(methods[m].name) + (k ? fmt::format(", k = {:.0f}", *k) : ""),
                      .value = *error,
                      .spread = number_of(choice, "stderr").value_or(0.0),
                      .colour = category_colour(m)});
    }
    if (dots.size() < 2) return;
    std::stable_sort(dots.begin(), dots.end(),
                     [](const SvgDot& a, const SvgDot& b) { return a.value < b.value; });
    std::vector<SvgChart::Key> keys = {{"error ± standard error", ink::kAccent, Mark::kDot}};
    if (trivial) keys.push_back({"always the largest class", ink::kText, Mark::kLine});
    keep("ranking", "", "Errors on held-out rows, each method at its own choice of k",
         dots_drawing(dots, {.label = "error on held-out rows", .percent = true}, {ink::kText, 1.4}, trivial,
                      keys));
  }

  void draw_differences(const std::vector<FigureMethod>& methods) {
    constexpr std::size_t kMostPairs = 45;
    std::vector<SvgDot> dots;
    const json* before = nullptr;
    for (const FigureMethod& method : methods) {
      if (std::exchange(before, method.file) == method.file) continue;  // a file once
      for (const json& pair : list_of((*method.file)["result"], "comparison")) {
        const auto difference = number_of(pair, "difference");
        const json& names = list_of(pair, "methods");
        if (!difference || names.size() != 2 || dots.size() == kMostPairs) continue;
        const double spread = number_of(pair, "stderr").value_or(0.0);
        const bool clear = std::abs(*difference) > 2.0 * spread;
        dots.push_back({.name = fmt::format("{} \u2212 {}", label_of(names[0].get<std::string>(), 17),
                                            label_of(names[1].get<std::string>(), 17)),
                        .value = *difference,
                        .spread = spread,
                        .colour = clear ? ink::kAccent : ink::kMuted,
                        .hollow = !clear});
      }
    }
    if (dots.empty()) return;
    keep("differences", "", "Paired differences of the errors on the same folds, the better method first",
         dots_drawing(dots, {.label = "difference of the errors", .percent = true}, {ink::kText, 1.0}, 0.0,
                      {{"more than two standard errors apart", ink::kAccent, Mark::kDot},
                       {"not told apart", ink::kMuted, Mark::kRing}}));
  }

  void draw_stability(const std::vector<const json*>& rows, const std::string& method) {
    Points stability, band;
    std::vector<double> ks;
    double low = 0.0;
    for (const json* const row : rows) {
      const auto k = number_of(*row, "k");
      const auto value = number_of(*row, "stability");
      if (!k || !value) continue;
      ks.push_back(*k);
      stability.emplace_back(*k, *value);
      low = std::min(low, *value);
    }
    if (stability.size() < 2) return;
    low = std::max(low, -0.5);
    SvgChart chart(kChartWidth, 280.0, size_axis(ks),
                   {.label = "stability (1: always the same, 0: chance)", .low = low, .high = 1.0},
                   {{"stability", ink::kAccent, Mark::kDot}, {"95 % interval", ink::kAccent, Mark::kBand}});
    for (const int end : {0, 1}) {
      Points edge;
      for (const json* const row : rows) {
        const auto k = number_of(*row, "k");
        const json& ends = list_of(*row, "stability_interval");
        if (k && ends.size() == 2 && ends[0].is_number() && ends[1].is_number())
          edge.emplace_back(chart.x(*k), chart.y(ends[static_cast<std::size_t>(end)].get<double>()));
      }
      if (end == 1) std::reverse(edge.begin(), edge.end());
      band.insert(band.end(), edge.begin(), edge.end());
    }
    chart.drawing().area(band, ink::kAccent, 0.15);
    chart.curve(stability, {ink::kAccent, 2.0});
    for (const auto& [k, value] : stability) chart.dot(k, value, 3.2, ink::kAccent, ink::kAccent);
    keep("stability", method, fmt::format("{}: how alike the sets of different folds are", method),
         chart.drawing());
  }

  void draw_evaluation() {
    const std::vector<FigureMethod> judged = figure_methods(page_, problem_of(file_));
    for (const FigureMethod& own : judged) {
      if (own.file != &file_) continue;
      draw_errors(own.method, own.rows, own.choice == nullptr ? json() : *own.choice, judged);
      draw_stability(own.rows, own.method);
      if (own.choice != nullptr) draw_choice(*own.choice);
    }
  }

  /// What a model file says that no evaluation beside it does.
  void draw_model() {
    const std::string method = text_of(result_, "method");
    json choice = member_of(result_, "chosen_by");
    if (!choice.is_object()) return;
    choice["method"] = method;
    draw_compared(choice, method);
    const bool told = std::any_of(page_["files"].begin(), page_["files"].end(), [](const json& file) {
      return text_of(file["result"], "schema").starts_with("subspectra.evaluation/");
    });
    if (!told) draw_choice(choice);
    const bool listed = std::any_of(page_["files"].begin(), page_["files"].end(), [](const json& file) {
      return text_of(file["result"], "schema").starts_with("subspectra.selection/");
    });
    const json& values = list_of(result_, "discriminants");
    const json& names = list_of(result_, "names");
    if (listed || values.empty() || !values[0].is_array()) return;
    for (std::size_t c = 0; c < std::min<std::size_t>(values[0].size(), 6); ++c) {
      std::vector<std::pair<std::string, double>> bars;
      for (std::size_t i = 0; i < values.size() && i < names.size(); ++i) {
        if (values[i].is_array() && c < values[i].size() && values[i][c].is_number())
          bars.emplace_back(label_of(names[i].get<std::string>()), values[i][c].get<double>());
      }
      if (bars.empty()) return;
      keep(c == 0 ? "loadings" : fmt::format("loadings-{}", c + 1), method,
           fmt::format("{}: loadings, {}", method, counted(names.size(), "feature")),
           bars_drawing(largest_bars(std::move(bars)), "loading", false));
    }
  }

  void draw_compared(const json& choice, const std::string& method) {
    std::vector<SvgDot> dots;
    const std::string used = text_of(member_of(choice, "used"), "method");
    bool others = false;
    for (const json& one : list_of(choice, "candidates")) {
      const auto error = number_of(one, "error");
      if (!error) continue;
      const auto k = number_of(one, "k");
      const bool taken = text_of(one, "method") == used;
      others = others || !taken;
      dots.push_back({.name = label_of(text_of(one, "method")) + (k ? fmt::format(", k = {:.0f}", *k) : ""),
                      .value = *error,
                      .spread = number_of(one, "stderr").value_or(0.0),
                      .colour = taken ? ink::kAccent : ink::kMuted,
                      .hollow = !taken});
    }
    if (dots.size() < 2) return;
    std::stable_sort(dots.begin(), dots.end(),
                     [](const SvgDot& a, const SvgDot& b) { return a.value < b.value; });
    std::vector<SvgChart::Key> keys = {{"taken", ink::kAccent, Mark::kDot}};
    if (others) keys.push_back({"not taken", ink::kMuted, Mark::kRing});
    keep("compared", method, fmt::format("{}: errors in the inner folds", method),
         dots_drawing(dots, {.label = "error on inner held-out rows", .percent = true}, {}, std::nullopt,
                      keys));
  }

  // --- clusterings and experiments

  void draw_eigenvalues(const json& partition, const char* what, const char* title,
                        const std::string& method) {
    Points points;
    double low = 0.0, high = 0.0;
    for (const json& value : list_of(partition, "eigenvalues")) {
      points.emplace_back(static_cast<double>(points.size() + 1),
                          value.is_number() ? value.get<double>() : 0.0);
      low = std::min(low, points.back().second);
      high = std::max(high, points.back().second);
    }
    if (points.empty()) return;
    const auto gap = number_of(member_of(partition, "eigen_gap"), "clusters");
    std::vector<SvgChart::Key> keys;
    if (gap)
      keys.push_back({fmt::format("largest relative fall, after {:.0f}", *gap), ink::kWarn, Mark::kDashes});
    SvgChart chart(
        560.0, 270.0,
        {.label = "eigenvalue", .low = 1.0, .high = static_cast<double>(points.size()), .whole = true},
        {.label = "size", .low = low, .high = high}, keys);
    if (gap) chart.upright(*gap + 0.5, low, high, {ink::kWarn, 1.8, "5 4"});
    for (const auto& [rank, value] : points) {
      chart.upright(rank, 0.0, value, {ink::kAccent, 2.0});
      chart.dot(rank, value, 4.5, ink::kAccent, ink::kAccent);
    }
    keep(what, method, title, chart.drawing());
  }

  void draw_clustering() {
    const std::string method = text_of(result_, "method");
    std::vector<std::pair<std::string, double>> sizes;
    sizes.reserve(list_of(result_, "sizes").size());
    for (const json& size : list_of(result_, "sizes"))
      sizes.emplace_back(fmt::format("cluster {}", sizes.size()),
                         size.is_number() ? size.get<double>() : 0.0);
    if (!sizes.empty()) keep("clusters", method, "Rows of each cluster", bars_drawing(sizes, "rows", false));
    draw_eigenvalues(result_, "eigenvalues", "Eigenvalues, chosen features", method);
    if (const json& all = member_of(result_, "all_features"); all.is_object())
      draw_eigenvalues(all, "eigenvalues-all", "Eigenvalues, all features", method);
    draw_weights(method);
  }

  void draw_reproduction() {
    static const std::set<std::string> kKnown = {"name",     "series", "published",
                                                 "obtained", "spread", "published_text"};
    std::string axis;
    std::vector<std::string> series;
    std::map<std::string, Points> points, published;
    std::vector<double> xs;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const json& finding : list_of(result_, "results")) {
      const auto obtained = number_of(finding, "obtained");
      for (const auto& [name, value] : finding.items()) {
        if (kKnown.contains(name) || !value.is_number() || !obtained) continue;
        axis = name;
        const std::string own = text_of(finding, "series");
        if (!points.contains(own)) series.push_back(own);
        points[own].emplace_back(value.get<double>(), *obtained);
        xs.push_back(value.get<double>());
        low = std::min(low, *obtained);
        high = std::max(high, *obtained);
        if (const auto printed = number_of(finding, "published")) {
          published[own].emplace_back(value.get<double>(), *printed);
          low = std::min(low, *printed);
          high = std::max(high, *printed);
        }
        break;
      }
    }
    if (xs.size() < 2) return;
    std::vector<SvgChart::Key> keys;
    keys.reserve(16);
    for (std::size_t i = 0; i < std::min<std::size_t>(series.size(), 16); ++i)
      keys.push_back({label_of(series[i], 40), category_colour(i), Mark::kLine});
    if (!published.empty()) keys.push_back({"published", ink::kMuted, Mark::kRing});
    SvgChart::Axis along = size_axis(xs);
    along.label = label_of(axis, 40);
    SvgChart chart(kChartWidth, 340.0, along, {.label = "obtained", .low = low, .high = high}, keys);
    for (std::size_t i = 0; i < series.size(); ++i) {
      std::sort(points[series[i]].begin(), points[series[i]].end());
      chart.curve(points[series[i]], {category_colour(i), 2.0});
      for (const auto& [x, value] : published[series[i]])
        chart.dot(x, value, 5.0, ink::kPaper, category_colour(i));
    }
    keep("curves", text_of(result_, "id"), text_of(result_, "source") + ", run again", chart.drawing());
  }

  const json& page_;
  const json& file_;
  const json& result_;
  std::optional<std::pair<Index, Index>> shape_;
  std::string suffix_;
  std::vector<PageFigure>& out_;
};

}  // namespace

std::vector<PageFigure> page_figures(const json& data) {
  std::vector<PageFigure> figures;
  std::map<std::string, int> times;
  for (const json& file : data["files"]) {
    const json& result = file["result"];
    const std::string kind = text_of(result, "schema") + text_of(result, "method");
    const int number = ++times[kind];
    std::optional<std::pair<Index, Index>> shape;
    const json& described = member_of(result, "data");
    if (data["shape"].is_array()) {
      const auto height = data["shape"][0].get<Index>();
      const auto width = data["shape"][1].get<Index>();
      if (number_of(described, "features") == static_cast<double>(height * width)) shape = {height, width};
    }
    ResultFigures(data, file, shape, number > 1 ? std::to_string(number) : std::string(), figures).draw();
  }
  std::set<std::string> problems;
  std::size_t compared = 0;
  for (const json& file : data["files"]) {
    const std::string problem = problem_of(file);
    if (!problems.insert(problem).second) continue;
    const std::vector<FigureMethod> methods = figure_methods(data, problem);
    if (methods.size() < 2) continue;
    ++compared;
    ResultFigures(data, file, std::nullopt, compared > 1 ? std::to_string(compared) : std::string(), figures)
        .draw_comparison(methods);
  }
  return figures;
}

}  // namespace subspectra
