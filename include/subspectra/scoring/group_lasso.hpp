#pragma once
/// The (group) lasso and elastic net over columns of unit norm,
///     min_B  1/2 |T - X B|_F^2 + l2/2 |B|_F^2 + lambda sum_i w_i |b_i|_2,      b_i the i-th row of B (1 x
///     L),
/// for a falling or rising sequence of lambdas with warm starts. L = 1 is the lasso. Used by gloss, sda,
/// rvm-entry, sfd and sulda.
#include <memory>
#include <vector>

#include "subspectra/core/run_control.hpp"
#include "subspectra/core/types.hpp"
#include "subspectra/scoring/problem.hpp"

namespace subspectra {

struct GroupLassoOptions {
  double l2 = 0.0;
  double tolerance = 1e-7;     ///< stop when the duality gap is below this fraction of |T|^2/2
  Index max_sweeps = 100'000;  ///< over the working set, for one lambda
  int threads = 0;
};

struct GroupLassoSolution {
  SparseRows b;
  double objective = 0.0;  ///< the primal value above
  double gap = 0.0;        ///< duality gap, same scale
  Index sweeps = 0;
  bool converged = false;  ///< false: sweeps or the control ended it
};

class GroupLasso {
 public:
  /// `x` (N x p, unit-norm columns; a zero column is never chosen) must outlive this.
  GroupLasso(const Matrix& x, const GroupLassoOptions& options);
  ~GroupLasso();
  GroupLasso(const GroupLasso&) = delete;
  GroupLasso& operator=(const GroupLasso&) = delete;

  /// New targets (N x L) and weights (p, all >= 0; empty: all 1). The last solution is kept as a warm start
  /// when L is the same.
  void set_targets(const Matrix& targets, const Vector& weights = {});
  /// The smallest lambda with B = 0.
  [[nodiscard]] double lambda_max() const;
  [[nodiscard]] GroupLassoSolution solve(double lambda, const RunControl& control);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subspectra
