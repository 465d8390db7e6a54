#include "verify/dense_pair.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include <subspectra/error.hpp>
#include "eigen/symmetric.hpp"
#include "verify/class_rows.hpp"

namespace subspectra::verify {
namespace {

constexpr double kSharpest = 2e-9;  ///< what a certificate promises, and what printing it rounds off

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

namespace {

/// Sigma_w, some hundred rows at a time: what a sum over many rows rounds off stays small.
LongMatrix within_covariance(const ClassRows& rows) {
  constexpr Index kRows = 256;
  const Index n = rows.x.cols();
  LongMatrix b(n, n), block(kRows, n);
  for (Index first = 0; first < rows.x.rows(); first += kRows) {
    const Index count = std::min(kRows, rows.x.rows() - first);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < count; ++i)
        block(i, j) = std::sqrt(rows.weight(first + i)) * rows.deviation(first + i, j);
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i <= j; ++i) b(i, j) += dot(block.column(i), block.column(j), count);
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) b(j, i) = b(i, j);
  }
  return b;
}

DensePair class_pair(const std::shared_ptr<const ClassRows>& kept, const RidgeAmount& ridge) {
  const ClassRows& rows = *kept;
  constexpr double kMostLong = 4e9;  // products: some seconds
  const Index n = rows.x.cols();
  const double products = 0.5 * static_cast<double>(rows.x.rows()) * static_cast<double>(n * n);
  DensePair pair;
  LongMatrix m = between_factor(rows);
  const Matrix factor = in_double(m);
  std::vector<Long> ridges;
  for (Index j = 0; j < n; ++j) ridges.push_back(ridge_of(rows, j, ridge));
  pair.a = factor * factor.transpose();
  if (products <= kMostLong) {
    pair.long_b = within_covariance(rows);
    for (Index j = 0; j < n; ++j) pair.long_b(j, j) += ridges[static_cast<std::size_t>(j)];
    pair.b = in_double(pair.long_b);
    pair.long_m = std::move(m);
  } else {
    Matrix x(rows.x.rows(), n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < x.rows(); ++i)
        x(i, j) = static_cast<double>(std::sqrt(rows.weight(i)) * rows.deviation(i, j));
    }
    pair.b = gram(x);
    for (Index j = 0; j < n; ++j) pair.b(j, j) += static_cast<double>(ridges[static_cast<std::size_t>(j)]);
  }
  pair.rank = std::count_if(rows.share.begin(), rows.share.end(), [](Long share) { return share > 0.0L; });
  pair.rank = std::max<Index>(0, pair.rank - 1);
  pair.noise = 64.0 * kEpsilon;
  pair.more = std::make_shared<MoreDigits>(kept, std::move(ridges));
  return pair;
}

}  // namespace

DensePair table_pair(const Dataset& data, std::vector<Index> features, bool lda, const RidgeAmount& ridge) {
  DensePair pair;
  if (features.empty()) return pair;  // no set of the result names a column of the data
  if (lda) {
    pair = class_pair(std::make_shared<const ClassRows>(data, features), ridge);
  } else {
    Matrix x = data.values().columns(features);
    Vector w = Vector::Ones(data.rows());
    if (!data.weights().empty()) w = Eigen::Map<const Vector>(data.weights().data(), data.rows());
    w /= w.sum();
    for (int pass = 0; pass < 2; ++pass) {
      const Vector mean = x.transpose() * w;
      x.rowwise() -= mean.transpose();
    }
    x = (w.cwiseSqrt().asDiagonal() * x).eval();
    pair.a = gram(x);
    pair.rank = x.cols();
  }
  if (!pair.a.allFinite() || !pair.b.allFinite()) {
    throw BadInput({.file = data.source()},
                   "the squares of the values overflow, so that no result fits these data");
  }
  pair.features = std::move(features);
  return pair;
}

DensePair matrix_pair(const Matrix& a, const Matrix* b, std::vector<Index> features,
                      const RidgeAmount& ridge) {
  DensePair pair;
  if (features.empty()) return pair;
  pair.a = a(features, features);
  pair.rank = pair.a.rows();
  if (b != nullptr) {
    pair.b = (*b)(features, features);
    for (Index j = 0; j < pair.b.rows(); ++j) {
      const double variance = pair.b(j, j) > 0.0 ? pair.b(j, j) : pair.a(j, j);
      pair.b(j, j) += ridge.fraction * variance + ridge.value;
    }
    pair.more = std::make_shared<MoreDigits>(pair.a, pair.b);
  }
  pair.features = std::move(features);
  return pair;
}

namespace {

/// B_S with a unit diagonal, A_S in the same units: the eigenvalues are the same and the units of the
/// columns no longer matter; Cholesky loses as many digits as the condition of the scaled matrix says.
struct ScaledSet {
  Matrix a, b;
};

/// From doubles: the eigenvalues of (A_S, B_S), ascending; nothing where B_S is singular to rounding.
std::optional<Vector> double_eigenvalues(const ScaledSet& set) {
  const Eigen::LLT<Matrix> factor(set.b);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const Vector pivots = factor.matrixLLT().diagonal().array().square();
  if (!(pivots.minCoeff() > kEpsilon)) return std::nullopt;
  return linalg::generalized_eigenvalues(set.a, set.b);
}

/// In extended precision: those of T = C'C, B_S = R'R, C = R^{-T} M_S, ascending.
std::optional<Vector> long_eigenvalues(const DensePair& pair, const std::vector<Index>& places) {
  LongMatrix b = part(pair.long_b, places, true), m = part(pair.long_m, places, false);
  std::vector<Long> scale;
  for (Index i = 0; i < b.rows; ++i) scale.push_back(1.0L / std::sqrt(b(i, i)));
  for (Index j = 0; j < b.cols; ++j) {
    for (Index i = 0; i < b.rows; ++i)
      b(i, j) *= scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
  }
  for (Index j = 0; j < m.cols; ++j) {
    for (Index i = 0; i < m.rows; ++i) m(i, j) *= scale[static_cast<std::size_t>(i)];
  }
  const auto r = upper_cholesky(b);
  if (!r) return std::nullopt;
  for (Index i = 0; i < r->cols; ++i) {
    if (!((*r)(i, i) * (*r)(i, i) > kEpsilon)) return std::nullopt;
  }
  const LongMatrix c = solve_transposed(*r, std::move(m));
  const auto values = eigenvalues(transposed_product(c, c));
  Vector ascending(std::ssize(values));
  std::transform(values.rbegin(), values.rend(), ascending.data(),
                 [](Long value) { return static_cast<double>(value); });
  return ascending;
}

}  // namespace

DenseValue dense_value(const DensePair& pair, const std::vector<Index>& places, Criterion criterion) {
  DenseValue result;
  result.tolerance = 1e-8;
  result.sharp = kSharpest;
  const bool extended = !pair.long_b.empty();
  double epsilon = kEpsilon;
  Vector ascending;
  if (pair.identity()) {
    criterion = Criterion::kLargest;  // the only one of a covariance
    const linalg::SymmetricEigen eigen = linalg::small_symmetric_eigen(pair.a(places, places), false);
    if (!eigen.converged) return result;
    ascending = eigen.values;
    result.slack = result.sharp_slack = pair.noise;
    result.error = 1e-11;  // of sums over the rows in doubles
  } else {
    ScaledSet set{pair.a(places, places), pair.b(places, places)};
    if (!(set.b.diagonal().minCoeff() > 0.0)) return result;
    const Vector scale = set.b.diagonal().cwiseSqrt().cwiseInverse();
    set.b = (scale.asDiagonal() * set.b * scale.asDiagonal()).eval();
    set.a = (scale.asDiagonal() * set.a * scale.asDiagonal()).eval();
    const std::optional<Vector> values = extended ? long_eigenvalues(pair, places) : double_eigenvalues(set);
    if (!values) return result;
    ascending = *values;
    const Vector spectrum = linalg::small_symmetric_eigen(set.b, false).values;
    const double smallest =
        std::max(spectrum[0], kEpsilon);  // beyond that double tells nothing apart: the worst is taken
    result.condition = spectrum[set.b.rows() - 1] / smallest;
    if (extended) epsilon = static_cast<double>(kLongEpsilon);
    result.tolerance = std::max(result.tolerance, 100.0 * result.condition * kEpsilon);
    result.error = 100.0 * result.condition * epsilon;
    result.sharp = std::max(result.sharp, result.error);
  }
  result.feasible = ascending.allFinite();
  const Index kept = std::min({pair.rank, ascending.size(), std::ssize(places)});
  result.eigenvalues = ascending.reverse().head(kept).cwiseMax(0.0);
  result.value = criterion_of(criterion, result.eigenvalues);
  if (!pair.identity()) {  // |a + da|^2 = |a|^2 + 2 a da + ..., da = noise
    const double amplified = pair.noise * pair.noise * result.condition;
    result.slack = 2.0 * std::sqrt(result.value * amplified) + amplified;
    result.sharp_slack = result.slack;
    if (criterion == Criterion::kWilks) {
      // Every eigenvalue is known to a fraction of the largest one only; log(1 + lambda) of a small one feels
      // it.
      double felt = 0.0;
      for (const double value : result.eigenvalues) felt += result.largest() / (1.0 + value);
      result.slack += 100.0 * result.condition * kEpsilon * felt;
      result.sharp_slack += 100.0 * result.condition * epsilon * felt;
    }
  }
  return result;
}

std::optional<DenseValue> sharper_value(const DensePair& pair, const std::vector<Index>& places,
                                        Criterion criterion) {
  if (!pair.more || places.empty()) return std::nullopt;
  const auto known = pair.more->values(places);
  if (!known) return std::nullopt;
  DenseValue result;
  result.condition = known->condition;
  result.dependent = known->is == QuadValues::Is::kDependent;
  if (known->is != QuadValues::Is::kKnown) return result;
  result.feasible = result.quad = true;
  const Index kept = std::min({pair.rank, known->values.size(), std::ssize(places)});
  result.eigenvalues = known->values.reverse().head(kept).cwiseMax(0.0);
  result.value = criterion_of(criterion, result.eigenvalues);
  result.error = known->relative + 4.0 * kEpsilon;  // it is a double
  result.sharp = std::max(kSharpest, result.error);
  result.tolerance = std::max(1e-8, 100.0 * result.condition * kEpsilon);
  result.slack = result.sharp_slack = static_cast<double>(std::max<Index>(1, kept)) * known->absolute;
  if (criterion == Criterion::kWilks) {  // as above
    double felt = 0.0;
    for (const double value : result.eigenvalues) felt += result.largest() / (1.0 + value);
    result.slack += 100.0 * result.condition * kEpsilon * felt;
    result.sharp_slack += known->relative * felt;
  }
  return result;
}

}  // namespace subspectra::verify
