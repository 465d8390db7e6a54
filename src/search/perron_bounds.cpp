#include "search/perron_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "search/top_sum.hpp"

namespace subspectra::search {
namespace {}  // namespace

void PerronLimits::refresh() {
  const double threshold = findings_.pool.threshold();
  exact_ = cutoff_.exact(threshold) / problem_.scale;
  cut_ = cutoff_.with_gap(threshold) / problem_.scale;
}

void PerronLimits::offer(const std::vector<std::int32_t>& kept, std::initializer_list<std::int32_t> more) {
  std::vector<Index> set(kept.begin(), kept.end());
  set.insert(set.end(), more.begin(), more.end());
  std::sort(set.begin(), set.end());
  const double value = problem_.scaled_value(set);
  if (findings_.pool.offer(std::move(set), problem_.scale * value)) refresh();
}

NodeFate PerronBounds::close(PerronNode& node) {
  RowBoundedMatrix* matrices[] = {&node.residual, node.has_floor ? &node.floored : nullptr};
  if (matrices[1] != nullptr && matrices[1]->worst < matrices[0]->worst) std::swap(matrices[0], matrices[1]);
  for (RowBoundedMatrix* matrix : matrices) {
    if (matrix == nullptr) continue;
    const auto fate = sweeps(node, *matrix, tuning_.sweeps);
    if (fate != NodeFate::kOpen) return fate;
  }
  // Below a node where the floor is no better than C it seldom is again.
  if (node.has_floor && node.floored.worst > node.residual.worst) node.has_floor = false;
  if (wants_floor(node)) {
    const auto fate = raise_floor(node);
    if (fate != NodeFate::kOpen) return fate;
    if (!floor_helped_) node.has_floor = false;
    return NodeFate::kOpen;
  }
  return superset_closes(node) ? NodeFate::kClosed : NodeFate::kOpen;
}

/// R(d) and the thresholds of all rows.
void PerronBounds::sweep(const PerronNode& node, RowBoundedMatrix& matrix) {
  const Index n = node.rows(), m = node.left - 1;
  work_ += static_cast<double>(n) * static_cast<double>(n);
  if (problem_.single) {
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      matrix.sum[at] = top_sum(matrix.row(i), matrix.d.data(), matrix.stride, m, tuning_.threshold_passes,
                               matrix.threshold[at]);
    }
    return;
  }
  // A row takes its own unit, and of the others those with the largest sums.
  const Index count = node.count(), wide = rows::padded(count);
  buffer_.assign(static_cast<std::size_t>(wide), 0.0);
  ones_.assign(static_cast<std::size_t>(wide), 1.0);
  for (std::size_t own = 0; own + 1 < node.begin.size(); ++own) {
    for (Index i = node.begin[own]; i < node.begin[own + 1]; ++i) {
      const double* row = matrix.row(i);
      double mine = 0.0;
      for (std::size_t e = 0; e + 1 < node.begin.size(); ++e) {
        double sum = 0.0;
        for (Index j = node.begin[e]; j < node.begin[e + 1]; ++j)
          sum += std::abs(row[j]) * matrix.d[static_cast<std::size_t>(j)];
        buffer_[e] = e == own ? 0.0 : sum;
        if (e == own) mine = sum;
      }
      const auto at = static_cast<std::size_t>(i);
      matrix.sum[at] = mine + top_sum(buffer_.data(), ones_.data(), wide, m, tuning_.threshold_passes,
                                      matrix.threshold[at]);
    }
  }
}

/// What lambda_max(C_G) <= worst says about the sets of the node.
double PerronBounds::bound_of(PerronNode& node, double worst) const {
  if (node.kept.empty()) return worst;
  if (node.reduced()) return std::max(node.lambda, worst);
  if (node.cross < 0.0) {
    // |A_IG|^2 is at most the sum of the g largest |A_Iu|^2 of the units.
    const auto kept = problem_.rows_of(node.kept), free = problem_.rows_of(node.units);
    std::vector<double> squares;
    for (std::size_t e = 0; e + 1 < node.begin.size(); ++e) {
      double sum = 0.0;
      for (Index i = node.begin[e]; i < node.begin[e + 1]; ++i) {
        for (const Index j : kept) {
          const double a = problem_.a(j, free[static_cast<std::size_t>(i)]);
          sum += a * a;
        }
      }
      squares.push_back(sum);
    }
    std::sort(squares.begin(), squares.end(), std::greater<>());
    node.cross = std::sqrt(std::accumulate(squares.begin(), squares.begin() + node.left, 0.0));
  }
  const double bound = larger_of_two(node.kept_value, node.cross, worst);
  return bound + 16.0 * kEpsilon * std::abs(bound);
}

NodeFate PerronBounds::sweeps(PerronNode& node, RowBoundedMatrix& matrix, int most) {
  double previous = kInfinity;
  for (int step = 0; step < most; ++step) {
    if (step > 0 && node.rows() > tuning_.floor_rows && problem_.control->should_stop()) break;
    sweep(node, matrix);
    double top = -kInfinity;
    double worst = matrix.measure(node.rows(), &top);
    worst += 4.0 * kEpsilon * static_cast<double>(node.left + 8) * (std::abs(worst) + std::abs(top));
    matrix.worst = worst;
    node.bound = std::min(node.bound, bound_of(node, worst));
    if (limits_.closes(node.bound)) return NodeFate::kClosed;
    if (node.reduced() && limits_.cut() > top && fix_out(node, matrix)) {
      if (node.count() < node.left) return NodeFate::kClosed;
      if (node.count() == node.left) return NodeFate::kOneSetLeft;
      previous = kInfinity;
      continue;
    }
    if (step > 0 && !(worst < previous * (1.0 - tuning_.progress))) break;
    if (step > 0 && limits_.cut() > -kInfinity &&
        previous - worst < (worst - limits_.cut()) / tuning_.patience)
      break;
    previous = worst;
    matrix.relax(node.rows(), std::max(limits_.cut(), top + 0.05 * std::abs(top)), tuning_.smallest_d);
  }
  return NodeFate::kOpen;
}

/// Drops every unit that no wanted set can have: with i in G, row i needs only the scaling d_i' = R_i/(cut -
/// c_ii), and every other row j has to take i, so that R_j becomes at most R_j - max(t_j, w_ji) + |c_ji|
/// d_i'. If all rows then stay below the cut, so does every set with i. Pre: sweep() was the last to touch
/// `matrix`.
bool PerronBounds::fix_out(PerronNode& node, const RowBoundedMatrix& matrix) {
  const Index n = node.rows();
  if (node.left < 2 || !problem_.uses(ExactBound::kFixOut)) return false;
  slack_.assign(static_cast<std::size_t>(matrix.stride), kInfinity);
  for (Index j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double room = (limits_.cut() - matrix.diagonal[at]) * matrix.d[at];
    slack_[at] = room - matrix.sum[at] - 16.0 * kEpsilon * static_cast<double>(node.left + 8) * room;
    if (slack_[at] < -matrix.threshold[at]) return false;  // not even a whole slot brings this row down
  }
  std::vector<char> gone(static_cast<std::size_t>(node.count()), 0);
  bool any = false;
  for (std::size_t unit = 0; unit < gone.size(); ++unit) {
    const Index first = node.begin[unit], last = node.begin[unit + 1];
    if (problem_.single) {
      const auto at = static_cast<std::size_t>(first);
      const double with = matrix.sum[at] / (limits_.cut() - matrix.diagonal[at]) * (1.0 + 16.0 * kEpsilon);
      gone[unit] = rows::largest_excess(matrix.row(first), matrix.threshold.data(), slack_.data(), with,
                                        matrix.d[at], matrix.stride) <= 0.0
                       ? 1
                       : 0;
    } else {
      bool fits = true;
      for (Index j = 0; fits && j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        double gain = 0.0;
        if (j < first || j >= last) {
          double weight = 0.0;
          for (Index i = first; i < last; ++i)
            weight += std::abs(matrix.row(j)[i]) * matrix.d[static_cast<std::size_t>(i)];
          gain = std::max(0.0, matrix.threshold[at] - weight);
        }
        fits = slack_[at] + gain >= 0.0;
      }
      gone[unit] = fits ? 1 : 0;
    }
    any = any || gone[unit] != 0;
  }
  if (!any) return false;
  limits_.close_at_cut();
  for (std::size_t unit = 0; unit < gone.size(); ++unit) {
    if (gone[unit] == 0) continue;
    auto with = node.kept;  // the sets that are given up: those with this unit
    with.push_back(node.units[unit]);
    problem_.guard(with, node.units, node.k(), limits_.cut());
  }
  node.drop(problem_, gone);
  return true;
}

/// lambda_max(C) <= cut: no set of any size is wanted. One step of the power method comes first: a Rayleigh
/// quotient above the cut saves the factorization.
bool PerronBounds::superset_closes(PerronNode& node) {
  const Index n = node.rows();
  if (!node.reduced() || !problem_.uses(ExactBound::kSuperset) ||
      n > tuning_.superset_factor * node.left + tuning_.superset_rows)
    return false;
  const RowBoundedMatrix& matrix = node.residual;
  buffer_.assign(static_cast<std::size_t>(matrix.stride), 0.0);
  double square = 0.0, quotient = 0.0, after = 0.0;
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    buffer_[at] = rows::dot(matrix.row(i), node.x.data(), matrix.stride) + matrix.diagonal[at] * node.x[at];
    square += node.x[at] * node.x[at];
    quotient += node.x[at] * buffer_[at];
    after += buffer_[at] * buffer_[at];
  }
  if (after > 0.0) {
    for (Index i = 0; i < n; ++i)
      node.x[static_cast<std::size_t>(i)] = buffer_[static_cast<std::size_t>(i)] / std::sqrt(after);
  }
  if (quotient > limits_.cut() * square) return false;
  Matrix m = -matrix.dense(n);
  m.diagonal().array() += limits_.cut() - 8.0 * kEpsilon * static_cast<double>(n) * std::abs(limits_.cut());
  if (!linalg::cholesky(m)) return false;
  limits_.close_at_cut();
  return true;
}

bool PerronBounds::wants_floor(const PerronNode& node) const {
  if (!node.reduced() || node.left < tuning_.floor_left || node.rows() > tuning_.floor_rows ||
      !problem_.uses(ExactBound::kFloor)) {
    return false;
  }
  const auto shrunk = [&](Index now, Index before) {
    return static_cast<double>(now) < tuning_.floor_shrink * static_cast<double>(before);
  };
  if (!shrunk(node.rows(), node.floor_rows) && !shrunk(node.left, node.floor_left)) return false;
  const auto n = static_cast<double>(node.rows());
  return floor_helped_ || work_ > tuning_.floor_work * n * n * n;
}

/// The row-wise bound of sum_l max(lambda_l, mu) v_l v_l' after a few sweeps.
double PerronBounds::try_floor(PerronNode& node, const linalg::SymmetricEigen& eigen, double mu,
                               double error) {
  const Index n = node.rows();
  Index from = n;
  while (from > 0 && eigen.values[from - 1] > mu) --from;
  Matrix scaled = eigen.vectors.rightCols(n - from);
  for (Index l = from; l < n; ++l) scaled.col(l - from) *= std::sqrt(eigen.values[l] - mu);
  Matrix c = Matrix::Zero(n, n);
  linalg::syrk(1.0, linalg::Op::kNone, scaled, 0.0, c);
  c.diagonal().array() += mu + error;
  node.floored.set(c);
  double best = kInfinity;
  for (int step = 0; step < tuning_.floor_sweeps; ++step) {
    if (step > 0) {
      double top = node.floored.diagonal[0];
      for (Index i = 0; i < n; ++i) top = std::max(top, node.floored.diagonal[static_cast<std::size_t>(i)]);
      node.floored.relax(n, std::max(limits_.cut(), top + 0.05 * std::abs(top)), tuning_.smallest_d);
    }
    sweep(node, node.floored);
    double top = 0.0;
    best = std::min(best, node.floored.measure(n, &top));
    if (best <= limits_.cut()) break;
  }
  node.floored.worst = best;
  return best;
}

NodeFate PerronBounds::raise_floor(PerronNode& node) {
  const Index n = node.rows();
  const auto eigen = linalg::symmetric_eigen(node.residual.dense(n), true);
  const double most = eigen.values[n - 1], least = eigen.values[0];
  const double error = 16.0 * kEpsilon * static_cast<double>(n) * std::max(std::abs(most), std::abs(least));
  node.bound = std::min(node.bound, bound_of(node, most + error));
  if (limits_.closes(node.bound)) return NodeFate::kClosed;
  std::copy_n(eigen.vectors.col(n - 1).data(), n, node.x.data());
  node.floored.set(node.residual.dense(n));
  node.floored.d = node.residual.d;
  node.floored.threshold = node.residual.threshold;
  node.floored.sum = node.residual.sum;

  double best = kInfinity, best_mu = least, last = least;
  const auto at = [&](double mu) {
    last = mu;
    const double worst = best <= limits_.cut() ? kInfinity : try_floor(node, eigen, mu, error);
    if (worst < best) {
      best = worst;
      best_mu = mu;
    }
    return worst;
  };
  if (node.floor > least && node.floor < most) {
    // Near the floor above, in the direction that is better.
    const double stride = 0.08 * (most - least), middle = at(node.floor);
    if (!(at(std::min(node.floor + stride, most)) < middle)) at(std::max(node.floor - stride, least));
  } else {
    constexpr double kGolden = 0.6180339887498949;
    double low = least, high = most;
    double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    double at_a = at(a), at_b = at(b);
    for (int step = 0; step < tuning_.floor_steps; ++step) {
      if (at_a < at_b) {
        high = b;
        b = a;
        at_b = at_a;
        a = high - kGolden * (high - low);
        at_a = at(a);
      } else {
        low = a;
        a = b;
        at_a = at_b;
        b = low + kGolden * (high - low);
        at_b = at(b);
      }
    }
  }
  if (last != best_mu) try_floor(node, eigen, best_mu, error);
  node.floor = best_mu;
  node.floor_rows = n;
  node.floor_left = node.left;
  node.has_floor = true;
  floor_helped_ = node.residual.worst - best > tuning_.floor_gain * (node.residual.worst - limits_.cut());
  work_ = 0.0;
  return sweeps(node, node.floored, tuning_.sweeps);
}

}  // namespace subspectra::search
