#pragma once
/// Variational renormalization (ICML06, Proposition 2): given any support, however it was found, the loadings
/// on it that maximize the criterion are the leading generalized eigenvectors of (A_S, B_S). It never lowers
/// the quotient of the vector it replaces.
#include <vector>

#include <subspectra/options.hpp>
#include "core/types.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

struct Renormalized {
  double objective = 0.0;       ///< the criterion on the set
  Discriminants discriminants;  ///< values and loadings (k x r, rows in the order of the support)
};

/// Pre: `support` ascending, without repeats. `components` cuts the number of loadings (0: all r; one for a
/// pencil without a factor). Throws Infeasible when B_S is singular to rounding.   O(k^3 + what the blocks
/// cost).
[[nodiscard]] Renormalized renormalize(const Pencil& pencil, const std::vector<Index>& support,
                                       Criterion criterion, Index components, int threads);

/// R(x) = x'A_S x / x'B_S x of loadings x on a support; 0 for x = 0.
[[nodiscard]] double rayleigh_quotient(const Pencil& pencil, const std::vector<Index>& support,
                                       const VectorRef& x, int threads);

}  // namespace subspectra
