#pragma once
/// Simple thresholding (ST): the features with the largest loadings of the global eigenvector of (A, B).
#include <array>
#include <vector>

#include <subspectra/searches.hpp>

#include "spectral/pencil.hpp"

namespace subspectra {

/// The leading generalized eigenvector of (A, B) over `features`: x with x'Bx = 1 (its rows in their order),
/// or y = B^{1/2} x. Tables with fewer rows than features are worked on through their rows. Throws Infeasible
/// when B is singular.   O(n^3), or O(N^2 n) through the rows.
[[nodiscard]] Vector global_vector(const Pencil& pencil, const std::vector<Index>& features,
                                   ThresholdOn which, int threads);

}  // namespace subspectra
