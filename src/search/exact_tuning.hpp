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

struct ExactTuning {
  EngineTuning engine;
  FactorTuning factor;
  PerronTuning perron;
};

}  // namespace subspectra::search
