/// Backward elimination of single features by lambda_max(A_T), B = I. DESIGN 2.3.
///
/// Without feature i the largest eigenvalue is the largest root of sum_j v_ij^2/(lambda - Lambda_j) = 0. The
/// leading pairs (Lambda_j, v_j), j <= q, are kept; of the others their sum at one point sigma > Lambda_1 is
/// known, since all together are the diagonal of R = (sigma I - A_T)^{-1}, which is downdated as in 2.2:
///     h_i = R_ii - sum_{j<=q} v_ij^2/(sigma - Lambda_j),   of weight m_i = 1 - sum_{j<=q} v_ij^2.
/// At lambda < sigma the others add to at most what h_i (sigma - Lambda_{q+1}), put at the pole Lambda_{q+1},
/// adds (u/(1 - cu) with u = 1/(sigma - Lambda_j), c = sigma - lambda, is below its chord from 0), and to at
/// least what m_i, put at the pole sigma - m_i/h_i, adds (it is convex). So each candidate has an upper and a
/// lower bound from one small secular equation each, tight as long as sigma is near: mostly one candidate is
/// left, and deleting it, one rank of R, is followed by a few products of R with a vector.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "leading_eigenpairs.hpp"
#include "secular.hpp"
#include "subspectra/core/error.hpp"
#include "subspectra/core/memory.hpp"
#include "subspectra/core/random.hpp"
#include "subspectra/linalg/tiled.hpp"
#include "variance_search.hpp"

namespace subspectra::variance {
namespace {

using linalg::Op;

constexpr Index kPairs = 6;      // kept of R
constexpr Index kSmall = 64;     // below this many features all pairs are computed at every step
constexpr double kNear = 0.02;   // sigma - Lambda_1, as part of Lambda_1 - Lambda_8, when R is made
constexpr double kFar = 0.12;    // (sigma - Lambda_1)/(sigma - Lambda_8) at which it is made again
constexpr double kFloor = 1e-4;  // sigma - Lambda_1 is at least this part of Lambda_1

/// Bounds on lambda_max without feature i, as drops from Lambda_1.
struct Drop {
  Index feature;
  double least, most;
};

/// The model of all candidates at one step.
class Screen {
 public:
  /// x: rows by feature, columns the leading vectors. `diagonal` of R.
  Screen(double sigma, const Pairs& pairs, Matrix x, const Vector& diagonal)
      : x_(std::move(x)), sigma_(sigma), theta_(pairs.theta) {
    const Index count = theta_.size();
    lambda_ = sigma - theta_.cwiseInverse().array();
    // As many pairs as are good vectors; what they are wrong by widens the bounds.
    for (q_ = count - 1; q_ > 1; --q_) {
      slack_ = 0.0;
      for (Index j = 0; j < q_; ++j) {
        slack_ = std::max(slack_, 20.0 * pairs.residual[j] / std::max(theta_[j] - theta_[q_], 1e-300));
      }
      if (slack_ <= 2e-3) break;
    }
    error_ = count > 1 ? pairs.residual[0] / std::max(theta_[0] - theta_[1], 1e-300) : 0.0;
    error_ = std::min(1.0, error_ + 1e-14);
    if (q_ <= 1) slack_ = 0.0;
    slack_ = std::min(0.5, slack_ + 50.0 * error_ + 1e-10);
    u_out_ = theta_[q_] + pairs.residual[q_];
    gap_out_ = std::max(lambda_[0] - (sigma_ - 1.0 / u_out_), 0.0);
    sum_ = diagonal - x_.leftCols(q_).cwiseAbs2() * theta_.head(q_);
    rest_ = 1.0 - x_.leftCols(q_).cwiseAbs2().rowwise().sum().array();
  }

  [[nodiscard]] double top() const { return lambda_[0]; }

  /// A feature whose others add to more than they could if all were at Lambda_{q+1}: a leading vector is
  /// missing.
  [[nodiscard]] Index impossible(const std::vector<char>& alive) const {
    Index worst = -1;
    double most = 1.0 + 1e-6;
    for (Index i = 0; i < rest_.size(); ++i) {
      if (alive[static_cast<std::size_t>(i)] == 0 || rest_[i] < 1e-6) continue;
      const double ratio = sum_[i] / (rest_[i] * u_out_);
      if (ratio > most) {
        most = ratio;
        worst = i;
      }
    }
    return worst;
  }

  /// `square` is (R^2)_ii = |R e_i|^2 where that is known: then the same two bounds are taken of the measure
  /// with density u, and differ in the second order of c u instead of the first.
  [[nodiscard]] Drop bounds(Index i, double square = -1.0) const {
    std::array<double, kPairs + 2> gap{}, weight{};
    for (Index j = 1; j < q_; ++j) {
      gap[static_cast<std::size_t>(j)] = lambda_[0] - lambda_[j];
      weight[static_cast<std::size_t>(j)] = x_(i, j) * x_(i, j);
    }
    const auto last = static_cast<std::size_t>(q_);
    const double first = std::abs(x_(i, 0)), sum = std::max(sum_[i], 0.0), rest = std::max(rest_[i], 0.0);
    Drop drop{i, 0.0, 0.0};
    weight[0] = std::pow(std::max(0.0, first - error_), 2);
    gap[last] = gap_out_;
    weight[last] = sum / u_out_;
    double far = 0.0, second = square;
    if (square >= 0.0) {
      for (Index j = 0; j < q_; ++j) second -= std::pow(x_(i, j) * theta_[j], 2);
      second = std::clamp(second, rest > 0.0 ? sum * sum / rest : 0.0, sum * u_out_);
      far = sum - second / u_out_;
      weight[last] = second / (u_out_ * u_out_);
    }
    drop.least = secular::drop(gap.data(), weight.data(), q_ + 1, far) * (1.0 - slack_);
    weight[0] = std::pow(first + error_, 2);
    gap[last] = std::max(gap_out_, sum > 0.0 ? lambda_[0] - sigma_ + rest / sum : 0.0);
    weight[last] = rest;
    if (second > 0.0) {
      gap[last] = std::max(gap_out_, lambda_[0] - sigma_ + sum / second);
      weight[last] = sum * sum / second;
    }
    drop.most = secular::drop(gap.data(), weight.data(), q_ + 1) * (1.0 + slack_);
    if (q_ > 1) drop.most = std::min(drop.most, (lambda_[0] - lambda_[1]) * (1.0 + 1e-12));  // interlacing
    return drop;
  }

  /// Candidates that may be the best, the most promising first.
  [[nodiscard]] std::vector<Drop> survivors(const std::vector<char>& candidate) const {
    const auto is = [&](Index i) { return candidate[static_cast<std::size_t>(i)] != 0; };
    Index guess = -1;
    double smallest = kInfinity;
    for (Index i = 0; i < sum_.size(); ++i) {
      if (!is(i)) continue;
      const double score = x_(i, 0) * x_(i, 0) / std::max(sum_[i], 1e-300);
      if (guess < 0 || score < smallest) {
        smallest = score;
        guess = i;
      }
    }
    double target = bounds(guess).most;
    const double tie = kTie * std::abs(top());
    // Where delta H_i(delta) <= w_0 at the target the drop is larger: one dot product with weights that are
    // the same for all.
    const double delta = (target + tie) / (1.0 - slack_);
    const double nearest = q_ > 1 ? lambda_[0] - lambda_[1] : gap_out_;
    Vector left;
    if (delta < nearest) {
      Vector poles = Vector::Zero(q_);
      for (Index j = 1; j < q_; ++j) poles[j] = delta / (lambda_[0] - lambda_[j] - delta);
      left = x_.leftCols(q_).cwiseAbs2() * poles + sum_ * (delta / (u_out_ * (gap_out_ - delta)));
    }
    std::vector<Drop> list;
    for (Index i = 0; i < sum_.size(); ++i) {
      if (!is(i)) continue;
      const double first = std::max(0.0, std::abs(x_(i, 0)) - error_);
      if (i != guess && left.size() > 0 && left[i] < first * first) continue;
      list.push_back(bounds(i));
      target = std::min(target, list.back().most);
    }
    std::erase_if(list, [&](const Drop& d) { return d.least > target + tie; });
    std::stable_sort(list.begin(), list.end(),
                     [](const Drop& a, const Drop& b) { return a.least < b.least; });
    return list;
  }

 public:
  Matrix x_;
  double sigma_;
  Vector theta_, lambda_;
  Index q_ = 1;             ///< pairs used as they are
  double slack_ = 0.0;      ///< relative, of drops: the error of the vectors after the first
  double error_ = 0.0;      ///< of the first vector
  double u_out_, gap_out_;  ///< 1/(sigma - Lambda_{q+1}) or more, and Lambda_1 - Lambda_{q+1} or less
  Vector sum_, rest_;
};

struct Statistics {
  Index steps = 0, survivors = 0, trials = 0, applications = 0, factorizations = 0;
};

/// The features still alive and the matrix over them.
class Backward {
 public:
  virtual ~Backward() = default;
  /// Place (in the frame) of the feature to delete and the largest eigenvalue without it.
  [[nodiscard]] virtual Index pick(const std::vector<char>& candidate) = 0;
};

/// A_T as a dense matrix over a frame of features; deleted ones stay in it, as zeros, until it is made again.
class DenseBackward {
 public:
  DenseBackward(Matrix a, int threads) : a_(std::move(a)), threads_(threads) {
    const Index n = a_.rows();
    alive_.assign(static_cast<std::size_t>(n), 1);
    name_.resize(static_cast<std::size_t>(n));
    std::iota(name_.begin(), name_.end(), Index{0});
    live_ = n;
    if (live_ > kSmall) begin();
  }

  [[nodiscard]] Index live() const { return live_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

  /// `may_leave` by name. Deletes the feature that costs least and returns its name. `root` is filled if not
  /// null, by name.
  Index step(const std::vector<char>& may_leave, RootLosses* root) {
    ++statistics_.steps;
    return live_ > kSmall ? step_by_screen(may_leave, root) : step_by_decomposition(may_leave, root);
  }
  /// Fills `root` and deletes nothing.
  void losses(const std::vector<char>& may_leave, RootLosses& root) {
    if (live_ > kSmall) {
      fill(screen(), may_leave, root);
    } else {
      decompose();
      fill(may_leave, root);
    }
  }

 private:
  [[nodiscard]] std::vector<Index> places() const {
    std::vector<Index> places;
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      if (alive_[i] != 0) places.push_back(static_cast<Index>(i));
    }
    return places;
  }

  // --- few features: all pairs
  void decompose() {
    compact();
    eigen_ = linalg::symmetric_eigen(a_, true);
    top_ = eigen_.values[live_ - 1];
    vectors_ = eigen_.vectors.rowwise().reverse();
    gaps_ = top_ - eigen_.values.reverse().array();
  }
  [[nodiscard]] double drop(Index i) const {
    const Vector weights = vectors_.row(i).cwiseAbs2();
    return secular::drop(gaps_.data(), weights.data(), live_);
  }
  void fill(const std::vector<char>& may_leave, RootLosses& root) const {
    root.value = top_;
    for (Index i = 0; i < live_; ++i) {
      const Index name = name_[static_cast<std::size_t>(i)];
      if (may_leave[static_cast<std::size_t>(name)] == 0) continue;
      root.losses[name] = std::max(0.0, drop(i) - 1e-12 * std::abs(top_));
    }
  }
  Index step_by_decomposition(const std::vector<char>& may_leave, RootLosses* root) {
    decompose();
    if (root != nullptr) fill(may_leave, *root);
    Best best;
    for (Index i = 0; i < live_; ++i) {
      const Index name = name_[static_cast<std::size_t>(i)];
      if (may_leave[static_cast<std::size_t>(name)] != 0) best.offer(name, top_ - drop(i));
    }
    top_ = best.value();
    const Index place = std::find(name_.begin(), name_.end(), best.unit()) - name_.begin();
    alive_[static_cast<std::size_t>(place)] = 0;
    --live_;
    return best.unit();
  }

  // --- many: leading pairs of R
  void begin();
  void factor(double near);
  void compact();
  [[nodiscard]] Screen screen();
  [[nodiscard]] Pairs without(Index i, const Vector& p, const PairsGoal& goal) const;
  void fill(const Screen& screen, const std::vector<char>& may_leave, RootLosses& root) const;
  Index step_by_screen(const std::vector<char>& may_leave, RootLosses* root);

  Matrix a_;
  int threads_;
  std::vector<char> alive_;  ///< by place in the frame
  std::vector<Index> name_;  ///< by place: the feature's number at the start
  Index live_ = 0;
  double top_ = 0.0;
  linalg::SymmetricEigen eigen_;
  Matrix vectors_;
  Vector gaps_;
  double sigma_ = 0.0;
  LazySymmetric r_;
  Vector diagonal_;  ///< of R
  Pairs pairs_;
  Index since_ = 0;  ///< steps since R was made
  Statistics statistics_;
};

void DenseBackward::compact() {
  if (live_ == a_.rows()) return;
  const auto keep = places();
  a_ = Matrix(a_(keep, keep));
  std::vector<Index> names;
  for (const Index i : keep) names.push_back(name_[static_cast<std::size_t>(i)]);
  name_ = std::move(names);
  alive_.assign(static_cast<std::size_t>(live_), 1);
  if (pairs_.x.rows() > live_) pairs_.x = Matrix(pairs_.x(keep, Eigen::all));
}

/// Lambda_1 roughly, by products with A; then R.
void DenseBackward::begin() {
  Random random(0x5eed);
  Pairs start;
  start.x.resize(live_, kPairs);
  for (auto& e : start.x.reshaped()) e = random.normal();
  start.rx.resize(live_, kPairs);
  LazySymmetric a;
  a.reset(a_, 1.0);
  const Changed operation{&a, {}, 0.0, threads_};
  operation.apply(start.x, start.rx);
  pairs_ = refine(operation, std::move(start), Matrix(),
                  {.keep = kPairs, .first = 1e-1, .others = 3, .other = 1e-2});
  top_ = pairs_.theta[0];
  sigma_ = top_ + std::max(1e-2 * std::abs(top_), pairs_.residual[0]);
  factor(sigma_ - top_);
  const double spread = top_ - (sigma_ - 1.0 / pairs_.theta[pairs_.theta.size() - 1]);
  factor(std::max(kNear * spread, kFloor * std::abs(top_)));
}

/// R at sigma = Lambda_1 + near, and the pairs in it.
void DenseBackward::factor(double near) {
  compact();
  if (!(near > 0.0)) near = 1e-300;  // A = 0
  for (;; near *= 4.0) {             // until sigma is above Lambda_1
    sigma_ = top_ + near;
    Matrix l = -a_;
    l.diagonal().array() += sigma_;
    if (!linalg::cholesky_tiled(l, threads_)) continue;
    Matrix inverse = linalg::inverse_from_cholesky(l, threads_);
    linalg::mirror_lower(inverse);
    diagonal_ = inverse.diagonal();
    r_.reset(std::move(inverse), -1.0);
    break;
  }
  ++statistics_.factorizations;
  since_ = 0;
  const Changed operation{&r_, {}, 0.0, threads_};
  // A vector of chance: what a cluster of equal eigenvalues hid so far shows sooner or later.
  Random random(0x5eed, static_cast<std::uint64_t>(statistics_.factorizations));
  Matrix chance(live_, 1);
  for (auto& e : chance.reshaped()) e = random.normal();
  pairs_.rx.resize(live_, pairs_.x.cols());
  operation.apply(pairs_.x, pairs_.rx);
  pairs_ = refine(operation, std::move(pairs_), chance, {.keep = kPairs, .others = 0});
  statistics_.applications += kPairs + pairs_.applications;
  top_ = sigma_ - 1.0 / pairs_.theta[0];
}

/// The pairs after deleting i, p = R e_i: R becomes R - p p'/R_ii, which has a zero row there.
Pairs DenseBackward::without(Index i, const Vector& p, const PairsGoal& goal) const {
  const Changed operation{&r_, p, -1.0 / p[i], threads_};
  Pairs start;
  const Vector row = pairs_.rx.row(i) / p[i];
  start.x = pairs_.x;
  start.x.row(i).setZero();
  start.rx = pairs_.rx - p * row.transpose();
  start.rx.row(i).setZero();
  // The new vectors are (lambda - A)^{-1} e_i: of the old leading ones and, of the rest, nearly p.
  Matrix extra = p;
  extra(i, 0) = 0.0;
  return refine(operation, std::move(start), extra, goal);
}

Screen DenseBackward::screen() {
  for (int attempt = 0;; ++attempt) {
    Screen screen(sigma_, pairs_, pairs_.x, diagonal_);
    const Index place = attempt < 20 ? screen.impossible(alive_) : -1;
    if (place < 0) return screen;
    const Changed operation{&r_, {}, 0.0, threads_};
    pairs_ = refine(operation, std::move(pairs_), r_.column(place), {.keep = kPairs, .others = 0});
    statistics_.applications += pairs_.applications;
    top_ = sigma_ - 1.0 / pairs_.theta[0];
  }
}

void DenseBackward::fill(const Screen& screen, const std::vector<char>& may_leave, RootLosses& root) const {
  root.value = screen.top();
  for (Index i = 0; i < a_.rows(); ++i) {
    const Index name = name_[static_cast<std::size_t>(i)];
    if (alive_[static_cast<std::size_t>(i)] == 0 || may_leave[static_cast<std::size_t>(name)] == 0) continue;
    root.losses[name] = std::max(0.0, screen.bounds(i).least - 1e-12 * std::abs(screen.top()));
  }
}

Index DenseBackward::step_by_screen(const std::vector<char>& may_leave, RootLosses* root) {
  const Screen all = screen();
  if (root != nullptr) fill(all, may_leave, *root);
  std::vector<char> candidate = alive_;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    if (may_leave[static_cast<std::size_t>(name_[i])] == 0) candidate[i] = 0;
  }
  auto list = all.survivors(candidate);
  statistics_.survivors += static_cast<Index>(list.size());
  if (list.size() > 1) {
    double target = kInfinity;
    for (Drop& d : list) {
      d = all.bounds(d.feature, r_.column(d.feature).squaredNorm());
      target = std::min(target, d.most);
    }
    std::erase_if(list, [&](const Drop& d) { return d.least > target + kTie * std::abs(top_); });
    std::stable_sort(list.begin(), list.end(),
                     [](const Drop& a, const Drop& b) { return a.least < b.least; });
  }
  if (std::getenv("SUBSPECTRA_DEBUG2") && statistics_.steps % 64 < 2)
    fmt::print(stderr,
               "m {} q {} slack {:.1e} error {:.1e} far {:.2f} top {:.4f} since {} survivors {} drop {:.2e} "
               "{:.2e} | {:.2e} {:.2e} res {:.1e} {:.1e} {:.1e} {:.1e}\n",
               live_, all.q_, all.slack_, all.error_,
               (sigma_ - top_) / (sigma_ - (sigma_ - 1 / pairs_.theta[7])), top_, since_, list.size(),
               list.front().least, list.front().most, list.back().least, list.back().most,
               pairs_.residual[0] / pairs_.theta[0], pairs_.residual[1] / pairs_.theta[1],
               pairs_.residual[3] / pairs_.theta[3], pairs_.residual[7] / pairs_.theta[7]);
  const double tie = kTie * std::abs(top_);
  // Equal to the best whatever the exact values are? Then the lowest of those.
  Index chosen = -1;
  for (const Drop& d : list) {
    if (d.most <= list.front().least + tie && (chosen < 0 || d.feature < chosen)) chosen = d.feature;
  }
  std::optional<Pairs> after;
  if (chosen < 0 && list.size() > 1) {
    Best best;
    double best_seen = -kInfinity;
    for (const Drop& d : list) {
      if (top_ - d.least < best.threshold()) break;
      Pairs trial = without(d.feature, r_.column(d.feature), {.keep = kPairs, .first = 1e-7});
      ++statistics_.trials;
      statistics_.applications += trial.applications;
      const double value = sigma_ - 1.0 / trial.theta[0];
      best.offer(d.feature, value);
      if (value > best_seen) {
        best_seen = value;
        after = std::move(trial);
        chosen = d.feature;
      }
    }
    if (best.unit() != chosen) {
      chosen = best.unit();
      after.reset();
    }
  } else if (chosen < 0) {
    chosen = list.front().feature;
  }

  // Delete it.
  const Vector p = r_.column(chosen);
  const double pivot = p[chosen];
  if (after)
    pairs_ = std::move(*after);
  else {
    pairs_ = without(chosen, p, {.keep = kPairs, .others = 0});
    statistics_.applications += pairs_.applications;
  }
  Vector w = p / std::sqrt(pivot);
  r_.add(w, threads_);
  diagonal_ -= w.cwiseAbs2();
  alive_[static_cast<std::size_t>(chosen)] = 0;
  diagonal_[chosen] = 0.0;
  --live_;
  ++since_;
  top_ = sigma_ - 1.0 / pairs_.theta[0];
  const Index name = name_[static_cast<std::size_t>(chosen)];
  if (live_ > kSmall) {
    const double far = sigma_ - top_,
                 spread = 1.0 / pairs_.theta[pairs_.theta.size() - 1] - 1.0 / pairs_.theta[0];
    const double near = std::max(kNear * spread, kFloor * std::abs(top_));
    const bool helps = near < 0.5 * far;
    if ((far > kFar * (far + spread) && helps && since_ >= 8) || since_ >= 2 * LazySymmetric::kDelay)
      factor(near);
  }
  return name;
}

}  // namespace

GreedyPass backward_features(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                             const RunControl& control, RootLosses* root) {
  const Index n = units.count();
  const Index least = std::max<Index>({1, options.least, static_cast<Index>(units.include.size())});
  GreedyPass pass;
  pass.most = n;
  std::vector<char> may_leave(static_cast<std::size_t>(n), 1);
  for (const Index u : units.include) may_leave[static_cast<std::size_t>(u)] = 0;
  std::vector<Index> positions;
  for (const auto& members : units.members) positions.push_back(members.front());
  std::vector<Index> deleted;
  pass.status = Status::kHeuristic;
  if (control.should_stop()) {
    pass.status = control.status_or(Status::kHeuristic);
  } else {
    require_memory(8.0 * static_cast<double>(n) * static_cast<double>(n) * 4.0,
                   fmt::format("backward elimination from {} features", n),
                   "use the forward pass alone or fewer candidates (--exclude)", options.memory_limit);
    DenseBackward state(pencil.a_block(positions, options.threads), options.threads);
    if (root != nullptr) root->losses = Vector::Zero(n);
    if (root != nullptr && n <= least) state.losses(may_leave, *root);
    while (state.live() > least) {
      if (control.should_stop()) {
        pass.status = control.status_or(Status::kHeuristic);
        break;
      }
      deleted.push_back(state.step(may_leave, deleted.empty() ? root : nullptr));
      control.report("backward", static_cast<double>(deleted.size()) / static_cast<double>(n - least),
                     [&] { return fmt::format("k {}  {:.6g}", state.live(), state.top()); });
    }
    const auto& s = state.statistics();
    if (std::getenv("SUBSPECTRA_DEBUG"))
      fmt::print(stderr, "backward: steps {} survivors {} trials {} applications {} factorizations {}\n",
                 s.steps, s.survivors, s.trials, s.applications, s.factorizations);
  }
  std::vector<char> gone(static_cast<std::size_t>(n), 0);
  for (const Index u : deleted) gone[static_cast<std::size_t>(u)] = 1;
  pass.order = units.include;
  for (Index u = 0; u < n; ++u) {
    if (gone[static_cast<std::size_t>(u)] == 0 && may_leave[static_cast<std::size_t>(u)] != 0)
      pass.order.push_back(u);
  }
  pass.least = static_cast<Index>(pass.order.size());
  pass.order.insert(pass.order.end(), deleted.rbegin(), deleted.rend());
  return pass;
}

}  // namespace subspectra::variance
