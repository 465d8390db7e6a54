#pragma once
/// The leading eigenpairs of a symmetric matrix that changes by one rank at a time, kept warm. The searches
/// give it R = (sigma I - A)^{-1} with sigma a little above lambda_max(A): the leading pairs of R are those
/// of A, far apart, so that one or two products with R follow a change of A to full accuracy.
#include <vector>

#include "linalg/blas.hpp"

namespace subspectra {

/// R = R_0 + sign W W', f x f. The last few changes wait in W: applying them together to R_0 is one level-3
/// product.
class LazySymmetric {
 public:
  static constexpr Index kDelay = 48;

  /// Room is left for `growth` more rows and columns.
  void reset(Matrix base, double sign, Index growth = 0);
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] Index room() const { return base_.rows() - size_; }
  [[nodiscard]] bool full() const { return waiting_ == kDelay; }
  void grow() { ++size_; }  ///< by a row and a column of zeros; room() > 0
  /// R += sign w w'. Applies what waits when full.
  void add(const VectorRef& w, int threads);
  /// Y = R X. X may have rows beyond size(), within room(): R is zero there.
  void apply(const MatrixRef& x, linalg::MutableMatrix y, int threads) const;
  [[nodiscard]] Vector column(Index i) const;
  void flush(int threads);

 private:
  Matrix base_;  ///< zero beyond size_
  Matrix w_;
  double sign_ = 1.0;
  Index size_ = 0, waiting_ = 0;
};

/// R + coefficient p p', p empty for R alone. Rows beyond R's size are those of p.
struct ChangedSymmetric {
  const LazySymmetric* r = nullptr;
  Vector p;
  double coefficient = 0.0;
  int threads = 1;
  void apply(const MatrixRef& x, linalg::MutableMatrix y) const;
};

/// Ritz pairs of an operator R, descending: x orthonormal, rx = R x, residual_j = |R x_j - theta_j x_j|.
struct FollowedPairs {
  Matrix x, rx;
  Vector theta, residual;
  Index applications = 0;  ///< columns that R was applied to
};

struct FollowedPairsGoal {
  Index keep = 8;       ///< pairs to return
  double first = 1e-7;  ///< error wanted in the first vector: residual against the distance of the next value
  Index further = 0;    ///< pairs after the first that are improved too,
  double further_residual = 1e-3;  ///< to this residual relative to theta
  Index most = 60;                 ///< applications
};

/// Rayleigh-Ritz on span(start.x, extra), then expanded by residuals until the goal or its limit is reached
/// (the residuals tell). `start.rx` must be R start.x for the given operator; start.x need not be
/// orthonormal.
[[nodiscard]] FollowedPairs refine_pairs(const ChangedSymmetric& r, FollowedPairs start, const Matrix& extra,
                                         const FollowedPairsGoal& goal);

}  // namespace subspectra
