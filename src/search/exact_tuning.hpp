#pragma once
/// The numbers that the exact search is tuned by. None of them decides what is proven or what the best set
/// is; they decide how soon. All of them stand here, so that a bench can vary one and see what it is worth
/// (ExactHooks::tuning); how the defaults were found is in docs/performance.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/memory.hpp"
#include "core/types.hpp"

namespace subspectra::search {

/// The local search before the first round (exchange_search.hpp).
struct ExchangeTuning {
  std::size_t leaving = 4;        ///< units that may leave: those whose loss costs least
  Index most = 50;                ///< exchanges a size
  Index detour = 4;               ///< units that enter before as many leave, or the other way round, at most
  double affordable_flops = 2e8;  ///< units times k^3, the flops of a look; beyond, none is made
};

/// Rounds, memory and the log (scheduler.hpp, node_store.hpp, journal.hpp).
struct EngineTuning {
  ExchangeTuning exchange;
  double heartbeat_s = 5.0;  ///< between two signs of life in the log
  /// Of the memory that may be used: open nodes take this much before the newest are visited first. With a
  /// checkpoint less: it is written from a copy, by way of a tree of JSON values and a text.
  double open_nodes_share = 0.5, open_nodes_share_with_checkpoint = 0.1;
  double visits_share = 0.5;  ///< of the memory, for the matrices of all visits at a time
  /// Visits of a round, the fewer the larger the problem: a round should be a few seconds of work, between
  /// which the engine saves, logs and looks at the clock.
  Index small_features = 150, medium_features = 1000;
  std::size_t small_visits = 32, medium_visits = 8, large_visits = 2;
  /// Bytes that one visit may take for the nodes above the one it is at: at most this, and this part of the
  /// memory. A fixed share, however many threads there are: what a visit hands back must not depend on them.
  double most_level_bytes = 0x1p28, level_share = 1.0 / 32.0;

  [[nodiscard]] std::size_t visits(Index features) const {
    return features <= small_features    ? small_visits
           : features <= medium_features ? medium_visits
                                         : large_visits;
  }
  [[nodiscard]] double level_bytes(std::uint64_t memory_limit) const {
    // Of the limit as it was given: what is left of it differs by some pages from run to run.
    const std::uint64_t whole = memory_limit > 0 ? memory_limit : memory_budget();
    return std::min(most_level_bytes, static_cast<double>(whole) * level_share);
  }
};

/// The explorers of a factor pencil: by scans (scan_explorer.cpp) or by blocks (block_explorer.cpp).
struct FactorTuning {
  /// Nodes a visit for up to `full_features` features. Beyond, as many fewer as a node costs more, O(n^2),
  /// but no less than `least_share` of it.
  double scan_nodes = 2000.0, block_nodes = 200.0;
  double full_features = 60.0, least_share = 1.0 / 32.0;
  /// Visits' worth of nodes that each of several sizes gets in a tree of its own: half a second or less.
  std::uint64_t scan_own_visits = 16, block_own_visits = 160;
  /// Entries of blocks that are passed over between two looks at the clock: about a millisecond.
  std::int64_t entries_between_looks = 1'000'000;
  Index most_scanned = 16;        ///< discriminants of `largest` and `wilks`; beyond, blocks
  Index most_for_minorant = 150;  ///< features; the minorant of the sums takes two dozen steps of O(n^3)
};

/// The explorer of sparse PCA (perron_explorer.cpp). Of a scaling d only its largest entry counts as 1.
struct PerronTuning {
  int sweeps = 16;            ///< at most, at a node
  int root_sweeps = 40;       ///< where the bound itself is asked for
  double patience = 3.0;      ///< sweeps that at the pace of the last one must reach the cut
  double progress = 1e-4;     ///< relative: a sweep that gains less is the last
  double smallest_d = 1e-12;  ///< of a scaling, relative to its largest entry: any d > 0 is valid
  int threshold_passes = 12;  ///< over a row, to find its threshold
  /// Relative: a pivot below it counts as lambda being no larger than lambda_max(A_I).
  double least_pivot = 1e-10;
  /// A superset is worth a factorization up to factor times the missing units and so many rows more.
  Index superset_factor = 8, superset_rows = 64;
  // Floors under the eigenvalues of C.
  int floor_sweeps = 5, floor_steps = 6;
  double floor_work = 10.0;   ///< entries read, over n^3, before a floor is tried without evidence for it
  double floor_shrink = 0.9;  ///< of the free or the missing units, before it is raised again
  double floor_gain = 0.5;    ///< of the way from the bound of C to the cut: what a floor must bring
  Index floor_left = 4;       ///< missing units, at least
  /// Rows, at most: a stop waits for the eigenvectors, half a second; beyond, sweeps are long, too.
  Index floor_rows = 1000;
  double halfway = 1.02;    ///< a bound this far above the cut is worth lowering for its own sake
  double visit_work = 2e7;  ///< nodes a visit: this over n^2, and less from `full_features` on
  double full_features = 300.0, least_nodes = 4.0, most_nodes = 4096.0;
  double slow_matrix = 2000.0;  ///< features: from here on the matrix takes a tenth of a second and more
};

/// The search that tries all pairs and triples (sweep_explorer.cpp).
struct SweepTuning {
  Index most_matrix = 4000;   ///< candidates; beyond, pairs come from blocks and B is no matrix
  double visit_sets = 2e10;   ///< pairs or triples a visit
  double block_flops = 2e11;  ///< a visit, where B comes by blocks
  Index batch = 16;           ///< blocks of first features that are scanned for the same threshold
  Index pair_block = 512, pair_panel = 512;  ///< features, where B comes by blocks
  std::size_t visits = 16;                   ///< of a round
  Index children = 64;                       ///< that a visit makes of a node that is too large to scan
  double promising = 2.0;  ///< the bound of a node, as a multiple of what is known, that is worth lowering
  /// Sets that were found above the threshold before it is raised by what they are worth; and before ties
  /// with it are no longer looked at one by one.
  std::int64_t found_before_raise = 20'000, ties_looked_at = 400'000;
  // Which search: this one, where all sets are at most so many times the cube of the candidates, ...
  double sets_per_cube = 40.0;
  Index least_candidates = 151;  ///< ... from so many candidates on
};

struct ExactTuning {
  EngineTuning engine;
  FactorTuning factor;
  PerronTuning perron;
  SweepTuning sweep;
};

}  // namespace subspectra::search
