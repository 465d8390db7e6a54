#pragma once
/// The semidefinite relaxation of sparse PCA (d'Aspremont, El Ghaoui, Jordan & Lanckriet, SIAM Review 49,
/// 2007) and its dual bound. X = xx' with the rank left free,
///     by size:     max Tr(Sigma X)                  subject to  Tr X = 1, X psd, 1'|X|1 <= k,
///     by penalty:  max Tr(Sigma X) - rho 1'|X|1     subject to  Tr X = 1, X psd.
/// The duals are min_U lambda_max(Sigma + U) + k max|U_ij|, and min_U lambda_max(Sigma + U) over |U_ij| <=
/// rho: rho is the multiplier of the size. docs/theory/bounds.md, docs/methods/sparse-pca.md
#include <cstdint>
#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include <subspectra/sparse_pca.hpp>
#include "core/types.hpp"

namespace subspectra {

struct DspcaSolution {
  double primal = 0.0;   ///< the objective at x
  double dual = 0.0;     ///< at u: no feasible X, so no vector, has more
  double largest = 0.0;  ///< lambda_max(Sigma + u), not less
  double rho = 0.0;      ///< max|u_ij|, or the penalty that was given
  Matrix x;              ///< feasible: psd, of trace 1 and, by size, with 1'|x|1 <= k
  Matrix u;              ///< symmetric, |u_ij| <= rho
  Vector leading;        ///< unit eigenvector of x with the largest eigenvalue, its largest entry positive
  Index iterations = 0;
  bool converged = false;
};

class DspcaSolver {
 public:
  static constexpr Index kMostFeatures = 2000;

  /// `sigma` symmetric. What limits X is said call by call, not by options.rho. Throws InvalidArgument beyond
  /// kMostFeatures, Error when its work space does not fit.
  DspcaSolver(Matrix sigma, const Dspca& options, std::uint64_t memory_limit = 0);

  [[nodiscard]] Index size() const { return sigma_.rows(); }
  /// Alternating directions, from where the last call ended. Stopped by `control`, or after max_iterations,
  /// it has the best feasible pair so far; both values are valid at any time.
  [[nodiscard]] DspcaSolution of_size(Index k, const RunControl& control);
  [[nodiscard]] DspcaSolution of_penalty(double rho, const RunControl& control);

  /// Bytes for n features.
  [[nodiscard]] static double bytes(Index n);

 private:
  struct Limit {
    bool by_size;
    double value;  ///< k, or rho
  };
  [[nodiscard]] DspcaSolution solve(const Limit& limit, const RunControl& control);

  Matrix sigma_;  ///< divided by scale_
  Dspca options_;
  double scale_ = 1.0;  ///< a power of two
  double top_ = 0.0;    ///< lambda_max(sigma_)
  Matrix z_, y_;        ///< where the last call ended: the sparse copy of X, and the scaled multipliers
  double mu_ = 0.0;     ///< weight of |X - Z|^2/2
};

/// For any unit x with at most k nonzeros x'Sigma x <= lambda_max(Sigma + U) + x'(-U)x, and x'(-U)x is at
/// most rho k, and at most the row-wise Perron bound of U for sets of k: the smaller of the two.
[[nodiscard]] double dspca_bound(const DspcaSolution& solution, Index k, int threads);

/// The k features of largest |leading_i| (the lowest index on a tie), those of `include` (ascending) first;
/// ascending.
[[nodiscard]] std::vector<Index> dspca_support(const DspcaSolution& solution, Index k,
                                               const std::vector<Index>& include = {});

}  // namespace subspectra
