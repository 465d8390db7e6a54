#include "scoring/reweighting.hpp"

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

using linalg::Op;

/// Columns gathered at a time: N x 256 doubles stay in the second-level cache for the N of gene tables.
constexpr Index kReweightingTile = 256;
/// Up to so many rows every thread has an N x N sum of its own; beyond, the threads share the tiles of one.
constexpr Index kOwnSums = 700;
constexpr Index kSlots = 8;

Index tiles_of(Index q) { return (q + kReweightingTile - 1) / kReweightingTile; }

/// These columns of X, side by side.
Matrix gathered(const Matrix& x, const std::vector<Index>& features, Index begin, Index count) {
  Matrix tile(x.rows(), count);
  for (Index j = 0; j < count; ++j) tile.col(j) = x.col(features[static_cast<std::size_t>(begin + j)]);
  return tile;
}

/// Lower triangle of X_S Gamma X_S'.   N^2 q flops.
Matrix weighted_gram(const Matrix& x, const std::vector<Index>& features, const Vector& gamma, int threads) {
  const Index n = x.rows();
  const Index q = gamma.size();
  const auto scaled = [&](Index tile) {
    const Index begin = tile * kReweightingTile;
    Matrix columns = gathered(x, features, begin, std::min(kReweightingTile, q - begin));
    columns.array().rowwise() *= gamma.segment(begin, columns.cols()).array().sqrt().transpose();
    return columns;
  };
  Matrix sum = Matrix::Zero(n, n);
  const Index tiles = tiles_of(q);
  if (n > kOwnSums) {
    for (Index tile = 0; tile < tiles; ++tile) linalg::rank_update_lower(1.0, scaled(tile), sum, threads);
    return sum;
  }
  // Tile t goes to slot t mod 8 and the slots are added in order: the bits do not depend on the threads.
  const Index slots = std::min(kSlots, tiles);
  std::vector<Matrix> sums(static_cast<std::size_t>(slots));
  parallel_for(slots, threads, [&](Index slot) {
    Matrix& own = sums[static_cast<std::size_t>(slot)];
    own = Matrix::Zero(n, n);
    for (Index tile = slot; tile < tiles; tile += slots) linalg::syrk_lower(1.0, scaled(tile), own);
  });
  for (const auto& own : sums) sum += own;
  return sum;
}

double twice_log_diagonal(const Matrix& l) { return 2.0 * l.diagonal().array().log().sum(); }

[[noreturn]] void throw_too_small() {
  throw Error(
      "lambda or alpha is too small for this table: lambda N I + X Gamma X', or alpha I + X Gamma X', is singular to rounding; use a larger ⟨lambda⟩, ⟨lambda_ratio⟩ or ⟨alpha⟩");
}

/// L with L L' = shift I + A, A given by its lower triangle.
Matrix factor(Matrix a, double shift, int threads) {
  a.diagonal().array() += shift;
  if (!linalg::cholesky_tiled(a, threads)) throw_too_small();
  return a;
}

}  // namespace

Reweighting::Reweighting(const Matrix& x, const Matrix& targets, const Options& options)
    : x_(x), targets_(&targets), options_(options) {
  for (Index j = 0; j < x.cols(); ++j) {
    if (x.col(j).squaredNorm() > 0.0) features_.push_back(j);
  }
  gamma_ = Vector::Ones(static_cast<Index>(features_.size()));
}

void Reweighting::start_from(std::vector<Index> features, Vector gamma) {
  features_ = std::move(features);
  gamma_ = std::move(gamma);
  gram_.resize(0, 0);
}

void Reweighting::set_targets(const Matrix& targets) {
  targets_ = &targets;
  products_.resize(0, 0);
}

void Reweighting::step() {
  const Index q = gamma_.size();
  if (q == 0) {
    b_.resize(0, targets_->cols());
    z_.resize(0);
    residual_ = targets_->squaredNorm();
    penalty_ = 0.0;
    log_det_ = static_cast<double>(x_.rows()) * std::log(options_.alpha);
    return;
  }
  if (q >= x_.rows()) {
    step_by_rows();
  } else {
    step_by_features();
  }
}

void Reweighting::step_by_rows() {
  const Index q = gamma_.size();
  const Matrix gram = weighted_gram(x_, features_, gamma_, options_.threads);
  const Matrix l = factor(gram, options_.noise, options_.threads);
  Matrix u = *targets_;  // (lambda N I + X Gamma X')^{-1} T
  linalg::solve_lower(l, Op::kNone, u);
  linalg::solve_lower(l, Op::kTranspose, u);
  const bool same = options_.alpha == options_.noise;
  const Matrix own = same || !options_.spreads ? Matrix() : factor(gram, options_.alpha, options_.threads);
  const Matrix& spread = same ? l : own;
  b_.resize(q, targets_->cols());
  z_.resize(options_.spreads ? q : 0);
  parallel_for(tiles_of(q), options_.threads, [&](Index tile) {
    const Index begin = tile * kReweightingTile;
    Matrix columns = gathered(x_, features_, begin, std::min(kReweightingTile, q - begin));
    Matrix part(columns.cols(), u.cols());
    linalg::gemm(1.0, Op::kTranspose, columns, Op::kNone, u, 0.0, part);
    b_.middleRows(begin, columns.cols()) = gamma_.segment(begin, columns.cols()).asDiagonal() * part;
    if (!options_.spreads) return;
    linalg::solve_lower(spread, Op::kNone, columns);
    z_.segment(begin, columns.cols()) = columns.colwise().squaredNorm().transpose();
  });
  // T - X B = lambda N U, and B'Gamma^{-1} B = U'X Gamma X'U = U'(T - lambda N U).
  residual_ = options_.noise * options_.noise * u.squaredNorm();
  penalty_ = (u.array() * targets_->array()).sum() - options_.noise * u.squaredNorm();
  if (options_.spreads) log_det_ = twice_log_diagonal(spread);
}

void Reweighting::step_by_features() {
  const Index q = gamma_.size();
  if (gram_.rows() != q || products_.rows() != q) {
    const Matrix columns = gathered(x_, features_, 0, q);
    gram_ = Matrix::Zero(q, q);
    linalg::gemm_tiled(1.0, Op::kTranspose, columns, columns, 0.0, gram_, options_.threads);
    products_.resize(q, targets_->cols());
    linalg::gemm_tiled(1.0, Op::kTranspose, columns, *targets_, 0.0, products_, options_.threads);
  }
  // With G = Gamma^{1/2} X'X Gamma^{1/2}: B = Gamma^{1/2} (lambda N I + G)^{-1} Gamma^{1/2} X'T.
  const Vector root = gamma_.array().sqrt();
  const Matrix scaled = root.asDiagonal() * gram_ * root.asDiagonal();
  const Matrix l = factor(scaled, options_.noise, options_.threads);
  b_ = root.asDiagonal() * products_;
  linalg::solve_lower(l, Op::kNone, b_);
  linalg::solve_lower(l, Op::kTranspose, b_);
  b_ = root.asDiagonal() * b_;
  Matrix image(q, b_.cols());
  linalg::gemm_tiled(1.0, Op::kNone, gram_, b_, 0.0, image, options_.threads);
  residual_ = std::max(0.0, targets_->squaredNorm() - 2.0 * (b_.array() * products_.array()).sum() +
                                (b_.array() * image.array()).sum());
  penalty_ = ((b_.rowwise().squaredNorm()).array() / gamma_.array()).sum();
  if (!options_.spreads) return;
  const bool same = options_.alpha == options_.noise;
  const Matrix spread = same ? l : factor(scaled, options_.alpha, options_.threads);
  log_det_ = static_cast<double>(x_.rows() - q) * std::log(options_.alpha) + twice_log_diagonal(spread);
  // gamma_i z_i = [G (alpha I + G)^{-1}]_ii. The shorter 1 - alpha [(alpha I + G)^{-1}]_ii would lose the
  // digits of a small gamma_i.
  Matrix inverse = scaled;
  inverse.diagonal().array() += options_.alpha;
  if (!linalg::invert_positive(inverse, options_.threads)) throw_too_small();
  linalg::mirror_lower(inverse);
  z_ = (scaled.array() * inverse.array()).colwise().sum().transpose() / gamma_.array();
}

void Reweighting::drop(double threshold) {
  const Index q = gamma_.size();
  std::vector<Index> left;
  for (Index i = 0; i < q; ++i) {
    if (gamma_[i] > threshold) left.push_back(i);
  }
  if (static_cast<Index>(left.size()) == q) return;
  std::vector<Index> features;
  features.reserve(left.size());
  for (const Index i : left) features.push_back(features_[static_cast<std::size_t>(i)]);
  features_ = std::move(features);
  gamma_ = Vector(gamma_(left));
  b_ = Matrix(b_(left, Eigen::all));
  if (z_.size() == q) z_ = Vector(z_(left));
  if (gram_.rows() == q) {
    gram_ = Matrix(gram_(left, left));
    if (products_.rows() == q) products_ = Matrix(products_(left, Eigen::all));
  }
}

Spreads spreads_of(const Matrix& x, const std::vector<Index>& features, const Vector& gamma, double alpha,
                   int threads) {
  const Index n = x.rows();
  const Index p = x.cols();
  const auto q = static_cast<Index>(features.size());
  Spreads spreads{.z = Vector(p)};
  const bool narrow = 2 * q < n;
  // Narrow: with F = X_S Gamma^{1/2} and H = alpha I + F'F = L L', Woodbury gives
  // z_i = (|x_i|^2 - |V x_i|^2)/alpha, V = L^{-1} F' (q x N).
  Matrix l, v;
  if (narrow) {
    v = gathered(x, features, 0, q) * gamma.array().sqrt().matrix().asDiagonal();
    l.resize(q, q);
    linalg::syrk(1.0, Op::kTranspose, v, 0.0, l);
  } else {
    l = weighted_gram(x, features, gamma, threads);
  }
  l = factor(std::move(l), alpha, threads);
  spreads.log_det = twice_log_diagonal(l) + static_cast<double>(narrow ? n - q : 0) * std::log(alpha);
  if (narrow) {
    v.transposeInPlace();
    linalg::solve_lower(l, Op::kNone, v);
  }
  parallel_for(tiles_of(p), threads, [&](Index tile) {
    const Index begin = tile * kReweightingTile;
    const Index count = std::min(kReweightingTile, p - begin);
    if (narrow) {
      Matrix image(q, count);
      linalg::gemm(1.0, Op::kNone, v, Op::kNone, x.middleCols(begin, count), 0.0, image);
      spreads.z.segment(begin, count) =
          ((x.middleCols(begin, count).colwise().squaredNorm() - image.colwise().squaredNorm()) / alpha)
              .transpose();
    } else {
      Matrix image = x.middleCols(begin, count);
      linalg::solve_lower(l, Op::kNone, image);
      spreads.z.segment(begin, count) = image.colwise().squaredNorm().transpose();
    }
  });
  return spreads;
}

}  // namespace subspectra
