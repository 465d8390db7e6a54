#include "spectral/renormalize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <subspectra/error.hpp>
#include "eigen/leading.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
Renormalized renormalize(const Pencil& pencil, const std::vector<Index>& support, Criterion criterion,
                         Index components, int threads) {
  const auto k = static_cast<Index>(support.size());
  Renormalized result;
  if (k == 0) return result;
  Matrix l;
  if (!pencil.b_is_identity()) {
    l = pencil.block(support, threads);
    const Vector diagonal = l.diagonal();
    bool positive = linalg::cholesky(l);
    for (Index i = 0; positive && i < k; ++i) positive = l(i, i) * l(i, i) > kEpsilon * diagonal[i];
    if (!positive) {
      throw Infeasible(fmt::format(
          "the {} features are linearly dependent: their within-class covariance is singular; use ⟨ridge⟩ with a number",
          k));
    }
  }
  if (pencil.factor() != nullptr) {
    Matrix c = (*pencil.factor())(support, Eigen::all);
    if (pencil.b_is_identity()) l = Matrix::Identity(k, k);
    linalg::solve_lower(l, linalg::Op::kNone, c);
    result.discriminants = discriminants_from_factor(l, c, 0);
    result.objective = criterion_value(criterion, result.discriminants.values);
    if (components > 0 && components < result.discriminants.values.size()) {
      result.discriminants.values.conservativeResize(components);
      result.discriminants.vectors.conservativeResize(Eigen::NoChange, components);
    }
    pencil.to_table_units(support, result.discriminants.vectors);
    return result;
  }
  Matrix a = pencil.a_block(support, threads);
  if (!pencil.b_is_identity()) {  // L^{-1} A L^{-T}
    linalg::solve_lower(l, linalg::Op::kNone, a);
    linalg::solve_lower_right(l, a);
    a = (0.5 * (a + a.transpose())).eval();
  }
  LeadingPairs pairs = leading_pairs(a, std::max<Index>(1, components));
  result.discriminants = {.values = std::move(pairs.values), .vectors = std::move(pairs.vectors)};
  if (!pencil.b_is_identity()) {
    linalg::solve_lower(l, linalg::Op::kTranspose, result.discriminants.vectors);
    make_largest_positive(result.discriminants.vectors);
    pencil.to_table_units(support, result.discriminants.vectors);
  }
  result.objective = result.discriminants.values[0];
  return result;
}

double rayleigh_quotient(const Pencil& pencil, const std::vector<Index>& support, const VectorRef& loadings,
                         int threads) {
  const Vector x = pencil.from_table_units(support, loadings);
  const Matrix a = pencil.a_block(support, threads);
  const double top = x.dot(a * x);
  const double bottom = pencil.b_is_identity() ? x.squaredNorm() : x.dot(pencil.block(support, threads) * x);
  return bottom > 0.0 ? top / bottom : 0.0;
}

}  // namespace subspectra
