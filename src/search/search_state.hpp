#pragma once
/// Everything an exact search knows between two rounds: what the journal tells and a checkpoint holds.
#include <cstdint>

#include "search/incumbents.hpp"
#include "search/node_store.hpp"

namespace subspectra::search {

struct SearchState {
  SearchState(const ExactRun& run, const Cutoff& cutoff) : incumbents(run, cutoff), open(run.k) {}

  Incumbents incumbents;
  NodeStore open;
  std::uint64_t nodes = 0;              ///< visited, over all runs
  std::uint64_t incumbent_updates = 0;  ///< by the tree
  std::uint64_t round = 0;
};

}  // namespace subspectra::search
