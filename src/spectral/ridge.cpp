#include "subspectra/spectral/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subspectra/core/memory.hpp"
#include "subspectra/core/text.hpp"
#include "subspectra/data/moments.hpp"
#include "subspectra/linalg/blas.hpp"

namespace subspectra {
namespace {

constexpr double kEpsilon = 0x1p-52;

/// lambda_min > tolerance * lambda_max, shown by a Cholesky factorisation of B - tolerance |B| I (|B| >=
/// lambda_max the largest row sum): n^3/3 level-3 flops instead of a full spectrum. False says only "not
/// shown".
bool clearly_full_rank(Matrix b, double tolerance) {
  const double norm = b.cwiseAbs().rowwise().sum().maxCoeff();
  if (!(norm > 0.0)) return false;
  b.diagonal().array() -= tolerance * norm;
  return linalg::cholesky(b);
}

/// G = Xw Xw'/N, Xw the class-centred rows times the square root of their weights, over column panels of
/// fixed size.
Matrix within_gram(const Dataset& data, const std::vector<Index>& candidates) {
  constexpr std::size_t kPanel = 1024;
  const Index n = data.rows();
  const auto& codes = data.labels->codes;
  const int classes = data.labels->class_count();
  Vector root_weight(n), class_weight = Vector::Zero(classes);
  for (Index i = 0; i < n; ++i) {
    root_weight[i] = codes[i] < 0 ? 0.0 : std::sqrt(data.weight(i));
    if (codes[i] >= 0) class_weight[codes[i]] += data.weight(i);
  }
  Matrix gram = Matrix::Zero(n, n);
  for (std::size_t begin = 0; begin < candidates.size(); begin += kPanel) {
    const std::size_t end = std::min(begin + kPanel, candidates.size());
    Matrix panel = data.columns({candidates.begin() + static_cast<std::ptrdiff_t>(begin),
                                 candidates.begin() + static_cast<std::ptrdiff_t>(end)});
    Matrix means = Matrix::Zero(classes, panel.cols());
    for (Index j = 0; j < panel.cols(); ++j) {
      for (Index i = 0; i < n; ++i) {
        if (codes[i] >= 0) means(codes[i], j) += data.weight(i) * panel(i, j);
      }
      for (int c = 0; c < classes; ++c)
        means(c, j) = class_weight[c] > 0.0 ? means(c, j) / class_weight[c] : 0.0;
      for (Index i = 0; i < n; ++i) {
        panel(i, j) = codes[i] < 0 ? 0.0 : (panel(i, j) - means(codes[i], j)) * root_weight[i];
      }
    }
    linalg::syrk(1.0 / class_weight.sum(), linalg::Op::kNone, panel, 1.0, gram);
  }
  return gram;
}

}  // namespace

ResolvedRidge resolve_ridge(const Dataset& data, const std::vector<Index>& candidates, const Ridge& ridge,
                            int threads, std::uint64_t memory_limit) {
  if (ridge.value) return {*ridge.value, {}};
  const auto p = static_cast<Index>(candidates.size());
  const Index n = data.rows();
  if (p == 0) return {};
  const double tolerance = static_cast<double>(p) * kEpsilon;
  const bool wide = p > n;
  const double side = static_cast<double>(std::min(p, n));
  require_memory(2.0 * side * side * sizeof(double),
                 "--ridge auto (the spectrum of the within-class covariance)",
                 "give a number with --ridge VALUE", memory_limit);
  Matrix b =
      wide ? within_gram(data, candidates)
           : compute_moments(data, candidates, Moments::SecondOrder::kFull, threads).within_covariance();
  if (!b.allFinite()) {
    throw BadInput(
        {.file = data.source},
        "the squares of the values overflow; rescale the columns (--standardize, or divide by a constant)");
  }
  if (!wide && clearly_full_rank(b, tolerance)) return {};
  const Vector values = linalg::symmetric_eigen(std::move(b), false).values;
  const double threshold = tolerance * values[values.size() - 1];
  if (!wide && values[0] > threshold) return {};
  for (const double value : values) {
    if (value > 0.0 && value > threshold) {
      const double eps = 1e-3 * value;
      return {eps,
              fmt::format(
                  "the within-class covariance of {} and {} is singular: {:.6g} was added to its diagonal "
                  "(--ridge auto; --ridge VALUE sets it)",
                  counted(p, "feature"), counted(n, "row"), eps)};
    }
  }
  double smallest = kInfinity;
  for (const double variance :
       compute_moments(data, candidates, Moments::SecondOrder::kDiagonal, threads).between_variances()) {
    if (variance > 0.0) smallest = std::min(smallest, variance);
  }
  if (!std::isfinite(smallest)) return {};
  return {1e-3 * smallest,
          fmt::format("no feature varies within a class: {:.6g} was added to the diagonal of the "
                      "within-class covariance (--ridge VALUE sets it)",
                      1e-3 * smallest)};
}

}  // namespace subspectra
