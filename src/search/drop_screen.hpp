#pragma once
/// Which feature can be deleted from A_T with the least loss of lambda_max: bounds for all candidates.
///
/// Without feature i the largest eigenvalue is the largest root of sum_j v_ij^2/(lambda - Lambda_j) = 0. The
/// leading pairs (Lambda_j, v_j), j <= q, are known; of the others their sum at one point sigma > Lambda_1,
/// since all together are the diagonal of R = (sigma I - A_T)^{-1}. In u_j = 1/(sigma - Lambda_j) their
/// weights have the moments
///     m_0 = 1 - sum_{j<=q} v_ij^2,   m_1 = R_ii - sum_{j<=q} v_ij^2 u_j,   m_2 = (R^2)_ii - ...,
/// and at lambda < sigma, c = sigma - lambda, they add sum_{j>q} v_ij^2 u_j/(1 - c u_j). That is convex in u:
/// at most what its chord from u = 0 to the largest u gives (m_1 at the pole Lambda_{q+1}), at least its
/// value at the mean (m_0 at the pole sigma - m_0/m_1). With m_2 the same is done for the weights v_ij^2 u_j,
/// and the two bounds differ in the second order of c u. Each bound is the root of one small secular
/// equation.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "eigen/followed_pairs.hpp"
#include "search/variance_search.hpp"

namespace subspectra::variance {

/// Bounds on Lambda_1 - lambda_max without feature i.
struct Drop {
  Index feature;
  double least, most;
};

class DropScreen {
 public:
  /// pairs of R; x: by feature (rows) the leading vectors (columns); `diagonal` of R.
  DropScreen(double sigma, const FollowedPairs& pairs, Matrix x, const Vector& diagonal);

  [[nodiscard]] double top() const { return lambda_[0]; }
  /// A feature whose others add to more than they could if all were at Lambda_{q+1}: a leading vector is
  /// missing. -1: none.
  [[nodiscard]] Index impossible(const std::vector<char>& alive) const;
  /// `square` is (R^2)_ii = |R e_i|^2, negative where it is not known.
  [[nodiscard]] Drop bounds(Index i, double square = -1.0) const;
  /// Candidates that may be the best by their first bounds, the most promising first. At least one candidate.
  [[nodiscard]] std::vector<Drop> survivors(const std::vector<char>& candidate) const;
  /// Those that may still be the best, the most promising first.
  void sift(std::vector<Drop>& list) const;

 private:
  Matrix x_;
  double sigma_;
  Vector theta_, lambda_;
  Index q_ = 1;                         ///< pairs used as they are
  double slack_ = 0.0;                  ///< relative, of drops: the error of the vectors after the first
  double error_ = 0.0;                  ///< of the first vector
  double u_out_ = 0.0, gap_out_ = 0.0;  ///< 1/(sigma - Lambda_{q+1}) or more, Lambda_1 - Lambda_{q+1} or less
  Vector sum_, rest_;                   ///< m_1, m_0
};

/// The candidate to delete and, if they had to be computed, the pairs without it. State has square(i), for
/// DropScreen::bounds, and without(i), the pairs of R after deleting i.
template <class State>
std::pair<Index, std::optional<FollowedPairs>> choose(const State& state, const DropScreen& screen,
                                                      double sigma, const std::vector<char>& candidate) {
  auto list = screen.survivors(candidate);
  if (list.size() > 1) {
    for (Drop& d : list) d = screen.bounds(d.feature, state.square(d.feature));
    screen.sift(list);
  }
  // Equal to the best whatever the exact values are? Then the lowest of those.
  Index chosen = -1;
  const double tie = kTie * std::abs(screen.top());
  for (const Drop& d : list) {
    if (d.most <= list.front().least + tie && (chosen < 0 || d.feature < chosen)) chosen = d.feature;
  }
  if (chosen >= 0) return {chosen, std::nullopt};
  if (list.size() == 1) return {list.front().feature, std::nullopt};
  Best best;
  std::pair<Index, std::optional<FollowedPairs>> seen{-1, std::nullopt};
  double seen_value = -kInfinity;
  for (const Drop& d : list) {
    if (screen.top() - d.least < best.threshold()) break;
    FollowedPairs trial = state.without(d.feature);
    const double value = sigma - 1.0 / trial.theta[0];
    best.offer(d.feature, value);
    if (value > seen_value) {
      seen_value = value;
      seen = {d.feature, std::move(trial)};
    }
  }
  if (best.unit() != seen.first) return {best.unit(), std::nullopt};
  return seen;
}

}  // namespace subspectra::variance
