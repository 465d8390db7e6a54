#pragma once
/// What the selection methods are compared with: every feature (all), principal components (pca) and the
/// signed means of shaved sets (gene-shaving), as methods of the registry. docs/methods/components.md
#include <vector>

#include "search/gene_shaving.hpp"
#include "select/methods.hpp"

namespace subspectra {

struct GeneShavingMethodOptions {
  double shave = GeneShavingOptions{}.shave;
  Index permutations = GeneShavingOptions{}.permutations;

  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("shave", o.shave, "share of the features dropped in a step");
    field("permutations", o.permutations, "permuted tables that the size of a set is judged against");
  }
};

[[nodiscard]] std::vector<MethodInfo> component_methods();

}  // namespace subspectra
