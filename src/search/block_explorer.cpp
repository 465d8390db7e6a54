/// Exact search over a factor pencil in general: any criterion, any number of discriminants, groups. The tree
/// is that of scan_explorer.cpp seen from above only: P = (B_T^{-1})_FF, U = P C, and the r x r matrix T =
/// M_T'B_T^{-1}M_T, from which a unit g that leaves takes Y'Y, Y = L^{-1}U_g, P_gg = L L'.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "eigen/cholesky.hpp"
#include "eigen/symmetric.hpp"
#include "search/explorer.hpp"
#include "search/factor_problem.hpp"
#include "search/rank_one.hpp"

namespace subspectra::search {
namespace {

struct BlockNode {
  std::vector<std::int32_t> kept, free;
  std::vector<Index> first;  ///< rows of P that belong to free unit j: first[j]..first[j + 1] - 1
  Matrix p, u, t;
  double f = 0.0;  ///< the criterion of T
};

class BlockDescent {
 public:
  BlockDescent(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
               const RunControl& control, VisitFindings& findings)
      : problem_(problem),
        sizes_(sizes_of(node, cutoff, findings)),
        budget_(budget),
        control_(control),
        findings_(findings) {}

  void run(const OpenNode& node) {
    BlockNode root;
    if (!build(node, root)) return;
    most_depth_ = problem_.most_depth(root.p.rows());
    OpenSizes all(sizes_.size());
    std::iota(all.begin(), all.end(), 0);
    walk(root, std::move(all), 0);
  }

 private:
  [[nodiscard]] VisitSize& size_at(std::int32_t s) { return sizes_[static_cast<std::size_t>(s)]; }
  /// Units that size s still needs beyond the kept ones.
  [[nodiscard]] Index more_of(std::int32_t s, const BlockNode& at) {
    return size_at(s).k - static_cast<Index>(at.kept.size());
  }

  bool build(const OpenNode& node, BlockNode& at) const {
    at.kept = node.kept;
    at.free = node.free;
    at.first.push_back(0);
    for (const auto u : node.free) {
      at.first.push_back(at.first.back() + problem_.first[static_cast<std::size_t>(u) + 1] -
                         problem_.first[static_cast<std::size_t>(u)]);
    }
    auto residual = problem_.residual(node, control_);
    if (!residual) return false;
    at.p = std::move(residual->p);
    at.u = std::move(residual->u);
    at.t = residual->kept + residual->c.transpose() * at.u;
    at.t = Matrix(0.5 * (at.t + at.t.transpose()));
    at.f = problem_.of(at.t);
    return true;
  }

  /// The kept units and all free ones but that at `without`.
  void offer_without(Limits& limits, const BlockNode& at, std::size_t without) {
    std::vector<Index> units(at.kept.begin(), at.kept.end());
    for (std::size_t j = 0; j < at.free.size(); ++j) {
      if (j != without) units.push_back(at.free[j]);
    }
    offer(limits, std::move(units));
  }

  void offer(Limits& limits, std::vector<Index> units) {
    std::sort(units.begin(), units.end());
    const double value = problem_.value(units);
    limits.offer(std::move(units), value);
  }

  /// The criterion of T without each free unit.
  [[nodiscard]] std::vector<double> after_drops(const BlockNode& at) const {
    std::vector<double> after(at.free.size());
    const bool trace = problem_.is_trace();
    Matrix axes;  // rows: the eigenvectors of T, largest eigenvalue first
    Vector values;
    if (!trace) {
      const auto eigen = linalg::spectrum(at.t, true);
      values = eigen.values.reverse().cwiseMax(0.0);
      axes = eigen.vectors.rowwise().reverse().transpose();
    }
    for (std::size_t j = 0; j < after.size(); ++j) {
      const Index from = at.first[j], size = at.first[j + 1] - from;
      if (size == 1) {
        const Eigen::RowVectorXd y = at.u.row(from) / std::sqrt(at.p(from, from));
        if (trace) {
          after[j] = at.f - y.squaredNorm();
        } else {
          const Vector squares = (axes * y.transpose()).array().square();
          if (problem_.criterion == Criterion::kLargest) {
            after[j] = largest_after_rank_one(values, squares, -1.0);
          } else {
            const double taken = (squares.array() / (1.0 + values.array())).sum();
            after[j] = at.f + std::log1p(std::max(-1.0 + 1e-300, -taken));
          }
        }
      } else {
        const linalg::CholeskyFactor llt(at.p.block(from, from, size, size));
        const Matrix y = llt.solve_lower(at.u.middleRows(from, size));
        after[j] = trace ? at.f - y.squaredNorm() : problem_.of(at.t - y.transpose() * y);
      }
      after[j] = std::clamp(after[j], 0.0, at.f);
    }
    return after;
  }

  /// The child of `at` that drops free unit j and keeps those before it for good.
  [[nodiscard]] BlockNode child(const BlockNode& at, std::size_t j, double f) const {
    BlockNode to;
    to.kept = at.kept;
    to.kept.insert(to.kept.end(), at.free.begin(), at.free.begin() + static_cast<std::ptrdiff_t>(j));
    to.free.assign(at.free.begin() + static_cast<std::ptrdiff_t>(j) + 1, at.free.end());
    const Index from = at.first[j], size = at.first[j + 1] - from, next = at.first[j + 1];
    const Index rest = at.first.back() - next;
    for (std::size_t a = j + 1; a < at.first.size(); ++a) to.first.push_back(at.first[a] - next);
    const linalg::CholeskyFactor llt(at.p.block(from, from, size, size));
    const Matrix w = llt.solve_lower(at.p.block(from, next, size, rest));
    const Matrix y = llt.solve_lower(at.u.middleRows(from, size));
    to.p = at.p.bottomRightCorner(rest, rest) - w.transpose() * w;
    to.u = at.u.bottomRows(rest) - w.transpose() * y;
    to.t = at.t - y.transpose() * y;
    to.f = f;
    return to;
  }

  /// The free units in the given order, some of them kept.
  static BlockNode reordered(const BlockNode& at, const std::vector<std::size_t>& fixed,
                             const std::vector<std::size_t>& order) {
    BlockNode to;
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

  /// What is left of a node when the visit ends: one node, with the free units from `from` on. after[j]: the
  /// bound of all sets without at.free[j], ascending; `less` drops cost at least the loss of the less-th
  /// cheapest. Empty: the bound is that of the node.
  void hand_back(const BlockNode& at, std::size_t from, const OpenSizes& open_sizes,
                 const std::vector<double>& after) {
    const auto cut = at.free.begin() + static_cast<std::ptrdiff_t>(from);
    auto kept = at.kept;
    kept.insert(kept.end(), at.free.begin(), cut);
    std::vector<ServedSize> sizes;
    for (const std::int32_t s : open_sizes) {
      const Index more = size_at(s).k - static_cast<Index>(kept.size());
      const Index less = static_cast<Index>(at.free.size() - from) - more;
      if (more < 0 || less < 0) continue;
      double bound = at.f;
      if (!after.empty() && less > 0) {
        bound = after[std::max(from, at.free.size() - static_cast<std::size_t>(less))];
      }
      bound = std::min(size_at(s).root_bound, bound);
      if (!size_at(s).limits.closed(bound)) sizes.push_back({size_at(s).k, bound});
    }
    if (sizes.empty()) return;
    findings_.open.push_back(open_node(sizes, std::move(kept), {cut, at.free.end()}));
  }

  void guard(const BlockNode& at, std::int32_t s) {
    problem_.guard(at.kept, at.free, size_at(s).k, size_at(s).limits.limit());
  }

  /// Takes the sizes off that need no branching here.
  void close(const BlockNode& node, OpenSizes& open_sizes) {
    std::erase_if(open_sizes, [&](std::int32_t s) {
      Limits& limits = size_at(s).limits;
      const Index more = more_of(s, node), less = static_cast<Index>(node.free.size()) - more;
      if (more < 0 || less < 0) return true;
      if (limits.closed(node.f)) {
        guard(node, s);
      } else if (less == 0) {
        offer_without(limits, node, node.free.size());
      } else if (more == 0) {
        offer(limits, std::vector<Index>(node.kept.begin(), node.kept.end()));
      } else {
        return false;
      }
      return true;
    });
  }

  /// Takes the sizes off with fewer units that can go than must, and those with a single one to go.
  void close_by_drops(const BlockNode& node, const std::vector<double>& after, OpenSizes& open_sizes) {
    std::erase_if(open_sizes, [&](std::int32_t s) {
      Limits& limits = size_at(s).limits;
      const Index less = static_cast<Index>(node.free.size()) - more_of(s, node);
      const auto open =
          std::count_if(after.begin(), after.end(), [&](double f) { return !limits.closed(f); });
      if (open < less) {
        guard(node, s);
        return true;
      }
      if (less > 1) return false;
      for (std::size_t j = 0; j < after.size(); ++j) {
        if (!limits.closed(after[j])) offer_without(limits, node, j);
      }
      return true;
    });
  }

  /// Child j drops the j-th free unit and keeps those before it. The order, by what each loss costs, is the
  /// same for every size, so that all of them go down together; a child lives as long as one of them needs
  /// it. False when the budget ran out inside; what is left has been handed back.
  bool walk(const BlockNode& node, OpenSizes open_sizes, std::size_t depth) {
    close(node, open_sizes);
    if (open_sizes.empty()) return true;
    if (depth >= most_depth_) {  // what lies below waits for a visit of its own
      hand_back(node, 0, open_sizes, {});
      return true;
    }
    if (findings_.nodes >= budget_ || control_.should_stop()) {
      hand_back(node, 0, open_sizes, {});
      return false;
    }
    ++findings_.nodes;
    const auto after = after_drops(node);
    close_by_drops(node, after, open_sizes);
    if (open_sizes.empty()) return true;
    // Whoever costs every size too much alone is kept for good.
    double lowest = kInfinity;
    for (const std::int32_t s : open_sizes) lowest = std::min(lowest, size_at(s).limits.limit());
    std::vector<std::size_t> order, fixed;
    for (std::size_t j = 0; j < after.size(); ++j) (after[j] > lowest ? order : fixed).push_back(j);
    // The unit missed most first; its subtree is the largest and dies first.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return after[a] < after[b]; });
    const BlockNode at = reordered(node, fixed, order);
    std::vector<double> without;
    without.reserve(order.size());
    for (const auto j : order) without.push_back(after[j]);
    for (std::size_t j = 0; !open_sizes.empty(); ++j) {
      const double f = without[j];
      OpenSizes below;
      for (const std::int32_t s : open_sizes) {
        if (!size_at(s).limits.closed(f)) below.push_back(s);
      }
      const bool done = below.empty() || walk(child(at, j, f), std::move(below), depth + 1);
      // The next child keeps j + 1 of these units.
      std::erase_if(open_sizes, [&](std::int32_t s) { return more_of(s, at) <= static_cast<Index>(j); });
      if (!done) {
        hand_back(at, j + 1, open_sizes, without);
        return false;
      }
    }
    return true;
  }

  const FactorProblem& problem_;
  std::vector<VisitSize> sizes_;
  std::uint64_t budget_;
  const RunControl& control_;
  VisitFindings& findings_;
  std::size_t most_depth_ = 2;
};

}  // namespace

void block_explore(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget,
                   const Cutoff& cutoff, const RunControl& control, VisitFindings& findings) {
  BlockDescent(problem, node, budget, cutoff, control, findings).run(node);
}

}  // namespace subspectra::search
