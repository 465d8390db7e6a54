#pragma once
/// A = L L' of a small dense matrix, by Eigen and compiled once: every file that names Eigen's own factor
/// would compile it again. Large ones are linalg::'s, in tiles (linalg/tiled.hpp).
#include <Eigen/Cholesky>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra::linalg {

class CholeskyFactor {
 public:
  /// The lower triangle is read.
  explicit CholeskyFactor(const Matrix& a);
  [[nodiscard]] bool positive() const { return positive_; }  ///< else there is no factor
  /// L in the lower triangle.
  [[nodiscard]] const Matrix& lower() const { return factor_.matrixLLT(); }
  [[nodiscard]] Matrix solve_lower(Matrix right) const;  ///< L^{-1} right
  [[nodiscard]] Matrix solve(Matrix right) const;        ///< A^{-1} right
  [[nodiscard]] Vector solve(Vector right) const;

 private:
  Eigen::LLT<Matrix> factor_;
  bool positive_ = false;
};

/// L (p x p, lower) with L L' = M M' for M of p rows and more columns: the triangle of M' = Q L', so that no
/// digits are lost to squares. By LAPACK, 2 r p^2 flops for r columns. Throws linalg::Stopped when `control`
/// says stop, a panel of 32 columns later.
[[nodiscard]] Matrix square_factor(const MatrixRef& m, const RunControl* control = nullptr);

/// Columns that are an orthonormal basis of the span of a's, which has more rows than columns (Householder).
[[nodiscard]] Matrix orthonormal_basis(const MatrixRef& a);

}  // namespace subspectra::linalg
