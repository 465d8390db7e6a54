#pragma once
/// The numbers and matrices that cross the border of the library. What goes in is a view of the caller's
/// memory; what comes out owns its own. No Eigen object is passed by value: how Eigen lays out and aligns one
/// depends on the flags its user compiles with.
#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace subspectra {

using Index = Eigen::Index;  ///< signed; rows, columns, feature numbers (0-based)

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// rows x cols numbers in somebody else's memory: (i, j) stands at data[i * row_stride + j * col_stride].
struct DenseView {
  const double* data = nullptr;
  Index rows = 0, cols = 0;
  Index row_stride = 1, col_stride = 0;

  [[nodiscard]] double operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

/// Compressed sparse columns in somebody else's memory, as scipy's csc_matrix and Eigen::SparseMatrix have
/// them: the entries of column j are inner[k], values[k] for outer[j] <= k < outer[j + 1].
struct CscView {
  Index rows = 0, cols = 0;
  std::span<const std::int32_t> outer;  ///< cols + 1 positions, ascending, the first 0
  std::span<const std::int32_t> inner;  ///< row numbers, ascending within a column
  std::span<const double> values;
};

/// A matrix that leaves the library: column-major, in memory of its own.
class DenseMatrix {
 public:
  DenseMatrix() = default;
  DenseMatrix(Index rows, Index cols)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols), 0.0) {}
  template <class Derived>
  DenseMatrix(const Eigen::DenseBase<Derived>& expression)  // NOLINT(google-explicit-constructor)
      : DenseMatrix(expression.rows(), expression.cols()) {
    Eigen::Map<Eigen::MatrixXd>(values_.data(), rows_, cols_) = expression.derived();
  }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index size() const { return rows_ * cols_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] double operator()(Index i, Index j) const { return values_[position(i, j)]; }
  [[nodiscard]] double& operator()(Index i, Index j) { return values_[position(i, j)]; }
  [[nodiscard]] std::span<const double> column(Index j) const {
    return {values_.data() + rows_ * j, static_cast<std::size_t>(rows_)};
  }
  [[nodiscard]] const double* data() const { return values_.data(); }
  [[nodiscard]] double* data() { return values_.data(); }
  /// The same numbers for Eigen's arithmetic; it lives as long as this matrix.
  [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> view() const { return {values_.data(), rows_, cols_}; }
  [[nodiscard]] Eigen::Map<Eigen::MatrixXd> view() { return {values_.data(), rows_, cols_}; }

  friend bool operator==(const DenseMatrix&, const DenseMatrix&) = default;

 private:
  [[nodiscard]] std::size_t position(Index i, Index j) const {
    return static_cast<std::size_t>(i + rows_ * j);
  }

  Index rows_ = 0, cols_ = 0;
  std::vector<double> values_;
};

}  // namespace subspectra
