#include "factor_problem.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "subspectra/core/error.hpp"
#include "subspectra/core/memory.hpp"
#include "subspectra/spectral/discriminants.hpp"

namespace subspectra::search {
namespace {

/// M V with the eigenvectors of M'M: the same M M', without the columns that rounding left over.
Matrix without_null_columns(const Matrix& m) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(m.transpose() * m);
  const double floor = 1e-14 * std::max(solver.eigenvalues().maxCoeff(), 0.0);
  const Index rank = std::max<Index>(1, (solver.eigenvalues().array() > floor).count());
  return m * solver.eigenvectors().rightCols(rank);
}

/// M with M M' = A for a positive semidefinite A.
Matrix root_of(const Matrix& a) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(a);
  const double floor =
      0x1p-52 * static_cast<double>(a.rows()) * std::max(solver.eigenvalues().maxCoeff(), 0.0);
  const Index rank = std::max<Index>(1, (solver.eigenvalues().array() > floor).count());
  return solver.eigenvectors().rightCols(rank) *
         solver.eigenvalues().tail(rank).cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

}  // namespace

FactorProblem::FactorProblem(const Pencil& pencil, const SearchUnits& units, const ExactOptions& options)
    : single(units.single), criterion(options.criterion) {
  std::vector<Index> features;
  for (const auto& members : units.members) {
    first.push_back(static_cast<Index>(features.size()));
    features.insert(features.end(), members.begin(), members.end());
    if (members.size() != 1) single = false;
  }
  const auto n = static_cast<Index>(features.size());
  first.push_back(n);
  require_memory(6.0 * 8.0 * static_cast<double>(n) * static_cast<double>(n),
                 "an exact search over all candidates",
                 "leave features out (--exclude), or search greedily (gslda)", options.memory_limit);
  b = pencil.block(features, options.threads);
  const Vector scale = b.diagonal().cwiseSqrt().cwiseInverse();
  if (!scale.allFinite())
    throw Infeasible("a candidate has no variance within the classes; use --ridge auto or a number");
  Matrix scaled = scale.asDiagonal() * b * scale.asDiagonal();
  b = 0.5 * (scaled + scaled.transpose());
  const Matrix factor = pencil.factor() != nullptr ? Matrix((*pencil.factor())(features, Eigen::all))
                                                   : root_of(pencil.a_block(features, options.threads));
  m = without_null_columns(scale.asDiagonal() * factor);
  const Eigen::LLT<Matrix> llt(b);
  const double pivot = llt.info() == Eigen::Success ? llt.matrixLLT().diagonal().minCoeff() : 0.0;
  if (!(pivot * pivot > kDependentPivot)) {
    throw Infeasible(
        "the within-class covariance of the candidates is singular, so that no proof can start from all of "
        "them; use "
        "--ridge auto (or a number), exclude features, or search greedily (--method forward-lda)");
  }
  const double inverse = llt.solve(Matrix::Identity(n, n)).norm();
  slack = std::max(1e-12, 4.0 * 0x1p-52 * b.norm() * inverse);
}

double FactorProblem::told(double value) const {
  return criterion == Criterion::kWilks && m.cols() == 1 ? std::log1p(std::max(0.0, value)) : value;
}

std::vector<Index> FactorProblem::rows(const std::vector<Index>& units) const {
  std::vector<Index> result;
  for (const Index u : units) {
    for (Index i = first[static_cast<std::size_t>(u)]; i < first[static_cast<std::size_t>(u) + 1]; ++i)
      result.push_back(i);
  }
  return result;
}

double FactorProblem::of(const Matrix& t) const {
  if (is_trace()) return std::max(0.0, t.trace());
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(t, Eigen::EigenvaluesOnly);
  return criterion_value(criterion, solver.eigenvalues().cwiseMax(0.0));
}

double FactorProblem::value(const std::vector<Index>& units) const {
  const auto at = rows(units);
  const Eigen::LLT<Matrix> llt(b(at, at));
  if (llt.info() != Eigen::Success) return -kInfinity;
  const Matrix y = llt.matrixL().solve(Matrix(m(at, Eigen::all)));
  return is_trace() ? y.squaredNorm() : of(y.transpose() * y);
}

}  // namespace subspectra::search
