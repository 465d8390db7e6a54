#include "io/table_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace subspectra {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

TableBuilder::TableBuilder(std::string file, TableLimits limits) : limits_(limits) {
  table_.source = std::move(file);
  table_.memory = std::make_shared<MemoryBudget>(limits.memory_limit);
}

void TableBuilder::damaged(const std::string& what) const {
  throw BadInput({.file = table_.source, .place = place_},
                 fmt::format("damaged: {}; write the file again from its source", what));
}

void TableBuilder::check_shape(Index rows, Index columns, double values, double bytes) {
  if (begun_) damaged("two tables in one file");
  if (rows < 1 || columns < 1) {
    throw BadInput(
        {.file = table_.source, .place = place_},
        fmt::format(
            "holds no values ({} rows x {} columns); a table with samples in rows and features in columns is needed",
            rows, columns));
  }
  if (values > limits_.most_values) {
    damaged(fmt::format("its header speaks of {} x {} values, more than the file can hold", rows, columns));
  }
  memory().take(bytes,
                {.what = fmt::format("{}: a table of {} rows x {} features", table_.source, rows, columns),
                 .advice = "take fewer features or rows, or raise ⟨memory_limit⟩"});
  begun_ = true;
  rows_ = rows;
  columns_ = columns;
}

void TableBuilder::note_flaw(Index row, Index column, double value) {
  if (std::isnan(value) ? table_.first_missing.has_value() : table_.first_infinite.has_value()) return;
  Location where{.file = table_.source, .place = fmt::format("{}, row {}, column {}", place_, row, column)};
  if (std::isnan(value)) {
    table_.first_missing = std::move(where);
  } else {
    table_.first_infinite = InfiniteCell{.where = std::move(where), .text = {}};
  }
}

void TableBuilder::begin_dense(Index rows, Index columns, TileOrder order, const std::string& place) {
  place_ = place;
  const double values = static_cast<double>(rows) * static_cast<double>(columns);
  check_shape(rows, columns, values, values * sizeof(double));
  order_ = order;
  // Left as the allocator gives it: finish() makes sure that every value has been set.
  table_.dense.resize(rows, columns);
}

void TableBuilder::dense_tile(Index rows, Index columns, std::span<const double> values) {
  const bool by_rows = order_ == TileOrder::kRows;
  const Index width = by_rows ? rows : columns;   // across the band
  const Index length = by_rows ? columns : rows;  // along it
  const Index most_across = by_rows ? rows_ : columns_;
  const Index most_along = by_rows ? columns_ : rows_;
  if (!begun_ || table_.is_sparse || width < 1 || length < 1) damaged("values out of place");
  if (along_ == 0) {
    if (width > most_across - band_) damaged("more values than its shape says");
    band_width_ = width;
  }
  if (width != band_width_ || length > most_along - along_) damaged("values out of place");
  if (static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(length) != values.size()) {
    damaged("a block of values of the wrong size");
  }
  const Index row = by_rows ? band_ : along_;
  const Index column = by_rows ? along_ : band_;
  auto target = table_.dense.block(row, column, rows, columns);
  if (by_rows) {
    target = Eigen::Map<const RowMajor>(values.data(), rows, columns);
  } else {
    target = Eigen::Map<const Matrix>(values.data(), rows, columns);
  }
  const auto note_first = [&](const auto& is_flaw) {
    const auto found = std::find_if(values.begin(), values.end(), is_flaw);
    if (found == values.end()) return;
    const Index at = found - values.begin();
    note_flaw(row + (by_rows ? at / columns : at % rows), column + (by_rows ? at % columns : at / rows),
              *found);
  };
  if (!table_.first_missing) note_first([](double v) { return std::isnan(v); });
  if (!table_.first_infinite) note_first([](double v) { return std::isinf(v); });
  along_ += length;
  if (along_ == most_along) {
    along_ = 0;
    band_ += width;
  }
}

void TableBuilder::begin_sparse(Index rows, Index columns, std::span<const std::int32_t> counts,
                                const std::string& place) {
  place_ = place;
  if (rows > kMostSparse || columns > kMostSparse) {
    throw BadInput({.file = table_.source, .place = place_},
                   fmt::format("a sparse table of {} x {} is too large (2147483646 rows or columns at most)",
                               rows, columns));
  }
  if (static_cast<Index>(counts.size()) != columns) damaged("one count a column is needed");
  std::int64_t entries = 0;
  for (const std::int32_t count : counts) {
    if (count < 0) damaged("a negative number of entries in a column");
    entries += count;
  }
  if (entries > kMostSparse) {
    throw BadInput(
        {.file = table_.source, .place = place_},
        fmt::format("{} stored values are too many (2147483646 at most); split the table", entries));
  }
  const auto values = static_cast<double>(entries);
  check_shape(rows, columns, values, values * 12.0 + static_cast<double>(columns) * 8.0);  // cursor_ too
  table_.is_sparse = true;
  table_.sparse.resize(rows, columns);
  table_.sparse.resizeNonZeros(entries);
  auto* outer = table_.sparse.outerIndexPtr();
  outer[0] = 0;
  for (std::size_t j = 0; j < counts.size(); ++j) outer[j + 1] = outer[j] + counts[j];
  cursor_.assign(outer, outer + columns);
  sparse_left_ = entries;
}

void TableBuilder::sparse_entries(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                                  std::span<const double> values) {
  if (!begun_ || !table_.is_sparse || rows.size() != values.size() || columns.size() != values.size()) {
    damaged("sparse values out of place");
  }
  const auto* outer = table_.sparse.outerIndexPtr();
  auto* inner = table_.sparse.innerIndexPtr();
  auto* stored = table_.sparse.valuePtr();
  for (std::size_t e = 0; e < values.size(); ++e) {
    const std::int32_t i = rows[e];
    const std::int32_t j = columns[e];
    if (i < 0 || i >= rows_ || j < 0 || j >= columns_) {
      damaged(fmt::format("an entry at row {}, column {} of a {} x {} table", i, j, rows_, columns_));
    }
    std::int32_t& at = cursor_[static_cast<std::size_t>(j)];
    if (at >= outer[j + 1]) damaged(fmt::format("column {} has more entries than it says", j));
    if (at > outer[j] && inner[at - 1] >= i) sparse_in_order_ = false;
    inner[at] = i;
    stored[at] = values[e];
    ++at;
    if (!std::isfinite(values[e])) note_flaw(i, j, values[e]);
  }
  sparse_left_ -= static_cast<std::int64_t>(values.size());
}

/// Rows ascending within each column, entries at the same place added up: what scipy calls canonical.
void TableBuilder::sort_sparse_columns() {
  auto* outer = table_.sparse.outerIndexPtr();
  auto* inner = table_.sparse.innerIndexPtr();
  auto* stored = table_.sparse.valuePtr();
  std::vector<std::pair<std::int32_t, double>> column;
  std::int32_t kept = 0;
  for (Index j = 0; j < columns_; ++j) {
    column.clear();
    for (std::int32_t e = outer[j]; e < outer[j + 1]; ++e) column.emplace_back(inner[e], stored[e]);
    std::stable_sort(column.begin(), column.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::int32_t start = kept;
    for (const auto& [row, value] : column) {
      if (kept > start && inner[kept - 1] == row) {
        stored[kept - 1] += value;
      } else {
        inner[kept] = row;
        stored[kept] = value;
        ++kept;
      }
    }
    outer[j] = start;
  }
  outer[columns_] = kept;
  table_.sparse.resizeNonZeros(kept);
}

void TableBuilder::feature_names(std::vector<std::string> names) {
  if (!begun_ || table_.names.given() || static_cast<Index>(names.size()) != columns_) {
    damaged("one name a feature is needed");
  }
  table_.names = FeatureNames(std::move(names));
}

void TableBuilder::side_column(SideColumn column) {
  if (!begun_ || static_cast<Index>(column.values.size()) != rows_) {
    damaged(fmt::format("'{}' must have one value a row", column.name));
  }
  table_.side.push_back(std::move(column));
}

void TableBuilder::note(std::string text) {
  memory().append(table_.notes, text,
                  {.what = fmt::format("{}: what is said about it", table_.source),
                   .advice = "write the file again from its source"});
}

RawTable TableBuilder::finish() {
  if (!begun_) damaged("no table in it");
  if (table_.is_sparse) {
    if (sparse_left_ != 0) damaged("fewer sparse values than it says");
    if (!sparse_in_order_) sort_sparse_columns();
  } else if (band_ != (order_ == TileOrder::kRows ? rows_ : columns_) || along_ != 0) {
    damaged("fewer values than its shape says");
  }
  if (!table_.names.given()) table_.names = FeatureNames(columns_);
  return std::move(table_);
}

}  // namespace subspectra
