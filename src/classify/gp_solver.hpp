#pragma once
/// The posterior of the latent function at the training inputs, its log marginal likelihood and gradient.
#include <functional>

#include "classify/gp_kernel.hpp"

namespace subspectra::gp {

/// A solution was given up because the caller wants to end.
struct GivenUp {};

/// What Laplace and EP share: the posterior is the one of Gaussian observations with precisions root^2 >= 0,
///     Sigma = (K^{-1} + root^2)^{-1},    mean at x = k(x)'weights,
///     var at x = s^2 - |L^{-1} (root o k(x))|^2,    L L' = B = I + root K root,
/// and B, whose eigenvalues are 1 or more, is the only matrix that is ever factored.
struct Gaussian {
  Vector weights;  ///< N
  Vector root;     ///< N
};

/// B = I + diag(root) K diag(root), both triangles.
void assemble_b(const Matrix& k, const VectorRef& root, Matrix& b, int threads);
/// B <- L. Throws Error where it has no factor, which only numbers that are not finite can do.
void factor_b(Matrix& b, int threads);
/// sum_i log L_ii.
[[nodiscard]] double half_log_determinant(const Matrix& l);
/// root o (B^{-1} (root o v)).
[[nodiscard]] Vector apply_r(const Matrix& l, const VectorRef& root, const VectorRef& v);
/// K v for a symmetric K.
[[nodiscard]] Vector product(const Matrix& k, const VectorRef& v, int threads);
/// weights = shift - root B^{-1} root K shift, of sites with these natural parameters.
[[nodiscard]] Vector site_weights(const Matrix& k, const Matrix& l, const VectorRef& root,
                                  const VectorRef& shift, int threads);
/// Laplace: the same of b = W f + g, which is K^{-1}f at the mode f. So is the gradient g itself, but g takes
/// the rounding of f through W and K once more, s^2 N times what it was.
[[nodiscard]] Vector mode_weights(const Matrix& k, const Matrix& l, const VectorRef& y, const VectorRef& f,
                                  int threads);

/// Solves at one kernel after another; each solution is where the next one starts.
class Solver {
 public:
  Solver(TrainingKernel& kernel, Vector y, GpApproximation approximation);

  /// At `kernel`; the derivatives too unless `gradient` is null. Throws GivenUp, after which reset() is due,
  /// when `give_up` (asked at every step of the iteration) says so.
  GpPosterior solve(const GpKernel& kernel, Vector* gradient, const std::function<bool()>& give_up = {});
  /// Forgets the last solution.
  void reset();

 private:
  GpPosterior laplace(const std::function<bool()>& give_up);
  GpPosterior expectation_propagation(const std::function<bool()>& give_up);
  /// Sites and posterior marginals from the natural parameters: refreshes b_ (factor), sigma_ (lower), mu_.
  void refresh();
  /// One pass over all sites; gives the largest relative change of a posterior marginal.
  double sweep();
  Vector kernel_gradient(const GpKernel& kernel);

  TrainingKernel& kernel_;
  Vector y_;
  GpApproximation approximation_;
  Matrix k_, b_;
  Gaussian gaussian_;
  Vector implicit_;  ///< Laplace: u of the term through the mode; empty for EP
  Vector third_;     ///< Laplace: d3 log p over W at the mode, in the direction of f
  // EP
  Matrix sigma_, scratch_;
  Vector mu_, precision_, shift_;
  double prior_variance_ = 1.0;
};

}  // namespace subspectra::gp
