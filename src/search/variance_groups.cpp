/// Forward selection and backward elimination by lambda_max(A_S, B_S) for groups of features, and backward
/// elimination for any B: one full decomposition a step, no eigen-solve per candidate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/secular.hpp"
#include "search/variance_search.hpp"

namespace subspectra::variance {
namespace {

using linalg::Op;

/// False when some column is a combination of those before it.
bool independent_cholesky(Matrix& b) {
  const Vector diagonal = b.diagonal();
  if (!linalg::cholesky(b)) return false;
  return (b.diagonal().array().square() > kDependent * diagonal.array()).all();
}

/// L^{-1} A L^{-T}, symmetric.
Matrix whitened(Matrix a, const Matrix& l) {
  linalg::solve_lower(l, Op::kNone, a);
  linalg::solve_lower_right(l, a);
  return 0.5 * (a + a.transpose());
}

double largest_eigenvalue(Matrix a) {
  const Index n = a.rows();
  return linalg::symmetric_eigen(std::move(a), false).values[n - 1];
}

Matrix product(Op op, const MatrixRef& a, const MatrixRef& b) {
  Matrix c(op == Op::kNone ? a.rows() : a.cols(), b.cols());
  linalg::gemm(1.0, op, a, Op::kNone, b, 0.0, c);
  return c;
}

// --- forward
// ----------------------------------------------------------------------------------------------------

/// A candidate group in the coordinates of the Cholesky factor of B_S: it borders C by Z (m x g) and a corner
/// (g x g).
struct Border {
  Matrix z, corner;
  double bound = 0.0;  ///< no less than the value of S with the group
};

class ForwardGroups {
 public:
  ForwardGroups(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options)
      : pencil_(pencil), units_(units), options_(options), identity_(pencil.b_is_identity()) {
    for (const auto& members : units.members) {
      a_blocks_.push_back(pencil.a_block(members, options.threads));
      b_blocks_.push_back(pencil.block(members, options.threads));
    }
  }

  void add(Index unit) {
    for (const Index j : units_.members[static_cast<std::size_t>(unit)]) {
      s_.push_back(j);
      a_columns_.emplace_back(pencil_.size());
      pencil_.a_column(j, a_columns_.back(), options_.threads);
      if (identity_) continue;
      b_columns_.emplace_back(pencil_.size());
      pencil_.column(j, b_columns_.back(), options_.threads);
    }
    const auto m = static_cast<Index>(s_.size());
    c_.resize(m, m);
    for (Index j = 0; j < m; ++j) c_.col(j) = a_columns_[static_cast<std::size_t>(j)](s_);
    if (!identity_) {
      l_.resize(m, m);
      for (Index j = 0; j < m; ++j) l_.col(j) = b_columns_[static_cast<std::size_t>(j)](s_);
      if (!independent_cholesky(l_)) {
        throw Infeasible(
            "the included groups have a feature that is a linear combination of the others; leave it out, or add a ridge (⟨ridge⟩)");
      }
      c_ = whitened(c_, l_);
    }
    eigen_ = linalg::symmetric_eigen(c_, true);
  }

  /// Moves the dependent units of `candidates` to `dependent` and returns the best of the rest, -1 if none.
  Index pick(std::vector<Index>& candidates, std::vector<Index>& dependent) {
    std::vector<Border> borders(candidates.size());
    std::vector<char> lost(candidates.size(), 0);
    parallel_for(static_cast<Index>(candidates.size()), options_.threads, [&](Index e) {
      const auto at = static_cast<std::size_t>(e);
      lost[at] = border(candidates[at], borders[at]) ? 0 : 1;
    });
    std::vector<Index> left, order;
    std::vector<Border> kept;
    for (std::size_t e = 0; e < candidates.size(); ++e) {
      if (lost[e] != 0) {
        dependent.push_back(candidates[e]);
        continue;
      }
      order.push_back(static_cast<Index>(left.size()));
      left.push_back(candidates[e]);
      kept.push_back(std::move(borders[e]));
    }
    candidates = left;
    std::stable_sort(order.begin(), order.end(), [&](Index x, Index y) {
      return kept[static_cast<std::size_t>(x)].bound > kept[static_cast<std::size_t>(y)].bound;
    });
    Best best;
    for (const Index e : order) {
      const Border& b = kept[static_cast<std::size_t>(e)];
      if (b.bound < best.threshold()) break;
      best.offer(left[static_cast<std::size_t>(e)], value_with(b));
    }
    return best.unit();
  }

 private:
  /// False when the group depends on S or in itself.
  bool border(Index unit, Border& out) const {
    const auto& members = units_.members[static_cast<std::size_t>(unit)];
    const auto m = static_cast<Index>(s_.size()), g = static_cast<Index>(members.size());
    out.z.resize(m, g);
    for (Index j = 0; j < m; ++j) {
      out.z.row(j) = a_columns_[static_cast<std::size_t>(j)](members).transpose();
    }
    out.corner = a_blocks_[static_cast<std::size_t>(unit)];
    if (!identity_) {
      Matrix d = b_blocks_[static_cast<std::size_t>(unit)];
      const Vector floor = kDependent * d.diagonal();
      if (m > 0) {
        Matrix w(m, g);
        for (Index j = 0; j < m; ++j) w.row(j) = b_columns_[static_cast<std::size_t>(j)](members).transpose();
        linalg::solve_lower(l_, Op::kNone, w);
        linalg::solve_lower(l_, Op::kNone, out.z);  // L^{-1} A_{S,g} for now
        d -= product(Op::kTranspose, w, w);
        const Matrix cw = product(Op::kNone, c_, w);
        const Matrix cross = product(Op::kTranspose, w, out.z);
        out.corner += product(Op::kTranspose, w, cw) - cross - cross.transpose();
        out.z -= cw;
      }
      if (!linalg::cholesky(d) || !(d.diagonal().array().square() > floor.array()).all()) return false;
      linalg::solve_lower_right(d, out.z);
      out.corner = whitened(out.corner, d);
    }
    const double corner = largest_eigenvalue(out.corner);
    if (m == 0) {
      out.bound = corner;
      return true;
    }
    const double half = 0.5 * (eigen_.values[m - 1] - corner);
    out.bound = corner + half + std::sqrt(half * half + out.z.squaredNorm());
    out.bound += 1e-12 * std::abs(out.bound);  // above its rounding
    return true;
  }

  [[nodiscard]] double value_with(const Border& b) const {
    const Index m = b.z.rows(), g = b.z.cols();
    if (m == 0) return b.bound;
    Matrix whole = Matrix::Zero(m + g, m + g);
    whole.topLeftCorner(m, m).diagonal() = eigen_.values;
    linalg::gemm(1.0, Op::kTranspose, b.z, Op::kNone, eigen_.vectors, 0.0, whole.bottomLeftCorner(g, m));
    whole.bottomRightCorner(g, g) = b.corner;
    return largest_eigenvalue(std::move(whole));
  }

  const Pencil& pencil_;
  const SearchUnits& units_;
  const GreedyOptions& options_;
  bool identity_;
  std::vector<Matrix> a_blocks_, b_blocks_;  ///< of each unit
  std::vector<Index> s_;                     ///< the chosen positions
  std::vector<Vector> a_columns_, b_columns_;
  Matrix l_, c_;  ///< L L' = B_S, C = L^{-1} A_S L^{-T}
  linalg::SymmetricEigen eigen_;
};

// --- backward
// ---------------------------------------------------------------------------------------------------

/// The generalized eigenpairs of (A_T, B_T), descending, X'B_T X = I, so that X X' = B_T^{-1}.
struct Decomposition {
  Vector values;
  Matrix vectors;
};

Decomposition decompose(const Matrix& a, const Matrix& b, const std::vector<Index>& t, bool identity) {
  Matrix c = a(t, t), l;
  if (!identity) {
    l = b(t, t);
    if (!independent_cholesky(l)) {
      throw Infeasible(
          "B over the candidates is singular, so that backward elimination cannot start; add a ridge (⟨ridge⟩) or leave the dependent features out");
    }
    c = whitened(std::move(c), l);
  }
  auto eigen = linalg::symmetric_eigen(std::move(c), true);
  if (!identity) linalg::solve_lower(l, Op::kTranspose, eigen.vectors);
  return {eigen.values.reverse(), eigen.vectors.rowwise().reverse()};
}

/// Whether some eigenvalue of the pencil without the rows x (g x n, of the eigenvectors) exceeds lambda. By
/// inertia: of K = [(lambda B - A)^{-1}]_gg = x (lambda - Lambda)^{-1} x', T without g has as many
/// eigenvalues above lambda as T has, less the negative eigenvalues of K.
bool exceeds_without(const Decomposition& d, const Matrix& x, double lambda) {
  const Index n = d.values.size(), g = x.rows();
  const double smallest = 1e-18 * std::max(std::abs(d.values[0]), std::abs(d.values[n - 1]));
  Index above = 0;
  Matrix scaled = x;
  for (Index j = 0; j < n; ++j) {
    double distance = lambda - d.values[j];
    if (distance < 0.0) ++above;
    if (std::abs(distance) < smallest) distance = std::copysign(smallest, distance);
    scaled.col(j) /= distance;
  }
  Matrix k(g, g);
  linalg::gemm(1.0, Op::kNone, scaled, Op::kTranspose, x, 0.0, k);
  const Vector values = linalg::symmetric_eigen(std::move(k), false).values;
  return above > (values.array() < 0.0).count();
}

double value_without(const Decomposition& d, const Matrix& x, double upper) {
  double lower = d.values[std::min(x.rows(), d.values.size() - 1)];  // interlacing
  for (int i = 0; i < 64; ++i) {
    const double middle = 0.5 * (lower + upper);
    if (!(lower < middle && middle < upper)) break;
    (exceeds_without(d, x, middle) ? lower : upper) = middle;
  }
  return 0.5 * (lower + upper);
}

}  // namespace

GreedyPass forward_groups(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                          const RunControl& control) {
  GreedyPass pass;
  const Index most = options.most > 0 ? std::min(options.most, units.count()) : units.count();
  pass.least = std::max<Index>(1, static_cast<Index>(units.include.size()));
  ForwardGroups state(pencil, units, options);
  const auto included = units.included();
  std::vector<Index> candidates;
  for (Index u = 0; u < units.count(); ++u) {
    if (included[static_cast<std::size_t>(u)] == 0) candidates.push_back(u);
  }
  pass.status = Status::kHeuristic;
  const auto choose = [&](Index unit) {
    pass.order.push_back(unit);
    pass.most = static_cast<Index>(pass.order.size());
    if (pass.most < most) state.add(unit);
  };
  for (const Index unit : units.include) choose(unit);
  while (pass.most < most) {
    if (control.should_stop()) {
      pass.status = control.status_or(Status::kHeuristic);
      break;
    }
    const Index unit = state.pick(candidates, pass.dependent);
    if (unit < 0) {
      pass.status = Status::kRankLimit;
      break;
    }
    candidates.erase(std::find(candidates.begin(), candidates.end(), unit));
    choose(unit);
    control.report("forward", static_cast<double>(pass.most) / static_cast<double>(most),
                   [&] { return fmt::format("{} groups", pass.most); });
  }
  std::sort(pass.dependent.begin(), pass.dependent.end());
  return pass;
}

GreedyPass backward_decomposed(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                               const RunControl& control, RootLosses* root) {
  const std::vector<Index> all = units.features();
  const auto n = static_cast<Index>(all.size());
  const Index least = std::max<Index>({1, options.least, static_cast<Index>(units.include.size())});
  constexpr double kWork = 1e12;  // steps times features cubed: a few minutes
  if (static_cast<double>(std::max<Index>(1, units.count() - least)) * std::pow(static_cast<double>(n), 3) >
      kWork) {
    throw Infeasible(fmt::format(
        "backward elimination from {} features in {} steps decomposes a matrix at every step, which would take hours; use the forward pass alone, fewer candidates (⟨exclude⟩), or a larger least size (⟨k⟩)",
        n, units.count() - least));
  }
  const bool identity = pencil.b_is_identity();
  require_memory(8.0 * static_cast<double>(n) * static_cast<double>(n) * (identity ? 5.0 : 7.0),
                 fmt::format("backward elimination from {} features", n),
                 "use the forward pass alone or fewer candidates (⟨exclude⟩)", options.memory_limit);
  const Matrix a = pencil.a_block(all, options.threads);
  const Matrix b = identity ? Matrix() : pencil.block(all, options.threads);
  std::vector<std::vector<Index>> local;  // members by their place in `all`
  for (const auto& members : units.members) {
    local.emplace_back();
    for (const Index j : members)
      local.back().push_back(std::lower_bound(all.begin(), all.end(), j) - all.begin());
  }

  GreedyPass pass;
  pass.most = units.count();
  const auto included = units.included();
  std::vector<Index> alive(static_cast<std::size_t>(units.count()));
  for (Index u = 0; u < units.count(); ++u) alive[static_cast<std::size_t>(u)] = u;
  std::vector<Index> deleted;
  pass.status = Status::kHeuristic;
  for (bool first = root != nullptr; first || static_cast<Index>(alive.size()) > least; first = false) {
    if (control.should_stop()) {
      pass.status = control.status_or(Status::kHeuristic);
      break;
    }
    std::vector<Index> t;
    for (const Index u : alive) {
      const auto& members = local[static_cast<std::size_t>(u)];
      t.insert(t.end(), members.begin(), members.end());
    }
    std::sort(t.begin(), t.end());
    const Decomposition d = decompose(a, b, t, identity);
    const auto m = static_cast<Index>(t.size());
    const double top = d.values[0];
    const Vector gaps = top - d.values.array();
    Vector value(m);  // without one feature
    parallel_for((m + 31) / 32, options.threads, [&](Index item) {
      for (Index i = 32 * item; i < std::min(m, 32 * (item + 1)); ++i) {
        const Vector weights = d.vectors.row(i).cwiseAbs2();
        value[i] = top - secular::drop(gaps.data(), weights.data(), m);
      }
    });
    const auto row = [&](Index feature) { return std::lower_bound(t.begin(), t.end(), feature) - t.begin(); };

    struct Candidate {
      Index unit;
      double upper;
      std::vector<Index> rows;
    };
    std::vector<Candidate> candidates;
    for (const Index u : alive) {
      if (included[static_cast<std::size_t>(u)] != 0) continue;
      Candidate c{u, kInfinity, {}};
      for (const Index feature : local[static_cast<std::size_t>(u)]) {
        c.rows.push_back(row(feature));
        c.upper = std::min(c.upper, value[c.rows.back()]);
      }
      candidates.push_back(std::move(c));
    }
    if (first) {
      root->value = top;
      root->losses = Vector::Zero(units.count());
      for (const auto& c : candidates) {
        root->losses[c.unit] = std::max(0.0, top - c.upper - 1e-12 * std::abs(top));
      }
      if (static_cast<Index>(alive.size()) <= least) break;
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& x, const Candidate& y) { return x.upper > y.upper; });
    Best best;
    for (const auto& c : candidates) {
      if (c.upper < best.threshold()) break;
      if (c.rows.size() == 1) {
        best.offer(c.unit, c.upper);
        continue;
      }
      const Matrix x = d.vectors(c.rows, Eigen::all);
      if (!best.empty() && !exceeds_without(d, x, best.threshold())) continue;
      best.offer(c.unit, value_without(d, x, c.upper));
    }
    deleted.push_back(best.unit());
    alive.erase(std::find(alive.begin(), alive.end(), best.unit()));
    control.report("backward",
                   static_cast<double>(deleted.size()) / static_cast<double>(units.count() - least),
                   [&] { return fmt::format("k {}  {:.6g}", alive.size(), best.value()); });
  }
  // The included first: they are never deleted.
  for (const Index u : units.include) pass.order.push_back(u);
  for (const Index u : alive) {
    if (included[static_cast<std::size_t>(u)] == 0) pass.order.push_back(u);
  }
  pass.least = static_cast<Index>(alive.size());
  pass.order.insert(pass.order.end(), deleted.rbegin(), deleted.rend());
  return pass;
}

}  // namespace subspectra::variance
