#include "search/scan_level.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "search/scan_kernels.hpp"

namespace subspectra::search {

void ScanLevel::resize(std::int64_t units) {
  const std::int64_t l = padded_row(units);
  if (static_cast<std::int64_t>(ids.size()) < l) {
    const auto size = [](std::int64_t v) { return static_cast<std::size_t>(v); };
    ids.resize(size(l));
    p.resize(size(l * l));
    g.resize(size(l * l));
    u.resize(size(r * l));
    c.resize(size(r * l));
    losses.resize(size(l));
    diag.resize(size(l));
  }
  count = units;
  lead = l;
}

bool ScanLevel::build(const FactorProblem& problem, const OpenNode& node, const RunControl& control,
                      ScanCriterion& criterion) {
  const auto residual = problem.residual(node, control);
  if (!residual) return false;
  const auto& [whole_g, whole_c, whole_p, whole_u, kept] = *residual;
  const Index n = whole_g.rows();
  Vector unsorted(n);
  if (trace) {
    f_kept = kept.trace();
    f_all = f_kept + whole_u.cwiseProduct(whole_c).sum();
    unsorted = whole_u.rowwise().squaredNorm().array() / whole_p.diagonal().array();
  } else {
    t_kept = kept;
    const Matrix all = kept + whole_c.transpose() * whole_u;
    t_all = 0.5 * (all + all.transpose());
    const auto spectrum = criterion.spectrum(t_all);
    criterion.start_at(spectrum);
    f_all = criterion.value(spectrum);
    const Vector diagonal = whole_p.diagonal();
    criterion.losses(spectrum, whole_u.data(), whole_u.rows(), diagonal.data(), n, unsorted.data());
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return unsorted[a] > unsorted[b]; });
  for (Index i = 0; i < n; ++i) {
    const Index a = order[static_cast<std::size_t>(i)];
    ids[static_cast<std::size_t>(i)] = node.free[static_cast<std::size_t>(a)];
    losses[static_cast<std::size_t>(i)] = unsorted[a];
    diag[static_cast<std::size_t>(i)] = whole_p(a, a);
    for (Index q = 0; q < r; ++q) {
      u[static_cast<std::size_t>(q * lead + i)] = whole_u(a, q);
      c[static_cast<std::size_t>(q * lead + i)] = whole_c(a, q);
    }
    for (Index j = 0; j < n; ++j) {
      const Index b = order[static_cast<std::size_t>(j)];
      p[static_cast<std::size_t>(i * lead + j)] = whole_p(a, b);
      g[static_cast<std::size_t>(i * lead + j)] = whole_g(a, b);
    }
  }
  return true;
}

void ScanLevel::keep(std::int64_t t) {
  double* const row = g.data() + t * lead;
  const double pivot = row[t];
  double gain = 0.0;
  if (!trace) add_outer(t_kept, c.data() + t, lead, 1.0 / pivot);
  for (Index q = 0; q < r; ++q) {
    double* const along = c.data() + q * lead;
    gain += along[t] * along[t];
    kernels::subtract(along + t + 1, row + t + 1, along[t] / pivot, count - t - 1);
  }
  f_kept += gain / pivot;
  kernels::pivot(g.data(), lead, t, count);
}

void ScanLevel::forget_pivots(std::int64_t gone) {
  const std::int64_t left = count - gone;
  const auto bytes = static_cast<std::size_t>(left) * sizeof(double);
  for (std::int64_t i = 0; i < left; ++i) {
    std::memmove(g.data() + i * lead, g.data() + (i + gone) * lead + gone, bytes);
  }
  for (Index q = 0; q < r; ++q) std::memmove(c.data() + q * lead, c.data() + q * lead + gone, bytes);
  std::copy(ids.begin() + gone, ids.begin() + count, ids.begin());
  count = left;
}

}  // namespace subspectra::search
