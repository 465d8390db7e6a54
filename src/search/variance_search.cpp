#include "search/variance_search.hpp"

namespace subspectra {

GreedyPass forward_variance_pass(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                                 const RunControl& control) {
  return units.single ? variance::forward_features(pencil, units, options, control)
                      : variance::forward_groups(pencil, units, options, control);
}

GreedyPass backward_variance_pass(const Pencil& pencil, const SearchUnits& units,
                                  const GreedyOptions& options, const RunControl& control, RootLosses* root) {
  return units.single && pencil.b_is_identity()
             ? variance::backward_features(pencil, units, options, control, root)
             : variance::backward_decomposed(pencil, units, options, control, root);
}

}  // namespace subspectra
