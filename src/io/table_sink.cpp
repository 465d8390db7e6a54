#include "io/table_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace subspectra {
namespace {

constexpr std::size_t kSparseBlock = 1 << 16;

}  // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
  if (shape.empty()) return "a single value";
  return fmt::format("{}", fmt::join(shape, " x "));
}

void stream_compressed(const CompressedShape& shape, CompressedSource& source, TableSink& sink,
                       MemoryBudget* memory) {
  const auto refuse = [&](const std::string& what) {
    throw BadInput(shape.where,
                   fmt::format("damaged sparse matrix: {}; write the file again from its source", what));
  };
  const Index outer_size = shape.by_rows ? shape.rows : shape.columns;
  const Index inner_size = shape.by_rows ? shape.columns : shape.rows;
  if (shape.rows < 1 || shape.columns < 1 || shape.rows > kMostSparse || shape.columns > kMostSparse) {
    refuse(fmt::format("a shape of {} x {}", shape.rows, shape.columns));
  }
  const auto& indptr = shape.indptr;
  if (static_cast<Index>(indptr.size()) != outer_size + 1) {
    refuse(fmt::format("indptr has {} entries where {} are needed", indptr.size(), outer_size + 1));
  }
  if (indptr.front() != 0 || indptr.back() != shape.entries ||
      !std::is_sorted(indptr.begin(), indptr.end())) {
    refuse("indptr must ascend from 0 to the number of stored values");
  }
  if (shape.entries > kMostSparse)
    refuse(fmt::format("{} stored values (2147483646 at most)", shape.entries));

  // A row-wise matrix says its width nowhere but in its shape; wide hashed tables are real, absurd ones are
  // not.
  if (static_cast<double>(shape.columns) > 16777216.0 + kMostExpansion * static_cast<double>(shape.entries)) {
    refuse(fmt::format("{} columns for {} stored values", shape.columns, shape.entries));
  }

  std::optional<HeldMemory> held;
  if (memory != nullptr) {
    held.emplace(*memory);
    held->grow(static_cast<std::size_t>(shape.columns) * sizeof(std::int32_t) +
                   kSparseBlock * (sizeof(std::int64_t) + 2 * sizeof(std::int32_t) + sizeof(double)),
               {.what = fmt::format("{}: a sparse table of {} columns", shape.where.file, shape.columns),
                .advice = "take fewer features, or raise ⟨memory_limit⟩"});
  }
  std::vector<std::int64_t> indices(
      std::min<std::size_t>(kSparseBlock, static_cast<std::size_t>(shape.entries)));
  const auto each_block = [&](auto&& take) {
    for (std::int64_t start = 0; start < shape.entries;) {
      const auto n = std::min<std::int64_t>(shape.entries - start, static_cast<std::int64_t>(indices.size()));
      const auto block = std::span(indices).first(static_cast<std::size_t>(n));
      source.read_indices(block);
      for (const std::int64_t i : block) {
        if (i < 0 || i >= inner_size)
          refuse(fmt::format("index {} where 0..{} are possible", i, inner_size - 1));
      }
      take(block, start);
      start += n;
    }
  };

  std::vector<std::int32_t> counts(static_cast<std::size_t>(shape.columns), 0);
  if (shape.by_rows) {
    source.rewind_indices();
    each_block([&](std::span<const std::int64_t> block, std::int64_t) {
      for (const std::int64_t j : block) ++counts[static_cast<std::size_t>(j)];
    });
  } else {
    for (std::size_t j = 0; j < counts.size(); ++j)
      counts[j] = static_cast<std::int32_t>(indptr[j + 1] - indptr[j]);
  }
  sink.begin_sparse(shape.rows, shape.columns, counts, shape.where.place);

  source.rewind_indices();
  std::vector<std::int32_t> outer(indices.size());
  std::vector<std::int32_t> inner(indices.size());
  std::vector<double> values(indices.size());
  std::size_t line = 0;  // the row (CSR) or column (CSC) an entry belongs to
  each_block([&](std::span<const std::int64_t> block, std::int64_t start) {
    const std::size_t n = block.size();
    source.read_values(std::span(values).first(n));
    for (std::size_t e = 0; e < n; ++e) {
      while (indptr[line + 1] <= start + static_cast<std::int64_t>(e)) ++line;
      outer[e] = static_cast<std::int32_t>(line);
      inner[e] = static_cast<std::int32_t>(block[e]);
    }
    const auto outer_block = std::span<const std::int32_t>(outer).first(n);
    const auto inner_block = std::span<const std::int32_t>(inner).first(n);
    sink.sparse_entries(shape.by_rows ? outer_block : inner_block, shape.by_rows ? inner_block : outer_block,
                        std::span<const double>(values).first(n));
  });
}

}  // namespace subspectra
