#include "spectral/pencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "data/finite.hpp"
#include "eigen/cholesky.hpp"
#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "spectral/ridge.hpp"

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
Matrix reduced_between_factor(const Moments& moments, const RunControl* control) {
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
  constexpr Index kMany =
      32;  // from so many columns on it pays that T has no more rows than there are features
  if (m.cols() > std::max(kMany, m.rows())) return linalg::square_factor(m, control);
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
  void divide_by(const Vector& scale) {
    m_.array().colwise() /= scale.array();
    a_diagonal_ = m_.rowwise().squaredNorm();
  }
  Matrix m_;
  Vector a_diagonal_;
};

class LdaPencil : public FactorPencil {
 public:
  LdaPencil(std::shared_ptr<const CovarianceOperator> within, const Dataset& data, const RidgeAmount& ridge,
            const RunControl* control)
      : FactorPencil(reduced_between_factor(within->moments(), control)),
        data_(data),
        ridge_(ridge),
        within_(std::move(within)),
        shift_(ridge.value) {
    require_scale(within_->diagonal() + a_diagonal_, data.source(), &data);
    if (ridge.fraction > 0.0) {
      scale_ = ridge_variances(within_->moments()).cwiseSqrt();
      for (double& unit : scale_) unit = unit > 0.0 ? unit : 1.0;  // constant: never chosen
      within_ = std::make_shared<const CovarianceOperator>(within_->in_units_of(scale_));
      divide_by(scale_);
      shift_ = ridge.fraction;
    }
    diagonal_ = within_->diagonal().array() + shift_;
    std::vector<Index> all(static_cast<std::size_t>(size()));
    std::iota(all.begin(), all.end(), Index{0});
    still_ = without_within_variance(within_->moments(), all);
  }
  [[nodiscard]] Index size() const override { return within_->size(); }
  [[nodiscard]] const Vector& diagonal() const override { return diagonal_; }
  void column(Index j, linalg::MutableVector out, int threads) const override {
    within_->column(j, out, threads);
    out[j] = diagonal_[j];
  }
  [[nodiscard]] Matrix block(const std::vector<Index>& features, int threads) const override {
    Matrix b = within_->block(features, threads);
    b.diagonal().array() += shift_;
    return b;
  }
  [[nodiscard]] const CovarianceOperator* rows() const override { return within_.get(); }
  [[nodiscard]] double shift() const override { return shift_; }
  [[nodiscard]] const Vector* scale() const override { return scale_.size() > 0 ? &scale_ : nullptr; }
  [[nodiscard]] std::optional<PreciseBlock> precise_block(const std::vector<Index>& features) const override {
    std::vector<char> still;
    still.reserve(features.size());
    for (const Index j : features)
      still.push_back(std::binary_search(still_.begin(), still_.end(), j) ? 1 : 0);
    return precise_lda_block(data_, features, ridge_, still);
  }

 private:
  Dataset data_;
  RidgeAmount ridge_;
  std::shared_ptr<const CovarianceOperator> within_;
  double shift_;
  Vector scale_, diagonal_;
  std::vector<Index> still_;  ///< columns that do not vary within any class, ascending
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
  struct Parts {
    Matrix a;  ///< empty when only its factor is known
    std::optional<Matrix> factor;
    Matrix b;  ///< the ridge included; empty when it is the identity
    bool identity = false;
    double shift = 0.0;       ///< the ridge inside B, where bounds may use it
    Vector scale;             ///< what A, B and the factor have been divided by; empty: nothing
    Matrix given_a, given_b;  ///< as they were where they have been divided; else empty
    Vector given_diagonal;    ///< of B before the ridge; empty: there is none in it
    Vector given_variances;   ///< what the fraction of the ridge is taken of
    RidgeAmount ridge;
    const Pencil* source = nullptr;  ///< where the matrices were computed from, if from anything
  };
  explicit DensePencil(Parts parts)
      : given_a_(std::move(parts.given_a)),
        given_b_(std::move(parts.given_b)),
        given_diagonal_(std::move(parts.given_diagonal)),
        given_variances_(std::move(parts.given_variances)),
        ridge_(parts.ridge),
        source_(parts.source),
        a_(std::move(parts.a)),
        factor_(std::move(parts.factor)),
        b_(std::move(parts.b)),
        identity_(parts.identity),
        shift_(parts.shift),
        scale_(std::move(parts.scale)) {
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
  [[nodiscard]] const Matrix* b_matrix() const override { return identity_ ? nullptr : &b_; }
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
  [[nodiscard]] double shift() const override { return shift_; }
  [[nodiscard]] bool ridged() const override { return shift_ > 0.0 || ridge_.value > 0.0; }
  [[nodiscard]] const Vector* scale() const override { return scale_.size() > 0 ? &scale_ : nullptr; }
  [[nodiscard]] const Pencil& origin() const override {
    return source_ != nullptr ? *source_ : static_cast<const Pencil&>(*this);
  }
  [[nodiscard]] std::optional<PreciseBlock> precise_block(const std::vector<Index>& features) const override {
    if (source_ != nullptr) return source_->precise_block(features);
    constexpr std::size_t kMost = 500;  // k^3 products
    if (identity_ || features.size() > kMost) return std::nullopt;
    PreciseBlock block;
    block.b = linalg::DoubleDoubleMatrix((given_b_.size() > 0 ? given_b_ : b_)(features, features));
    for (Index i = 0; i < block.b.rows; ++i) {
      const Index j = features[static_cast<std::size_t>(i)];
      linalg::DoubleDouble& variance = block.b(i, i);
      if (given_diagonal_.size() > 0) variance = given_diagonal_[j];
      variance += linalg::DoubleDouble(ridge_.value);
      if (ridge_.fraction > 0.0) variance += linalg::DoubleDouble(given_variances_[j]) * ridge_.fraction;
    }
    if (a_.size() == 0) {
      block.m = linalg::DoubleDoubleMatrix((*factor_)(features, Eigen::all));
    } else {
      block.a = linalg::DoubleDoubleMatrix((given_a_.size() > 0 ? given_a_ : a_)(features, features));
    }
    return block;
  }

 private:
  Matrix given_a_, given_b_;
  Vector given_diagonal_, given_variances_;
  RidgeAmount ridge_;
  const Pencil* source_;
  Matrix a_;  ///< empty when only its factor is known
  std::optional<Matrix> factor_;
  Matrix b_;
  bool identity_;
  double shift_;
  Vector scale_, diagonal_, a_diagonal_;
};

/// L (n x r) with S = L L' to rounding, r <= most_rank, by Cholesky steps on the largest pivot: n r^2 flops,
/// and 2 n^2 r to see that nothing is left, where the eigenvectors take 9 n^3. Nothing where S is not of that
/// rank (or not semidefinite, which only its spectrum tells).
std::optional<Matrix> pivoted_factor(const Matrix& s, Index most_rank) {
  const Index n = s.rows();
  const double rounding = static_cast<double>(n) * kEpsilon;
  Matrix l(n, std::min(n, most_rank));
  Vector left = s.diagonal();
  Index rank = 0;
  double largest = 0.0;  // of the squared norms of L's columns: L L' has an eigenvalue as large
  const auto nothing_left = [&] { return !(left.cwiseMax(0.0).sum() > rounding * largest); };
  for (; rank < l.cols() && !nothing_left(); ++rank) {
    Index pivot = 0;
    if (!(left.maxCoeff(&pivot) > 0.0)) break;
    l.col(rank) = s.col(pivot);
    for (Index j = 0; j < rank; ++j) l.col(rank) -= l(pivot, j) * l.col(j);
    l.col(rank) /= std::sqrt(left[pivot]);
    left -= l.col(rank).cwiseAbs2();
    left[pivot] = 0.0;
    largest = std::max(largest, l.col(rank).squaredNorm());
  }
  if (rank == 0 || !nothing_left()) return std::nullopt;
  l.conservativeResize(Eigen::NoChange, rank);
  Matrix rest = s;
  linalg::gemm(-1.0, linalg::Op::kNone, l, linalg::Op::kTranspose, l, 1.0, rest);
  if (!(rest.norm() <= rounding * largest)) return std::nullopt;
  return l;
}

/// The factor of a positive semidefinite matrix of low rank, by pivots or, where these do not end, from the
/// eigenvectors; of A scaled to a unit diagonal: that of A itself knows a feature in small units only to the
/// rounding of the largest.
std::optional<Matrix> low_rank_factor(const Matrix& a, Index most_rank) {
  const Index n = a.rows();
  Vector unit = Vector::Ones(n);
  for (Index i = 0; i < n; ++i) {
    if (a(i, i) > 0.0) unit[i] = std::sqrt(a(i, i));
  }
  Matrix scaled = unit.cwiseInverse().asDiagonal() * a * unit.cwiseInverse().asDiagonal();
  // What rounding leaves of a factor where A is zero is much beside a variance that is rounding, too.
  const auto cleaned = [&](Matrix m) {
    for (Index i = 0; i < n; ++i) {
      if (!(a(i, i) > 0.0)) m.row(i).setZero();
    }
    return m;
  };
  constexpr Index kFew = 128;  // rows whose spectrum is there at once
  if (n > kFew && most_rank > 0) {
    if (auto l = pivoted_factor(scaled, std::min(most_rank, n / 8))) return cleaned(unit.asDiagonal() * *l);
  }
  const auto eigen = linalg::symmetric_eigen(std::move(scaled), true);
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
  return cleaned(std::move(m));
}

}  // namespace

Matrix Pencil::columns(const std::vector<Index>& features, int threads) const {
  Matrix out(size(), static_cast<Index>(features.size()));
  for (Index c = 0; c < out.cols(); ++c) column(features[static_cast<std::size_t>(c)], out.col(c), threads);
  return out;
}

void Pencil::to_table_units(const std::vector<Index>& features, Matrix& loadings) const {
  if (scale() == nullptr) return;
  loadings.array().colwise() /= (*scale())(features).array();
  make_largest_positive(loadings);
}

Vector Pencil::from_table_units(const std::vector<Index>& features, const VectorRef& loadings) const {
  if (scale() == nullptr) return loadings;
  return loadings.cwiseProduct((*scale())(features));
}

std::unique_ptr<Pencil> lda_pencil(const Dataset& data, const RidgeAmount& ridge, int threads) {
  return lda_pencil(
      data, std::make_shared<const CovarianceOperator>(data, CovarianceOperator::Centring::kByClass, threads),
      ridge);
}

std::unique_ptr<Pencil> lda_pencil(const Dataset& data, std::shared_ptr<const CovarianceOperator> within,
                                   const RidgeAmount& ridge, const RunControl* control) {
  return std::make_unique<LdaPencil>(std::move(within), data, ridge, control);
}

std::unique_ptr<Pencil> pca_pencil(const Dataset& data, int threads) {
  return std::make_unique<PcaPencil>(data, threads);
}

std::unique_ptr<Pencil> matrix_pencil(Matrix a, Matrix b, const RidgeAmount& ridge, Index most_rank) {
  DensePencil::Parts parts;
  parts.ridge = ridge;
  parts.given_diagonal = b.diagonal();
  if (ridge.fraction > 0.0) {
    parts.given_variances = ridge_variances(a, b);
    parts.scale = parts.given_variances.cwiseSqrt();
    for (double& unit : parts.scale) unit = unit > 0.0 ? unit : 1.0;  // constant: never chosen
    const Vector per_unit = parts.scale.cwiseInverse();
    parts.given_a = a;
    parts.given_b = b;
    parts.shift = ridge.fraction;
    a = (per_unit.asDiagonal() * a * per_unit.asDiagonal()).eval();
    b = (per_unit.asDiagonal() * b * per_unit.asDiagonal()).eval();
  }
  b.diagonal().array() += ridge.fraction > 0.0 ? ridge.fraction : ridge.value;
  parts.factor = low_rank_factor(a, most_rank);
  parts.a = std::move(a);
  parts.b = std::move(b);
  return std::make_unique<DensePencil>(std::move(parts));
}

std::unique_ptr<Pencil> covariance_pencil(Matrix s) {
  return std::make_unique<DensePencil>(DensePencil::Parts{.a = std::move(s), .identity = true});
}

std::unique_ptr<Pencil> factor_pencil(Matrix factor, Matrix b) {
  return std::make_unique<DensePencil>(DensePencil::Parts{.factor = std::move(factor), .b = std::move(b)});
}

std::unique_ptr<Pencil> dense_copy(const Pencil& pencil, int threads) {
  std::vector<Index> all(static_cast<std::size_t>(pencil.size()));
  std::iota(all.begin(), all.end(), Index{0});
  DensePencil::Parts parts{.factor = *pencil.factor(), .b = pencil.block(all, threads), .source = &pencil};
  parts.shift = pencil.shift();  // in the units of the copy
  if (pencil.scale() != nullptr) parts.scale = *pencil.scale();
  return std::make_unique<DensePencil>(std::move(parts));
}

}  // namespace subspectra
