#include "io/planned_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.hpp"
#include "io/categories.hpp"
#include "io/text_kinds.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

/// Every value stands in rows of one class alone, and so many of them that chance does not do it.
bool values_tell_the_class(const Assembly& assembly, const std::vector<std::string>& texts,
                           const std::map<std::string_view, std::size_t>& values) {
  constexpr std::size_t kByChance = 10;  // rows that agree with another one of their value
  if (!assembly.data.labels || assembly.data.labels->class_count() < 2 ||
      texts.size() < values.size() + kByChance)
    return false;
  std::map<std::string_view, int> class_of;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const int code = assembly.data.labels->codes[i];
    if (texts[i].empty() || code == Labels::kMissing) continue;
    if (class_of.try_emplace(texts[i], code).first->second != code) return false;
  }
  return true;
}

/// New rows with values that the model has not seen count as having none of those it has.
void warn_of_unknown_values(Assembly& assembly, const std::string& column,
                            const std::vector<std::string>& texts, const std::vector<DerivedFeature>& known) {
  std::vector<std::string> values;
  std::size_t rows = 0;
  for (const std::string& text : texts) {
    if (text.empty() || std::any_of(known.begin(), known.end(),
                                    [&](const DerivedFeature& feature) { return feature.value == text; }))
      continue;
    ++rows;
    if (std::find(values.begin(), values.end(), text) == values.end() && values.size() <= kMostListed)
      values.push_back(text);
  }
  if (rows == 0) return;
  assembly.data.warnings.push_back(
      fmt::format("column {} holds {} that the model has not seen ({}): there {} none of those it knows",
                  shown(column), values.size() == 1 ? "a value" : "values", listed(values),
                  rows == 1 ? "1 row has" : fmt::format("{} rows have", rows)));
}

}  // namespace

/// Which text columns become which features.
void plan_categories(Assembly& assembly) {
  if (assembly.knows_needs || (assembly.options.categorical == "none")) return;
  std::vector<std::string> said, leaks;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    const SideColumn& side = assembly.table.side[s];
    const bool named = assembly.is_named_category(side.name);
    if (assembly.is_used(s) || assembly.is_ignored(side.name) || side.is_label) continue;
    if (!named && (side.may_be_ignored || assembly.options.categorical != "auto")) continue;
    const auto first =
        std::find_if(side.values.begin(), side.values.end(), [](const auto& v) { return !v.empty(); });
    const bool has_numbers = first != side.values.end() && !decimal_comma_hint(*first).empty();
    if (!named && (has_numbers || are_dates(side.values))) continue;  // refused with words
    constexpr std::size_t kMostNamed = 1000;
    const auto values = values_of_category(side.values, named ? kMostNamed : kMostCategoryValues);
    if (!values || (!named && 2 * values->size() > side.values.size())) continue;
    if (values->size() < 2) {
      assembly.data.notes.push_back(
          fmt::format("column {} has the same text in every row and is left out", shown(side.name)));
      assembly.data.left_out.push_back(side.name);
      assembly.used_side.push_back(s);
      continue;
    }
    CategoryColumn category = category_of(side, *values);
    said.push_back(fmt::format("{} ({})", shown(side.name), category.values));
    if (values->size() > 2 && values_tell_the_class(assembly, side.values, *values))
      leaks.push_back(shown(side.name));
    assembly.data.derived.push_back(category.first);  // no feature, but a value that a model knows
    assembly.data.derived.insert(assembly.data.derived.end(), category.features.begin(),
                                 category.features.end());
    assembly.planned.push_back({.texts = std::move(assembly.table.side[s].values),
                                .features = std::move(category.features),
                                .first_missing = side.first_missing});
    assembly.used_side.push_back(s);
  }
  for (const std::string& name : assembly.named_categories) {  // columns of numbers
    const bool text = std::any_of(assembly.table.side.begin(), assembly.table.side.end(),
                                  [&](const SideColumn& side) { return side.name == name; });
    if (text || assembly.is_ignored(name)) continue;
    PlannedFeatures plan;
    static_cast<void>(assembly.texts_of(assembly.named(name, "categorical"), plan.texts));
    SideColumn column;
    column.name = name;
    const auto values = values_of_category(plan.texts, plan.texts.size());
    CategoryColumn category = category_of(column, *values);
    said.push_back(fmt::format("{} ({})", shown(name), category.values));
    assembly.data.derived.push_back(category.first);
    assembly.data.derived.insert(assembly.data.derived.end(), category.features.begin(),
                                 category.features.end());
    plan.features = std::move(category.features);
    assembly.planned.push_back(std::move(plan));
  }
  if (!leaks.empty())
    assembly.data.warnings.push_back(fmt::format(
        "the values of {} tell the class of every row: a possible leak; what is known only with the label is left out with ⟨exclude⟩",
        join_some(leaks)));
  if (!said.empty())
    assembly.data.understood.push_back(
        fmt::format("{} {}", said.size() == 1 ? "category" : "categories", join_some(said)));
}

/// The features of a model that are made of text columns, made again.
void plan_derived(Assembly& assembly) {
  std::vector<std::string> done;
  for (const DerivedFeature& first : assembly.options.derived) {
    if (!first.value || std::find(done.begin(), done.end(), first.column) != done.end()) continue;
    done.push_back(first.column);
    if (!assembly.has_column(first.column))
      throw BadInput(
          {.file = assembly.table.source},
          fmt::format("lacks column {}, of which the model makes {}; add it or rename a column to match",
                      shown(first.column), shown(first.name)));
    PlannedFeatures plan;
    for (const DerivedFeature& feature : assembly.options.derived) {
      if (feature.column == first.column && feature.value) plan.features.push_back(feature);
    }
    std::vector<std::string> made;
    const FoundColumn found = assembly.named(first.column, "categorical");
    plan.texts = assembly.texts_of(found, made);
    if (found.side >= 0)
      plan.first_missing = assembly.table.side[static_cast<std::size_t>(found.side)].first_missing;
    warn_of_unknown_values(assembly, first.column, plan.texts, plan.features);
    assembly.data.derived.insert(assembly.data.derived.end(), plan.features.begin(), plan.features.end());
    assembly.planned.push_back(std::move(plan));
  }
}

void add_planned(Assembly& assembly) {
  if (assembly.data.columns && !assembly.planned.empty())
    throw BadInput({.file = assembly.data.source},
                   "categories cannot be added to a table that is read in blocks; say ⟨categorical none⟩");
  for (const PlannedFeatures& plan : assembly.planned) {
    assembly.memory.grow(plan.texts.size() * plan.features.size() * sizeof(double), assembly.purpose);
    const Matrix columns = category_values(plan.texts, plan.features);
    std::vector<std::string> names;
    for (const DerivedFeature& feature : plan.features) names.push_back(feature.name);
    if (plan.first_missing &&
        (!assembly.data.first_missing ||
         (plan.first_missing->line > 0 && plan.first_missing->line < assembly.data.first_missing->line)))
      assembly.data.first_missing = plan.first_missing;
    append_features(assembly.data, columns, names, &assembly.memory);
    assembly.memory.give_back(static_cast<std::size_t>(columns.size()) * sizeof(double));
  }
}

}  // namespace subspectra
