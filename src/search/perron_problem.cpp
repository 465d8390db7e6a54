#include "search/perron_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::search {

double largest_eigenvalue_of_block(const Matrix& a) {
  if (a.rows() == 0) return -kInfinity;
  if (a.rows() == 1) return a(0, 0);
  return linalg::symmetric_eigen(a, false).values[a.rows() - 1];
}

namespace {

/// At least lambda_max(a), and hardly more. For a large matrix mu with mu I - A positive definite: the power
/// method finds where to begin, a factorization (n^3/3 flops in place of the 4/3 n^3 of an eigensolver, and
/// those at a fraction of the speed) proves it.
double block_eigenvalue_bound(const Matrix& a, int threads, const RunControl& control) {
  constexpr Index kByEigensolver = 300, kStoppableSteps = 2000;  // rows
  constexpr int kSteps = 60;
  const Index n = a.rows();
  if (n <= kByEigensolver) return largest_eigenvalue_of_block(a);
  Vector x = Vector::Ones(n) / std::sqrt(static_cast<double>(n)), y(n);
  const double shift = a.cwiseAbs().colwise().sum().maxCoeff();  // no eigenvalue of A + shift I is negative
  double quotient = -kInfinity;
  for (int step = 0; step < kSteps; ++step) {
    if (n > kStoppableSteps && control.should_stop()) throw linalg::Stopped();
    linalg::gemv_transposed(a, x, y, threads);
    quotient = std::max(quotient, x.dot(y));
    y += 0.1 * shift * x;
    x = y / y.norm();
  }
  for (double above = 1e-9; above < 1e3; above *= 10.0) {
    const double mu = quotient + above * std::max(std::abs(quotient), 1e-3 * shift);
    Matrix rest = -a;
    rest.diagonal().array() += mu;
    if (linalg::cholesky_tiled(rest, threads, &control)) return mu;
  }
  return shift;
}

}  // namespace

double larger_of_two(double p, double b, double q) {
  if (!(p > -kInfinity)) return q;
  if (!(q > -kInfinity)) return p;
  const double half = 0.5 * (p - q);
  return std::max(p, q) + (std::hypot(half, b) - std::abs(half));
}

PerronProblem::PerronProblem(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                             const RunControl& run_control, const ExactHooks& exact_hooks)
    : forced(!units.include.empty()),
      threads(run.threads),
      control(&run_control),
      hooks(exact_hooks),
      largest_size(run.k.hi) {
  const PerronTuning& tuning = hooks.tuning.perron;
  std::vector<Index> features;
  std::size_t widest = 1;
  for (const auto& members : units.members) {
    first.push_back(static_cast<Index>(features.size()));
    features.insert(features.end(), members.begin(), members.end());
    widest = std::max(widest, members.size());
    if (members.size() != 1) single = false;
  }
  first.push_back(static_cast<Index>(features.size()));
  const double n = static_cast<double>(features.size());
  require_memory(8.0 * n * n * 4.0, fmt::format("exact sparse PCA over {} candidates", features.size()),
                 "leave features out (⟨exclude⟩), or search greedily (gspca)", run.memory_limit);
  most_level_entries = static_cast<std::size_t>(
      std::max(hooks.tuning.engine.level_bytes(run.memory_limit) / 8.0, 2.0 * n * n));
  const bool may_leave = run.asked.checkpoint.empty() && run.asked.resume.empty();  // those need the problem
  const auto ask = [&] {
    if (may_leave && n > tuning.slow_matrix && run_control.should_stop()) throw linalg::Stopped();
  };
  ask();
  a = pencil.a_block(features, run.threads);
  ask();
  const double largest = a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0.0;
  if (largest > 0.0) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    scale = std::ldexp(1.0, exponent);
    a /= scale;
  }
  const double size = static_cast<double>(run.k.hi) * static_cast<double>(widest);
  slack = std::min(2e-10, kEpsilon * (8.0 * size * size + 64.0 * size));
  budget = static_cast<std::uint64_t>(
      std::clamp(tuning.visit_work / (n * n + 1.0) * std::min(1.0, tuning.full_features / n),
                 tuning.least_nodes, tuning.most_nodes));
}

double PerronProblem::scaled_value_of_rows(const std::vector<Index>& rows) const {
  return largest_eigenvalue_of_block(a(rows, rows));
}

double PerronProblem::scaled_superset() const {
  std::call_once(superset_once_, [this] { superset_ = block_eigenvalue_bound(a, threads, *control); });
  return superset_;
}

double PerronProblem::bound_of_next(Index k, double bound) const {
  if (!single || forced || k < 2) return kInfinity;
  const auto size = static_cast<double>(k);
  const double next = (size * bound - scale * a.diagonal().minCoeff()) / (size - 1.0);
  return next + 16.0 * kEpsilon * size * std::abs(next);
}

bool PerronProblem::alike(Index u, Index v) const {
  const auto begin = [&](Index unit) { return first[static_cast<std::size_t>(unit)]; };
  const Index rows = begin(u + 1) - begin(u);
  if (rows != begin(v + 1) - begin(v)) return false;
  const double of_u = a.diagonal().segment(begin(u), rows).sum(),
               of_v = a.diagonal().segment(begin(v), rows).sum();
  return std::abs(of_u - of_v) <= kTieFraction * std::max(std::abs(of_u), std::abs(of_v));
}

/// One sweep with d = 1: the largest sum of a row over itself and its k - 1 best columns, for every k at
/// once.
void PerronProblem::find_row_sums() const {
  const Index n = a.rows();
  const auto most = static_cast<std::size_t>(single ? std::min(largest_size, n) : n);
  row_sums_.assign(most, 0.0);
  constexpr Index kChunk = 256;
  std::mutex mutex;
  parallel_for((n + kChunk - 1) / kChunk, threads, [&](Index chunk) {
    std::vector<double> row(static_cast<std::size_t>(n)), largest(most, 0.0);
    for (Index i = chunk * kChunk; i < std::min(n, (chunk + 1) * kChunk); ++i) {
      for (Index j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] = j == i ? 0.0 : std::abs(a(j, i));
      std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(most), row.end(),
                        std::greater<>());
      double sum = std::abs(a(i, i));
      for (std::size_t k = 0; k < most; ++k) {
        largest[k] = std::max(largest[k], sum);
        sum += row[k];
      }
    }
    const std::lock_guard lock(mutex);  // a maximum does not depend on the order
    for (std::size_t k = 0; k < most; ++k) row_sums_[k] = std::max(row_sums_[k], largest[k]);
  });
}

double PerronProblem::quick_bound(const OpenNode& root) const {
  std::call_once(row_sums_once_, [this] { find_row_sums(); });
  const auto k = single ? static_cast<std::size_t>(root.k) : row_sums_.size();
  return scale * row_sums_[k - 1] * (1.0 + 1e-12 * static_cast<double>(k));
}

}  // namespace subspectra::search
