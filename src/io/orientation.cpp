#include "io/orientation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/text.hpp"
#include "io/text_kinds.hpp"

namespace subspectra {

/// Features in rows and samples in columns: the other way round from here on.
void transpose_table(Assembly& assembly) {
  if (assembly.table.columns)
    throw BadInput({.file = assembly.table.source},
                   "a table that is read in blocks cannot be transposed; write it with samples in rows");
  assembly.drop_index_columns();
  for (Index j = 0; j < assembly.table.names.size(); ++j) {
    if (assembly.is_ignored(assembly.table.names[j])) assembly.used_features.push_back(j);
  }
  assembly.drop_used_features();
  assembly.used_features.clear();
  assembly.table.nameless.clear();
  assembly.data.understood.clear();
  const Index samples = assembly.table.names.size();
  const Index features =
      assembly.table.is_sparse ? assembly.table.sparse.rows() : assembly.table.dense.rows();
  const MemoryPurpose purpose{.what = fmt::format("{}: the table of {} features x {} samples, transposed",
                                                  assembly.table.source, features, samples),
                              .advice = "take fewer features or samples, or raise ⟨memory_limit⟩"};
  HeldMemory twice(assembly.memory);
  if (assembly.table.is_sparse) {
    twice.grow(static_cast<std::size_t>(assembly.table.sparse.nonZeros()) * 12 +
                   static_cast<std::size_t>(features) * 8,
               purpose);
    SparseMatrix turned(assembly.table.sparse.transpose());
    assembly.table.sparse.swap(turned);
  } else {
    twice.grow(static_cast<std::size_t>(assembly.table.dense.size()) * sizeof(double), purpose);
    Matrix turned = assembly.table.dense.transpose();
    assembly.table.dense.swap(turned);
  }
  std::size_t named = assembly.table.side.size();
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    const SideColumn& side = assembly.table.side[s];
    if (assembly.is_ignored(side.name)) continue;
    if (side.name == assembly.options.id) named = s;
    if (named == assembly.table.side.size() && !side.is_numeric &&
        all_differ(side.values, assembly.memory, assembly.purpose))
      named = s;
  }
  SideColumn ids;
  ids.name = "sample";
  ids.may_be_ignored = true;
  ids.is_id = true;
  const bool has_ids = assembly.table.names.given();
  for (Index i = 0; i < samples && has_ids; ++i)
    assembly.memory.append(ids.values, assembly.table.names[i], assembly.purpose);
  std::vector<std::string> left_out;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    if (s != named) left_out.push_back(assembly.table.side[s].name);
  }
  assembly.table.names = named < assembly.table.side.size()
                             ? FeatureNames(std::move(assembly.table.side[named].values))
                             : FeatureNames(features);
  assembly.table.side.clear();
  if (has_ids) assembly.table.side.push_back(std::move(ids));
  if (!left_out.empty())
    assembly.data.notes.push_back(
        fmt::format("columns beside the features are left out: {}", listed(left_out)));
  assembly.data.notes.push_back(
      fmt::format("transposed: {} features in rows, {} samples in columns", features, samples));
  assembly.table.samples_in_rows = true;
  assembly.was_turned = true;
}

/// The columns that a model needs are the names of rows: the samples stand in the columns.
void turn_for_needs(Assembly& assembly) {
  if (assembly.options.needed.empty() || assembly.options.transpose || assembly.table.samples_in_rows ||
      !assembly.table.names.given())
    return;
  const auto is_there = [&](const std::string& name) { return assembly.has_column(name); };
  if (std::any_of(assembly.options.needed.begin(), assembly.options.needed.end(), is_there)) return;
  for (const SideColumn& side : assembly.table.side) {
    if (side.is_numeric) continue;
    const std::unordered_set<std::string_view> names(side.values.begin(), side.values.end());
    const auto is_named = [&](const std::string& name) { return names.contains(name); };
    if (names.size() < side.values.size() ||
        !std::all_of(assembly.options.needed.begin(), assembly.options.needed.end(), is_named))
      continue;
    const std::string column = shown(side.name);
    transpose_table(assembly);
    assembly.data.understood.push_back(
        fmt::format("transposed, since the features stand in column {}", column));
    return;
  }
}

/// Reads `labels`. Ids that are the names of columns say that the samples stand there.
void read_labels(Assembly& assembly) {
  if (assembly.options.labels.empty()) return;
  assembly.label_file = read_sample_table(parse_labels_option(assembly.options.labels).file,
                                          assembly.options.na, assembly.memory);
  if (assembly.table.samples_in_rows || assembly.options.transpose || !assembly.table.names.given()) return;
  std::size_t in_rows = 0;
  for (const SideColumn& side : assembly.table.side) {
    if (!side.is_numeric) in_rows = std::max(in_rows, match_ids(*assembly.label_file, side.values).found);
  }
  const std::size_t in_columns = match_ids(*assembly.label_file, assembly.table.names.all()).found;
  if (in_columns <= in_rows || in_columns < 2) return;
  transpose_table(assembly);
  assembly.data.understood.emplace_back("transposed, since the sample ids are names of columns");
}

}  // namespace subspectra
