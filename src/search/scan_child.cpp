#include "search/scan_child.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "search/scan_kernels.hpp"

namespace subspectra::search {

bool ScanChild::open(const ScanLevel& at, std::int64_t t) {
  const std::int64_t rest = at.count - t - 1;
  f_all_ = at.f_all - at.losses[static_cast<std::size_t>(t)];
  sizes_.clear();
  double lowest = kInfinity;  // of the limits
  for (const std::int32_t s : at.open_sizes) {
    Limits& limits = findings_.limits(s);
    if (rest < findings_.more_of(s)) continue;
    if (limits.closed(f_all_)) {
      findings_.close_child(at, t, s);
      continue;
    }
    sizes_.push_back(s);
    lowest = std::min(lowest, limits.limit());
  }
  if (sizes_.empty()) return false;
  compute_losses(at, t);
  // Whoever costs too much alone is kept for good: for the node, where that holds for every size it serves.
  free_.clear();
  const double slack = f_all_ - lowest;
  for (std::int64_t i = 0; i < rest; ++i) {
    if (losses_[static_cast<std::size_t>(i)] < slack || !singles_)
      free_.push_back(static_cast<std::int32_t>(i));
  }
  // A size with fewer units that can go than must is closed.
  std::erase_if(sizes_, [&](std::int32_t s) {
    if (droppable(s, rest) >= rest - findings_.more_of(s)) return false;
    findings_.close_child(at, t, s);
    return true;
  });
  if (!sizes_.empty() && problem_.minorant.size() > 0) close_by_sums(at, t);
  if (sizes_.empty()) return false;
  std::sort(free_.begin(), free_.end(), [&](std::int32_t a, std::int32_t b) {
    const double x = losses_[static_cast<std::size_t>(a)], y = losses_[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  return true;
}

/// New diagonal, U and losses of the units after t: O(|F|), before the block is paid for.
void ScanChild::compute_losses(const ScanLevel& at, std::int64_t t) {
  const std::int64_t rest = at.count - t - 1;
  const double* q = at.p.data() + t * at.lead;
  inverse_ = 1.0 / q[t];
  diag_.resize(static_cast<std::size_t>(at.lead));
  u_.resize(static_cast<std::size_t>(at.r * at.lead));
  losses_.assign(static_cast<std::size_t>(at.lead), 0.0);
  kernels::drop_diagonal(at.diag.data() + t + 1, q + t + 1, inverse_, diag_.data(), rest);
  for (Index c = 0; c < at.r; ++c) {
    double* u = u_.data() + c * at.lead;
    const double* from = at.u.data() + c * at.lead;
    std::memcpy(u, from + t + 1, static_cast<std::size_t>(rest) * sizeof(double));
    kernels::subtract(u, q + t + 1, from[t] * inverse_, rest);
    for (std::int64_t i = 0; i < rest; ++i) losses_[static_cast<std::size_t>(i)] += u[i] * u[i];
  }
  if (at.trace) {
    for (std::int64_t i = 0; i < rest; ++i)
      losses_[static_cast<std::size_t>(i)] /= diag_[static_cast<std::size_t>(i)];
  } else {
    t_all_ = at.t_all;
    add_outer(t_all_, at.u.data() + t, at.lead, -inverse_);
    criterion_.losses(criterion_.spectrum(t_all_), u_.data(), at.lead, diag_.data(), rest, losses_.data());
  }
}

/// Units of the child whose loss alone leaves size s something to find. Sets that drop one of those between
/// limit() and exact() are left out for the gap's sake.
std::int64_t ScanChild::droppable(std::int32_t s, std::int64_t rest) {
  if (!singles_) return rest;
  Limits& limits = findings_.limits(s);
  const double slack = f_all_ - limits.limit(), exact_slack = f_all_ - limits.exact();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < rest; ++i) count += losses_[static_cast<std::size_t>(i)] < slack ? 1 : 0;
  if (exact_slack > slack) {
    double next = kInfinity;
    for (std::int64_t i = 0; i < rest; ++i) {
      const double loss = losses_[static_cast<std::size_t>(i)];
      if (loss >= slack && loss < exact_slack) next = std::min(next, loss);
    }
    if (next < kInfinity) limits.discard(f_all_ - next);
  }
  return count;
}

/// Closes the sizes s for which `from` less the count(s) smallest of sums_ does not beat what is known.
template <class Count>
void ScanChild::close_by_smallest(const ScanLevel& at, std::int64_t t, Count count, double from) {
  const auto all = static_cast<std::int64_t>(sums_.size());
  const auto wanted = [&](std::int32_t s) { return std::clamp<std::int64_t>(count(s), 0, all); };
  if (sizes_.size() == 1) {  // no order is needed for a single sum
    const auto end = sums_.begin() + wanted(sizes_.front());
    if (end != sums_.begin()) std::nth_element(sums_.begin(), end - 1, sums_.end());
    sums_.erase(end, sums_.end());
    sums_.assign(1, std::accumulate(sums_.begin(), sums_.end(), 0.0));
  } else {
    std::sort(sums_.begin(), sums_.end());
    std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
  }
  const bool single = sizes_.size() == 1;
  std::erase_if(sizes_, [&](std::int32_t s) {
    const std::int64_t n = wanted(s);
    const double sum = n == 0 ? 0.0 : single ? sums_.front() : sums_[static_cast<std::size_t>(n - 1)];
    if (!findings_.limits(s).closed(from - sum)) return false;
    findings_.close_child(at, t, s);
    return true;
  });
}

/// With D the minorant, P_DD^{-1} >= diag(D) and G_F >= diag(D): dropping a set costs at least the sum of
/// its D_i |U_i|^2, keeping one brings at most the sum of its |C_i|^2/D_i.
void ScanChild::close_by_sums(const ScanLevel& at, std::int64_t t) {
  const std::int64_t rest = at.count - t - 1;
  if (problem_.uses(ExactBound::kDropSum)) {
    sums_.clear();
    for (const auto i : free_) {
      const auto id = at.ids[static_cast<std::size_t>(t + 1 + i)];
      sums_.push_back(problem_.minorant[id] * losses_[static_cast<std::size_t>(i)] *
                      diag_[static_cast<std::size_t>(i)]);
    }
    close_by_smallest(
        at, t, [&](std::int32_t s) { return rest - findings_.more_of(s); }, f_all_);
  }
  if (problem_.uses(ExactBound::kGainSum)) {
    sums_.clear();
    for (std::int64_t i = t + 1; i < at.count; ++i) {
      double square = 0.0;
      for (Index q = 0; q < at.r; ++q) {
        const double c = at.c[static_cast<std::size_t>(q * at.lead + i)];
        square += c * c;
      }
      sums_.push_back(-square / problem_.minorant[at.ids[static_cast<std::size_t>(i)]]);
    }
    close_by_smallest(
        at, t, [&](std::int32_t s) { return findings_.more_of(s); }, at.f_kept);
  }
}

void ScanChild::build_below(const ScanLevel& at, std::int64_t t, ScanLevel& to) {
  const std::int64_t rest = at.count - t - 1, fixed = rest - free_count();
  // Fixed units first, so that they are the first pivots of G.
  order_.clear();
  if (fixed > 0) {
    marks_.assign(static_cast<std::size_t>(rest), 0);
    for (const auto i : free_) marks_[static_cast<std::size_t>(i)] = 1;
    for (std::int64_t i = 0; i < rest; ++i) {
      if (marks_[static_cast<std::size_t>(i)] == 0) order_.push_back(static_cast<std::int32_t>(i));
    }
  }
  order_.insert(order_.end(), free_.begin(), free_.end());
  to.f_all = f_all_;
  to.f_kept = at.f_kept;
  if (!at.trace) {
    to.t_all = t_all_;
    to.t_kept = at.t_kept;
  }
  kernels::gather(at.g.data() + (t + 1) * at.lead + t + 1, at.lead, order_.data(), rest, to.g.data(),
                  to.lead);
  for (std::int64_t i = 0; i < rest; ++i) {
    const auto from = static_cast<std::size_t>(t + 1 + order_[static_cast<std::size_t>(i)]);
    to.ids[static_cast<std::size_t>(i)] = at.ids[from];
    for (Index q = 0; q < at.r; ++q) {
      to.c[static_cast<std::size_t>(q * to.lead + i)] = at.c[static_cast<std::size_t>(q * at.lead) + from];
    }
  }
  for (std::int64_t i = 0; i < fixed; ++i) {
    to.keep(i);
    findings_.keep(to.ids[static_cast<std::size_t>(i)]);
  }
  if (fixed > 0) to.forget_pivots(fixed);
}

void ScanChild::build_losses(const ScanLevel& at, ScanLevel& to) const {
  for (std::int64_t i = 0; i < free_count(); ++i) {
    const auto from = static_cast<std::size_t>(free_[static_cast<std::size_t>(i)]);
    to.losses[static_cast<std::size_t>(i)] = losses_[from];
    to.diag[static_cast<std::size_t>(i)] = diag_[from];
    for (Index q = 0; q < at.r; ++q) {
      to.u[static_cast<std::size_t>(q * to.lead + i)] = u_[static_cast<std::size_t>(q * at.lead) + from];
    }
  }
}

void ScanChild::build_above(const ScanLevel& at, std::int64_t t, ScanLevel& to) {
  packed_.resize(static_cast<std::size_t>(at.lead));
  kernels::gather_rank_one(at.p.data() + (t + 1) * at.lead + t + 1, at.lead, free_.data(), free_count(),
                           at.p.data() + t * at.lead + t + 1, inverse_, packed_.data(), to.p.data(), to.lead);
}

}  // namespace subspectra::search
