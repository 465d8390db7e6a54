#pragma once
/// One step of Eq. (20) on the features that are left, in whichever of two forms is cheaper: N x N while they
/// are more than the rows, q x q after that.
#include <vector>

#include "core/types.hpp"

namespace subspectra {

class Reweighting {
 public:
  struct Options {
    double noise;  ///< lambda N
    double alpha;  ///< of the determinant, where spreads are wanted
    bool spreads;  ///< z_i = x_i'(alpha I + X Gamma X')^{-1} x_i as well
    int threads;
  };
  /// `x` (N x p, unit-norm columns) and `targets` (N x L) must outlive this. Starts with gamma_i = 1 for
  /// every column that is not zero.
  Reweighting(const Matrix& x, const Matrix& targets, const Options& options);

  /// Starts from these features and variances instead.
  void start_from(std::vector<Index> features, Vector gamma);
  /// The same features against other targets of the same size.
  void set_targets(const Matrix& targets);

  /// B for these variances, and z.   N^2 q flops for the matrix, N^2 q for z (N form); q^3 (q form).
  void step();
  /// After step(): |T - X B|^2, sum_i |b_i|^2/gamma_i, log|alpha I + X Gamma X'|.
  [[nodiscard]] double residual() const { return residual_; }
  [[nodiscard]] double penalty() const { return penalty_; }
  [[nodiscard]] double log_det() const { return log_det_; }

  [[nodiscard]] const std::vector<Index>& features() const { return features_; }  ///< ascending
  [[nodiscard]] const Matrix& b() const { return b_; }                            ///< q x L
  [[nodiscard]] const Vector& z() const { return z_; }                            ///< q
  [[nodiscard]] Vector& gamma() { return gamma_; }                                ///< q
  /// Takes out the features whose variance is at most `threshold`.
  void drop(double threshold);

 private:
  void step_by_rows();
  void step_by_features();

  const Matrix& x_;
  const Matrix* targets_;
  Options options_;
  std::vector<Index> features_;
  Vector gamma_, z_;
  Matrix b_;
  double residual_ = 0.0, penalty_ = 0.0, log_det_ = 0.0;
  Matrix gram_, products_;  ///< q form: X'X and X'T of the features that are left; empty in the N form
};

/// z_i = x_i'(alpha I + X_S Gamma X_S')^{-1} x_i for every column i, S the columns with a variance, and
/// log|alpha I + X_S Gamma X_S'|.   2 N |S| p flops while |S| < N/2, N^2 p beyond.
struct Spreads {
  Vector z;
  double log_det = 0.0;
};
[[nodiscard]] Spreads spreads_of(const Matrix& x, const std::vector<Index>& features, const Vector& gamma,
                                 double alpha, int threads);

}  // namespace subspectra
