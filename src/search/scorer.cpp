#include "search/scorer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "search/rank_one.hpp"
#include "spectral/discriminants.hpp"

namespace subspectra::search {

using linalg::Op;

namespace {

/// |row|^2 of every row, column after column (Eigen's rowwise() goes along the rows, across the memory).
Vector squared_rows(const MatrixRef& c) {
  Vector sums = c.col(0).array().square();
  for (Index j = 1; j < c.cols(); ++j) sums.array() += c.col(j).array().square();
  return sums;
}

}  // namespace

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
  const linalg::SymmetricEigen eigen = linalg::small_symmetric_eigen(t_, true);
  values_ = eigen.values.reverse().cwiseMax(0.0);
  vectors_ = eigen.vectors.rowwise().reverse();
  value_ = criterion_value(criterion_, values_);
  whitener_ = vectors_ * (1.0 + values_.array()).rsqrt().matrix().asDiagonal();
}

double Scorer::evaluate(const Matrix& t) const {
  if (t.rows() == 1 || criterion_ == Criterion::kTrace) {
    const double trace = std::max(0.0, t.trace());
    return criterion_ == Criterion::kWilks ? std::log1p(trace) : trace;
  }
  return criterion_value(criterion_, linalg::small_symmetric_eigen(t, false).values.cwiseMax(0.0));
}

double Scorer::after(const Matrix& y) const { return evaluate(t_ + sign_ * (y.transpose() * y)); }

/// q_i d_i, where the criterion after is increasing in sign q_i.
Vector Scorer::numerators(const MatrixRef& c) const {
  if (t_.rows() == 1 || criterion_ == Criterion::kTrace) return squared_rows(c);
  Matrix y(c.rows(),
           c.cols());  // wilks: log det(I + T + c'c/d) = log det(I + T) + log(1 + c (I + T)^{-1} c'/d)
  linalg::gemm(1.0, Op::kNone, c, Op::kNone, whitener_, 0.0, y);
  return squared_rows(y);
}

double Scorer::after_scalar(double q) const {
  if (criterion_ != Criterion::kWilks) return value_ + sign_ * q;
  return value_ + std::log1p(std::max(-1.0, sign_ * q / wilks_scale()));
}

double Scorer::exact_largest(const Eigen::RowVectorXd& c, double d) const {
  const Vector z = vectors_.transpose() * c.transpose();
  return largest_after_rank_one(values_, z.array().square() / d, sign_);
}

Scorer::Best Scorer::best(const MatrixRef& c, const VectorRef& d, const std::vector<char>& usable) const {
  const Index count = c.rows();
  Best result;
  if (count == 0) return result;
  // Whole vectors first, whatever is usable or not: one pass each, without branches.
  const auto mask = [&](Vector& scores) {
    for (std::size_t i = 0; i < usable.size(); ++i) {
      if (usable[i] == 0) scores[static_cast<Index>(i)] = -kInfinity;
    }
  };
  if (scalar()) {
    Vector scores = sign_ * numerators(c).array() / d.array();  // sign q_i
    mask(scores);
    const double best = scores.maxCoeff();
    if (!(best > -kInfinity)) return result;
    result.value = after_scalar(sign_ * best);
    const double least = result.value - kTie * std::abs(result.value);
    // What ties has a score of nearly `best`: log1p(s/t) >= log1p(best/t) - x needs s >= best - x (t + best).
    const double slope = criterion_ == Criterion::kWilks ? wilks_scale() + std::abs(best) : 1.0;
    const double floor = std::max(best - 2.0 * kTie * (std::abs(result.value) + std::abs(value_)) * slope,
                                  std::numeric_limits<double>::lowest());
    for (Index i = 0; i < count; ++i) {
      if (scores[i] < floor) continue;
      if (scores[i] >= best || after_scalar(sign_ * scores[i]) >= least) result.tied.push_back(i);
    }
    return result;
  }
  Vector along(count);
  linalg::gemv(1.0, Op::kNone, c, vectors_.col(0), 0.0, along);
  along.array() = along.array().square() / d.array();
  const Vector across = (squared_rows(c).array() / d.array() - along.array()).max(0.0);
  Vector bounds = two_pole_bounds(values_[0], values_[1], along, across, sign_);
  mask(bounds);
  Index top = -1;
  if (!(bounds.maxCoeff(&top) > -kInfinity)) return result;
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
