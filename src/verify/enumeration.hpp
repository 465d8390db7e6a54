#pragma once
/// Every set of a size, one after another, against a bound.
#include <set>
#include <vector>

#include <subspectra/run_control.hpp>
#include "verify/set_judge.hpp"

namespace subspectra::verify {

/// The units a search could choose from, as places in a DensePair.
struct Choices {
  std::vector<std::vector<Index>> forced;  ///< in every set
  std::vector<std::vector<Index>> free;
};

class Enumeration {
 public:
  /// `pair` and `control` must outlive it.
  Enumeration(const DensePair& pair, Choices choices, Criterion criterion, const RunControl& control);

  [[nodiscard]] Index forced() const { return static_cast<Index>(choices_.forced.size()); }
  [[nodiscard]] Index free() const { return static_cast<Index>(choices_.free.size()); }
  /// How many sets of `k` units there are.
  [[nodiscard]] double count(Index k) const;
  /// The first set of `k` units, other than those in `known` (ascending places), whose criterion, recomputed
  /// densely, is above `bound` beyond its tolerance.
  [[nodiscard]] BoundAnswer find_above(Index k, double bound, std::set<std::vector<Index>> known = {});
  [[nodiscard]] double sets() const { return sets_; }  ///< looked at, in all

 private:
  bool descend(Index depth, Index start, bool factored);
  bool leaf(bool factored);
  bool append(const std::vector<Index>& unit);
  bool append(Index place);
  bool go_on(double work);

  const DensePair& pair_;
  Choices choices_;
  Criterion criterion_;
  const RunControl& control_;
  Matrix a_, b_;      ///< B scaled to a unit diagonal, A alike; b_ the identity for PCA
  Matrix m_;          ///< trace: A = M M'
  Matrix w_, w_sum_;  ///< what is factored: t B - A, or B (and A + B)
  // Row-wise Cholesky of w_ (and w_sum_) over the features of the set so far; row i starts at i * stride_.
  std::vector<double> l_, l_sum_, c_;
  std::vector<double> value_;  ///< trace, wilks: of the first i features
  std::size_t stride_ = 0;
  std::vector<Index> set_;
  Index chosen_ = 0;
  double threshold_ = 0.0;
  SetJudge judge_;
  double work_ = 0.0, sets_ = 0.0, planned_ = 0.0, done_ = 0.0;
  bool stopped_ = false;
};

}  // namespace subspectra::verify
