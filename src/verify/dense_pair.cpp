#include "verify/dense_pair.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "eigen/symmetric.hpp"

namespace subspectra::verify {
namespace {

// Eigen's own product and not linalg::, which the searches use: here speed comes second.
Matrix gram(const Matrix& z) {
  Matrix s = Matrix::Zero(z.cols(), z.cols());
  s.selfadjointView<Eigen::Lower>().rankUpdate(z.transpose());
  return s.selfadjointView<Eigen::Lower>();
}

double criterion_of(Criterion criterion, const Vector& values) {
  if (values.size() == 0) return 0.0;
  if (criterion == Criterion::kLargest) return values[0];
  return criterion == Criterion::kTrace ? values.sum() : values.array().log1p().sum();
}

}  // namespace

std::vector<Index> DensePair::places(const std::vector<Index>& of) const {
  std::vector<Index> at;
  at.reserve(of.size());
  for (const Index j : of) {
    at.push_back(std::lower_bound(features.begin(), features.end(), j) - features.begin());
  }
  return at;
}

DensePair table_pair(const Dataset& data, std::vector<Index> features, bool lda, double ridge) {
  DensePair pair;
  if (features.empty()) return pair;  // no set of the result names a column of the data
  Matrix x = data.values().columns(features);
  Vector w = Vector::Ones(data.rows());
  if (!data.weights().empty()) w = Eigen::Map<const Vector>(data.weights().data(), data.rows());
  w /= w.sum();
  // Two passes: the first mean takes the offset away, so that the second one has every digit of the spread.
  for (int pass = 0; pass < 2; ++pass) {
    const Vector mean = x.transpose() * w;
    x.rowwise() -= mean.transpose();
  }
  const auto n = static_cast<Index>(features.size());
  if (lda) {
    const auto& codes = data.labels()->codes;
    const Index classes = data.labels()->class_count();
    Matrix centres = Matrix::Zero(n, classes);
    Vector share = Vector::Zero(classes);
    for (Index i = 0; i < x.rows(); ++i) {
      const int c = codes[static_cast<std::size_t>(i)];
      share[c] += w[i];
      centres.col(c) += w[i] * x.row(i).transpose();
    }
    pair.a = Matrix::Zero(n, n);
    for (Index c = 0; c < classes; ++c) {
      if (!(share[c] > 0.0)) continue;
      centres.col(c) /= share[c];
      pair.a += share[c] * centres.col(c) * centres.col(c).transpose();
      ++pair.rank;
    }
    for (Index i = 0; i < x.rows(); ++i)
      x.row(i) -= centres.col(codes[static_cast<std::size_t>(i)]).transpose();
    pair.rank = std::max<Index>(0, pair.rank - 1);
    pair.noise = 64.0 * kEpsilon;
  }
  x = (w.cwiseSqrt().asDiagonal() * x).eval();
  if (lda) {
    pair.b = gram(x);
    pair.b.diagonal().array() += ridge;
  } else {
    pair.a = gram(x);
    pair.rank = n;
  }
  if (!pair.a.allFinite() || !pair.b.allFinite()) {
    throw BadInput({.file = data.source()},
                   "the squares of the values overflow, so that no result fits these data");
  }
  pair.features = std::move(features);
  return pair;
}

DensePair matrix_pair(const Matrix& a, const Matrix* b, std::vector<Index> features, double ridge) {
  DensePair pair;
  if (features.empty()) return pair;
  pair.a = a(features, features);
  pair.rank = pair.a.rows();
  if (b != nullptr) {
    pair.b = (*b)(features, features);
    pair.b.diagonal().array() += ridge;
  }
  pair.features = std::move(features);
  return pair;
}

DenseValue dense_value(const DensePair& pair, const std::vector<Index>& places, Criterion criterion) {
  DenseValue result;
  result.tolerance = 1e-8;
  Matrix a = pair.a(places, places);
  Vector ascending;
  if (pair.identity()) {
    criterion = Criterion::kLargest;  // the only one of a covariance
    const linalg::SymmetricEigen eigen = linalg::small_symmetric_eigen(a, false);
    if (!eigen.converged) return result;
    ascending = eigen.values;
    result.slack = pair.noise;
  } else {
    Matrix b = pair.b(places, places);
    // With B scaled to a unit diagonal the eigenvalues are the same and the units of the columns no longer
    // matter: Cholesky loses as many digits as the condition of the scaled matrix says.
    if (!(b.diagonal().minCoeff() > 0.0)) return result;
    const Vector scale = b.diagonal().cwiseSqrt().cwiseInverse();
    b = (scale.asDiagonal() * b * scale.asDiagonal()).eval();
    a = (scale.asDiagonal() * a * scale.asDiagonal()).eval();
    const Eigen::LLT<Matrix> factor(b);
    if (factor.info() != Eigen::Success) return result;
    const Vector pivots = factor.matrixLLT().diagonal().array().square();
    if (!(pivots.minCoeff() > kEpsilon)) return result;
    const Vector spectrum = linalg::small_symmetric_eigen(b, false).values;
    const double smallest = spectrum[0];
    if (!(smallest > 0.0)) return result;
    result.condition = spectrum[b.rows() - 1] / smallest;
    result.tolerance = std::max(result.tolerance, 100.0 * result.condition * kEpsilon);
    const std::optional<Vector> values = linalg::generalized_eigenvalues(a, b);
    if (!values) return result;
    ascending = *values;
  }
  result.feasible = ascending.allFinite();
  const Index kept = std::min(pair.rank, ascending.size());
  result.eigenvalues = ascending.reverse().head(kept).cwiseMax(0.0);
  result.value = criterion_of(criterion, result.eigenvalues);
  if (!pair.identity()) {  // |a + da|^2 = |a|^2 + 2 a da + ..., da = noise
    const double amplified = pair.noise * pair.noise * result.condition;
    result.slack = 2.0 * std::sqrt(result.value * amplified) + amplified;
    if (criterion == Criterion::kWilks) {
      // Every eigenvalue is known to a fraction of the largest one only; log(1 + lambda) of a small one feels
      // it.
      const double blur = 100.0 * result.condition * kEpsilon * result.largest();
      for (const double value : result.eigenvalues) result.slack += blur / (1.0 + value);
    }
  }
  return result;
}

}  // namespace subspectra::verify
