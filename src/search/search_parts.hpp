#pragma once
/// An exact search in parts. Every part begins with the same rounds, up to the same cut, and takes some of
/// the nodes that are open there; each node is explored by itself, against the sets known at the cut. So what
/// is found in a node does not depend on which part has it. docs/scale.md
#include <string>
#include <vector>

#include "io/part_file.hpp"
#include "search/search_state.hpp"

namespace subspectra::search {

class SearchParts {
 public:
  /// `cut`: the state in which the search is cut. In the run of a part it is kept which cut that was.
  SearchParts(PartWork& work, std::string name, const SearchState& cut);

  /// The numbers of this part's nodes.
  [[nodiscard]] std::vector<std::size_t> own_nodes() const;
  [[nodiscard]] const OpenNode& node(std::size_t i) const { return nodes_[i].node; }
  /// What the search of a node has found. From any thread.
  void keep(std::size_t i, const SearchState& found);
  /// What all parts have found, in the order of the nodes, which are no longer open. Throws BadInput.
  void take_in(Index units, SearchState& state) const;

 private:
  [[nodiscard]] Index owner(std::size_t i) const { return static_cast<Index>(i) % work_.count(); }
  [[nodiscard]] std::string key(std::size_t i) const;

  PartWork& work_;
  std::string name_;
  std::vector<QueuedNode> nodes_;  ///< the largest bounds first
  std::string fingerprint_;        ///< of the cut
};

}  // namespace subspectra::search
