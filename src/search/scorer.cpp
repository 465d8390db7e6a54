#include "scorer.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <utility>

#include "rank_one.hpp"
#include "subspectra/linalg/blas.hpp"
#include "subspectra/spectral/discriminants.hpp"

namespace subspectra::search {

using linalg::Op;

Scorer::Scorer(Criterion criterion, double sign, Matrix t)
    : criterion_(criterion), sign_(sign), t_(std::move(t)) {
  refresh();
}

void Scorer::change(const Eigen::RowVectorXd& c, double d) {
  t_ += (sign_ / d) * c.transpose() * c;
  dirty_ = true;
}

void Scorer::reset(Matrix t) {
  t_ = std::move(t);
  dirty_ = true;
}

void Scorer::refresh_if_needed() {
  if (dirty_) refresh();
}

void Scorer::refresh() {
  dirty_ = false;
  if (t_.rows() == 1 || criterion_ == Criterion::kTrace) {
    value_ = std::max(0.0, evaluate(t_));
    return;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(t_);
  values_ = solver.eigenvalues().reverse().cwiseMax(0.0);
  vectors_ = solver.eigenvectors().rowwise().reverse();
  value_ = criterion_value(criterion_, values_);
  whitener_ = vectors_ * (1.0 + values_.array()).rsqrt().matrix().asDiagonal();
}

double Scorer::evaluate(const Matrix& t) const {
  if (t.rows() == 1 || criterion_ == Criterion::kTrace) {
    const double trace = std::max(0.0, t.trace());
    return criterion_ == Criterion::kWilks ? std::log1p(trace) : trace;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(t, Eigen::EigenvaluesOnly);
  return criterion_value(criterion_, solver.eigenvalues().cwiseMax(0.0));
}

double Scorer::after(const Matrix& y) const { return evaluate(t_ + sign_ * (y.transpose() * y)); }

/// q_i d_i, where the criterion after is increasing in sign q_i.
Vector Scorer::numerators(const MatrixRef& c) const {
  if (t_.rows() == 1) return c.col(0).array().square();
  if (criterion_ == Criterion::kTrace) return c.rowwise().squaredNorm();
  Matrix y(c.rows(),
           c.cols());  // wilks: log det(I + T + c'c/d) = log det(I + T) + log(1 + c (I + T)^{-1} c'/d)
  linalg::gemm(1.0, Op::kNone, c, Op::kNone, whitener_, 0.0, y);
  return y.rowwise().squaredNorm();
}

double Scorer::after_scalar(double q) const {
  if (criterion_ != Criterion::kWilks) return value_ + sign_ * q;
  return value_ + std::log1p(std::max(-1.0, sign_ * q / (t_.rows() == 1 ? 1.0 + t_(0, 0) : 1.0)));
}

double Scorer::exact_largest(const Eigen::RowVectorXd& c, double d) const {
  const Vector z = vectors_.transpose() * c.transpose();
  return largest_after_rank_one(values_, z.array().square() / d, sign_);
}

Scorer::Best Scorer::best(const MatrixRef& c, const VectorRef& d, const std::vector<char>& usable) const {
  constexpr double kEpsilon = 0x1p-52;
  const Index count = c.rows();
  const auto skip = [&](Index i) { return usable[static_cast<std::size_t>(i)] == 0; };
  Best result;
  if (scalar()) {
    const Vector q = numerators(c).array() / d.array();
    double best = -kInfinity;
    for (Index i = 0; i < count; ++i) {
      if (!skip(i) && sign_ * q[i] > best) best = sign_ * q[i];
    }
    if (best == -kInfinity) return result;
    result.value = after_scalar(sign_ * best);
    const double least = result.value - kTie * std::abs(result.value);
    for (Index i = 0; i < count; ++i) {
      if (skip(i)) continue;
      if (sign_ * q[i] >= best || after_scalar(q[i]) >= least) result.tied.push_back(i);
    }
    return result;
  }
  Vector along(count);
  linalg::gemv(1.0, Op::kNone, c, vectors_.col(0), 0.0, along);
  const Vector norms = c.rowwise().squaredNorm();
  Vector bounds = Vector::Constant(count, -kInfinity);
  Index top = -1;
  for (Index i = 0; i < count; ++i) {
    if (skip(i)) continue;
    const double a2 = along[i] * along[i] / d[i];
    const double b2 = std::max(0.0, norms[i] / d[i] - a2);
    bounds[i] =
        two_pole_bound(values_[0], values_[1], a2, b2, sign_) + 8.0 * kEpsilon * (values_[0] + a2 + b2);
    if (top < 0 || bounds[i] > bounds[top]) top = i;
  }
  if (top < 0) return result;
  result.value = exact_largest(c.row(top), d[top]);
  std::vector<std::pair<Index, double>> solved = {{top, result.value}};
  for (Index i = 0; i < count; ++i) {
    if (i == top || !(bounds[i] >= result.value - kTie * result.value)) continue;
    const double value = exact_largest(c.row(i), d[i]);
    result.value = std::max(result.value, value);
    solved.emplace_back(i, value);
  }
  for (const auto& [i, value] : solved) {
    if (value >= result.value - kTie * result.value) result.tied.push_back(i);
  }
  std::sort(result.tied.begin(), result.tied.end());
  return result;
}

}  // namespace subspectra::search
