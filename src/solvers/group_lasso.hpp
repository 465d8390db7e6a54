#pragma once
/// The (group) lasso and elastic net over columns of unit norm,
///     min_B  1/2 |T - X B|_F^2 + l2/2 |B|_F^2 + lambda sum_i w_i |b_i|_2,      b_i the i-th row of B (1 x
///     L),
/// for a falling or rising sequence of lambdas with warm starts. L = 1 is the lasso. Every answer comes with
/// a duality gap that holds over all columns, though few of them are read for it (see group_lasso.cpp).
#include <memory>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"
#include "data/unit_columns.hpp"
#include "solvers/row_sparse_matrix.hpp"

namespace subspectra {

struct GroupLassoOptions {
  double l2 = 0.0;             ///< >= 0
  double tolerance = 1e-7;     ///< stop when the duality gap is below this fraction of |T|^2/2
  Index max_sweeps = 100'000;  ///< over the working set, for one lambda
  int threads = 0;             ///< of no consequence for the answer; 0: all cores
  void validate() const;       ///< throws InvalidArgument
};

struct GroupLassoSolution {
  RowSparseMatrix b;
  double objective = 0.0;  ///< the primal value above
  double gap = 0.0;        ///< duality gap, same scale: objective - gap is below the optimum
  Index sweeps = 0;
  bool converged = false;  ///< false: sweeps, the control or the last digit ended it
};

class GroupLasso {
 public:
  /// `x` (N x p, columns of norm 1, or 0: never chosen) must outlive this.
  GroupLasso(const Matrix& x, const GroupLassoOptions& options);
  /// The same with columns that are read where they are needed; few are, and one pass proves the rest.
  GroupLasso(const UnitColumns& x, const GroupLassoOptions& options);
  ~GroupLasso();
  GroupLasso(const GroupLasso&) = delete;
  GroupLasso& operator=(const GroupLasso&) = delete;

  /// New targets (N x L) and weights (p, all >= 0; empty: all 1; 0: not penalized, meant for few columns;
  /// infinity: never chosen). The last solution is kept as a warm start when L is the same, and so is what is
  /// known about the columns.
  void set_targets(const Matrix& targets, const Vector& weights = {});
  /// The next solution is looked for from here instead. Where columns are alike the optimum is not unique,
  /// and the start decides between them. After set_targets().
  void start_from(const RowSparseMatrix& b);
  void set_tolerance(double tolerance);  ///< GroupLassoOptions::tolerance from now on
  /// The smallest lambda with b_i = 0 wherever w_i > 0.
  [[nodiscard]] double lambda_max() const;
  /// With lambda = 0 and more columns than rows no gap but the objective itself can be formed; the answer is
  /// then one with |x_i'R - l2 b_i| <= tolerance |T| for all i.
  [[nodiscard]] GroupLassoSolution solve(double lambda, const RunControl& control);
  /// T - X B of the last solution, N x L.
  [[nodiscard]] const Matrix& residual() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subspectra
