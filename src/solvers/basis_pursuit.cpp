#include "solvers/basis_pursuit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "linalg/tiled.hpp"
#include "solvers/simplex.hpp"

namespace subspectra {
namespace {

using linalg::Op;

/// An equation counts as satisfied up to this fraction of |b|.
constexpr double kFeasible = 1e-10;
/// Entries below this fraction of the largest one are what rounding left of 0.
constexpr double kZero = 1e-13;

/// Soft threshold of the splitting, as a fraction of the largest entry of the solution of least norm.
constexpr double kSplittingStep = 1.0;

double sign(double v) { return v > 0.0 ? 1.0 : (v < 0.0 ? -1.0 : 0.0); }

/// R v over tiles of columns, summed in order: the same bits for any number of threads.
Vector times(const Matrix& r, const Vector& v, int threads) {
  constexpr Index kTile = 4096;
  const Index tiles = (r.cols() + kTile - 1) / kTile;
  Matrix parts(r.rows(), tiles);
  parallel_for(tiles, threads, [&](Index tile) {
    const Index first = tile * kTile;
    const Index count = std::min(kTile, r.cols() - first);
    linalg::gemv(1.0, Op::kNone, r.middleCols(first, count), v.segment(first, count), 0.0, parts.col(tile));
  });
  return parts.rowwise().sum();
}

Vector transposed_times(const Matrix& r, const Vector& y, int threads) {
  Vector products(r.cols());
  linalg::gemv_transposed(r, y, products, threads);
  return products;
}

/// The m entries of largest magnitude for which `wanted` holds, in that order, ties to the smaller index.
template <class Wanted>
std::vector<Index> largest_entries(const Vector& v, Index m, Wanted&& wanted) {
  std::vector<Index> order;
  for (Index j = 0; j < v.size(); ++j) {
    if (wanted(j)) order.push_back(j);
  }
  const auto before = [&](Index i, Index j) {
    const double a = std::abs(v[i]);
    const double b = std::abs(v[j]);
    return a != b ? a > b : i < j;
  };
  const auto end = order.begin() + std::min<std::ptrdiff_t>(m, std::ssize(order));
  std::partial_sort(order.begin(), end, order.end(), before);
  order.erase(end, order.end());
  return order;
}

/// The best of both sides so far.
class Incumbent {
 public:
  Incumbent(const Matrix& r, const Vector& b, const BasisPursuitOptions& options)
      : r_(r), b_(b), options_(options) {
    best_.value = kInfinity;
    best_.dual = Vector::Zero(b.size());
  }

  /// beta on `support`, any order. Where columns are equal, solutions between two vertices have the norm of
  /// both: of those that agree to rounding the one with fewer columns is kept.
  void offer(const std::vector<Index>& support, const Vector& values) {
    constexpr double kSameNorm = 1e-12;
    const double value = values.lpNorm<1>();
    const bool tied =
        std::abs(value - best_.value) <= kSameNorm * value && support.size() != best_.support.size();
    if (tied ? support.size() > best_.support.size() : !(value < best_.value)) return;
    std::vector<Index> order(support.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index i, Index j) {
      return support[static_cast<std::size_t>(i)] < support[static_cast<std::size_t>(j)];
    });
    best_.value = value;
    best_.support.clear();
    for (const Index i : order) best_.support.push_back(support[static_cast<std::size_t>(i)]);
    best_.values = values(order);
  }

  /// Gives R'y. Any y proves a bound once it is scaled into the feasible set.
  Vector offer_dual(const Vector& y) {
    Vector products = transposed_times(r_, y, options_.threads);
    const double scale = std::max(1.0, products.cwiseAbs().maxCoeff());
    const double bound = b_.dot(y) / scale;
    if (bound > best_.bound) {
      best_.bound = bound;
      best_.dual = y / scale;
    }
    return products;
  }

  /// From columns S (|S| <= r, independent) and a guess of y to a vertex: R_S beta = b, and the nearest y
  /// with R_S'y = sign(beta), for which both sides agree. Gives that y; empty when the columns do not carry
  /// b.
  Vector crossover(std::vector<Index> columns, const Vector& guess) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (columns.empty()) return {};
      const Matrix part = r_(Eigen::all, columns);
      Matrix factor(part.cols(), part.cols());
      linalg::syrk(1.0, Op::kTranspose, part, 0.0, factor);
      if (!linalg::cholesky(factor)) return {};
      // (R_S'R_S)^{-1} v.
      const auto solve = [&](Vector v) {
        linalg::solve_lower(factor, Op::kNone, v);
        linalg::solve_lower(factor, Op::kTranspose, v);
        return v;
      };
      // The normal equations square the condition number; what they lose, repeating them on the residual
      // brings back.
      Vector beta = Vector::Zero(part.cols());
      Vector residual = b_;
      for (int round = 0; round < 4; ++round) {
        Vector products(part.cols());
        linalg::gemv(1.0, Op::kTranspose, part, residual, 0.0, products);
        beta += solve(std::move(products));
        residual = b_;
        linalg::gemv(-1.0, Op::kNone, part, beta, 1.0, residual);
      }
      if (!(residual.norm() <= kFeasible * b_.norm())) return {};
      // A degenerate vertex: rounding must not decide the sign of a 0 (and with it y); once more without
      // them.
      const double floor = kZero * beta.cwiseAbs().maxCoeff();
      if (attempt == 0 && beta.cwiseAbs().minCoeff() <= floor) {
        std::vector<Index> kept;
        for (Index i = 0; i < beta.size(); ++i) {
          if (std::abs(beta[i]) > floor) kept.push_back(columns[static_cast<std::size_t>(i)]);
        }
        columns = std::move(kept);
        continue;
      }
      offer(columns, beta);
      Vector y = guess;
      for (int round = 0; round < 3; ++round) {
        Vector missing = beta.unaryExpr(&sign);
        linalg::gemv(-1.0, Op::kTranspose, part, y, 1.0, missing);
        linalg::gemv(1.0, Op::kNone, part, solve(std::move(missing)), 1.0, y);
      }
      return y;
    }
    return {};
  }

  [[nodiscard]] bool proven() const { return best_.value - best_.bound <= options_.tolerance * best_.value; }
  void remember() { best_.trace.push_back(best_.value); }

  BasisPursuitSolution finish(Index iterations) {
    best_.iterations = iterations;
    best_.converged = proven();
    return std::move(best_);
  }

 private:
  const Matrix& r_;
  const Vector& b_;
  BasisPursuitOptions options_;
  BasisPursuitSolution best_;
};

/// A vertex near z: independent columns that carry it, by Caratheodory's argument. `columns` come largest |z|
/// first. One that depends on those before it, R_j = R_C a, can be exchanged for them, z_C + t a, z_j - t,
/// without leaving R z = b or, while no sign changes, the face of the l1 ball: equal columns among which z is
/// shared out, or an optimum that is not unique. The first entry to reach 0 goes.
std::vector<Index> independent_columns(const Matrix& r, const std::vector<Index>& columns, const Vector& z) {
  constexpr double kDependent = 1e-10;  // of |R_j|^2, left by the columns before
  int exchanges = 16;                   // each costs a new factor; afterwards a dependent column is left out
  std::vector<Index> chosen;
  std::vector<double> weights;
  Matrix lower = Matrix::Zero(r.rows(), r.rows());  // R_C'R_C = L L'
  const auto append = [&](Index j, double weight) {
    const auto m = static_cast<Index>(chosen.size());
    Vector w(m);
    linalg::gemv(1.0, Op::kTranspose, r(Eigen::all, chosen), r.col(j), 0.0, w);
    linalg::solve_lower(lower.topLeftCorner(m, m), Op::kNone, w);
    const double length = r.col(j).squaredNorm();
    const double rest = length - w.squaredNorm();
    if (m < r.rows() && rest > kDependent * length) {
      lower.row(m).head(m) = w.transpose();
      lower(m, m) = std::sqrt(rest);
      chosen.push_back(j);
      weights.push_back(weight);
      return Vector();
    }
    linalg::solve_lower(lower.topLeftCorner(m, m), Op::kTranspose, w);
    return w;
  };
  for (const Index j : columns) {
    double weight = z[j];
    for (;;) {
      const Vector a = append(j, weight);
      if (a.size() == 0 || exchanges == 0) break;
      double step = weight;
      Index leaving = -1;
      for (Index i = 0; i < a.size(); ++i) {
        const double at = weights[static_cast<std::size_t>(i)];
        if (a[i] * at * weight < 0.0 && std::abs(at) < std::abs(a[i] * step)) {
          step = std::abs(at / a[i]) * sign(weight);
          leaving = i;
        }
      }
      for (Index i = 0; i < a.size(); ++i) weights[static_cast<std::size_t>(i)] += step * a[i];
      if (leaving < 0) break;
      weight -= step;
      --exchanges;
      std::vector<Index> kept = std::move(chosen);
      std::vector<double> kept_weights = std::move(weights);
      chosen.clear();
      weights.clear();
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (static_cast<Index>(i) != leaving) (void)append(kept[i], kept_weights[i]);
      }
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// min 1'(beta+ + beta-), R_W beta+ - R_W beta- = b over a growing working set W.
class WorkingSet {
 public:
  /// Clp's tolerances are absolute: rows times sqrt(p) have entries of about 1, and with b = sqrt(r) long
  /// beta has as well.
  WorkingSet(const Matrix& r, const Vector& b, const RunControl& control)
      : r_(r),
        row_scale_(std::sqrt(static_cast<double>(r.cols()))),
        unit_(b.norm() / std::sqrt(static_cast<double>(r.rows()))) {
    const Vector right = b * (row_scale_ / unit_);
    simplex_ = make_simplex(
        {right.data(), static_cast<std::size_t>(right.size())},
        [](const void* subject) { return static_cast<const RunControl*>(subject)->should_stop(); }, &control);
  }

  void add(const std::vector<Index>& columns) {
    std::vector<double> entries;
    for (const Index j : columns) {
      for (const double side : {row_scale_, -row_scale_}) {
        for (Index i = 0; i < r_.rows(); ++i) entries.push_back(side * r_(i, j));
      }
    }
    simplex_->add_columns(entries);
    columns_.insert(columns_.end(), columns.begin(), columns.end());
  }

  /// True at an optimum over the working set.
  bool solve(Index most_pivots) {
    const bool optimal = simplex_->solve(static_cast<int>(std::min<Index>(most_pivots, 1'000'000'000)));
    pivots_ += simplex_->last_pivots();
    return optimal;
  }
  [[nodiscard]] Index pivots() const { return pivots_; }

  /// The columns that are basic and not 0.
  [[nodiscard]] std::vector<Index> support() const {
    std::vector<Index> found;
    const double* values = simplex_->values();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (values[2 * i] != values[2 * i + 1]) found.push_back(columns_[i]);
    }
    return found;
  }
  [[nodiscard]] Vector dual() const {
    return row_scale_ * Eigen::Map<const Vector>(simplex_->multipliers(), r_.rows());
  }

 private:
  const Matrix& r_;
  double row_scale_, unit_;
  std::unique_ptr<Simplex> simplex_;
  std::vector<Index> columns_;
  Index pivots_ = 0;
};

/// Columns on which R beta = b can be solved, those with the largest |R_j'b| first; their solution of least
/// norm is the first one offered.
std::vector<Index> first_columns(const Matrix& r, const Vector& b, Incumbent& best, int threads) {
  const Vector products = transposed_times(r, b, threads);
  for (Index count = 4 * r.rows() + 64;; count *= 2) {
    std::vector<Index> columns = largest_entries(products, count, [](Index) { return true; });
    const Matrix part = r(Eigen::all, columns);
    Matrix gram(r.rows(), r.rows());
    linalg::syrk(1.0, Op::kNone, part, 0.0, gram);
    const bool all = std::ssize(columns) == r.cols();
    if (!linalg::cholesky(gram)) {
      if (all) return columns;
      continue;
    }
    Vector beta = Vector::Zero(part.cols());
    Vector residual = b;
    for (int round = 0; round < 3; ++round) {
      linalg::solve_lower(gram, Op::kNone, residual);
      linalg::solve_lower(gram, Op::kTranspose, residual);
      linalg::gemv(1.0, Op::kTranspose, part, residual, 1.0, beta);
      residual = b;
      linalg::gemv(-1.0, Op::kNone, part, beta, 1.0, residual);
    }
    if (residual.norm() <= kFeasible * b.norm()) {
      best.offer(columns, beta);
      return columns;
    }
    if (all) return columns;
  }
}

}  // namespace

BasisPursuitSolution basis_pursuit_simplex(const Matrix& r, const Vector& b,
                                           const BasisPursuitOptions& options, const RunControl& control) {
  Incumbent best(r, b, options);
  WorkingSet work(r, b, control);
  std::vector<char> inside(static_cast<std::size_t>(r.cols()), 0);
  std::vector<Index> news = first_columns(r, b, best, options.threads);
  while (!news.empty() && !control.should_stop() && work.pivots() < options.max_iterations) {
    work.add(news);
    for (const Index j : news) inside[static_cast<std::size_t>(j)] = 1;
    if (!work.solve(options.max_iterations - work.pivots())) break;
    Vector y = best.crossover(work.support(), work.dual());
    if (y.size() == 0) y = work.dual();
    const Vector products = best.offer_dual(y);
    best.remember();
    if (best.proven()) break;
    // As many as a basis has: more are priced at every pivot, fewer cost more rounds over all columns.
    news = largest_entries(products, r.rows() + 64, [&](Index j) {
      return inside[static_cast<std::size_t>(j)] == 0 && std::abs(products[j]) > 1.0;
    });
  }
  return best.finish(work.pivots());
}

BasisPursuitSolution basis_pursuit_splitting(const Matrix& r, const Vector& b,
                                             const BasisPursuitOptions& options, const RunControl& control) {
  Incumbent best(r, b, options);
  std::vector<Index> all(static_cast<std::size_t>(r.cols()));
  std::iota(all.begin(), all.end(), Index{0});
  const Vector least_norm = transposed_times(r, b, options.threads);  // R R' = I
  best.offer(all, least_norm);
  // Nothing to choose: the one solution, and the y that proves it.
  if (r.rows() == r.cols()) best.offer_dual(best.crossover(all, Vector::Zero(b.size())));
  best.offer_dual(b / least_norm.cwiseAbs().maxCoeff());
  // x is on the plane R x = b, z is sparse, u sums up what they disagree in; u/step tends to R'y.
  const double step = kSplittingStep * least_norm.cwiseAbs().maxCoeff();
  constexpr double kRelaxation = 1.6;
  constexpr Index kEvery = 50;  // steps between two crossovers
  Vector z = Vector::Zero(r.cols());
  Vector u = z;
  Index steps = 0;
  while (!best.proven() && steps < options.max_iterations && !control.should_stop()) {
    Vector x = z - u;
    const Vector off = times(r, x, options.threads) - b;
    x -= transposed_times(r, off, options.threads);
    u += kRelaxation * x + (1.0 - kRelaxation) * z;
    z = u.unaryExpr([step](double v) { return std::abs(v) > step ? v - std::copysign(step, v) : 0.0; });
    u -= z;
    if (++steps % kEvery != 0 && steps < options.max_iterations) continue;
    const Vector guess = times(r, u, options.threads) / step;
    best.offer_dual(guess);
    const std::vector<Index> support = largest_entries(z, 2 * r.rows(), [&](Index j) { return z[j] != 0.0; });
    const Vector y = best.crossover(independent_columns(r, support, z), guess);
    if (y.size() != 0) best.offer_dual(y);
    best.remember();
  }
  return best.finish(steps);
}

}  // namespace subspectra
