#pragma once
/// Largest roots of the secular equations of a matrix that gets a border and of one that loses a row and a
/// column, measured from the largest eigenvalue Lambda_1,
/// so that a change of 1e-14 Lambda_1 still has all its digits. The poles Lambda_j are given by their gaps
/// g_j = Lambda_1 - Lambda_j >= 0, ascending, g_0 = 0, with weights w_j >= 0.
#include <algorithm>
#include <cmath>

#include "core/types.hpp"

namespace subspectra::secular {

/// A border (z, corner) is added to a matrix: Lambda_1 + delta is the largest root of
///     lambda = corner + sum_j w_j/(lambda - Lambda_j),   w_j = z_j^2,
/// that is f(delta) = offset + delta - sum_j w_j/(delta + g_j) = 0 with offset = Lambda_1 - corner. Returns
/// delta >= 0. f increases and is concave: Newton's method from the left never passes the root.
[[nodiscard]] inline double rise(double offset, const double* gap, const double* weight, Index poles) {
  // With the weights of the first j poles all at the farthest of them the root is smaller: a start from the
  // left that is right up to one pole.
  double delta = std::max(0.0, -offset);
  double together = 0.0;
  for (Index j = 0; j < poles; ++j) {
    together += weight[j];
    const double sum = offset + gap[j], excess = together - offset * gap[j];
    if (!(excess > 0.0)) continue;
    const double root = std::sqrt((offset - gap[j]) * (offset - gap[j]) + 4.0 * together);
    delta = std::max(delta, sum > 0.0 ? 2.0 * excess / (sum + root) : 0.5 * (root - sum));
  }
  for (int iteration = 0; iteration < 100; ++iteration) {
    double f = offset + delta, slope = 1.0;
    for (Index j = 0; j < poles; ++j) {
      if (weight[j] == 0.0) continue;
      const double inverse = 1.0 / (delta + gap[j]);
      const double term = weight[j] * inverse;
      f -= term;
      slope += term * inverse;
    }
    if (!(f < 0.0)) break;
    const double next = delta - f / slope;
    if (!(next > delta * (1.0 + 4e-16))) break;
    delta = next;
  }
  return delta;
}

/// A row and its column are deleted from a matrix: Lambda_1 - delta is the largest root of
/// sum_j w_j/(Lambda_j - lambda) = 0 with w_j the squared entries of the eigenvectors in that row, that is
/// delta H(delta) = w_0 with H(delta) = far + sum_{j>0} w_j/(g_j - delta), where `far` stands for poles so
/// far away that what they add does not change. Returns delta in [0, g_1]. The left side increases and is
/// convex: Newton's method from the right never passes the root.
[[nodiscard]] inline double drop(const double* gap, const double* weight, Index poles, double far = 0.0) {
  if (poles < 2 || weight[0] <= 0.0 || gap[1] <= 0.0) return 0.0;
  double delta = gap[1], h0 = far;
  for (Index j = 1; j < poles; ++j) {
    if (weight[j] <= 0.0) continue;
    h0 += weight[j] / gap[j];
    delta = std::min(delta, gap[j] * (weight[0] / (weight[0] + weight[j])));
  }
  if (h0 * delta > weight[0]) delta = weight[0] / h0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    double h = far, slope = 0.0;
    for (Index j = 1; j < poles; ++j) {
      if (weight[j] <= 0.0) continue;
      const double inverse = 1.0 / (gap[j] - delta);
      const double term = weight[j] * inverse;
      h += term;
      slope += term * inverse;
    }
    const double f = delta * h - weight[0];
    if (!(f > 0.0)) break;
    const double next = delta - f / (h + delta * slope);
    if (!(next < delta * (1.0 - 4e-16)) || !(next > 0.0)) break;
    delta = next;
  }
  return delta;
}

}  // namespace subspectra::secular
