#include "search/spca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "data/unit_columns.hpp"
#include "eigen/leading.hpp"
#include "eigen/svd.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiled.hpp"
#include "solvers/lambda_grid.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace {

using linalg::Op;

/// The orthonormal A nearest to M (p x r): U V' of M = U D V'. Directions that M does not have are taken from
/// `before`, so that a component whose coefficients are all zero keeps its place.
Matrix nearest_orthonormal(Matrix m, const Matrix& before) {
  const double largest = m.cwiseAbs().maxCoeff();
  if (!(largest > 0.0)) return before;
  for (Index j = 0; j < m.cols(); ++j) {
    if (!(m.col(j).norm() > 0.0)) m.col(j) = kEpsilon * largest * before.col(j);
  }
  m /= largest;
  if (m.cols() == 1) return m / m.norm();
  const linalg::Svd svd = linalg::thin_svd(m, true);
  return svd.u * svd.v.transpose();
}

}  // namespace

std::vector<Index> SpcaFit::support(Index j) const {
  std::vector<Index> rows;
  for (Index i = 0; i < b.rows(); ++i) {
    if (b(i, j) != 0.0) rows.push_back(i);
  }
  return rows;
}

SpcaTable spca_table(const Dataset& data, const std::vector<Index>& features, int threads,
                     std::uint64_t memory_limit) {
  require_memory(8.0 * static_cast<double>(data.rows()) * static_cast<double>(features.size()),
                 "the table of spca",
                 "exclude features, or use forward-pca, which keeps a sparse table sparse", memory_limit);
  SpcaTable table;
  table.unit.resize(data.rows(), static_cast<Index>(features.size()));
  table.scales = unit_columns(data, features, root_weights(data), threads, table.unit) /
                 std::sqrt(static_cast<double>(data.rows()));
  return table;
}

SpcaTable spca_table(const MatrixRef& sigma) {
  const Index p = sigma.rows();
  const auto eigen = linalg::symmetric_eigen(sigma, true);
  const double floor = static_cast<double>(p) * kEpsilon * eigen.values[p - 1];
  const auto rank = static_cast<Index>((eigen.values.array() > floor).count());
  SpcaTable table;
  table.unit = eigen.values.tail(rank).cwiseSqrt().asDiagonal() * eigen.vectors.rightCols(rank).transpose();
  table.scales = table.unit.colwise().norm();
  for (Index j = 0; j < p; ++j) {
    if (table.scales[j] > 0.0) table.unit.col(j) /= table.scales[j];
  }
  return table;
}

SpcaSolver::SpcaSolver(const SpcaTable& table, const Spca& options, int threads, const SpcaTuning& tuning)
    : table_(table), options_(options), threads_(threads), tuning_(tuning) {
  options.validate();
  const double largest = table.scales.size() > 0 ? table.scales.maxCoeff() : 0.0;
  if (!(largest > 0.0)) throw InvalidArgument("spca: no column varies, so that there is no component");
  int exponent = 0;
  std::frexp(largest, &exponent);
  scale_ = std::ldexp(1.0, exponent);
  d_ = table.scales / scale_;
  weights_ = d_.cwiseInverse();
}

Matrix SpcaSolver::times(const Matrix& b) const {
  Matrix xb(table_.unit.rows(), b.cols());
  linalg::gemm_tiled(1.0, Op::kNone, table_.unit, d_.asDiagonal() * b, 0.0, xb, threads_);
  return xb;
}

Matrix SpcaSolver::transposed_times(const Matrix& xb) const {
  Matrix m(table_.unit.cols(), xb.cols());
  linalg::gemm_tiled(1.0, Op::kTranspose, table_.unit, xb, 0.0, m, threads_);
  return d_.asDiagonal() * m;
}

/// The first `count` ordinary components, from the smaller of X'X and X X'; kept for the next fit.
const Matrix& SpcaSolver::start(Index count) {
  if (start_.cols() == count) return start_;
  const Matrix x = table_.unit * d_.asDiagonal();
  const Index n = x.rows(), p = x.cols();
  if (count > std::min(n, p)) {
    throw InvalidArgument(
        {.field = "components",
         .value = fmt::to_string(count),
         .subject = "spca:",
         .rule = fmt::format("{{value}} components, but there are no more than {}", std::min(n, p))});
  }
  if (p <= n) {
    Matrix sigma = Matrix::Zero(p, p);
    linalg::syrk(1.0, Op::kTranspose, x, 0.0, sigma);
    start_ = leading_pairs(sigma, count).vectors;
    return start_;
  }
  Matrix gram = Matrix::Zero(n, n);
  linalg::rank_update_lower(1.0, x, gram, threads_);
  linalg::mirror_lower(gram);
  const auto pairs = leading_pairs(gram, count);
  start_ = transposed_times(pairs.vectors);
  for (Index j = 0; j < count; ++j) start_.col(j) /= start_.col(j).norm();
  make_largest_positive(start_);
  return start_;
}

double SpcaSolver::lambda_max() {
  return 2.0 * transposed_times(times(start(1))).cwiseAbs().maxCoeff() * scale_ * scale_;
}

/// b_j given X a_j. In the coordinates of the unit columns, c = d b, the elastic net is
///     1/2 |X a - unit c|^2 + l2/2 |c|^2 + (lambda/2) sum_i |c_i|/d_i.
Vector SpcaSolver::regress(Index j, const Vector& xa, double lambda, const RunControl& control,
                           bool* converged) {
  const Index p = table_.unit.cols();
  if (std::isinf(options_.l2.value)) {
    const Vector pulled = transposed_times(xa);
    return pulled.array().sign() * (pulled.array().abs() - 0.5 * lambda).max(0.0);
  }
  while (static_cast<Index>(lassos_.size()) <= j) {
    lassos_.push_back(std::make_unique<GroupLasso>(
        table_.unit,
        GroupLassoOptions{
            .l2 = options_.l2.value, .tolerance = tuning_.lasso_tolerance, .threads = threads_}));
  }
  GroupLasso& lasso = *lassos_[static_cast<std::size_t>(j)];
  lasso.set_targets(xa, weights_);
  const auto solution = lasso.solve(0.5 * lambda, control);
  *converged = *converged && solution.converged;
  Vector b = Vector::Zero(p);
  for (std::size_t i = 0; i < solution.b.rows.size(); ++i) {
    const Index row = solution.b.rows[i];
    b[row] = solution.b.values(static_cast<Index>(i), 0) / d_[row];
  }
  return b;
}

SpcaFit SpcaSolver::fit(const std::vector<double>& lambdas, const RunControl& control) {
  const auto count = static_cast<Index>(lambdas.size());
  SpcaFit fit;
  fit.lambdas = lambdas;
  fit.a = start(count);
  fit.b = Matrix::Zero(fit.a.rows(), count);
  const bool soft = std::isinf(options_.l2.value);
  // Soft thresholding gives coefficients in the units of Sigma, the regression ones without units.
  const double units = soft ? scale_ * scale_ : 1.0;
  bool solved = true;
  while (fit.iterations < options_.max_iterations && !fit.converged) {
    ++fit.iterations;
    solved = true;
    const Matrix xa = times(fit.a);
    Matrix b(fit.b.rows(), count);
    double penalty = 0.0;
    for (Index j = 0; j < count; ++j) {
      const double lambda = lambdas[static_cast<std::size_t>(j)] / (scale_ * scale_);
      b.col(j) = regress(j, xa.col(j), lambda, control, &solved);
      penalty += lambda * b.col(j).cwiseAbs().sum();
    }
    const Matrix xb = times(b);
    const double inner = -2.0 * xa.cwiseProduct(xb).sum();
    const double squares =
        soft ? b.squaredNorm() : xb.squaredNorm() + options_.l2.value * (d_.asDiagonal() * b).squaredNorm();
    fit.trace.push_back((inner + squares + penalty) * scale_ * scale_ * units);
    const double change = (b - fit.b).cwiseAbs().maxCoeff();
    fit.converged = change <= options_.tolerance * b.cwiseAbs().maxCoeff();
    fit.b = std::move(b);
    if (fit.converged || control.should_stop()) break;
    fit.a = nearest_orthonormal(transposed_times(xb), fit.a);
  }
  fit.b *= units;
  fit.converged = fit.converged && solved;
  return fit;
}

std::vector<SpcaFit> spca_path(SpcaSolver& solver, Index lo, Index hi, Index count, double ratio,
                               const RunControl& control) {
  constexpr int kHalvings = 6;
  std::vector<SpcaFit> path;
  const auto size = [](const SpcaFit& fit) { return static_cast<Index>(fit.support().size()); };
  int above = 0;
  for (const double lambda : lambda_grid(solver.lambda_max(), ratio, count)) {
    if (control.should_stop() && !path.empty()) return path;
    path.push_back(solver.fit({lambda}, control));
    above = size(path.back()) > hi ? above + 1 : 0;
    if (above == 2) break;
  }
  // Sizes between those of neighbours, by halving the step in log(lambda).
  for (int round = 0; round < kHalvings; ++round) {
    std::vector<char> known(static_cast<std::size_t>(hi) + 1, 0);
    for (const auto& fit : path) {
      if (size(fit) <= hi) known[static_cast<std::size_t>(size(fit))] = 1;
    }
    std::vector<SpcaFit> finer;
    bool added = false;
    for (std::size_t i = 0; i < path.size(); ++i) {
      finer.push_back(path[i]);
      if (i + 1 == path.size()) break;
      bool missing = false;
      const Index from = std::min(size(path[i]), size(path[i + 1])),
                  to = std::max(size(path[i]), size(path[i + 1]));
      for (Index k = std::max(lo, from + 1); k < std::min(to, hi + 1); ++k)
        missing = missing || known[static_cast<std::size_t>(k)] == 0;
      if (!missing) continue;
      if (control.should_stop()) return path;
      finer.push_back(solver.fit({std::sqrt(path[i].lambdas[0] * path[i + 1].lambdas[0])}, control));
      added = true;
    }
    path = std::move(finer);
    if (!added) break;
  }
  return path;
}

}  // namespace subspectra
