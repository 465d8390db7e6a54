#pragma once
/// R = (sigma I - A)^{-1} with sigma a little above lambda_max(A), and its leading pairs, for backward
/// elimination: A only loses, so that sigma stays above and moves away slowly.
#include "eigen/followed_pairs.hpp"

namespace subspectra::variance {

class Resolvent {
 public:
  explicit Resolvent(int threads) : threads_(threads) {}

  void begin(const Matrix& a);  ///< from scratch
  /// R of another A, whose leading vectors are nearly `start` (one column or more).
  void renew(const Matrix& a, Matrix start);
  /// Sigma is too far for good bounds, or many changes have gathered.
  [[nodiscard]] bool worn() const;

  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] double top() const { return sigma_ - 1.0 / pairs_.theta[0]; }
  [[nodiscard]] const FollowedPairs& pairs() const { return pairs_; }
  [[nodiscard]] const LazySymmetric& matrix() const { return r_; }
  [[nodiscard]] int threads() const { return threads_; }

  /// The pairs of R - p p'/pivot. `deleted` >= 0: row and column that vanish with it (p = R e_deleted).
  [[nodiscard]] FollowedPairs without(const Vector& p, double pivot, Index deleted) const;
  /// R -= p p'/pivot, with the pairs after it.
  void remove(const Vector& p, double pivot, FollowedPairs after);
  /// A vector that the leading pairs lack.
  void widen(const Matrix& with);

 private:
  void factor(const Matrix& a, double near);
  [[nodiscard]] double spread() const;

  int threads_;
  double sigma_ = 0.0, top_ = 0.0;
  LazySymmetric r_;
  FollowedPairs pairs_;
  Index since_ = 0, made_ = 0;
};

}  // namespace subspectra::variance
