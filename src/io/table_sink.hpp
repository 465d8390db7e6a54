#pragma once
/// Between the decoders of binary formats and the RawTable. A decoder pushes what it finds into a TableSink:
/// a TableBuilder in the same process, or the writing end of a pipe in an isolated child (isolated.hpp). The
/// builder trusts nobody: every size, index and order is checked before memory is taken or written.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/raw_table.hpp"

namespace subspectra {

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

/// What a table may grow to.
struct TableLimits {
  double most_values = 0;          ///< dense values or sparse entries the file can hold
  std::uint64_t memory_limit = 0;  ///< as in memory_budget()
};

/// zlib's deflate turns 1 byte into at most 1032; no filter in use does better.
inline constexpr double kMostExpansion = 1032.0;

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
  double text_bytes_ = 0;
};

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
/// of the matrix. Throws BadInput for an indptr that is not one, or an index outside the shape.
void stream_compressed(const CompressedShape& shape, CompressedSource& source, TableSink& sink);

/// rows x columns as the readers say it: "72 x 7129".
[[nodiscard]] std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace subspectra
