#pragma once
/// A child of a node of the search by scans (scan_explorer.cpp): the node without its t-th free unit, those
/// before it kept. What leaving it costs is known in O(|F|), and closes most children before their blocks are
/// paid for.
#include <cstdint>
#include <vector>

#include "search/scan_findings.hpp"
#include "search/scan_level.hpp"

namespace subspectra::search {

/// One child at a time; its scratch is not needed across a recursion.
class ScanChild {
 public:
  /// All of them must outlive it.
  ScanChild(const FactorProblem& problem, ScanCriterion& criterion, ScanFindings& findings)
      : problem_(problem),
        criterion_(criterion),
        findings_(findings),
        singles_(problem.uses(ExactBound::kSingleDrop)) {}

  /// Child t of `at`: every size keeps k - |I| and drops one less among the units after t. False where it is
  /// closed for every size.
  [[nodiscard]] bool open(const ScanLevel& at, std::int64_t t);
  /// The sizes for which it is open.
  [[nodiscard]] const OpenSizes& sizes() const { return sizes_; }
  /// How many units it has free; the others after t are kept for good.
  [[nodiscard]] std::int64_t free_count() const { return static_cast<std::int64_t>(free_.size()); }

  /// Into `to`, which has room for all units after t: first G and C of the free units, with the others as
  /// pivots, which are kept from here on; ...
  void build_below(const ScanLevel& at, std::int64_t t, ScanLevel& to);
  /// ... then their losses, diag(P) and U; ...
  void build_losses(const ScanLevel& at, ScanLevel& to) const;
  /// ... and P.
  void build_above(const ScanLevel& at, std::int64_t t, ScanLevel& to);

 private:
  [[nodiscard]] std::int64_t droppable(std::int32_t s, std::int64_t rest);
  void compute_losses(const ScanLevel& at, std::int64_t t);
  void close_by_sums(const ScanLevel& at, std::int64_t t);
  template <class Count>
  void close_by_smallest(const ScanLevel& at, std::int64_t t, Count count, double from);

  const FactorProblem& problem_;
  ScanCriterion& criterion_;  ///< where it is no trace
  ScanFindings& findings_;
  bool singles_;
  OpenSizes sizes_;
  double f_all_ = 0.0;                     ///< f(T) of the child
  double inverse_ = 0.0;                   ///< 1/P_tt of the node
  Matrix t_all_;                           ///< T_T of the child
  std::vector<double> diag_, u_, losses_;  ///< of all units after t
  std::vector<std::int32_t> free_;         ///< places among the units after t, largest loss first
  std::vector<std::int32_t> order_;        ///< scratch, as all that follows
  std::vector<double> packed_, sums_;
  std::vector<char> marks_;
};

}  // namespace subspectra::search
