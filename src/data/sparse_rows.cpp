#include "data/sparse_rows.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"

namespace subspectra {

SparseRows::SparseRows(std::string source, std::uint64_t memory_limit)
    : source_(std::move(source)), memory_limit_(memory_limit) {}

SparseMatrix SparseRows::take(Index width) {
  const std::size_t entries = values_.size();
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (entries > kMost || row_ends_.size() > kMost) {
    throw BadInput({.file = source_},
                   fmt::format("{} entries in {} rows, but at most {} of either can be held; split the file",
                               entries, row_ends_.size(), kMost));
  }
  require_memory(static_cast<double>(width + 1) * sizeof(int) +
                     static_cast<double>(entries) * (sizeof(int) + sizeof(double)),
                 fmt::format("the {} x {} sparse table in {}", rows(), width, source_),
                 "check the largest feature index, or raise ⟨memory_limit⟩", memory_limit_);
  SparseMatrix matrix(rows(), width);  // all column starts are zero
  matrix.resizeNonZeros(static_cast<Index>(entries));
  int* const start = matrix.outerIndexPtr();
  // start[j + 1] counts column j, then becomes where column j begins, then (while filling) where it goes on.
  for (const int j : columns_) ++start[j + 1];
  for (Index j = 0; j < width; ++j) start[j + 1] += start[j];
  for (Index j = width; j > 0; --j) start[j] = start[j - 1];
  std::size_t at = 0;
  for (std::size_t i = 0; i < row_ends_.size(); ++i) {
    for (; at < row_ends_[i]; ++at) {
      const int place = start[columns_[at] + 1]++;
      matrix.innerIndexPtr()[place] = static_cast<int>(i);
      matrix.valuePtr()[place] = values_[at];
    }
  }
  row_ends_ = {};
  columns_ = {};
  values_ = {};
  return matrix;
}

}  // namespace subspectra
