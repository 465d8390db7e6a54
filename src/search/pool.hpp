#pragma once
/// The best sets of one size that a search knows, and the rule that closes nodes by them.
#include <cstdint>
#include <vector>

#include "search/exact.hpp"

namespace subspectra::search {

/// At most `capacity` distinct sets, best first. A pool is a value: a visit searches with a copy
/// (fresh_copy()) and hands back what entered it, so that nothing is shared between threads.
class Pool {
 public:
  explicit Pool(Index capacity) : capacity_(capacity) {}

  /// Only sets above this are worth finding: the largest value that stood last in the full pool, else
  /// -infinity (values are never negative, so that 0 is worth finding).
  [[nodiscard]] double threshold() const { return threshold_; }
  /// True when the set entered. Sets already there are left alone; of sets that tie with the last place to
  /// kTieFraction the lexicographically smaller stays.
  bool offer(std::vector<Index> units, double value);
  [[nodiscard]] const std::vector<RankedSet>& sets() const { return sets_; }  ///< best first
  [[nodiscard]] double best() const { return sets_.empty() ? -kInfinity : sets_.front().value; }
  [[nodiscard]] Index capacity() const { return capacity_; }
  /// A copy that knows the same sets and has found none itself.
  [[nodiscard]] Pool fresh_copy() const;
  /// What entered a fresh copy, in the order of the offers.
  [[nodiscard]] const std::vector<RankedSet>& entered() const { return entered_; }

 private:
  Index capacity_;
  double threshold_ = -kInfinity, best_seen_ = -kInfinity;
  std::vector<RankedSet> sets_;
  std::vector<std::uint64_t> hashes_;  ///< of sets_, so that a large pool is looked through quickly
  std::vector<RankedSet> entered_;
  bool is_fresh_copy_ = false;  ///< fills entered_
};

/// When a bound closes a node: no set in it is worth finding.
class Cutoff {
 public:
  /// `slack`: relative error that bounds may carry; `gap`: Eslda::gap.
  Cutoff(double slack, double gap) : slack_(slack), gap_(gap) {}
  /// Bounds up to this are closed without a trace: better by less than a tie.
  [[nodiscard]] double exact(double threshold) const {
    return threshold <= 0.0 ? threshold : threshold * (1.0 + kTieFraction - slack_);
  }
  /// Bounds up to this are closed, and the largest of them is remembered.
  [[nodiscard]] double with_gap(double threshold) const {
    return threshold <= 0.0 ? threshold
                            : threshold * (1.0 + (gap_ > kTieFraction ? gap_ : kTieFraction) - slack_);
  }

 private:
  double slack_, gap_;
};

}  // namespace subspectra::search
