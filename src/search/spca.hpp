#pragma once
/// Sparse principal components by regression (Zou, Hastie & Tibshirani, J. Comput. Graph. Stat. 15, 2006),
///     min_{A, B}  |X - X B A'|_F^2 + l2 sum_ij s_i b_ij^2 + sum_j lambda_j |b_j|_1,      A'A = I,
/// X'X = Sigma with the variances s_i on its diagonal, A and B p x r. Without a penalty the columns of B are
/// the principal components. The ridge counts each coefficient in the units of its feature, so that for
/// correlations (s_i = 1) it is the paper's. l2 = infinity is the paper's variant for many more features than
/// rows,
///     min  -2 Tr(A'Sigma B) + |B|_F^2 + sum_j lambda_j |b_j|_1,
/// whose regression is soft thresholding. docs/methods/sparse-pca.md
#include <cstdint>
#include <memory>
#include <vector>

#include <subspectra/run_control.hpp>
#include <subspectra/sparse_pca.hpp>
#include "core/types.hpp"
#include "data/dataset.hpp"
#include "solvers/group_lasso.hpp"

namespace subspectra {

/// What no user sets.
struct SpcaTuning {
  double lasso_tolerance = 1e-9;  ///< duality gap of a regression as a fraction of |X a|^2/2
};

struct SpcaFit {
  std::vector<double> lambdas;  ///< one a component
  Matrix a;                     ///< p x r, orthonormal columns
  Matrix b;                     ///< p x r, as the regression gives it (not of unit norm)
  Index iterations = 0;
  bool converged = false;
  std::vector<double> trace;  ///< the objective above after every round, without the constant |X|^2
  /// The features of component j: ascending rows of b that are not zero there.
  [[nodiscard]] std::vector<Index> support(Index j = 0) const;
};

/// X as columns of unit norm and their norms: X = unit * diag(scales).
struct SpcaTable {
  Matrix unit;    ///< N x p
  Vector scales;  ///< p: standard deviations (divisor N)
};
/// From a table over `features` (dense, N x p numbers: throws Error when they do not fit).
[[nodiscard]] SpcaTable spca_table(const Dataset& data, const std::vector<Index>& features, int threads,
                                   std::uint64_t memory_limit = 0);
/// From a covariance matrix: X = Lambda^{1/2} V', eigenvalues below p 2^-52 of the largest left out.
[[nodiscard]] SpcaTable spca_table(const MatrixRef& sigma);

class SpcaSolver {
 public:
  /// `table` must outlive this. The ridge is l2.value: what `automatic` makes of it is settled before.
  /// `threads` are of no consequence for the answer; 0: all cores.
  SpcaSolver(const SpcaTable& table, const Spca& options, int threads = 0, const SpcaTuning& tuning = {});

  /// The smallest lambda that leaves the first component nothing: 2 max|Sigma a|_i at its start.
  [[nodiscard]] double lambda_max();
  /// From the ordinary components, one for each lambda: what a lambda gives depends on nothing before it.
  /// Stopped by `control` it has the last round.
  [[nodiscard]] SpcaFit fit(const std::vector<double>& lambdas, const RunControl& control);

 private:
  [[nodiscard]] const Matrix& start(Index count);
  [[nodiscard]] Matrix times(const Matrix& b) const;              ///< X B, N x r
  [[nodiscard]] Matrix transposed_times(const Matrix& xb) const;  ///< X'(X B), p x r
  [[nodiscard]] Vector regress(Index j, const Vector& xa, double lambda, const RunControl& control,
                               bool* converged);

  const SpcaTable& table_;
  Spca options_;
  int threads_;
  SpcaTuning tuning_;
  double scale_ = 1.0;  ///< a power of two near the largest standard deviation
  Vector d_;            ///< scales/scale_
  Vector weights_;      ///< 1/d: the penalty in the coordinates of `unit`
  Matrix start_;        ///< ordinary components
  std::vector<std::unique_ptr<GroupLasso>> lassos_;
};

/// One component, by size: fits along a falling grid of `count` lambdas from lambda_max down to `ratio` times
/// it, and between neighbours whose sizes leave some of lo..hi out. The fits that are found, lambda falling;
/// it ends after two sizes in a row above `hi`.
[[nodiscard]] std::vector<SpcaFit> spca_path(SpcaSolver& solver, Index lo, Index hi, Index count,
                                             double ratio, const RunControl& control);

}  // namespace subspectra
