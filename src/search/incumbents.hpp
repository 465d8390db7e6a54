#pragma once
/// The best sets known of every size, and what follows from them: which bounds close a node, and what is
/// proven so far.
///
/// Values are in the scale of the search (Explorer::monotone_image_to_criterion()). Only the thread that runs
/// the engine touches this; visits search with copies of the pools and hand back SizeFindings.
#include <vector>

#include <subspectra/run_control.hpp>
#include "search/exact_tuning.hpp"
#include "search/explorer.hpp"

namespace subspectra::search {

class Incumbents {
 public:
  struct Size {
    Index k = 0;
    Pool pool{1};
    /// The largest bound that was closed because of Eslda::gap alone: a set as good as this may exist.
    double discarded = -kInfinity;
  };

  /// No set is known of any size.
  Incumbents(const ExactRun& run, const Cutoff& cutoff);

  [[nodiscard]] const std::vector<Size>& sizes() const { return sizes_; }
  [[nodiscard]] const Size& of(Index k) const {
    return sizes_[static_cast<std::size_t>(k - sizes_.front().k)];
  }

  /// Sets known beforehand: start[i] of the i-th size. Their values are computed anew.
  void offer_start(const std::vector<std::vector<RankedSet>>& start, const Explorer& explorer);
  /// A local search from the best set of every size (CheapestLosses). What it meets enters the pools.
  void improve_by_exchanges(const Explorer& explorer, const SearchUnits& units, const ExchangeTuning& tuning,
                            int threads, const RunControl& control);
  /// The same by Detours for the sizes marked in `which` (by size). Returns the sizes that have a better set
  /// now.
  [[nodiscard]] std::vector<Index> improve_by_detours(const std::vector<char>& which,
                                                      const Explorer& explorer, const SearchUnits& units,
                                                      const ExchangeTuning& tuning, int threads,
                                                      const RunControl& control);
  /// Of sets that tie the one with the lowest units is the answer. A tie closes a node, so that the tree need
  /// not have met it (LowestOfTies).
  void prefer_lowest_of_ties(const Explorer& explorer, const SearchUnits& units);
  /// What a visit found for one size; whether the best set is a better one now.
  bool merge(Index k, const SizeFindings& found);

  /// Whether what is known closes a bound of size k. What Eslda::gap alone closes is remembered
  /// (Size::discarded).
  bool closes(Index k, double bound);
  /// No set of size k is better. `open`: the largest bound of its open nodes, or -infinity.
  [[nodiscard]] double upper_bound(Index k, double open) const;
  /// Whether bounds were discarded that this run, with its gap, would have to look into.
  [[nodiscard]] bool discarded_too_much(Index k) const;

  /// Sets of size k that another search found, with their values.
  void offer(Index k, const std::vector<RankedSet>& sets);

  /// Of a checkpoint: `sizes` has the same k in the same order.
  void restore(std::vector<Size> sizes) { sizes_ = std::move(sizes); }

 private:
  [[nodiscard]] Size& at(Index k) { return sizes_[static_cast<std::size_t>(k - sizes_.front().k)]; }

  Cutoff cutoff_;
  std::vector<Size> sizes_;
};

}  // namespace subspectra::search
