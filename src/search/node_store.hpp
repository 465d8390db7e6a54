#pragma once
/// The open nodes of an exact search, and which of them comes next.
///
/// A node that serves one size waits in the heap of that size, one that serves several in a common list. The
/// largest bound comes first, which lowers the proven bound soonest; when the nodes fill their share of the
/// memory the newest comes first, and their number stops growing. Which node comes next depends on bounds and
/// on the order of creation alone, so that a search is the same for any number of threads, and after a
/// checkpoint. Every node is known by a number in the order of creation.
///
/// Not thread-safe: only the thread that runs the engine touches it.
#include <cstdint>
#include <vector>

#include "search/explorer.hpp"
#include "search/incumbents.hpp"

namespace subspectra::search {

struct QueuedNode {
  OpenNode node;
  std::uint64_t sequence = 0;  ///< in the order of creation
};

class NodeStore {
 public:
  explicit NodeStore(const KRange& sizes);

  /// A new node, where it belongs: with its size, or among those of several.
  void add(OpenNode node);
  /// The next node of size k alone, taken out. Pre: there is one.
  [[nodiscard]] QueuedNode take(Index k);
  /// At most `count` nodes of several sizes, taken out: for every size in turn, another one first in every
  /// round, the one with the largest bound of that size, so that none waits for another; the newest where the
  /// store is full.
  [[nodiscard]] std::vector<QueuedNode> take_shared(std::size_t count, std::uint64_t round);
  /// Forgets the nodes that serve size k alone.
  void clear(Index k);

  /// Takes off what the sets known now close: the sizes of shared nodes (one with a single size left goes to
  /// it, one with none is gone) ...
  void drop_closed_shared(Incumbents& incumbents);
  /// ... and the next nodes of one size, or of all, down to the first that is open.
  void drop_closed(Index k, Incumbents& incumbents);
  void drop_closed(Incumbents& incumbents);
  /// Whether a node is left that is not closed; drops closed ones until it is sure.
  [[nodiscard]] bool anything_open(Incumbents& incumbents);

  /// From now on the newest node first.
  void go_depth_first();
  [[nodiscard]] bool depth_first() const { return depth_first_; }

  [[nodiscard]] double bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t count() const;
  /// The largest bound among the open nodes of every size; -infinity: the size has none. O(nodes).
  [[nodiscard]] std::vector<double> open_bounds() const;
  [[nodiscard]] bool has(Index k) const { return !of(k).empty(); }  ///< a node of this size alone
  [[nodiscard]] const std::vector<QueuedNode>& of(Index k) const { return own_[place(k)]; }
  [[nodiscard]] const std::vector<QueuedNode>& shared() const { return shared_; }
  [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }

  /// Of a checkpoint: the nodes of every size alone, those of several, and the next number.
  void restore(std::vector<std::vector<QueuedNode>> own, std::vector<QueuedNode> shared,
               std::uint64_t next_sequence);

 private:
  [[nodiscard]] std::size_t place(Index k) const { return static_cast<std::size_t>(k - sizes_.lo); }
  [[nodiscard]] std::vector<std::size_t> best_of_sizes(const std::vector<char>& taken,
                                                       std::uint64_t round) const;

  KRange sizes_;
  std::vector<std::vector<QueuedNode>> own_;  ///< heaps, by size
  std::vector<QueuedNode> shared_;            ///< nodes that serve several sizes, in no order
  std::uint64_t next_sequence_ = 0;
  double bytes_ = 0.0;
  bool depth_first_ = false;
};

}  // namespace subspectra::search
