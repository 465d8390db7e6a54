#include "search/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace subspectra::search {

void Journal::tell(Index k, std::string_view source) const {
  if (!control_.hears_events()) return;
  const auto& sizes = state_.incumbents.sizes();
  const double open = state_.open.open_bounds()[static_cast<std::size_t>(k - sizes.front().k)];
  const double best = state_.incumbents.of(k).pool.best();
  control_.event({.k = k,
                  .source = source,
                  .nodes = state_.nodes,
                  .open = state_.open.count(),
                  .incumbent = explorer_.monotone_image_to_criterion(best),
                  .bound = explorer_.monotone_image_to_criterion(state_.incumbents.upper_bound(k, open)),
                  .elapsed_s = control_.elapsed_s()});
}

void Journal::tell_start() const {
  for (const auto& size : state_.incumbents.sizes()) {
    if (!size.pool.sets().empty()) tell(size.k, "greedy");
  }
}

void Journal::tell_closed() {
  const auto& sizes = state_.incumbents.sizes();
  told_closed_.resize(sizes.size(), false);
  const auto open = state_.open.open_bounds();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (told_closed_[i] || open[i] > -kInfinity || sizes[i].pool.sets().empty()) continue;
    told_closed_[i] = true;
    tell(sizes[i].k, "done");
  }
}

void Journal::heartbeat() {
  const double now_s = control_.elapsed_s();
  if (now_s - last_heartbeat_s_ >= heartbeat_s_) {
    last_heartbeat_s_ = now_s;
    const auto open = state_.open.open_bounds();
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] > -kInfinity) tell(state_.incumbents.sizes()[i].k, "-");
    }
  }
  control_.report("exact search", -1.0, [this] { return progress(); });
}

/// Of the sizes that are open the one with the widest gap.
std::string Journal::progress() const {
  const auto& sizes = state_.incumbents.sizes();
  const Incumbents::Size* widest = nullptr;
  double widest_gap = -1.0, widest_bound = 0.0;
  std::size_t done = 0;
  const auto open = state_.open.open_bounds();
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i] == -kInfinity) {
      ++done;
      continue;
    }
    const double best = sizes[i].pool.best(), bound = state_.incumbents.upper_bound(sizes[i].k, open[i]);
    const double gap = (bound - best) / std::max(best, 1e-300);
    if (gap > widest_gap) {
      widest_gap = gap;
      widest_bound = bound;
      widest = &sizes[i];
    }
  }
  if (widest == nullptr) return {};
  const double best = explorer_.monotone_image_to_criterion(widest->pool.best());
  const double bound = explorer_.monotone_image_to_criterion(widest_bound);
  return fmt::format("{}/{} sizes proven, {} nodes; k {}  incumbent {:.6g}  bound {:.6g}  gap {:.2f} %", done,
                     sizes.size(), state_.nodes, widest->k, best, bound,
                     best > 0.0 ? 100.0 * (bound - best) / best : 0.0);
}

}  // namespace subspectra::search
