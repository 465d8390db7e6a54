#include "io/assembly.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/name_patterns.hpp"
#include "io/text_kinds.hpp"
#include "io/text_scan.hpp"

namespace subspectra {

std::string listed(const std::vector<std::string>& names) {
  return join_some(
      names.size(), [&](std::size_t i) { return shown(names[i]); }, kMostListed);
}

Assembly::Assembly(RawTable& raw, const ReadOptions& asked, DatasetParts& made)
    : table(raw),
      options(asked),
      data(made),
      budget(raw.memory ? raw.memory : std::make_shared<MemoryBudget>(asked.memory_limit.bytes)),
      memory(*budget),
      purpose{.what = fmt::format("reading the names and labels of {}", raw.source),
              .advice = "leave columns of text out of the file, or raise ⟨memory_limit⟩"} {}

bool Assembly::has_column(std::string_view name) const {
  return !table.names.find(name).empty() ||
         std::any_of(table.side.begin(), table.side.end(),
                     [&](const SideColumn& side) { return side.name == name; });
}

FoundColumn Assembly::named(std::string_view name, std::string_view option) const {
  std::vector<FoundColumn> all;
  for (std::size_t s = 0; s < table.side.size(); ++s) {
    if (table.side[s].name == name) all.push_back({.side = static_cast<std::ptrdiff_t>(s), .feature = -1});
  }
  for (const Index j : table.names.find(name)) all.push_back({.side = -1, .feature = j});
  if (all.size() == 1) return all.front();
  if (all.size() > 1) {
    throw BadInput({.file = table.source},
                   fmt::format("{} columns are named {}, which {} asks for; give them different names",
                               all.size(), shown(name), marked_option(option)));
  }
  std::vector<std::string> side_names;
  for (const SideColumn& side : table.side) side_names.push_back(side.name);
  std::vector<std::string> near = near_names(name, side_names);
  for (std::string& other : table.names.near(name)) near.push_back(std::move(other));
  std::string advice =
      option == "target" ? "'⟨target none⟩' is for data without labels" : "check the spelling";
  if (!near.empty()) {
    advice = fmt::format("near names: {}", listed(near));
  } else if (!side_names.empty()) {
    advice = fmt::format("columns of text: {}", listed(side_names));
  }
  throw BadInput({.file = table.source},
                 fmt::format("{}: there is no column of that name; {}", marked_option(option, name), advice));
}

const std::vector<std::string>& Assembly::texts_of(const FoundColumn& found, std::vector<std::string>& made) {
  if (found.side >= 0) {
    const auto side = static_cast<std::size_t>(found.side);
    used_side.push_back(side);
    return table.side[side].values;
  }
  const Vector numbers = numbers_of(found);
  memory.make_room(made, static_cast<std::size_t>(numbers.size()), purpose);
  for (Index i = 0; i < numbers.size(); ++i) {
    memory.append(made, std::isnan(numbers[i]) ? std::string() : number_text(numbers[i]), purpose);
  }
  return made;
}

Vector Assembly::dense_column(Index feature) const {
  if (!table.columns) return table.dense.col(feature);
  Vector column(table.columns->rows());
  table.columns->read(feature, 1, column.data());
  return column;
}

Vector Assembly::numbers_of(const FoundColumn& found) {
  if (found.feature >= 0) {
    used_features.push_back(found.feature);
    if (!table.is_sparse) return dense_column(found.feature);
    return table.sparse.col(found.feature);
  }
  const SideColumn& side = table.side[static_cast<std::size_t>(found.side)];
  used_side.push_back(static_cast<std::size_t>(found.side));
  Vector numbers(static_cast<Index>(side.values.size()));
  for (std::size_t i = 0; i < side.values.size(); ++i) {
    double value = std::nan("");
    if (!side.values[i].empty() && !parse_number(trimmed(side.values[i]), value)) {
      throw BadInput(row_place("weight column", side.name, static_cast<Index>(i)),
                     no_weight_sentence(side.values[i], side.name));
    }
    numbers[static_cast<Index>(i)] = value;
  }
  return numbers;
}

void Assembly::spell_out_ignored() {
  const auto sides = static_cast<Index>(table.side.size());
  ignored = spelled_out(options.ignore, sides + table.names.size(), [&](Index column) {
    return column < sides ? table.side[static_cast<std::size_t>(column)].name : table.names[column - sides];
  });
}

/// Columns that count the rows from 0 or 1 and have no name, or that of an index.
void Assembly::drop_index_columns() {
  if (table.is_sparse || table.columns || !table.names.given() || table.dense.rows() < 2) return;
  std::vector<Index> gone;
  std::vector<std::string> said;
  for (Index j = 0; j < table.names.size(); ++j) {
    const std::string name = table.names[j];
    const bool nameless = std::binary_search(table.nameless.begin(), table.nameless.end(), j);
    if (!nameless && !is_name_of_index(name)) continue;
    if (std::find(options.needed.begin(), options.needed.end(), name) != options.needed.end()) continue;
    if (std::find(used_features.begin(), used_features.end(), j) != used_features.end()) continue;
    const double start = table.dense(0, j);
    if (start != 0.0 && start != 1.0) continue;
    bool counts = true;
    for (Index i = 0; i < table.dense.rows() && counts; ++i)
      counts = table.dense(i, j) == start + static_cast<double>(i);
    if (!counts) continue;
    gone.push_back(j);
    said.push_back(nameless ? "without a name" : shown(name));
    data.left_out.push_back(name);
  }
  if (gone.empty()) return;
  data.understood.push_back(fmt::format("index {} left out", fmt::join(said, ", ")));
  for (const std::string& one : said)
    data.notes.push_back(fmt::format("column {} counts the rows: an index, left out", one));
  used_features.insert(used_features.end(), gone.begin(), gone.end());
}

void Assembly::drop_used_features() {
  if (used_features.empty()) return;
  std::sort(used_features.begin(), used_features.end());
  used_features.erase(std::unique(used_features.begin(), used_features.end()), used_features.end());
  const Index p = table.names.size();
  std::vector<Index> kept;
  memory.make_room(kept, static_cast<std::size_t>(p), purpose);
  for (Index j = 0; j < p; ++j) {
    if (!std::binary_search(used_features.begin(), used_features.end(), j)) kept.push_back(j);
  }
  memory.grow(kept.size() * sizeof(std::string), purpose);
  for (const std::string& name : table.names.list()) memory.grow(MemoryBudget::on_heap(name.size()), purpose);
  table.names = table.names.selected(kept);
  if (table.columns) {
    table.columns = table.columns->selected(kept);
    return;
  }
  if (table.is_sparse) {
    memory.take(
        12.0 * static_cast<double>(table.sparse.nonZeros()) + 4.0 * static_cast<double>(kept.size() + 1),
        {.what = fmt::format("{}: the table without the columns that are no features", table.source),
         .advice = "write the labels beside the table, or raise ⟨memory_limit⟩"});
    SparseMatrix narrow(table.sparse.rows(), static_cast<Index>(kept.size()));
    narrow.reserve(table.sparse.nonZeros());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      narrow.startVec(static_cast<Index>(k));
      for (SparseMatrix::InnerIterator it(table.sparse, kept[k]); it; ++it) {
        narrow.insertBack(it.row(), static_cast<Index>(k)) = it.value();
      }
    }
    narrow.finalize();
    table.sparse.swap(narrow);
    return;
  }
  // In place: a copy would double the memory of a large table.
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] != static_cast<Index>(k)) table.dense.col(static_cast<Index>(k)) = table.dense.col(kept[k]);
  }
  table.dense.conservativeResize(Eigen::NoChange, static_cast<Index>(kept.size()));
}

}  // namespace subspectra
