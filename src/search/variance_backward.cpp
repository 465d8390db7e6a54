/// Backward elimination of single features by lambda_max(A_T), B = I. What a deletion leaves is bounded by
/// drop_screen.hpp and, where that does not decide, computed by secular.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "core/memory.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/drop_screen.hpp"
#include "search/resolvent.hpp"
#include "search/secular.hpp"
#include "search/variance_search.hpp"

namespace subspectra::variance {
namespace {

using linalg::Op;

constexpr Index kSmallBackward = 64;  // up to this many features all pairs are computed at every step
constexpr Index kDense = 512;      // a table is left for A_T when so many features, or as few as rows, remain
constexpr double kSafety = 1e-12;  // relative to Lambda_1: bounds that are reported are wider by this
constexpr int kMostMissing = 20;   // leading vectors found missing in one step

/// One way to hold A_T. Features go by their number at the start of the pass.
class Backward {
 public:
  virtual ~Backward() = default;
  [[nodiscard]] Index live() const { return static_cast<Index>(name_.size()) - dead_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] std::vector<Index> names() const {
    std::vector<Index> names;
    for (std::size_t i = 0; i < name_.size(); ++i) {
      if (alive_[i] != 0) names.push_back(name_[i]);
    }
    return names;
  }
  /// Deletes the feature that costs least, of those that may leave, and returns it. `root` is filled if it is
  /// not null; with `only_root` nothing is deleted.
  virtual Index step(const std::vector<char>& may_leave, RootLosses* root, bool only_root) = 0;

 protected:
  explicit Backward(std::vector<Index> names) : name_(std::move(names)), alive_(name_.size(), 1) {}
  Backward(const Backward&) = default;
  Backward& operator=(const Backward&) = default;

  [[nodiscard]] std::vector<Index> places() const {
    std::vector<Index> places;
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      if (alive_[i] != 0) places.push_back(static_cast<Index>(i));
    }
    return places;
  }
  [[nodiscard]] bool may(const std::vector<char>& may_leave, Index place) const {
    const auto at = static_cast<std::size_t>(place);
    return alive_[at] != 0 && may_leave[static_cast<std::size_t>(name_[at])] != 0;
  }
  [[nodiscard]] double safety() const { return kSafety * std::abs(top_); }
  Index kill(Index place) {
    alive_[static_cast<std::size_t>(place)] = 0;
    ++dead_;
    return name_[static_cast<std::size_t>(place)];
  }
  void forget_dead() {
    name_ = names();
    alive_.assign(name_.size(), 1);
    dead_ = 0;
  }

  std::vector<Index> name_;  ///< by place
  std::vector<char> alive_;
  Index dead_ = 0;
  double top_ = 0.0;
};

/// A_T as a dense matrix. Deleted features stay in it until R is made again: their rows of R are zero.
class DenseBackward : public Backward {
 public:
  DenseBackward(Matrix a, std::vector<Index> names, int threads)
      : Backward(std::move(names)), a_(std::move(a)), resolvent_(threads) {
    if (live() > kSmallBackward) {
      resolvent_.begin(a_);
      after_making();
    }
  }

  Index step(const std::vector<char>& may_leave, RootLosses* root, bool only_root) override {
    return live() > kSmallBackward ? screened(may_leave, root, only_root)
                                   : decomposed(may_leave, root, only_root);
  }

  // For choose().
  [[nodiscard]] double square(Index i) const { return resolvent_.matrix().column(i).squaredNorm(); }
  [[nodiscard]] FollowedPairs without(Index i) const {
    const Vector p = resolvent_.matrix().column(i);
    return resolvent_.without(p, p[i], i);
  }

 private:
  Index screened(const std::vector<char>& may_leave, RootLosses* root, bool only_root) {
    DropScreen screen(resolvent_.sigma(), resolvent_.pairs(), resolvent_.pairs().x, diagonal_);
    for (int missing = 0; missing < kMostMissing; ++missing) {
      const Index place = screen.impossible(alive_);
      if (place < 0) break;
      resolvent_.widen(resolvent_.matrix().column(place));
      screen = DropScreen(resolvent_.sigma(), resolvent_.pairs(), resolvent_.pairs().x, diagonal_);
    }
    top_ = screen.top();
    std::vector<char> candidate(alive_.size());
    for (std::size_t i = 0; i < candidate.size(); ++i)
      candidate[i] = may(may_leave, static_cast<Index>(i)) ? 1 : 0;
    if (root != nullptr) {
      root->value = top_;
      for (std::size_t i = 0; i < candidate.size(); ++i) {
        const auto place = static_cast<Index>(i);
        if (candidate[i] == 0) continue;
        root->losses[name_[i]] = std::max(0.0, screen.bounds(place, square(place)).least - safety());
      }
    }
    if (only_root) return -1;
    auto [chosen, after] = choose(*this, screen, resolvent_.sigma(), candidate);
    const Vector p = resolvent_.matrix().column(chosen);
    const double pivot = p[chosen];
    if (!after) after = resolvent_.without(p, pivot, chosen);
    resolvent_.remove(p, pivot, std::move(*after));
    diagonal_ -= p.cwiseAbs2() / pivot;
    diagonal_[chosen] = 0.0;
    top_ = resolvent_.top();
    const Index name = kill(chosen);
    if (live() > kSmallBackward && resolvent_.worn()) {
      const auto keep = places();
      compact();
      resolvent_.renew(a_, resolvent_.pairs().x(keep, Eigen::all));
      after_making();
    }
    return name;
  }

  Index decomposed(const std::vector<char>& may_leave, RootLosses* root, bool only_root) {
    compact();
    const Index m = live();
    const auto eigen = linalg::symmetric_eigen(a_, true);
    top_ = eigen.values[m - 1];
    const Matrix squares = eigen.vectors.rowwise().reverse().cwiseAbs2().transpose();
    const Vector gaps = top_ - eigen.values.reverse().array();
    Best best;
    if (root != nullptr) root->value = top_;
    for (Index i = 0; i < m; ++i) {
      if (!may(may_leave, i)) continue;
      const double drop = secular::drop(gaps.data(), squares.col(i).data(), m);
      if (root != nullptr) root->losses[name_[static_cast<std::size_t>(i)]] = std::max(0.0, drop - safety());
      best.offer(i, top_ - drop);
    }
    if (only_root) return -1;
    top_ = best.value();
    return kill(best.unit());
  }

  void compact() {
    if (dead_ == 0) return;
    const auto keep = places();
    a_ = Matrix(a_(keep, keep));
    forget_dead();
  }
  void after_making() {
    diagonal_.resize(a_.rows());
    for (Index i = 0; i < a_.rows(); ++i) diagonal_[i] = resolvent_.matrix().column(i)[i];
    top_ = resolvent_.top();
  }

  Matrix a_;
  Resolvent resolvent_;
  Vector diagonal_;  ///< of R
};

/// A_T = Z'Z with more features than rows: everything by G = Z Z' (N x N) and H = (sigma I - G)^{-1}, since
///     (sigma I - Z'Z)^{-1} = (I + Z'H Z)/sigma,
/// whose square has the diagonal (1 + e_i + sigma f_i)/sigma^2 with e_i = z_i'H z_i, f_i = |H z_i|^2.
/// Deleting i is H <- H - h h'/(1 + e_i), h = H z_i, and all e and f follow by Z'h and Z'H h: one pass over Z
/// a step.
class TableBackward : public Backward {
 public:
  TableBackward(Matrix z, std::vector<Index> names, int threads)
      : Backward(std::move(names)), threads_(threads), z_(std::move(z)), resolvent_(threads) {
    constexpr Index kLeast =
        16;  // rows of zeros change nothing and keep the pairs apart from the whole space
    if (const Index rows = z_.rows(); rows < kLeast) {
      z_.conservativeResize(kLeast, Eigen::NoChange);
      z_.bottomRows(kLeast - rows).setZero();
    }
    sum_gram();
    resolvent_.begin(gram_);
    after_making();
  }

  Index step(const std::vector<char>& may_leave, RootLosses* root, bool only_root) override {
    DropScreen screen = make_screen();
    for (int missing = 0; missing < kMostMissing; ++missing) {
      const Index place = screen.impossible(alive_);
      if (place < 0) break;
      resolvent_.widen(inverse_times(z_.col(place)));
      linalg::gemm_tiled(1.0, Op::kTranspose, z_, resolvent_.pairs().x, 0.0, zx_, threads_);
      screen = make_screen();
    }
    top_ = screen.top();
    std::vector<char> candidate(alive_.size());
    for (std::size_t i = 0; i < candidate.size(); ++i) {
      const auto place = static_cast<Index>(i);
      candidate[i] = may(may_leave, place) ? 1 : 0;
      if (root == nullptr || candidate[i] == 0) continue;
      root->losses[name_[i]] = std::max(0.0, screen.bounds(place, square(place)).least - safety());
    }
    if (root != nullptr) root->value = top_;
    if (only_root) return -1;
    auto [chosen, after] = choose(*this, screen, resolvent_.sigma(), candidate);
    const Vector h = inverse_times(z_.col(chosen));
    const double pivot = 1.0 + e_[chosen];
    if (!after) after = resolvent_.without(h, pivot, -1);
    const Vector hh = inverse_times(h);
    resolvent_.remove(h, pivot, std::move(*after));
    top_ = resolvent_.top();
    const Index name = kill(chosen);
    if (resolvent_.worn()) {
      renew();
      return name;
    }
    const Matrix& x = resolvent_.pairs().x;
    Matrix left(h.size(), 2 + x.cols()), products(z_.cols(), 2 + x.cols());
    left << h, hh, x;
    linalg::gemm_tiled(1.0, Op::kTranspose, z_, left, 0.0, products, threads_);
    const auto th = products.col(0).array(), thh = products.col(1).array();
    e_.array() -= th.square() / pivot;
    f_.array() += th / pivot * (th * (h.squaredNorm() / pivot) - 2.0 * thh);
    zx_ = products.rightCols(x.cols());
    return name;
  }

  // For choose().
  [[nodiscard]] double square(Index i) const {
    const double sigma = resolvent_.sigma();
    return (1.0 + e_[i] + sigma * f_[i]) / (sigma * sigma);
  }
  [[nodiscard]] FollowedPairs without(Index i) const {
    return resolvent_.without(inverse_times(z_.col(i)), 1.0 + e_[i], -1);
  }

 private:
  [[nodiscard]] Vector inverse_times(const VectorRef& v) const {
    Vector h(v.size());
    resolvent_.matrix().apply(v, h, threads_);
    return h;
  }
  [[nodiscard]] DropScreen make_screen() const {
    Matrix x = zx_;
    for (Index j = 0; j < x.cols(); ++j) {
      const double lambda = resolvent_.sigma() - 1.0 / resolvent_.pairs().theta[j];
      // A vector of G with eigenvalue 0 is none of A_T's.
      x.col(j) *= lambda > 1e-10 * std::abs(resolvent_.top()) ? 1.0 / std::sqrt(lambda) : 0.0;
    }
    const Vector diagonal = (1.0 + e_.array()) / resolvent_.sigma();
    return {resolvent_.sigma(), resolvent_.pairs(), std::move(x), diagonal};
  }
  void sum_gram() {
    gram_.setZero(z_.rows(), z_.rows());
    linalg::rank_update_lower(1.0, z_, gram_, threads_);
    linalg::mirror_lower(gram_);
    summed_with_ = live();
  }
  void renew() {
    const auto keep = places();
    Matrix left = z_(Eigen::all, keep);
    // Summed again from Z now and then: what is subtracted leaves its rounding behind.
    if (live() < summed_with_ / 2) {
      z_ = std::move(left);
      forget_dead();
      sum_gram();
    } else {
      std::vector<Index> gone;
      for (std::size_t i = 0; i < alive_.size(); ++i) {
        if (alive_[i] == 0) gone.push_back(static_cast<Index>(i));
      }
      linalg::rank_update_lower(-1.0, z_(Eigen::all, gone), gram_, threads_);
      linalg::mirror_lower(gram_);
      z_ = std::move(left);
      forget_dead();
    }
    resolvent_.renew(gram_, resolvent_.pairs().x);
    after_making();
  }
  void after_making() {
    constexpr Index kPanel = 1024;  // columns of H Z made at a time
    const Index p = z_.cols();
    e_.resize(p);
    f_.resize(p);
    Matrix hz(z_.rows(), std::min(kPanel, p));
    for (Index begin = 0; begin < p; begin += kPanel) {
      const Index count = std::min(kPanel, p - begin);
      const auto z = z_.middleCols(begin, count);
      resolvent_.matrix().apply(z, hz.leftCols(count), threads_);
      for (Index c = 0; c < count; ++c) {
        e_[begin + c] = z.col(c).dot(hz.col(c));
        f_[begin + c] = hz.col(c).squaredNorm();
      }
    }
    zx_.resize(p, resolvent_.pairs().x.cols());
    linalg::gemm_tiled(1.0, Op::kTranspose, z_, resolvent_.pairs().x, 0.0, zx_, threads_);
    top_ = resolvent_.top();
  }

  int threads_;
  Matrix z_;
  Matrix gram_;
  Index summed_with_ = 0;  ///< features in Z when gram_ was summed from it
  Resolvent resolvent_;
  Vector e_, f_;
  Matrix zx_;  ///< Z' times the leading vectors of G
};

/// The state for these features (by number), `positions` theirs in the pencil.
std::unique_ptr<Backward> make_state(const Pencil& pencil, std::vector<Index> names,
                                     const std::vector<Index>& positions, const GreedyOptions& options) {
  std::vector<Index> at;
  at.reserve(names.size());
  for (const Index u : names) at.push_back(positions[static_cast<std::size_t>(u)]);
  const auto n = static_cast<double>(names.size());
  const auto* rows = pencil.rows();
  if (rows != nullptr && static_cast<Index>(names.size()) > std::max(kDense, rows->rows())) {
    require_memory(
        8.0 * static_cast<double>(rows->rows()) * (2.0 * n + 4.0 * static_cast<double>(rows->rows())),
        fmt::format("backward elimination from {} features", names.size()),
        "use the forward pass alone or fewer candidates (⟨exclude⟩)", options.memory_limit);
    return std::make_unique<TableBackward>(rows->centred(at), std::move(names), options.threads);
  }
  require_memory(8.0 * n * n * 4.0, fmt::format("backward elimination from {} features", names.size()),
                 "use the forward pass alone or fewer candidates (⟨exclude⟩)", options.memory_limit);
  return std::make_unique<DenseBackward>(pencil.a_block(at, options.threads), std::move(names),
                                         options.threads);
}

}  // namespace

GreedyPass backward_features(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                             const RunControl& control, RootLosses* root) {
  const Index n = units.count();
  const Index least = std::max<Index>({1, options.least, static_cast<Index>(units.include.size())});
  GreedyPass pass;
  pass.most = n;
  pass.status = Status::kHeuristic;
  std::vector<char> may_leave(static_cast<std::size_t>(n), 1);
  for (const Index u : units.include) may_leave[static_cast<std::size_t>(u)] = 0;
  std::vector<Index> positions;
  for (const auto& members : units.members) positions.push_back(members.front());
  std::vector<Index> left(static_cast<std::size_t>(n)), deleted;
  std::iota(left.begin(), left.end(), Index{0});
  if (control.should_stop()) {
    pass.status = control.status_or(Status::kHeuristic);
  } else {
    if (root != nullptr) root->losses = Vector::Zero(n);
    auto state = make_state(pencil, left, positions, options);
    if (root != nullptr && n <= least) (void)state->step(may_leave, root, true);
    const Index dense = std::max(kDense, pencil.rows() != nullptr ? pencil.rows()->rows() : 0);
    while (state->live() > least) {
      if (control.should_stop()) {
        pass.status = control.status_or(Status::kHeuristic);
        break;
      }
      if (state->live() == dense && n > dense && pencil.rows() != nullptr) {
        state = make_state(pencil, state->names(), positions, options);
      }
      deleted.push_back(state->step(may_leave, deleted.empty() ? root : nullptr, false));
      control.report("backward", static_cast<double>(deleted.size()) / static_cast<double>(n - least),
                     [&] { return fmt::format("k {}  {:.6g}", state->live(), state->top()); });
    }
    left = state->names();
  }
  pass.order = units.include;
  for (const Index u : left) {
    if (may_leave[static_cast<std::size_t>(u)] != 0) pass.order.push_back(u);
  }
  pass.least = static_cast<Index>(left.size());
  pass.order.insert(pass.order.end(), deleted.rbegin(), deleted.rend());
  return pass;
}

}  // namespace subspectra::variance
