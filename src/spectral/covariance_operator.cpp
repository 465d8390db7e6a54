#include "spectral/covariance_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

std::vector<int> row_classes(const Dataset& data, CovarianceOperator::Centring centring) {
  if (centring == CovarianceOperator::Centring::kByClass) return data.labels()->codes;
  return std::vector<int>(static_cast<std::size_t>(data.rows()), 0);
}

/// Some column stands so far from zero that X'z would lose digits which the centred column still has.
bool far_from_zero(const Moments& moments, const Vector& variances) {
  constexpr double kFar = 1e4;
  for (Index j = 0; j < moments.features(); ++j) {
    if (moments.class_means().row(j).cwiseAbs().maxCoeff() > kFar * std::sqrt(variances[j]) &&
        variances[j] > 0.0) {
      return true;
    }
  }
  return false;
}

constexpr Index kPanel = 1024;  // columns of Z made at a time

}  // namespace

CovarianceOperator::CovarianceOperator(const Dataset& data, Centring centring, int threads)
    : CovarianceOperator(data, centring,
                         std::make_shared<const Moments>(
                             centring == Centring::kByClass
                                 ? compute_moments(data, Moments::SecondOrder::kDiagonal, threads)
                                 : compute_total_moments(data, Moments::SecondOrder::kDiagonal, threads))) {}

CovarianceOperator::CovarianceOperator(const Dataset& data, Centring centring,
                                       std::shared_ptr<const Moments> moments)
    : data_(data),
      centring_(centring),
      codes_(row_classes(data, centring)),
      moments_(std::move(moments)),
      diagonal_(moments_->within_variances()),
      root_weight_(data.rows()) {
  const double total = moments_->total_weight();
  for (Index i = 0; i < data.rows(); ++i) {
    root_weight_[i] = codes_[i] < 0 ? 0.0 : std::sqrt(data.weight(i) / total);
  }
  if (data.values().source()) {
    centres_blocks_ = far_from_zero(*moments_, diagonal_);
  } else if (!data.values().leaves_out_zeros() && far_from_zero(*moments_, diagonal_)) {
    std::vector<Index> all(static_cast<std::size_t>(data.features()));
    std::iota(all.begin(), all.end(), Index{0});
    copy_ = std::make_shared<const Matrix>(centred(all));
  }
}

CovarianceOperator CovarianceOperator::in_units_of(const Vector& scale) const {
  CovarianceOperator scaled = *this;
  scaled.per_unit_ = scale.cwiseInverse();
  scaled.diagonal_ = diagonal_.cwiseQuotient(scale.cwiseAbs2());
  return scaled;
}

void CovarianceOperator::by_centred_blocks(const MatrixRef& u, linalg::MutableMatrix out, int threads) const {
  constexpr Index kMostColumns = 64, kMostValues = 1 << 21;  // 16 MB a thread
  const Index columns = std::clamp<Index>(kMostValues / std::max<Index>(1, rows()), 1, kMostColumns);
  CovarianceOperator in_table_units = *this;
  in_table_units.per_unit_.resize(0);
  parallel_for((size() + columns - 1) / columns, threads, [&](Index item) {
    std::vector<Index> some(static_cast<std::size_t>(std::min(columns, size() - item * columns)));
    std::iota(some.begin(), some.end(), item * columns);
    linalg::gemm(1.0, linalg::Op::kTranspose, in_table_units.centred(some), linalg::Op::kNone, u, 0.0,
                 out.middleRows(some.front(), static_cast<Index>(some.size())));
  });
}

Vector CovarianceOperator::direction(Index j) const {
  if (copy_ != nullptr) return copy_->col(j);
  if (centres_blocks_) {
    Vector z = centred({j});
    if (per_unit_.size() > 0) z /= per_unit_[j];
    return z;
  }
  Vector v = data_.values().column(j);
  const auto means = moments_->class_means().row(j);
  for (Index i = 0; i < v.size(); ++i) {
    v[i] = codes_[i] < 0 ? 0.0 : (v[i] - means[codes_[i]]) * root_weight_[i] * root_weight_[i];
  }
  return v;
}

void CovarianceOperator::column(Index j, linalg::MutableVector out, int threads) const {
  const Vector v = direction(j);
  if (copy_ != nullptr) {
    linalg::gemv_transposed(*copy_, v, out, threads);
  } else if (centres_blocks_) {
    Eigen::Map<Matrix> result(out.data(), size(), 1);
    by_centred_blocks(v, result, threads);
  } else {
    data_.values().transposed_times(VectorRef(v), out, threads);
  }
  if (per_unit_.size() > 0) out.array() *= per_unit_.array() * per_unit_[j];
  out[j] = diagonal_[j];
}

std::optional<Matrix> CovarianceOperator::part_of_kept(const std::vector<Index>& features) const {
  std::shared_ptr<const std::vector<Index>> place;
  std::shared_ptr<const Matrix> block;
  {
    const std::lock_guard lock(kept_->mutex);
    place = kept_->place;
    block = kept_->block;
  }
  if (block == nullptr) return std::nullopt;
  std::vector<Index> at;
  at.reserve(features.size());
  for (const Index j : features) {
    at.push_back((*place)[static_cast<std::size_t>(j)]);
    if (at.back() < 0) return std::nullopt;
  }
  if (static_cast<Index>(at.size()) == block->rows() && std::is_sorted(at.begin(), at.end())) return *block;
  return Matrix((*block)(at, at));
}

void CovarianceOperator::keep(const std::vector<Index>& features, const Matrix& block) const {
  constexpr Index kLeast = 256, kMost = 5000;  // 200 MB
  const Index n = block.rows();
  if (n < kLeast || n > kMost || n > rows()) return;
  {
    const std::lock_guard lock(kept_->mutex);
    if (kept_->block != nullptr && kept_->block->rows() >= n) return;
  }
  auto place = std::make_shared<std::vector<Index>>(static_cast<std::size_t>(size()), -1);
  for (Index i = 0; i < n; ++i) (*place)[static_cast<std::size_t>(features[static_cast<std::size_t>(i)])] = i;
  auto copy = std::make_shared<const Matrix>(block);
  const std::lock_guard lock(kept_->mutex);
  kept_->place = std::move(place);
  kept_->block = std::move(copy);
}

Matrix CovarianceOperator::block(const std::vector<Index>& features, int threads) const {
  // Computed outside of the lock: a thread that waits for a part of the sums may be given another caller.
  std::optional<Matrix> known = part_of_kept(features);
  if (!known) {
    known = (centring_ == Centring::kByClass
                 ? compute_moments(data_, features, Moments::SecondOrder::kFull, threads)
                 : compute_total_moments(data_, features, Moments::SecondOrder::kFull, threads))
                .within_covariance();
    keep(features, *known);
  }
  Matrix b = *std::move(known);
  if (per_unit_.size() > 0) {
    const Vector per_unit = per_unit_(features);
    b = per_unit.asDiagonal() * b * per_unit.asDiagonal();
    b.diagonal() = diagonal_(features);  // the same bits in both places
  }
  return b;
}

Matrix CovarianceOperator::centred(const std::vector<Index>& features) const {
  Matrix z = data_.values().columns(features);
  for (Index c = 0; c < z.cols(); ++c) {
    const Vector means = moments_->class_means().row(features[static_cast<std::size_t>(c)]);
    const double *const mean = means.data(), *const weight = root_weight_.data();
    const int* const code = codes_.data();
    double* const column = z.col(c).data();
    for (Index i = 0; i < z.rows(); ++i)
      column[i] = code[i] < 0 ? 0.0 : (column[i] - mean[code[i]]) * weight[i];
    if (per_unit_.size() > 0) z.col(c) *= per_unit_[features[static_cast<std::size_t>(c)]];
  }
  return z;
}

Matrix CovarianceOperator::gram(const std::vector<Index>& features, int threads) const {
  constexpr Index kMostKept = 2000;
  if (const auto known = kept_gram(features)) return *known;
  Matrix gram = Matrix::Zero(rows(), rows());
  for (std::size_t begin = 0; begin < features.size(); begin += kPanel) {
    const auto first = features.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        features.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kPanel, features.size()));
    linalg::rank_update_lower(1.0, centred({first, last}), gram, threads);
  }
  linalg::mirror_lower(gram);
  if (rows() <= kMostKept && std::ssize(features) > rows()) {
    auto copy = std::make_shared<const Matrix>(gram);
    const std::lock_guard lock(kept_->mutex);
    kept_->gram_features = features;
    kept_->gram_per_unit = per_unit_;
    kept_->gram = std::move(copy);
  }
  return gram;
}

std::shared_ptr<const Matrix> CovarianceOperator::kept_gram(const std::vector<Index>& features) const {
  const std::lock_guard lock(kept_->mutex);
  const bool same = kept_->gram != nullptr && kept_->gram_features == features &&
                    kept_->gram_per_unit.size() == per_unit_.size() && kept_->gram_per_unit == per_unit_;
  return same ? kept_->gram : nullptr;
}

Matrix CovarianceOperator::times(const std::vector<Index>& features, const MatrixRef& y) const {
  Matrix own = y;
  if (per_unit_.size() > 0) own.array().colwise() *= per_unit_(features).array();
  Matrix out = Matrix::Zero(rows(), y.cols());
  if (copy_ != nullptr) {
    linalg::gemm(1.0, linalg::Op::kNone, (*copy_)(Eigen::all, features), linalg::Op::kNone, own, 0.0, out);
    return out;
  }
  const Values& values = data_.values();
  if (!values.leaves_out_zeros() && std::ssize(features) == size()) {
    linalg::gemm(1.0, linalg::Op::kNone, values.packed(), linalg::Op::kNone, own, 0.0, out);
  } else {
    for (Index k = 0; k < own.rows(); ++k) {
      values.each_entry(features[static_cast<std::size_t>(k)], [&](Index row, double value) {
        for (Index c = 0; c < own.cols(); ++c) out(row, c) += value * own(k, c);
      });
    }
  }
  const Matrix means = moments_->class_means()(features, Eigen::all);
  Matrix offsets(means.cols(), y.cols());
  linalg::gemm(1.0, linalg::Op::kTranspose, means, linalg::Op::kNone, own, 0.0, offsets);
  for (Index i = 0; i < rows(); ++i) {
    if (codes_[i] < 0) {
      out.row(i).setZero();
    } else {
      out.row(i) = (out.row(i) - offsets.row(codes_[i])) * root_weight_[i];
    }
  }
  return out;
}

Matrix CovarianceOperator::transposed_times(const MatrixRef& u, int threads) const {
  Matrix scaled = u.array().colwise() * root_weight_.array();
  // Z'u = X'(weighted u) minus each class mean times the class's sum of it.
  Matrix sums = Matrix::Zero(moments_->classes(), u.cols());
  for (Index i = 0; i < rows(); ++i) {
    if (codes_[i] >= 0) sums.row(codes_[i]) += scaled.row(i);
  }
  Matrix out(size(), u.cols());
  if (copy_ != nullptr) {
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, *copy_, u, 0.0, out, threads);
  } else if (centres_blocks_) {
    by_centred_blocks(u, out, threads);
  } else {
    data_.values().transposed_times(MatrixRef(scaled), out, threads);
    linalg::gemm(-1.0, linalg::Op::kNone, moments_->class_means(), linalg::Op::kNone, sums, 1.0, out);
  }
  if (per_unit_.size() > 0) out.array().colwise() *= per_unit_.array();
  return out;
}

}  // namespace subspectra
