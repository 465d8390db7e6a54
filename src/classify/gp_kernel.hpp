#pragma once
/// The squared-exponential kernel on one set of training inputs, and derivatives by its hyperparameters.
#include "classify/gp.hpp"

namespace subspectra::gp {

/// Columns of an N x N matrix that one thread works on; by size alone.
inline constexpr Index kTile = 64;

/// Calls body(first column, number of columns) for the tiles of n columns.
void for_tiles(Index n, int threads, const std::function<void(Index, Index)>& body);

/// z = (x - centre)/l for every row. Entries beyond 1e100, which only absurd length-scales give, are cut off,
/// so that no square overflows.
[[nodiscard]] Matrix scaled_rows(const MatrixRef& rows, const VectorRef& centre,
                                 const VectorRef& lengthscales);

class TrainingKernel {
 public:
  /// N x p inputs.
  TrainingKernel(const MatrixRef& rows, int threads);
  [[nodiscard]] Index rows() const { return centred_.rows(); }
  [[nodiscard]] Index columns() const { return centred_.cols(); }
  [[nodiscard]] int threads() const { return threads_; }

  /// Of the distances between two rows (of at most 512, evenly taken); the mean where that is 0, and 1 where
  /// all rows agree.
  [[nodiscard]] double median_distance() const;

  /// Of every column, the root mean square of the distances of two rows in it: sqrt(2) standard deviations.
  [[nodiscard]] Vector spreads() const;

  /// K, both triangles.   N^2 p flops with ARD, N^2 otherwise: a common length-scale only rescales the
  /// distances, which are kept.
  void evaluate(const GpKernel& kernel, Matrix& k);

  /// N x m, against new inputs (m x p).
  [[nodiscard]] Matrix cross(const GpKernel& kernel, const MatrixRef& inputs) const;

  /// The derivatives of an L with dL = sum_ij G_ij dK_ij, from M = G o K (both triangles), by log l and
  /// log s:
  ///     dL/dlog l_d = sum_ij M_ij (z_id - z_jd)^2 = 2 sum_i (M 1)_i z_id^2 - 2 z_d'M z_d,
  ///     dL/dlog s   = 2 sum_ij M_ij,
  /// the former for all d by one product M Z.   2 N^2 p flops with ARD, N^2 otherwise.
  [[nodiscard]] Vector gradient(const GpKernel& kernel, const Matrix& m);

 private:
  void need_distances();

  Vector centre_;
  Matrix centred_;     ///< N x p
  double unit_ = 1.0;  ///< the largest entry, in which distances are measured: no square overflows
  Matrix distances_;   ///< N x N squared distances of the rows in this unit; empty until needed
  int threads_;
};

}  // namespace subspectra::gp
