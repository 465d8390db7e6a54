#include "search/perron_descent.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace subspectra::search {

double PerronDescent::root_bound(const OpenNode& root) {
  const PerronLimits::Raised nothing_to_beat(limits_, -kInfinity);
  PerronNode node;
  node.start(problem_, root, limits_.cut());
  if (node.left == 0 || node.left >= node.count()) {
    auto all = node.kept;
    if (node.left > 0) all.insert(all.end(), node.units.begin(), node.units.end());
    const double value = problem_.scaled_value(all);
    return value + 1e-12 * std::abs(value);
  }
  bounds_.sweeps(node, node.residual, tuning_.root_sweeps);
  const double superset = problem_.scaled_superset();
  return std::min(node.bound, superset + 1e-12 * std::abs(superset));
}

void PerronDescent::run(const OpenNode& from, std::uint64_t budget, const RunControl& control) {
  budget_ = budget;
  control_ = &control;
  auto& node = push();
  node.start(problem_, from, limits_.cut());
  node.bound = from.bound / problem_.scale;
  // Easy problems end on the first visit; what is left after it needs more.
  if (from.free.size() + from.kept.size() + 1 < problem_.first.size()) {
    node.bound = std::min(node.bound, halfway_bound(from));
    bounds_.expect_hard_nodes();
  }
  search();
}

/// A bound that is meant to be low and not to close: with lambda between the cut and the known bound, which
/// suits nodes that are far from closing.
double PerronDescent::halfway_bound(const OpenNode& from) {
  const double above = from.bound / problem_.scale, cut = limits_.cut();
  const Index left = from.k - static_cast<Index>(from.kept.size());
  if (!problem_.uses(ExactBound::kFloor) ||
      !(cut > 0.0 && above > cut * tuning_.halfway && above < kInfinity) || left < tuning_.floor_left ||
      static_cast<Index>(from.free.size()) <= left) {
    return kInfinity;
  }
  const PerronLimits::Raised halfway(limits_, 0.5 * (cut + above));
  PerronNode node;
  node.start(problem_, from, limits_.cut());
  double bound = kInfinity;
  if (node.reduced()) {
    auto fate = bounds_.sweeps(node, node.residual, tuning_.sweeps);
    if (fate == NodeFate::kOpen && node.rows() <= tuning_.floor_rows) fate = bounds_.raise_floor(node);
    bound = fate == NodeFate::kClosed ? limits_.cut() : node.bound;
    if (fate == NodeFate::kOneSetLeft) bound = kInfinity;  // the search will look at it
  }
  bounds_.forget_that_floors_helped();
  return bound;
}

void PerronDescent::search() {
  while (depth_ > 0) {
    PerronNode& node = *stack_[static_cast<std::size_t>(depth_ - 1)];
    if (stopped()) {
      hand_back(node);
      --depth_;
      continue;
    }
    ++findings_.nodes;
    if (limits_.closes(node.bound)) {
      guard(node);
      --depth_;
      continue;
    }
    // Released, or there is more to beat.
    if (node.residual.off_diagonal.empty() || limits_.cut() > node.built_for)
      node.build(problem_, limits_.cut());
    if (finish_leaf(node) || close(node)) {
      guard(node);
      --depth_;
      continue;
    }
    const Index e = unit_to_branch_on(node);
    PerronNode& child = push();
    child.keep(problem_, node, e, limits_.cut());
    std::vector<char> gone(static_cast<std::size_t>(node.count()), 0);
    gone[static_cast<std::size_t>(e)] = 1;
    node.drop(problem_, gone);
    release();
  }
}

bool PerronDescent::close(PerronNode& node) {
  const auto fate = bounds_.close(node);
  return fate == NodeFate::kClosed || (fate == NodeFate::kOneSetLeft && finish_leaf(node));
}

/// Nodes that need no branching: whether this was one.
bool PerronDescent::finish_leaf(const PerronNode& node) {
  if (node.count() < node.left) return true;
  if (node.left == 0) {
    limits_.offer(node.kept, {});
    return true;
  }
  if (node.count() == node.left) {
    auto all = node.kept;
    all.insert(all.end(), node.units.begin(), node.units.end());
    limits_.offer(all, {});
    return true;
  }
  if (node.left == 1) {
    // The best last unit, by an upper bound on what it makes of the set.
    std::vector<std::pair<double, Index>> order;
    for (Index e = 0; e < node.count(); ++e) {
      const auto unit = static_cast<std::size_t>(e);
      double at_most = 0.0;
      if (node.reduced() && !node.kept.empty()) {
        // Above lambda, the value is at most that of the unit's block of C.
        for (Index i = node.begin[unit]; i < node.begin[unit + 1]; ++i) {
          double sum = node.residual.diagonal[static_cast<std::size_t>(i)];
          for (Index j = node.begin[unit]; j < node.begin[unit + 1]; ++j)
            sum += std::abs(node.residual.row(i)[j]);
          at_most = i == node.begin[unit] ? sum : std::max(at_most, sum);
        }
        at_most = std::max(node.lambda, at_most);
      } else {
        at_most = kInfinity;
        if (problem_.single) {
          const auto i = problem_.first[static_cast<std::size_t>(node.units[unit])];
          double square = 0.0;
          for (const Index j : problem_.rows_of(node.kept)) square += problem_.a(j, i) * problem_.a(j, i);
          at_most = larger_of_two(node.kept_value, std::sqrt(square), problem_.a(i, i));
        }
      }
      order.emplace_back(-(at_most + 16.0 * kEpsilon * std::abs(at_most)), e);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [bound, e] : order) {
      if (limits_.closes(-bound)) break;
      limits_.offer(node.kept, {node.units[static_cast<std::size_t>(e)]});
    }
    return true;
  }
  if (node.left == 2 && problem_.single && node.reduced()) {
    const Index n = node.rows();
    const double margin = 1.0 - 32.0 * kEpsilon;
    if (*std::max_element(node.residual.diagonal.begin(), node.residual.diagonal.begin() + n) >=
        limits_.cut())
      return false;
    std::vector<double> slack(static_cast<std::size_t>(node.residual.stride), 1.0);
    for (Index i = 0; i < n; ++i)
      slack[static_cast<std::size_t>(i)] =
          limits_.cut() - node.residual.diagonal[static_cast<std::size_t>(i)];
    std::vector<std::tuple<double, Index, Index>> pairs;
    for (Index i = 0; i < n; ++i) {
      const double f = slack[static_cast<std::size_t>(i)] * margin;
      if (rows::largest_square_excess(node.residual.row(i), slack.data(), f, node.residual.stride) <= 0.0)
        continue;
      for (Index j = i + 1; j < n; ++j) {
        const double c = node.residual.row(i)[j];
        if (c * c > f * slack[static_cast<std::size_t>(j)]) {
          const double at_most =
              larger_of_two(node.residual.diagonal[static_cast<std::size_t>(i)], std::abs(c),
                            node.residual.diagonal[static_cast<std::size_t>(j)]);
          pairs.emplace_back(-(at_most + 16.0 * kEpsilon * std::abs(at_most)), i, j);
        }
      }
    }
    limits_.close_at_cut();
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [bound, i, j] : pairs) {
      if (limits_.closes(node.kept.empty() ? -bound : std::max(node.lambda, -bound))) break;
      limits_.offer(node.kept,
                    {node.units[static_cast<std::size_t>(i)], node.units[static_cast<std::size_t>(j)]});
    }
    return true;
  }
  return false;
}

/// The unit with the largest scaling: where the Perron vector would be.
Index PerronDescent::unit_to_branch_on(const PerronNode& node) const {
  const RowBoundedMatrix& matrix =
      node.has_floor && node.floored.worst < node.residual.worst ? node.floored : node.residual;
  Index best = 0;
  double most = -kInfinity;
  for (Index e = 0; e < node.count(); ++e) {
    const auto unit = static_cast<std::size_t>(e);
    double score = 0.0;
    for (Index i = node.begin[unit]; i < node.begin[unit + 1]; ++i)
      score += matrix.d[static_cast<std::size_t>(i)];
    if (score > most) {
      most = score;
      best = e;
    }
  }
  return best;
}

/// What is left of a node when the visit ends.
void PerronDescent::hand_back(const PerronNode& node) {
  if (node.count() < node.left) return;
  if (limits_.closes(node.bound)) return guard(node);
  OpenNode open{.k = node.k(), .kept = node.kept, .free = node.units, .bound = node.bound * problem_.scale};
  std::sort(open.kept.begin(), open.kept.end());
  findings_.open.push_back(std::move(open));
}

/// Debug builds: the planted set is not in what is closed.
void PerronDescent::guard(const PerronNode& node) const {
  problem_.guard(node.kept, node.units, node.k(), limits_.cut());
}

bool PerronDescent::stopped() {
  if (!stopped_) stopped_ = findings_.nodes >= budget_ || control_->should_stop();
  return stopped_;
}

PerronNode& PerronDescent::push() {
  if (depth_ == static_cast<Index>(stack_.size())) stack_.push_back(std::make_unique<PerronNode>());
  return *stack_[static_cast<std::size_t>(depth_++)];
}

/// Nodes hold F^2 entries each. Where that is too much, those not in use give theirs back, then the upper
/// ones until they are needed.
void PerronDescent::release() {
  const auto entries = [](const PerronNode& node) {
    return node.residual.off_diagonal.capacity() + node.floored.off_diagonal.capacity();
  };
  std::size_t held = 0;
  for (const auto& node : stack_) held += entries(*node);
  const auto give_back = [&](Index e) {
    PerronNode& node = *stack_[static_cast<std::size_t>(e)];
    held -= entries(node);
    node.residual.off_diagonal = std::vector<double>();
    node.floored.off_diagonal = std::vector<double>();
    node.has_floor = false;
  };
  for (auto e = static_cast<Index>(stack_.size()); held > problem_.most_level_entries && e-- > depth_;)
    give_back(e);
  for (Index e = 0; held > problem_.most_level_entries && e + 1 < depth_; ++e) give_back(e);
}

}  // namespace subspectra::search
