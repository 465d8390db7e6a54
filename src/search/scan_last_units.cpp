#include "search/scan_last_units.hpp"

#include <algorithm>
#include <cmath>

#include "search/scan_kernels.hpp"

namespace subspectra::search {

void ScanLastUnits::drop(Limits& limits, const ScanLevel& at, std::int64_t less) {
  if (less == 1) {
    for (std::int64_t i = 0; i < at.count; ++i) {
      if (!limits.closed(at.f_all - at.losses[static_cast<std::size_t>(i)]))
        findings_.offer_without(limits, at, i);
    }
    return;
  }
  scan_pairs(limits, at, at.p.data(), at.u.data(), 0, -1.0);
}

void ScanLastUnits::keep(Limits& limits, const ScanLevel& at, std::int64_t from, std::int64_t more) {
  if (more == 2) {
    scan_pairs(limits, at, at.g.data(), at.c.data(), from, +1.0);
    return;
  }
  if (!at.trace) {
    const auto spectrum = criterion_.spectrum(at.t_kept);
    if (more == 0 && !limits.closed(criterion_.value(spectrum))) findings_.offer(limits, nullptr, 0);
    for (std::int64_t i = from; more == 1 && i < at.count; ++i) {
      const double value = criterion_.with_one_more(spectrum, at.c.data() + i, at.lead,
                                                    at.g[static_cast<std::size_t>(i * at.lead + i)]);
      if (!limits.closed(value)) findings_.offer(limits, &at.ids[static_cast<std::size_t>(i)], 1);
    }
    return;
  }
  if (more == 0) {
    if (!limits.closed(at.f_kept)) findings_.offer(limits, nullptr, 0);
    return;
  }
  for (std::int64_t i = from; i < at.count; ++i) {
    double square = 0.0;
    for (Index q = 0; q < at.r; ++q) {
      const double v = at.c[static_cast<std::size_t>(q * at.lead + i)];
      square += v * v;
    }
    const double value = at.f_kept + square / at.g[static_cast<std::size_t>(i * at.lead + i)];
    if (!limits.closed(value)) findings_.offer(limits, &at.ids[static_cast<std::size_t>(i)], 1);
  }
}

void ScanLastUnits::scan_pairs(Limits& limits, const ScanLevel& at, const double* block, const double* rows,
                               std::int64_t from, double sign) {
  if (!at.trace) {
    scan_pairs_of_several(limits, at, block, rows, from, sign);
    return;
  }
  const std::int64_t n = at.count;
  scale_.resize(static_cast<std::size_t>(at.lead));
  squares_.assign(static_cast<std::size_t>(at.lead), 0.0);
  scaled_.resize(static_cast<std::size_t>(at.r * at.lead));
  dot_.resize(static_cast<std::size_t>(at.lead));
  for (std::int64_t i = from; i < n; ++i)
    scale_[static_cast<std::size_t>(i)] = 1.0 / std::sqrt(block[i * at.lead + i]);
  for (Index q = 0; q < at.r; ++q) {
    for (std::int64_t i = from; i < n; ++i) {
      const double x = rows[q * at.lead + i] * scale_[static_cast<std::size_t>(i)];
      scaled_[static_cast<std::size_t>(q * at.lead + i)] = x;
      squares_[static_cast<std::size_t>(i)] += x * x;
    }
  }
  const double base = sign > 0.0 ? at.f_kept : at.f_all;
  for (std::int64_t i = from; i + 1 < n; ++i) {
    const std::int64_t first = i + 1, count = n - first;
    const double xi = scaled_[static_cast<std::size_t>(i)];
    for (std::int64_t j = first; j < n; ++j)
      dot_[static_cast<std::size_t>(j)] = xi * scaled_[static_cast<std::size_t>(j)];
    for (Index q = 1; q < at.r; ++q) {
      const double x = scaled_[static_cast<std::size_t>(q * at.lead + i)];
      for (std::int64_t j = first; j < n; ++j) {
        dot_[static_cast<std::size_t>(j)] += x * scaled_[static_cast<std::size_t>(q * at.lead + j)];
      }
    }
    // A set is worth a look above exact(); what lies between that and limit() counts as discarded.
    const double target = sign * (limits.exact() - base);
    if (kernels::best_pair_margin(block + i * at.lead + first, scale_.data() + first, squares_.data() + first,
                                  dot_.data() + first, scale_[static_cast<std::size_t>(i)],
                                  squares_[static_cast<std::size_t>(i)], target, sign, count) <= 0.0) {
      continue;
    }
    for (std::int64_t j = first; j < n; ++j) {
      const double rho =
          block[i * at.lead + j] * scale_[static_cast<std::size_t>(i)] * scale_[static_cast<std::size_t>(j)];
      const double rest = 1.0 - rho * rho;
      if (!(rest > 1e-13)) continue;  // one is a multiple of the other
      const double pair = (squares_[static_cast<std::size_t>(i)] + squares_[static_cast<std::size_t>(j)] -
                           2.0 * rho * dot_[static_cast<std::size_t>(j)]) /
                          rest;
      if (limits.closed(base + sign * pair)) continue;
      findings_.offer_pair(limits, at, i, j, sign);
    }
  }
}

void ScanLastUnits::scan_pairs_of_several(Limits& limits, const ScanLevel& at, const double* block,
                                          const double* rows, std::int64_t from, double sign) {
  const std::int64_t n = at.count;
  scale_.resize(static_cast<std::size_t>(at.lead));
  squares_.resize(static_cast<std::size_t>(at.lead));
  scaled_.resize(static_cast<std::size_t>(at.r * at.lead));
  dot_.resize(static_cast<std::size_t>(at.lead));
  for (std::int64_t i = from; i < n; ++i)
    scale_[static_cast<std::size_t>(i)] = 1.0 / std::sqrt(block[i * at.lead + i]);
  const auto spectrum = criterion_.spectrum(sign > 0.0 ? at.t_kept : at.t_all);
  PairForm form;
  double limit = 0.0;
  const auto prepare = [&] {
    limit = limits.exact();
    form = sign > 0.0 ? criterion_.keep_form(spectrum, limit) : criterion_.drop_form(spectrum, limit);
    if (form.all) return;
    std::fill(squares_.begin() + from, squares_.begin() + n, 1.0);
    for (Index q = 0; q < at.r; ++q) {
      double* const y = scaled_.data() + q * at.lead;
      std::fill(y + from, y + n, 0.0);
      for (Index p = 0; p < at.r; ++p) {
        const double factor = form.axes(q, p);
        const double* const row = rows + p * at.lead;
        for (std::int64_t i = from; i < n; ++i) y[i] += factor * row[i];
      }
      for (std::int64_t i = from; i < n; ++i) {
        y[i] *= scale_[static_cast<std::size_t>(i)];
        squares_[static_cast<std::size_t>(i)] += form.signs[q] * y[i] * y[i];
      }
    }
    if (form.sign > 0.0) return;
    for (std::int64_t i = from; i < n; ++i) {  // wins whatever its partner is
      double& h = squares_[static_cast<std::size_t>(i)];
      if (!(h > 0.0)) h = -1e300;
    }
  };
  prepare();
  for (std::int64_t i = from; i + 1 < n; ++i) {
    if (limits.exact() != limit) prepare();
    const std::int64_t first = i + 1, count = n - first;
    const double own = squares_[static_cast<std::size_t>(i)];
    const bool whole_row = form.all || (form.sign < 0.0 && own < 0.0);
    if (!whole_row) {
      if (!(own > 0.0)) continue;  // no pair with it
      std::fill(dot_.begin() + first, dot_.begin() + n, 0.0);
      for (Index q = 0; q < at.r; ++q) {
        const double* const y = scaled_.data() + q * at.lead;
        const double factor = form.signs[q] * y[i];
        for (std::int64_t j = first; j < n; ++j) dot_[static_cast<std::size_t>(j)] += factor * y[j];
      }
      if (kernels::best_determinant_margin(block + i * at.lead + first, scale_.data() + first,
                                           squares_.data() + first, dot_.data() + first,
                                           scale_[static_cast<std::size_t>(i)], own, form.sign, form.theta,
                                           count) <= 0.0) {
        continue;
      }
    }
    for (std::int64_t j = first; j < n; ++j) {
      const auto place = static_cast<std::size_t>(j);
      const double rho = block[i * at.lead + j] * scale_[static_cast<std::size_t>(i)] * scale_[place];
      const double rest = 1.0 - rho * rho;
      if (!(rest > 1e-13)) continue;  // one is a multiple of the other
      if (!whole_row) {
        const double beside = rho + dot_[place];
        if (!(form.sign * (own * squares_[place] - beside * beside) > form.theta * rest)) continue;
      }
      findings_.offer_pair_if_open(limits, at, i, j, sign);
    }
  }
}

}  // namespace subspectra::search
