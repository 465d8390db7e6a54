/// Forward selection of single features by lambda_max(A_S, B_S), A without a factor. DESIGN 2.3.
///
/// In the coordinates of the running Cholesky factor L L' = B_S the pencil of S is C = L^{-1} A_S L^{-T}
/// (m x m) and a candidate i borders it by z_i = R_i/sqrt(d_i) and the corner a_i/d_i, where
///     w_i = L^{-1} B_{S,i},   d_i = B_ii - |w_i|^2,   R_i = L^{-1} A_{S,i} - C w_i,
///     a_i = A_ii - 2 w_i' L^{-1} A_{S,i} + w_i' C w_i.
/// For B = I that is C = A_S, R_i = A_{S,i}, d_i = 1, a_i = A_ii. Choosing j extends L, C, w and R by a row:
///     omega_i = (B_ji - w_j'w_i)/sqrt(d_j),
///     rho_i   = (A_ji - w_j'R_i - (C w_j)'w_i)/sqrt(d_j) - z_j'w_i - (a_j/d_j) omega_i,
///     d_i -= omega_i^2,   a_i -= omega_i (2 rho_i + (a_j/d_j) omega_i),   R_i <- (R_i - z_j omega_i; rho_i).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "secular.hpp"
#include "subspectra/core/error.hpp"
#include "subspectra/core/memory.hpp"
#include "subspectra/core/parallel.hpp"
#include "subspectra/linalg/tiled.hpp"
#include "variance_search.hpp"

namespace subspectra::variance {
namespace {

using linalg::Op;

class Forward {
 public:
  Forward(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options)
      : pencil_(pencil),
        options_(options),
        identity_(pencil.b_is_identity()),
        live_(units.count()),
        most_(options.most > 0 ? std::min(options.most, units.count()) : units.count()) {
    const double bytes = 8.0 * static_cast<double>(most_) *
                         (static_cast<double>(live_) * (identity_ ? 1.0 : 2.0) + static_cast<double>(most_));
    require_memory(bytes, fmt::format("the forward search for {} of {} features", most_, live_),
                   "ask for fewer features (--k)", options.memory_limit);
    unit_.resize(static_cast<std::size_t>(live_));
    std::iota(unit_.begin(), unit_.end(), Index{0});
    for (const auto& members : units.members) position_.push_back(members.front());
    a_ = pencil.a_diagonal()(position_);
    d_ = pencil.diagonal()(position_);
    floor_ = kDependent * d_;
    norm_ = Vector::Zero(live_);
    column_.resize(pencil.size());
    drop_dependent();
  }

  [[nodiscard]] Index live() const { return live_; }
  [[nodiscard]] Index chosen() const { return m_; }
  [[nodiscard]] Index most() const { return most_; }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] std::vector<Index>& dependent() { return dependent_; }
  /// The column that holds a unit, -1 when it has been found dependent.
  [[nodiscard]] Index column_of(Index unit) const {
    const auto end = unit_.begin() + live_;
    const auto at = std::find(unit_.begin(), end, unit);
    return at == end ? -1 : at - unit_.begin();
  }
  [[nodiscard]] Index unit(Index column) const { return unit_[static_cast<std::size_t>(column)]; }

  /// The column of the best candidate.
  [[nodiscard]] Index pick();
  void add(Index column);

 private:
  [[nodiscard]] double corner(Index c) const { return a_[c] / d_[c]; }
  [[nodiscard]] Index pick_by_decomposition();
  void reserve(Index rows);
  void remove(Index column);
  void drop_dependent();

  const Pencil& pencil_;
  const GreedyOptions& options_;
  bool identity_;
  Index live_, most_;
  Index m_ = 0;
  double value_ = 0.0;
  std::vector<Index> unit_;      ///< of each column; columns live_.. are used up
  std::vector<Index> position_;  ///< in the pencil, of each column
  Vector a_, d_, floor_, norm_;  ///< by column; norm_ = |R_i|^2
  Matrix r_, w_;                 ///< capacity x columns, the first m_ rows are in use; w_ empty for B = I
  Matrix c_;                     ///< capacity x capacity
  Vector column_;                ///< scratch of the pencil's size
  std::vector<Index> dependent_;
};

void Forward::reserve(Index rows) {
  if (rows <= c_.rows()) return;
  // Doubling keeps the memory in proportion to what was chosen, not to what might be.
  const Index capacity = std::min(most_, std::max<Index>({rows, 2 * c_.rows(), 16}));
  const auto grow = [&](Matrix& old, Index cols, Index used_cols) {
    Matrix larger(capacity, cols);
    larger.topLeftCorner(m_, used_cols) = old.topLeftCorner(m_, used_cols);
    old = std::move(larger);
  };
  grow(r_, live_, m_ > 0 ? live_ : 0);
  if (!identity_) grow(w_, live_, m_ > 0 ? live_ : 0);
  grow(c_, capacity, m_);
}

void Forward::remove(Index column) {
  const Index last = --live_;
  if (column == last) return;
  const auto to = static_cast<std::size_t>(column), from = static_cast<std::size_t>(last);
  unit_[to] = unit_[from];
  position_[to] = position_[from];
  for (Vector* v : {&a_, &d_, &floor_, &norm_}) (*v)[column] = (*v)[last];
  if (m_ == 0) return;
  r_.col(column).head(m_) = r_.col(last).head(m_);
  if (!identity_) w_.col(column).head(m_) = w_.col(last).head(m_);
}

void Forward::drop_dependent() {
  for (Index c = live_ - 1; c >= 0; --c) {
    if (d_[c] > floor_[c]) continue;
    dependent_.push_back(unit(c));
    remove(c);
  }
}

void Forward::add(Index j) {
  if (m_ + 1 == most_) {  // nothing will be asked any more
    remove(j);
    ++m_;
    return;
  }
  reserve(m_ + 1);
  const double dj = d_[j], root = std::sqrt(dj), aj = corner(j);
  const Index at = position_[static_cast<std::size_t>(j)];
  const Vector zj = r_.col(j).head(m_) / root;
  const Vector wj = identity_ ? Vector() : Vector(w_.col(j).head(m_));
  remove(j);
  pencil_.a_column(at, column_, options_.threads);
  Vector rho(live_);
  for (Index c = 0; c < live_; ++c) rho[c] = column_[position_[static_cast<std::size_t>(c)]];
  if (!identity_) {
    const auto r = r_.topLeftCorner(m_, live_), w = w_.topLeftCorner(m_, live_);
    Vector omega(live_);
    pencil_.column(at, column_, options_.threads);
    for (Index c = 0; c < live_; ++c) omega[c] = column_[position_[static_cast<std::size_t>(c)]];
    if (m_ > 0) {
      Matrix left(m_, 3);  // w_j, z_j, C w_j
      left.col(0) = wj;
      left.col(1) = zj;
      linalg::gemv(1.0, Op::kNone, c_.topLeftCorner(m_, m_), wj, 0.0, left.col(2));
      Matrix products(live_, 3);
      linalg::gemm_tiled(1.0, Op::kTranspose, w, left, 0.0, products, options_.threads);
      Vector wr(live_);
      linalg::gemv_transposed(r, wj, wr, options_.threads);
      omega = (omega - products.col(0)) / root;
      rho = (rho - wr - products.col(2)) / root - products.col(1) - aj * omega;
      for (Index c = 0; c < live_; ++c) r_.col(c).head(m_) -= omega[c] * zj;
    } else {
      omega /= root;
      rho = rho / root - aj * omega;
    }
    w_.row(m_).head(live_) = omega.transpose();
    const auto count = live_;
    d_.head(count).array() -= omega.array().square();
    a_.head(count).array() -= omega.array() * (2.0 * rho.array() + aj * omega.array());
  }
  r_.row(m_).head(live_) = rho.transpose();
  c_.row(m_).head(m_) = zj.transpose();
  c_.col(m_).head(m_) = zj;
  c_(m_, m_) = aj;
  ++m_;
  if (identity_) {
    norm_.head(live_).array() += rho.array().square();
  } else {
    for (Index c = 0; c < live_; ++c) norm_[c] = r_.col(c).head(m_).squaredNorm();
    drop_dependent();
  }
}

Index Forward::pick() {
  if (m_ > 0) return pick_by_decomposition();
  Best best;
  for (Index c = 0; c < live_; ++c) best.offer(unit(c), corner(c));
  value_ = best.value();
  return column_of(best.unit());
}

/// All eigenpairs of C; candidates in the order of their bound, the larger eigenvalue of
/// [[Lambda_1, |z_i|], [|z_i|, a_i]], as long as it beats the best value.
Index Forward::pick_by_decomposition() {
  constexpr Index kChunk = 256, kItem = 32;
  auto eigen = linalg::symmetric_eigen(c_.topLeftCorner(m_, m_), true);
  const double top = eigen.values[m_ - 1];
  const Matrix vectors = eigen.vectors.rowwise().reverse();
  const Vector gaps = top - eigen.values.reverse().array();

  std::vector<std::pair<double, Index>> queue(static_cast<std::size_t>(live_));  // bound, -column
  for (Index c = 0; c < live_; ++c) {
    const double half = 0.5 * (top - corner(c));
    const double bound = corner(c) + half + std::sqrt(half * half + norm_[c] / d_[c]);
    queue[static_cast<std::size_t>(c)] = {bound + 1e-12 * std::abs(bound), -c};  // above its rounding
  }
  std::make_heap(queue.begin(), queue.end());
  Best best;
  auto end = queue.end();
  Matrix borders(m_, kChunk), weights(m_, kChunk);
  Vector values(kChunk);
  while (end != queue.begin() && !(queue.front().first < best.threshold())) {
    std::vector<Index> chunk;
    // The first chunk is small: it finds the value that the others have to beat.
    const Index size = best.empty() ? kItem : kChunk;
    while (end != queue.begin() && static_cast<Index>(chunk.size()) < size &&
           !(queue.front().first < best.threshold())) {
      chunk.push_back(-queue.front().second);
      std::pop_heap(queue.begin(), end--);
    }
    const auto count = static_cast<Index>(chunk.size());
    for (Index e = 0; e < count; ++e) borders.col(e) = r_.col(chunk[static_cast<std::size_t>(e)]).head(m_);
    linalg::gemm(1.0, Op::kTranspose, vectors, Op::kNone, borders.leftCols(count), 0.0,
                 weights.leftCols(count));
    parallel_for((count + kItem - 1) / kItem, options_.threads, [&](Index item) {
      for (Index e = item * kItem; e < std::min(count, (item + 1) * kItem); ++e) {
        const Index c = chunk[static_cast<std::size_t>(e)];
        weights.col(e) = weights.col(e).cwiseAbs2() / d_[c];
        values[e] = top + secular::rise(top - corner(c), gaps.data(), weights.col(e).data(), m_);
      }
    });
    for (Index e = 0; e < count; ++e) best.offer(unit(chunk[static_cast<std::size_t>(e)]), values[e]);
  }
  value_ = best.value();
  return column_of(best.unit());
}

}  // namespace

GreedyPass forward_features(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                            const RunControl& control) {
  GreedyPass pass;
  Forward state(pencil, units, options);
  pass.least = std::max<Index>(1, static_cast<Index>(units.include.size()));
  const auto done = [&] {
    pass.most = static_cast<Index>(pass.order.size());
    pass.dependent = std::move(state.dependent());
    std::sort(pass.dependent.begin(), pass.dependent.end());
    return pass;
  };
  for (const Index unit : units.include) {
    if (control.should_stop()) {
      pass.status = control.status_or(Status::kInterrupted);
      return done();
    }
    const Index column = state.column_of(unit);
    if (column < 0) {
      throw Infeasible(
          fmt::format("the included feature at position {} is a linear combination of those included before "
                      "it; leave it out, or add a ridge (--ridge)",
                      units.members[static_cast<std::size_t>(unit)].front()));
    }
    pass.order.push_back(unit);
    state.add(column);
  }
  pass.status = Status::kHeuristic;
  while (state.chosen() < state.most()) {
    if (control.should_stop()) {
      pass.status = control.status_or(Status::kHeuristic);
      break;
    }
    if (state.live() == 0) {
      pass.status = Status::kRankLimit;
      break;
    }
    const Index column = state.pick();
    pass.order.push_back(state.unit(column));
    state.add(column);
    control.report("forward", static_cast<double>(state.chosen()) / static_cast<double>(state.most()),
                   [&] { return fmt::format("k {}  {:.6g}", state.chosen(), state.value()); });
  }
  return done();
}

}  // namespace subspectra::variance
