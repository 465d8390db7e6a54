#pragma once
/// Which open nodes are visited in a round, and for how many nodes each.
///
/// Where sizes can share a tree, each of several first has a tree of its own for a number of nodes
/// (Explorer::own_tree_nodes()): sizes that are easy are proven at once then. Those that are still open share
/// one tree from its top after that. A round is filled from the shared nodes and, in turn, from the sizes
/// with trees of their own; the size that comes first changes from round to round. Eslda::node_limit
/// counts the nodes of this run, so that a round is cut short rather than overrun.
#include <cstdint>
#include <optional>
#include <vector>

#include <subspectra/run_control.hpp>
#include "search/search_state.hpp"

namespace subspectra::search {

/// One node to visit.
struct NodeVisit {
  QueuedNode from;
  std::uint64_t budget;  ///< nodes, at most
};

class Scheduler {
 public:
  Scheduler(const Explorer& explorer, const SearchUnits& units, const ExactRun& run);

  /// The root of every size, with its bound: the state of a search that begins.
  void plant_roots(SearchState& state, const RunControl& control);
  /// A run that goes on from `state`, be it new or read from a checkpoint. Trees of their own are not gone
  /// on with: the nodes that sizes have had in them are in no checkpoint.
  void begin(const SearchState& state, bool resumed);
  /// Whether every size still has a tree of its own.
  [[nodiscard]] bool own_trees() const { return own_trees_; }
  [[nodiscard]] bool out_of_nodes(const SearchState& state) const;
  /// The visits of the next round, their nodes taken out of the store. Empty when every size that is open has
  /// had its share in a tree of its own: join_sizes() is to be called. Pre: !out_of_nodes().
  [[nodiscard]] std::vector<NodeVisit> next_round(SearchState& state) const;
  /// All sizes that are still open go down one tree, from the top.
  void join_sizes(SearchState& state);
  /// A visit of size k, or of k and others, has taken so many nodes.
  void count(Index k, std::uint64_t nodes);

 private:
  [[nodiscard]] double root_bound(const OpenNode& root, const RunControl& control) const;
  [[nodiscard]] std::size_t place(Index k) const { return static_cast<std::size_t>(k - run_.k.lo); }
  [[nodiscard]] bool may_go_on_alone(Index k) const;

  const Explorer& explorer_;
  const ExactRun& run_;
  Index units_;
  std::vector<std::int32_t> root_kept_, root_free_;
  bool own_trees_ = false;                     ///< every size still has a tree of its own
  std::vector<std::uint64_t> own_tree_nodes_;  ///< by size, while own_trees_
  std::uint64_t nodes_before_ = 0;             ///< of the runs that this one goes on from
};

}  // namespace subspectra::search
