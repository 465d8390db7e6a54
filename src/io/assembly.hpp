#pragma once
/// A table on its way from its reader to a Dataset: which columns have found their use, and what every step
/// of assemble() asks of them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/derived_features.hpp"
#include "io/raw_table.hpp"
#include "io/sample_labels.hpp"

namespace subspectra {

/// A column of the table by name: a side column, or one of the numbers.
struct FoundColumn {
  std::ptrdiff_t side = -1;
  Index feature = -1;
  [[nodiscard]] bool any() const { return side >= 0 || feature >= 0; }
};

/// Features that are made of a text column.
struct PlannedFeatures {
  std::vector<std::string> texts;
  std::vector<DerivedFeature> features;
  std::optional<Location> first_missing;
};

/// Names as errors list them: some of them, in quotes.
inline constexpr std::size_t kMostListed = 5;
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

struct Assembly {
  // By reference, filling `made` in place: Eigen 3.4's sparse matrices copy when they are moved.
  Assembly(RawTable& raw, const ReadOptions& asked, DatasetParts& made);

  RawTable& table;
  const ReadOptions& options;
  DatasetParts& data;
  std::shared_ptr<MemoryBudget> budget;
  MemoryBudget& memory;
  MemoryPurpose purpose;
  bool was_turned = false;           ///< features stood in rows
  bool knows_needs = false;          ///< options.needed names columns of this table
  std::vector<std::string> ignored;  ///< options.ignore, patterns spelled out
  std::vector<std::size_t> used_side;
  std::vector<Index> used_features;
  std::vector<std::size_t> ids;  ///< side columns that name the rows, the one that is kept first
  std::vector<std::string> named_categories;
  std::optional<SampleTable> label_file;
  std::vector<PlannedFeatures> planned;

  /// The only column of that name, for the option that asks for it.
  [[nodiscard]] FoundColumn named(std::string_view name, std::string_view option) const;
  [[nodiscard]] bool is_ignored(const std::string& name) const {
    return std::find(ignored.begin(), ignored.end(), name) != ignored.end();
  }
  /// Text is no mistake in this column: the user leaves it out, or has no need of it.
  [[nodiscard]] bool may_hold_text(const std::string& name) const {
    return is_ignored(name) || (knows_needs && std::find(options.needed.begin(), options.needed.end(),
                                                         name) == options.needed.end());
  }
  [[nodiscard]] bool has_column(std::string_view name) const;
  [[nodiscard]] bool is_used(std::size_t side) const {
    return std::find(used_side.begin(), used_side.end(), side) != used_side.end();
  }
  [[nodiscard]] bool is_id_column(std::size_t side) const {
    return std::find(ids.begin(), ids.end(), side) != ids.end();
  }
  [[nodiscard]] bool is_named_category(const std::string& name) const {
    return std::find(named_categories.begin(), named_categories.end(), name) != named_categories.end();
  }
  /// ⟨id⟩ names a column of this table; where features stood in rows it was that of their names.
  [[nodiscard]] bool asks_for_id() const {
    return !options.id.empty() && !was_turned && !(options.id_optional && !has_column(options.id));
  }
  [[nodiscard]] std::string name_of(const FoundColumn& found) const {
    return found.side >= 0 ? table.side[static_cast<std::size_t>(found.side)].name
                           : table.names[found.feature];
  }
  /// For what the reader did not place by itself; rows count from 0, as in arrays.
  [[nodiscard]] Location row_place(std::string_view what, const std::string& column, Index row) const {
    return {.file = table.source, .place = fmt::format("{} {}, row {}", what, shown(column), row)};
  }

  /// The values of a column as text ("" for missing): those of a side column where they stand, numbers in
  /// `made`. The column is used then.
  const std::vector<std::string>& texts_of(const FoundColumn& found, std::vector<std::string>& made);
  Vector numbers_of(const FoundColumn& found);
  /// The values of one column of a table that is not sparse.
  [[nodiscard]] Vector dense_column(Index feature) const;

  void spell_out_ignored();
  /// Columns that count the rows from 0 or 1 and have no name, or that of an index, are used then.
  void drop_index_columns();
  /// Takes the columns of `used_features` out of the numbers.
  void drop_used_features();
};

}  // namespace subspectra
