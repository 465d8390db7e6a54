#include "classify/gp_solver.hpp"

#include <subspectra/error.hpp>
#include "linalg/tiled.hpp"

namespace subspectra::gp {

void assemble_b(const Matrix& k, const VectorRef& root, Matrix& b, int threads) {
  const Index n = k.rows();
  b.resize(n, n);
  for_tiles(n, threads, [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      b.col(j) = root[j] * k.col(j).cwiseProduct(root);
      b(j, j) += 1.0;
    }
  });
}

void factor_b(Matrix& b, int threads) {
  if (linalg::cholesky_tiled(b, threads)) return;
  throw Error(
      "the Gaussian process has no solution at these hyperparameters: ⟨signal⟩ is too large, or ⟨lengthscale⟩ too small, for double precision; give others");
}

double half_log_determinant(const Matrix& l) { return l.diagonal().array().log().sum(); }

Vector apply_r(const Matrix& l, const VectorRef& root, const VectorRef& v) {
  Matrix x = root.cwiseProduct(v);
  linalg::solve_lower(l, linalg::Op::kNone, x);
  linalg::solve_lower(l, linalg::Op::kTranspose, x);
  return root.cwiseProduct(x.col(0));
}

Vector product(const Matrix& k, const VectorRef& v, int threads) {
  Vector result(k.rows());
  linalg::gemv_transposed(k, v, result, threads);
  return result;
}

Vector site_weights(const Matrix& k, const Matrix& l, const VectorRef& root, const VectorRef& shift,
                    int threads) {
  return shift - apply_r(l, root, product(k, shift, threads));
}

Solver::Solver(TrainingKernel& kernel, Vector y, GpApproximation approximation)
    : kernel_(kernel), y_(std::move(y)), approximation_(approximation) {
  reset();
}

void Solver::reset() {
  const Index n = y_.size();
  gaussian_.weights = Vector::Zero(n);
  precision_ = shift_ = Vector::Zero(n);
}

GpPosterior Solver::solve(const GpKernel& kernel, Vector* gradient, const std::function<bool()>& give_up) {
  kernel_.evaluate(kernel, k_);
  prior_variance_ = kernel.signal * kernel.signal;
  GpPosterior posterior =
      approximation_ == GpApproximation::kLaplace ? laplace(give_up) : expectation_propagation(give_up);
  if (gradient != nullptr) *gradient = kernel_gradient(kernel);
  return posterior;
}

/// dL = sum_ij G_ij dK_ij with G = (a a' - R)/2 + (u a' + a u')/2, R = root B^{-1} root: the explicit part is
/// the same for both approximations; u is Laplace's implicit part, s2'(I - K R) dK a with
/// s2 = dL/df = -1/2 diag(Sigma) o dW/df, and u = (I - R K) s2. EP has none: its evidence is stationary in
/// the sites.
Vector Solver::kernel_gradient(const GpKernel& kernel) {
  const Index n = k_.rows();
  const int threads = kernel_.threads();
  const Vector& a = gaussian_.weights;
  const Vector& root = gaussian_.root;
  assemble_b(k_, root, b_, threads);
  if (!linalg::invert_positive(b_, threads)) {
    throw Error("the Gaussian process has no gradient at these hyperparameters; give a smaller ⟨signal⟩");
  }
  linalg::mirror_lower(b_);
  Vector u = Vector::Zero(n);
  if (approximation_ == GpApproximation::kLaplace) {
    // diag(Sigma) = (1 - diag(B^{-1}))/W, and the third derivative is W times `third_`: W, which underflows
    // far on the right side, cancels.
    const Vector s2 = 0.5 * (1.0 - b_.diagonal().array()) * third_.array();
    const Vector rooted = root.cwiseProduct(product(k_, s2, threads));
    u = s2 - root.cwiseProduct(product(b_, rooted, threads));
  }
  for_tiles(n, threads, [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      auto column = b_.col(j).array();
      column = 0.5 * k_.col(j).array() *
               ((a[j] + u[j]) * a.array() + a[j] * u.array() - root[j] * root.array() * column);
    }
  });
  return kernel_.gradient(kernel, b_);
}

}  // namespace subspectra::gp
