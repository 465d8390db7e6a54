#include "search/scan_findings.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace subspectra::search {

ScanFindings::ScanFindings(const FactorProblem& problem, const OpenNode& node, const Cutoff& cutoff,
                           VisitFindings& findings)
    : problem_(problem), findings_(findings), sizes_(sizes_of(node, cutoff, findings)), kept_(node.kept) {}

std::vector<Index> ScanFindings::kept_and(const std::int32_t* more, std::int64_t count) const {
  std::vector<Index> units(kept_.begin(), kept_.end());
  units.insert(units.end(), more, more + count);
  std::sort(units.begin(), units.end());
  return units;
}

std::vector<Index> ScanFindings::kept_and_all_but(const ScanLevel& at, std::int64_t i, std::int64_t j) const {
  std::vector<Index> units(kept_.begin(), kept_.end());
  for (std::int64_t a = 0; a < at.count; ++a) {
    if (a != i && a != j) units.push_back(at.ids[static_cast<std::size_t>(a)]);
  }
  std::sort(units.begin(), units.end());
  return units;
}

std::vector<Index> ScanFindings::by_pair(const ScanLevel& at, std::int64_t i, std::int64_t j,
                                         double sign) const {
  if (!(sign > 0.0)) return kept_and_all_but(at, i, j);
  const std::array pair = {at.ids[static_cast<std::size_t>(i)], at.ids[static_cast<std::size_t>(j)]};
  return kept_and(pair.data(), 2);
}

void ScanFindings::offer_units(Limits& limits, std::vector<Index> units) {
  const double value = problem_.value(units);
  limits.offer(std::move(units), value);
}

void ScanFindings::offer(Limits& limits, const std::int32_t* more, std::int64_t count) {
  offer_units(limits, kept_and(more, count));
}

void ScanFindings::offer_without(Limits& limits, const ScanLevel& at, std::int64_t i) {
  offer_units(limits, kept_and_all_but(at, i, i));
}

void ScanFindings::offer_pair(Limits& limits, const ScanLevel& at, std::int64_t i, std::int64_t j,
                              double sign) {
  offer_units(limits, by_pair(at, i, j, sign));
}

void ScanFindings::offer_pair_if_open(Limits& limits, const ScanLevel& at, std::int64_t i, std::int64_t j,
                                      double sign) {
  auto units = by_pair(at, i, j, sign);
  const double value = problem_.value(units);
  if (!limits.closed(value)) limits.offer(std::move(units), value);
}

void ScanFindings::close_child(const ScanLevel& at, std::int64_t t, std::int32_t s) {
  problem_.guard(kept_, std::vector<std::int32_t>(at.ids.begin() + t + 1, at.ids.begin() + at.count),
                 sizes_[static_cast<std::size_t>(s)].k, limits(s).limit());
}

/// Losses are in descending order, so that `less` drops cost at least the loss at count - less.
void ScanFindings::hand_back(const ScanLevel& at, std::int64_t t) {
  std::vector<ServedSize> sizes;
  for (const std::int32_t s : at.open_sizes) {
    auto& size = sizes_[static_cast<std::size_t>(s)];
    const std::int64_t less = at.count - t - more_of(s);
    if (less < 0) continue;
    const std::int64_t place = std::max(t, at.count - less);
    const double bound =
        std::min(size.root_bound, at.f_all - (less > 0 ? at.losses[static_cast<std::size_t>(place)] : 0.0));
    if (!size.limits.closed(bound)) sizes.push_back({size.k, bound});
  }
  if (sizes.empty()) return;
  findings_.open.push_back(open_node(sizes, kept_, {at.ids.begin() + t, at.ids.begin() + at.count}));
}

}  // namespace subspectra::search
