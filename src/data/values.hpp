#pragma once
/// The N x p numbers of a table. This is the one place that knows how they are stored: dense with any
/// strides, as compressed columns, or read in blocks (data/column_source.hpp), in memory of their own or of
/// the caller, all rows or some of them. What is done to every column is written once, over entries or packed
/// parts of columns.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "data/column_source.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

using CscMap = Eigen::Map<const Eigen::SparseMatrix<double>>;
using DenseMap = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

/// A copy shares everything with its original; nothing is ever changed.
class Values {
 public:
  Values();  ///< 0 x 0
  explicit Values(Matrix matrix);
  explicit Values(SparseMatrix&& matrix);  ///< compressed, rows ascending in every column
  /// Somebody else's memory, which `owner` (may be null) keeps alive.
  Values(const DenseView& view, std::shared_ptr<const void> owner);
  Values(const CscView& view, std::shared_ptr<const void> owner);
  /// Numbers that are read where they are asked for.
  explicit Values(std::shared_ptr<const ColumnSource> source);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index features() const { return features_; }
  /// Zeros are not stored: what walks over entries does not meet them, and shifting a column would fill them
  /// in.
  [[nodiscard]] bool leaves_out_zeros() const { return storage_->csc.has_value(); }
  /// Where numbers are read in blocks; null where they stand in memory.
  [[nodiscard]] const std::shared_ptr<const ColumnSource>& source() const { return storage_->source; }
  /// The numbers of a source would take more than half of the memory (`limit` as in memory_budget; 0: the
  /// limit it was read under): what would form them, or go over them as often as there are rows, is left out.
  [[nodiscard]] bool outgrow_memory(std::uint64_t limit = 0) const;
  /// These values with every one changed; of a source, as it is read.
  [[nodiscard]] Values with_each_value(ColumnSource::EachValue change) const;
  /// The rows of the source that these are; null: all, in their order.
  [[nodiscard]] const std::vector<Index>* row_numbers() const { return row_numbers_.get(); }
  /// Counts of the few values that a column of genotypes has, by class; null where every value is another, or
  /// where a row stands here twice.
  [[nodiscard]] std::unique_ptr<const ColumnTallies> tallies(std::span<const int> codes, int classes) const;
  /// The same over all rows together, made once.
  [[nodiscard]] const ColumnTallies* tallies() const;
  /// What one pass over a source tells of every column, made once; null where numbers stand in memory, and
  /// where tallies() tell it.
  [[nodiscard]] const ColumnFacts* facts() const;
  /// For algorithms that are another one on compressed columns: sparse(entries) with those of these rows, or
  /// dense() where every number is stored. The entries live as long as these values or a copy of them.
  template <class Dense, class Sparse>
  decltype(auto) by_storage(Dense&& dense, Sparse&& sparse) const {
    if (const CscMap* const entries = stored()) return sparse(*entries);
    return dense();
  }

  /// These rows (any order, repeats allowed), by number: the values stay where they are.
  [[nodiscard]] Values with_rows(std::span<const Index> rows) const;
  /// A copy of these columns.
  [[nodiscard]] Values with_features(std::span<const Index> features) const;
  /// A copy with these columns in the place of `features`, ascending.
  [[nodiscard]] Values with_columns(std::span<const Index> features, const Matrix& columns) const;
  /// These with every zero stored, a copy only where some are left out. Throws Error, which calls them
  /// `name`, when it does not fit into memory.
  [[nodiscard]] Values with_zeros(std::string_view name) const;

  /// visit(row, value) for every entry of column j that is stored, rows ascending; all N of a dense one.
  template <class Visitor>
  void each_entry(Index j, Visitor&& visit) const {
    if (const CscMap* const x = stored()) {
      for (CscMap::InnerIterator it(*x, j); it; ++it) visit(static_cast<Index>(it.row()), it.value());
      return;
    }
    if (storage_->source) {
      const Vector x = column(j);
      for (Index i = 0; i < rows_; ++i) visit(i, x[i]);
      return;
    }
    const double* const x = storage_->dense.data + j * storage_->dense.col_stride;
    const Index stride = storage_->dense.row_stride;
    if (row_numbers_) {
      const Index* const row = row_numbers_->data();
      for (Index i = 0; i < rows_; ++i) visit(i, x[row[i] * stride]);
    } else {
      for (Index i = 0; i < rows_; ++i) visit(i, x[i * stride]);
    }
  }
  /// Whether `test(row, value)` is true of some entry of column j; looks no further than the first.
  template <class Test>
  [[nodiscard]] bool any_entry(Index j, Test&& test) const {
    if (const CscMap* const x = stored()) {
      for (CscMap::InnerIterator it(*x, j); it; ++it) {
        if (test(static_cast<Index>(it.row()), it.value())) return true;
      }
      return false;
    }
    if (storage_->source) {
      const Vector x = column(j);
      for (Index i = 0; i < rows_; ++i) {
        if (test(i, x[i])) return true;
      }
      return false;
    }
    for (Index i = 0; i < rows_; ++i) {
      if (test(i, storage_->dense(row_number(i), j))) return true;
    }
    return false;
  }
  [[nodiscard]] Index entries(Index j) const;  ///< how many each_entry() visits
  [[nodiscard]] bool all_finite(Index j) const;
  [[nodiscard]] Vector column(Index j) const;                           ///< dense
  [[nodiscard]] Matrix columns(std::span<const Index> features) const;  ///< dense, N x |features|
  /// Dense, |rows| x |features|.
  [[nodiscard]] Matrix block(std::span<const Index> rows, std::span<const Index> features) const;
  [[nodiscard]] Matrix matrix() const;  ///< dense, N x p: a copy
  /// visit(i, row i as a dense vector) for every row in turn.
  void each_row(const std::function<void(Index, const Vector&)>& visit) const;
  /// Rows first..first+count of column j of a dense table, one after another: where they stand if they stand
  /// so, else copied into `scratch`.
  [[nodiscard]] const double* part_of_column(Index j, Index first, Index count,
                                             std::vector<double>& scratch) const;

  /// A dense table as one block, column after column, for kernels that go over it again and again. Where it
  /// does not stand so already it is packed on the first call, and that block is kept.
  [[nodiscard]] DenseMap packed() const;
  [[nodiscard]] bool has_packed_copy() const;  ///< numbers had to be copied to stand as one block
  /// packed() of a dense table copies nothing.
  [[nodiscard]] bool stands_packed() const { return is_direct() || has_packed_copy(); }

  /// out = X'v and out = X'U, one pass over the table.
  void transposed_times(const VectorRef& v, linalg::MutableVector out, int threads) const;
  void transposed_times(const MatrixRef& u, linalg::MutableMatrix out, int threads) const;

  /// The matrix itself, without a copy where nobody else holds these values. Dense and sparse tables
  /// respectively.
  [[nodiscard]] Matrix take_matrix() &&;
  [[nodiscard]] SparseMatrix take_sparse() &&;

  /// Where the numbers stand, before rows are taken: to tell a view from a copy.
  [[nodiscard]] const double* data() const;

 private:
  struct Storage {
    Matrix own_dense;
    SparseMatrix own_sparse;
    std::shared_ptr<const void> owner;
    DenseView dense;
    std::optional<CscMap> csc;
    std::shared_ptr<const ColumnSource> source;
  };
  struct Packed {
    std::once_flag once;
    std::atomic<bool> ready = false;
    Matrix dense;
    SparseMatrix sparse;
    std::optional<CscMap> csc;
    std::once_flag once_counted;
    std::unique_ptr<const ColumnTallies> tallies;
    std::optional<ColumnFacts> facts;
  };

  /// Column after column, as BLAS wants it.
  [[nodiscard]] bool is_direct() const {
    return !storage_->source && !row_numbers_ && storage_->dense.row_stride == 1 &&
           storage_->dense.col_stride >= rows_;
  }
  [[nodiscard]] Index row_number(Index i) const {
    return row_numbers_ ? (*row_numbers_)[static_cast<std::size_t>(i)] : i;
  }
  /// The entries of compressed columns; null where every number is stored. Rows of another table are packed
  /// on the first call.
  [[nodiscard]] const CscMap* stored() const;
  void gather(Index j, Index first, Index count, double* to) const;
  void pack() const;
  void look_at_source() const;
  /// U with its rows at those of the source; sums where a row stands here twice.
  [[nodiscard]] Matrix by_source_rows(const MatrixRef& u) const;
  [[nodiscard]] SparseMatrix packed_rows() const;

  std::shared_ptr<Storage> storage_;
  std::shared_ptr<const std::vector<Index>> row_numbers_;  ///< rows of the storage; null: all of them
  std::shared_ptr<Packed> packed_;
  Index rows_ = 0, features_ = 0;
};

}  // namespace subspectra
