/// Predictions of a trained Gaussian process.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classify/gp_solver.hpp"
#include "classify/lda.hpp"
#include "classify/probit.hpp"
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

/// The posterior as Gaussian observations, with L in `b`.
gp::Gaussian gaussian_of(const GpMachine& machine, const std::vector<int>& codes,
                         GpApproximation approximation, const Matrix& k, Matrix& b) {
  gp::Gaussian found;
  const Index n = k.rows();
  Vector y(n);
  if (approximation == GpApproximation::kLaplace) {
    found.root.resize(n);
    for (Index i = 0; i < n; ++i) {
      y[i] = codes[static_cast<std::size_t>(i)] == machine.positive ? 1.0 : -1.0;
      found.root[i] = std::sqrt(probit(y[i] * machine.posterior.mode[i]).curvature);
    }
  } else {
    found.root = machine.posterior.site_precision.cwiseSqrt();
  }
  gp::assemble_b(k, found.root, b, 0);
  gp::factor_b(b, 0);
  found.weights = approximation == GpApproximation::kEp
                      ? gp::site_weights(k, b, found.root, machine.posterior.site_shift, 0)
                      : gp::mode_weights(k, b, y, machine.posterior.mode, 0);
  return found;
}

/// mean/sqrt(1 + variance) of the latent function at every input.
Vector standardized_means(const GpMachine& machine, const std::vector<int>& codes,
                          GpApproximation approximation, gp::TrainingKernel& kernel, const Matrix& inputs) {
  Matrix k, l;
  kernel.evaluate(machine.kernel, k);
  const gp::Gaussian posterior = gaussian_of(machine, codes, approximation, k, l);
  const double prior_variance = machine.kernel.signal * machine.kernel.signal;
  Vector z(inputs.rows());
  gp::for_tiles(inputs.rows(), 0, [&](Index first, Index count) {
    Matrix cross = kernel.cross(machine.kernel, inputs.middleRows(first, count));
    Vector mean(count);
    linalg::gemv(1.0, linalg::Op::kTranspose, cross, posterior.weights, 0.0, mean);
    cross.array().colwise() *= posterior.root.array();
    linalg::solve_lower(l, linalg::Op::kNone, cross);
    const Vector variance = (prior_variance - cross.colwise().squaredNorm().transpose().array()).max(0.0);
    z.segment(first, count) = mean.array() / (1.0 + variance.array()).sqrt();
  });
  return z;
}

}  // namespace

double GpRule::log_marginal_likelihood() const {
  double sum = 0.0;
  for (const auto& machine : machines) sum += machine.posterior.log_marginal_likelihood;
  return sum;
}

Vector GpRule::lengthscales() const {
  if (machines.empty()) return {};
  if (machines.size() == 1) return machines.front().kernel.lengthscales;
  Vector inverse_squares = Vector::Zero(machines.front().kernel.lengthscales.size());
  for (const auto& machine : machines)
    inverse_squares += machine.kernel.lengthscales.cwiseAbs2().cwiseInverse();
  return (inverse_squares / static_cast<double>(machines.size())).cwiseSqrt().cwiseInverse();
}

Vector GpRule::relevances(double least) const {
  if (machines.empty()) return {};
  const Vector spreads = gp::TrainingKernel(inputs, 0).spreads();
  Vector norms = Vector::Zero(machines.front().kernel.lengthscales.size());
  for (const auto& machine : machines) {
    const Vector& l = machine.kernel.lengthscales;
    for (Index d = 0; d < l.size(); ++d) {
      const bool matters = l.size() == 1 || std::pow(spreads[d] / l[d], 2) >= least;
      if (matters) norms[d] = std::hypot(norms[d], 1.0 / l[d]);
    }
  }
  return norms / std::sqrt(static_cast<double>(machines.size()));
}

Matrix GpRule::log_posteriors(const MatrixRef& rows) const {
  const Index classes = priors.size();
  Matrix inputs_of_rows = rows;
  if (centre.size() > 0) {
    inputs_of_rows.resize(rows.rows(), projection.cols());
    linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - centre.transpose(), linalg::Op::kNone, projection,
                 0.0, inputs_of_rows);
  }
  Matrix result = Matrix::Constant(rows.rows(), classes, -kInfinity);
  if (machines.empty()) {
    for (Index c = 0; c < classes; ++c) {
      if (shares[c] > 0.0) result.col(c).setZero();
    }
    return result;
  }
  const auto n = static_cast<double>(inputs.rows());
  require_memory(8.0 * 3.0 * n * n, fmt::format("a Gaussian process on {}", counted(inputs.rows(), "row")),
                 "its matrices are rows x rows: train on fewer rows");
  gp::TrainingKernel kernel(inputs, 0);
  for (const auto& machine : machines) {
    const Vector z = standardized_means(machine, codes, approximation, kernel, inputs_of_rows);
    for (Index i = 0; i < z.size(); ++i) result(i, machine.positive) = probit(z[i]).log_cdf;
    if (machines.size() > 1) continue;
    for (Index c = 0; c < classes; ++c) {  // the one other class with rows
      if (c == machine.positive || !(shares[c] > 0.0)) continue;
      for (Index i = 0; i < z.size(); ++i) result(i, c) = probit(-z[i]).log_cdf;
    }
  }
  for (Index c = 0; c < classes; ++c) {
    if (shares[c] > 0.0) result.col(c).array() += std::log(priors[c] / shares[c]);
  }
  normalise_log_posteriors(result);
  return result;
}

}  // namespace subspectra
