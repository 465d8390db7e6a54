#pragma once
#include <string>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// Sparse rows on their way to compressed columns. Memory: 12 bytes an entry here and 12 in the result, plus
/// 4 a column.
class SparseRows {
 public:
  /// `source` and `memory_limit` (0: what is free) are for the refusal of a table that does not fit.
  SparseRows(std::string source, std::uint64_t memory_limit);
  void add(int column, double value) {
    columns_.push_back(column);
    values_.push_back(value);
  }
  void end_row() { row_ends_.push_back(columns_.size()); }
  [[nodiscard]] Index rows() const { return static_cast<Index>(row_ends_.size()); }
  [[nodiscard]] Index values() const { return static_cast<Index>(values_.size()); }
  /// The N x width matrix, compressed, rows ascending in every column. The rows here are gone afterwards.
  [[nodiscard]] SparseMatrix take(Index width);

 private:
  std::string source_;
  std::uint64_t memory_limit_;
  std::vector<std::size_t> row_ends_;
  std::vector<int> columns_;
  std::vector<double> values_;
};

}  // namespace subspectra
