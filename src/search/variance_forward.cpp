/// Forward selection of single features by lambda_max(A_S, B_S), A without a factor.
///
/// In the coordinates of the running Cholesky factor L L' = B_S the pencil of S is C = L^{-1} A_S L^{-T}
/// (m x m) and a candidate i borders it by z_i = R_i/sqrt(d_i) and the corner a_i/d_i, where
///     w_i = L^{-1} B_{S,i},   d_i = B_ii - |w_i|^2,   R_i = L^{-1} A_{S,i} - C w_i,
///     a_i = A_ii - 2 w_i' L^{-1} A_{S,i} + w_i' C w_i.
/// For B = I that is C = A_S, R_i = A_{S,i}, d_i = 1, a_i = A_ii. Choosing j extends L, C, w and R by a row:
///     omega_i = (B_ji - w_j'w_i)/sqrt(d_j),
///     rho_i   = (A_ji - w_j'R_i - (C w_j)'w_i)/sqrt(d_j) - z_j'w_i - (a_j/d_j) omega_i,
///     d_i -= omega_i^2,   a_i -= omega_i (2 rho_i + (a_j/d_j) omega_i),   R_i <- (R_i - z_j omega_i; rho_i).
///
/// While m is small all eigenpairs of C are computed at every step. Later only the leading ones are kept and,
/// with K = (sigma I - C)^{-1} for a sigma above every value at hand, e_i = R_i'K R_i and f_i = |K R_i|^2 for
/// all candidates. In u_j = 1/(sigma - Lambda_j) the weights z_ij^2 beyond the leading pairs then have known
/// moments
///     m_1 = sum z_ij^2 u_j,   m_2 = sum z_ij^2 u_j^2,
/// and at lambda < sigma, c = sigma - lambda, they add sum z_ij^2 u_j/(1 - c u_j): by convexity at least
/// m_1/(1 - c m_2/m_1), at most what the chord from u = 0 to the largest u gives. Both bounds are roots of
/// small secular equations and differ in the second order of c u. Choosing j borders sigma I - C:
///     K <- K + y y'/s,   y = (K z_j; 1),   s = sigma - a_j/d_j - z_j'K z_j > 0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "eigen/followed_pairs.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/secular.hpp"
#include "search/variance_search.hpp"

namespace subspectra::variance {
namespace {

using linalg::Op;

constexpr Index kSmall = 64;      // up to this many chosen all pairs are computed at every step
constexpr Index kPairs = 5;       // kept beyond that
constexpr Index kGrowth = 96;     // steps for which K has room before it is made again
constexpr double kNear = 0.1;     // sigma - Lambda_1 when K is made: this part of Lambda_1 - Lambda_6,
constexpr double kRises = 6;      // or this many times the last step's rise, whichever is more,
constexpr double kFloor = 1e-4;   // and at least this part of Lambda_1
constexpr double kMargin = 0.02;  // least s, as part of sigma - Lambda_1, before a larger sigma is taken

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
                   "ask for fewer features (⟨k⟩)", options.memory_limit);
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
  // With K:
  struct Rise {
    Index column;
    double least, most;
  };
  [[nodiscard]] Index pick_by_screen();
  void begin();
  void factor(double near);
  void border(const Vector& zj, double aj, const Vector& rho, const Vector& omega);
  [[nodiscard]] double schur(Index c) const { return sigma_ - corner(c) - e_[c] / d_[c]; }
  [[nodiscard]] std::vector<Rise> survivors();
  [[nodiscard]] FollowedPairs with(const Vector& y, const Vector& ky, double s) const;
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

  bool screening_ = false;  ///< K and what follows are in use
  double sigma_ = 0.0, top_ = 0.0, rise_ = 0.0;
  LazySymmetric k_;
  FollowedPairs pairs_;                                   ///< of K
  Vector e_, f_;                                          ///< by column
  Matrix z_;                                              ///< by column: R_i'x
  std::optional<std::pair<Index, FollowedPairs>> tried_;  ///< position in the pencil and the pairs with it
  Index factorizations_ = 0;
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
  if (screening_) {
    e_[column] = e_[last];
    f_[column] = f_[last];
    z_.row(column) = z_.row(last);
  }
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
  Vector rho(live_), omega;
  for (Index c = 0; c < live_; ++c) rho[c] = column_[position_[static_cast<std::size_t>(c)]];
  if (!identity_) {
    const auto r = r_.topLeftCorner(m_, live_), w = w_.topLeftCorner(m_, live_);
    omega.resize(live_);
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
  if (screening_) border(zj, aj, rho, omega);
  if (identity_) {
    norm_.head(live_).array() += rho.array().square();
  } else {
    for (Index c = 0; c < live_; ++c) norm_[c] = r_.col(c).head(m_).squaredNorm();
    drop_dependent();
  }
}

Index Forward::pick() {
  if (m_ > kSmall) return pick_by_screen();
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

void Forward::begin() {
  const auto eigen = linalg::symmetric_eigen(c_.topLeftCorner(m_, m_), true);
  pairs_.x = eigen.vectors.rightCols(kPairs).rowwise().reverse();
  top_ = eigen.values[m_ - 1];
  screening_ = true;
  e_.resize(a_.size());
  f_.resize(a_.size());
  factor(kNear * (top_ - eigen.values[m_ - kPairs]));
}

/// K at sigma = Lambda_1 + near, larger if some candidate asks for it, and all that depends on K.
void Forward::factor(double near) {
  near = std::max({near, kRises * rise_, kFloor * std::abs(top_), 1e-300});
  const Index width = std::min<Index>(live_, 256);
  Matrix product(m_, width);
  const auto c = c_.topLeftCorner(m_, m_);
  for (;; near *= 2.0) {
    sigma_ = top_ + near;
    Matrix inverse = -c;
    inverse.diagonal().array() += sigma_;
    if (!linalg::invert_positive(inverse, options_.threads)) continue;
    linalg::mirror_lower(inverse);
    ++factorizations_;
    double least = kInfinity;
    for (Index begin = 0; begin < live_; begin += width) {
      const Index count = std::min(width, live_ - begin);
      const auto part = r_.block(0, begin, m_, count);
      linalg::gemm_tiled(1.0, Op::kTranspose, inverse, part, 0.0, product.leftCols(count), options_.threads);
      for (Index e = 0; e < count; ++e) {
        e_[begin + e] = part.col(e).dot(product.col(e));
        f_[begin + e] = product.col(e).squaredNorm();
        least = std::min(least, schur(begin + e));
      }
    }
    if (!(least > 2.0 * kMargin * near)) continue;
    k_.reset(std::move(inverse), 1.0, kGrowth);
    break;
  }
  const ChangedSymmetric operation{&k_, {}, 0.0, options_.threads};
  // A vector of chance: what a cluster of equal eigenvalues hid so far shows sooner or later.
  Random random(0x5eed, static_cast<std::uint64_t>(factorizations_));
  Matrix chance(m_, 1);
  for (auto& e : chance.reshaped()) e = random.normal();
  pairs_.rx.resize(m_, pairs_.x.cols());
  operation.apply(pairs_.x, pairs_.rx);
  pairs_ = refine_pairs(operation, std::move(pairs_), chance, {.keep = kPairs, .further = 3});
  top_ = sigma_ - 1.0 / pairs_.theta[0];
  z_.resize(live_, pairs_.x.cols());
  linalg::gemm_tiled(1.0, Op::kTranspose, r_.topLeftCorner(m_, live_), pairs_.x, 0.0, z_, options_.threads);
}

/// The pairs after bordering by y = (K z; 1) and s; ky is K times y without its last entry.
FollowedPairs Forward::with(const Vector& y, const Vector& ky, double s) const {
  const Index m = ky.size(), count = pairs_.x.cols();
  const ChangedSymmetric operation{&k_, y, 1.0 / s, options_.threads};
  // The new vectors are ((lambda - C)^{-1} z; 1): of the old leading ones and, of the rest, nearly y, whose
  // product is known.
  FollowedPairs start;
  start.x.setZero(m + 1, count + 1);
  start.x.topLeftCorner(m, count) = pairs_.x;
  start.rx.setZero(m + 1, count + 1);
  start.rx.topLeftCorner(m, count) = pairs_.rx;
  start.x.col(count) = y;
  start.rx.col(count).head(m) = ky;
  for (int round = 0; round < 2; ++round) {
    const Vector inner = start.x.leftCols(count).transpose() * start.x.col(count);
    start.x.col(count) -= start.x.leftCols(count) * inner;
    start.rx.col(count) -= start.rx.leftCols(count) * inner;
  }
  const double norm = start.x.col(count).norm();  // at least 1, the last entry
  start.x.col(count) /= norm;
  start.rx.col(count) /= norm;
  const Vector inner = (start.x.transpose() * y) / s;
  start.rx += y * inner.transpose();
  return refine_pairs(operation, std::move(start), Matrix(), {.keep = kPairs});
}

/// After j was added (m_ counts it already).
void Forward::border(const Vector& zj, double aj, const Vector& rho, const Vector& omega) {
  const Index m = m_ - 1;
  const int threads = options_.threads;
  Vector y(m_);
  k_.apply(zj, Eigen::Map<Matrix>(y.data(), m, 1), threads);
  y[m] = 1.0;
  const double zy = zj.dot(y.head(m)), s = sigma_ - aj - zy, yy = y.head(m).squaredNorm();
  const double before = top_;
  if (!(s > 0.5 * kMargin * (sigma_ - top_)) || k_.room() == 0) {  // begin again, with what is known
    tried_.reset();
    const Index count = pairs_.x.cols();
    Matrix x = Matrix::Zero(m_, count + 1);
    x.topLeftCorner(m, count) = pairs_.x;
    x(m, count) = 1.0;
    Matrix ax(m_, count + 1);
    linalg::gemm(1.0, Op::kNone, c_.topLeftCorner(m_, m_), Op::kNone, x, 0.0, ax);
    LazySymmetric c;
    c.reset(c_.topLeftCorner(m_, m_), 1.0);
    const double spread = 1.0 / pairs_.theta[count - 1] - 1.0 / pairs_.theta[0];
    pairs_ = refine_pairs({&c, {}, 0.0, threads}, {std::move(x), std::move(ax), {}, {}}, Matrix(),
                          {.keep = kPairs, .first = 1e-2, .most = 20});
    top_ = pairs_.theta[0];
    rise_ = std::max(0.0, top_ - before);
    factor(kNear * spread);
    rise_ = std::max(0.0, top_ - before);
    return;
  }
  Vector ky(m);
  k_.apply(y.head(m), ky, threads);
  pairs_ = tried_ ? std::move(tried_->second) : with(y, ky, s);
  tried_.reset();
  k_.grow();
  k_.add(y / std::sqrt(s), threads);
  top_ = sigma_ - 1.0 / pairs_.theta[0];
  rise_ = std::max(0.0, top_ - before);
  if (live_ == 0) return;
  const Index count = pairs_.x.cols();
  Matrix left(m_, 2 + count), products(live_, 2 + count);  // with R: one pass over it
  left.col(0) = y;
  left.col(1).head(m) = ky;
  left(m, 1) = 0.0;
  left.rightCols(count) = pairs_.x;
  linalg::gemm_tiled(1.0, Op::kTranspose, r_.topLeftCorner(m_, live_), left, 0.0, products, threads);
  const auto ty = products.col(0).array(), tk = products.col(1).array();
  auto e = e_.head(live_).array(), f = f_.head(live_).array();
  if (!identity_) {
    const auto w = omega.array();
    e -= w * (2.0 * (ty - rho.array()) + w * zy);
    f -= w * (2.0 * tk + w * yy);
  }
  e += ty.square() / s;
  f += ty / s * (2.0 * tk + ty * ((1.0 + yy) / s));
  z_ = products.rightCols(count);
}

/// Candidates that may be the best, the most promising first, with bounds on Lambda_1's rise.
std::vector<Forward::Rise> Forward::survivors() {
  const Vector& theta = pairs_.theta;
  const Index count = theta.size();
  const auto z = z_.topRows(live_);
  const Vector lambda = sigma_ - theta.cwiseInverse().array();
  // As many pairs as are good vectors; what they are wrong by widens the bounds.
  Index q = count - 1;
  double slack = 0.0;
  for (; q > 1; --q) {
    slack = 0.0;
    for (Index j = 0; j < q; ++j) {
      slack = std::max(slack, 20.0 * pairs_.residual[j] / std::max(theta[j] - theta[q], 1e-300));
    }
    if (slack <= 2e-3) break;
  }
  if (q <= 1) slack = 0.0;
  const double error = std::min(1.0, pairs_.residual[0] / std::max(theta[0] - theta[1], 1e-300) + 1e-14);
  slack = std::min(0.5, slack + 50.0 * error + 1e-10);
  const double u_out = theta[q] + pairs_.residual[q];
  const double gap_out = std::max(0.0, lambda[0] - sigma_ + 1.0 / u_out);

  const Vector squares = z.leftCols(q).cwiseAbs2() * Vector::Ones(q);
  const Vector first = e_.head(live_) - z.leftCols(q).cwiseAbs2() * theta.head(q);
  const Vector second = f_.head(live_) - z.leftCols(q).cwiseAbs2() * theta.head(q).cwiseAbs2();
  const auto bounds = [&](Index c) {
    std::array<double, kPairs + 2> gap{}, weight{};
    const double d = d_[c], rest = std::max(0.0, norm_[c] - squares[c]) / d;
    const double m1 = std::clamp(first[c] / d, 0.0, rest * u_out);
    const double m2 = std::min(std::max(second[c] / d, rest > 0.0 ? m1 * m1 / rest : 0.0), m1 * u_out);
    for (Index j = 1; j < q; ++j) {
      gap[static_cast<std::size_t>(j)] = lambda[0] - lambda[j];
      weight[static_cast<std::size_t>(j)] = z(c, j) * z(c, j) / d;
    }
    const auto last = static_cast<std::size_t>(q);
    const double z1 = std::abs(z(c, 0)), wrong = error * std::sqrt(rest * d);
    const double offset = lambda[0] - corner(c);
    Rise rise{c, 0.0, 0.0};
    weight[0] = std::pow(z1 + wrong, 2) / d;
    gap[last] = gap_out;
    weight[last] = m2 / (u_out * u_out);
    rise.most = secular::rise(offset - m1 + m2 / u_out, gap.data(), weight.data(), q + 1) * (1.0 + slack);
    weight[0] = std::pow(std::max(0.0, z1 - wrong), 2) / d;
    gap[last] = m2 > 0.0 ? std::max(gap_out, lambda[0] - sigma_ + m1 / m2) : gap_out;
    weight[last] = m2 > 0.0 ? m1 * m1 / m2 : 0.0;
    rise.least = secular::rise(offset, gap.data(), weight.data(), q + 1) * (1.0 - slack);
    return rise;
  };
  Index guess = 0;
  for (Index c = 1; c < live_; ++c) {
    if (schur(c) < schur(guess)) guess = c;
  }
  double target = bounds(guess).least;
  const double tie = kTie * std::abs(lambda[0]);
  // Where the secular function is not negative at the target the rise is smaller: one dot product with
  // weights that are the same for all.
  const double delta = (target - tie) / (1.0 + slack);
  Vector at;
  if (delta > 0.0) {
    Vector poles = Vector::Zero(q);
    for (Index j = 1; j < q; ++j) poles[j] = 1.0 / (delta + lambda[0] - lambda[j]);
    at = z.leftCols(q).cwiseAbs2() * poles + first +
         second * (1.0 / (u_out * u_out * (delta + gap_out)) - 1.0 / u_out);
  }
  std::vector<Rise> list;
  for (Index c = 0; c < live_; ++c) {
    if (c != guess && delta > 0.0) {
      const double z1 = std::abs(z(c, 0)) + error * std::sqrt(std::max(0.0, norm_[c] - squares[c]));
      const double f = lambda[0] - corner(c) + delta - (at[c] + z1 * z1 / delta) / d_[c];
      if (f > 1e-12 * std::abs(lambda[0])) continue;
    }
    list.push_back(bounds(c));
    target = std::max(target, list.back().least);
  }
  std::erase_if(list, [&](const Rise& r) { return r.most < target - tie; });
  std::stable_sort(list.begin(), list.end(), [](const Rise& a, const Rise& b) { return a.most > b.most; });
  return list;
}

Index Forward::pick_by_screen() {
  if (!screening_) begin();
  double least = kInfinity;
  for (Index c = 0; c < live_; ++c) least = std::min(least, schur(c));
  const double far = sigma_ - top_;
  const double spread = 1.0 / pairs_.theta[pairs_.theta.size() - 1] - 1.0 / pairs_.theta[0];
  if (!(least > kMargin * far)) factor(std::max(kNear * spread, 2.0 * far));
  const auto list = survivors();
  const double tie = kTie * std::abs(top_);
  value_ = top_ + list.front().most;
  // Equal to the best whatever the exact values are? Then the lowest of those.
  Index chosen = -1;
  for (const Rise& r : list) {
    if (r.least >= list.front().most - tie && (chosen < 0 || unit(r.column) < unit(chosen)))
      chosen = r.column;
  }
  if (chosen >= 0) return chosen;
  if (list.size() == 1) return list.front().column;
  Best best;
  double best_seen = -kInfinity;
  for (const Rise& r : list) {
    if (top_ + r.most < best.threshold()) break;
    Vector y(m_ + 1);
    const double root = std::sqrt(d_[r.column]);
    k_.apply(r_.col(r.column).head(m_) / root, Eigen::Map<Matrix>(y.data(), m_, 1), options_.threads);
    y[m_] = 1.0;
    Vector ky(m_);
    k_.apply(y.head(m_), ky, options_.threads);
    FollowedPairs trial = with(y, ky, schur(r.column));
    const double value = sigma_ - 1.0 / trial.theta[0];
    best.offer(unit(r.column), value);
    if (value > best_seen) {
      best_seen = value;
      tried_.emplace(position_[static_cast<std::size_t>(r.column)], std::move(trial));
    }
  }
  chosen = column_of(best.unit());
  if (tried_ && tried_->first != position_[static_cast<std::size_t>(chosen)]) tried_.reset();
  value_ = best.value();
  return chosen;
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
      throw Infeasible(fmt::format(
          "the included feature at position {} is a linear combination of those included before it; leave it out, or add a ridge (⟨ridge⟩)",
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
