#pragma once
/// What a visit by scans (scan_explorer.cpp) has to beat at every size, the units it keeps, and what it finds
/// and leaves for the engine.
#include <cstdint>
#include <vector>

#include "search/factor_problem.hpp"
#include "search/scan_level.hpp"

namespace subspectra::search {

class ScanFindings {
 public:
  /// All of them must outlive it.
  ScanFindings(const FactorProblem& problem, const OpenNode& node, const Cutoff& cutoff,
               VisitFindings& findings);

  /// A size by its place in the visit's list.
  [[nodiscard]] std::size_t sizes() const { return sizes_.size(); }
  [[nodiscard]] Limits& limits(std::int32_t s) { return sizes_[static_cast<std::size_t>(s)].limits; }
  /// Units that size s still needs beyond the kept ones.
  [[nodiscard]] std::int64_t more_of(std::int32_t s) const {
    return sizes_[static_cast<std::size_t>(s)].k - static_cast<std::int64_t>(kept_.size());
  }

  [[nodiscard]] std::size_t kept() const { return kept_.size(); }
  void keep(std::int32_t unit) { kept_.push_back(unit); }
  /// Back to the first `count` kept units.
  void keep_first(std::size_t count) { kept_.resize(count); }

  [[nodiscard]] std::uint64_t nodes() const { return findings_.nodes; }
  void count_node() { ++findings_.nodes; }

  /// The kept units and `count` more.
  void offer(Limits& limits, const std::int32_t* more, std::int64_t count);
  /// The kept units and all free ones but the one at i.
  void offer_without(Limits& limits, const ScanLevel& at, std::int64_t i);
  /// The kept units and a pair of the free ones (sign +1), or all of those but the pair (sign -1).
  void offer_pair(Limits& limits, const ScanLevel& at, std::int64_t i, std::int64_t j, double sign);
  /// The same where only the value from scratch says whether it is worth it.
  void offer_pair_if_open(Limits& limits, const ScanLevel& at, std::int64_t i, std::int64_t j, double sign);

  /// The end of child t for size s, whose bound does not beat what is known.
  void close_child(const ScanLevel& at, std::int64_t t, std::int32_t s);
  /// What is left of a node when the visit ends: one node, with t.. free.
  void hand_back(const ScanLevel& at, std::int64_t t);

 private:
  /// Ascending.
  [[nodiscard]] std::vector<Index> kept_and(const std::int32_t* more, std::int64_t count) const;
  [[nodiscard]] std::vector<Index> kept_and_all_but(const ScanLevel& at, std::int64_t i,
                                                    std::int64_t j) const;
  [[nodiscard]] std::vector<Index> by_pair(const ScanLevel& at, std::int64_t i, std::int64_t j,
                                           double sign) const;
  void offer_units(Limits& limits, std::vector<Index> units);

  const FactorProblem& problem_;
  VisitFindings& findings_;
  std::vector<VisitSize> sizes_;
  std::vector<std::int32_t> kept_;
};

}  // namespace subspectra::search
