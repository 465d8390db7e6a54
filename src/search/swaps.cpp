#include "search/swaps.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/tiled.hpp"
#include "search/scorer.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

using linalg::Op;

SwapResult improve_by_swaps(const Pencil& pencil, std::vector<Index> support,
                            const std::vector<Index>& candidates, const std::vector<Index>& include,
                            const SwapOptions& options, const RunControl& control) {
  constexpr double kWorthwhile = 1e-9;
  const Index p = pencil.size();
  const auto k = static_cast<Index>(support.size());
  const Matrix& m = *pencil.factor();
  SwapResult result;
  result.objective = renormalize(pencil, support, options.criterion, 0, options.threads).objective;
  Matrix b = pencil.columns(support, options.threads);  // p x k
  while (result.exchanges < options.most && !control.should_stop()) {
    Matrix l = pencil.block(support, options.threads);
    if (!linalg::cholesky(l)) break;
    Matrix w = b;  // p x k: rows W_j' = B_{j,S} L^{-T}
    linalg::solve_lower_right(l, w);
    Matrix c_s = m(support, Eigen::all);
    linalg::solve_lower(l, Op::kNone, c_s);
    Matrix inverse = Matrix::Identity(k, k);
    linalg::solve_lower(l, Op::kNone, inverse);  // L^{-1}
    const Vector p_diagonal = inverse.colwise().squaredNorm();
    const Matrix u = inverse.transpose() * c_s;
    const Vector d = pencil.diagonal() - w.rowwise().squaredNorm();
    Matrix c = m;
    linalg::gemm(-1.0, Op::kNone, w, Op::kNone, c_s, 1.0, c);
    Matrix v(p, k);  // rows V_j' = W_j' L^{-1}
    linalg::gemm(1.0, Op::kNone, w, Op::kNone, inverse, 0.0, v);
    const Matrix t = c_s.transpose() * c_s;

    std::vector<char> can_enter(static_cast<std::size_t>(p), 0);
    for (const Index j : candidates) can_enter[static_cast<std::size_t>(j)] = 1;
    for (const Index j : support) can_enter[static_cast<std::size_t>(j)] = 0;
    double best = result.objective * (1.0 + kWorthwhile);
    Index out = -1, in = -1;
    for (Index i = 0; i < k; ++i) {
      if (std::binary_search(include.begin(), include.end(), support[static_cast<std::size_t>(i)])) continue;
      const Vector d_without = d.array() + v.col(i).array().square() / p_diagonal[i];
      Matrix c_without = c;
      linalg::gemm(1.0 / p_diagonal[i], Op::kNone, v.col(i), Op::kNone, u.row(i), 1.0, c_without);
      std::vector<char> usable = can_enter;
      for (Index j = 0; j < p; ++j) {
        if (!(d_without[j] > kDependentPivot * pencil.diagonal()[j])) usable[static_cast<std::size_t>(j)] = 0;
      }
      const search::Scorer scorer(options.criterion, 1.0,
                                  t - u.row(i).transpose() * u.row(i) / p_diagonal[i]);
      const auto found = scorer.best(c_without, d_without, usable);
      if (!found.tied.empty() && found.value > best) {
        best = found.value;
        out = i;
        in = found.tied.front();
      }
    }
    if (out < 0) break;
    // The value that counts is recomputed from the matrices; a gain that was rounding ends the search.
    auto changed = support;
    changed[static_cast<std::size_t>(out)] = in;
    auto ascending = changed;
    std::sort(ascending.begin(), ascending.end());
    const double value = renormalize(pencil, ascending, options.criterion, 0, options.threads).objective;
    if (!(value > result.objective * (1.0 + kWorthwhile))) break;
    support = std::move(changed);
    pencil.column(in, b.col(out), options.threads);
    result.objective = value;
    ++result.exchanges;
  }
  std::sort(support.begin(), support.end());
  result.support = std::move(support);
  return result;
}

}  // namespace subspectra
