#include "spectral/discriminants.hpp"

#include <algorithm>
#include <cmath>

#include "eigen/svd.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

Index count_discriminants(const VectorRef& singular_values, Index size, Index components) {
  constexpr double kRounding =
      1e-15;  // of lambda_max: singular values of C below 3e-8 of the largest carry no digits
  Index r = std::min<Index>(size, singular_values.size());
  if (components > 0) r = std::min(r, components);
  const auto value = [&](Index i) { return singular_values[i] * singular_values[i]; };
  while (r > 0 && !(value(r - 1) > kRounding * value(0))) --r;
  return r;
}

Discriminants discriminants_from_factor(const MatrixRef& l, const MatrixRef& c, Index components) {
  Discriminants result;
  if (std::min(c.rows(), c.cols()) == 0) {
    result.vectors.resize(l.rows(), 0);
    return result;
  }
  // An SVD and not the eigenvectors of C'C: squaring would lose the small discriminants of many-class
  // problems.
  const linalg::Svd svd = linalg::thin_svd(c, false);
  const Index r = count_discriminants(svd.values, c.rows(), components);
  result.values = svd.values.head(r).array().square();
  result.vectors = svd.u.leftCols(r);
  linalg::solve_lower(l, linalg::Op::kTranspose, result.vectors);
  for (Index j = 0; j < r; ++j) {
    Index largest = 0;
    result.vectors.col(j).cwiseAbs().maxCoeff(&largest);
    if (result.vectors(largest, j) < 0.0) result.vectors.col(j) *= -1.0;
  }
  return result;
}

double criterion_value(Criterion criterion, const VectorRef& values) {
  if (values.size() == 0) return 0.0;
  switch (criterion) {
    case Criterion::kAuto:  // resolved before there is a set to judge
    case Criterion::kLargest:
      return values.maxCoeff();
    case Criterion::kTrace:
      return values.sum();
    case Criterion::kWilks:
      return values.array().log1p().sum();
  }
  return 0.0;
}

}  // namespace subspectra
