#pragma once
/// The largest value of a smooth function over a box: L-BFGS in the variables that are free, every step
/// projected into the box.
#include <functional>

#include "core/types.hpp"

namespace subspectra {

struct BoxAscent {
  /// The value at x, a point of the box, and its gradient. What it throws ends the ascent.
  std::function<double(const Vector& x, Vector& gradient)> evaluate;
  /// Whether x is good enough. The projected gradient is 0 where a variable at a bound would leave the box.
  std::function<bool(const Vector& x, double value, const Vector& projected_gradient)> flat;
  Vector lower, upper;
  Index most_evaluations = 0;
};

enum class AscentEnd {
  kFlat,         ///< flat() said so
  kEvaluations,  ///< there were no more
  kRounding,     ///< no step along the gradient raises the value
};

/// From `start`, which is projected into the box. The values of successive steps rise.
/// Cost beside the evaluations: O(pairs n) a step, with at most 50 pairs of steps and changes of the
/// gradient.
[[nodiscard]] AscentEnd ascend(const BoxAscent& problem, const Vector& start);

}  // namespace subspectra
