#pragma once
/// The largest eigenvalue of diag(t) + s z z' (s = +1 or -1) for small diagonal t, by its secular equation.
#include "core/types.hpp"

namespace subspectra::search {

/// Pre: t descending (r >= 1), squares = z_j^2 >= 0. The largest root of 1 = s sum_j squares_j/(lambda -
/// t_j); with s = -1 it lies in [t_2, t_1] (any t_2 for r = 1). Newton on a concave function from the left (s
/// = +1), on a convex one from the right (s = -1): both converge monotonically. Cost: 2 r flops an iteration,
/// few of them. Relative accuracy of the distance to t_1: a few rounding errors.
[[nodiscard]] double largest_after_rank_one(const VectorRef& t, const VectorRef& squares, double sign);

/// Upper bounds on that eigenvalue for many z, from the two largest t alone: a2 = (v_1'z)^2, b2 = |z|^2 - a2,
/// raised by what they can lose to rounding.
[[nodiscard]] Vector two_pole_bounds(double t1, double t2, const Vector& a2, const Vector& b2, double sign);

}  // namespace subspectra::search
