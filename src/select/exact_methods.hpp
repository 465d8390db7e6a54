#pragma once
/// The exact searches, eslda and espca, as methods of the registry.
#include <string>
#include <vector>

#include "select/methods.hpp"

namespace subspectra {

struct ExactMethodOptions {
  Index pool = 1;
  double gap = 0.0;
  std::uint64_t node_limit = 0;
  std::string checkpoint;
  double checkpoint_every = 60.0;
  std::string resume;

  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("pool", o.pool, "so many of the best distinct sets of every size, proven when the search is");
    field("gap", o.gap, "stop at every size as soon as no set can be better by more than this fraction");
    field("node_limit", o.node_limit, "stop after so many nodes of the search tree; 0 for no limit");
    field("checkpoint", o.checkpoint,
          "file that receives the state of the search, now and then and when it is stopped");
    field("checkpoint_every", o.checkpoint_every, "seconds between two checkpoints");
    field("resume", o.resume, "go on from this file, a checkpoint of the same data and options");
  }
};

[[nodiscard]] std::vector<MethodInfo> exact_methods();

}  // namespace subspectra
