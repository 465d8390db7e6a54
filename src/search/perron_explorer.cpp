/// Exact sparse PCA: branch and bound over a residual matrix. docs/theory/exact-pca.md.
///
/// A node keeps the units I and chooses g = k - |I| of the free ones, F. For any lambda > lambda_max(A_I)
///     lambda_max(A_S) <= lambda  if and only if  lambda_max(C_G) <= lambda,   S = I + G,
///     C = A_FF + A_FI (lambda - A_I)^{-1} A_IF,
/// so that with lambda = the value to beat the question about I + F becomes one about F alone, in which I is
/// accounted for exactly; keeping one more variable is a rank-one update of C. C is bounded row by row: for
/// any d > 0
///     lambda_max(C_G) <= max_{i in G} c_ii + (the g - 1 largest |c_ij| d_j)/d_i.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiled.hpp"
#include "search/explorer.hpp"
#include "search/perron_rows.hpp"
#include "search/planted.hpp"

namespace subspectra::search {
namespace {

constexpr double kPerronEps = std::numeric_limits<double>::epsilon();
constexpr double kSmallest = 1e-12;  // of d, relative to its largest entry: any d > 0 is valid
constexpr int kSweeps = 16;          // at most, at a node
constexpr int kRootSweeps = 40;      // where the bound itself is asked for
constexpr double kPatience = 3.0;    // sweeps that at the pace of the last one must reach the cut
constexpr double kProgress = 1e-4;   // relative: a sweep that gains less is the last
constexpr Index kSupersetFactor = 8, kSupersetRows = 64;  // how large a superset is worth a factorization
constexpr int kFloorSweeps = 5, kFloorSteps = 6;
constexpr double kFloorWork =
    10.0;  // entries read, over n^3, before a floor is tried without evidence for it
constexpr double kFloorShrink = 0.9;  // of the free or the missing units, before it is raised again
constexpr double kFloorGain = 0.5;    // of the way from the bound of C to the cut: what a floor must bring
constexpr Index kFloorLeft = 4;
constexpr Index kFloorRows =
    1000;  // a stop waits for the eigenvectors: half a second; beyond, sweeps are long, too
constexpr double kHalfway = 1.02;  // a bound this far above the cut is worth lowering for its own sake
constexpr Index kNever = Index{1} << 40;
constexpr int kPasses = 12;       // over a row, to find its threshold
constexpr double kPivot = 1e-10;  // relative: below it lambda counts as no larger than lambda_max(A_I)

double largest_eigenvalue_of_block(const Matrix& a) {
  if (a.rows() == 0) return -kInfinity;
  if (a.rows() == 1) return a(0, 0);
  return linalg::symmetric_eigen(a, false).values[a.rows() - 1];
}

/// At least lambda_max(a), and hardly more. For a large matrix mu with mu I - A positive definite: the power
/// method finds where to begin, a factorization (n^3/3 flops in place of the 4/3 n^3 of an eigensolver, and
/// those at a fraction of the speed) proves it.
double block_eigenvalue_bound(const Matrix& a, int threads, const RunControl& control) {
  constexpr Index kSmall = 300, kLongSteps = 2000;
  constexpr int kSteps = 60;
  const Index n = a.rows();
  if (n <= kSmall) return largest_eigenvalue_of_block(a);
  Vector x = Vector::Ones(n) / std::sqrt(static_cast<double>(n)), y(n);
  const double shift = a.cwiseAbs().colwise().sum().maxCoeff();  // no eigenvalue of A + shift I is negative
  double quotient = -kInfinity;
  for (int step = 0; step < kSteps; ++step) {
    if (n > kLongSteps && control.should_stop()) throw linalg::Stopped();
    linalg::gemv_transposed(a, x, y, threads);
    quotient = std::max(quotient, x.dot(y));
    y += 0.1 * shift * x;
    x = y / y.norm();
  }
  for (double above = 1e-9; above < 1e3; above *= 10.0) {
    const double mu = quotient + above * std::max(std::abs(quotient), 1e-3 * shift);
    Matrix rest = -a;
    rest.diagonal().array() += mu;
    if (linalg::cholesky_tiled(rest, threads, &control)) return mu;
  }
  return shift;
}

/// The larger eigenvalue of [[p, b], [b, q]].
double of_two(double p, double b, double q) {
  if (!(p > -kInfinity)) return q;
  if (!(q > -kInfinity)) return p;
  const double half = 0.5 * (p - q);
  return std::max(p, q) + (std::hypot(half, b) - std::abs(half));
}

/// A symmetric matrix over the features of the free units, and the state of its row-wise bound.
struct Form {
  Index stride = 0;
  std::vector<double> c;  ///< off-diagonal part, rows of `stride` entries, zeros on the diagonal and beyond
  std::vector<double> diagonal;
  std::vector<double> d, sum, threshold;  ///< by row: scaling, R_i, t_i
  double worst = kInfinity;               ///< the bound at the last sweep

  double* row(Index i) { return c.data() + i * stride; }
  [[nodiscard]] const double* row(Index i) const { return c.data() + i * stride; }

  void resize(Index rows) {
    stride = rows::padded(rows);
    c.assign(static_cast<std::size_t>(rows * stride), 0.0);
    diagonal.assign(static_cast<std::size_t>(stride), 0.0);
  }
  void set(const Matrix& matrix) {
    resize(matrix.rows());
    for (Index i = 0; i < matrix.rows(); ++i) {
      std::copy_n(matrix.col(i).data(), matrix.rows(), row(i));
      diagonal[static_cast<std::size_t>(i)] = matrix(i, i);
      row(i)[i] = 0.0;
    }
  }
  [[nodiscard]] Matrix matrix(Index rows) const {
    Matrix m(rows, rows);
    for (Index i = 0; i < rows; ++i) {
      std::copy_n(row(i), rows, m.col(i).data());
      m(i, i) = diagonal[static_cast<std::size_t>(i)];
    }
    return m;
  }
  void first_guess(Index rows);
  void keep(const Form& from, Index rows, Index first, Index width, double pivot);
  void carry(const Form& from, Index rows, Index first, Index width);
  [[nodiscard]] double measure(Index rows, double* top) const;
  void relax(Index rows, double reference);
  void drop(const std::vector<Index>& stay);
};

/// The free units of a node and what they look like from the kept ones.
struct PerronLevel {
  std::vector<std::int32_t> kept;   ///< units, in the order they were kept
  std::vector<std::int32_t> units;  ///< free, ascending
  std::vector<Index> begin;         ///< rows begin[e]..begin[e + 1] are the features of units[e]
  Index left = 0;                   ///< g: so many of `units` are still to be chosen
  Form own;                         ///< C
  Form floored;                     ///< C + W with W positive semidefinite
  bool has_floor = false;
  double floor = -kInfinity;                       ///< mu of the last floor on the way here
  Index floor_rows = kNever, floor_left = kNever;  ///< when it was raised
  std::vector<double> x;                           ///< near the leading eigenvector of C
  double lambda = -kInfinity;                      ///< C belongs to it; -infinity: C is A_FF itself
  double built_for = -kInfinity;                   ///< the cut when C was made
  double kept_value = -kInfinity;                  ///< lambda_max(A_I), where C is A_FF
  double cross = -1.0;                             ///< there: at least |A_IG|; negative: not known yet
  double bound = kInfinity;                        ///< no set of the node is better

  [[nodiscard]] Index count() const { return static_cast<Index>(units.size()); }
  [[nodiscard]] Index rows() const { return begin.back(); }
  [[nodiscard]] bool reduced() const { return lambda > -kInfinity; }
};

void Form::first_guess(Index rows) {
  const auto wide = static_cast<std::size_t>(stride);
  d.assign(wide, 0.0);
  threshold.assign(wide, 0.0);
  sum.assign(wide, 0.0);
  double largest = 0.0;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double all = 0.0;
    for (Index j = 0; j < rows; ++j) all += std::abs(row(i)[j]);
    d[at] = std::sqrt(all / static_cast<double>(rows) + std::abs(diagonal[at]));
    largest = std::max(largest, d[at]);
  }
  for (Index i = 0; i < rows; ++i) {
    auto& e = d[static_cast<std::size_t>(i)];
    e = largest > 0.0 ? std::max(e / largest, kSmallest) : 1.0;
  }
}

/// The vectors of `from` without rows first..first + width.
void Form::carry(const Form& from, Index rows, Index first, Index width) {
  const auto wide = static_cast<std::size_t>(stride);
  const auto without = [&](const std::vector<double>& a, std::vector<double>& b) {
    b.assign(wide, 0.0);
    std::copy_n(a.data(), first, b.data());
    std::copy_n(a.data() + first + width, rows - first - width, b.data() + first);
  };
  without(from.d, d);
  without(from.threshold, threshold);
  sum.assign(wide, 0.0);
  worst = from.worst;
}

/// C of the node that keeps row `first` of `from` as well: C + c c'/pivot, pivot = lambda - c_first.
void Form::keep(const Form& from, Index rows, Index first, Index width, double pivot) {
  resize(rows - width);
  std::vector<double> v(static_cast<std::size_t>(stride), 0.0);
  std::copy_n(from.row(first), first, v.data());
  std::copy_n(from.row(first) + first + 1, rows - first - 1, v.data() + first);
  for (Index i = 0; i < rows - 1; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Index old = i < first ? i : i + 1;
    double* out = row(i);
    const double* in = from.row(old);
    std::copy_n(in, first, out);
    std::copy_n(in + first + 1, rows - first - 1, out + first);
    const double f = v[at] / pivot;
    rows::add_scaled(out, v.data(), f, stride, out);
    out[i] = 0.0;
    diagonal[at] = from.diagonal[static_cast<std::size_t>(old)] + f * v[at];
  }
}

/// max_i c_ii + R_i/d_i, and max_i c_ii.
double Form::measure(Index rows, double* top) const {
  double largest = -kInfinity;
  *top = -kInfinity;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    largest = std::max(largest, diagonal[at] + sum[at] / d[at]);
    *top = std::max(*top, diagonal[at]);
  }
  return largest;
}

/// d <- sqrt(d R/(reference - c)), scaled to a largest entry of 1.
void Form::relax(Index rows, double reference) {
  double largest = 0.0;
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    d[at] = std::sqrt(d[at] * (sum[at] / (reference - diagonal[at])));
    largest = std::max(largest, d[at]);
  }
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    d[at] = largest > 0.0 ? std::max(d[at] / largest, kSmallest) : 1.0;
    threshold[at] = largest > 0.0 ? threshold[at] / largest : 0.0;
  }
}

/// The rows in `stay` (ascending), in place.
void Form::drop(const std::vector<Index>& stay) {
  const auto n = static_cast<Index>(stay.size());
  const Index wide = rows::padded(n);
  Index same = 0;
  while (same < n && stay[static_cast<std::size_t>(same)] == same) ++same;  // these columns do not move
  for (Index i = 0; i < n; ++i) {
    const double* in = row(stay[static_cast<std::size_t>(i)]);
    double* out = c.data() + i * wide;
    std::copy(in, in + same, out);  // out <= in: never overtakes what is still to be read
    for (Index j = same; j < n; ++j) out[j] = in[stay[static_cast<std::size_t>(j)]];
    std::fill(out + n, out + wide, 0.0);
  }
  for (auto* v : {&diagonal, &d, &threshold, &sum}) {
    for (Index i = same; i < n; ++i)
      (*v)[static_cast<std::size_t>(i)] = (*v)[static_cast<std::size_t>(stay[static_cast<std::size_t>(i)])];
    v->resize(static_cast<std::size_t>(wide));
    std::fill(v->begin() + n, v->end(), 0.0);
  }
  stride = wide;
}

class PerronExplorer final : public Explorer {
 public:
  PerronExplorer(const Pencil& pencil, const SearchUnits& units, const ExactOptions& options,
                 const RunControl& control);

  [[nodiscard]] double slack() const override { return slack_; }
  [[nodiscard]] std::uint64_t budget() const override { return budget_; }
  [[nodiscard]] std::size_t visits() const override { return visits_of(a_.rows()); }
  [[nodiscard]] double bound(const OpenNode& node) const override;
  [[nodiscard]] double quick_bound(const OpenNode& node) const override;
  /// (k - 1) lambda_{k+1} + min a_ii <= k lambda_k: docs/theory/exact-pca.md.
  [[nodiscard]] double bound_of_next(Index k, double bound) const override {
    if (!single_ || forced_ || k < 2) return kInfinity;
    const auto size = static_cast<double>(k);
    const double next = (size * bound - scale_ * a_.diagonal().minCoeff()) / (size - 1.0);
    return next + 16.0 * kPerronEps * size * std::abs(next);
  }
  [[nodiscard]] double value(const std::vector<Index>& units) const override {
    return scale_ * scaled_value(units);
  }
  [[nodiscard]] bool alike(Index u, Index v) const override {
    const auto begin = [&](Index unit) { return first_[static_cast<std::size_t>(unit)]; };
    const Index rows = begin(u + 1) - begin(u);
    if (rows != begin(v + 1) - begin(v)) return false;
    const double a = a_.diagonal().segment(begin(u), rows).sum(),
                 b = a_.diagonal().segment(begin(v), rows).sum();
    return std::abs(a - b) <= kTieFraction * std::max(std::abs(a), std::abs(b));
  }
  void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const override {
    bytes(a_.data(), static_cast<std::size_t>(a_.size()) * sizeof(double));
    bytes(first_.data(), first_.size() * sizeof(Index));
    bytes(&scale_, sizeof scale_);
  }
  void explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff, const RunControl& control,
               Harvest& harvest) const override;

 private:
  friend class PerronVisit;
  template <class Units>
  [[nodiscard]] double scaled_value(const Units& units) const {
    std::vector<Index> rows;
    for (const auto u : units) {
      for (Index i = first_[static_cast<std::size_t>(u)]; i < first_[static_cast<std::size_t>(u) + 1]; ++i)
        rows.push_back(i);
    }
    return largest_eigenvalue_of_block(a_(rows, rows));
  }
  /// At least lambda_max of everything, which bounds every size: computed once.
  [[nodiscard]] double scaled_superset() const {
    std::call_once(superset_once_, [this] { superset_ = block_eigenvalue_bound(a_, threads_, *control_); });
    return superset_;
  }
  /// Debug builds: the planted set is not in what is closed.
  template <class Kept, class Free>
  void guard(const Kept& kept, const Free& free, Index k, double limit) const {
    guard_planted(planted_, k, kept, free, limit * (1.0 + 1e-9),
                  [&](const std::vector<Index>& units) { return scaled_value(units); });
  }

  Matrix a_;                  ///< over the features of the units, unit by unit, divided by scale_
  std::vector<Index> first_;  ///< of each unit; one more at the end
  double scale_ = 1.0;        ///< a power of two
  [[nodiscard]] bool off(ExactBound bound) const { return off_[static_cast<std::size_t>(bound)]; }

  bool single_ = true;
  bool forced_ = false;  ///< some units are in every set
  int threads_ = 1;
  const RunControl* control_;
  std::vector<Index> planted_;
  Index largest_size_ = 1;
  void find_row_sums() const;
  mutable std::once_flag row_sums_once_;
  mutable std::vector<double> row_sums_;  ///< by size
  mutable std::once_flag superset_once_;
  mutable double superset_ = kInfinity;
  BoundSwitches off_;
  double slack_ = 0.0;
  std::uint64_t budget_ = 1;
  std::size_t release_ = 0;  ///< entries that the levels of a visit may hold together
};

PerronExplorer::PerronExplorer(const Pencil& pencil, const SearchUnits& units, const ExactOptions& options,
                               const RunControl& control)
    : control_(&control) {
  off_ = options.off;
  forced_ = !units.include.empty();
  largest_size_ = options.k.hi;
  threads_ = options.threads;
  planted_ = options.planted;
  std::vector<Index> features;
  std::size_t widest = 1;
  for (const auto& members : units.members) {
    first_.push_back(static_cast<Index>(features.size()));
    features.insert(features.end(), members.begin(), members.end());
    widest = std::max(widest, members.size());
    if (members.size() != 1) single_ = false;
  }
  first_.push_back(static_cast<Index>(features.size()));
  const double n = static_cast<double>(features.size());
  require_memory(8.0 * n * n * 4.0, fmt::format("exact sparse PCA over {} candidates", features.size()),
                 "leave features out (⟨exclude⟩), or search greedily (gspca)", options.memory_limit);
  release_ = static_cast<std::size_t>(std::max(level_bytes(options.memory_limit) / 8.0, 2.0 * n * n));
  constexpr double kLarge = 2000.0;  // from here on the matrix takes a tenth of a second and more
  const bool may_leave = options.checkpoint.empty() && options.resume.empty();  // those need the problem
  const auto ask = [&] {
    if (may_leave && n > kLarge && control.should_stop()) throw linalg::Stopped();
  };
  ask();
  a_ = pencil.a_block(features, options.threads);
  ask();
  const double largest = a_.size() > 0 ? a_.cwiseAbs().maxCoeff() : 0.0;
  if (largest > 0.0) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    scale_ = std::ldexp(1.0, exponent);
    a_ /= scale_;
  }
  const double size = static_cast<double>(options.k.hi) * static_cast<double>(widest);
  slack_ = std::min(2e-10, kPerronEps * (8.0 * size * size + 64.0 * size));
  budget_ =
      static_cast<std::uint64_t>(std::clamp(2e7 / (n * n + 1.0) * std::min(1.0, 300.0 / n), 4.0, 4096.0));
}

/// One visit: the stack of levels, from the open node down.
class PerronVisit {
 public:
  PerronVisit(const PerronExplorer& explorer, const Cutoff& cutoff, Harvest& harvest)
      : x_(explorer), cutoff_(cutoff), harvest_(harvest) {
    refresh();
  }

  /// The bound alone.
  double root_bound(const OpenNode& node) {
    cut_ = exact_ = -kInfinity;
    PerronLevel level;
    start(node, level);
    if (level.left == 0 || level.left >= level.count()) {
      auto all = level.kept;
      if (level.left > 0) all.insert(all.end(), level.units.begin(), level.units.end());
      const double value = x_.scaled_value(all);
      return value + 1e-12 * std::abs(value);
    }
    sweeps(level, level.own, kRootSweeps);
    const double superset = x_.scaled_superset();
    return std::min(level.bound, superset + 1e-12 * std::abs(superset));
  }

  void run(const OpenNode& node, std::uint64_t budget, const RunControl& control) {
    budget_ = budget;
    control_ = &control;
    auto& level = push();
    start(node, level);
    level.bound = node.bound / x_.scale_;
    // Easy problems end on the first visit; what is left after it needs more.
    if (node.free.size() + node.kept.size() + 1 < x_.first_.size()) {
      level.bound = std::min(level.bound, halfway(node));
      work_ = kInfinity;
    }
    search();
  }

 private:
  /// A bound that is meant to be low and not to close: with lambda between the cut and the known bound, which
  /// suits nodes that are far from closing.
  double halfway(const OpenNode& node) {
    const double above = node.bound / x_.scale_;
    const Index left = node.k - static_cast<Index>(node.kept.size());
    if (x_.off(ExactBound::kFloor) || !(cut_ > 0.0 && above > cut_ * kHalfway && above < kInfinity) ||
        left < kFloorLeft || static_cast<Index>(node.free.size()) <= left) {
      return kInfinity;
    }
    const double cut = cut_, exact = exact_;
    cut_ = exact_ = 0.5 * (cut + above);
    PerronLevel level;
    start(node, level);
    double bound = kInfinity;
    if (level.reduced()) {
      auto outcome = sweeps(level, level.own, kSweeps);
      if (outcome == Outcome::kOpen && level.rows() <= kFloorRows) outcome = raise_floor(level);
      bound = outcome == Outcome::kClosed ? cut_ : level.bound;
      // kComplete: one set is left, which the search will look at.
      if (outcome == Outcome::kComplete) bound = kInfinity;
    }
    cut_ = cut;
    exact_ = exact;
    helped_ = false;
    return bound;
  }

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
  /// Debug builds: the planted set is not in what is closed.
  void guard(const std::vector<std::int32_t>& kept, const PerronLevel& level) const {
    x_.guard(kept, level.units, static_cast<Index>(level.kept.size()) + level.left, cut_);
  }
  /// The same for sets that are known to be no better than the cut.
  void closed_at_the_cut() { closes(cut_); }
  bool stopped() {
    if (stop_) return true;
    if (harvest_.nodes >= budget_ || control_->should_stop()) stop_ = true;
    return stop_;
  }

  // --- levels
  PerronLevel& push() {
    if (depth_ == static_cast<Index>(stack_.size())) stack_.push_back(std::make_unique<PerronLevel>());
    return *stack_[static_cast<std::size_t>(depth_++)];
  }
  void start(const OpenNode& node, PerronLevel& level) {
    level.kept = node.kept;
    level.units = node.free;
    level.left = node.k - static_cast<Index>(node.kept.size());
    level.bound = kInfinity;
    build(level);
    level.own.first_guess(level.rows());
    level.x.assign(static_cast<std::size_t>(level.own.stride), 0.0);
    std::copy(level.own.d.begin(), level.own.d.end(), level.x.begin());
  }
  [[nodiscard]] std::vector<Index> features(const std::vector<std::int32_t>& units) const {
    std::vector<Index> rows;
    for (const auto u : units) {
      const auto e = static_cast<std::size_t>(u);
      for (Index i = x_.first_[e]; i < x_.first_[e + 1]; ++i) rows.push_back(i);
    }
    return rows;
  }
  void number_rows(PerronLevel& level) {
    level.begin.assign(1, 0);
    for (const auto u : level.units) {
      const auto e = static_cast<std::size_t>(u);
      level.begin.push_back(level.begin.back() + x_.first_[e + 1] - x_.first_[e]);
    }
  }
  void release();
  void build(PerronLevel& level);
  void keep(const PerronLevel& from, Index e, PerronLevel& to);
  void drop(PerronLevel& level, const std::vector<char>& gone);

  // --- bounds
  enum class Outcome { kOpen, kClosed, kComplete };
  void sweep(const PerronLevel& level, Form& form);
  double top_sum(const double* c, const double* d, Index n, Index m, double& t) const;
  [[nodiscard]] double bound_of(PerronLevel& level, double worst);
  Outcome sweeps(PerronLevel& level, Form& form, int most);
  bool fix_out(PerronLevel& level, const Form& form);
  bool superset_closes(PerronLevel& level);
  bool wants_floor(const PerronLevel& level) const;
  double try_floor(PerronLevel& level, const linalg::SymmetricEigen& eigen, double mu, double error);
  Outcome raise_floor(PerronLevel& level);

  // --- search
  void search();
  bool closed(PerronLevel& level);
  bool leaf(PerronLevel& level);
  [[nodiscard]] Index branch(const PerronLevel& level) const;
  void emit(const PerronLevel& level);

  const PerronExplorer& x_;
  const Cutoff& cutoff_;
  Harvest& harvest_;
  const RunControl* control_ = nullptr;
  std::uint64_t budget_ = 0;
  bool stop_ = false;
  double work_ = 0.0;    ///< entries read since the last floor
  bool helped_ = false;  ///< the last floor was better than C
  double exact_ = -kInfinity, cut_ = -kInfinity;
  std::vector<std::unique_ptr<PerronLevel>> stack_;
  Index depth_ = 0;
  std::vector<double> buffer_, slack_, ones_;
};

/// Levels hold F^2 entries each. Where that is too much, those not in use give theirs back, then the upper
/// ones until they are needed.
void PerronVisit::release() {
  const auto entries = [](const PerronLevel& level) {
    return level.own.c.capacity() + level.floored.c.capacity();
  };
  std::size_t held = 0;
  for (const auto& level : stack_) held += entries(*level);
  const auto give_back = [&](Index e) {
    PerronLevel& level = *stack_[static_cast<std::size_t>(e)];
    held -= entries(level);
    level.own.c = std::vector<double>();
    level.floored.c = std::vector<double>();
    level.has_floor = false;
  };
  for (auto e = static_cast<Index>(stack_.size()); held > x_.release_ && e-- > depth_;) give_back(e);
  for (Index e = 0; held > x_.release_ && e + 1 < depth_; ++e) give_back(e);
}

/// C at lambda = cut_, if that is above lambda_max(A_I); else A_FF.
void PerronVisit::build(PerronLevel& level) {
  number_rows(level);
  const auto kept = features(level.kept), free = features(level.units);
  Matrix c = x_.a_(free, free);
  level.lambda = level.kept_value = -kInfinity;
  level.built_for = cut_;
  level.cross = -1.0;
  level.has_floor = false;
  if (kept.empty()) {
    level.lambda = cut_;
  } else {
    Matrix pivots = -x_.a_(kept, kept);
    pivots.diagonal().array() += cut_;
    bool fits = cut_ > -kInfinity && !x_.off(ExactBound::kResidual) && linalg::cholesky(pivots);
    for (Index i = 0; fits && i < pivots.rows(); ++i)
      fits = pivots(i, i) * pivots(i, i) > kPivot * std::abs(cut_);
    if (fits) {
      Matrix w = x_.a_(kept, free);
      linalg::solve_lower(pivots, linalg::Op::kNone, w);
      linalg::syrk(1.0, linalg::Op::kTranspose, w, 1.0, c);
      level.lambda = cut_;
    } else {
      level.kept_value = largest_eigenvalue_of_block(x_.a_(kept, kept));
    }
  }
  level.own.set(c);
}

/// `to` = the node that keeps units[e] of `from` as well.
void PerronVisit::keep(const PerronLevel& from, Index e, PerronLevel& to) {
  const auto at = static_cast<std::size_t>(e);
  to.kept = from.kept;
  to.kept.push_back(from.units[at]);
  to.units = from.units;
  to.units.erase(to.units.begin() + e);
  to.left = from.left - 1;
  to.floor = from.floor;
  to.floor_rows = from.floor_rows;
  to.floor_left = from.floor_left;
  to.bound = from.bound;
  const Index first = from.begin[at], width = from.begin[at + 1] - first, n = from.rows();
  const auto pivot = [&](const Form& form) {
    const double p = from.lambda - form.diagonal[static_cast<std::size_t>(first)];
    return width == 1 && !x_.off(ExactBound::kResidual) && from.reduced() && from.lambda == cut_ &&
                   p > kPivot * std::abs(cut_)
               ? p
               : 0.0;
  };
  to.has_floor = false;
  if (const double p = pivot(from.own); p > 0.0) {
    number_rows(to);
    to.lambda = to.built_for = from.lambda;
    to.kept_value = -kInfinity;
    to.own.keep(from.own, n, first, width, p);
    if (const double q = from.has_floor ? pivot(from.floored) : 0.0; q > 0.0) {
      to.has_floor = true;
      to.floored.keep(from.floored, n, first, width, q);
      to.floored.carry(from.floored, n, first, width);
    }
  } else {
    build(to);
  }
  to.own.carry(from.own, n, first, width);
  to.x.assign(static_cast<std::size_t>(to.own.stride), 0.0);
  std::copy_n(from.x.data(), first, to.x.data());
  std::copy_n(from.x.data() + first + width, n - first - width, to.x.data() + first);
}

/// Takes the units marked in `gone` out of the free ones, in place.
void PerronVisit::drop(PerronLevel& level, const std::vector<char>& gone) {
  std::vector<Index> stay;
  std::vector<std::int32_t> units;
  for (Index e = 0; e < level.count(); ++e) {
    const auto at = static_cast<std::size_t>(e);
    if (gone[at] != 0) continue;
    units.push_back(level.units[at]);
    for (Index i = level.begin[at]; i < level.begin[at + 1]; ++i) stay.push_back(i);
  }
  level.own.drop(stay);
  if (level.has_floor) level.floored.drop(stay);
  for (std::size_t i = 0; i < stay.size(); ++i) level.x[i] = level.x[static_cast<std::size_t>(stay[i])];
  level.x.resize(static_cast<std::size_t>(level.own.stride));
  std::fill(level.x.begin() + static_cast<std::ptrdiff_t>(stay.size()), level.x.end(), 0.0);
  level.units = std::move(units);
  level.cross = -1.0;
  number_rows(level);
}

/// The sum of the m largest |c_j| d_j, or a little more, and t with
///     m t + sum_j (|c_j| d_j - t)+ = that sum.
/// Every t >= 0 gives an upper bound this way; the smallest is exact. `t` on entry is a guess.
double PerronVisit::top_sum(const double* c, const double* d, Index n, Index m, double& t) const {
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
void PerronVisit::sweep(const PerronLevel& level, Form& form) {
  const Index n = level.rows(), m = level.left - 1;
  work_ += static_cast<double>(n) * static_cast<double>(n);
  if (x_.single_) {
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      form.sum[at] = top_sum(form.row(i), form.d.data(), form.stride, m, form.threshold[at]);
    }
    return;
  }
  // A row takes its own unit, and of the others those with the largest sums.
  const Index count = level.count(), wide = rows::padded(count);
  buffer_.assign(static_cast<std::size_t>(wide), 0.0);
  ones_.assign(static_cast<std::size_t>(wide), 1.0);
  for (std::size_t own = 0; own + 1 < level.begin.size(); ++own) {
    for (Index i = level.begin[own]; i < level.begin[own + 1]; ++i) {
      const double* row = form.row(i);
      double mine = 0.0;
      for (std::size_t e = 0; e + 1 < level.begin.size(); ++e) {
        double sum = 0.0;
        for (Index j = level.begin[e]; j < level.begin[e + 1]; ++j)
          sum += std::abs(row[j]) * form.d[static_cast<std::size_t>(j)];
        buffer_[e] = e == own ? 0.0 : sum;
        if (e == own) mine = sum;
      }
      const auto at = static_cast<std::size_t>(i);
      form.sum[at] = mine + top_sum(buffer_.data(), ones_.data(), wide, m, form.threshold[at]);
    }
  }
}

/// What lambda_max(C_G) <= worst says about the sets of the node.
double PerronVisit::bound_of(PerronLevel& level, double worst) {
  if (level.kept.empty()) return worst;
  if (level.reduced()) return std::max(level.lambda, worst);
  if (level.cross < 0.0) {
    // |A_IG|^2 is at most the sum of the g largest |A_Iu|^2 of the units.
    const auto kept = features(level.kept), free = features(level.units);
    std::vector<double> squares;
    for (std::size_t e = 0; e + 1 < level.begin.size(); ++e) {
      double sum = 0.0;
      for (Index i = level.begin[e]; i < level.begin[e + 1]; ++i) {
        for (const Index j : kept) {
          const double a = x_.a_(j, free[static_cast<std::size_t>(i)]);
          sum += a * a;
        }
      }
      squares.push_back(sum);
    }
    std::sort(squares.begin(), squares.end(), std::greater<>());
    level.cross = std::sqrt(std::accumulate(squares.begin(), squares.begin() + level.left, 0.0));
  }
  const double bound = of_two(level.kept_value, level.cross, worst);
  return bound + 16.0 * kPerronEps * std::abs(bound);
}

/// Sweeps until the node closes or it does not pay any more. kComplete: as many units are left as are needed.
PerronVisit::Outcome PerronVisit::sweeps(PerronLevel& level, Form& form, int most) {
  double previous = kInfinity;
  for (int step = 0; step < most; ++step) {
    if (step > 0 && level.rows() > kFloorRows && x_.control_->should_stop()) break;
    sweep(level, form);
    double top = -kInfinity;
    double worst = form.measure(level.rows(), &top);
    worst += 4.0 * kPerronEps * static_cast<double>(level.left + 8) * (std::abs(worst) + std::abs(top));
    form.worst = worst;
    level.bound = std::min(level.bound, bound_of(level, worst));
    if (closes(level.bound)) return Outcome::kClosed;
    if (level.reduced() && cut_ > top && fix_out(level, form)) {
      if (level.count() < level.left) return Outcome::kClosed;
      if (level.count() == level.left) return Outcome::kComplete;
      previous = kInfinity;
      continue;
    }
    if (step > 0 && !(worst < previous * (1.0 - kProgress))) break;
    if (step > 0 && cut_ > -kInfinity && previous - worst < (worst - cut_) / kPatience) break;
    previous = worst;
    form.relax(level.rows(), std::max(cut_, top + 0.05 * std::abs(top)));
  }
  return Outcome::kOpen;
}

/// Drops every unit that no wanted set can have: with i in G, row i needs only the scaling d_i' = R_i/(cut -
/// c_ii), and every other row j has to take i, so that R_j becomes at most R_j - max(t_j, w_ji) + |c_ji|
/// d_i'. If all rows then stay below the cut, so does every set with i. Pre: sweep() was the last to touch
/// `form`.
bool PerronVisit::fix_out(PerronLevel& level, const Form& form) {
  const Index n = level.rows();
  if (level.left < 2 || x_.off(ExactBound::kFixOut)) return false;
  slack_.assign(static_cast<std::size_t>(form.stride), kInfinity);
  for (Index j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double room = (cut_ - form.diagonal[at]) * form.d[at];
    slack_[at] = room - form.sum[at] - 16.0 * kPerronEps * static_cast<double>(level.left + 8) * room;
    if (slack_[at] < -form.threshold[at]) return false;  // not even a whole slot brings this row down
  }
  std::vector<char> gone(static_cast<std::size_t>(level.count()), 0);
  bool any = false;
  for (std::size_t unit = 0; unit < gone.size(); ++unit) {
    const Index first = level.begin[unit], last = level.begin[unit + 1];
    if (x_.single_) {
      const auto at = static_cast<std::size_t>(first);
      const double with = form.sum[at] / (cut_ - form.diagonal[at]) * (1.0 + 16.0 * kPerronEps);
      gone[unit] = rows::largest_excess(form.row(first), form.threshold.data(), slack_.data(), with,
                                        form.d[at], form.stride) <= 0.0
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
            weight += std::abs(form.row(j)[i]) * form.d[static_cast<std::size_t>(i)];
          gain = std::max(0.0, form.threshold[at] - weight);
        }
        fits = slack_[at] + gain >= 0.0;
      }
      gone[unit] = fits ? 1 : 0;
    }
    any = any || gone[unit] != 0;
  }
  if (!any) return false;
  closed_at_the_cut();
  for (std::size_t unit = 0; unit < gone.size(); ++unit) {
    if (gone[unit] == 0) continue;
    auto with = level.kept;  // the sets that are given up: those with this unit
    with.push_back(level.units[unit]);
    guard(with, level);
  }
  drop(level, gone);
  return true;
}

/// lambda_max(C) <= cut: no set of any size is wanted. One step of the power method comes first: a Rayleigh
/// quotient above the cut saves the factorization.
bool PerronVisit::superset_closes(PerronLevel& level) {
  const Index n = level.rows();
  if (!level.reduced() || x_.off(ExactBound::kSuperset) || n > kSupersetFactor * level.left + kSupersetRows)
    return false;
  const Form& form = level.own;
  buffer_.assign(static_cast<std::size_t>(form.stride), 0.0);
  double square = 0.0, quotient = 0.0, after = 0.0;
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    buffer_[at] = rows::dot(form.row(i), level.x.data(), form.stride) + form.diagonal[at] * level.x[at];
    square += level.x[at] * level.x[at];
    quotient += level.x[at] * buffer_[at];
    after += buffer_[at] * buffer_[at];
  }
  if (after > 0.0) {
    for (Index i = 0; i < n; ++i)
      level.x[static_cast<std::size_t>(i)] = buffer_[static_cast<std::size_t>(i)] / std::sqrt(after);
  }
  if (quotient > cut_ * square) return false;
  Matrix m = -form.matrix(n);
  m.diagonal().array() += cut_ - 8.0 * kPerronEps * static_cast<double>(n) * std::abs(cut_);
  if (!linalg::cholesky(m)) return false;
  closed_at_the_cut();
  return true;
}

bool PerronVisit::wants_floor(const PerronLevel& level) const {
  if (!level.reduced() || level.left < kFloorLeft || level.rows() > kFloorRows ||
      x_.off(ExactBound::kFloor)) {
    return false;
  }
  const auto shrunk = [](Index now, Index before) {
    return static_cast<double>(now) < kFloorShrink * static_cast<double>(before);
  };
  if (!shrunk(level.rows(), level.floor_rows) && !shrunk(level.left, level.floor_left)) return false;
  const auto n = static_cast<double>(level.rows());
  return helped_ || work_ > kFloorWork * n * n * n;
}

/// The row-wise bound of sum_l max(lambda_l, mu) v_l v_l' after a few sweeps.
double PerronVisit::try_floor(PerronLevel& level, const linalg::SymmetricEigen& eigen, double mu,
                              double error) {
  const Index n = level.rows();
  Index from = n;
  while (from > 0 && eigen.values[from - 1] > mu) --from;
  Matrix scaled = eigen.vectors.rightCols(n - from);
  for (Index l = from; l < n; ++l) scaled.col(l - from) *= std::sqrt(eigen.values[l] - mu);
  Matrix c = Matrix::Zero(n, n);
  linalg::syrk(1.0, linalg::Op::kNone, scaled, 0.0, c);
  c.diagonal().array() += mu + error;
  level.floored.set(c);
  double best = kInfinity;
  for (int step = 0; step < kFloorSweeps; ++step) {
    if (step > 0) {
      double top = level.floored.diagonal[0];
      for (Index i = 0; i < n; ++i) top = std::max(top, level.floored.diagonal[static_cast<std::size_t>(i)]);
      level.floored.relax(n, std::max(cut_, top + 0.05 * std::abs(top)));
    }
    sweep(level, level.floored);
    double top = 0.0;
    best = std::min(best, level.floored.measure(n, &top));
    if (best <= cut_) break;
  }
  level.floored.worst = best;
  return best;
}

/// Finds a floor mu for the eigenvalues of C: C + W = sum_l max(lambda_l, mu) v_l v_l' has the same leading
/// part, larger variances and smaller covariances, and bounds C from above in every set.
PerronVisit::Outcome PerronVisit::raise_floor(PerronLevel& level) {
  const Index n = level.rows();
  const auto eigen = linalg::symmetric_eigen(level.own.matrix(n), true);
  const double most = eigen.values[n - 1], least = eigen.values[0];
  const double error = 16.0 * kPerronEps * static_cast<double>(n) * std::max(std::abs(most), std::abs(least));
  level.bound = std::min(level.bound, bound_of(level, most + error));
  if (closes(level.bound)) return Outcome::kClosed;
  std::copy_n(eigen.vectors.col(n - 1).data(), n, level.x.data());
  level.floored.set(level.own.matrix(n));
  level.floored.d = level.own.d;
  level.floored.threshold = level.own.threshold;
  level.floored.sum = level.own.sum;

  double best = kInfinity, best_mu = least, last = least;
  const auto at = [&](double mu) {
    last = mu;
    const double worst = best <= cut_ ? kInfinity : try_floor(level, eigen, mu, error);
    if (worst < best) {
      best = worst;
      best_mu = mu;
    }
    return worst;
  };
  if (level.floor > least && level.floor < most) {
    // Near the floor above, in the direction that is better.
    const double stride = 0.08 * (most - least), middle = at(level.floor);
    if (!(at(std::min(level.floor + stride, most)) < middle)) at(std::max(level.floor - stride, least));
  } else {
    constexpr double kGolden = 0.6180339887498949;
    double low = least, high = most;
    double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    double at_a = at(a), at_b = at(b);
    for (int step = 0; step < kFloorSteps; ++step) {
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
  if (last != best_mu) try_floor(level, eigen, best_mu, error);
  level.floor = best_mu;
  level.floor_rows = n;
  level.floor_left = level.left;
  level.has_floor = true;
  helped_ = level.own.worst - best > kFloorGain * (level.own.worst - cut_);
  work_ = 0.0;
  return sweeps(level, level.floored, kSweeps);
}

/// The bounds of a node, cheap ones first.
bool PerronVisit::closed(PerronLevel& level) {
  Form* forms[] = {&level.own, level.has_floor ? &level.floored : nullptr};
  if (forms[1] != nullptr && forms[1]->worst < forms[0]->worst) std::swap(forms[0], forms[1]);
  for (Form* form : forms) {
    if (form == nullptr) continue;
    const auto outcome = sweeps(level, *form, kSweeps);
    if (outcome != Outcome::kOpen) return outcome == Outcome::kClosed || leaf(level);
  }
  // Below a node where the floor is no better than C it seldom is again.
  if (level.has_floor && level.floored.worst > level.own.worst) level.has_floor = false;
  if (wants_floor(level)) {
    const auto outcome = raise_floor(level);
    if (outcome != Outcome::kOpen) return outcome == Outcome::kClosed || leaf(level);
    if (!helped_) level.has_floor = false;
    return false;
  }
  return superset_closes(level);
}

/// Nodes that need no branching.
bool PerronVisit::leaf(PerronLevel& level) {
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
          double sum = level.own.diagonal[static_cast<std::size_t>(i)];
          for (Index j = level.begin[unit]; j < level.begin[unit + 1]; ++j)
            sum += std::abs(level.own.row(i)[j]);
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
      order.emplace_back(-(at_most + 16.0 * kPerronEps * std::abs(at_most)), e);
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
    const double margin = 1.0 - 32.0 * kPerronEps;
    if (*std::max_element(level.own.diagonal.begin(), level.own.diagonal.begin() + n) >= cut_) return false;
    slack_.assign(static_cast<std::size_t>(level.own.stride), 1.0);
    for (Index i = 0; i < n; ++i)
      slack_[static_cast<std::size_t>(i)] = cut_ - level.own.diagonal[static_cast<std::size_t>(i)];
    std::vector<std::tuple<double, Index, Index>> pairs;
    for (Index i = 0; i < n; ++i) {
      const double f = slack_[static_cast<std::size_t>(i)] * margin;
      if (rows::largest_square_excess(level.own.row(i), slack_.data(), f, level.own.stride) <= 0.0) continue;
      for (Index j = i + 1; j < n; ++j) {
        const double c = level.own.row(i)[j];
        if (c * c > f * slack_[static_cast<std::size_t>(j)]) {
          const double at_most = of_two(level.own.diagonal[static_cast<std::size_t>(i)], std::abs(c),
                                        level.own.diagonal[static_cast<std::size_t>(j)]);
          pairs.emplace_back(-(at_most + 16.0 * kPerronEps * std::abs(at_most)), i, j);
        }
      }
    }
    closed_at_the_cut();
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [bound, i, j] : pairs) {
      if (closes(level.kept.empty() ? -bound : std::max(level.lambda, -bound))) break;
      offer(level.kept, {level.units[static_cast<std::size_t>(i)], level.units[static_cast<std::size_t>(j)]});
    }
    return true;
  }
  return false;
}

/// The unit with the largest scaling: where the Perron vector would be.
Index PerronVisit::branch(const PerronLevel& level) const {
  const Form& form = level.has_floor && level.floored.worst < level.own.worst ? level.floored : level.own;
  Index best = 0;
  double most = -kInfinity;
  for (Index e = 0; e < level.count(); ++e) {
    const auto unit = static_cast<std::size_t>(e);
    double score = 0.0;
    for (Index i = level.begin[unit]; i < level.begin[unit + 1]; ++i)
      score += form.d[static_cast<std::size_t>(i)];
    if (score > most) {
      most = score;
      best = e;
    }
  }
  return best;
}

void PerronVisit::emit(const PerronLevel& level) {
  if (level.count() < level.left) return;
  if (closes(level.bound)) return guard(level.kept, level);
  OpenNode node;
  node.k = static_cast<Index>(level.kept.size()) + level.left;
  node.kept = level.kept;
  std::sort(node.kept.begin(), node.kept.end());
  node.free = level.units;
  node.bound = level.bound * x_.scale_;
  harvest_.open.push_back(std::move(node));
}

void PerronVisit::search() {
  while (depth_ > 0) {
    PerronLevel& level = *stack_[static_cast<std::size_t>(depth_ - 1)];
    if (stopped()) {
      emit(level);
      --depth_;
      continue;
    }
    ++harvest_.nodes;
    if (closes(level.bound)) {
      guard(level.kept, level);
      --depth_;
      continue;
    }
    if (level.own.c.empty() || cut_ > level.built_for) build(level);  // released, or there is more to beat
    if (leaf(level) || closed(level)) {
      guard(level.kept, level);
      --depth_;
      continue;
    }
    const Index e = branch(level);
    PerronLevel& child = push();
    keep(level, e, child);
    std::vector<char> gone(static_cast<std::size_t>(level.count()), 0);
    gone[static_cast<std::size_t>(e)] = 1;
    drop(level, gone);
    release();
  }
}

double PerronExplorer::bound(const OpenNode& node) const {
  const Pool pool(1);
  Harvest harvest(pool);
  const Cutoff cutoff(slack_, 0.0);
  return scale_ * PerronVisit(*this, cutoff, harvest).root_bound(node);
}

/// One sweep with d = 1: the largest sum of a row over itself and its k - 1 best columns, for every k at
/// once.
void PerronExplorer::find_row_sums() const {
  const Index n = a_.rows();
  const auto most = static_cast<std::size_t>(single_ ? std::min(largest_size_, n) : n);
  row_sums_.assign(most, 0.0);
  constexpr Index kChunk = 256;
  std::mutex mutex;
  parallel_for((n + kChunk - 1) / kChunk, threads_, [&](Index chunk) {
    std::vector<double> row(static_cast<std::size_t>(n)), largest(most, 0.0);
    for (Index i = chunk * kChunk; i < std::min(n, (chunk + 1) * kChunk); ++i) {
      for (Index j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] = j == i ? 0.0 : std::abs(a_(j, i));
      std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(most), row.end(),
                        std::greater<>());
      double sum = std::abs(a_(i, i));
      for (std::size_t k = 0; k < most; ++k) {
        largest[k] = std::max(largest[k], sum);
        sum += row[k];
      }
    }
    const std::lock_guard lock(mutex);  // a maximum does not depend on the order
    for (std::size_t k = 0; k < most; ++k) row_sums_[k] = std::max(row_sums_[k], largest[k]);
  });
}

double PerronExplorer::quick_bound(const OpenNode& node) const {
  std::call_once(row_sums_once_, [this] { find_row_sums(); });
  const auto k = single_ ? static_cast<std::size_t>(node.k) : row_sums_.size();
  return scale_ * row_sums_[k - 1] * (1.0 + 1e-12 * static_cast<double>(k));
}

void PerronExplorer::explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
                             const RunControl& control, Harvest& harvest) const {
  PerronVisit(*this, cutoff, harvest).run(node, budget, control);
}

}  // namespace

std::unique_ptr<Explorer> perron_explorer(const Pencil& pencil, const SearchUnits& units,
                                          const ExactOptions& options, const RunControl& control) {
  return std::make_unique<PerronExplorer>(pencil, units, options, control);
}

}  // namespace subspectra::search
