#include "solvers/group_lasso.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

// Most columns are zero in the answer and are hardly ever read. Blocks of B that may be nonzero form the
// working set W; over it the problem is solved in covariance form (K = X_W'X_W, g = X_W'R, no N in sight), by
// sweeps of block coordinate descent with Newton steps between them. What is left is to prove that no column
// outside W matters, |x_i'R| <= lambda w_i, and for that each column remembers |x_i'R_0| for the residual R_0
// it was last multiplied with (an anchor). With R = R_0 M + D and |x_i| <= 1
//     |x_i'R| <= |x_i'R_0| |M|_2 + |D|_2,                                                            (1)
// and only columns whose bound exceeds lambda w_i are read. M is the least-squares one: along a path R
// shrinks more than it turns.

namespace subspectra {
namespace {

using linalg::Op;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index kTile = 256;  ///< columns a parallel item looks at

/// At least |A|_2 and at most L^(1/32) times it, from A'A (L x L): lambda_max(S)^16 <= tr S^16.
double spectral_norm_bound(Matrix gram) {
  const double trace = gram.trace();
  if (!(trace > 0.0)) return 0.0;
  if (gram.rows() == 1) return std::sqrt(trace);
  gram /= trace;
  for (int doubling = 0; doubling < 4; ++doubling) gram = gram.lazyProduct(gram).eval();
  return std::sqrt(trace * std::pow(gram.trace(), 1.0 / 16.0));
}

Matrix columns_of(const MatrixRef& a, const std::vector<Index>& which) {
  Matrix part(a.rows(), static_cast<Index>(which.size()));
  for (std::size_t c = 0; c < which.size(); ++c) part.col(static_cast<Index>(c)) = a.col(which[c]);
  return part;
}

template <class Rows>
Matrix rows_of(const Rows& a, const std::vector<Index>& which) {
  Matrix part(static_cast<Index>(which.size()), a.cols());
  for (std::size_t c = 0; c < which.size(); ++c) part.row(static_cast<Index>(c)) = a.row(which[c]);
  return part;
}

Matrix block_of(const Matrix& a, const std::vector<Index>& which) {
  const auto count = static_cast<Index>(which.size());
  Matrix part(count, count);
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i < count; ++i)
      part(i, j) = a(which[static_cast<std::size_t>(i)], which[static_cast<std::size_t>(j)]);
  }
  return part;
}

/// lambda w, where an infinite weight wins over lambda = 0.
double threshold(double lambda, double w) { return w < kInfinity ? lambda * w : kInfinity; }

/// (K + l2 I)^+ r for a symmetric positive semidefinite K.
Matrix pseudo_solve(Matrix k, double l2, Matrix r) {
  k.diagonal().array() += l2;
  const double scale = k.diagonal().maxCoeff();
  Matrix l = k;
  if (linalg::cholesky(l) && l.diagonal().minCoeff() > 1e-6 * std::sqrt(scale)) {
    linalg::solve_lower(l, Op::kNone, r);
    linalg::solve_lower(l, Op::kTranspose, r);
    return r;
  }
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(k), true);
  const double floor = 1e-12 * std::max(0.0, eigen.values.maxCoeff());
  Matrix part(r.rows(), r.cols());
  linalg::gemm(1.0, Op::kTranspose, eigen.vectors, Op::kNone, r, 0.0, part);
  for (Index i = 0; i < part.rows(); ++i)
    part.row(i) *= eigen.values[i] > floor ? 1.0 / eigen.values[i] : 0.0;
  linalg::gemm(1.0, Op::kNone, eigen.vectors, Op::kNone, part, 0.0, r);
  return r;
}

/// One pass of block coordinate descent over the first `count` blocks:
///     z = g_i + K_ii b_i,   b_i <- (1 - lambda w_i/|z|)_+ z/(K_ii + l2),   g <- g - K_:i (b_i - old b_i).
/// Gives the largest (K_ii + l2)|change|^2. A block that stays zero costs L, any other count * L.
double sweep(double lambda, double l2, Index count, const Matrix& k, const Vector& w, RowMatrix& b,
             Matrix& g) {
  const Index depth = b.cols();
  double movement = 0.0;
  Eigen::RowVectorXd z(depth);
  for (Index s = 0; s < count; ++s) {
    const double limit = threshold(lambda, w[s]), diagonal = k(s, s), curvature = diagonal + l2;
    if (!(curvature > 0.0)) continue;
    double* const row = b.data() + s * depth;
    bool zero = true;
    double norm2 = 0.0;
    for (Index l = 0; l < depth; ++l) {
      zero = zero && row[l] == 0.0;
      z[l] = g(s, l) + diagonal * row[l];
      norm2 += z[l] * z[l];
    }
    if (zero && norm2 <= limit * limit) continue;
    const double norm = std::sqrt(norm2);
    const double factor = norm > limit ? (1.0 - limit / norm) / curvature : 0.0;
    double change2 = 0.0;
    for (Index l = 0; l < depth; ++l) {
      const double value = factor * z[l], change = value - row[l];
      row[l] = value;
      if (change == 0.0) continue;
      change2 += change * change;
      g.col(l).head(count).noalias() -= change * k.col(s).head(count);
    }
    movement = std::max(movement, curvature * change2);
  }
  return movement;
}

}  // namespace

void GroupLassoOptions::validate() const {
  if (!(l2 >= 0.0 && l2 < kInfinity))
    throw InvalidArgument(
        {.field = "l2", .value = fmt::to_string(l2), .rule = "{value}, but 0 <= l2 < infinity is needed"});
  if (!(tolerance >= 0.0 && tolerance < 1.0))
    throw InvalidArgument({.field = "tolerance",
                           .value = fmt::to_string(tolerance),
                           .rule = "{value}, but 0 <= tolerance < 1 is needed"});
  if (max_sweeps < 1)
    throw InvalidArgument({.field = "max_sweeps",
                           .value = fmt::to_string(max_sweeps),
                           .rule = "{value}, but at least 1 is needed"});
}

struct GroupLasso::State {
  State(const Matrix& table, const GroupLassoOptions& given)
      : x(&table), options(given), xw(table.rows(), 0) {}
  State(const UnitColumns& read, const GroupLassoOptions& given)
      : blocks(&read), options(given), xw(read.rows(), 0) {}

  const Matrix* x = nullptr;            ///< the columns, or
  const UnitColumns* blocks = nullptr;  ///< what reads them
  [[nodiscard]] Index height() const { return xw.rows(); }
  [[nodiscard]] Index width() const { return x != nullptr ? x->cols() : blocks->columns(); }
  GroupLassoOptions options;
  Index depth = 0;  ///< L
  Matrix t;         ///< N x L
  Vector weights;   ///< p, or empty
  double t2 = 0.0;  ///< |T|^2
  Matrix residual;  ///< R = T - X B, exact at every check
  double last_lambda = kInfinity;
  double highest = -1.0;  ///< lambda_max, once asked for

  // --- the working set: `size` slots, room for more ---
  Index size = 0;
  std::vector<Index> features;     ///< slot -> column
  std::vector<std::int32_t> slot;  ///< column -> slot, -1
  Matrix xw;                       ///< N x room: the columns, contiguous
  Matrix k;                        ///< room x room: X_W'X_W
  RowMatrix b;                     ///< room x L
  Matrix g;                        ///< room x L: X_W'R
  Matrix q;                        ///< room x L: X_W'T
  Vector w;                        ///< room: weights

  // --- what is known about columns: Eq. (1) ---
  static constexpr Index kAnchors = 24;
  Matrix anchor_residuals;             ///< N x (kAnchors L): the R_0, side by side
  std::vector<Matrix> anchor_factors;  ///< Cholesky factors of R_0'R_0, or empty; one an anchor
  std::size_t newest = 0;
  std::vector<double> product;       ///< p: |x_i'R_0|
  std::vector<std::uint8_t> anchor;  ///< p: which R_0; kNever before the first
  static constexpr std::uint8_t kNever = 255;

  [[nodiscard]] double weight(Index i) const { return weights.size() > 0 ? weights[i] : 1.0; }
  void set_targets(const Matrix& targets, const Vector& w_all);
  void start_from(const RowSparseMatrix& start);
  void reserve(Index room);
  void add_slots(const std::vector<Index>& chosen);
  void compact(double lambda);
  void refresh_residual();
  void refresh_gradient();
  Matrix dual_residual(double lambda, RowMatrix& b_dual) const;

  struct Candidate {
    Index feature;
    double ratio;  ///< |x_i'R|/w_i
  };
  struct Lines {
    std::array<double, 256> slope{}, offset{};
  };
  Lines move_anchors(const Matrix& r);
  std::vector<Candidate> evaluate(const Matrix& r, double lambda, double floor);
  std::vector<Candidate> evaluate_in_blocks(const Matrix& r, double lambda, double floor, const Lines& lines);
  static std::vector<Index> strongest(std::vector<Candidate> candidates, Index most);
  double find_lambda_max();

  Index settle_active(double lambda, double target, Index most, const RunControl& control);
  [[nodiscard]] double gap_within(double lambda) const;
  [[nodiscard]] std::vector<Index> active_slots(double lambda) const;
  bool newton(double lambda, int effort, const RunControl& control);
  double newton_once(double lambda, std::vector<Index>& active, double damping, int effort,
                     const RunControl& control);
  Index optimise(double lambda, double target, Index sweeps_left, const RunControl& control);
  [[nodiscard]] Index nonzeros() const;

  GroupLassoSolution solve(double lambda, const RunControl& control);
};

void GroupLasso::State::reserve(Index room) {
  if (room <= w.size()) return;
  room = std::max(room, std::min<Index>(width(), 2 * w.size()));
  const auto wide = static_cast<double>(room), tall = static_cast<double>(height());
  require_memory(sizeof(double) * wide * (wide + tall + 3.0 * static_cast<double>(depth)),
                 fmt::format("a lasso with {} columns in play", room),
                 "end the path at a larger lambda (⟨lambda_ratio⟩, ⟨k⟩), or leave features out (⟨exclude⟩)");
  xw.conservativeResize(height(), room);
  k.conservativeResize(room, room);
  b.conservativeResize(room, depth);
  g.conservativeResize(room, depth);
  q.conservativeResize(room, depth);
  w.conservativeResize(room);
}

void GroupLasso::State::set_targets(const Matrix& targets, const Vector& w_all) {
  if (targets.rows() != height() || (w_all.size() != 0 && w_all.size() != width()))
    throw Error(fmt::format("GroupLasso: X is {} x {}, the targets have {} rows and there are {} weights",
                            height(), width(), targets.rows(), w_all.size()));
  if (!targets.allFinite() || (w_all.size() > 0 && !(w_all.array() >= 0.0).all()))
    throw Error("GroupLasso: targets must be finite and weights not negative");
  if (slot.empty()) slot.assign(static_cast<std::size_t>(width()), -1);
  if (targets.cols() != depth) {
    depth = targets.cols();
    for (const Index f : features) slot[static_cast<std::size_t>(f)] = -1;
    features.clear();
    size = 0;
    b.resize(w.size(), depth);
    g.resize(w.size(), depth);
    q.resize(w.size(), depth);
    anchor_factors.clear();
    anchor_residuals.resize(height(), kAnchors * depth);
    newest = 0;
    product.assign(static_cast<std::size_t>(width()), 0.0);
    anchor.assign(static_cast<std::size_t>(width()), kNever);
  }
  t = targets;
  t2 = t.squaredNorm();
  weights = w_all;
  last_lambda = kInfinity;
  highest = -1.0;
  for (Index s = 0; s < size; ++s) {
    w[s] = weight(features[static_cast<std::size_t>(s)]);
    if (!(w[s] < kInfinity)) b.row(s).setZero();
  }
  linalg::gemm(1.0, Op::kTranspose, xw.leftCols(size), Op::kNone, t, 0.0, q.topRows(size));
  refresh_residual();
  refresh_gradient();
  // Columns without a penalty are in the working set for good.
  std::vector<Index> free;
  for (Index i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0 && slot[static_cast<std::size_t>(i)] < 0) free.push_back(i);
  }
  add_slots(free);
}

void GroupLasso::State::start_from(const RowSparseMatrix& start) {
  bool ordered = true;  // ascending, and columns of X
  Index before = -1;
  for (const Index i : start.rows) {
    ordered = ordered && i > before && i < width();
    before = i;
  }
  if (depth == 0 || !ordered || start.values.rows() != static_cast<Index>(start.rows.size()) ||
      (!start.rows.empty() && start.values.cols() != depth) || !start.values.allFinite())
    throw Error(fmt::format(
        "GroupLasso: a start of {} x {} for {} features of {} and {} targets; features must ascend and values be finite",
        start.values.rows(), start.values.cols(), start.rows.size(), width(), depth));
  std::vector<Index> missing;
  for (const Index i : start.rows) {
    if (slot[static_cast<std::size_t>(i)] < 0) missing.push_back(i);
  }
  add_slots(missing);
  b.topRows(size).setZero();
  for (std::size_t i = 0; i < start.rows.size(); ++i) {
    const Index s = slot[static_cast<std::size_t>(start.rows[i])];
    if (w[s] < kInfinity) b.row(s) = start.values.row(static_cast<Index>(i));
  }
  refresh_residual();
  refresh_gradient();
}

/// R = T - X_W B from B itself, so that no rounding of earlier steps is carried on.
void GroupLasso::State::refresh_residual() {
  residual = t;
  const std::vector<Index> rows = active_slots(1.0);
  if (rows.empty()) return;
  const Matrix columns = columns_of(xw, rows);
  const Matrix values = rows_of(b, rows);
  linalg::gemm(-1.0, Op::kNone, columns, Op::kNone, values, 1.0, residual);
}

void GroupLasso::State::refresh_gradient() {
  linalg::gemm(1.0, Op::kTranspose, xw.leftCols(size), Op::kNone, residual, 0.0, g.topRows(size));
}

/// Pre: residual is that of B.   2 N |W| |chosen| flops for K.
void GroupLasso::State::add_slots(const std::vector<Index>& chosen) {
  const auto count = static_cast<Index>(chosen.size());
  if (count == 0) return;
  reserve(size + count);
  for (Index c = 0; c < count; ++c) {
    const Index f = chosen[static_cast<std::size_t>(c)], s = size + c;
    slot[static_cast<std::size_t>(f)] = static_cast<std::int32_t>(s);
    features.push_back(f);
    if (x != nullptr) {
      xw.col(s) = x->col(f);
    } else {
      blocks->column(f, xw.col(s));
    }
    w[s] = weight(f);
  }
  const auto added = xw.middleCols(size, count);
  b.middleRows(size, count).setZero();
  linalg::gemm(1.0, Op::kTranspose, added, Op::kNone, residual, 0.0, g.middleRows(size, count));
  linalg::gemm(1.0, Op::kTranspose, added, Op::kNone, t, 0.0, q.middleRows(size, count));
  linalg::gemm(1.0, Op::kTranspose, xw.leftCols(size + count), Op::kNone, added, 0.0,
               k.block(0, size, size + count, count));
  k.block(size, 0, count, size) = k.block(0, size, size, count).transpose();
  size += count;
}

/// Drops slots that have become idle: a long path visits many columns, and every step of the descent pays for
/// every slot. The strong rule (Tibshirani et al. 2012) says which are likely to be needed.
void GroupLasso::State::compact(double lambda) {
  if (size <= 3 * nonzeros() + 64) return;
  const double strong = last_lambda < kInfinity ? 2.0 * lambda - last_lambda : lambda;
  std::vector<Index> kept;
  for (Index s = 0; s < size; ++s) {
    if ((b.row(s).array() != 0.0).any() || w[s] == 0.0 || g.row(s).norm() >= threshold(strong, w[s]))
      kept.push_back(s);
  }
  if (static_cast<Index>(kept.size()) == size) return;
  for (const Index f : features) slot[static_cast<std::size_t>(f)] = -1;
  // Slots only move to the front: entry (i, j) is read from (kept[i], kept[j]) before it is overwritten.
  const auto count = static_cast<Index>(kept.size());
  for (Index j = 0; j < count; ++j) {
    const Index from = kept[static_cast<std::size_t>(j)];
    if (from != j) {
      xw.col(j) = xw.col(from);
      b.row(j) = b.row(from);
      g.row(j) = g.row(from);
      q.row(j) = q.row(from);
      w[j] = w[from];
      features[static_cast<std::size_t>(j)] = features[static_cast<std::size_t>(from)];
    }
    for (Index i = 0; i < count; ++i) k(i, j) = k(kept[static_cast<std::size_t>(i)], from);
    slot[static_cast<std::size_t>(features[static_cast<std::size_t>(j)])] = static_cast<std::int32_t>(j);
  }
  features.resize(kept.size());
  size = count;
}

Index GroupLasso::State::nonzeros() const {
  Index count = 0;
  for (Index s = 0; s < size; ++s) count += (b.row(s).array() != 0.0).any() ? 1 : 0;
  return count;
}

/// The slots where the objective is smooth: nonzero, or without a penalty.
std::vector<Index> GroupLasso::State::active_slots(double lambda) const {
  std::vector<Index> active;
  for (Index s = 0; s < size; ++s) {
    if (threshold(lambda, w[s]) == 0.0 || (b.row(s).array() != 0.0).any()) active.push_back(s);
  }
  return active;
}

// --- proofs about columns outside the working set
// --------------------------------------------------------------

/// Slope and offset of (1) for the residual r, for every anchor; then r becomes the newest one. With R_0'R_0
/// = F F' and Z = F^{-1} R_0'r the least-squares M is F^{-T} Z and D'D = r'r - Z'Z; what cancels there is of
/// the order of N eps |r|^2 and is added again. Any M gives a bound: where F does not exist M = 0 does.
GroupLasso::State::Lines GroupLasso::State::move_anchors(const Matrix& r) {
  Lines lines;
  lines.offset[kNever] = kInfinity;
  const auto used = static_cast<Index>(anchor_factors.size());
  const double rounding = 4.0 * static_cast<double>(height()) * kEpsilon;
  Matrix own(depth, depth), cross(used * depth, depth);
  linalg::gemm(1.0, Op::kTranspose, r, Op::kNone, r, 0.0, own);
  linalg::gemm(1.0, Op::kTranspose, anchor_residuals.leftCols(used * depth), Op::kNone, r, 0.0, cross);
  const double norm2 = own.trace();
  for (Index a = 0; a < used; ++a) {
    const Matrix& factor = anchor_factors[static_cast<std::size_t>(a)];
    double slope = 0.0, offset = std::sqrt(norm2);
    if (factor.size() > 0) {
      Matrix z = cross.middleRows(a * depth, depth);
      linalg::solve_lower(factor, Op::kNone, z);
      Matrix left = own - z.transpose().lazyProduct(z);
      left.diagonal().array() += rounding * norm2;
      offset = spectral_norm_bound(std::move(left));
      linalg::solve_lower(factor, Op::kTranspose, z);
      slope = spectral_norm_bound(z.transpose().lazyProduct(z));
    }
    lines.slope[static_cast<std::size_t>(a)] = slope;
    lines.offset[static_cast<std::size_t>(a)] = offset + rounding * std::sqrt(norm2);
  }
  // The anchor on which the fewest columns hang makes room; they have to be read again.
  if (used < kAnchors) {
    newest = static_cast<std::size_t>(used);
    anchor_factors.emplace_back();
  } else {
    std::array<Index, 256> hanging{};
    for (const auto a : anchor) ++hanging[a];
    newest = static_cast<std::size_t>(std::min_element(hanging.begin(), hanging.begin() + kAnchors) -
                                      hanging.begin());
    for (auto& a : anchor) {
      if (a == newest) a = kNever;
    }
  }
  anchor_residuals.middleCols(static_cast<Index>(newest) * depth, depth) = r;
  const double scale = own.diagonal().maxCoeff();
  Matrix& factor = anchor_factors[newest];
  if (!linalg::cholesky(own) || !(own.diagonal().minCoeff() > 1e-4 * std::sqrt(scale))) own.resize(0, 0);
  factor = std::move(own);
  lines.slope[newest] = 1.0;
  lines.offset[newest] = rounding * std::sqrt(norm2);
  return lines;
}

/// Reads the columns outside W whose bound (1) exceeds max(lambda w_i, floor), and gives those whose |x_i'r|
/// does. After it |x_i'r| <= max(lambda w_i, floor) is proved for every other column.
std::vector<GroupLasso::State::Candidate> GroupLasso::State::evaluate(const Matrix& r, double lambda,
                                                                      double floor) {
  const Lines lines = move_anchors(r);
  if (x == nullptr) return evaluate_in_blocks(r, lambda, floor, lines);
  const Index p = width(), tiles = (p + kTile - 1) / kTile;
  std::vector<std::vector<Candidate>> found(static_cast<std::size_t>(tiles));
  parallel_for(tiles, options.threads, [&](Index tile) {
    const Index begin = tile * kTile, end = std::min(p, begin + kTile);
    std::array<Index, kTile> needed;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to `count`
    Index count = 0;
    for (Index i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double bound = product[at] * lines.slope[anchor[at]] + lines.offset[anchor[at]];
      const double limit =
          weights.size() > 0 ? std::max(floor, threshold(lambda, weights[i])) : std::max(floor, lambda);
      if (bound > limit && slot[at] < 0) needed[static_cast<std::size_t>(count++)] = i;
    }
    if (count == 0) return;
    const bool whole = 4 * count >= end - begin;  // one product of the tile beats many of columns
    Matrix products;
    if (whole) {
      products.resize(end - begin, depth);
      for (Index l = 0; l < depth; ++l)
        linalg::gemv(1.0, Op::kTranspose, x->middleCols(begin, end - begin), r.col(l), 0.0, products.col(l));
    } else {
      products.resize(depth, 1);
    }
    for (Index c = 0; c < count; ++c) {
      const Index i = needed[static_cast<std::size_t>(c)];
      if (!whole) linalg::gemv(1.0, Op::kTranspose, r, x->col(i), 0.0, products.col(0));
      const double norm = whole ? products.row(i - begin).norm() : products.norm();
      const auto at = static_cast<std::size_t>(i);
      product[at] = norm;
      anchor[at] = static_cast<std::uint8_t>(newest);
      const double w_i = weight(i);
      if (norm > std::max(floor, threshold(lambda, w_i)))
        found[static_cast<std::size_t>(tile)].push_back({i, w_i > 0.0 ? norm / w_i : kInfinity});
    }
  });
  std::vector<Candidate> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// evaluate() where columns are read: few of them one by one, many by one pass over all.
std::vector<GroupLasso::State::Candidate> GroupLasso::State::evaluate_in_blocks(const Matrix& r,
                                                                                double lambda, double floor,
                                                                                const Lines& lines) {
  constexpr Index kFew = 16;  // times as many columns as are read cost less in one pass
  std::vector<Index> needed;
  for (Index i = 0; i < width(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double bound = product[at] * lines.slope[anchor[at]] + lines.offset[anchor[at]];
    const double limit =
        weights.size() > 0 ? std::max(floor, threshold(lambda, weights[i])) : std::max(floor, lambda);
    if (bound > limit && slot[at] < 0) needed.push_back(i);
  }
  const bool whole = kFew * std::ssize(needed) >= width();
  Vector norms;
  if (whole) {
    Matrix products(width(), depth);
    blocks->transposed_times(r, products, options.threads);
    norms = products.rowwise().norm();
  } else {
    norms.resize(std::ssize(needed));
    parallel_for(norms.size(), options.threads, [&](Index c) {
      Vector column(height()), products(depth);
      blocks->column(needed[static_cast<std::size_t>(c)], column);
      linalg::gemv(1.0, Op::kTranspose, r, column, 0.0, products);
      norms[c] = products.norm();
    });
  }
  std::vector<Candidate> found;
  for (std::size_t c = 0; c < needed.size(); ++c) {
    const Index i = needed[c];
    const double norm = norms[whole ? i : static_cast<Index>(c)];
    product[static_cast<std::size_t>(i)] = norm;
    anchor[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(newest);
    const double w_i = weight(i);
    if (norm > std::max(floor, threshold(lambda, w_i)))
      found.push_back({i, w_i > 0.0 ? norm / w_i : kInfinity});
  }
  return found;
}

/// The columns with the largest ratios, at most `most`, in ascending order.
std::vector<Index> GroupLasso::State::strongest(std::vector<Candidate> candidates, Index most) {
  const auto before = [](const Candidate& a, const Candidate& c) {
    return a.ratio > c.ratio || (a.ratio == c.ratio && a.feature < c.feature);
  };
  if (static_cast<Index>(candidates.size()) > most) {
    std::nth_element(candidates.begin(), candidates.begin() + most, candidates.end(), before);
    candidates.resize(static_cast<std::size_t>(most));
  }
  std::vector<Index> chosen;
  chosen.reserve(candidates.size());
  for (const Candidate& c : candidates) chosen.push_back(c.feature);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// max |x_i'R_U|/w_i, where R_U is what the columns without a penalty leave of T. Columns whose bound cannot
/// reach the largest ratio seen so far are not read.
double GroupLasso::State::find_lambda_max() {
  Matrix r = t;
  std::vector<Index> free;
  for (Index s = 0; s < size; ++s) {
    if (w[s] == 0.0) free.push_back(s);
  }
  if (!free.empty()) {
    const Matrix columns = columns_of(xw, free);
    linalg::gemm(-1.0, Op::kNone, columns, Op::kNone,
                 pseudo_solve(block_of(k, free), options.l2, rows_of(q, free)), 1.0, r);
  }
  double best = 0.0;
  for (Index s = 0; s < size; ++s) {
    if (w[s] > 0.0 && w[s] < kInfinity) {
      Vector c(depth);
      linalg::gemv(1.0, Op::kTranspose, r, xw.col(s), 0.0, c);
      best = std::max(best, c.norm() / w[s]);
    }
  }
  for (const Candidate& c : evaluate(r, best, 0.0)) best = std::max(best, c.ratio);
  return best;
}

// --- the problem over the working set
// ---------------------------------------------------------------------------

/// The duality gap of the problem over W alone, from g (see solve() for the formula); for blocks without a
/// penalty |gradient|^2 is added in its place, which vanishes with it.
double GroupLasso::State::gap_within(double lambda) const {
  const double l2 = options.l2;
  double largest = 0.0, penalty = 0.0, inner = 0.0, fitted = 0.0, b2 = 0.0, free = 0.0;
  for (Index s = 0; s < size; ++s) {
    double grad2 = 0.0, norm2 = 0.0, dot = 0.0, bq = 0.0;
    for (Index l = 0; l < depth; ++l) {
      const double value = b(s, l), gradient = g(s, l) - l2 * value;
      grad2 += gradient * gradient;
      norm2 += value * value;
      dot += value * gradient;
      bq += value * (q(s, l) + g(s, l));
    }
    const double limit = threshold(lambda, w[s]);
    fitted += bq;
    b2 += norm2;
    if (limit == 0.0) {
      if (k(s, s) + l2 > 0.0) free += grad2;
    } else if (limit < kInfinity) {
      largest = std::max(largest, std::sqrt(grad2) / limit);
      penalty += limit * std::sqrt(norm2);
      inner += dot;
    }
  }
  const double scale = 1.0 / std::max(1.0, largest);
  const double r2 = std::max(0.0, t2 - fitted) + l2 * b2;  // |T - XB|^2 + l2 |B|^2
  return 0.5 * (1.0 - scale) * (1.0 - scale) * r2 + std::max(0.0, penalty - scale * inner) + free;
}

namespace {

/// The Newton step H d = r on the smooth blocks, d and r stored with entry (block c, l) at l * count + c:
///     H = (K_A + l2 I) (x) I_L + diag(sigma_c (I - u_c u_c')),   u_c = b_c/|b_c|,   sigma_c = lambda
///     w_c/|b_c|.
struct NewtonSystem {
  Matrix k;      ///< K_A, with l2 and what damps on the diagonal
  Matrix u;      ///< count x L
  Vector sigma;  ///< count

  [[nodiscard]] bool solve_by_factor(Matrix& d) const;
  void solve_by_conjugate_gradients(Matrix& d, int most, double tolerance, const RunControl& control) const;
  /// out += diag(scale_c (I - u u')) v
  void add_turning(const Vector& scale, const Matrix& v, Matrix& out) const {
    const Vector along = (u.array() * v.array()).rowwise().sum();
    for (Index l = 0; l < v.cols(); ++l)
      out.col(l).array() += scale.array() * (v.col(l).array() - along.array() * u.col(l).array());
  }
};

bool NewtonSystem::solve_by_factor(Matrix& d) const {
  const Index count = k.rows(), depth = u.cols(), n = count * depth;
  Matrix h = Matrix::Zero(n, n);
  for (Index l = 0; l < depth; ++l) {
    h.block(l * count, l * count, count, count) = k;
    for (Index m = 0; m <= l && depth > 1; ++m) {
      for (Index c = 0; c < count; ++c)
        h(l * count + c, m * count + c) += sigma[c] * ((l == m ? 1.0 : 0.0) - u(c, l) * u(c, m));
    }
  }
  if (!linalg::cholesky(h)) return false;
  Matrix column = d.reshaped(n, 1);
  linalg::solve_lower(h, Op::kNone, column);
  linalg::solve_lower(h, Op::kTranspose, column);
  d = column.reshaped(count, depth);
  return true;
}

/// Preconditioned by H's diagonal blocks. Any iterate is a way downhill, so that few of them will do.
void NewtonSystem::solve_by_conjugate_gradients(Matrix& d, int most, double tolerance,
                                                const RunControl& control) const {
  const Vector diagonal = k.diagonal();
  const Vector radial = diagonal.unaryExpr([](double v) { return v > 0.0 ? 1.0 / v : 0.0; });
  const Vector turning =
      (diagonal + sigma).unaryExpr([](double v) { return v > 0.0 ? 1.0 / v : 0.0; }) - radial;
  const auto precondition = [&](const Matrix& r) {
    Matrix z = radial.asDiagonal() * r;
    add_turning(turning, r, z);
    return z;
  };
  Matrix r = d;
  d.setZero();
  Matrix z = precondition(r), direction = z, image(r.rows(), r.cols());
  double product = r.cwiseProduct(z).sum();
  const double enough = tolerance * tolerance * product;
  for (int i = 0; i < most && product > enough && !control.should_stop(); ++i) {
    linalg::gemm(1.0, Op::kNone, k, Op::kNone, direction, 0.0, image);
    add_turning(sigma, direction, image);
    const double curvature = direction.cwiseProduct(image).sum();
    if (!(curvature > 0.0)) break;
    const double step = product / curvature;
    d += step * direction;
    r -= step * image;
    z = precondition(r);
    const double next = r.cwiseProduct(z).sum();
    direction = z + next / product * direction;
    product = next;
  }
}

}  // namespace

/// One Newton step on the smooth blocks `active`; `damping` on the diagonal is for a singular K (a proximal
/// step then; still downhill). Gives the fraction of the step taken: for L = 1 the exact minimum along it,
/// cut where the first coefficient reaches zero (it leaves `active`); otherwise the first of 1, 1/2, 1/4, ..
/// at which the objective falls enough; 0: none.
double GroupLasso::State::newton_once(double lambda, std::vector<Index>& active, double damping, int effort,
                                      const RunControl& control) {
  constexpr Index kFactored = 300;  // above, with L > 1, a factor of H costs more than products with K
  const auto count = static_cast<Index>(active.size());
  const double l2 = options.l2;
  NewtonSystem system{
      .k = block_of(k, active), .u = Matrix::Zero(count, depth), .sigma = Vector::Zero(count)};
  system.k.diagonal().array() += l2 + damping;
  Matrix d(count, depth);  // minus the gradient, then the step
  for (Index c = 0; c < count; ++c) {
    const Index s = active[static_cast<std::size_t>(c)];
    const double norm = b.row(s).norm(), limit = threshold(lambda, w[s]);
    if (limit > 0.0) {
      system.u.row(c) = b.row(s) / norm;
      system.sigma[c] = limit / norm;
    }
    d.row(c) = g.row(s) - l2 * b.row(s) - limit * system.u.row(c);
  }
  const Matrix downhill = d;
  if (depth == 1 || count * depth <= kFactored) {
    if (!system.solve_by_factor(d)) return 0.0;
  } else {
    system.solve_by_conjugate_gradients(d, effort, 1.0 / effort, control);
  }
  const double slope = downhill.cwiseProduct(d).sum();  // minus the derivative along d
  if (!(slope > 0.0) || !d.allFinite()) return 0.0;

  // K_:A d, for the curvature along d and for the new g.
  Matrix kd(size, depth);
  linalg::gemm(1.0, Op::kNone, columns_of(k.topRows(size), active), Op::kNone, d, 0.0, kd);
  double curvature = l2 * d.squaredNorm();
  for (Index c = 0; c < count; ++c) curvature += d.row(c).dot(kd.row(active[static_cast<std::size_t>(c)]));

  double step = 1.0;
  std::vector<Index> crossing;
  if (depth == 1) {
    step = curvature > 0.0 ? slope / curvature : 1.0;
    double first = kInfinity;
    for (Index c = 0; c < count; ++c) {
      const Index s = active[static_cast<std::size_t>(c)];
      if (threshold(lambda, w[s]) == 0.0 || b(s, 0) * d(c, 0) >= 0.0) continue;
      const double at = -b(s, 0) / d(c, 0);
      if (at > step || at > first) continue;
      if (at < first) crossing.clear();
      first = at;
      crossing.push_back(c);
    }
    step = std::min(step, first);
  } else {
    // f(b + s d) - f(b) term by term: no difference of two large values.
    const auto change_at = [&](double at) {
      double change = 0.5 * at * at * curvature;
      for (Index c = 0; c < count; ++c) {
        const Index s = active[static_cast<std::size_t>(c)];
        double before2 = 0.0, inner = 0.0, d2 = 0.0;
        for (Index l = 0; l < depth; ++l) {
          const double step_l = d(c, l);
          before2 += b(s, l) * b(s, l);
          inner += b(s, l) * step_l;
          d2 += step_l * step_l;
          change -= at * step_l * (g(s, l) - l2 * b(s, l));
        }
        const double limit = threshold(lambda, w[s]);
        if (limit == 0.0) continue;
        const double more = 2.0 * at * inner + at * at * d2;  // |b + s d|^2 - |b|^2
        const double before = std::sqrt(before2), after = std::sqrt(std::max(0.0, before2 + more));
        change += limit * (before + after > 0.0 ? more / (before + after) : 0.0);
      }
      return change;
    };
    while (!(change_at(step) <= -1e-4 * step * slope)) {
      step *= 0.5;
      if (step < 1e-3) return 0.0;
    }
  }
  for (Index c = 0; c < count; ++c) {
    const Index s = active[static_cast<std::size_t>(c)];
    for (Index l = 0; l < depth; ++l) b(s, l) += step * d(c, l);
  }
  g.topRows(size).noalias() -= step * kd;
  for (auto c = crossing.rbegin(); c != crossing.rend(); ++c) {
    const Index s = active[static_cast<std::size_t>(*c)];
    const double left = b(s, 0);  // rounding
    b(s, 0) = 0.0;
    g.col(0).head(size).noalias() += left * k.col(s).head(size);
    active.erase(active.begin() + *c);
  }
  return crossing.empty() ? step : 0.5 * std::min(step, 1.0);
}

/// Newton steps until the smooth blocks are at their minimum, or a few; false: none could be taken. Where the
/// system is not factored it is solved by at most `effort` products, to 1/effort.
bool GroupLasso::State::newton(double lambda, int effort, const RunControl& control) {
  constexpr std::size_t kMost = 2000;
  std::vector<Index> active = active_slots(lambda);
  bool moved = false;
  for (int step = 0; step < (depth == 1 ? 6 : 2) && !active.empty() && active.size() <= kMost; ++step) {
    if (control.should_stop()) break;
    double taken = newton_once(lambda, active, 0.0, effort, control);
    if (!(taken > 0.0)) taken = newton_once(lambda, active, 1e-9, effort, control);
    if (!(taken > 0.0)) break;
    moved = true;
    if (depth == 1 && taken > 0.75) break;  // a quadratic is at its minimum
  }
  return moved;
}

/// Up to `most` sweeps over the smooth blocks alone, gathered, until nothing moves by `target`.
Index GroupLasso::State::settle_active(double lambda, double target, Index most, const RunControl& control) {
  const std::vector<Index> active = active_slots(lambda);
  const auto count = static_cast<Index>(active.size());
  if (count == 0) return 0;
  const Matrix k_a = block_of(k, active);
  Matrix g_a = rows_of(g, active);
  RowMatrix b_a = rows_of(b, active);
  Vector w_a(count);
  for (Index c = 0; c < count; ++c) w_a[c] = w[active[static_cast<std::size_t>(c)]];
  Index sweeps = 0;
  while (sweeps < most && (sweeps == 0 || !control.should_stop())) {
    ++sweeps;
    if (!(sweep(lambda, options.l2, count, k_a, w_a, b_a, g_a) > target)) break;
  }
  Matrix change(count, depth);
  for (Index c = 0; c < count; ++c) {
    const Index s = active[static_cast<std::size_t>(c)];
    change.row(c) = b_a.row(c) - b.row(s);
    b.row(s) = b_a.row(c);
  }
  linalg::gemm(-1.0, Op::kNone, columns_of(k.topRows(size), active), Op::kNone, change, 1.0, g.topRows(size));
  return sweeps;
}

/// Sweeps over W, sweeps over its smooth blocks and Newton steps until the gap over W is at most `target`;
/// gives the number of sweeps.
Index GroupLasso::State::optimise(double lambda, double target, Index sweeps_left,
                                  const RunControl& control) {
  // Far from the end, while blocks come and go, an exact Newton step is wasted; among columns that are much
  // alike nothing else moves. So the steps become more exact where the gap hardly falls.
  constexpr int kLeastEffort = 12, kMostEffort = 96;
  constexpr double kSlow = 0.9;
  int effort = kLeastEffort;
  double before = kInfinity;
  Index sweeps = 0;
  Index refused = 0, pause = 0;  // Newton steps in a row that could not be taken, rounds to go without one
  while (sweeps < sweeps_left) {
    const double movement = sweep(lambda, options.l2, size, k, w, b, g);
    ++sweeps;
    const double gap = gap_within(lambda);
    if (gap <= target) break;
    effort = gap > kSlow * before ? std::min(kMostEffort, 2 * effort) : std::max(kLeastEffort, effort / 2);
    before = gap;
    // The last digit: nothing moves any more.
    if (!(movement > kEpsilon * kEpsilon * t2) || control.should_stop()) break;
    const Index most = pause > 0 ? 36 : depth == 1 ? 2 : 6;
    sweeps += settle_active(lambda, 1e-3 * target, std::min(most, sweeps_left - sweeps), control);
    if (pause > 0) {
      --pause;
    } else if (newton(lambda, effort, control)) {
      refused = 0;
    } else {
      // Where K is singular on the blocks at hand (duplicates, more blocks than rows) it may be so for good.
      pause = Index{1} << std::min<Index>(++refused, 10);
    }
  }
  return sweeps;
}

// --- a lambda
// -------------------------------------------------------------------------------------------------

/// With columns that have no penalty a dual point must be orthogonal to them exactly:
///     (R; -sqrt(l2) B) - (X_U; sqrt(l2) I_U) a,   (K_UU + l2 I) a = X_U'R - l2 B_U.
/// Gives its upper part and, in place of B, B + a.
Matrix GroupLasso::State::dual_residual(double lambda, RowMatrix& b_dual) const {
  std::vector<Index> free;
  for (Index s = 0; s < size; ++s) {
    if (threshold(lambda, w[s]) == 0.0) free.push_back(s);
  }
  b_dual = b.topRows(size);
  if (free.empty()) return residual;
  const Matrix left = rows_of(g, free) - options.l2 * rows_of(b, free);
  const Matrix a = pseudo_solve(block_of(k, free), options.l2, left);
  for (std::size_t c = 0; c < free.size(); ++c) b_dual.row(free[c]) += a.row(static_cast<Index>(c));
  Matrix r = residual;
  const Matrix columns = columns_of(xw, free);
  linalg::gemm(-1.0, Op::kNone, columns, Op::kNone, a, 1.0, r);
  return r;
}

/// With Rt = (R; -sqrt(l2) B) and Xt = (X; sqrt(l2) I) a dual point is theta = s Rt, s as large as
/// |xt_i'theta| <= lambda w_i allows for all i (and at most 1, where the optimum has it), and
///     gap = 1/2 |Rt - theta|^2 + lambda sum w_i |b_i| - <B, Xt'theta>,
/// a sum of terms that are not negative: nothing cancels when it is small.
GroupLassoSolution GroupLasso::State::solve(double lambda, const RunControl& control) {
  if (!(lambda >= 0.0 && lambda < kInfinity))
    throw InvalidArgument({.field = "lambda",
                           .value = fmt::to_string(lambda),
                           .subject = "lambda",
                           .rule = "{value}, but 0 <= lambda < infinity is needed"});
  if (depth == 0) throw Error("GroupLasso: solve() before set_targets()");
  const double l2 = options.l2;
  const double wanted = options.tolerance * 0.5 * t2;
  // Without a penalty every column has to be orthogonal to R; this far is called zero.
  const double noise = 16.0 * static_cast<double>(height()) * kEpsilon * std::sqrt(t2);
  GroupLassoSolution solution;

  if (last_lambda == kInfinity && highest >= 0.0) last_lambda = highest;
  compact(lambda);
  if (lambda > 0.0 && last_lambda < kInfinity && !anchor_factors.empty()) {
    // Columns that were read for the residual at hand and that the strong rule keeps.
    const double strong = 2.0 * lambda - last_lambda;
    std::vector<Candidate> seeds;
    for (Index i = 0; i < width(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (anchor[at] != newest || slot[at] >= 0) continue;
      const double w_i = weight(i);
      if (product[at] > std::max(noise, threshold(strong, w_i))) seeds.push_back({i, product[at] / w_i});
    }
    add_slots(strongest(std::move(seeds), std::max<Index>(16, nonzeros() / 2)));
  }
  last_lambda = lambda;

  double target = std::max(0.5 * wanted, 0.01 * gap_within(lambda));
  RowMatrix b_dual;
  while (true) {
    solution.sweeps += optimise(lambda, target, options.max_sweeps - solution.sweeps, control);
    refresh_residual();
    refresh_gradient();
    const Matrix r = dual_residual(lambda, b_dual);
    const double floor = lambda > 0.0 ? 0.0 : noise;
    std::vector<Candidate> violators = evaluate(r, lambda, floor);

    Matrix g_dual(size, depth);
    linalg::gemm(1.0, Op::kTranspose, xw.leftCols(size), Op::kNone, r, 0.0, g_dual);
    double largest = 1.0, penalty = 0.0, inner = 0.0, b2 = 0.0, difference2 = 0.0, outside = 0.0;
    for (const Candidate& c : violators) {
      if (lambda > 0.0) largest = std::max(largest, c.ratio / lambda);
      outside = std::max(outside, c.ratio);
    }
    if (lambda == 0.0 && outside > 0.0) largest = kInfinity;  // theta = 0 is the only dual point at hand
    for (Index s = 0; s < size; ++s) {
      const Eigen::RowVectorXd gradient = g_dual.row(s) - l2 * b_dual.row(s);
      const double limit = threshold(lambda, w[s]), norm = b.row(s).norm();
      product[static_cast<std::size_t>(features[static_cast<std::size_t>(s)])] = g_dual.row(s).norm();
      anchor[static_cast<std::size_t>(features[static_cast<std::size_t>(s)])] =
          static_cast<std::uint8_t>(newest);
      b2 += norm * norm;
      difference2 += (b.row(s) - b_dual.row(s)).squaredNorm();
      if (limit > 0.0 && limit < kInfinity) {
        largest = std::max(largest, gradient.norm() / limit);
        penalty += limit * norm;
      }
      inner += b.row(s).dot(gradient);
    }
    const double scale = 1.0 / largest;
    double theta2 = 0.0;  // |Rt - theta|^2, upper and lower part
    theta2 += (residual - scale * r).squaredNorm();
    if (l2 > 0.0)
      theta2 += l2 * (scale == 1.0 ? difference2 : (b.topRows(size) - scale * b_dual).squaredNorm());
    solution.objective = 0.5 * residual.squaredNorm() + 0.5 * l2 * b2 + penalty;
    solution.gap = std::min(solution.objective, 0.5 * theta2 + std::max(0.0, penalty - scale * inner));
    if (solution.gap <= wanted) {
      solution.converged = true;
      break;
    }
    if (lambda == 0.0 && outside <= options.tolerance * std::sqrt(t2) &&
        gap_within(0.0) <= options.tolerance * options.tolerance * t2) {
      solution.converged = true;
      break;
    }
    if (control.should_stop() || solution.sweeps >= options.max_sweeps) break;
    if (violators.empty()) {
      // Over W alone as well: its gap has to become smaller, unless there are no digits left.
      const double before = target;
      target = 0.1 * std::min(target, wanted);
      if (lambda == 0.0) target = std::min(target, options.tolerance * options.tolerance * t2);
      if (!(before > kEpsilon * kEpsilon * t2)) break;
      continue;
    }
    add_slots(strongest(std::move(violators), std::max<Index>(64, nonzeros())));
    target = std::max(0.5 * wanted, 0.01 * solution.gap);
    if (lambda == 0.0) target = 0.25 * options.tolerance * options.tolerance * t2;
  }

  std::vector<std::pair<Index, Index>> order;
  for (Index s = 0; s < size; ++s) {
    if ((b.row(s).array() != 0.0).any()) order.emplace_back(features[static_cast<std::size_t>(s)], s);
  }
  std::sort(order.begin(), order.end());
  solution.b.values.resize(static_cast<Index>(order.size()), depth);
  for (std::size_t i = 0; i < order.size(); ++i) {
    solution.b.rows.push_back(order[i].first);
    solution.b.values.row(static_cast<Index>(i)) = b.row(order[i].second);
  }
  return solution;
}

GroupLasso::GroupLasso(const Matrix& x, const GroupLassoOptions& options) {
  options.validate();
  state_ = std::make_unique<State>(x, options);
}
GroupLasso::GroupLasso(const UnitColumns& x, const GroupLassoOptions& options) {
  options.validate();
  state_ = std::make_unique<State>(x, options);
}
GroupLasso::~GroupLasso() = default;

void GroupLasso::set_targets(const Matrix& targets, const Vector& weights) {
  state_->set_targets(targets, weights);
}

void GroupLasso::start_from(const RowSparseMatrix& b) { state_->start_from(b); }

void GroupLasso::set_tolerance(double tolerance) {
  GroupLassoOptions changed = state_->options;
  changed.tolerance = tolerance;
  changed.validate();
  state_->options = changed;
}

double GroupLasso::lambda_max() const {
  if (state_->highest < 0.0) state_->highest = state_->find_lambda_max();
  return state_->highest;
}

GroupLassoSolution GroupLasso::solve(double lambda, const RunControl& control) {
  return state_->solve(lambda, control);
}

const Matrix& GroupLasso::residual() const { return state_->residual; }

}  // namespace subspectra
