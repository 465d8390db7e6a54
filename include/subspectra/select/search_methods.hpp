#pragma once
/// The greedy searches and simple thresholding as methods of the registry.
#include <vector>

#include "subspectra/select/methods.hpp"

namespace subspectra {

struct GreedyMethodOptions {
  Index swaps = 0;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "swaps", o.swaps,
        "after the search, at every size, at most this many exchanges of one feature for another while they "
        "raise the objective; 0 for none");
  }
};

[[nodiscard]] std::vector<MethodInfo> search_methods();

}  // namespace subspectra
