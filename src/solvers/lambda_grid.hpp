#pragma once
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// `count` numbers from `largest` down to `ratio` times it, evenly spaced in their logarithm.
[[nodiscard]] std::vector<double> lambda_grid(double largest, double ratio, Index count);

}  // namespace subspectra
