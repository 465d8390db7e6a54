/// Sums run in plain loops in a fixed order and not through BLAS, whose kernels (and so the last bits) differ
/// from one CPU to the next: a problem has to be the same one everywhere. They are small, and made once.
#include "synth/brownian.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/memory.hpp"
#include "synth/distributions.hpp"

namespace subspectra::synth {
namespace {

constexpr double kMeanDifference = 0.8;
constexpr Index kPathsAFeature = 4;

/// L with L L' = C, C_ij = 1/2 (s^2H + t^2H - |t - s|^2H) at s = i + 1, t = j + 1. C is positive definite for
/// 0 < H < 1, and far from singular: its increments are stationary with a spectral density bounded from
/// below.
Matrix fractional_factor(Index n, double hurst) {
  Vector power(n + 1);  // t^2H
  for (Index t = 0; t <= n; ++t) power[t] = std::pow(static_cast<double>(t), 2.0 * hurst);
  Matrix factor = Matrix::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) factor(i, j) = 0.5 * (power[i + 1] + power[j + 1] - power[i - j]);
  }
  for (Index j = 0; j < n; ++j) {  // right-looking: column j is done, its square leaves the columns behind it
    factor.col(j).tail(n - j) /= std::sqrt(factor(j, j));
    for (Index k = j + 1; k < n; ++k) {
      factor.col(k).tail(n - k) -= factor(k, j) * factor.col(j).tail(n - k);
    }
  }
  return factor;
}

/// (1/N) sum (x - mean)(x - mean)' of the columns of `paths`, both triangles equal.
Matrix covariance_of_columns(Matrix paths) {
  const Index n = paths.rows();
  Vector mean = Vector::Zero(n);
  for (Index r = 0; r < paths.cols(); ++r) mean += paths.col(r);
  mean /= static_cast<double>(paths.cols());
  paths.colwise() -= mean;
  Matrix sum = Matrix::Zero(n, n);
  for (Index r = 0; r < paths.cols(); ++r) {
    const auto x = paths.col(r);
    for (Index j = 0; j < n; ++j) sum.col(j).tail(n - j) += x[j] * x.tail(n - j);
  }
  sum /= static_cast<double>(paths.cols());
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) sum(j, i) = sum(i, j);
  }
  return sum;
}

/// One matrix of a pair. Stream `first` gives H or beta, stream first + 1 + r path r.
Matrix walk_covariance(WalkKind kind, Index n, std::uint64_t seed, std::uint64_t first) {
  Random parameter(seed, first);
  Matrix paths = Matrix::Zero(n, kPathsAFeature * n);
  const auto stream_of = [&](Index r) { return first + 1 + static_cast<std::uint64_t>(r); };
  if (kind == WalkKind::kFractional) {
    const Matrix factor = fractional_factor(n, uniform(parameter, 0.1, 0.9));
    for (Index r = 0; r < paths.cols(); ++r) {
      Random random(seed, stream_of(r));
      for (Index j = 0; j < n; ++j) {
        const double z = random.normal();
        paths.col(r).tail(n - j) += z * factor.col(j).tail(n - j);
      }
    }
  } else {
    const double beta = walk_shape(parameter);
    for (Index r = 0; r < paths.cols(); ++r) {
      Random random(seed, stream_of(r));
      double at = 0.0;
      for (Index j = 0; j < n; ++j) paths(j, r) = at += generalized_gaussian(random, beta);
    }
  }
  return covariance_of_columns(std::move(paths));
}

}  // namespace

double walk_shape(Random& random) { return std::exp2(uniform(random, -1.0, 3.0)); }

void Brownian::validate() const {
  if (rows < 2)
    throw InvalidArgument({.field = "rows",
                           .value = fmt::to_string(rows),
                           .rule = "{value}, but at least 2 are needed: one a class"});
  if (features < 1)
    throw InvalidArgument({.field = "features",
                           .value = fmt::to_string(features),
                           .rule = "{value}, but at least 1 is needed"});
}

void BrownianPair::validate() const {
  if (features < 1)
    throw InvalidArgument({.field = "features",
                           .value = fmt::to_string(features),
                           .rule = "{value}, but at least 1 is needed"});
}

Dataset Brownian::make() const {
  validate();
  DatasetParts data = empty_table("brownian", rows, features);
  const auto walk = [&](std::uint64_t stream, auto&& put) {
    Random random(seed, stream);
    double at = 0.0;
    for (Index j = 0; j < features; ++j) put(j, at += random.normal());
  };
  Vector difference(features);
  const double scale = kMeanDifference / std::sqrt(static_cast<double>(features));
  walk(streams::synth_parameters(), [&](Index j, double at) { difference[j] = scale * at; });

  data.labels = Labels{.name = "class", .classes = {"a", "b"}, .codes = {}};
  for (Index i = 0; i < rows; ++i) {
    const int code = static_cast<int>(i % 2);
    data.labels->codes.push_back(code);
    walk(streams::synth_item(i),
         [&](Index j, double at) { data.dense(i, j) = code == 1 ? at + difference[j] : at; });
  }
  return data;
}

std::pair<Matrix, Matrix> BrownianPair::make() const {
  validate();
  const Index n = features;
  const auto size = static_cast<double>(n);
  require_memory(8.0 * (kPathsAFeature + 3) * size * size, fmt::format("a pair of {} x {} matrices", n, n),
                 "ask for fewer ⟨features⟩");
  return {walk_covariance(kind, n, seed, streams::synth_parameters()),
          walk_covariance(kind, n, seed, streams::synth_parameters() + streams::kSecondSynth)};
}

}  // namespace subspectra::synth
