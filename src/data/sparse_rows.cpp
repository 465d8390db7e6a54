#include "data/sparse_rows.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include <subspectra/error.hpp>

namespace subspectra {

SparseRows::SparseRows(std::string source, MemoryBudget& memory)
    : source_(std::move(source)),
      memory_(memory),
      purpose_{.what = fmt::format("the sparse table in {}", source_),
               .advice = "raise ⟨memory_limit⟩, use a machine with more memory, or read fewer rows"} {}

void SparseRows::add_piece() {
  memory_.make_room(pieces_, purpose_);
  memory_.grow(sizeof(Piece), purpose_);
  pieces_.emplace_back(new Piece);  // not make_unique, which would write zeros into all of it
  in_last_ = 0;
}

SparseMatrix SparseRows::take(Index width) {
  const auto entries = static_cast<std::size_t>(values());
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (entries > kMost || row_ends_.size() > kMost) {
    throw BadInput({.file = source_},
                   fmt::format("{} entries in {} rows, but at most {} of either can be held; split the file",
                               entries, row_ends_.size(), kMost));
  }
  memory_.take(static_cast<double>(width + 1) * sizeof(int) +
                   static_cast<double>(entries) * (sizeof(int) + sizeof(double)),
               {.what = fmt::format("the {} x {} sparse table in {}", rows(), width, source_),
                .advice = "check the largest feature index, or raise ⟨memory_limit⟩"});
  SparseMatrix matrix(rows(), width);  // all column starts are zero
  matrix.resizeNonZeros(static_cast<Index>(entries));
  int* const start = matrix.outerIndexPtr();
  // start[j + 1] counts column j, then becomes where column j begins, then (while filling) where it goes on.
  const auto in_piece = [&](std::size_t p) { return p + 1 == pieces_.size() ? in_last_ : kPiece; };
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    for (std::size_t e = 0; e < in_piece(p); ++e) ++start[pieces_[p]->columns[e] + 1];
  }
  for (Index j = 0; j < width; ++j) start[j + 1] += start[j];
  for (Index j = width; j > 0; --j) start[j] = start[j - 1];
  std::size_t at = 0;
  std::size_t row = 0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = *pieces_[p];
    for (std::size_t e = 0, n = in_piece(p); e < n; ++e, ++at) {
      while (row_ends_[row] <= at) ++row;
      const int place = start[piece.columns[e] + 1]++;
      matrix.innerIndexPtr()[place] = static_cast<int>(row);
      matrix.valuePtr()[place] = piece.values[e];
    }
    pieces_[p].reset();
    memory_.give_back(sizeof(Piece));
  }
  memory_.give_back(row_ends_.capacity() * sizeof(std::size_t));
  row_ends_ = {};
  pieces_.clear();
  pieces_.shrink_to_fit();
  in_last_ = kPiece;
  return matrix;
}

}  // namespace subspectra
