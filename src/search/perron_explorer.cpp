/// Exact sparse PCA: branch and bound over a residual matrix. docs/theory/exact-pca.md.
///
/// A node keeps the units I and chooses g = k - |I| of the free ones, F. For any lambda > lambda_max(A_I)
///     lambda_max(A_S) <= lambda  if and only if  lambda_max(C_G) <= lambda,   S = I + G,
///     C = A_FF + A_FI (lambda - A_I)^{-1} A_IF,
/// so that with lambda = the value to beat the question about I + F becomes one about F alone, in which I is
/// accounted for exactly; keeping one more variable is a rank-one update of C. C is bounded row by row: for
/// any d > 0
///     lambda_max(C_G) <= max_{i in G} c_ii + (the g - 1 largest |c_ij| d_j)/d_i.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "explorer.hpp"
#include "perron_rows.hpp"
#include "subspectra/linalg/blas.hpp"

namespace subspectra::search {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kSmallest = 1e-12;  // of d, relative to its largest entry: any d > 0 is valid
constexpr int kSweeps = 16;          // at most, at a node
constexpr int kRootSweeps = 40;      // where the bound itself is asked for
constexpr double kPatience = 3.0;    // sweeps that at the pace of the last one must reach the cut
constexpr int kPasses = 12;          // over a row, to find its threshold
constexpr double kPivot = 1e-10;     // relative: below it lambda counts as no larger than lambda_max(A_I)

double largest_eigenvalue(const Matrix& a) {
  if (a.rows() == 0) return -kInfinity;
  if (a.rows() == 1) return a(0, 0);
  return linalg::symmetric_eigen(a, false).values[a.rows() - 1];
}

/// The larger eigenvalue of [[p, b], [b, q]].
double of_two(double p, double b, double q) {
  if (!(p > -kInfinity)) return q;
  if (!(q > -kInfinity)) return p;
  const double half = 0.5 * (p - q);
  return std::max(p, q) + (std::hypot(half, b) - std::abs(half));
}

/// The free units of a node, what they look like from the kept ones, and the state of their bound.
struct Level {
  std::vector<std::int32_t> kept;   ///< units, in the order they were kept
  std::vector<std::int32_t> units;  ///< free, ascending
  std::vector<Index> begin;         ///< rows begin[e]..begin[e + 1] are the features of units[e]
  Index left = 0;                   ///< g: so many of `units` are still to be chosen
  Index stride = 0;
  std::vector<double> c;  ///< off-diagonal part, rows of `stride` entries, zeros on the diagonal and beyond
  std::vector<double> diagonal;
  std::vector<double> d, sum, threshold;  ///< by row: scaling, R_i, t_i
  double lambda = -kInfinity;             ///< C belongs to it; -infinity: C is A_FF itself
  double kept_value = -kInfinity;         ///< lambda_max(A_I), where C is A_FF
  double bound = kInfinity;               ///< no set of the node is better

  [[nodiscard]] Index count() const { return static_cast<Index>(units.size()); }
  [[nodiscard]] Index rows() const { return begin.back(); }
  [[nodiscard]] bool reduced() const { return lambda > -kInfinity; }
  double* row(Index i) { return c.data() + i * stride; }
  [[nodiscard]] const double* row(Index i) const { return c.data() + i * stride; }
};

class PerronExplorer final : public Explorer {
 public:
  PerronExplorer(const Pencil& pencil, const SearchUnits& units, const ExactOptions& options);

  [[nodiscard]] double slack() const override { return slack_; }
  [[nodiscard]] std::uint64_t budget() const override { return budget_; }
  [[nodiscard]] double bound(const OpenNode& node) const override;
  [[nodiscard]] double value(const std::vector<Index>& units) const override {
    return scale_ * scaled_value(units);
  }
  void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const {
    bytes(a_.data(), static_cast<std::size_t>(a_.size()) * sizeof(double));
    bytes(first_.data(), first_.size() * sizeof(Index));
    bytes(&scale_, sizeof scale_);
  }
  void explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff, const RunControl& control,
               Harvest& harvest) const override;

 private:
  friend class Visit;
  template <class Units>
  [[nodiscard]] double scaled_value(const Units& units) const {
    std::vector<Index> rows;
    for (const auto u : units) {
      for (Index i = first_[static_cast<std::size_t>(u)]; i < first_[static_cast<std::size_t>(u) + 1]; ++i)
        rows.push_back(i);
    }
    return largest_eigenvalue(a_(rows, rows));
  }

  Matrix a_;                  ///< over the features of the units, unit by unit, divided by scale_
  std::vector<Index> first_;  ///< of each unit; one more at the end
  double scale_ = 1.0;        ///< a power of two
  bool single_ = true;
  double slack_ = 0.0;
  std::uint64_t budget_ = 1;
};

PerronExplorer::PerronExplorer(const Pencil& pencil, const SearchUnits& units, const ExactOptions& options)
    : single_(true) {
  std::vector<Index> features;
  std::size_t widest = 1;
  for (const auto& members : units.members) {
    first_.push_back(static_cast<Index>(features.size()));
    features.insert(features.end(), members.begin(), members.end());
    widest = std::max(widest, members.size());
    if (members.size() != 1) single_ = false;
  }
  first_.push_back(static_cast<Index>(features.size()));
  a_ = pencil.a_block(features, options.threads);
  const double largest = a_.size() > 0 ? a_.cwiseAbs().maxCoeff() : 0.0;
  if (largest > 0.0) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    scale_ = std::ldexp(1.0, exponent);
    a_ /= scale_;
  }
  const double size = static_cast<double>(options.k.hi) * static_cast<double>(widest);
  slack_ = std::min(2e-10, kEps * (8.0 * size * size + 64.0 * size));
  const double n = static_cast<double>(features.size());
  budget_ = static_cast<std::uint64_t>(std::clamp(2e7 / (n * n + 1.0), 16.0, 4096.0));
}

/// One visit: the stack of levels, from the open node down.
class Visit {
 public:
  Visit(const PerronExplorer& explorer, const Cutoff& cutoff, Harvest& harvest)
      : x_(explorer), cutoff_(cutoff), harvest_(harvest) {
    refresh();
  }

  /// The bound alone.
  double root_bound(const OpenNode& node) {
    cut_ = -kInfinity;
    Level level;
    start(node, level);
    if (level.left == 0 || level.left == level.count()) {
      auto all = level.kept;
      if (level.left > 0) all.insert(all.end(), level.units.begin(), level.units.end());
      return x_.scaled_value(all) * (1.0 + 1e-12);
    }
    improve(level, kRootSweeps);
    std::vector<std::int32_t> all = node.kept;
    all.insert(all.end(), node.free.begin(), node.free.end());
    const double superset = x_.scaled_value(all);
    return std::min(level.bound, superset + 1e-12 * std::abs(superset));
  }

  void run(const OpenNode& node, std::uint64_t budget, const RunControl& control) {
    budget_ = budget;
    control_ = &control;
    auto& level = push();
    start(node, level);
    level.bound = node.bound / x_.scale_;
    search();
  }

 private:
  // --- limits
  void refresh() {
    const double threshold = harvest_.pool.threshold();
    exact_ = cutoff_.exact(threshold) / x_.scale_;
    cut_ = cutoff_.with_gap(threshold) / x_.scale_;
  }
  void offer(const std::vector<std::int32_t>& kept, std::initializer_list<std::int32_t> more) {
    std::vector<Index> set(kept.begin(), kept.end());
    set.insert(set.end(), more.begin(), more.end());
    std::sort(set.begin(), set.end());
    const double value = x_.scaled_value(set);
    if (harvest_.pool.offer(std::move(set), x_.scale_ * value)) refresh();
  }
  /// No set of a node with this bound is wanted.
  bool closes(double bound) {
    if (!(bound <= cut_)) return false;
    if (bound > exact_) harvest_.discarded = std::max(harvest_.discarded, bound * x_.scale_);
    return true;
  }
  bool stopped() {
    if (stop_) return true;
    if (harvest_.nodes >= budget_ || (harvest_.nodes % 16 == 0 && control_->should_stop())) stop_ = true;
    return stop_;
  }

  // --- levels
  Level& push() {
    if (depth_ == static_cast<Index>(stack_.size())) stack_.push_back(std::make_unique<Level>());
    return *stack_[static_cast<std::size_t>(depth_++)];
  }
  void start(const OpenNode& node, Level& level) {
    level.kept = node.kept;
    level.units = node.free;
    level.left = node.k - static_cast<Index>(node.kept.size());
    level.bound = kInfinity;
    build(level);
    first_guess(level);
  }
  [[nodiscard]] std::vector<Index> features(const std::vector<std::int32_t>& units) const {
    std::vector<Index> rows;
    for (const auto u : units) {
      const auto e = static_cast<std::size_t>(u);
      for (Index i = x_.first_[e]; i < x_.first_[e + 1]; ++i) rows.push_back(i);
    }
    return rows;
  }
  void shape(Level& level) {
    level.begin.assign(1, 0);
    for (const auto u : level.units) {
      const auto e = static_cast<std::size_t>(u);
      level.begin.push_back(level.begin.back() + x_.first_[e + 1] - x_.first_[e]);
    }
    level.stride = rows::padded(level.rows());
    const auto n = static_cast<std::size_t>(level.rows()), wide = static_cast<std::size_t>(level.stride);
    level.c.assign(n * wide, 0.0);
    level.diagonal.assign(wide, 0.0);
  }
  void build(Level& level);
  void first_guess(Level& level);
  void keep(const Level& from, Index e, Level& to);
  void drop(Level& level, const std::vector<char>& gone);

  // --- bounds
  void sweep(Level& level);
  double top_sum(const double* c, const double* d, Index n, Index m, double& t) const;
  bool improve(Level& level, int most);
  bool fix_out(Level& level);
  bool superset_closes(const Level& level);

  // --- search
  void search();
  bool leaf(Level& level);
  [[nodiscard]] Index branch(const Level& level) const;
  void emit(const Level& level);

  const PerronExplorer& x_;
  const Cutoff& cutoff_;
  Harvest& harvest_;
  const RunControl* control_ = nullptr;
  std::uint64_t budget_ = 0;
  bool stop_ = false;
  double exact_ = -kInfinity, cut_ = -kInfinity;
  std::vector<std::unique_ptr<Level>> stack_;
  Index depth_ = 0;
  std::vector<double> buffer_, slack_, ones_;
};

/// C at lambda = cut_, if that is above lambda_max(A_I); else A_FF.
void Visit::build(Level& level) {
  shape(level);
  const auto kept = features(level.kept), free = features(level.units);
  const Index n = level.rows(), m = static_cast<Index>(kept.size());
  Matrix c = x_.a_(free, free);
  level.lambda = -kInfinity;
  level.kept_value = -kInfinity;
  if (m > 0) {
    Matrix pivots = -x_.a_(kept, kept);
    pivots.diagonal().array() += cut_;
    bool fits = cut_ > -kInfinity && linalg::cholesky(pivots);
    for (Index i = 0; fits && i < m; ++i) fits = pivots(i, i) * pivots(i, i) > kPivot * std::abs(cut_);
    if (fits) {
      Matrix w = x_.a_(kept, free);
      linalg::solve_lower(pivots, linalg::Op::kNone, w);
      linalg::syrk(1.0, linalg::Op::kTranspose, w, 1.0, c);
      level.lambda = cut_;
    } else {
      level.kept_value = largest_eigenvalue(x_.a_(kept, kept));
    }
  } else {
    level.lambda = cut_;
  }
  for (Index i = 0; i < n; ++i) {
    std::copy_n(c.col(i).data(), n, level.row(i));
    level.diagonal[static_cast<std::size_t>(i)] = c(i, i);
    level.row(i)[i] = 0.0;
  }
}

void Visit::first_guess(Level& level) {
  const Index n = level.rows();
  level.d.assign(static_cast<std::size_t>(level.stride), 0.0);
  level.threshold.assign(static_cast<std::size_t>(level.stride), 0.0);
  level.sum.assign(static_cast<std::size_t>(level.stride), 0.0);
  double largest = 0.0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0.0;
    for (Index j = 0; j < n; ++j) sum += std::abs(level.row(i)[j]);
    const double guess =
        std::sqrt(sum / static_cast<double>(n) + std::abs(level.diagonal[static_cast<std::size_t>(i)]));
    level.d[static_cast<std::size_t>(i)] = guess;
    largest = std::max(largest, guess);
  }
  for (Index i = 0; i < n; ++i) {
    auto& d = level.d[static_cast<std::size_t>(i)];
    d = largest > 0.0 ? std::max(d / largest, kSmallest) : 1.0;
  }
}

/// `to` = the node that keeps units[e] of `from` as well.
void Visit::keep(const Level& from, Index e, Level& to) {
  const auto at = static_cast<std::size_t>(e);
  to.kept = from.kept;
  to.kept.push_back(from.units[at]);
  to.units = from.units;
  to.units.erase(to.units.begin() + e);
  to.left = from.left - 1;
  to.bound = from.bound;
  const Index first = from.begin[at], width = from.begin[at + 1] - first, n = from.rows();
  const double pivot = from.reduced() ? from.lambda - from.diagonal[static_cast<std::size_t>(first)] : 0.0;
  const bool update = width == 1 && from.lambda == cut_ && pivot > kPivot * std::abs(cut_);
  if (!update) {
    build(to);
  } else {
    shape(to);
    to.lambda = from.lambda;
    to.kept_value = -kInfinity;
    const auto wide = static_cast<std::size_t>(to.stride);
    buffer_.assign(wide, 0.0);
    const double* v = from.row(first);
    std::copy_n(v, first, buffer_.data());
    std::copy_n(v + first + 1, n - first - 1, buffer_.data() + first);
    for (Index i = 0; i < n - 1; ++i) {
      const Index old = i < first ? i : i + 1;
      double* out = to.row(i);
      const double* in = from.row(old);
      std::copy_n(in, first, out);
      std::copy_n(in + first + 1, n - first - 1, out + first);
      const double f = buffer_[static_cast<std::size_t>(i)] / pivot;
      rows::add_scaled(out, buffer_.data(), f, to.stride, out);
      out[i] = 0.0;
      to.diagonal[static_cast<std::size_t>(i)] =
          from.diagonal[static_cast<std::size_t>(old)] + f * buffer_[static_cast<std::size_t>(i)];
    }
  }
  const auto wide = static_cast<std::size_t>(to.stride);
  const auto carry = [&](const std::vector<double>& a, std::vector<double>& b) {
    b.assign(wide, 0.0);
    std::copy_n(a.data(), first, b.data());
    std::copy_n(a.data() + first + width, n - first - width, b.data() + first);
  };
  carry(from.d, to.d);
  carry(from.threshold, to.threshold);
  to.sum.assign(wide, 0.0);
}

/// Takes the units marked in `gone` out of the free ones, in place.
void Visit::drop(Level& level, const std::vector<char>& gone) {
  std::vector<Index> stay;
  std::vector<std::int32_t> units;
  for (Index e = 0; e < level.count(); ++e) {
    const auto at = static_cast<std::size_t>(e);
    if (gone[at] != 0) continue;
    units.push_back(level.units[at]);
    for (Index i = level.begin[at]; i < level.begin[at + 1]; ++i) stay.push_back(i);
  }
  const auto n = static_cast<Index>(stay.size());
  const Index stride = rows::padded(n);
  Index begin = 0;
  while (begin < n && stay[static_cast<std::size_t>(begin)] == begin) ++begin;  // these columns do not move
  for (Index i = 0; i < n; ++i) {
    const Index old = stay[static_cast<std::size_t>(i)];
    const double* in = level.row(old);
    double* out = level.c.data() + i * stride;
    std::copy(in, in + begin, out);  // out <= in: never overtakes what is still to be read
    for (Index j = begin; j < n; ++j) out[j] = in[stay[static_cast<std::size_t>(j)]];
    std::fill(out + n, out + stride, 0.0);
  }
  const auto wide = static_cast<std::size_t>(stride);
  for (auto* v : {&level.diagonal, &level.d, &level.threshold, &level.sum}) {
    for (Index i = begin; i < n; ++i)
      (*v)[static_cast<std::size_t>(i)] = (*v)[static_cast<std::size_t>(stay[static_cast<std::size_t>(i)])];
    v->resize(wide);
    std::fill(v->begin() + n, v->end(), 0.0);
  }
  level.units = std::move(units);
  level.stride = stride;
  level.begin.assign(1, 0);
  for (const auto u : level.units) {
    const auto e = static_cast<std::size_t>(u);
    level.begin.push_back(level.begin.back() + x_.first_[e + 1] - x_.first_[e]);
  }
}

/// The sum of the m largest |c_j| d_j, or a little more, and t with
///     m t + sum_j (|c_j| d_j - t)+ = that sum.
/// Every t >= 0 gives an upper bound this way; the smallest is exact. `t` on entry is a guess.
double Visit::top_sum(const double* c, const double* d, Index n, Index m, double& t) const {
  if (m <= 0) {
    t = kInfinity;
    return 0.0;
  }
  const double slots = static_cast<double>(m);
  if (!(t < kInfinity)) t = 0.0;
  double low = -1.0, high = kInfinity;  // thresholds with too many above, too few
  double low_next = -1.0;               // the weight next to `low`
  rows::Above above, few;               // at the last t, at `high`
  few.most_below = kInfinity;
  for (int pass = 0; pass < kPasses; ++pass) {
    rows::weights_above(c, d, n, t, &above);
    const double over = above.count - slots;
    if (over == 0.0 || over == 1.0) {
      const double sum = over == 0.0 ? above.sum : above.sum - above.least_above;
      t = above.least_above;
      return sum;
    }
    if (over == -1.0 || (over < 0.0 && above.most_below == 0.0)) {
      t = above.most_below;
      return above.sum + above.most_below;
    }
    if (over > 0.0) {
      low = t;
      low_next = above.least_above;
    } else {
      high = t;
      few = above;
    }
    if (low_next >= few.most_below) {  // all weights in between are the same
      t = few.most_below;
      return few.sum + (slots - few.count) * t;
    }
    // Weights above t fall off like an exponential, or so.
    const double mean = above.count > 0.0 ? above.sum / above.count - t : 0.5 * t;
    double next = above.count > 0.0 ? t + mean * std::log(above.count / slots) : 0.5 * above.most_below;
    if (over > 0.0) {
      next = std::max(next, low_next);
    } else {
      next = std::min(next, 0.9999 * few.most_below);
    }
    if (!(next > low && next < high)) {
      next = high < kInfinity ? 0.5 * (std::max(low, 0.0) + high) : low_next;
    }
    if (pass + 1 == kPasses || next == t) break;
    t = next;
  }
  return above.sum + (slots - above.count) * t;
}

/// R(d) and the thresholds of all rows.
void Visit::sweep(Level& level) {
  const Index n = level.rows(), m = level.left - 1;
  if (x_.single_) {
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      level.sum[at] = top_sum(level.row(i), level.d.data(), level.stride, m, level.threshold[at]);
    }
    return;
  }
  const Index count = level.count(), wide = rows::padded(count);
  buffer_.assign(static_cast<std::size_t>(wide), 0.0);
  ones_.assign(static_cast<std::size_t>(wide), 1.0);
  for (Index own = 0; own < count; ++own) {
    for (Index i = level.begin[static_cast<std::size_t>(own)];
         i < level.begin[static_cast<std::size_t>(own) + 1]; ++i) {
      const double* row = level.row(i);
      double mine = 0.0;
      for (Index e = 0; e < count; ++e) {
        double sum = 0.0;
        for (Index j = level.begin[static_cast<std::size_t>(e)];
             j < level.begin[static_cast<std::size_t>(e) + 1]; ++j)
          sum += std::abs(row[j]) * level.d[static_cast<std::size_t>(j)];
        buffer_[static_cast<std::size_t>(e)] = e == own ? 0.0 : sum;
        if (e == own) mine = sum;
      }
      const auto at = static_cast<std::size_t>(i);
      level.sum[at] = mine + top_sum(buffer_.data(), ones_.data(), wide, m, level.threshold[at]);
    }
  }
}

/// Sweeps until the node closes (true) or it does not pay any more.
bool Visit::improve(Level& level, int most) {
  const double rounding = 1.0 + 4.0 * kEps * static_cast<double>(level.left + 8);
  double previous = kInfinity;
  for (int step = 0; step < most; ++step) {
    sweep(level);
    const Index n = level.rows();
    double worst = -kInfinity, top = -kInfinity;
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      worst = std::max(worst, level.diagonal[at] + level.sum[at] / level.d[at] * rounding);
      top = std::max(top, level.diagonal[at]);
    }
    worst += kEps * std::abs(worst);
    double bound = worst;
    if (level.reduced()) {
      if (!level.kept.empty()) bound = std::max(level.lambda, worst);
    } else if (!level.kept.empty()) {
      bound = of_two(level.kept_value, 0.0, worst);
      if (bound < level.bound) {
        // |A_IG|^2 <= the g largest |A_Ij|^2 of the units.
        const auto kept = features(level.kept), free = features(level.units);
        std::vector<double> squares;
        for (Index e = 0; e < level.count(); ++e) {
          double sum = 0.0;
          for (Index i = level.begin[static_cast<std::size_t>(e)];
               i < level.begin[static_cast<std::size_t>(e) + 1]; ++i)
            for (const Index j : kept)
              sum +=
                  x_.a_(j, free[static_cast<std::size_t>(i)]) * x_.a_(j, free[static_cast<std::size_t>(i)]);
          squares.push_back(sum);
        }
        std::sort(squares.begin(), squares.end(), std::greater<>());
        const double cross = std::accumulate(squares.begin(), squares.begin() + level.left, 0.0);
        bound = of_two(level.kept_value, std::sqrt(cross), worst);
        bound += 16.0 * kEps * std::abs(bound);
      }
    }
    level.bound = std::min(level.bound, bound);
    if (closes(level.bound)) return true;
    if (level.reduced() && cut_ > top && fix_out(level)) {
      if (level.count() < level.left) return true;
      if (level.count() == level.left) return false;
      previous = kInfinity;
      continue;
    }
    if (previous - worst < (worst - cut_) / kPatience && step > 0 && cut_ > -kInfinity) break;
    if (!(worst < previous * (1.0 - 1e-4)) && step > 0) break;
    previous = worst;
    const double reference = std::max(cut_, top + 0.05 * std::abs(top));
    double largest = 0.0;
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      level.d[at] = std::sqrt(level.d[at] * (level.sum[at] / (reference - level.diagonal[at])));
      largest = std::max(largest, level.d[at]);
    }
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      level.d[at] = largest > 0.0 ? std::max(level.d[at] / largest, kSmallest) : 1.0;
      level.threshold[at] = largest > 0.0 ? level.threshold[at] / largest : 0.0;
    }
  }
  return false;
}

/// Drops every unit that no wanted set can have: with i in G, row i needs only the scaling d_i' = R_i/(cut -
/// c_ii), and every other row j has to take i, so that R_j becomes at most R_j - max(t_j, w_ji) + |c_ji|
/// d_i'. If all rows then stay below the cut, so does every set with i. Pre: sweep() was the last to touch
/// `level`.
bool Visit::fix_out(Level& level) {
  const Index n = level.rows();
  if (level.left < 2) return false;
  slack_.assign(static_cast<std::size_t>(level.stride), kInfinity);
  Index hopeless = 0;
  for (Index j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double room = (cut_ - level.diagonal[at]) * level.d[at];
    slack_[at] = room - level.sum[at] - 16.0 * kEps * static_cast<double>(level.left + 8) * room;
    if (slack_[at] < -level.threshold[at]) ++hopeless;
  }
  if (hopeless > 0) return false;
  std::vector<char> gone(static_cast<std::size_t>(level.count()), 0);
  bool any = false;
  for (Index e = 0; e < level.count(); ++e) {
    const auto unit = static_cast<std::size_t>(e);
    const Index first = level.begin[unit];
    if (x_.single_) {
      const auto at = static_cast<std::size_t>(first);
      const double with = level.sum[at] / (cut_ - level.diagonal[at]) * (1.0 + 16.0 * kEps);
      if (rows::largest_excess(level.row(first), level.threshold.data(), slack_.data(), with, level.d[at],
                               level.stride) <= 0.0) {
        gone[unit] = 1;
      }
    } else {
      bool fits = true;
      for (Index j = 0; fits && j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (j >= first && j < level.begin[unit + 1]) {
          fits = slack_[at] >= 0.0;
          continue;
        }
        double weight = 0.0;
        for (Index i = first; i < level.begin[unit + 1]; ++i)
          weight += std::abs(level.row(j)[i]) * level.d[static_cast<std::size_t>(i)];
        fits = slack_[at] + std::max(0.0, level.threshold[at] - weight) >= 0.0;
      }
      gone[unit] = fits ? 1 : 0;
    }
    any = any || gone[unit] != 0;
  }
  if (!any) return false;
  if (cut_ > exact_) harvest_.discarded = std::max(harvest_.discarded, cut_ * x_.scale_);
  drop(level, gone);
  return true;
}

/// lambda_max(C) <= cut: no set of any size is wanted.
bool Visit::superset_closes(const Level& level) {
  if (!level.reduced()) return false;
  const Index n = level.rows();
  if (n > 8 * level.left + 64) return false;
  // A Rayleigh quotient above the cut saves the factorization.
  double square = 0.0, quotient = 0.0;
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    square += level.d[at] * level.d[at];
    quotient += level.d[at] *
                (rows::dot(level.row(i), level.d.data(), level.stride) + level.diagonal[at] * level.d[at]);
  }
  if (quotient > cut_ * square) return false;
  Matrix m(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) m(j, i) = -level.row(i)[j];
    m(i, i) =
        cut_ * (1.0 - 8.0 * kEps * static_cast<double>(n)) - level.diagonal[static_cast<std::size_t>(i)];
  }
  if (!linalg::cholesky(m)) return false;
  if (cut_ > exact_) harvest_.discarded = std::max(harvest_.discarded, cut_ * x_.scale_);
  return true;
}

/// Nodes that need no branching.
bool Visit::leaf(Level& level) {
  if (level.count() < level.left) return true;
  if (level.left == 0) {
    offer(level.kept, {});
    return true;
  }
  if (level.count() == level.left) {
    auto all = level.kept;
    all.insert(all.end(), level.units.begin(), level.units.end());
    offer(all, {});
    return true;
  }
  if (level.left == 1) {
    // The best last unit, by an upper bound on what it makes of the set.
    std::vector<std::pair<double, Index>> order;
    for (Index e = 0; e < level.count(); ++e) {
      const auto unit = static_cast<std::size_t>(e);
      double at_most = 0.0;
      if (level.reduced() && !level.kept.empty()) {
        // Above lambda, the value is at most that of the unit's block of C.
        for (Index i = level.begin[unit]; i < level.begin[unit + 1]; ++i) {
          double sum = level.diagonal[static_cast<std::size_t>(i)];
          for (Index j = level.begin[unit]; j < level.begin[unit + 1]; ++j) sum += std::abs(level.row(i)[j]);
          at_most = i == level.begin[unit] ? sum : std::max(at_most, sum);
        }
        at_most = std::max(level.lambda, at_most);
      } else {
        at_most = kInfinity;
        if (x_.single_) {
          const auto i = x_.first_[static_cast<std::size_t>(level.units[unit])];
          double square = 0.0;
          for (const Index j : features(level.kept)) square += x_.a_(j, i) * x_.a_(j, i);
          at_most = of_two(level.kept_value, std::sqrt(square), x_.a_(i, i));
        }
      }
      order.emplace_back(-(at_most + 16.0 * kEps * std::abs(at_most)), e);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [bound, e] : order) {
      if (closes(-bound)) break;
      offer(level.kept, {level.units[static_cast<std::size_t>(e)]});
    }
    return true;
  }
  if (level.left == 2 && x_.single_ && level.reduced()) {
    const Index n = level.rows();
    const double margin = 1.0 - 32.0 * kEps;
    if (*std::max_element(level.diagonal.begin(), level.diagonal.begin() + n) >= cut_) return false;
    slack_.assign(static_cast<std::size_t>(level.stride), 1.0);
    for (Index i = 0; i < n; ++i)
      slack_[static_cast<std::size_t>(i)] = cut_ - level.diagonal[static_cast<std::size_t>(i)];
    std::vector<std::tuple<double, Index, Index>> pairs;
    for (Index i = 0; i < n; ++i) {
      const double f = slack_[static_cast<std::size_t>(i)] * margin;
      if (rows::largest_square_excess(level.row(i), slack_.data(), f, level.stride) <= 0.0) continue;
      for (Index j = i + 1; j < n; ++j) {
        const double c = level.row(i)[j];
        if (c * c > f * slack_[static_cast<std::size_t>(j)]) {
          const double at_most = of_two(level.diagonal[static_cast<std::size_t>(i)], std::abs(c),
                                        level.diagonal[static_cast<std::size_t>(j)]);
          pairs.emplace_back(-(at_most + 16.0 * kEps * std::abs(at_most)), i, j);
        }
      }
    }
    if (cut_ > exact_) harvest_.discarded = std::max(harvest_.discarded, cut_ * x_.scale_);
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [bound, i, j] : pairs) {
      if (closes(level.kept.empty() ? -bound : std::max(level.lambda, -bound))) break;
      offer(level.kept, {level.units[static_cast<std::size_t>(i)], level.units[static_cast<std::size_t>(j)]});
    }
    return true;
  }
  return false;
}

Index Visit::branch(const Level& level) const {
  Index best = 0;
  double most = -kInfinity;
  for (Index e = 0; e < level.count(); ++e) {
    const auto unit = static_cast<std::size_t>(e);
    double score = 0.0;
    for (Index i = level.begin[unit]; i < level.begin[unit + 1]; ++i) {
      score += level.d[static_cast<std::size_t>(i)];
    }
    if (score > most) {
      most = score;
      best = e;
    }
  }
  return best;
}

void Visit::emit(const Level& level) {
  if (level.count() < level.left || closes(level.bound)) return;
  OpenNode node;
  node.k = static_cast<Index>(level.kept.size()) + level.left;
  node.kept = level.kept;
  std::sort(node.kept.begin(), node.kept.end());
  node.free = level.units;
  node.bound = level.bound * x_.scale_;
  harvest_.open.push_back(std::move(node));
}

void Visit::search() {
  while (depth_ > 0) {
    Level& level = *stack_[static_cast<std::size_t>(depth_ - 1)];
    if (stopped()) {
      emit(level);
      --depth_;
      continue;
    }
    ++harvest_.nodes;
    if (closes(level.bound)) {
      --depth_;
      continue;
    }
    if (cut_ > level.lambda && cut_ > -kInfinity) build(level);  // the value to beat has risen
    if (leaf(level) || improve(level, kSweeps) || leaf(level) || superset_closes(level)) {
      --depth_;
      continue;
    }
    const Index e = branch(level);
    Level& child = push();
    Level& parent = *stack_[static_cast<std::size_t>(depth_ - 2)];
    keep(parent, e, child);
    std::vector<char> gone(static_cast<std::size_t>(parent.count()), 0);
    gone[static_cast<std::size_t>(e)] = 1;
    drop(parent, gone);
  }
}

double PerronExplorer::bound(const OpenNode& node) const {
  const Pool pool(1);
  Harvest harvest(pool);
  const Cutoff cutoff(slack_, 0.0);
  return scale_ * Visit(*this, cutoff, harvest).root_bound(node);
}

void PerronExplorer::explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
                             const RunControl& control, Harvest& harvest) const {
  Visit(*this, cutoff, harvest).run(node, budget, control);
}

}  // namespace

std::unique_ptr<Explorer> perron_explorer(const Pencil& pencil, const SearchUnits& units,
                                          const ExactOptions& options) {
  return std::make_unique<PerronExplorer>(pencil, units, options);
}

}  // namespace subspectra::search
