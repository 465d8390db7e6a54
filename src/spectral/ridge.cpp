#include "spectral/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/finite.hpp"
#include "data/moments.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra {
namespace {

/// lambda_min > tolerance * lambda_max, shown by a Cholesky factorisation of B - tolerance |B| I (|B| >=
/// lambda_max the largest row sum): n^3/3 level-3 flops instead of a full spectrum. False says only "not
/// shown".
bool clearly_full_rank(Matrix b, double tolerance) {
  const double norm = b.cwiseAbs().rowwise().sum().maxCoeff();
  if (!(norm > 0.0)) return false;
  b.diagonal().array() -= tolerance * norm;
  return linalg::cholesky(b);
}

/// 1e-3 of the smallest eigenvalue above the threshold of rank; nothing when there is none.
std::optional<double> from_spectrum(const Vector& values, double threshold) {
  for (const double value : values) {
    if (value > 0.0 && value > threshold) return 1e-3 * value;
  }
  return std::nullopt;
}

}  // namespace

ResolvedRidge resolve_ridge(const Dataset& data, const std::vector<Index>& candidates, const Ridge& ridge,
                            int threads, std::uint64_t memory_limit, const WithinRows& within) {
  if (ridge.value) return {*ridge.value, {}};
  const auto p = static_cast<Index>(candidates.size());
  const Index n = data.rows();
  if (p == 0) return {};
  const double tolerance = static_cast<double>(p) * kEpsilon;
  const bool wide = p > n;
  const double side = static_cast<double>(std::min(p, n));
  constexpr double kMostSide = 12000.0;  // its spectrum takes 9 n^3 flops: some minutes
  if (side > kMostSide) {
    const double suggested =
        1e-3 *
        compute_moments(data, candidates, Moments::SecondOrder::kDiagonal, threads).within_variances().mean();
    throw InvalidArgument(
        {.field = "ridge",
         .value = "auto",
         .rule = fmt::format("{{value}} needs the spectrum of a {0} x {0} matrix, which is too much work",
                             std::min(p, n)),
         .way_out = fmt::format(
             "give a number, for example ⟨ridge {:.3g}⟩ (a thousandth of the mean within-class variance)",
             suggested)});
  }
  require_memory(2.0 * side * side * sizeof(double),
                 "⟨ridge auto⟩ (the spectrum of the within-class covariance)",
                 "give a number with ⟨ridge VALUE⟩", memory_limit);
  Matrix b =
      wide ? (within ? within().gram(candidates, threads)
                     : CovarianceOperator(data, CovarianceOperator::Centring::kByClass, threads)
                           .gram(candidates, threads))
           : compute_moments(data, candidates, Moments::SecondOrder::kFull, threads).within_covariance();
  if (!b.allFinite()) {
    require_finite(data, candidates);
    Index widest = candidates.front();
    double largest = 0.0;
    for (const Index j : candidates) {
      const double value = data.values().column(j).cwiseAbs().maxCoeff();
      if (value > largest) {
        largest = value;
        widest = j;
      }
    }
    throw BadInput(
        {.file = data.source()},
        fmt::format(
            "the squares of column '{}' overflow, its largest value being {:.3g}; rescale it (⟨standardize⟩, or divide by a constant)",
            data.names()[widest], largest));
  }
  if (!wide && clearly_full_rank(b, tolerance)) return {};
  const Vector values = linalg::symmetric_eigen(std::move(b), false).values;
  const double threshold = tolerance * values[values.size() - 1];
  if (!wide && values[0] > threshold) return {};
  if (const auto eps = from_spectrum(values, threshold)) {
    return {
        *eps,
        fmt::format(
            "the within-class covariance of {} features and {} rows is singular: {:.6g} was added to its diagonal (⟨ridge auto⟩; ⟨ridge VALUE⟩ sets it)",
            p, n, *eps)};
  }
  double smallest = kInfinity;
  for (const double variance :
       compute_moments(data, candidates, Moments::SecondOrder::kDiagonal, threads).between_variances()) {
    if (variance > 0.0) smallest = std::min(smallest, variance);
  }
  if (!std::isfinite(smallest)) return {};
  return {
      1e-3 * smallest,
      fmt::format(
          "no feature varies within a class: {:.6g} was added to the diagonal of the within-class covariance (⟨ridge VALUE⟩ sets it)",
          1e-3 * smallest)};
}

ResolvedRidge resolve_ridge(const Matrix& b, const std::vector<Index>& candidates, const Ridge& ridge) {
  if (ridge.value) return {*ridge.value, {}};
  const Matrix part = b(candidates, candidates);
  if (part.size() == 0) return {};
  const double tolerance = static_cast<double>(part.rows()) * kEpsilon;
  if (clearly_full_rank(part, tolerance)) return {};
  const Vector values = linalg::symmetric_eigen(part, false).values;
  const double largest = values[values.size() - 1];
  const double threshold = tolerance * std::max(largest, -values[0]);
  if (values[0] < -1e3 * threshold) {
    throw BadInput(fmt::format(
        "B (⟨within⟩) has the eigenvalue {:.6g}; a within-class matrix is positive semidefinite", values[0]));
  }
  if (values[0] > threshold) return {};
  const auto eps = from_spectrum(values, threshold);
  if (!eps) throw BadInput("B (⟨within⟩) is zero; nothing can be measured against it");
  return {
      *eps,
      fmt::format(
          "B (⟨within⟩) is singular: {:.6g} was added to its diagonal (⟨ridge auto⟩; ⟨ridge VALUE⟩ sets it)",
          *eps)};
}

}  // namespace subspectra
