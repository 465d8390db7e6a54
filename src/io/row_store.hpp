#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "core/types.hpp"

namespace subspectra {

/// Rows of unknown number on their way to a column-major matrix, at little more than the memory of the matrix
/// itself.
///
/// Rows are gathered in blocks of `rows_a_block`. Inside a block the columns are cut into strips of 512 (one
/// page a row), strip after strip, each strip row-major. take() fills the matrix strip by strip and gives
/// each piece back to the system as soon as it is copied, so the pages of the matrix come into use as those
/// of the store go out of it.
class RowStore {
 public:
  /// `source` is for the refusal of a table that does not fit into what `memory` leaves.
  RowStore(Index width, const std::string& source, MemoryBudget& memory);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  [[nodiscard]] std::span<double> row() {
    return row_;
  }  ///< the row being filled; keeps its values after commit()
  void commit();
  [[nodiscard]] Index rows() const { return rows_; }
  /// The N x |columns| matrix of these columns (ascending); the store is empty afterwards. Its memory has
  /// become that of the matrix and stays taken.
  [[nodiscard]] Matrix take(const std::vector<Index>& columns);

 private:
  [[nodiscard]] std::size_t block_bytes() const;
  void add_block();
  void release_all();

  Index width_;
  Index rows_a_block_;
  Index rows_ = 0;
  Index rows_taken_ = 0;  ///< rows for which memory was taken
  MemoryBudget& memory_;
  MemoryPurpose purpose_;
  std::vector<double> row_;
  std::vector<double*> blocks_;
};

}  // namespace subspectra
