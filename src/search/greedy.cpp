#include "search/greedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/cholesky.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/card_pass.hpp"
#include "search/elimination.hpp"
#include "search/pass_work.hpp"
#include "search/scorer.hpp"
#include "spectral/discriminants.hpp"

namespace subspectra {
namespace {

using linalg::Op;
using search::Elimination;
using search::kTie;
using search::Scorer;

constexpr Index kDenseLimit = 20000;  ///< features beyond which nothing of that many rows and columns is made

/// The largest set that B has an inverse on. Sums over N rows less their K class means have rank N - K at
/// most, whatever rounding makes of them; a ridge has full rank.
Index most_rank(const Pencil& pencil) {
  const CovarianceOperator* const rows = pencil.origin().rows();
  if (rows == nullptr || pencil.factor() == nullptr || pencil.shift() > 0.0) return pencil.size();
  return rows->rows() - (rows->moments().class_weights().array() > 0.0).count();
}

/// One pass in either direction over an Elimination.
class FactorPass {
 public:
  FactorPass(std::unique_ptr<Elimination> elimination, const SearchUnits& units, Criterion criterion,
             double sign, Matrix t)
      : elimination_(std::move(elimination)),
        units_(units),
        scorer_(criterion, sign, std::move(t)),
        pivot_floor_(sign > 0.0 ? kDependentPivot : 0.0) {
    unit_of_.assign(static_cast<std::size_t>(highest_feature() + 1), -1);
    for (Index u = 0; u < units.count(); ++u) {
      for (const Index j : units.members[static_cast<std::size_t>(u)])
        unit_of_[static_cast<std::size_t>(j)] = u;
    }
    gone_.assign(units.members.size(), 0);
    make_blocks();
  }

  Elimination& elimination() { return *elimination_; }
  Scorer& scorer() { return scorer_; }
  std::vector<Index>& dependent() { return dependent_; }

  /// Swaps in a fresh elimination over the units that are left.
  void restart(std::unique_ptr<Elimination> elimination, Matrix t) {
    elimination_ = std::move(elimination);
    scorer_.reset(std::move(t));
    for (const Index u : held_) retire(u);
    make_blocks();
  }

  /// This unit stays as it is: it cannot be chosen.
  void hold(Index unit) {
    held_.push_back(unit);
    retire(unit);
  }

  /// The unit with the best criterion afterwards; nothing when none is left.
  std::optional<Index> choose() {
    scorer_.refresh_if_needed();
    if (!units_.single) return choose_group();
    const auto& e = *elimination_;
    const Index first = e.begin(), count = e.end() - first;
    const auto d = e.d().tail(count), start = e.start().tail(count);
    bool all = e.all_alive();
    for (Index i = 0; i < count; ++i) all &= d[i] > pivot_floor_ * start[i];
    usable_.clear();
    if (!all) {
      usable_.resize(static_cast<std::size_t>(count));
      for (Index i = 0; i < count; ++i) usable_[static_cast<std::size_t>(i)] = usable(first + i) ? 1 : 0;
    }
    const auto best = scorer_.best(e.c().bottomRows(count), d, usable_);
    if (best.tied.empty()) return std::nullopt;
    Index lowest = e.feature(first + best.tied.front());
    for (const Index i : best.tied) lowest = std::min(lowest, e.feature(first + i));
    return unit_of_[static_cast<std::size_t>(lowest)];
  }

  /// No set is larger than this: what is left then depends on what has been chosen.
  void stop_at_rank(Index most) {
    most_pivots_ = most;
    if (most_pivots_ <= 0) pivot_floor_ = kInfinity;
  }

  /// Makes the unit's members pivots. False when one of them depends on what is there.
  bool eliminate(Index unit) {
    for (const Index j : units_.members[static_cast<std::size_t>(unit)]) {
      auto& e = *elimination_;
      const Index slot = e.slot(j);
      if (!(e.d()[slot] > pivot_floor_ * e.start()[slot]) || !(e.d()[slot] > 0.0)) return false;
      scorer_.change(e.c().row(slot), e.d()[slot]);
      e.eliminate(slot);
      if (--most_pivots_ == 0) pivot_floor_ = kInfinity;
      update_blocks();
    }
    gone_[static_cast<std::size_t>(unit)] = 1;
    return true;
  }

  /// The criterion without (or with) this unit alone, from here.
  double after_unit(Index unit) {
    scorer_.refresh_if_needed();
    const auto& e = *elimination_;
    const auto& members = units_.members[static_cast<std::size_t>(unit)];
    if (members.size() > 1) return group_value(unit).value_or(scorer_.value());
    const Index slot = e.slot(members.front());
    return scorer_.after(e.c().row(slot) / std::sqrt(e.d()[slot]));
  }

 private:
  /// Whether a slot may be chosen; one that depends on the pivots is retired for good.
  bool usable(Index slot) {
    auto& e = *elimination_;
    if (!e.alive(slot)) return false;
    if (e.d()[slot] > pivot_floor_ * e.start()[slot]) return true;
    if (pivot_floor_ > 0.0) {
      dependent_.push_back(unit_of_[static_cast<std::size_t>(e.feature(slot))]);
      e.retire(slot);
    }
    return false;
  }
  [[nodiscard]] Index highest_feature() const {
    Index highest = 0;
    for (const auto& unit : units_.members) highest = std::max(highest, unit.back());
    return highest;
  }

  void retire(Index unit) {
    for (const Index j : units_.members[static_cast<std::size_t>(unit)]) {
      if (elimination_->slot(j) >= 0) elimination_->retire(elimination_->slot(j));
    }
  }

  // --- groups: the Schur complement of each, D_g, so that T changes by Y'Y, Y = chol(D_g)^{-1} C_g
  [[nodiscard]] std::vector<Index> slots(Index unit) const {
    std::vector<Index> at;
    for (const Index j : units_.members[static_cast<std::size_t>(unit)]) at.push_back(elimination_->slot(j));
    return at;
  }
  void make_blocks() {
    refreshed_ = elimination_->refreshed();
    if (units_.single) return;
    blocks_.resize(units_.members.size());
    for (Index u = 0; u < units_.count(); ++u) {
      if (gone_[static_cast<std::size_t>(u)] == 0 && slots(u).front() >= 0) {
        blocks_[static_cast<std::size_t>(u)] = elimination_->block(slots(u));
      }
    }
  }
  void update_blocks() {
    if (units_.single) return;
    if (refreshed_ != elimination_->refreshed()) return make_blocks();
    for (Index u = 0; u < units_.count(); ++u) {
      if (gone_[static_cast<std::size_t>(u)] != 0) continue;
      const auto at = slots(u);
      if (std::find(at.begin(), at.end(), -1) != at.end()) continue;  // being eliminated
      Vector w(static_cast<Index>(at.size()));
      for (std::size_t i = 0; i < at.size(); ++i) w[static_cast<Index>(i)] = elimination_->w(at[i]);
      blocks_[static_cast<std::size_t>(u)] -= w * w.transpose();
    }
  }
  std::optional<double> group_value(Index unit) {
    const auto at = slots(unit);
    if (static_cast<Index>(at.size()) > most_pivots_) return std::nullopt;
    Matrix y(static_cast<Index>(at.size()), elimination_->c().cols());
    for (std::size_t i = 0; i < at.size(); ++i) y.row(static_cast<Index>(i)) = elimination_->c().row(at[i]);
    const linalg::CholeskyFactor factor(blocks_[static_cast<std::size_t>(unit)]);
    if (!factor.positive()) return std::nullopt;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double pivot = factor.lower()(static_cast<Index>(i), static_cast<Index>(i));
      if (!(pivot * pivot > pivot_floor_ * elimination_->start()[at[i]])) return std::nullopt;
    }
    return scorer_.after(factor.solve_lower(std::move(y)));
  }
  std::optional<Index> choose_group() {
    std::optional<Index> best;
    double best_value = -kInfinity;
    for (Index u = 0; u < units_.count(); ++u) {
      if (gone_[static_cast<std::size_t>(u)] != 0) continue;
      const auto at = slots(u);
      if (at.front() < 0 || !elimination_->alive(at.front())) continue;
      const auto value = group_value(u);
      if (!value) {
        if (pivot_floor_ > 0.0) {
          dependent_.push_back(u);
          for (const Index slot : at) elimination_->retire(slot);
        }
        continue;
      }
      if (!best || *value > best_value + kTie * std::abs(best_value)) {
        best = u;
        best_value = *value;
      }
    }
    return best;
  }

  std::unique_ptr<Elimination> elimination_;
  const SearchUnits& units_;
  Scorer scorer_;
  double pivot_floor_;
  Index most_pivots_ = std::numeric_limits<Index>::max();
  std::vector<Index> unit_of_;
  std::vector<char> gone_;
  std::vector<Index> dependent_, held_;
  std::vector<Matrix> blocks_;
  Index refreshed_ = 0;
  std::vector<char> usable_;  ///< scratch; empty: all slots are
};

/// The inverse side over some features: P = B^{-1}, U = P M, T = M'P M.
struct Inverse {
  std::unique_ptr<Elimination> elimination;
  Matrix t;
  double inverse_correlation = kInfinity, correlation_inverse = kInfinity;  ///< as in RootLosses,
  double correlation_norm = kInfinity;                                      ///< this too
};

/// lambda_max of D P D <= its largest Collatz-Wielandt quotient max_i (|DPD| x)_i/x_i for any x > 0; a few
/// power steps make it tight. Reads the lower triangle of P, n^2 flops a step.
double scaled_norm_bound(const Matrix& p, const Vector& scale) {
  constexpr int kSteps = 8;
  const Index n = p.rows();
  Vector x = Vector::Ones(n), y(n);
  double bound = kInfinity;
  for (int step = 0; step < kSteps; ++step) {
    const Vector from = x.cwiseProduct(scale);
    y.setZero();
    for (Index j = 0; j < n; ++j) {
      const Index below = n - j - 1;
      const auto column = p.col(j).tail(below).cwiseAbs();
      y.tail(below) += from[j] * column;
      y[j] += p(j, j) * from[j] + column.dot(from.tail(below));
    }
    y = y.cwiseProduct(scale);
    bound = std::min(bound, y.cwiseQuotient(x).maxCoeff());
    x = y / y.maxCoeff();
    if (!(x.minCoeff() > 0.0)) break;
  }
  return bound;
}

[[noreturn]] void refuse_singular(const Pencil& pencil) {
  if (pencil.ridged())
    throw Infeasible(
        "the within-class covariance of the candidates is singular to rounding, with this ridge, too, so that no search can start from all of them; use a larger ridge, exclude features, or search forward (⟨method forward-lda⟩)");
  throw Infeasible(
      "the within-class covariance of the candidates is singular, so that no search can start from all of them; use ⟨ridge auto⟩ (or a number), exclude features, or search forward (⟨method forward-lda⟩)");
}

Inverse dense_inverse(const Pencil& pencil, const std::vector<Index>& features, int threads,
                      bool norms = false, const RunControl* control = nullptr) {
  if (static_cast<Index>(features.size()) > most_rank(pencil)) refuse_singular(pencil);
  Matrix p = pencil.block(features, threads);
  const Vector diagonal = p.diagonal();
  const double norm = norms ? scaled_norm_bound(p, diagonal.cwiseSqrt().cwiseInverse()) : kInfinity;
  Matrix u = (*pencil.factor())(features, Eigen::all);
  // A ridge makes B positive definite, however small; without one, a pivot of rounding size means that it is
  // singular.
  const double floor = pencil.shift() > 0.0 ? 0.0 : static_cast<double>(features.size()) * kEpsilon;
  auto t = linalg::invert_positive(p, u, floor, threads, control);
  if (!t) refuse_singular(pencil);
  Inverse side;
  side.correlation_norm = norm;
  if (norms) {
    side.inverse_correlation = scaled_norm_bound(p, p.diagonal().cwiseSqrt().cwiseInverse());
    side.correlation_inverse = scaled_norm_bound(p, diagonal.cwiseSqrt());
  }
  side.elimination = search::dense_elimination(std::move(p), features, pencil.size(), std::move(u), threads);
  side.t = std::move(*t);
  return side;
}

/// Whether a backward pass over `count` columns goes through the rows: where that is possible and faster, by
/// flops of DGEMM (4/3 n^3 for inverse and deletions) against bytes (N (n/2 + 2 N) doubles a deletion).
bool through_rows(const Pencil& pencil, Index count, InverseRoute route) {
  if (pencil.rows() == nullptr || !(pencil.shift() > 0.0) || route == InverseRoute::kDense) return false;
  const auto n = static_cast<double>(count), rows = static_cast<double>(pencil.rows()->rows());
  if (route == InverseRoute::kRows) return n > rows;
  constexpr double kFlopsPerByte = 5.0;                    // what a core does while it reads a byte
  if (count > kDenseLimit || n > 4.0 * rows) return true;  // nothing p x p while the rows are few
  return n > rows &&
         n * rows * (0.5 * n + 2.0 * rows) * sizeof(double) * kFlopsPerByte < 4.0 / 3.0 * n * n * n;
}

/// What a backward pass over `count` columns keeps: the rows and two N x N matrices, or P and its work.
double backward_bytes(const Pencil& pencil, Index count, InverseRoute route) {
  const auto n = static_cast<double>(count);
  if (!through_rows(pencil, count, route)) return 2.0 * n * n * sizeof(double);
  const auto rows = static_cast<double>(pencil.rows()->rows());
  return (rows * n + 2.0 * rows * rows) * sizeof(double);
}

Inverse rows_inverse(const Pencil& pencil, const std::vector<Index>& features, const GreedyOptions& options) {
  require_memory(backward_bytes(pencil, static_cast<Index>(features.size()), options.route),
                 fmt::format("backward elimination from {} features and {} rows", features.size(),
                             pencil.rows()->rows()),
                 "search forward (⟨method forward-lda⟩), or choose among fewer features (⟨exclude⟩)",
                 options.memory_limit);
  auto elimination = search::woodbury_elimination(pencil, features, options.threads);
  // T = M'U, U = P M.
  const Matrix m = (*pencil.factor())(features, Eigen::all);
  Matrix t(m.cols(), m.cols());
  linalg::gemm(1.0, Op::kTranspose, m, Op::kNone, elimination->c(), 0.0, t);
  t = (0.5 * (t + t.transpose())).eval();
  Inverse side;
  side.elimination = std::move(elimination);
  side.t = std::move(t);
  return side;
}

Inverse inverse_side(const Pencil& pencil, const std::vector<Index>& features, const GreedyOptions& options,
                     bool norms, const RunControl* control = nullptr) {
  const auto n = static_cast<Index>(features.size());
  if (through_rows(pencil, n, options.route)) return rows_inverse(pencil, features, options);
  require_memory(backward_bytes(pencil, n, options.route),
                 fmt::format("backward elimination from {} features", features.size()),
                 "search forward (⟨method forward-lda⟩), or choose among fewer features (⟨exclude⟩)",
                 options.memory_limit);
  return dense_inverse(pencil, features, options.threads, norms, control);
}

/// Something went numerically wrong with the updates: the smallest pivot has lost too many digits.
bool digits_lost(const Elimination& e) {
  constexpr double kLost =
      1e-5;  // of diag(P) as it was factorized: what is left has at most 1e-11 relative error
  for (Index i = e.begin(); i < e.end(); ++i) {
    if (!(e.d()[i] > kLost * e.start()[i])) return true;
  }
  return false;
}

std::vector<Index> left_over(const SearchUnits& units, const std::vector<char>& gone) {
  std::vector<Index> rest;
  for (Index u = 0; u < units.count(); ++u) {
    if (gone[static_cast<std::size_t>(u)] == 0) rest.push_back(u);
  }
  return rest;
}

/// A backward pass that was stopped before its first step: the set of all units is what it knows.
GreedyPass stopped_at_once(const SearchUnits& units, const RunControl& control) {
  GreedyPass pass;
  pass.order.resize(units.members.size());
  std::iota(pass.order.begin(), pass.order.end(), Index{0});
  pass.least = pass.most = units.count();
  pass.status = control.status_or(Status::kInterrupted);
  return pass;
}

RootLosses losses_at(FactorPass& pass, const SearchUnits& units, const Matrix& t, const Inverse& side) {
  pass.scorer().refresh_if_needed();
  RootLosses root{.value = pass.scorer().value(),
                  .losses = Vector::Zero(units.count()),
                  .eigenvalues = {},
                  .inverse_correlation = side.inverse_correlation,
                  .correlation_inverse = side.correlation_inverse,
                  .correlation_norm = side.correlation_norm};
  root.eigenvalues = linalg::small_symmetric_eigen(t, false).values.reverse().cwiseMax(0.0);
  const auto fixed = units.included();
  for (Index u = 0; u < units.count(); ++u) {
    if (fixed[static_cast<std::size_t>(u)] == 0) {
      root.losses[u] = std::max(0.0, root.value - pass.after_unit(u));
    }
  }
  return root;
}

/// What a forward pass needs: the whole of B where it goes far, else a column of B a step.
struct ForwardPlan {
  Index most = 0;           ///< units
  Index most_features = 0;  ///< in the largest of them, which could all be chosen
  bool dense = false;
  double bytes = 0.0;
};

ForwardPlan plan_forward(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options) {
  ForwardPlan plan;
  plan.most = options.most == 0 ? units.count() : std::min(options.most, units.count());
  std::vector<Index> sizes;
  Index n = 0;
  for (const auto& unit : units.members) {
    sizes.push_back(static_cast<Index>(unit.size()));
    n += sizes.back();
  }
  std::sort(sizes.rbegin(), sizes.rend());
  for (Index i = 0; i < plan.most; ++i) plan.most_features += sizes[static_cast<std::size_t>(i)];
  plan.dense = plan.most_features > n / 8 && n <= kDenseLimit;
  const auto side = static_cast<double>(n);
  plan.bytes = sizeof(double) *
               (plan.dense ? side * side
                           : static_cast<double>(pencil.size()) * static_cast<double>(plan.most_features));
  return plan;
}

/// Whether the two passes gain from running at the same time: both have to fit into memory, and be small
/// enough that the steps between the large products, which one thread does, are what takes the time. (4,096
/// features: 1.55 DGEMMs one after the other, 2.06 together, because both read matrices far larger than the
/// cache; 2,048: 2.14 and 1.89.) Sparse PCA and general pairs keep to one after the other: their passes ask
/// for memory as they go.
bool gain_together(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options) {
  constexpr Index kMost = 3000;
  if (pencil.factor() == nullptr) return false;
  const auto n = static_cast<Index>(units.features().size());
  return n <= kMost &&
         plan_forward(pencil, units, options).bytes + backward_bytes(pencil, n, options.route) <=
             static_cast<double>(memory_budget(options.memory_limit));
}

}  // namespace

namespace {

/// What `make` gives on a card, or nothing and why not.
template <class Make>
std::optional<GreedyPass> try_card(const Pencil& pencil, const SearchUnits& units,
                                   const GreedyOptions& options, std::string& why, const Make& make) {
  if (!options.card || !search::suits_card_pass(pencil, units)) return std::nullopt;
  try {
    GreedyPass pass = make();
    pass.on_card = true;
    return pass;
  } catch (const device::Unable& unable) {
    why = unable.marked();
    return std::nullopt;
  }
}

}  // namespace

GreedyPass forward_pass(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                        const RunControl& control) {
  if (pencil.factor() == nullptr) return forward_variance_pass(pencil, units, options, control);
  const auto features = units.features();
  const auto plan = plan_forward(pencil, units, options);
  const Index most = plan.most;
  std::string why_not;
  auto by_card = try_card(pencil, units, options, why_not, [&] {
    const Index rank = pencil.shift() > 0.0 ? units.count() : std::max<Index>(0, most_rank(pencil));
    // A table that is read a column a step stays one; all else is a matrix there.
    const bool dense =
        pencil.rows() == nullptr || plan.most_features > static_cast<Index>(features.size()) / 8;
    return search::forward_on_card(pencil, units, options, {.most = most, .rank = rank, .dense = dense},
                                   control);
  });
  if (by_card) return *std::move(by_card);
  require_memory(plan.bytes,
                 fmt::format("a forward search for {} of {} features", plan.most_features, features.size()),
                 "ask for fewer with ⟨k⟩", options.memory_limit);
  auto elimination =
      plan.dense ? search::dense_elimination(pencil.block(features, options.threads), features, pencil.size(),
                                             (*pencil.factor())(features, Eigen::all), options.threads)
                 : search::column_elimination(pencil, features, plan.most_features, options.threads);
  const Index r = pencil.factor()->cols();
  FactorPass pass(std::move(elimination), units, options.criterion, 1.0, Matrix::Zero(r, r));
  if (pencil.shift() <= 0.0) pass.stop_at_rank(most_rank(pencil));
  GreedyPass result;
  result.card_problem = std::move(why_not);
  for (const Index unit : units.include) {
    if (!pass.eliminate(unit)) {
      throw Infeasible(
          "the included features are linearly dependent; include fewer of them, or use ⟨ridge⟩ with a number");
    }
    result.order.push_back(unit);
  }
  result.least = std::max<Index>(1, static_cast<Index>(result.order.size()));
  result.status = Status::kHeuristic;
  while (static_cast<Index>(result.order.size()) < most) {
    if (control.should_stop()) {
      result.status = control.status_or(Status::kHeuristic);
      break;
    }
    const auto unit = pass.choose();
    if (!unit) {
      result.status = Status::kRankLimit;
      break;
    }
    if (!pass.eliminate(*unit)) break;
    result.order.push_back(*unit);
    control.report("forward", static_cast<double>(result.order.size()) / static_cast<double>(most),
                   [&] { return fmt::format("k {}/{}", result.order.size(), most); });
  }
  result.most = static_cast<Index>(result.order.size());
  result.dependent = std::move(pass.dependent());
  return result;
}

GreedyPass backward_pass(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                         const RunControl& control, RootLosses* root) {
  if (pencil.factor() == nullptr) return backward_variance_pass(pencil, units, options, control, root);
  const auto candidates = static_cast<Index>(units.features().size());
  std::string why_not;
  if (options.card && candidates > most_rank(pencil)) refuse_singular(pencil);
  auto by_card = try_card(pencil, units, options, why_not,
                          [&] { return search::backward_on_card(pencil, units, options, control); });
  if (by_card) {
    // Bounds stand on what the processor computes, where it has the memory.
    if (root != nullptr && !control.should_stop() &&
        backward_bytes(pencil, candidates, options.route) <=
            static_cast<double>(memory_budget(options.memory_limit)))
      *root = root_losses(pencil, units, options);
    return *std::move(by_card);
  }
  Inverse side;
  try {  // without a root to hand over, nothing is lost that anybody asked for
    side = inverse_side(pencil, units.features(), options, root != nullptr,
                        root == nullptr ? &control : nullptr);
  } catch (const linalg::Stopped&) {
    return stopped_at_once(units, control);
  }
  bool rows = through_rows(pencil, candidates, options.route);
  FactorPass pass(std::move(side.elimination), units, options.criterion, -1.0, side.t);
  for (const Index unit : units.include) pass.hold(unit);
  if (root != nullptr) *root = losses_at(pass, units, side.t, side);

  GreedyPass result;
  result.card_problem = std::move(why_not);
  result.most = units.count();
  result.status = Status::kHeuristic;
  std::vector<char> gone(units.members.size(), 0);
  std::vector<Index> deleted;
  const Index least = std::max<Index>({1, options.least, static_cast<Index>(units.include.size())});
  const Index steps = units.count() - least;
  Index since_check = 0;
  for (Index step = 0; step < steps; ++step) {
    if (control.should_stop()) {
      result.status = control.status_or(Status::kHeuristic);
      break;
    }
    const Index count = pass.elimination().end() - pass.elimination().begin();
    constexpr Index kCheck = 32;
    const bool leave_rows = rows && !through_rows(pencil, count, options.route);
    if (leave_rows || (!rows && ++since_check >= kCheck && digits_lost(pass.elimination()))) {
      auto fresh = dense_inverse(pencil, units.features(left_over(units, gone)), options.threads);
      pass.restart(std::move(fresh.elimination), std::move(fresh.t));
      rows = false;
    }
    if (since_check >= kCheck) since_check = 0;
    auto unit = pass.choose();
    if (!unit || !pass.eliminate(*unit)) {  // a pivot that is not positive: start afresh from what is left
      auto fresh = dense_inverse(pencil, units.features(left_over(units, gone)), options.threads);
      pass.restart(std::move(fresh.elimination), std::move(fresh.t));
      rows = false;
      unit = pass.choose();
      if (!unit || !pass.eliminate(*unit)) refuse_singular(pencil);
    }
    gone[static_cast<std::size_t>(*unit)] = 1;
    deleted.push_back(*unit);
    control.report("backward", static_cast<double>(step + 1) / static_cast<double>(steps),
                   [&] { return fmt::format("{} of {} left", units.count() - step - 1, units.count()); });
  }
  result.order = left_over(units, gone);
  result.least = static_cast<Index>(result.order.size());
  result.order.insert(result.order.end(), deleted.rbegin(), deleted.rend());
  return result;
}

DualPass dual_pass(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                   const RunControl& control, RootLosses* root) {
  // A pass is a chain of steps that only the large products between them make parallel, and the two passes
  // know nothing of each other: with threads to spare they run side by side, the longer one taking over both
  // threads when the shorter one ends.
  const bool together =
      !options.card && resolve_threads(options.threads) > 1 && gain_together(pencil, units, options);
  const RunControl quiet = control.silent();  // two voices at once would be hard to follow
  DualPass both;
  const auto forward = [&] {
    both.forward = forward_pass(pencil, units, options, together ? quiet : control);
  };
  const auto backward = [&] {
    try {
      both.backward = backward_pass(pencil, units, options, control, root);
    } catch (const Infeasible& reason) {
      both.infeasible = reason.marked();
    }
  };
  if (!together) {
    forward();
    backward();
    return both;
  }
  // The longer pass first, so that this thread has it: a thread that waits for the other's pass to end is
  // slow to help it.
  parallel_for(2, options.threads, [&](Index pass) { pass == 0 ? backward() : forward(); });
  return both;
}

namespace {

/// Of B over n columns of a table: N n^2; of matrices that are there nothing.
double block_work(const Pencil& pencil, double n) {
  return pencil.rows() != nullptr ? static_cast<double>(pencil.rows()->rows()) * n * n : 0.0;
}

}  // namespace

double forward_work(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options) {
  const auto plan = plan_forward(pencil, units, options);
  const auto n =
      static_cast<double>(plan.dense ? static_cast<Index>(units.features().size()) : pencil.size());
  const auto steps = static_cast<double>(plan.most_features);
  const auto r = static_cast<double>(pencil.factor()->cols());
  const double scores = steps * n * 4.0 * r;
  if (plan.dense) {
    const double left = n - steps;
    return block_work(pencil, n) + (n * n * n - left * left * left) / 3.0 + scores;
  }
  const double column = pencil.rows() != nullptr ? 2.0 * static_cast<double>(pencil.rows()->rows()) * n : n;
  return steps * (column + n * steps) + scores;
}

double dense_backward_work(const Pencil& pencil, Index columns) {
  const auto n = static_cast<double>(columns);
  return block_work(pencil, n) + 4.0 / 3.0 * n * n * n +
         2.0 * n * n * static_cast<double>(pencil.factor()->cols());
}

double backward_work(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options) {
  auto left = static_cast<Index>(units.features().size());
  if (!through_rows(pencil, left, options.route)) return dense_backward_work(pencil, left);
  const auto rows = static_cast<double>(pencil.rows()->rows());
  const auto r = static_cast<double>(pencil.factor()->cols());
  double work = 0.0;
  // In strides: what a deletion costs falls slowly with what is left.
  for (const Index stride = std::max<Index>(1, left / 256);
       left > 0 && through_rows(pencil, left, options.route); left -= stride) {
    constexpr double kRebuild = 50.0;  // deletions between two rebuilds (WoodburyElimination)
    const auto n = static_cast<double>(left);
    const double deletion = 4.0 * rows * rows + 2.0 * rows * n + 4.0 * r * n;
    const double rebuild = 3.0 * rows * rows * n + rows * rows * rows;
    work += static_cast<double>(std::min(stride, left)) * (deletion + rebuild / kRebuild);
  }
  return work + dense_backward_work(pencil, std::max<Index>(0, left));
}

double exchange_work(const Pencil& pencil, Index k, Index columns) {
  const auto size = static_cast<double>(k), n = static_cast<double>(columns);
  const auto r = static_cast<double>(pencil.factor()->cols());
  return 4.0 * size * size * n + size * n * (6.0 * r + 3.0);
}

bool root_through_rows(const Pencil& pencil, Index candidates, InverseRoute route) {
  return pencil.factor() != nullptr && through_rows(pencil, candidates, route);
}

RootLosses root_value(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options) {
  const auto features = units.features();
  const CovarianceOperator& rows = *pencil.rows();
  // P = B^{-1} = (I - Z'H Z)/eps, H = (eps I + Z Z')^{-1}, so that T = M'P M = (M'M - (Z M)'H (Z M))/eps.
  const Matrix m = (*pencil.factor())(features, Eigen::all);
  Matrix gram = rows.gram(features, options.threads);
  gram.diagonal().array() += pencil.shift();
  Matrix zm = rows.times(features, m);
  if (!linalg::cholesky_tiled(gram, options.threads)) refuse_singular(pencil);
  linalg::solve_lower_panels(gram, Op::kNone, zm);
  Matrix t(m.cols(), m.cols()), inner(m.cols(), m.cols());
  linalg::syrk(1.0, Op::kTranspose, m, 0.0, t);
  linalg::syrk(1.0, Op::kTranspose, zm, 0.0, inner);
  t = ((t - inner) / pencil.shift()).eval();
  RootLosses root{.value = 0.0, .losses = {}, .eigenvalues = {}};
  root.eigenvalues = linalg::small_symmetric_eigen(t, false).values.reverse().cwiseMax(0.0);
  // What the difference loses where the classes differ along the rows themselves.
  const double rounding = static_cast<double>(gram.rows()) * kEpsilon * m.squaredNorm() / pencil.shift();
  root.value = criterion_value(options.criterion, root.eigenvalues) + rounding;
  return root;
}

RootLosses root_losses(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options) {
  auto side = inverse_side(pencil, units.features(), options, true);
  FactorPass pass(std::move(side.elimination), units, options.criterion, -1.0, side.t);
  return losses_at(pass, units, side.t, side);
}

}  // namespace subspectra
