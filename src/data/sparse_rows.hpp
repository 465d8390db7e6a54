#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "core/types.hpp"

namespace subspectra {

/// Sparse rows on their way to compressed columns. Memory: 12 bytes an entry here, which are given back piece
/// by piece while 12 in the result are filled, 8 a row, and 4 a column.
class SparseRows {
 public:
  /// `source` is for the refusal of a table that does not fit into what `memory` leaves.
  SparseRows(std::string source, MemoryBudget& memory);
  void add(int column, double value) {
    if (in_last_ == kPiece) add_piece();
    Piece& piece = *pieces_.back();
    piece.columns[in_last_] = column;
    piece.values[in_last_] = value;
    ++in_last_;
  }
  void end_row() {
    memory_.make_room(row_ends_, purpose_);
    row_ends_.push_back(static_cast<std::size_t>(values()));
  }
  [[nodiscard]] Index rows() const { return static_cast<Index>(row_ends_.size()); }
  [[nodiscard]] Index values() const {
    return pieces_.empty() ? 0 : static_cast<Index>((pieces_.size() - 1) * kPiece + in_last_);
  }
  /// The N x width matrix, compressed, rows ascending in every column. The rows here are gone afterwards; the
  /// memory of the matrix stays taken.
  [[nodiscard]] SparseMatrix take(Index width);

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 15;
  struct Piece {
    std::array<int, kPiece> columns;
    std::array<double, kPiece> values;
  };
  void add_piece();

  std::string source_;
  MemoryBudget& memory_;
  MemoryPurpose purpose_;
  std::vector<std::size_t> row_ends_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::size_t in_last_ = kPiece;  ///< entries of the last piece
};

}  // namespace subspectra
