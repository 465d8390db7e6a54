#include "search/perron_node.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/blas.hpp"

namespace subspectra::search {

void PerronNode::start(const PerronProblem& problem, const OpenNode& open, double cut) {
  kept = open.kept;
  units = open.free;
  left = open.k - static_cast<Index>(open.kept.size());
  bound = kInfinity;
  build(problem, cut);
  residual.first_guess(rows(), problem.tuning().smallest_d);
  x.assign(static_cast<std::size_t>(residual.stride), 0.0);
  std::copy(residual.d.begin(), residual.d.end(), x.begin());
}

void PerronNode::number_rows(const PerronProblem& problem) {
  begin.assign(1, 0);
  for (const auto u : units) {
    const auto e = static_cast<std::size_t>(u);
    begin.push_back(begin.back() + problem.first[e + 1] - problem.first[e]);
  }
}

void PerronNode::build(const PerronProblem& problem, double cut) {
  number_rows(problem);
  const auto kept_rows = problem.rows_of(kept), free_rows = problem.rows_of(units);
  Matrix c = problem.a(free_rows, free_rows);
  lambda = kept_value = -kInfinity;
  built_for = cut;
  cross = -1.0;
  has_floor = false;
  if (kept_rows.empty()) {
    lambda = cut;
  } else {
    Matrix pivots = -problem.a(kept_rows, kept_rows);
    pivots.diagonal().array() += cut;
    bool fits = cut > -kInfinity && problem.uses(ExactBound::kResidual) && linalg::cholesky(pivots);
    for (Index i = 0; fits && i < pivots.rows(); ++i)
      fits = pivots(i, i) * pivots(i, i) > problem.tuning().least_pivot * std::abs(cut);
    if (fits) {
      Matrix w = problem.a(kept_rows, free_rows);
      linalg::solve_lower(pivots, linalg::Op::kNone, w);
      linalg::syrk(1.0, linalg::Op::kTranspose, w, 1.0, c);
      lambda = cut;
    } else {
      kept_value = largest_eigenvalue_of_block(problem.a(kept_rows, kept_rows));
    }
  }
  residual.set(c);
}

void PerronNode::keep(const PerronProblem& problem, const PerronNode& from, Index e, double cut) {
  const auto at = static_cast<std::size_t>(e);
  kept = from.kept;
  kept.push_back(from.units[at]);
  units = from.units;
  units.erase(units.begin() + e);
  left = from.left - 1;
  floor = from.floor;
  floor_rows = from.floor_rows;
  floor_left = from.floor_left;
  bound = from.bound;
  const Index first = from.begin[at], width = from.begin[at + 1] - first, n = from.rows();
  const auto pivot = [&](const RowBoundedMatrix& matrix) {
    const double p = from.lambda - matrix.diagonal[static_cast<std::size_t>(first)];
    return width == 1 && problem.uses(ExactBound::kResidual) && from.reduced() && from.lambda == cut &&
                   p > problem.tuning().least_pivot * std::abs(cut)
               ? p
               : 0.0;
  };
  has_floor = false;
  if (const double p = pivot(from.residual); p > 0.0) {
    number_rows(problem);
    lambda = built_for = from.lambda;
    kept_value = -kInfinity;
    residual.keep(from.residual, n, first, width, p);
    if (const double q = from.has_floor ? pivot(from.floored) : 0.0; q > 0.0) {
      has_floor = true;
      floored.keep(from.floored, n, first, width, q);
      floored.carry(from.floored, n, first, width);
    }
  } else {
    build(problem, cut);
  }
  residual.carry(from.residual, n, first, width);
  x.assign(static_cast<std::size_t>(residual.stride), 0.0);
  std::copy_n(from.x.data(), first, x.data());
  std::copy_n(from.x.data() + first + width, n - first - width, x.data() + first);
}

void PerronNode::drop(const PerronProblem& problem, const std::vector<char>& gone) {
  std::vector<Index> stay;
  std::vector<std::int32_t> left_units;
  for (Index e = 0; e < count(); ++e) {
    const auto at = static_cast<std::size_t>(e);
    if (gone[at] != 0) continue;
    left_units.push_back(units[at]);
    for (Index i = begin[at]; i < begin[at + 1]; ++i) stay.push_back(i);
  }
  residual.drop(stay);
  if (has_floor) floored.drop(stay);
  for (std::size_t i = 0; i < stay.size(); ++i) x[i] = x[static_cast<std::size_t>(stay[i])];
  x.resize(static_cast<std::size_t>(residual.stride));
  std::fill(x.begin() + static_cast<std::ptrdiff_t>(stay.size()), x.end(), 0.0);
  units = std::move(left_units);
  cross = -1.0;
  number_rows(problem);
}

}  // namespace subspectra::search
