#include "spectral/renormalize.hpp"

#include <fmt/format.h>

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

/// A dense symmetric matrix for Spectra, multiplied at full speed.
class DenseProduct {
 public:
  using Scalar = double;
  explicit DenseProduct(const MatrixRef& a) : a_(a) {}
  [[nodiscard]] Index rows() const { return a_.rows(); }
  [[nodiscard]] Index cols() const { return a_.cols(); }
  void perform_op(const double* x, double* y) const {
    linalg::gemv(1.0, linalg::Op::kNone, a_, Eigen::Map<const Vector>(x, a_.rows()), 0.0,
                 Eigen::Map<Vector>(y, a_.rows()));
  }

 private:
  const MatrixRef& a_;
};

}  // namespace

void make_largest_positive(Matrix& vectors) {
  for (Index j = 0; j < vectors.cols(); ++j) {
    Index largest = 0;
    vectors.col(j).cwiseAbs().maxCoeff(&largest);
    if (vectors(largest, j) < 0.0) vectors.col(j) *= -1.0;
  }
}

Discriminants leading_pairs(const MatrixRef& a, Index count) {
  constexpr Index kSmall = 256;
  const Index n = a.rows();
  count = std::min(count, n);
  Discriminants result;
  bool done = false;
  if (n > kSmall && 4 * count + 20 < n) {
    DenseProduct product(a);
    Spectra::SymEigsSolver<DenseProduct> solver(product, count, std::min(n, 4 * count + 20));
    const Vector start =
        a.diagonal().cwiseMax(0.0).cwiseSqrt().array() + 1e-3 * std::sqrt(a.diagonal().maxCoeff());
    solver.init(start.data());
    done = solver.compute(Spectra::SortRule::LargestAlge, 1000, 1e-13) == count;
    if (done) {
      result.values = solver.eigenvalues();
      result.vectors = solver.eigenvectors();
    }
  }
  if (!done) {
    const auto eigen = linalg::symmetric_eigen(a, true);
    result.values = eigen.values.tail(count).reverse();
    result.vectors = eigen.vectors.rightCols(count).rowwise().reverse();
  }
  make_largest_positive(result.vectors);
  return result;
}

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
    for (Index i = 0; positive && i < k; ++i) positive = l(i, i) * l(i, i) > 0x1p-52 * diagonal[i];
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
    return result;
  }
  Matrix a = pencil.a_block(support, threads);
  if (!pencil.b_is_identity()) {  // L^{-1} A L^{-T}
    linalg::solve_lower(l, linalg::Op::kNone, a);
    linalg::solve_lower_right(l, a);
    a = (0.5 * (a + a.transpose())).eval();
  }
  result.discriminants = leading_pairs(a, std::max<Index>(1, components));
  if (!pencil.b_is_identity()) {
    linalg::solve_lower(l, linalg::Op::kTranspose, result.discriminants.vectors);
    make_largest_positive(result.discriminants.vectors);
  }
  result.objective = result.discriminants.values[0];
  return result;
}

double rayleigh_quotient(const Pencil& pencil, const std::vector<Index>& support, const VectorRef& x,
                         int threads) {
  const Matrix a = pencil.a_block(support, threads);
  const double top = x.dot(a * x);
  const double bottom = pencil.b_is_identity() ? x.squaredNorm() : x.dot(pencil.block(support, threads) * x);
  return bottom > 0.0 ? top / bottom : 0.0;
}

}  // namespace subspectra
