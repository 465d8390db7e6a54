#include "subspectra/classify/lda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subspectra/linalg/blas.hpp"
#include "subspectra/spectral/discriminants.hpp"

namespace subspectra {

LdaRule fit_lda(const VectorRef& class_weights, const MatrixRef& class_means, const MatrixRef& within,
                Prior prior, Index components) {
  const Index k = class_means.rows();
  const Index classes = class_means.cols();
  const double total = class_weights.sum();
  const Vector share = class_weights / total;
  const auto present = static_cast<Index>((class_weights.array() > 0.0).count());
  LdaRule rule;
  rule.priors = prior == Prior::kEmpirical
                    ? share
                    : Vector((class_weights.array() > 0.0).cast<double>() / static_cast<double>(present));

  Matrix l = within;
  const bool factored = linalg::cholesky(l);
  for (Index i = 0; i < k; ++i) {
    if (factored && l(i, i) * l(i, i) > kDependentPivot * within(i, i)) continue;
    throw Infeasible(fmt::format("the within-class covariance of {} is singular; use a ridge (--ridge auto)",
                                 k == 1 ? "this feature" : fmt::format("these {} features", k)));
  }
  // M = [sqrt(n_c/N) (mu_c - mu)], C = L^{-1} M.
  rule.centre = class_means * share;
  const Matrix centred = class_means.colwise() - rule.centre;
  Matrix c = centred;
  for (Index j = 0; j < classes; ++j) c.col(j) *= std::sqrt(share[j]);
  linalg::solve_lower(l, linalg::Op::kNone, c);
  Index r = std::max<Index>(present - 1, 0);
  if (components > 0) r = std::min(r, components);
  if (r == 0) {
    rule.discriminants = Matrix::Zero(k, 0);
  } else {
    rule.discriminants = discriminants_from_factor(l, c, r).vectors;
  }
  rule.centroids = centred.transpose() * rule.discriminants;
  return rule;
}

Matrix LdaRule::log_posteriors(const MatrixRef& rows) const {
  const Index n = rows.rows();
  const Index classes = centroids.rows();
  Matrix z(n, discriminants.cols());
  linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - centre.transpose(), linalg::Op::kNone, discriminants,
               0.0, z);
  // -|z - m_c|^2/2 without -|z|^2/2, which all classes share: far from the centroids it would drown the
  // difference.
  Matrix result(n, classes);
  linalg::gemm(1.0, linalg::Op::kNone, z, linalg::Op::kTranspose, centroids, 0.0, result);
  for (Index c = 0; c < classes; ++c) {
    result.col(c).array() += std::log(priors[c]) - 0.5 * centroids.row(c).squaredNorm();
  }
  for (Index i = 0; i < n; ++i) {
    // In this order: largest + log(sum) would lose the logarithm.
    result.row(i).array() -= result.row(i).maxCoeff();
    result.row(i).array() -= std::log(result.row(i).array().exp().sum());
  }
  return result;
}

}  // namespace subspectra
