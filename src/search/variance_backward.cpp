#include "variance_search.hpp"

namespace subspectra::variance {

GreedyPass backward_features(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                             const RunControl& control, RootLosses* root) {
  return backward_decomposed(pencil, units, options, control, root);
}

}  // namespace subspectra::variance
