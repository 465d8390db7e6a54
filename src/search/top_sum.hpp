#pragma once
/// The sum of the m largest of w_j = |c_j| d_j without sorting: it is the least m t + sum_j (w_j - t)+ over
/// t >= 0, and any t between the m-th and the (m + 1)-th largest gives the sum itself. One vectorized pass a
/// t; from a good guess one pass does.
#include "core/types.hpp"

namespace subspectra::search {

/// The sum, or (after the last of `passes`) a little more. `t` on entry is a guess, and then what gave the
/// sum: about the m-th largest. With `next` that becomes the (m + 1)-th largest, which the sum of one more
/// takes, or NaN where the passes did not show it, and `t` is lowered for a caller whose m grows. n a
/// multiple of rows::kLanes; c zero where there is nothing.
[[nodiscard]] double top_sum(const double* c, const double* d, Index n, Index m, int passes, double& t,
                             double* next = nullptr);

}  // namespace subspectra::search
