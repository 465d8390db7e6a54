/// Exact search over a factor pencil in general: any criterion, any number of discriminants, groups. The tree
/// is that of scan_explorer.cpp seen from above only: P = (B_T^{-1})_FF, U = P C, and the r x r matrix T =
/// M_T'B_T^{-1}M_T, from which a unit g that leaves takes Y'Y, Y = L^{-1}U_g, P_gg = L L'.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "explorer.hpp"
#include "factor_problem.hpp"
#include "rank_one.hpp"

namespace subspectra::search {
namespace {

struct Block {
  std::vector<std::int32_t> kept, free;
  std::vector<Index> first;  ///< rows of P that belong to free unit j: first[j]..first[j + 1] - 1
  Matrix p, u, t;
  double f = 0.0;  ///< the criterion of T
};

class Visit {
 public:
  Visit(const FactorProblem& problem, std::uint64_t budget, const Cutoff& cutoff, const RunControl& control,
        Harvest& harvest)
      : problem_(problem), budget_(budget), limits_(cutoff, harvest), control_(control), harvest_(harvest) {}

  void run(const OpenNode& node) {
    k_ = node.k;
    root_bound_ = node.bound;
    Block root;
    if (!build(node, root)) return;
    walk(root);
  }

 private:
  bool build(const OpenNode& node, Block& at) const {
    at.kept = node.kept;
    at.free = node.free;
    at.first.push_back(0);
    for (const auto u : node.free) {
      at.first.push_back(at.first.back() + problem_.first[static_cast<std::size_t>(u) + 1] -
                         problem_.first[static_cast<std::size_t>(u)]);
    }
    auto residual = problem_.residual(node);
    if (!residual) return false;
    at.p = std::move(residual->p);
    at.u = std::move(residual->u);
    at.t = residual->kept + residual->c.transpose() * at.u;
    at.t = Matrix(0.5 * (at.t + at.t.transpose()));
    at.f = problem_.of(at.t);
    return true;
  }

  void offer(const Block& at, std::size_t without) {
    std::vector<Index> units(at.kept.begin(), at.kept.end());
    for (std::size_t j = 0; j < at.free.size(); ++j) {
      if (j != without) units.push_back(at.free[j]);
    }
    offer(std::move(units));
  }

  void offer(std::vector<Index> units) {
    std::sort(units.begin(), units.end());
    const double value = problem_.value(units);
    limits_.offer(std::move(units), value);
  }

  /// The criterion of T without each free unit.
  [[nodiscard]] std::vector<double> after_drops(const Block& at) const {
    std::vector<double> after(at.free.size());
    const bool trace = problem_.is_trace();
    Eigen::SelfAdjointEigenSolver<Matrix> solver;
    Vector values;
    if (!trace) {
      solver.compute(at.t);
      values = solver.eigenvalues().reverse().cwiseMax(0.0);
    }
    for (std::size_t j = 0; j < after.size(); ++j) {
      const Index from = at.first[j], size = at.first[j + 1] - from;
      if (size == 1) {
        const Eigen::RowVectorXd y = at.u.row(from) / std::sqrt(at.p(from, from));
        if (trace) {
          after[j] = at.f - y.squaredNorm();
        } else {
          const Vector squares =
              (solver.eigenvectors().rowwise().reverse().transpose() * y.transpose()).array().square();
          if (problem_.criterion == Criterion::kLargest) {
            after[j] = largest_after_rank_one(values, squares, -1.0);
          } else {
            const double taken = (squares.array() / (1.0 + values.array())).sum();
            after[j] = at.f + std::log1p(std::max(-1.0 + 1e-300, -taken));
          }
        }
      } else {
        const Eigen::LLT<Matrix> llt(at.p.block(from, from, size, size));
        const Matrix y = llt.matrixL().solve(Matrix(at.u.middleRows(from, size)));
        after[j] = trace ? at.f - y.squaredNorm() : problem_.of(at.t - y.transpose() * y);
      }
      after[j] = std::clamp(after[j], 0.0, at.f);
    }
    return after;
  }

  /// The child of `at` that drops free unit j and keeps those before it for good.
  [[nodiscard]] Block child(const Block& at, std::size_t j, double f) const {
    Block to;
    to.kept = at.kept;
    to.kept.insert(to.kept.end(), at.free.begin(), at.free.begin() + static_cast<std::ptrdiff_t>(j));
    to.free.assign(at.free.begin() + static_cast<std::ptrdiff_t>(j) + 1, at.free.end());
    const Index from = at.first[j], size = at.first[j + 1] - from, next = at.first[j + 1];
    const Index rest = at.first.back() - next;
    for (std::size_t a = j + 1; a < at.first.size(); ++a) to.first.push_back(at.first[a] - next);
    const Eigen::LLT<Matrix> llt(at.p.block(from, from, size, size));
    const Matrix w = llt.matrixL().solve(Matrix(at.p.block(from, next, size, rest)));
    const Matrix y = llt.matrixL().solve(Matrix(at.u.middleRows(from, size)));
    to.p = at.p.bottomRightCorner(rest, rest) - w.transpose() * w;
    to.u = at.u.bottomRows(rest) - w.transpose() * y;
    to.t = at.t - y.transpose() * y;
    to.f = f;
    return to;
  }

  /// The free units in the given order, some of them kept.
  static Block reordered(const Block& at, const std::vector<std::size_t>& fixed,
                         const std::vector<std::size_t>& order) {
    Block to;
    to.kept = at.kept;
    for (const auto j : fixed) to.kept.push_back(at.free[j]);
    std::vector<Index> rows;
    to.first.push_back(0);
    for (const auto j : order) {
      to.free.push_back(at.free[j]);
      for (Index i = at.first[j]; i < at.first[j + 1]; ++i) rows.push_back(i);
      to.first.push_back(static_cast<Index>(rows.size()));
    }
    to.p = at.p(rows, rows);
    to.u = at.u(rows, Eigen::all);
    to.t = at.t;
    to.f = at.f;
    return to;
  }

  void hand_back(const Block& at, std::size_t from, double bound) {
    OpenNode rest;
    rest.k = k_;
    rest.kept = at.kept;
    rest.kept.insert(rest.kept.end(), at.free.begin(), at.free.begin() + static_cast<std::ptrdiff_t>(from));
    rest.free.assign(at.free.begin() + static_cast<std::ptrdiff_t>(from), at.free.end());
    const auto size = static_cast<Index>(rest.kept.size());
    if (size > k_ || size + static_cast<Index>(rest.free.size()) < k_) return;
    std::sort(rest.kept.begin(), rest.kept.end());
    std::sort(rest.free.begin(), rest.free.end());
    rest.bound = std::min(root_bound_, bound);
    if (!limits_.closed(rest.bound)) harvest_.open.push_back(std::move(rest));
  }

  /// False when the budget ran out inside; what is left has been handed back.
  bool walk(const Block& node) {
    const auto kept = static_cast<Index>(node.kept.size()), free = static_cast<Index>(node.free.size());
    Index more = k_ - kept;
    const Index less = free - more;
    if (more < 0 || less < 0) return true;
    if (limits_.closed(node.f)) {
      problem_.guard(node.kept, node.free, k_, limits_.limit());
      return true;
    }
    if (less == 0) {
      offer(node, node.free.size());
      return true;
    }
    if (more == 0) {
      offer(std::vector<Index>(node.kept.begin(), node.kept.end()));
      return true;
    }
    if (harvest_.nodes >= budget_ || (control_.should_stop())) {
      hand_back(node, 0, node.f);
      return false;
    }
    ++harvest_.nodes;
    const auto after = after_drops(node);
    std::vector<std::size_t> order, fixed;
    for (std::size_t j = 0; j < after.size(); ++j) (limits_.closed(after[j]) ? fixed : order).push_back(j);
    if (static_cast<Index>(order.size()) < less) {
      problem_.guard(node.kept, node.free, k_, limits_.limit());
      return true;
    }
    // The unit missed most first; its subtree is the largest and dies first.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return after[a] < after[b]; });
    if (less == 1) {
      for (const auto j : order) {
        if (!limits_.closed(after[j])) offer(node, j);
      }
      return true;
    }
    const Block at = reordered(node, fixed, order);
    more -= static_cast<Index>(fixed.size());
    for (Index j = 0; j <= more; ++j) {
      const double f = after[order[static_cast<std::size_t>(j)]];
      if (limits_.closed(f)) continue;
      if (!walk(child(at, static_cast<std::size_t>(j), f))) {
        // `less` drops cost at least the loss of the less-th cheapest.
        const auto place = std::max<std::size_t>(static_cast<std::size_t>(j) + 1,
                                                 order.size() - static_cast<std::size_t>(less));
        if (place < order.size()) hand_back(at, static_cast<std::size_t>(j) + 1, after[order[place]]);
        return false;
      }
    }
    return true;
  }

  const FactorProblem& problem_;
  std::uint64_t budget_;
  Limits limits_;
  const RunControl& control_;
  Harvest& harvest_;
  Index k_ = 0;
  double root_bound_ = kInfinity;
};

}  // namespace

void block_explore(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget,
                   const Cutoff& cutoff, const RunControl& control, Harvest& harvest) {
  Visit(problem, budget, cutoff, control, harvest).run(node);
}

}  // namespace subspectra::search
