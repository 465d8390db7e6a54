#include "search/top_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/perron_rows.hpp"

namespace subspectra::search {

double top_sum(const double* c, const double* d, Index n, Index m, int passes, double& t, double* next) {
  const auto note_next = [&](double weight) {
    if (next != nullptr) *next = weight;
  };
  note_next(std::numeric_limits<double>::quiet_NaN());
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
  // So many weights further down, by the distance of the two that are next to t.
  const auto lower = [&](double weight, double steps) {
    return next == nullptr ? weight : std::max(weight - steps * (above.least_above - weight), 0.5 * weight);
  };
  for (int pass = 0; pass < passes; ++pass) {
    rows::weights_above(c, d, n, t, &above);
    const double over = above.count - slots;
    if (over == 0.0) {
      note_next(above.most_below);
      t = next == nullptr ? above.least_above : lower(above.most_below, 1.0);
      return above.sum;
    }
    if (over == 1.0) {
      note_next(above.least_above);
      t = next == nullptr ? above.least_above : above.most_below;
      return above.sum - above.least_above;
    }
    if (over == -1.0 || (over < 0.0 && above.most_below == 0.0)) {
      if (above.most_below == 0.0) note_next(0.0);
      t = above.count > 0.0 ? lower(above.most_below, 2.0) : above.most_below;
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
      note_next(t);
      return few.sum + (slots - few.count) * t;
    }
    // Weights above t fall off like an exponential, or so.
    const double mean = above.count > 0.0 ? above.sum / above.count - t : 0.5 * t;
    double better = above.count > 0.0 ? t + mean * std::log(above.count / slots) : 0.5 * above.most_below;
    if (over > 0.0) {
      better = std::max(better, low_next);
    } else {
      better = std::min(better, 0.9999 * few.most_below);
    }
    if (!(better > low && better < high)) {
      better = high < kInfinity ? 0.5 * (std::max(low, 0.0) + high) : low_next;
    }
    if (pass + 1 == passes || better == t) break;
    t = better;
  }
  return above.sum + (slots - above.count) * t;
}

}  // namespace subspectra::search
