#include "search/swaps.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "linalg/tiled.hpp"
#include "search/exchange_search.hpp"
#include "search/scorer.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

using linalg::Op;

namespace {

/// The best of all k (p - k) exchanges, while the criterion rises by more than 1e-9 of it.
class EveryExchange final : public search::ExchangeRule {
 public:
  EveryExchange(const Pencil& pencil, std::vector<Index> support, const std::vector<Index>& candidates,
                const std::vector<Index>& include, const SwapOptions& options)
      : pencil_(pencil),
        support_(std::move(support)),
        candidates_(candidates),
        include_(include),
        options_(options),
        b_(pencil.columns(support_, options.threads)) {}

  [[nodiscard]] std::optional<RankedSet> next(const RankedSet& at) override {
    constexpr double kWorthwhile = 1e-9;
    const auto exchange = best_exchange(at.value * (1.0 + kWorthwhile));
    if (!exchange) return std::nullopt;
    const auto [out, in] = *exchange;
    // The value that counts is recomputed from the matrices; a gain that was rounding ends the search.
    auto changed = support_;
    changed[static_cast<std::size_t>(out)] = in;
    auto ascending = changed;
    std::sort(ascending.begin(), ascending.end());
    const double value = renormalize(pencil_, ascending, options_.criterion, 0, options_.threads).objective;
    if (!(value > at.value * (1.0 + kWorthwhile))) return std::nullopt;
    support_ = std::move(changed);
    pencil_.column(in, b_.col(out), options_.threads);
    return RankedSet{std::move(ascending), value};
  }

 private:
  struct Exchange {
    Index out;  ///< place in support_
    Index in;   ///< feature
  };

  /// The exchange with the largest criterion above `best`, by the formulas of swaps.hpp.
  [[nodiscard]] std::optional<Exchange> best_exchange(double best) const {
    const Index p = pencil_.size();
    const auto k = static_cast<Index>(support_.size());
    const Matrix& m = *pencil_.factor();
    Matrix l = pencil_.block(support_, options_.threads);
    if (!linalg::cholesky(l)) return std::nullopt;
    Matrix w = b_;  // p x k: rows W_j' = B_{j,S} L^{-T}
    linalg::solve_lower_right(l, w);
    Matrix c_s = m(support_, Eigen::all);
    linalg::solve_lower(l, Op::kNone, c_s);
    Matrix inverse = Matrix::Identity(k, k);
    linalg::solve_lower(l, Op::kNone, inverse);  // L^{-1}
    const Vector p_diagonal = inverse.colwise().squaredNorm();
    const Matrix u = inverse.transpose() * c_s;
    const Vector d = pencil_.diagonal() - w.rowwise().squaredNorm();
    Matrix c = m;
    linalg::gemm(-1.0, Op::kNone, w, Op::kNone, c_s, 1.0, c);
    Matrix v(p, k);  // rows V_j' = W_j' L^{-1}
    linalg::gemm(1.0, Op::kNone, w, Op::kNone, inverse, 0.0, v);
    const Matrix t = c_s.transpose() * c_s;

    std::vector<char> can_enter(static_cast<std::size_t>(p), 0);
    for (const Index j : candidates_) can_enter[static_cast<std::size_t>(j)] = 1;
    for (const Index j : support_) can_enter[static_cast<std::size_t>(j)] = 0;
    std::optional<Exchange> exchange;
    for (Index i = 0; i < k; ++i) {
      if (std::binary_search(include_.begin(), include_.end(), support_[static_cast<std::size_t>(i)]))
        continue;
      const Vector d_without = d.array() + v.col(i).array().square() / p_diagonal[i];
      Matrix c_without = c;
      linalg::gemm(1.0 / p_diagonal[i], Op::kNone, v.col(i), Op::kNone, u.row(i), 1.0, c_without);
      std::vector<char> usable = can_enter;
      for (Index j = 0; j < p; ++j) {
        if (!(d_without[j] > kDependentPivot * pencil_.diagonal()[j]))
          usable[static_cast<std::size_t>(j)] = 0;
      }
      const search::Scorer scorer(options_.criterion, 1.0,
                                  t - u.row(i).transpose() * u.row(i) / p_diagonal[i]);
      const auto found = scorer.best(c_without, d_without, usable);
      if (!found.tied.empty() && found.value > best) {
        best = found.value;
        exchange = {i, found.tied.front()};
      }
    }
    return exchange;
  }

  const Pencil& pencil_;
  std::vector<Index> support_;  ///< not ascending: who enters takes the place of who leaves
  const std::vector<Index>& candidates_;
  const std::vector<Index>& include_;
  const SwapOptions& options_;
  Matrix b_;  ///< the columns of B of the support, p x k
};

}  // namespace

SwapResult improve_by_swaps(const Pencil& pencil, std::vector<Index> support,
                            const std::vector<Index>& candidates, const std::vector<Index>& include,
                            const SwapOptions& options, const RunControl& control) {
  const double objective = renormalize(pencil, support, options.criterion, 0, options.threads).objective;
  EveryExchange rule(pencil, support, candidates, include, options);
  auto walk = search::walk_by_exchanges({std::move(support), objective}, rule, options.most, control);
  std::sort(walk.end.units.begin(), walk.end.units.end());  // the start need not be
  return {std::move(walk.end.units), walk.end.value, walk.exchanges};
}

}  // namespace subspectra
