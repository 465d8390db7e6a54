#include "data/derived_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/text.hpp"

namespace subspectra {

void append_features(DatasetParts& data, const Matrix& columns, const std::vector<std::string>& added,
                     MemoryBudget* counted_in) {
  const Index p = data.features();
  MemoryBudget unlimited;
  MemoryBudget& memory = counted_in == nullptr ? unlimited : *counted_in;
  const MemoryPurpose purpose{.what = fmt::format("{}: a table of {} rows x {} features", data.source,
                                                  columns.rows(), p + columns.cols()),
                              .advice = "take fewer features or rows, or raise ⟨memory_limit⟩"};
  // Growing may copy: for a while the table stands twice.
  if (data.is_sparse) {
    HeldMemory twice(memory);
    twice.grow(static_cast<std::size_t>(data.sparse.nonZeros()) * 12, purpose);
    Index entries = 0;
    for (Index j = 0; j < columns.cols(); ++j) entries += (columns.col(j).array() != 0.0).count();
    memory.take(12.0 * static_cast<double>(entries), purpose);
    SparseMatrix wide(data.sparse.rows(), p + columns.cols());
    wide.reserve(data.sparse.nonZeros() + entries);
    for (Index j = 0; j < wide.cols(); ++j) {
      wide.startVec(j);
      if (j < p) {
        for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it)
          wide.insertBack(it.row(), j) = it.value();
        continue;
      }
      for (Index i = 0; i < columns.rows(); ++i) {
        if (columns(i, j - p) != 0.0) wide.insertBack(i, j) = columns(i, j - p);
      }
    }
    wide.finalize();
    data.sparse.swap(wide);
  } else {
    HeldMemory twice(memory);
    twice.grow(static_cast<std::size_t>(data.dense.size()) * sizeof(double), purpose);
    memory.take(8.0 * static_cast<double>(columns.size()), purpose);
    data.dense.conservativeResize(columns.rows(), p + columns.cols());
    data.dense.rightCols(columns.cols()) = columns;
  }
  for (const std::string& name : data.names.list())
    memory.grow(sizeof(std::string) + MemoryBudget::on_heap(name.size()), purpose);
  std::vector<std::string> names = data.names.all();
  names.insert(names.end(), added.begin(), added.end());
  data.names = FeatureNames(std::move(names));
  data.categories = category_groups(data.names, data.derived);
}

namespace {

/// 1 where one of these features is missing.
Vector missing_in(const Dataset& data, const std::vector<Index>& features) {
  Vector missing = Vector::Zero(data.rows());
  for (const Index j : features) {
    data.values().each_entry(j, [&](Index row, double value) {
      if (std::isnan(value)) missing[row] = 1.0;
    });
  }
  return missing;
}

/// The features that are, or were made of, this column.
std::vector<Index> features_of(const Dataset& data, const std::string& column,
                               const std::vector<DerivedFeature>& derived) {
  std::vector<std::string> names = {column};
  for (const DerivedFeature& feature : derived) {
    if (feature.column == column && feature.value) names.push_back(feature.name);
  }
  std::vector<Index> features;
  for (const auto& found : data.names().find_each(names))
    features.insert(features.end(), found.begin(), found.end());
  return features;
}

Dataset with_indicators(Dataset data, const std::vector<DerivedFeature>& made,
                        const std::vector<DerivedFeature>& of_categories, std::uint64_t memory_limit) {
  MemoryBudget memory(memory_limit);
  memory.take(static_cast<double>(data.rows()) * static_cast<double>(made.size()) * sizeof(double),
              {.what = fmt::format("{} that {} where values are missing", counted(made.size(), "feature"),
                                   made.size() == 1 ? "says" : "say"),
               .advice = "fill gaps in without them (⟨missing mean⟩), or raise ⟨memory_limit⟩"});
  Matrix columns(data.rows(), static_cast<Index>(made.size()));
  std::vector<std::string> names;
  for (std::size_t k = 0; k < made.size(); ++k) {
    columns.col(static_cast<Index>(k)) = missing_in(data, features_of(data, made[k].column, of_categories));
    names.push_back(made[k].name);
  }
  DatasetParts parts = std::move(data).parts();
  parts.derived.insert(parts.derived.end(), made.begin(), made.end());
  append_features(parts, columns, names, &memory);
  return Dataset(std::move(parts));
}

}  // namespace

Dataset with_missing_indicators(Dataset data, const std::vector<Index>& with_gaps,
                                std::uint64_t memory_limit) {
  std::vector<DerivedFeature> made;
  const std::vector<DerivedFeature> derived = data.details().derived;
  for (const Index j : with_gaps) {
    const std::string name = data.names()[j];
    const auto of = std::find_if(derived.begin(), derived.end(),
                                 [&](const DerivedFeature& feature) { return feature.name == name; });
    const std::string column = of == derived.end() ? name : of->column;
    const bool there =
        std::any_of(made.begin(), made.end(), [&](const auto& one) { return one.column == column; });
    if (!there) made.push_back({.name = column + " is missing", .column = column});
  }
  return made.empty() ? data : with_indicators(std::move(data), made, derived, memory_limit);
}

Dataset with_missing_indicators(const Dataset& data, const std::vector<DerivedFeature>& features) {
  std::vector<DerivedFeature> made;
  for (const DerivedFeature& feature : features) {
    if (feature.value || !data.names().find(feature.name).empty()) continue;
    if (!features_of(data, feature.column, data.details().derived).empty()) made.push_back(feature);
  }
  return made.empty() ? data : with_indicators(data, made, data.details().derived, 0);
}

std::shared_ptr<const FeatureGroups> category_groups(const FeatureNames& names,
                                                     const std::vector<DerivedFeature>& derived) {
  std::unordered_map<std::string_view, const DerivedFeature*> made;
  for (const DerivedFeature& feature : derived) made.emplace(feature.name, &feature);
  FeatureGroups groups;
  std::map<std::string_view, Index> place;  // of a column's group
  for (Index j = 0; j < names.size(); ++j) {
    const auto found = made.find(names.list()[static_cast<std::size_t>(j)]);
    const bool alone = found == made.end() || !found->second->value;
    const auto size = static_cast<Index>(groups.names.size());
    const auto [at, is_new] =
        alone ? std::pair(place.end(), true) : place.try_emplace(found->second->column, size);
    if (is_new) {
      groups.names.push_back(alone ? names[j] : found->second->column);
      groups.members.emplace_back();
    }
    const Index group = is_new ? size : at->second;
    groups.members[static_cast<std::size_t>(group)].push_back(j);
    groups.group_of.push_back(group);
  }
  if (groups.size() == names.size()) return nullptr;
  return std::make_shared<const FeatureGroups>(std::move(groups));
}

}  // namespace subspectra
