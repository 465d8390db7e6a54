#include "search/precise_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spectral/precise.hpp"

namespace subspectra {

using linalg::DoubleDouble;
using linalg::DoubleDoubleMatrix;

namespace {

constexpr Index kMostFeatures = 150;  // n^3 operations of some 20 flops, and the rows before that

double trace_of(const DoubleDoubleMatrix& t) {
  double trace = 0.0;
  for (Index i = 0; i < t.rows; ++i) trace += t(i, i).rounded();
  return trace;
}

/// Without one row and column (or one row).
DoubleDoubleMatrix without(const DoubleDoubleMatrix& from, Index place, bool column) {
  DoubleDoubleMatrix to(from.rows - 1, column ? from.cols - 1 : from.cols);
  for (Index j = 0; j < to.cols; ++j) {
    const Index source = j + (column && j >= place ? 1 : 0);
    for (Index i = 0; i < to.rows; ++i) to(i, j) = from(i + (i >= place ? 1 : 0), source);
  }
  return to;
}

}  // namespace

std::optional<PreciseInverse> PreciseInverse::of(const Pencil& pencil, const std::vector<Index>& features,
                                                 Criterion criterion) {
  const auto n = static_cast<Index>(features.size());
  if (n == 0 || n > kMostFeatures) return std::nullopt;
  auto block = pencil.precise_block(features);
  if (!block || block->m.rows == 0) return std::nullopt;
  PreciseInverse root;
  root.criterion_ = criterion;
  root.pair_ = std::make_shared<const PreciseBlock>(std::move(*block));
  root.left_.resize(features.size());
  std::iota(root.left_.begin(), root.left_.end(), Index{0});
  if (!root.factor()) return std::nullopt;
  return root;
}

bool PreciseInverse::factor() {
  const auto n = static_cast<Index>(left_.size());
  DoubleDoubleMatrix l(n, n), c(n, pair_->m.cols), inverse(n, n);  // L, L^{-1} M, L^{-1}
  Vector diagonal(n);
  for (Index i = 0; i < n; ++i) {
    const Index from = left_[static_cast<std::size_t>(i)];
    diagonal[i] = pair_->b(from, from).rounded();
    inverse(i, i) = 1.0;
    for (Index j = 0; j < n; ++j) l(i, j) = pair_->b(from, left_[static_cast<std::size_t>(j)]);
    for (Index j = 0; j < c.cols; ++j) c(i, j) = pair_->m(from, j);
  }
  if (!cholesky(l)) return false;
  solve_lower(l, inverse);
  solve_lower(l, c);
  p_ = inner_products(inverse);
  t_ = inner_products(c);
  u_ = DoubleDoubleMatrix(n, c.cols);  // L^{-T} C
  for (Index j = 0; j < c.cols; ++j) {
    for (Index i = 0; i < n; ++i) {
      DoubleDouble sum;
      for (Index m = i; m < n; ++m) sum += inverse(m, i) * c(m, j);
      u_(i, j) = sum;
    }
  }
  correlation_inverse_ = 0.0;
  for (Index i = 0; i < n; ++i) correlation_inverse_ += diagonal[i] * p_(i, i).rounded();
  // With the condition c <= n tr R^{-1} of the correlations R a factorization leaves an error of n c u in
  // every P_ii and in T; an update takes P_ij P_ji/P_ii, of size c, from P_ii, which may end at 1, and so
  // leaves n c^2 u.
  constexpr double kUnit = 0x1p-100, kMostOfUpdates = 1e-11;
  const double condition = static_cast<double>(n) * correlation_inverse_;
  const double of_factor = kUnit * static_cast<double>(n) * condition;
  updates_ = of_factor * condition < kMostOfUpdates;
  error_ = 1e-14 + (updates_ ? of_factor * condition : of_factor);
  factored_trace_ = trace_of(t_);
  if (criterion_ == Criterion::kWilks && t_.rows > 1) {  // what is small beside the largest part of T
    error_ += kUnit * static_cast<double>(t_.rows) * factored_trace_ * condition;
  }
  factored_error_ = error_;
  return error_ < 1e-10;
}

double PreciseInverse::value() const { return precise_criterion(criterion_, t_); }

double PreciseInverse::value_without(Index place) const {
  DoubleDoubleMatrix t = t_;
  for (Index j = 0; j < t.cols; ++j) {
    const DoubleDouble scaled = u_(place, j) / p_(place, place);
    for (Index i = 0; i < t.rows; ++i) t(i, j) -= u_(place, i) * scaled;
  }
  return precise_criterion(criterion_, t);
}

bool PreciseInverse::drop(Index place) {
  // What is left of a much larger T has lost as many digits, and is factored anew.
  constexpr double kMostFall = 1e-3, kMostError = 1e-10;
  const DoubleDouble own = p_(place, place);
  double left = trace_of(t_);
  for (Index j = 0; j < t_.cols; ++j) left -= (u_(place, j) * u_(place, j) / own).rounded();
  const double error = factored_error_ * std::max(1.0, factored_trace_ / left);
  left_.erase(left_.begin() + place);
  const auto n = static_cast<double>(left_.size());
  if (!updates_ || !(left > kMostFall * factored_trace_) || !(error < kMostError)) {
    work_ += n * n * n;
    return factor();
  }
  work_ += n * n;
  error_ = error;
  const DoubleDouble pivot = p_(place, place);
  for (Index j = 0; j < t_.cols; ++j) {
    const DoubleDouble scaled = u_(place, j) / pivot;
    for (Index i = 0; i < t_.rows; ++i) t_(i, j) -= u_(place, i) * scaled;
    for (Index i = 0; i < p_.rows; ++i) {
      if (i != place) u_(i, j) -= p_(i, place) * scaled;
    }
  }
  for (Index j = 0; j < p_.cols; ++j) {
    if (j == place) continue;
    const DoubleDouble scaled = p_(place, j) / pivot;
    for (Index i = 0; i < p_.rows; ++i) {
      if (i != place) p_(i, j) -= p_(i, place) * scaled;
    }
  }
  p_ = without(p_, place, true);
  u_ = without(u_, place, false);
  return true;
}

std::optional<RootLosses> precise_root(const Pencil& pencil, const SearchUnits& units, Criterion criterion) {
  if (!units.single) return std::nullopt;
  const auto inverse = PreciseInverse::of(pencil, units.features(), criterion);
  if (!inverse) return std::nullopt;
  RootLosses root{.value = inverse->value(),
                  .losses = Vector::Zero(units.count()),
                  .eigenvalues = {},
                  .inverse_correlation = kInfinity,
                  .correlation_inverse = inverse->correlation_inverse(),
                  .precise = true,
                  .correlation_norm = static_cast<double>(units.count())};
  const auto fixed = units.included();
  for (Index u = 0; u < units.count(); ++u) {  // units are in the order of their features
    if (fixed[static_cast<std::size_t>(u)] == 0)
      root.losses[u] = std::max(0.0, root.value - inverse->value_without(u));
  }
  return root;
}

namespace {

/// The pair of units, the features of each one after another.
std::vector<Index> unit_after_unit(const SearchUnits& units) {
  std::vector<Index> features;
  for (const auto& members : units.members) features.insert(features.end(), members.begin(), members.end());
  return features;
}

/// Leaps and bounds over the sets of k units that are better than the last of those known.
class PreciseTree {
 public:
  PreciseTree(const Pencil& pencil, const SearchUnits& units, Criterion criterion, Index k,
              std::vector<PoolSet> known, std::size_t wanted, const RunControl& control)
      : pencil_(pencil),
        units_(units),
        criterion_(criterion),
        k_(k),
        wanted_(wanted),
        control_(control),
        sets_(std::move(known)) {
    sort_pool(sets_);
  }

  PreciseBest run(const PreciseInverse& root) {
    std::vector<Index> all(units_.members.size());
    std::iota(all.begin(), all.end(), Index{0});
    const bool proven = visit(root, all, units_.included());
    return {.sets = std::move(sets_), .proven = proven};
  }

 private:
  /// What is not above it need not be looked at: a part of what a certificate allows.
  [[nodiscard]] double level() const {
    if (sets_.size() < wanted_) return -kInfinity;
    return sets_.back().objective * (1.0 + 0.2 * kCertifiedGap);
  }
  /// By its own factor: a value that is left over of a much larger one has lost digits on the way.
  void offer(std::vector<Index> features) {
    std::sort(features.begin(), features.end());
    for (const auto& set : sets_) {
      if (set.features == features) return;
    }
    auto block = pencil_.precise_block(features);
    const auto found = block ? precise_value(std::move(*block), criterion_) : std::nullopt;
    if (!found || (sets_.size() == wanted_ && !(found->value > sets_.back().objective))) return;
    sets_.push_back({std::move(features), found->value});
    sort_pool(sets_);
    if (sets_.size() > wanted_) sets_.pop_back();
  }

  /// Takes the members of a unit out, which stand one after another from this place on. False: so many digits
  /// do not tell what is left.
  [[nodiscard]] bool drop_unit(PreciseInverse& node, Index place, Index unit) {
    const double before = node.work();
    bool known = true;
    for (std::size_t i = units_.members[static_cast<std::size_t>(unit)].size(); known && i-- > 0;)
      known = node.drop(place + static_cast<Index>(i));
    work_ += node.work() - before;
    return known;
  }
  /// The most that the criterion may be without the unit.
  double most_without(const PreciseInverse& node, Index place, Index unit) {
    if (units_.members[static_cast<std::size_t>(unit)].size() == 1)
      return node.value_without(place) + node.error() * node.value();
    if (static_cast<Index>(units_.members[static_cast<std::size_t>(unit)].size()) == node.size()) return 0.0;
    PreciseInverse child = node;
    if (!drop_unit(child, place, unit)) return kInfinity;
    return child.value() * (1.0 + child.error());
  }

  /// T = `node` over the units `left`, of which those `kept` stay for good. False: stopped.
  bool visit(const PreciseInverse& node, const std::vector<Index>& left, std::vector<char> kept) {
    constexpr std::int64_t kMostNodes = 20000;
    constexpr double kMostWork = 1e9;  // operations of some 20 flops
    if (++nodes_ > kMostNodes || work_ > kMostWork || control_.should_stop()) return false;
    const auto n = static_cast<Index>(left.size()), drop = n - k_;
    const double value = node.value();
    const double doubt = node.error() * value;  // of every value that is computed from this node
    if (!(value + doubt > level())) return true;
    if (drop == 0) {
      offer(units_.features(left));
      return true;
    }
    std::vector<Index> place;  // of the first member of each
    for (Index next = 0; const Index u : left) {
      place.push_back(next);
      next += std::ssize(units_.members[static_cast<std::size_t>(u)]);
    }
    // Sets without i are at most f(T - i): where that is not above the level, i stays.
    std::vector<std::pair<double, Index>> free;
    for (Index i = 0; i < n; ++i) {
      if (kept[static_cast<std::size_t>(i)] != 0) continue;
      const auto at = static_cast<std::size_t>(i);
      const double without = most_without(node, place[at], left[at]);
      if (without > level()) {
        free.emplace_back(without, i);
      } else {
        kept[static_cast<std::size_t>(i)] = 1;
      }
    }
    if (static_cast<Index>(free.size()) < drop) return true;
    std::sort(free.begin(), free.end());  // the dearest first: its subtree, the largest, has the lowest bound
    for (std::size_t t = 0; t + static_cast<std::size_t>(drop) <= free.size(); ++t) {
      const auto out = static_cast<std::size_t>(free[t].second);
      std::vector<Index> others = left;
      others.erase(others.begin() + free[t].second);
      if (free[t].first > level()) {
        if (drop == 1) {
          offer(units_.features(others));
        } else {
          PreciseInverse child = node;
          if (!drop_unit(child, place[out], left[out])) return false;
          std::vector<char> still = kept;
          still.erase(still.begin() + free[t].second);
          if (!visit(child, others, std::move(still))) return false;
        }
      }
      kept[out] = 1;
    }
    return true;
  }

  const Pencil& pencil_;
  const SearchUnits& units_;
  Criterion criterion_;
  Index k_;
  std::size_t wanted_;
  const RunControl& control_;
  std::vector<PoolSet> sets_;
  std::int64_t nodes_ = 0;
  double work_ = 0.0;
};

}  // namespace

void sort_pool(std::vector<PoolSet>& sets) {
  constexpr double kTie = 0.25 * kCertifiedGap;  // ties and what a proof leaves open add up
  std::sort(sets.begin(), sets.end(), [](const PoolSet& x, const PoolSet& y) {
    return x.objective != y.objective ? x.objective > y.objective : x.features < y.features;
  });
  for (auto first = sets.begin(); first != sets.end();) {  // ties of the best of those left
    auto last = first;
    while (last != sets.end() && last->objective >= first->objective * (1.0 - kTie)) ++last;
    std::sort(first, last, [](const PoolSet& x, const PoolSet& y) { return x.features < y.features; });
    first = last;
  }
}

PreciseBest precise_best(const Pencil& pencil, const SearchUnits& units, Criterion criterion, Index k,
                         std::vector<PoolSet> known, std::size_t wanted, const RunControl& control) {
  const auto root = PreciseInverse::of(pencil, unit_after_unit(units), criterion);
  if (!root || k < 1) {
    sort_pool(known);
    return {.sets = std::move(known), .proven = false};
  }
  return PreciseTree(pencil, units, criterion, k, std::move(known), wanted, control).run(*root);
}

}  // namespace subspectra
