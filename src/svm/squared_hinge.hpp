#pragma once
/// The linear machine with squared hinge losses, solved to rounding by Newton's method on its pieces: from
/// the rows or from their inner products. It is what LIBLINEAR solves for `classifier` svm, for callers that
/// train thousands of machines which differ little (docs/methods/svm.md).
#include <optional>

#include "core/types.hpp"

namespace subspectra {

/// min over w, b of  |w|^2/2 + C sum_i max(0, 1 - y_i (w'z_i + b))^2. The losses are quadratic as long as the
/// set I = {i: y_i f_i < 1} stays as it is, where
///     (G_II + I/(2 C)) a_I + b 1 = y_I,   w = sum_i a_i z_i,   G = Z Z';
/// a step goes towards the solution for the I of now, as far as the objective falls, and the method ends
/// after finitely many when the solution has the I it was computed for.
struct Machine {
  Vector a;  ///< n: 2 C y_i times the loss's argument; 0 outside I
  Vector w;  ///< p; empty from inner products
  double b = 0.0;
  double objective = 0.0;
  double squared_norm = 0.0;  ///< |w|^2
  int steps = 0;
  bool converged = false;
};

/// From G (n x n, both triangles, positive semidefinite). The offset is free, with sum a_i = 0; a penalized
/// one, b^2/2 beside |w|^2/2, is had by `free_offset = false` and G + 11' for G: b is then sum a_i, which
/// the caller takes, and |w|^2 includes b^2. `start`: 0, or the a of a similar problem, whose I is tried
/// first.   |I|^3/3 flops a step.
[[nodiscard]] Machine machine_from_products(const MatrixRef& g, const VectorRef& y, double cost,
                                            bool free_offset, const Vector& start = {});

/// From the rows (n x p; a penalized offset is a column of ones).   n p^2 + p^3/3 flops a step.
[[nodiscard]] Machine machine_from_rows(const MatrixRef& z, const VectorRef& y, double cost,
                                        const Vector& start = {});

}  // namespace subspectra
