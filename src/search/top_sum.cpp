#include "search/top_sum.hpp"

#include <algorithm>
#include <cmath>

#include "search/perron_rows.hpp"

namespace subspectra::search {

double top_sum(const double* c, const double* d, Index n, Index m, int passes, double& t, bool aim_below) {
  if (m <= 0) {
    t = kInfinity;
    return 0.0;
  }
  const double slots = static_cast<double>(m);
  if (!(t < kInfinity)) t = 0.0;
  double low = -1.0, high = kInfinity;  // thresholds with too many above, too few
  double low_next = -1.0;               // the weight next to `low`
  rows::Above above, few;               // at the last t, at `high`
  few.most_below = kInfinity;
  for (int pass = 0; pass < passes; ++pass) {
    rows::weights_above(c, d, n, t, &above);
    const double over = above.count - slots;
    if (over == 0.0 || over == 1.0) {
      const double sum = over == 0.0 ? above.sum : above.sum - above.least_above;
      t = aim_below && over == 0.0 ? above.most_below : above.least_above;
      return sum;
    }
    if (over == -1.0 || (over < 0.0 && above.most_below == 0.0)) {
      t = above.most_below;
      return above.sum + above.most_below;
    }
    if (over > 0.0) {
      low = t;
      low_next = above.least_above;
    } else {
      high = t;
      few = above;
    }
    if (low_next >= few.most_below) {  // all weights in between are the same
      t = few.most_below;
      return few.sum + (slots - few.count) * t;
    }
    // Weights above t fall off like an exponential, or so.
    const double mean = above.count > 0.0 ? above.sum / above.count - t : 0.5 * t;
    double next = above.count > 0.0 ? t + mean * std::log(above.count / slots) : 0.5 * above.most_below;
    if (over > 0.0) {
      next = std::max(next, low_next);
    } else {
      next = std::min(next, 0.9999 * few.most_below);
    }
    if (!(next > low && next < high)) {
      next = high < kInfinity ? 0.5 * (std::max(low, 0.0) + high) : low_next;
    }
    if (pass + 1 == passes || next == t) break;
    t = next;
  }
  return above.sum + (slots - above.count) * t;
}

}  // namespace subspectra::search
