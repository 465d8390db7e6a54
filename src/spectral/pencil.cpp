#include "spectral/pencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "data/finite.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

/// Second moments must stay well inside the range of a double: products of two of them occur in every search.
/// `table` is the one whose columns these are; a matrix has none.
void require_scale(const Vector& diagonal, const std::string& source, const Dataset* table) {
  constexpr double kLargest = 1e150, kSmallest = 1e-150;
  for (Index j = 0; j < diagonal.size(); ++j) {
    if (diagonal[j] <= kLargest) continue;  // not so NaN, what is left of squares that overflowed
    if (table != nullptr) require_finite(*table, {j});
    const std::string value =
        std::isfinite(diagonal[j]) ? fmt::format("{:.3g}", diagonal[j]) : std::string("above 1e308");
    throw BadInput(
        {.file = source},
        table == nullptr
            ? fmt::format(
                  "the variance of feature {} is {}, too large to compute with (the limit is {:.0e}); rescale the features (divide them by a constant)",
                  j, value, kLargest)
            : fmt::format(
                  "the variance of column '{}' is {}, too large to compute with (the limit is {:.0e}); rescale it (⟨standardize⟩, or, from 1e300 on, divide by a constant)",
                  table->names()[j], value, kLargest));
  }
  const double largest = diagonal.size() > 0 ? diagonal.maxCoeff() : 0.0;
  if (largest < kSmallest) {
    throw BadInput(
        {.file = source},
        fmt::format(
            "variances of at most {:.3g} are too small to compute with (the limit is {:.0e}); rescale the columns (multiply them by a constant)",
            largest, kSmallest));
  }
}

/// The K columns sqrt(n_c/N) (mu_c - mu) of the between factor are bound by M q = 0, q_c = sqrt(n_c/N): a
/// reflection that takes q to the first axis leaves r = K - 1 columns, M_c - M_0 q_c/(1 + q_0). Two classes
/// give the one vector sqrt(n_1 n_2)/N (mu_1 - mu_2), up to its sign.
Matrix reduced_between_factor(const Moments& moments) {
  const Matrix full = moments.between_factor();
  std::vector<Index> present;
  for (int c = 0; c < moments.classes(); ++c) {
    if (moments.class_weights()[c] > 0.0) present.push_back(c);
  }
  if (present.size() < 2) return Matrix::Zero(full.rows(), 1);
  const auto share = [&](Index c) { return std::sqrt(moments.class_weights()[c] / moments.total_weight()); };
  Matrix m(full.rows(), static_cast<Index>(present.size()) - 1);
  for (Index c = 0; c < m.cols(); ++c) {
    const Index from = present[static_cast<std::size_t>(c) + 1];
    m.col(c) = full.col(from) - full.col(present[0]) * (share(from) / (1.0 + share(present[0])));
  }
  return m;
}

/// A = M M' by rows of M.
class FactorPencil : public Pencil {
 public:
  [[nodiscard]] const Matrix* factor() const override { return &m_; }
  [[nodiscard]] const Vector& a_diagonal() const override { return a_diagonal_; }
  void a_column(Index j, linalg::MutableVector out, int /*threads*/) const override {
    linalg::gemv(1.0, linalg::Op::kNone, m_, Vector(m_.row(j)), 0.0, out);
  }
  [[nodiscard]] Matrix a_block(const std::vector<Index>& features, int /*threads*/) const override {
    const Matrix part = m_(features, Eigen::all);
    Matrix a(part.rows(), part.rows());
    linalg::syrk(1.0, linalg::Op::kNone, part, 0.0, a);
    return a;
  }

 protected:
  explicit FactorPencil(Matrix m) : m_(std::move(m)), a_diagonal_(m_.rowwise().squaredNorm()) {}
  Matrix m_;
  Vector a_diagonal_;
};

class LdaPencil : public FactorPencil {
 public:
  LdaPencil(std::shared_ptr<const CovarianceOperator> within, const Dataset& data, double ridge)
      : FactorPencil(reduced_between_factor(within->moments())), within_(std::move(within)), ridge_(ridge) {
    require_scale(within_->diagonal() + a_diagonal_, data.source(), &data);
    diagonal_ = within_->diagonal().array() + ridge;
  }
  [[nodiscard]] Index size() const override { return within_->size(); }
  [[nodiscard]] const Vector& diagonal() const override { return diagonal_; }
  void column(Index j, linalg::MutableVector out, int threads) const override {
    within_->column(j, out, threads);
    out[j] = diagonal_[j];
  }
  [[nodiscard]] Matrix block(const std::vector<Index>& features, int threads) const override {
    Matrix b = within_->block(features, threads);
    b.diagonal().array() += ridge_;
    return b;
  }
  [[nodiscard]] const CovarianceOperator* rows() const override { return within_.get(); }
  [[nodiscard]] double shift() const override { return ridge_; }

 private:
  std::shared_ptr<const CovarianceOperator> within_;
  double ridge_;
  Vector diagonal_;
};

class PcaPencil : public Pencil {
 public:
  PcaPencil(const Dataset& data, int threads)
      : total_(data, CovarianceOperator::Centring::kWhole, threads), ones_(Vector::Ones(data.features())) {
    require_scale(total_.diagonal(), data.source(), &data);
  }
  [[nodiscard]] Index size() const override { return total_.size(); }
  [[nodiscard]] bool b_is_identity() const override { return true; }
  [[nodiscard]] const Vector& diagonal() const override { return ones_; }
  void column(Index j, linalg::MutableVector out, int /*threads*/) const override {
    out = Vector::Unit(size(), j);
  }
  [[nodiscard]] Matrix block(const std::vector<Index>& features, int /*threads*/) const override {
    const auto k = static_cast<Index>(features.size());
    return Matrix::Identity(k, k);
  }
  [[nodiscard]] const Vector& a_diagonal() const override { return total_.diagonal(); }
  void a_column(Index j, linalg::MutableVector out, int threads) const override {
    total_.column(j, out, threads);
  }
  [[nodiscard]] Matrix a_block(const std::vector<Index>& features, int threads) const override {
    return total_.block(features, threads);
  }
  [[nodiscard]] const CovarianceOperator* rows() const override { return &total_; }

 private:
  CovarianceOperator total_;
  Vector ones_;
};

class DensePencil : public Pencil {
 public:
  DensePencil(Matrix a, std::optional<Matrix> factor, Matrix b, bool identity)
      : a_(std::move(a)), factor_(std::move(factor)), b_(std::move(b)), identity_(identity) {
    diagonal_ = identity_ ? Vector::Ones(a_.rows()).eval() : Vector(b_.diagonal());
    a_diagonal_ = a_.size() > 0 ? Vector(a_.diagonal()) : factor_->rowwise().squaredNorm().eval();
    require_scale(diagonal_, "B", nullptr);
    require_scale(a_diagonal_, "A", nullptr);
  }
  [[nodiscard]] Index size() const override { return diagonal_.size(); }
  [[nodiscard]] bool b_is_identity() const override { return identity_; }
  [[nodiscard]] const Vector& diagonal() const override { return diagonal_; }
  void column(Index j, linalg::MutableVector out, int /*threads*/) const override {
    if (identity_) {
      out = Vector::Unit(size(), j);
    } else {
      out = b_.col(j);
    }
  }
  [[nodiscard]] Matrix block(const std::vector<Index>& features, int threads) const override {
    const auto k = static_cast<Index>(features.size());
    if (identity_) return Matrix::Identity(k, k);
    Matrix out(k, k);
    prefer_large_pages(out.data(), static_cast<std::size_t>(out.size()) * sizeof(double));
    constexpr Index kColumns = 64;
    parallel_for((k + kColumns - 1) / kColumns, threads, [&](Index item) {
      for (Index c = item * kColumns; c < std::min(k, (item + 1) * kColumns); ++c) {
        const auto column = b_.col(features[static_cast<std::size_t>(c)]);
        for (Index i = 0; i < k; ++i) out(i, c) = column[features[static_cast<std::size_t>(i)]];
      }
    });
    return out;
  }
  [[nodiscard]] const Matrix* factor() const override { return factor_ ? &*factor_ : nullptr; }
  [[nodiscard]] const Vector& a_diagonal() const override { return a_diagonal_; }
  void a_column(Index j, linalg::MutableVector out, int /*threads*/) const override {
    if (a_.size() > 0) {
      out = a_.col(j);
    } else {
      linalg::gemv(1.0, linalg::Op::kNone, *factor_, Vector(factor_->row(j)), 0.0, out);
    }
  }
  [[nodiscard]] Matrix a_block(const std::vector<Index>& features, int /*threads*/) const override {
    if (a_.size() > 0) return a_(features, features);
    const Matrix part = (*factor_)(features, Eigen::all);
    Matrix a(part.rows(), part.rows());
    linalg::syrk(1.0, linalg::Op::kNone, part, 0.0, a);
    return a;
  }

 private:
  Matrix a_;  ///< empty when only its factor is known
  std::optional<Matrix> factor_;
  Matrix b_;
  bool identity_;
  Vector diagonal_, a_diagonal_;
};

/// The factor of a positive semidefinite matrix of low rank. From the eigenvectors of A scaled to a unit
/// diagonal: those of A itself know a feature in small units only to the rounding of the largest.
std::optional<Matrix> low_rank_factor(const Matrix& a, Index most_rank) {
  const Index n = a.rows();
  Vector unit = Vector::Ones(n);
  for (Index i = 0; i < n; ++i) {
    if (a(i, i) > 0.0) unit[i] = std::sqrt(a(i, i));
  }
  const auto eigen =
      linalg::symmetric_eigen(unit.cwiseInverse().asDiagonal() * a * unit.cwiseInverse().asDiagonal(), true);
  const double largest = eigen.values[n - 1];
  const double tolerance = static_cast<double>(n) * kEpsilon * std::max(largest, -eigen.values[0]);
  if (eigen.values[0] < -1e3 * tolerance) {
    throw BadInput(fmt::format("A has the eigenvalue {:.6g}; a between-class matrix is positive semidefinite",
                               linalg::symmetric_eigen(a, false).values[0]));
  }
  Index rank = 0;
  while (rank < n && eigen.values[n - 1 - rank] > tolerance) ++rank;
  if (rank > most_rank) return std::nullopt;
  Matrix m(n, rank);
  for (Index c = 0; c < rank; ++c) {
    m.col(c) = std::sqrt(eigen.values[n - 1 - c]) * eigen.vectors.col(n - 1 - c).cwiseProduct(unit);
  }
  return m;
}

}  // namespace

Matrix Pencil::columns(const std::vector<Index>& features, int threads) const {
  Matrix out(size(), static_cast<Index>(features.size()));
  for (Index c = 0; c < out.cols(); ++c) column(features[static_cast<std::size_t>(c)], out.col(c), threads);
  return out;
}

std::unique_ptr<Pencil> lda_pencil(const Dataset& data, double ridge, int threads) {
  return lda_pencil(
      data, std::make_shared<const CovarianceOperator>(data, CovarianceOperator::Centring::kByClass, threads),
      ridge);
}

std::unique_ptr<Pencil> lda_pencil(const Dataset& data, std::shared_ptr<const CovarianceOperator> within,
                                   double ridge) {
  return std::make_unique<LdaPencil>(std::move(within), data, ridge);
}

std::unique_ptr<Pencil> pca_pencil(const Dataset& data, int threads) {
  return std::make_unique<PcaPencil>(data, threads);
}

std::unique_ptr<Pencil> matrix_pencil(Matrix a, Matrix b, double ridge, Index most_rank) {
  b.diagonal().array() += ridge;
  auto factor = low_rank_factor(a, most_rank);
  return std::make_unique<DensePencil>(std::move(a), std::move(factor), std::move(b), false);
}

std::unique_ptr<Pencil> covariance_pencil(Matrix s) {
  return std::make_unique<DensePencil>(std::move(s), std::nullopt, Matrix(), true);
}

std::unique_ptr<Pencil> factor_pencil(Matrix factor, Matrix b) {
  return std::make_unique<DensePencil>(Matrix(), std::move(factor), std::move(b), false);
}

}  // namespace subspectra
