#pragma once
/// The vector and matrix types everything here is written in.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <subspectra/types.hpp>

namespace subspectra {

using Matrix = Eigen::MatrixXd;  ///< dense, column-major
using Vector = Eigen::VectorXd;

inline constexpr double kEpsilon = 0x1p-52;  ///< 1 + kEpsilon is the number after 1

/// Compressed columns (CSC). Eigen 3.4's own sparse matrices copy when they are moved; a table of gigabytes
/// must not.
class SparseMatrix : public Eigen::SparseMatrix<double> {
 public:
  using Base = Eigen::SparseMatrix<double>;
  using Base::Base;
  using Base::operator=;
  SparseMatrix() = default;
  SparseMatrix(const SparseMatrix&) = default;
  SparseMatrix& operator=(const SparseMatrix&) = default;
  SparseMatrix(SparseMatrix&& other) noexcept { swap(other); }
  SparseMatrix& operator=(SparseMatrix&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SparseMatrix() = default;
};
using MatrixRef = Eigen::Ref<const Matrix>;
using VectorRef = Eigen::Ref<const Vector>;

}  // namespace subspectra
