#pragma once
/// The path of a ranking: nested sets, each with its objective and loadings recomputed from the data.
#include <vector>

#include "subspectra/select/methods.hpp"

namespace subspectra {

/// Walks down `order` and lets a Cholesky factor of B + ridge I grow with it: w = L^{-1} B_{S,i},
/// d = B_ii - |w|^2, C_i = M_i - w'C_S, so that T_S = C_S'C_S for every prefix (DESIGN: T_{S+i} = T_S + C_i
/// C_i'/d). A feature that depends linearly on those before it (d <= 1e-12 B_ii) is passed over and named in
/// the warnings; when k.hi cannot be reached the status is rank_limit. Needs |S|^2 numbers for the largest
/// set, never p^2.
void score_nested_path(const SelectionInput& input, const std::vector<Index>& order, double ridge,
                       Selection& selection);

}  // namespace subspectra
