#pragma once
/// A RawTable made of what a decoder pushes. The builder trusts nobody: every size, index and order is
/// checked before memory is taken or written.
#include <string>
#include <vector>

#include "io/raw_table.hpp"
#include "io/table_sink.hpp"

namespace subspectra {

/// What a table may grow to.
struct TableLimits {
  double most_values = 0;          ///< dense values or sparse entries the file can hold
  std::uint64_t memory_limit = 0;  ///< as in MemoryBudget
};

class TableBuilder final : public TableSink {
 public:
  TableBuilder(std::string file, TableLimits limits);

  void begin_dense(Index rows, Index columns, TileOrder order, const std::string& place) override;
  void dense_tile(Index rows, Index columns, std::span<const double> values) override;
  void begin_sparse(Index rows, Index columns, std::span<const std::int32_t> counts,
                    const std::string& place) override;
  void sparse_entries(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                      std::span<const double> values) override;
  void feature_names(std::vector<std::string> names) override;
  void side_column(SideColumn column) override;
  void note(std::string text) override;

  [[nodiscard]] RawTable finish();  ///< throws BadInput when something is missing

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  /// Names, texts and notes are counted here by who makes them, before they are handed over.
  [[nodiscard]] MemoryBudget& memory() { return *table_.memory; }

 private:
  [[noreturn]] void damaged(const std::string& what) const;
  void check_shape(Index rows, Index columns, double values, double bytes);
  void note_flaw(Index row, Index column, double value);
  void sort_sparse_columns();

  RawTable table_;
  TableLimits limits_;
  std::string place_;
  bool begun_ = false;
  Index rows_ = 0, columns_ = 0;
  TileOrder order_ = TileOrder::kRows;
  Index band_ = 0, band_width_ = 0, along_ = 0;  ///< the place the next tile must start at
  std::vector<std::int32_t> cursor_;             ///< where the next entry of each sparse column goes
  bool sparse_in_order_ = true;
  std::int64_t sparse_left_ = 0;
};

}  // namespace subspectra
