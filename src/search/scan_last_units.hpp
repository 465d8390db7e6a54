#pragma once
/// The last units that a node of the search by scans (scan_explorer.cpp) keeps or drops: one or two need no
/// tree, the best are found by one scan over G, or P.
#include <cstdint>
#include <vector>

#include "search/scan_findings.hpp"
#include "search/scan_level.hpp"

namespace subspectra::search {

class ScanLastUnits {
 public:
  /// All of them must outlive it.
  ScanLastUnits(const FactorProblem& problem, const ScanCriterion& criterion, ScanFindings& findings)
      : criterion_(criterion), findings_(findings), most_(problem.uses(ExactBound::kLastPair) ? 2 : 1) {}

  /// So many last units need no tree.
  [[nodiscard]] std::int64_t most() const { return most_; }
  /// Few to drop, and fewer than to keep: the drops are scanned.
  [[nodiscard]] bool drops_first(std::int64_t more, std::int64_t less) const {
    return less <= most_ && less < more;
  }
  /// At most two more to be dropped, at least one.
  void drop(Limits& limits, const ScanLevel& at, std::int64_t less);
  /// At most two more of the units from..count-1 to be kept; `at.g`, `at.c` and f_kept are those of the node.
  void keep(Limits& limits, const ScanLevel& at, std::int64_t from, std::int64_t more);

 private:
  /// All pairs of from..count-1: kept (sign +1, block = G, rows = C) or dropped (sign -1, P, U).
  void scan_pairs(Limits& limits, const ScanLevel& at, const double* block, const double* rows,
                  std::int64_t from, double sign);
  /// The same for `largest` and `wilks`: H and G of PairForm with G scaled to a unit diagonal. What passes is
  /// evaluated from its own rows.
  void scan_pairs_of_several(Limits& limits, const ScanLevel& at, const double* block, const double* rows,
                             std::int64_t from, double sign);

  const ScanCriterion& criterion_;  ///< where it is no trace
  ScanFindings& findings_;
  std::int64_t most_;
  std::vector<double> scale_, squares_, scaled_, dot_;  ///< scratch of one scan
};

}  // namespace subspectra::search
