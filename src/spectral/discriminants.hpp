#pragma once
/// The generalized eigenproblem of a factor pencil on one set of features: M M' x = lambda B x, x'B x = 1.
#include <subspectra/options.hpp>
#include "core/types.hpp"

namespace subspectra {

struct Discriminants {
  Vector values;   ///< r generalized eigenvalues, descending
  Matrix vectors;  ///< k x r, X'B X = I, the largest entry of each column positive
};

/// Pre: `l` (k x k) is the lower Cholesky factor of B, `c` (k x q) is L^{-1} M. Then the values are the
/// squared singular values of C and the vectors L^{-T} U. At most `components` are given (0: min(k, q));
/// values below 1e-15 of the largest are rounding and left out, so r may be smaller. Cost: O(k q^2 + k^2 r).
[[nodiscard]] Discriminants discriminants_from_factor(const MatrixRef& l, const MatrixRef& c,
                                                      Index components);

/// How many of the singular values of C (descending) stand for discriminants of a set of `size` features.
[[nodiscard]] Index count_discriminants(const VectorRef& singular_values, Index size, Index components);

/// The criterion of T = M'B^{-1}M from its nonzero eigenvalues.
[[nodiscard]] double criterion_value(Criterion criterion, const VectorRef& values);

/// A pivot of a Cholesky factorisation below this fraction of the diagonal entry it came from means that the
/// feature is a linear combination of those before it, to rounding.
inline constexpr double kDependentPivot = 1e-12;

}  // namespace subspectra
