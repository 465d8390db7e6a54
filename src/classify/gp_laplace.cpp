/// Laplace's approximation: the Gaussian at the mode of the posterior (docs/theory/gp.md, Eq. 4 to 8).
#include <cmath>

#include "classify/gp_solver.hpp"
#include "classify/probit.hpp"

namespace subspectra::gp {
namespace {

/// log p(y|f) with its first three derivatives in f.
struct Likelihood {
  double log = 0.0;
  Vector gradient, curvature, relative_third;
};

Likelihood likelihood(const VectorRef& y, const VectorRef& f) {
  const Index n = y.size();
  Likelihood p{.log = 0.0, .gradient = Vector(n), .curvature = Vector(n), .relative_third = Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const Probit one = probit(y[i] * f[i]);
    p.log += one.log_cdf;
    p.gradient[i] = y[i] * one.ratio;
    p.curvature[i] = one.curvature;
    p.relative_third[i] = y[i] * one.relative_third;
  }
  return p;
}

}  // namespace

Vector mode_weights(const Matrix& k, const Matrix& l, const VectorRef& y, const VectorRef& f, int threads) {
  const Likelihood p = likelihood(y, f);
  return site_weights(k, l, p.curvature.cwiseSqrt(), p.curvature.cwiseProduct(f) + p.gradient, threads);
}

/// Newton's method on psi(f) = log p(y|f) - f'K^{-1}f/2 in a = K^{-1}f:  with g, W the gradient and curvature
/// of log p at f and b = W f + g, the next a is b - W^{1/2} B^{-1} W^{1/2} K b. psi is concave; a step along
/// which it falls is halved.
GpPosterior Solver::laplace(const std::function<bool()>& give_up) {
  constexpr Index kMostSteps = 100;
  constexpr double kClose = 1e-7;  // relative; the step after is of its square
  const int threads = kernel_.threads();
  const auto psi = [](const VectorRef& a, const VectorRef& f, const Likelihood& p) {
    return p.log - 0.5 * a.dot(f);
  };
  Vector a = gaussian_.weights;
  Vector f = product(k_, a, threads);
  Likelihood p = likelihood(y_, f);
  double value = psi(a, f, p);
  if (!(value > static_cast<double>(y_.size()) * std::log(0.5))) {  // worse than f = 0
    a.setZero();
    f.setZero();
    p = likelihood(y_, f);
    value = psi(a, f, p);
  }
  GpPosterior posterior;
  bool lost = false;
  while (posterior.iterations < kMostSteps && !posterior.converged && !lost) {
    if (give_up && give_up()) throw GivenUp();
    ++posterior.iterations;
    const Vector root = p.curvature.cwiseSqrt();
    assemble_b(k_, root, b_, threads);
    factor_b(b_, threads);
    const Vector b = p.curvature.cwiseProduct(f) + p.gradient;
    const Vector step_a = b - apply_r(b_, root, product(k_, b, threads)) - a;
    const Vector step_f = product(k_, step_a, threads);
    double length = 1.0;
    for (int halving = 0;; ++halving) {
      const Vector next_a = a + length * step_a;
      const Vector next_f = f + length * step_f;
      Likelihood next = likelihood(y_, next_f);
      const double found = psi(next_a, next_f, next);
      constexpr int kMostHalvings = 40;
      // The last digits of psi are rounding; a step that changes no more is the end.
      const bool rises = found >= value - 1e-12 * (1.0 + std::abs(value));
      if (!rises && halving == kMostHalvings) {  // rounding is all that is left of psi's slope
        lost = true;
        break;
      }
      if (rises) {
        posterior.converged =
            (length * step_f).cwiseAbs().maxCoeff() <= kClose * (1.0 + f.cwiseAbs().maxCoeff());
        a = next_a;
        f = next_f;
        p = std::move(next);
        value = found;
        break;
      }
      length *= 0.5;
    }
  }
  gaussian_.root = p.curvature.cwiseSqrt();
  assemble_b(k_, gaussian_.root, b_, threads);
  factor_b(b_, threads);
  posterior.log_marginal_likelihood = value - half_log_determinant(b_);
  posterior.mode = f;
  gaussian_.weights = mode_weights(k_, b_, y_, f, threads);
  // The mode is a fixed point of Newton's step; where it is none, K's rounding moves it.
  constexpr double kFixed = 1e-3;
  const double moved = (product(k_, gaussian_.weights, threads) - f).cwiseAbs().maxCoeff();
  if (!(moved <= kFixed * (1.0 + f.cwiseAbs().maxCoeff()))) posterior.converged = false;
  third_ = p.relative_third;
  return posterior;
}

}  // namespace subspectra::gp
