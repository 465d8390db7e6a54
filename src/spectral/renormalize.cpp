#include "spectral/renormalize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <subspectra/error.hpp>
#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

using linalg::Op;

/// Whether the set has so many more features than the table has rows that what is rows x rows is the smaller
/// thing by far: nothing of so many rows and columns is made then.
bool through_rows(const Pencil& pencil, Index k) {
  constexpr Index kSmall = 500;
  return pencil.rows() != nullptr && k > kSmall && k > pencil.rows()->rows() &&
         pencil.b_is_identity() == (pencil.factor() == nullptr);
}

[[noreturn]] void refuse_dependent(Index k) {
  throw Infeasible(fmt::format(
      "the {} features are linearly dependent: their within-class covariance is singular; use ⟨ridge⟩ with a number",
      k));
}

/// B = Z'Z + eps I, so that U = B^{-1} M = (M - Z'(eps I + Z Z')^{-1} Z M)/eps and T = M'U; with T = V L V'
/// the loadings are U V L^{-1/2}.
Discriminants discriminants_through_rows(const Pencil& pencil, const std::vector<Index>& support,
                                         int threads) {
  const auto k = static_cast<Index>(support.size());
  const double eps = pencil.shift();
  if (!(eps > 0.0)) refuse_dependent(k);  // more features than rows
  const Matrix z = pencil.rows()->centred(support);
  Matrix inner = pencil.rows()->gram(support, threads);
  inner.diagonal().array() += eps;
  if (!linalg::cholesky(inner)) refuse_dependent(k);
  const Matrix m = (*pencil.factor())(support, Eigen::all);
  Matrix zm(z.rows(), m.cols());
  linalg::gemm(1.0, Op::kNone, z, Op::kNone, m, 0.0, zm);
  linalg::solve_lower(inner, Op::kNone, zm);
  linalg::solve_lower(inner, Op::kTranspose, zm);
  Matrix u = m / eps;
  linalg::gemm(-1.0 / eps, Op::kTranspose, z, Op::kNone, zm, 1.0, u);
  Matrix t(m.cols(), m.cols());
  linalg::gemm(1.0, Op::kTranspose, m, Op::kNone, u, 0.0, t);
  t = (0.5 * (t + t.transpose())).eval();
  const auto eigen = linalg::symmetric_eigen(std::move(t), true);
  const Index q = eigen.values.size();
  constexpr double kRounding = 1e-12;  // of the largest: T is a difference
  Index r = 0;
  while (r < q && eigen.values[q - 1 - r] > kRounding * std::max(0.0, eigen.values[q - 1])) ++r;
  Discriminants found;
  found.values = eigen.values.tail(r).reverse();
  found.vectors.resize(k, r);
  linalg::gemm(1.0, Op::kNone, u, Op::kNone,
               Matrix(eigen.vectors.rightCols(r).rowwise().reverse() *
                      found.values.cwiseSqrt().cwiseInverse().asDiagonal()),
               0.0, found.vectors);
  make_largest_positive(found.vectors);
  return found;
}

void keep_components(Index components, Discriminants& discriminants) {
  if (components == 0 || components >= discriminants.values.size()) return;
  discriminants.values.conservativeResize(components);
  discriminants.vectors.conservativeResize(Eigen::NoChange, components);
}

/// A = Z'Z, B = I: the leading pairs of Z Z'.
Discriminants components_through_rows(const Pencil& pencil, const std::vector<Index>& support,
                                      Index components, int threads) {
  LeadingPairs pairs = leading_pairs(pencil.rows()->gram(support, threads), std::max<Index>(1, components));
  const Matrix z = pencil.rows()->centred(support);
  Discriminants found;
  found.values = pairs.values;
  found.vectors.resize(static_cast<Index>(support.size()), pairs.values.size());
  linalg::gemm(1.0, Op::kTranspose, z, Op::kNone, pairs.vectors, 0.0, found.vectors);
  for (Index j = 0; j < found.vectors.cols(); ++j) {
    const double norm = found.vectors.col(j).norm();
    if (norm > 0.0) found.vectors.col(j) /= norm;
  }
  make_largest_positive(found.vectors);
  return found;
}

}  // namespace

Renormalized renormalize(const Pencil& pencil, const std::vector<Index>& support, Criterion criterion,
                         Index components, int threads) {
  const auto k = static_cast<Index>(support.size());
  Renormalized result;
  if (k == 0) return result;
  if (through_rows(pencil, k)) {
    if (pencil.factor() == nullptr) {
      result.discriminants = components_through_rows(pencil, support, components, threads);
      result.objective = result.discriminants.values[0];
      return result;
    }
    result.discriminants = discriminants_through_rows(pencil, support, threads);
    result.objective = criterion_value(criterion, result.discriminants.values);
    keep_components(components, result.discriminants);
    pencil.to_table_units(support, result.discriminants.vectors);
    return result;
  }
  Matrix l;
  if (!pencil.b_is_identity()) {
    l = pencil.block(support, threads);
    const Vector diagonal = l.diagonal();
    bool positive = linalg::cholesky(l);
    for (Index i = 0; positive && i < k; ++i) positive = l(i, i) * l(i, i) > kEpsilon * diagonal[i];
    if (!positive) refuse_dependent(k);
  }
  if (pencil.factor() != nullptr) {
    Matrix c = (*pencil.factor())(support, Eigen::all);
    if (pencil.b_is_identity()) l = Matrix::Identity(k, k);
    linalg::solve_lower(l, linalg::Op::kNone, c);
    result.discriminants = discriminants_from_factor(l, c, 0);
    result.objective = criterion_value(criterion, result.discriminants.values);
    keep_components(components, result.discriminants);
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
