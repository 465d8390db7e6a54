#pragma once
/// Columns of a table whose numbers do not stand in memory as doubles: genotypes of two bits, and arrays in
/// files that are larger than memory. A method asks for passes over blocks, not for a matrix; docs/scale.md.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

/// What was read of one table so far, by all its views together.
struct ReadTraffic {
  std::atomic<std::uint64_t> bytes = 0;
  double pass = 0.0;  ///< bytes of one pass over all columns
};

/// How often each of few values stands in a column, by class of the rows.
struct ColumnTally {
  static constexpr int kValues = 4;
  std::array<double, kValues> values{};                  ///< NaN: missing
  Eigen::Matrix<Index, kValues, Eigen::Dynamic> counts;  ///< kValues x K
};

/// Counts columns over the rows and classes it was made for. For any number of threads.
class ColumnTallies {
 public:
  ColumnTallies() = default;
  ColumnTallies(const ColumnTallies&) = delete;
  ColumnTallies& operator=(const ColumnTallies&) = delete;
  virtual ~ColumnTallies() = default;
  virtual void count(Index j, ColumnTally& into) const = 0;
};

/// N x p numbers that are read (or decoded) in blocks. Everything here is for any number of threads at once.
class ColumnSource : public std::enable_shared_from_this<ColumnSource> {
 public:
  /// What becomes of a value of a column.
  using EachValue = std::function<double(Index column, double value)>;

  ColumnSource(const ColumnSource&) = delete;
  ColumnSource& operator=(const ColumnSource&) = delete;
  virtual ~ColumnSource() = default;

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  [[nodiscard]] const ReadTraffic& traffic() const { return *traffic_; }
  [[nodiscard]] const std::string& name() const { return name_; }  ///< of the file, for messages
  [[nodiscard]] std::uint64_t memory_limit() const { return memory_limit_; }
  /// Numbers in a block; tests make it tiny.
  [[nodiscard]] Index block_values() const { return block_values_; }

  /// All rows of columns first..first+count-1, one column after another.
  virtual void read(Index first, Index count, double* out) const = 0;
  /// Rows row..row+count-1 of column j.
  virtual void read_part(Index j, Index row, Index count, double* out) const = 0;
  /// Rows stand together, and a pass goes through them from the first to the last.
  [[nodiscard]] virtual bool stands_by_rows() const { return false; }
  /// visit(row, column, block) until every number was in one block: all rows of some columns, in parallel, or
  /// where the table stands by rows all columns of some rows, in their order. What is written in a visit
  /// belongs to its columns alone.
  using VisitBlock = std::function<void(Index row, Index column, const MatrixRef& block)>;
  virtual void each_block(int threads, const VisitBlock& visit) const;
  /// out = X'U, one pass. Sums are taken in an order that depends on sizes alone.
  virtual void transposed_times(const MatrixRef& u, linalg::MutableMatrix out, int threads) const;
  /// The same columns with every value changed as it is read.
  [[nodiscard]] virtual std::shared_ptr<const ColumnSource> with_each_value(EachValue change) const;
  /// These columns.
  [[nodiscard]] virtual std::shared_ptr<const ColumnSource> selected(
      const std::vector<Index>& features) const;
  /// Counts by classes (`codes` one a row, negative: not counted), where columns hold few values; else null.
  [[nodiscard]] virtual std::unique_ptr<const ColumnTallies> tallies(std::span<const int> codes,
                                                                     int classes) const;

 protected:
  struct Limits {
    std::string name;
    std::uint64_t memory_limit = 0;
    Index block_values = kBlockValues;
  };
  static constexpr Index kBlockValues = 1 << 16;  ///< 512 KiB of doubles: half of what a core's cache holds
  ColumnSource(Index rows, Index columns, Limits limits)
      : rows_(rows),
        columns_(columns),
        name_(std::move(limits.name)),
        memory_limit_(limits.memory_limit),
        block_values_(limits.block_values),
        traffic_(std::make_shared<ReadTraffic>()) {}
  /// A view of another source.
  ColumnSource(const ColumnSource& of, Index columns)
      : rows_(of.rows_),
        columns_(columns),
        name_(of.name_),
        memory_limit_(of.memory_limit_),
        block_values_(of.block_values_),
        traffic_(of.traffic_) {}

  void count_bytes(std::uint64_t bytes) const { traffic_->bytes.fetch_add(bytes, std::memory_order_relaxed); }
  void set_pass_bytes(double bytes) { traffic_->pass = bytes; }
  /// Columns that are read together.
  [[nodiscard]] Index block_columns() const {
    return std::max<Index>(1, block_values_ / std::max<Index>(1, rows_));
  }

 private:
  Index rows_, columns_;
  std::string name_;
  std::uint64_t memory_limit_;
  Index block_values_;
  std::shared_ptr<ReadTraffic> traffic_;
};

/// What is known of every column after one pass over a source.
struct ColumnFacts {
  std::vector<Index> missing, infinite;  ///< how many
  std::vector<char> varies;
};
[[nodiscard]] ColumnFacts facts_of(const ColumnSource& source, const std::vector<Index>* row_numbers,
                                   int threads);

/// The methods that read a table in blocks, for messages.
[[nodiscard]] std::string_view methods_in_blocks();

}  // namespace subspectra
