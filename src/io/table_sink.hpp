#pragma once
/// Between the decoders of binary formats and the table. A decoder pushes what it finds into a TableSink: a
/// TableBuilder in the same process (table_builder.hpp), or the writing end of a pipe in the program that
/// decodes for us (isolated.hpp).
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <subspectra/error.hpp>

#include "core/memory.hpp"
#include "core/types.hpp"

namespace subspectra {

/// A column that is not (or must not be read as) a number: class names, sample ids.
struct SideColumn {
  std::string name;
  std::vector<std::string> values;             ///< one a row; "" for a missing one
  Location first;                              ///< where its first value stands, for messages
  std::optional<Location> first_missing = {};  ///< where the first missing one stands, when the reader knows
  bool is_label = false;  ///< the format itself says these are labels (y of NPZ/MAT, the first LIBSVM field)
  bool may_be_ignored =
      false;                   ///< not a table column a user would take for a feature (other NPZ arrays, obs)
  bool is_numeric = false;     ///< numbers as texts: the target only if asked for by name (or is_label)
  bool may_be_target = false;  ///< may_be_ignored, yet the target if nothing else is (a text column of obs)
  bool describes_sample = false;  ///< may_be_ignored, and the target if it alone can be (GEO characteristics)
  bool is_id = false;             ///< the format itself says that these name the rows
  bool has_no_name = false;       ///< `name` was made up
};

/// How the values of a dense table arrive: row after row or column after column.
enum class TileOrder : std::uint8_t { kRows = 0, kColumns = 1 };

class TableSink {
 public:
  TableSink() = default;
  TableSink(const TableSink&) = delete;
  TableSink& operator=(const TableSink&) = delete;
  virtual ~TableSink() = default;

  /// `place` says what holds the values, for messages: "array 'X'". Comes before everything but notes.
  virtual void begin_dense(Index rows, Index columns, TileOrder order, const std::string& place) = 0;
  /// The next rows x columns values, row-major for kRows, column-major for kColumns. With kRows the tiles go
  /// left to right through a band of rows, then on to the next band (kColumns: the same with the words
  /// swapped).
  virtual void dense_tile(Index rows, Index columns, std::span<const double> values) = 0;
  /// `counts`: how many entries each column will get.
  virtual void begin_sparse(Index rows, Index columns, std::span<const std::int32_t> counts,
                            const std::string& place) = 0;
  virtual void sparse_entries(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                              std::span<const double> values) = 0;
  virtual void feature_names(std::vector<std::string> names) = 0;
  virtual void side_column(SideColumn column) = 0;
  virtual void note(std::string text) = 0;
};

/// zlib's deflate turns 1 byte into at most 1032; no filter in use does better.
inline constexpr double kMostExpansion = 1032.0;

/// Rows, columns and entries of a sparse table are counted in 32 bits.
inline constexpr std::int64_t kMostSparse = std::numeric_limits<std::int32_t>::max() - 1;

/// Sequential reading of `data` and `indices` of a compressed sparse matrix, in step, from the start after
/// rewind().
class CompressedSource {
 public:
  CompressedSource() = default;
  CompressedSource(const CompressedSource&) = delete;
  CompressedSource& operator=(const CompressedSource&) = delete;
  virtual ~CompressedSource() = default;
  virtual void rewind_indices() = 0;
  virtual void read_indices(std::span<std::int64_t> into) = 0;
  virtual void read_values(std::span<double> into) = 0;
};

struct CompressedShape {
  bool by_rows = false;  ///< CSR; otherwise CSC
  Index rows = 0, columns = 0;
  std::vector<std::int64_t> indptr;
  std::int64_t entries = 0;  ///< length of `data` and of `indices`
  Location where;            ///< of the matrix, for messages
};

/// Streams a CSR or CSC matrix into `sink`; CSR takes two passes over the indices and so needs no second copy
/// of the matrix. Throws BadInput for an indptr that is not one, or an index outside the shape. What it needs
/// by itself is counted in `memory`, if there is one.
void stream_compressed(const CompressedShape& shape, CompressedSource& source, TableSink& sink,
                       MemoryBudget* memory = nullptr);

/// rows x columns as the readers say it: "72 x 7129".
[[nodiscard]] std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace subspectra
