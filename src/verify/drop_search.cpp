#include "verify/drop_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eigen/symmetric.hpp"

namespace subspectra::verify {
namespace {

constexpr Long kMostError = 1e-7L;  ///< of the criterion: beyond it a search would decide by rounding

/// B over all places with a unit diagonal, and M (A = M M') in the same units.
struct ScaledFactors {
  LongMatrix b, m;
  Long factor_error = 0.0L;  ///< |M M' - A|, where A had to be decomposed
};

ScaledFactors scaled_factors(const DensePair& pair) {
  ScaledFactors scaled;
  scaled.b = pair.long_b.empty() ? in_long(pair.b) : pair.long_b;
  const Index n = scaled.b.rows;
  std::vector<Long> scale;
  for (Index i = 0; i < n; ++i) scale.push_back(1.0L / std::sqrt(scaled.b(i, i)));
  const auto per_unit = [&](Index i) { return scale[static_cast<std::size_t>(i)]; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) scaled.b(i, j) *= per_unit(i) * per_unit(j);
  }
  if (!pair.long_m.empty()) {
    scaled.m = pair.long_m;
    for (Index j = 0; j < scaled.m.cols; ++j) {
      for (Index i = 0; i < n; ++i) scaled.m(i, j) *= per_unit(i);
    }
    return scaled;
  }
  Matrix a = pair.a;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a(i, j) *= static_cast<double>(per_unit(i) * per_unit(j));
  }
  // Eigenvalues below 0 are left out: the criterion only grows by that, and a bound on it stays one.
  const linalg::SymmetricEigen eigen = linalg::spectrum(a, true);
  const double largest = std::max(eigen.values[n - 1], 0.0);
  const double rounding = 16.0 * static_cast<double>(n) * kEpsilon * eigen.values.cwiseAbs().maxCoeff();
  const Index rank = (eigen.values.array() > 1e-15 * largest).count();
  const Matrix m =
      eigen.vectors.rightCols(rank) * eigen.values.tail(rank).cwiseMax(0.0).cwiseSqrt().asDiagonal();
  scaled.m = in_long(m);
  scaled.factor_error = rounding;
  return scaled;
}

Long largest_eigenvalue(const LongMatrix& a) {
  constexpr Long kMargin = 1e-9L;
  const Vector values = linalg::spectrum(in_double(a), false).values;
  return values[values.size() - 1] * (1.0L + kMargin);
}

}  // namespace

DropSearch::DropSearch(const DensePair& pair, const Choices& choices, Criterion criterion,
                       const RunControl& control)
    : choices_(choices), criterion_(criterion), control_(control), judge_(pair, criterion) {
  set_up(pair);
}

void DropSearch::set_up(const DensePair& pair) {
  ScaledFactors scaled = scaled_factors(pair);
  const Index n = scaled.b.rows;
  const auto r = upper_cholesky(scaled.b);
  if (!r) {
    unusable_ = "the within-class covariance of all candidates is singular";
    return;
  }
  const LongMatrix p = inverse(*r);
  // B P = I + E: T = M'P M is off by |E| cond^{1/2} at most, and every sum of it by its rounding.
  const Long condition = column_norm(scaled.b) * column_norm(p);
  constexpr Long kRows = 512.0L;  // of the sums behind B (within_covariance)
  error_.relative = 2.0L * std::sqrt(condition) * inverse_residual(scaled.b, p) +
                    8.0L * (static_cast<Long>(n) + kRows) * kLongEpsilon * condition;
  const LongMatrix u = transposed_product(p, scaled.m);
  root_.t = transposed_product(scaled.m, u);
  error_.absolute = scaled.factor_error * column_norm(p);
  const Long of_all = column_norm(root_.t);
  if (!(error_.relative * of_all + error_.absolute <= kMostError * of_all)) {
    unusable_ = fmt::format(
        "the correlations within classes have a condition of {:.1g}, so that a search would decide by rounding",
        static_cast<double>(condition));
    return;
  }
  std::vector<Index> features;
  for (std::size_t unit = 0; unit < choices_.free.size(); ++unit) {
    root_.units.push_back(static_cast<int>(unit));
    root_.begin.push_back(std::ssize(features));
    features.insert(features.end(), choices_.free[unit].begin(), choices_.free[unit].end());
  }
  root_.begin.push_back(std::ssize(features));
  root_.p = part(p, features, true);
  root_.u = part(u, features, false);
  const bool single = std::all_of(choices_.free.begin(), choices_.free.end(),
                                  [](const auto& unit) { return unit.size() == 1; });
  if (!single || features.empty()) return;
  LongMatrix correlations = root_.p;
  for (Index j = 0; j < correlations.cols; ++j) {
    for (Index i = 0; i < correlations.rows; ++i)
      correlations(i, j) /= std::sqrt(root_.p(i, i) * root_.p(j, j));
  }
  largest_correlation_ = largest_eigenvalue(correlations);
  if (!choices_.forced.empty()) return;
  largest_inverse_ = largest_eigenvalue(p);
  for (const Index place : features) {
    Long score = 0.0L;
    for (Index c = 0; c < scaled.m.cols; ++c) score += scaled.m(place, c) * scaled.m(place, c);
    scores_.push_back(score);
  }
  std::sort(scores_.rbegin(), scores_.rend());
}

BoundAnswer DropSearch::find_above(Index k, double bound, const SearchBudget& budget,
                                   std::set<std::vector<Index>> known) {
  judge_.begin(bound, std::move(known));
  k_ = k;
  threshold_ = static_cast<Long>(bound) + kBeyond * std::abs(static_cast<Long>(bound)) + 1e-20L;
  limit_ = {.work = work_ + budget.work, .nodes = nodes_ + budget.nodes};
  end_ = BoundAnswer::End::kNone;
  kept_.clear();
  const auto least = std::ssize(choices_.forced);
  if (k < least || k > least + std::ssize(choices_.free) || settled_at_root(k)) return {};
  if (stack_.empty()) stack_.push_back(std::make_unique<Node>());
  *stack_[0] = root_;
  descend(0);
  return judge_.answer(end_);
}

/// What needs no search. By Cauchy's interlacing tr T_S is at most (sum of its |M_i|^2/B_ii)/lambda_min of
/// the correlations; and dropping D costs tr T, U_D'P_DD^{-1}U_D, at least (sum of the single
/// losses)/lambda_max of P's correlations.
bool DropSearch::settled_at_root(Index k) const {
  const Index r = root_.t.rows;
  if (!scores_.empty()) {
    const Long sum = std::accumulate(scores_.begin(), scores_.begin() + k, 0.0L);
    if (trace_at_most(criterion_, sum * largest_inverse_, r, error_, threshold_)) return true;
  }
  if (!(largest_correlation_ > 0.0L)) return false;
  std::vector<Long> losses;
  for (Index i = 0; i < root_.p.cols; ++i) {
    Long square = 0.0L;
    for (Index c = 0; c < r; ++c) square += root_.u(i, c) * root_.u(i, c);
    losses.push_back(square / root_.p(i, i));
  }
  std::sort(losses.begin(), losses.end());
  const Index drop = std::ssize(choices_.forced) + std::ssize(choices_.free) - k;
  const Long loss = std::accumulate(losses.begin(), losses.begin() + drop, 0.0L) / largest_correlation_;
  Long trace = 0.0L;
  for (Index i = 0; i < r; ++i) trace += root_.t(i, i);
  // The losses are as far off as T is.
  return trace_at_most(criterion_, trace * (1.0L + error_.relative) - loss * (1.0L - error_.relative), r,
                       error_, threshold_);
}

bool DropSearch::not_above(const Long* t) const {
  return criterion_at_most(criterion_, t, root_.t.rows, error_, threshold_);
}

/// (3) for every free unit of the node: T without it, and how much of tr T that costs.
void DropSearch::find_losses(Node& node) {
  const Index r = root_.t.rows, count = std::ssize(node.units);
  node.without = LongMatrix(r * r, count);
  node.loss.assign(static_cast<std::size_t>(count), 0.0L);
  for (Index unit = 0; unit < count; ++unit) {
    Long* const t = node.without.column(unit);
    std::copy(node.t.values.begin(), node.t.values.end(), t);
    const LongMatrix& c = reduced(node, unit, node.u, {});
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i <= j; ++i) {
        const Long product = dot(c.column(i), c.column(j), c.rows);
        t[i + j * r] -= product;
        if (i != j) t[j + i * r] = t[i + j * r];
        if (i == j) node.loss[static_cast<std::size_t>(unit)] += product;
      }
    }
  }
}

/// R^{-T} X_g, P_gg = R'R, over the rows g of a unit and these columns (none given: all).
const LongMatrix& DropSearch::reduced(const Node& node, Index unit, const LongMatrix& x,
                                      const std::vector<Index>& columns) {
  const Index first = node.begin[static_cast<std::size_t>(unit)];
  const Index count = node.begin[static_cast<std::size_t>(unit) + 1] - first;
  reduced_.rows = count;
  reduced_.cols = columns.empty() ? x.cols : std::ssize(columns);
  reduced_.values.resize(static_cast<std::size_t>(reduced_.rows * reduced_.cols));
  const Long scale = count == 1 ? 1.0L / std::sqrt(node.p(first, first)) : 1.0L;
  for (Index j = 0; j < reduced_.cols; ++j) {
    const Long* const from = x.column(columns.empty() ? j : columns[static_cast<std::size_t>(j)]) + first;
    for (Index i = 0; i < count; ++i) reduced_(i, j) = scale * from[i];
  }
  if (count == 1) return reduced_;
  LongMatrix block(count, count);
  for (Index j = 0; j < count; ++j) std::copy_n(node.p.column(first + j) + first, count, block.column(j));
  // A block of an inverse is positive definite; where rounding says otherwise nothing is taken for lost.
  const auto r = upper_cholesky(block);
  if (r) {
    reduced_ = solve_transposed(*r, std::move(reduced_));
  } else {
    std::fill(reduced_.values.begin(), reduced_.values.end(), 0.0L);
  }
  return reduced_;
}

/// True ends the search.
bool DropSearch::descend(std::size_t depth) {
  Node& node = *stack_[depth];
  nodes_ += 1.0;
  const auto free = std::ssize(node.units);
  const auto r = static_cast<double>(root_.t.rows);
  const auto features = static_cast<double>(node.p.cols);
  if (!go_on(features * r * r + 20.0)) return true;
  const Index forced = std::ssize(choices_.forced) + std::ssize(kept_);
  if (not_above(node.t.values.data())) return false;
  if (forced + free == k_) return leaf(node.units);
  find_losses(node);
  const std::size_t before = kept_.size();
  std::vector<Index> rest;
  for (Index unit = 0; unit < free; ++unit) {
    if (not_above(node.without.column(unit))) {
      kept_.push_back(node.units[static_cast<std::size_t>(unit)]);
    } else {
      rest.push_back(unit);
    }
  }
  const Index kept = std::ssize(choices_.forced) + std::ssize(kept_);
  bool ended = false;
  if (kept == k_) {
    ended = leaf({});
  } else if (kept < k_) {
    std::stable_sort(rest.begin(), rest.end(), [&](Index a, Index b) {
      return node.loss[static_cast<std::size_t>(a)] > node.loss[static_cast<std::size_t>(b)];
    });
    for (Index t = 0; !ended && t <= k_ - kept; ++t) {  // no more than k - kept of them can be kept
      if (stack_.size() == depth + 1) stack_.push_back(std::make_unique<Node>());
      make_child(node, rest, t, *stack_[depth + 1]);
      ended = descend(depth + 1);
      kept_.push_back(node.units[static_cast<std::size_t>(rest[static_cast<std::size_t>(t)])]);
    }
  }
  kept_.resize(before);
  return ended;
}

/// Without the t-th of `rest`, those before it kept for good, those after it free.
void DropSearch::make_child(const Node& node, const std::vector<Index>& rest, Index t, Node& child) {
  const Index dropped = rest[static_cast<std::size_t>(t)];
  child.units.clear();
  child.begin.clear();
  std::vector<Index> features;
  for (std::size_t i = static_cast<std::size_t>(t) + 1; i < rest.size(); ++i) {
    const auto unit = static_cast<std::size_t>(rest[i]);
    child.units.push_back(node.units[unit]);
    child.begin.push_back(std::ssize(features));
    for (Index f = node.begin[unit]; f < node.begin[unit + 1]; ++f) features.push_back(f);
  }
  child.begin.push_back(std::ssize(features));
  const Index n = std::ssize(features), r = root_.t.rows;
  const LongMatrix c = reduced(node, dropped, node.u, {});
  const LongMatrix& v = reduced(node, dropped, node.p, features);
  child.p.rows = child.p.cols = child.u.rows = n;
  child.p.values.resize(static_cast<std::size_t>(n * n));
  child.u.cols = r;
  child.u.values.resize(static_cast<std::size_t>(n * r));
  const Index* const at = features.data();
  for (Index j = 0; j < n; ++j) {
    const Long* const from = node.p.column(at[j]);
    Long* const to = child.p.column(j);
    if (v.rows == 1) {
      const Long by = v(0, j);
      const Long* const row = v.values.data();
      for (Index i = 0; i <= j; ++i) to[i] = from[at[i]] - by * row[i];
    } else {
      for (Index i = 0; i <= j; ++i) to[i] = from[at[i]] - dot(v.column(i), v.column(j), v.rows);
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) child.p(i, j) = child.p(j, i);
  }
  for (Index q = 0; q < r; ++q) {
    for (Index i = 0; i < n; ++i)
      child.u(i, q) =
          node.u(features[static_cast<std::size_t>(i)], q) - dot(v.column(i), c.column(q), v.rows);
  }
  child.t = LongMatrix(r, r);
  std::copy_n(node.without.column(dropped), r * r, child.t.values.begin());
  const auto size = static_cast<double>(n);
  work_ += size * size + size * static_cast<double>(r);
}

bool DropSearch::leaf(const std::vector<int>& more) {
  std::vector<Index> places;
  const auto take = [&](const std::vector<Index>& unit) {
    places.insert(places.end(), unit.begin(), unit.end());
  };
  for (const auto& unit : choices_.forced) take(unit);
  for (const int unit : kept_) take(choices_.free[static_cast<std::size_t>(unit)]);
  for (const int unit : more) take(choices_.free[static_cast<std::size_t>(unit)]);
  const auto size = static_cast<double>(places.size());
  return judge_.judge(places) || !go_on(5.0 * size * size * size + 1e3);
}

/// Counts, and asks the control once in a while.
bool DropSearch::go_on(double work) {
  constexpr double kOften = 1e6;
  work_ += work;
  if (work_ > limit_.work || nodes_ > limit_.nodes) {
    end_ = BoundAnswer::End::kSpent;
    return false;
  }
  if (work_ - last_look_ < kOften) return true;
  last_look_ = work_;
  control_.report("verify", -1.0,
                  [this] { return fmt::format("branch and bound, k {}: {:.0f} nodes", k_, nodes_); });
  if (!control_.should_stop()) return true;
  end_ = BoundAnswer::End::kStopped;
  return false;
}

}  // namespace subspectra::verify
