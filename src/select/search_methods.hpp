#pragma once
/// The greedy searches and simple thresholding as methods of the registry.
#include <vector>

#include "select/methods.hpp"

namespace subspectra {

struct GreedyMethodOptions {
  Index swaps = 0;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "swaps", o.swaps,
        "after the search, at every size, at most this many exchanges of one feature for another while they raise the objective; 0 for none");
  }
};

[[nodiscard]] std::vector<MethodInfo> search_methods();

/// A heuristic's status becomes optimal when the gap of every entry is closed.
void mark_proven(Selection& selection);

/// Forward and backward pass, at every size the better set, then exchanges: fills path, status and warnings.
void greedy_sets(const SelectionInput& input, const GreedyMethodOptions& own, const RunControl& control,
                 Selection& selection);

}  // namespace subspectra
