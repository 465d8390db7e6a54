#include "eigen/leading.hpp"

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>

#include "eigen/symmetric.hpp"
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

LeadingPairs leading_pairs(const MatrixRef& a, Index count) {
  const Index n = a.rows();
  count = std::min(count, n);
  LeadingPairs result;
  bool done = false;
  if (n > kDenseRows && 4 * count + 20 < n) {
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

Vector leading_vector_near(const Matrix& a, const Vector& guess) {
  constexpr Index kSmall = 10;  // all pairs cost no more
  const Index n = a.rows();
  if (n <= kSmall) return leading_pairs(a, 1).vectors.col(0);
  constexpr Index kBasis = 32, kEvery = 4;  // a look at the Ritz pairs every so many steps
  constexpr int kRestarts = 30;
  constexpr double kTolerance = 1e-11, kRounding = 1e-14;
  // The guess may be orthogonal to the vector that leads by now, in exact data exactly: something of every
  // direction is added to it.
  constexpr double kOther = 1e-2, kGolden = 0.6180339887498949;
  Vector v = guess;
  for (Index i = 0; i < n; ++i) {
    const double turn = kGolden * static_cast<double>(i + 1);
    v[i] += kOther / std::sqrt(static_cast<double>(n)) * (turn - std::floor(turn) - 0.5);
  }
  const Index most = std::min(n, kBasis);
  Matrix basis(n, most);
  Vector diagonal(most), beside(most), w(n), h(most);
  for (int restart = 0; restart < kRestarts; ++restart) {
    basis.col(0) = v / v.norm();
    for (Index j = 0; j < most; ++j) {
      const Index used = j + 1;
      linalg::gemv(1.0, linalg::Op::kNone, a, basis.col(j), 0.0, w);
      diagonal[j] = 0.0;
      for (int pass = 0; pass < 2; ++pass) {
        linalg::gemv(1.0, linalg::Op::kTranspose, basis.leftCols(used), w, 0.0, h.head(used));
        linalg::gemv(-1.0, linalg::Op::kNone, basis.leftCols(used), h.head(used), 1.0, w);
        diagonal[j] += h[j];
      }
      const double length = w.norm();
      const bool closed = !(length > kRounding * diagonal.head(used).maxCoeff());  // the space is invariant
      if (closed || used == most || used % kEvery == 0) {
        const linalg::SymmetricEigen ritz = linalg::tridiagonal_eigen(diagonal.head(used), beside.head(j));
        const auto s = ritz.vectors.col(j);
        const double value = ritz.values[j];
        const double distance = j > 0 ? value - ritz.values[j - 1] : value;
        const bool found =
            closed || length * std::abs(s[j]) <= std::max(kTolerance * distance, kRounding * value);
        if (found || used == most) {
          linalg::gemv(1.0, linalg::Op::kNone, basis.leftCols(used), s, 0.0, v);
          if (found) return v / v.norm();
          break;
        }
      }
      beside[j] = length;
      basis.col(used) = w / length;
    }
  }
  return leading_pairs(a, 1).vectors.col(0);  // the two largest values nearly agree
}

}  // namespace subspectra
