#pragma once
/// Basis pursuit,
///     min |beta|_1  subject to  R beta = b,     dual:  max b'y  subject to  |R'y|_inf <= 1,
/// R (r x p) with orthonormal rows. Two routes to the same optimum. Both end in a crossover: the equations
/// are solved again on the columns that were found, with our own factors, and the dual vector is checked
/// against every column, so that what is reported does not rest on the tolerances of the route.
#include <vector>

#include "core/run_control.hpp"
#include "core/types.hpp"

namespace subspectra {

struct BasisPursuitOptions {
  double tolerance = 1e-9;        ///< stop when value - bound <= tolerance * value
  Index max_iterations = 50'000;  ///< pivots, or splitting steps
  int threads = 0;
};

struct BasisPursuitSolution {
  std::vector<Index> support;  ///< ascending
  Vector values;               ///< beta on the support
  double value = 0.0;          ///< |beta|_1
  double bound = 0.0;          ///< b'y/max(1, |R'y|_inf) <= the optimum
  Vector dual;                 ///< y/max(1, |R'y|_inf), r
  Index iterations = 0;
  bool converged = false;     ///< the tolerance was reached
  std::vector<double> trace;  ///< the best value so far, after every round
};

/// Simplex (Clp) on a working set of columns, to which the columns that the dual vector violates are added
/// until there are none: a pivot costs r times the working set, and all p columns are read once a round.
[[nodiscard]] BasisPursuitSolution basis_pursuit_simplex(const Matrix& r, const Vector& b,
                                                         const BasisPursuitOptions& options,
                                                         const RunControl& control);

/// Alternating directions (Boyd et al. 2011, Section 6.2): every step is two products with R, whatever r.
[[nodiscard]] BasisPursuitSolution basis_pursuit_splitting(const Matrix& r, const Vector& b,
                                                           const BasisPursuitOptions& options,
                                                           const RunControl& control);

}  // namespace subspectra
