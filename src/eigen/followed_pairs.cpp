#include "eigen/followed_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {

using linalg::Op;

void LazySymmetric::reset(Matrix base, double sign, Index growth) {
  size_ = base.rows();
  if (growth == 0) {
    base_ = std::move(base);
  } else {
    base_.setZero(size_ + growth, size_ + growth);
    base_.topLeftCorner(size_, size_) = base;
  }
  w_.setZero(base_.rows(), kDelay);
  sign_ = sign;
  waiting_ = 0;
}

void LazySymmetric::add(const VectorRef& w, int threads) {
  if (full()) flush(threads);
  w_.col(waiting_++).head(size_) = w;
}

void LazySymmetric::flush(int threads) {
  if (waiting_ == 0) return;
  linalg::rank_update_lower(sign_, w_.topLeftCorner(size_, waiting_), base_.topLeftCorner(size_, size_),
                            threads);
  linalg::mirror_lower(base_.topLeftCorner(size_, size_));
  w_.setZero();
  waiting_ = 0;
}

void LazySymmetric::apply(const MatrixRef& x, linalg::MutableMatrix y, int threads) const {
  constexpr Index kFew = 3;  // columns for which DGEMM's packing of R costs more than it saves
  const Index n = x.rows();
  const auto base = base_.topLeftCorner(n, n);
  if (x.cols() <= kFew) {
    for (Index c = 0; c < x.cols(); ++c) linalg::gemv_transposed(base, x.col(c), y.col(c), threads);
  } else {
    linalg::gemm_tiled(1.0, Op::kTranspose, base, x, 0.0, y, threads);
  }
  if (waiting_ == 0) return;
  const auto w = w_.topLeftCorner(n, waiting_);
  Matrix inner(waiting_, x.cols());
  if (x.cols() == 1) {
    linalg::gemv(1.0, Op::kTranspose, w, x.col(0), 0.0, inner.col(0));
    linalg::gemv(sign_, Op::kNone, w, inner.col(0), 1.0, y.col(0));
  } else {
    linalg::gemm(1.0, Op::kTranspose, w, Op::kNone, x, 0.0, inner);
    linalg::gemm(sign_, Op::kNone, w, Op::kNone, inner, 1.0, y);
  }
}

Vector LazySymmetric::column(Index i) const {
  Vector c = base_.col(i).head(size_);
  if (waiting_ > 0) {
    const Vector row = w_.row(i).head(waiting_);
    linalg::gemv(sign_, Op::kNone, w_.topLeftCorner(size_, waiting_), row, 1.0, c);
  }
  return c;
}

void ChangedSymmetric::apply(const MatrixRef& x, linalg::MutableMatrix y) const {
  r->apply(x, y, threads);
  if (p.size() == 0) return;
  for (Index c = 0; c < x.cols(); ++c) y.col(c) += (coefficient * p.dot(x.col(c))) * p;
}

namespace {

/// An orthonormal basis Q with R Q and T = Q'R Q, extended a few columns at a time.
class RitzBasis {
 public:
  RitzBasis(const ChangedSymmetric& r, Index rows, Index capacity)
      : r_(&r), q_(rows, capacity), rq_(rows, capacity), t_(capacity, capacity) {}

  [[nodiscard]] Index size() const { return k_; }
  [[nodiscard]] Index capacity() const { return q_.cols(); }
  [[nodiscard]] Index applications() const { return applications_; }

  /// Columns whose products are known. By the eigenvectors of their Gram matrix, the nearly dependent left
  /// out.
  void start(Matrix x, Matrix rx) {
    // Twice: the first round leaves an error of rounding over the smallest eigenvalue kept.
    for (int round = 0; round < 2 && x.cols() > 0; ++round) {
      Matrix gram(x.cols(), x.cols());
      linalg::syrk(1.0, Op::kTranspose, x, 0.0, gram);
      const auto eigen = linalg::symmetric_eigen(std::move(gram), true);
      Index first = 0;
      while (first < x.cols() && !(eigen.values[first] > kDependentGram * eigen.values[x.cols() - 1]))
        ++first;
      if (round == 1 && first == 0 && eigen.values[0] > 1.0 - 1e-14 &&
          eigen.values[x.cols() - 1] < 1.0 + 1e-14)
        break;
      const Index kept = x.cols() - first;
      const Matrix s =
          eigen.vectors.rightCols(kept) * eigen.values.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
      Matrix next(x.rows(), kept);
      linalg::gemm(1.0, Op::kNone, x, Op::kNone, s, 0.0, next);
      x.swap(next);
      next.resize(x.rows(), kept);
      linalg::gemm(1.0, Op::kNone, rx, Op::kNone, s, 0.0, next);
      rx.swap(next);
    }
    k_ = x.cols();
    q_.leftCols(k_) = x;
    rq_.leftCols(k_) = rx;
    project(0);
  }

  /// False when nothing new was among the columns.
  bool expand(const MatrixRef& v) {
    const Index before = k_;
    for (Index c = 0; c < v.cols() && k_ < capacity(); ++c) {
      Vector u = v.col(c);
      double norm = u.norm();
      if (!(norm > 0.0)) continue;
      u /= norm;
      bool independent = true;
      for (int round = 0; round < 2 && independent; ++round) {
        Vector inner(k_);
        linalg::gemv(1.0, Op::kTranspose, q_.leftCols(k_), u, 0.0, inner);
        linalg::gemv(-1.0, Op::kNone, q_.leftCols(k_), inner, 1.0, u);
        norm = u.norm();
        independent = norm > (round == 0 ? 1e-10 : 0.5);
        u /= norm;
      }
      if (independent) q_.col(k_++) = u;
    }
    if (k_ == before) return false;
    r_->apply(q_.middleCols(before, k_ - before), rq_.middleCols(before, k_ - before));
    applications_ += k_ - before;
    project(before);
    return true;
  }

  /// The leading pairs, all with their residuals.
  [[nodiscard]] FollowedPairs ritz(Index keep) const {
    FollowedPairs pairs;
    const auto eigen = linalg::symmetric_eigen(t_.topLeftCorner(k_, k_), true);
    const Index count = std::min(keep, k_);
    const Matrix s = eigen.vectors.rightCols(count).rowwise().reverse();
    pairs.theta = eigen.values.tail(count).reverse();
    pairs.x.resize(q_.rows(), count);
    pairs.rx.resize(q_.rows(), count);
    linalg::gemm(1.0, Op::kNone, q_.leftCols(k_), Op::kNone, s, 0.0, pairs.x);
    linalg::gemm(1.0, Op::kNone, rq_.leftCols(k_), Op::kNone, s, 0.0, pairs.rx);
    pairs.residual.resize(count);
    for (Index j = 0; j < count; ++j) {
      pairs.residual[j] = (pairs.rx.col(j) - pairs.theta[j] * pairs.x.col(j)).norm();
    }
    pairs.applications = applications_;
    return pairs;
  }

 private:
  static constexpr double kDependentGram = 1e-4;

  void project(Index from) {
    const Index added = k_ - from;
    if (added == 0) return;
    linalg::gemm(1.0, Op::kTranspose, q_.leftCols(k_), Op::kNone, rq_.middleCols(from, added), 0.0,
                 t_.block(0, from, k_, added));
    t_.block(from, 0, added, from) = t_.block(0, from, from, added).transpose();
  }

  const ChangedSymmetric* r_;
  Matrix q_, rq_, t_;
  Index k_ = 0, applications_ = 0;
};

}  // namespace

FollowedPairs refine_pairs(const ChangedSymmetric& r, FollowedPairs start, const Matrix& extra,
                           const FollowedPairsGoal& goal) {
  const Index n = start.x.rows();
  const Index capacity = std::min(n, 5 * goal.keep);
  RitzBasis basis(r, n, capacity);
  basis.start(std::move(start.x), std::move(start.rx));
  if (extra.cols() > 0) basis.expand(extra);
  Index restarted = 0;  // applications before the last restart
  for (;;) {
    FollowedPairs pairs = basis.ritz(goal.keep);
    pairs.applications += restarted;
    if (basis.size() >= n || pairs.applications >= goal.most) return pairs;
    const Index count = pairs.theta.size();
    const double scale = std::abs(pairs.theta[0]);
    const double distance = count > 1 ? pairs.theta[0] - pairs.theta[1] : scale;
    Matrix residuals(n, 1 + goal.further);
    Index wanted = 0;
    const auto want = [&](Index j) {
      residuals.col(wanted++) = (pairs.rx.col(j) - pairs.theta[j] * pairs.x.col(j)) / pairs.residual[j];
    };
    if (pairs.residual[0] > std::max(goal.first * distance, 5e-13 * scale)) want(0);
    for (Index j = 1; j <= goal.further && j < count; ++j) {
      if (pairs.residual[j] > goal.further_residual * std::abs(pairs.theta[j])) want(j);
    }
    if (wanted == 0) return pairs;
    if (basis.size() + wanted > capacity) {
      restarted = pairs.applications;
      basis = RitzBasis(r, n, capacity);
      basis.start(std::move(pairs.x), std::move(pairs.rx));
    }
    if (!basis.expand(residuals.leftCols(wanted))) {
      FollowedPairs last = basis.ritz(goal.keep);
      last.applications += restarted;
      return last;
    }
  }
}

}  // namespace subspectra
