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
  Vector diagonal(n);
  for (Index i = 0; i < n; ++i) diagonal[i] = block->b(i, i).rounded();
  if (!cholesky(block->b)) return std::nullopt;
  DoubleDoubleMatrix inverse(n, n);  // L^{-1}
  for (Index i = 0; i < n; ++i) inverse(i, i) = 1.0;
  solve_lower(block->b, inverse);
  DoubleDoubleMatrix c = block->m;
  solve_lower(block->b, c);
  PreciseInverse root;
  root.criterion_ = criterion;
  root.p_ = inner_products(inverse);
  root.t_ = inner_products(c);
  root.u_ = DoubleDoubleMatrix(n, c.cols);  // L^{-T} C
  for (Index j = 0; j < c.cols; ++j) {
    for (Index i = 0; i < n; ++i) {
      DoubleDouble sum;
      for (Index m = i; m < n; ++m) sum += inverse(m, i) * c(m, j);
      root.u_(i, j) = sum;
    }
  }
  for (Index i = 0; i < n; ++i) root.correlation_inverse_ += diagonal[i] * root.p_(i, i).rounded();
  constexpr double kUnit = 0x1p-100;
  const double condition = static_cast<double>(n) * root.correlation_inverse_;
  root.error_ = 1e-14 + kUnit * static_cast<double>(n) * condition * condition;
  if (criterion == Criterion::kWilks && root.t_.rows > 1) {  // what is small beside the largest part of T
    double trace = 0.0;
    for (Index i = 0; i < root.t_.rows; ++i) trace += root.t_(i, i).rounded();
    root.error_ += kUnit * static_cast<double>(root.t_.rows) * trace * condition;
  }
  if (!(root.error_ < 1e-10)) return std::nullopt;
  return root;
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

void PreciseInverse::drop(Index place) {
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

/// Leaps and bounds over the sets of k that are better than the last of those known.
class PreciseTree {
 public:
  PreciseTree(Index k, std::vector<PoolSet> known, std::size_t wanted, double error,
              const RunControl& control)
      : k_(k), wanted_(wanted), error_(error), control_(control), sets_(std::move(known)) {
    sort_pool(sets_);
  }

  PreciseBest run(const PreciseInverse& root, const std::vector<Index>& features, std::vector<char> kept) {
    const bool proven = visit(root, features, std::move(kept));
    return {.sets = std::move(sets_), .proven = proven};
  }

 private:
  /// What is not above it need not be looked at: a part of what a certificate allows.
  [[nodiscard]] double level() const {
    if (sets_.size() < wanted_) return -kInfinity;
    return sets_.back().objective * (1.0 + 0.25 * kCertifiedGap - 2.0 * error_);
  }
  void offer(std::vector<Index> features, double value) {
    std::sort(features.begin(), features.end());
    for (const auto& set : sets_) {
      if (set.features == features) return;
    }
    sets_.push_back({std::move(features), value});
    sort_pool(sets_);
    if (sets_.size() > wanted_) sets_.pop_back();
  }

  /// T = `node` over `features`, of which those `kept` stay for good. False: stopped.
  bool visit(const PreciseInverse& node, const std::vector<Index>& features, std::vector<char> kept) {
    constexpr std::int64_t kMostNodes = 20000;
    if (++nodes_ > kMostNodes || control_.should_stop()) return false;
    const Index n = node.size(), drop = n - k_;
    const double value = node.value();
    if (!(value > level())) return true;
    if (drop == 0) {
      offer(features, value);
      return true;
    }
    // Sets without i are at most f(T - i): where that is not above the level, i stays.
    std::vector<std::pair<double, Index>> free;
    for (Index i = 0; i < n; ++i) {
      if (kept[static_cast<std::size_t>(i)] != 0) continue;
      const double without = node.value_without(i);
      if (without > level()) {
        free.emplace_back(without, i);
      } else {
        kept[static_cast<std::size_t>(i)] = 1;
      }
    }
    if (static_cast<Index>(free.size()) < drop) return true;
    std::sort(free.begin(), free.end());  // the dearest first: its subtree, the largest, has the lowest bound
    for (std::size_t t = 0; t + static_cast<std::size_t>(drop) <= free.size(); ++t) {
      const Index place = free[t].second;
      std::vector<Index> left = features;
      left.erase(left.begin() + place);
      if (free[t].first > level()) {
        if (drop == 1) {
          offer(std::move(left), free[t].first);
        } else {
          PreciseInverse child = node;
          child.drop(place);
          std::vector<char> still = kept;
          still.erase(still.begin() + place);
          if (!visit(child, left, std::move(still))) return false;
        }
      }
      kept[static_cast<std::size_t>(place)] = 1;
    }
    return true;
  }

  Index k_;
  std::size_t wanted_;
  double error_;
  const RunControl& control_;
  std::vector<PoolSet> sets_;
  std::int64_t nodes_ = 0;
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
  const auto root = units.single ? PreciseInverse::of(pencil, units.features(), criterion) : std::nullopt;
  if (!root) {
    sort_pool(known);
    return {.sets = std::move(known), .proven = false};
  }
  return PreciseTree(k, std::move(known), wanted, root->error(), control)
      .run(*root, units.features(), units.included());
}

}  // namespace subspectra
