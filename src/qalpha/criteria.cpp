#include "qalpha/criteria.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.hpp"
#include "eigen/lanczos.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::qalpha {
namespace {

using linalg::Op;

Matrix product(Op op_a, const MatrixRef& a, Op op_b, const MatrixRef& b) {
  Matrix c(op_a == Op::kNone ? a.rows() : a.cols(), op_b == Op::kNone ? b.cols() : b.rows());
  linalg::gemm(1.0, op_a, a, op_b, b, 0.0, c);
  return c;
}

/// Eigenvectors by falling |value|.
linalg::SymmetricEigen by_magnitude(const Matrix& a) {
  auto eigen = linalg::symmetric_eigen(a, true);
  std::vector<Index> order(static_cast<std::size_t>(a.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return std::abs(eigen.values[i]) > std::abs(eigen.values[j]); });
  return {eigen.values(order), eigen.vectors(Eigen::all, order)};
}

/// The k leading eigenvectors, by |value|, of a symmetric operator on the samples; rounding's share of the
/// spectrum is no direction.
Matrix leading_vectors(Index n, Index k, const std::function<void(const Vector&, Vector&)>& multiply,
                       const LanczosOptions& asked, Random& random) {
  LanczosOptions options = asked;
  options.count = std::min(n, k);
  options.magnitude = true;
  Vector start(n);
  for (Index i = 0; i < n; ++i) start[i] = random.normal();
  auto pairs = leading_eigenpairs(n, multiply, start, options, random);
  constexpr double kNothing = 1e-12;
  Matrix vectors = Matrix::Zero(n, k);
  for (Index j = 0; j < pairs.values.size(); ++j) {
    if (std::abs(pairs.values[j]) > kNothing * std::abs(pairs.values[0]))
      vectors.col(j) = pairs.vectors.col(j);
  }
  return vectors;
}

Matrix leading_vectors(const Matrix& a, Index k, Random& random) {
  constexpr Index kSmall = 400;  // below it all pairs cost less than a search for a few
  if (a.rows() > kSmall) {
    return leading_vectors(
        a.rows(), k, [&](const Vector& x, Vector& y) { linalg::gemv(1.0, Op::kNone, a, x, 0.0, y); },
        {.tolerance = 1e-11, .most_products = 2000, .basis = 40, .threads = 1}, random);
  }
  const auto eigen = by_magnitude(a);
  constexpr double kNothing = 1e-12;
  Matrix vectors = Matrix::Zero(a.rows(), k);
  for (Index j = 0; j < std::min(k, a.rows()); ++j) {
    if (std::abs(eigen.values[j]) > kNothing * std::abs(eigen.values[0]))
      vectors.col(j) = eigen.vectors.col(j);
  }
  return vectors;
}

Matrix random_columns(Index rows, Index columns, Random& random) {
  Matrix z(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) z(i, j) = random.normal();
  }
  orthonormalize(z);
  return z;
}

/// `vectors` after the column of ones (roots, where samples have weights), as many columns as before.
Matrix behind_ones(const VectorRef& roots, const Matrix& vectors) {
  Matrix z(vectors.rows(), vectors.cols());
  z.col(0) = roots;
  z.rightCols(z.cols() - 1) = vectors.leftCols(z.cols() - 1);
  orthonormalize(z);
  return z;
}

/// sum_i alpha_i m_i m_i' x: two thin products fused into one pass.
void affinity_times(const FeatureRows& rows, const VectorRef& alpha, const Vector& x, Vector& y) {
  y = rows.project_combine(x, rows.whole(), [&](Index first, Index count, Matrix& tile) {
    tile.col(0).array() *= alpha.segment(first, count).array();
  });
}

/// Leading eigenvectors of A_alpha by |value|.
Matrix affinity_vectors(const FeatureRows& rows, const VectorRef& alpha, Index k, Random& random) {
  if (affinity_affordable(rows)) return leading_vectors(rows.affinity(alpha), k, random);
  // Beyond that it is a search by passes, with an end: the start needs no more digits than it has use for.
  constexpr Index kMost = 120;
  return leading_vectors(
      rows.samples(), k, [&](const Vector& x, Vector& y) { affinity_times(rows, alpha, x, y); },
      {.tolerance = 1e-10, .most_products = kMost, .basis = 24, .threads = rows.threads()}, random);
}

Vector equal_weights(const FeatureRows& rows) {
  return Vector::Constant(rows.features(), 1.0 / std::sqrt(static_cast<double>(rows.features())));
}

/// Q(0) of one block over all samples.
Matrix whole_start(const FeatureRows& rows, const FirstQ& from, Index k, Random& random) {
  if (from.given != nullptr) {
    Matrix q = *from.given;
    orthonormalize(q);
    return q;
  }
  if (from.kind == QAlphaStart::kRandom) return random_columns(rows.samples(), k, random);
  const Matrix vectors = affinity_vectors(rows, equal_weights(rows), k, random);
  return from.kind == QAlphaStart::kOnes ? behind_ones(rows.roots(), vectors) : vectors;
}

/// Ritz pairs of A on the span of Q, from Q and W = A Q: by falling size.
linalg::SymmetricEigen ritz_pairs_of(const Matrix& q, const Matrix& w) {
  const Matrix s = product(Op::kTranspose, q, Op::kNone, w);
  return by_magnitude(0.5 * (s + s.transpose()));
}

/// Y = M Q is rounding.
bool sees_nothing(const FeatureRows& rows, const Matrix& y) {
  const double longest = rows.centred() ? 1.0 : std::sqrt(rows.squared_norms().maxCoeff());
  return !(y.cwiseAbs().maxCoeff() > 1e-13 * longest);
}

Index nonzero_columns(const Matrix& q) {
  return static_cast<Index>((q.colwise().squaredNorm().array() > 0.0).count());
}

/// The Q that follows alpha, where there is one block.
enum class NextQ {
  kPowerStep,     ///< Definition 2: QR(A Q), once for every alpha
  kRitz,          ///< Definition 4: its columns in the order of their Ritz values; the same alpha
  kEigenvectors,  ///< the leading ones of A
};

/// Definitions 2, 4 and 6, and the basic method. K blocks of samples; for every pair (g, h) a matrix Q^{gh}
/// with a row for every sample of h. A row of `q_` for a sample of h holds Q^{1h}, Q^{2h}, ... side by side,
/// C columns. The criterion is sum_g |A^{gg}Q^{gg}|^2 - gamma sum_{g != h} |A^{gh}Q^{gh}|^2, A^{gh} = M_g'
/// diag(alpha) M_h, and G alpha = sum over (g, h) of +-diag(M_g W^{gh} Y^{gh}'), Y^{gh} = M_h Q^{gh}, W^{gh}
/// = M_g'(alpha o Y^{gh}).
class BlockCriterion : public Criterion {
 public:
  BlockCriterion(const FeatureRows& rows, SampleBlocks blocks, NextQ next, Index own, Index other,
                 double gamma)
      : rows_(rows), blocks_(std::move(blocks)), next_(next), own_(own), other_(other) {
    const Index k = blocks_.count();
    width_ = own_ + (k - 1) * other_;
    swap_.resize(static_cast<std::size_t>(k * width_));
    signs_.resize(k * width_);
    for (Index g = 0; g < k; ++g) {
      for (Index h = 0; h < k; ++h) {
        for (Index c = 0; c < size(g, h); ++c) {
          swap_[static_cast<std::size_t>(g * width_ + offset(g, h) + c)] = h * width_ + offset(h, g) + c;
          signs_[g * width_ + offset(g, h) + c] = g == h ? 1.0 : -gamma;
        }
      }
    }
    y_.resize(rows_.features(), k * width_);
  }

  void start(const FirstQ& from, Random& random) override {
    if (blocks_.count() == 1 && blocks_.size(0) == rows_.samples()) {
      q_ = whole_start(rows_, from, width_, random);
      return;
    }
    const QAlphaStart kind = from.kind;
    // A^{gh} at equal weights is a block of one matrix; without room for it orthogonal iterations do.
    q_ = Matrix::Zero(rows_.samples(), width_);
    const bool explicit_blocks = kind != QAlphaStart::kRandom && affinity_affordable(rows_);
    const Matrix a = explicit_blocks ? rows_.affinity(equal_weights(rows_)) : Matrix();
    for_pairs([&](Index g, Index h) {
      auto own = part(q_, g, h);
      if (!explicit_blocks) {
        own = random_columns(blocks_.size(h), size(g, h), random);
        return;
      }
      const auto block = a.block(blocks_.first(g), blocks_.first(h), blocks_.size(g), blocks_.size(h));
      own = leading_vectors(product(Op::kTranspose, block, Op::kNone, block), size(g, h), random);
    });
    if (kind != QAlphaStart::kRandom && !explicit_blocks) {
      constexpr int kIterations = 15;
      for (int i = 0; i < kIterations; ++i) {
        follow();
        advance(equal_weights(rows_), {});
      }
    }
    if (kind == QAlphaStart::kOnes) {
      for_pairs([&](Index g, Index h) {
        const Matrix vectors = part(q_, g, h);
        part(q_, g, h) = behind_ones(rows_.roots().segment(blocks_.first(h), blocks_.size(h)), vectors);
      });
    }
  }

  void follow() override {
    rows_.project(q_, blocks_, [&](Index first, const Matrix& tile) {
      for (Index c = 0; c < tile.cols(); ++c)
        y_.col(swap_[static_cast<std::size_t>(c)]).segment(first, tile.rows()) = tile.col(c);
    });
  }

  [[nodiscard]] Matrix follow_for(const Vector& x) override {
    return rows_.project_combine(q_, blocks_, [&](Index first, Index count, Matrix& tile) {
      for (Index c = 0; c < tile.cols(); ++c)
        y_.col(swap_[static_cast<std::size_t>(c)]).segment(first, count) = tile.col(c);
      weigh(first, count, x, tile);
    });
  }

  [[nodiscard]] Matrix image(const Vector& x) const override { return weighted(x); }

  void multiply(const Vector& /*x*/, const Matrix& wx, Vector& y, Matrix* wy) const override {
    y.setZero(rows_.features());
    if (wy == nullptr) {
      add_product_of(wx, 1.0, y);
      return;
    }
    *wy = rows_.project_combine(wx, blocks_, [&](Index first, Index count, Matrix& tile) {
      add_rows(first, tile, 1.0, y);
      weigh(first, count, y, tile);
    });
  }

  /// y += factor G x
  void add_product(const Vector& x, double factor, Vector& y) const {
    add_product_of(weighted(x), factor, y);
  }

  /// The same from W of x.
  void add_product_of(const Matrix& w, double factor, Vector& y) const {
    rows_.project(w, blocks_, [&](Index first, const Matrix& tile) { add_rows(first, tile, factor, y); });
  }

  void advance(const Vector& alpha, const Matrix& image) override {
    Matrix w = image.size() > 0 ? image : weighted(alpha);
    if (blocks_.count() == 1) {
      if (next_ == NextQ::kEigenvectors) {
        Random random(0);  // the start of a search whose end does not depend on it
        q_ = affinity_vectors(rows_, alpha, width_, random);
        return;
      }
      // Definition 4, steps 4 to 8: its recomputed alpha is the next alpha of step 1, since G depends on Q Q'
      // alone, so that the rotation is all that is left of them.
      if (next_ == NextQ::kRitz) w = product(Op::kNone, w, Op::kNone, ritz_pairs_of(q_, w).vectors);
      orthonormalize(w);
      q_ = std::move(w);
      return;
    }
    // Off the diagonal A^{gh} is not square: Z = A^{gh}'A^{gh}Q^{gh} = M_h'(alpha o M_g W^{gh}).
    if (other_ > 0) {
      const Matrix z = rows_.project_combine(w, blocks_, [&](Index first, Index count, Matrix& tile) {
        Matrix swapped(count, tile.cols());
        for (Index c = 0; c < tile.cols(); ++c) {
          swapped.col(swap_[static_cast<std::size_t>(c)]) =
              tile.col(c).cwiseProduct(alpha.segment(first, count));
        }
        tile.swap(swapped);
      });
      for_pairs([&](Index g, Index h) {
        if (g != h) part(q_, g, h) = part(z, g, h);
      });
    }
    for_pairs([&](Index g, Index h) {
      Matrix own = g == h ? Matrix(w.block(blocks_.first(g), offset(g, g), blocks_.size(g), own_))
                          : Matrix(part(q_, g, h));
      orthonormalize(own);
      part(q_, g, h) = own;
    });
  }

  [[nodiscard]] const Matrix& q() const override { return q_; }
  [[nodiscard]] bool null() const override { return sees_nothing(rows_, y_); }
  [[nodiscard]] Vector eigenvalues(const Vector& alpha) const override {
    if (blocks_.count() > 1) return {};
    return ritz_pairs_of(q_, weighted(alpha)).values;
  }
  [[nodiscard]] Index directions() const override {
    if (blocks_.count() == 1) return nonzero_columns(q_);
    Index most = 0;
    for (Index g = 0; g < blocks_.count(); ++g) most = std::max(most, nonzero_columns(part(q_, g, g)));
    return most;
  }
  [[nodiscard]] Index least_directions() const override {
    if (blocks_.count() == 1) return nonzero_columns(q_);
    Index least = own_;
    for (Index g = 0; g < blocks_.count(); ++g) least = std::min(least, nonzero_columns(part(q_, g, g)));
    return least;
  }

 private:
  [[nodiscard]] Index size(Index g, Index h) const { return g == h ? own_ : other_; }
  /// Where the columns of (g, h) begin within block g; the same for (h, g) within h.
  [[nodiscard]] Index offset(Index g, Index h) const { return h * other_ + (h > g ? own_ - other_ : 0); }
  /// The rows of block h, the columns of (g, h), of a matrix laid out as Q.
  template <class M>
  [[nodiscard]] Eigen::Block<M> part(M& m, Index g, Index h) const {
    return Eigen::Block<M>(m, blocks_.first(h), offset(h, g), blocks_.size(h), size(g, h));
  }
  template <class Body>
  void for_pairs(Body body) const {
    for (Index g = 0; g < blocks_.count(); ++g) {
      for (Index h = 0; h < blocks_.count(); ++h) {
        if (size(g, h) > 0) body(g, h);
      }
    }
  }
  /// W^{gh} = A^{gh}Q^{gh}: rows of block g, columns of (g, h) within it.
  [[nodiscard]] Matrix weighted(const Vector& alpha) const {
    return rows_.combine(width_, blocks_,
                         [&](Index first, Index count, Matrix& tile) { weigh(first, count, alpha, tile); });
  }
  /// tile <- rows of Y times those of alpha
  void weigh(Index first, Index count, const Vector& alpha, Matrix& tile) const {
    tile = y_.middleRows(first, count).array().colwise() * alpha.segment(first, count).array();
  }
  /// y += factor times the rows of G x, from those of M W.
  void add_rows(Index first, const Matrix& tile, double factor, Vector& y) const {
    auto out = y.segment(first, tile.rows());
    for (Index c = 0; c < tile.cols(); ++c)
      out += factor * signs_[c] * tile.col(c).cwiseProduct(y_.col(c).segment(first, tile.rows()));
  }

  const FeatureRows& rows_;
  SampleBlocks blocks_;
  NextQ next_;
  Index own_, other_, width_ = 0;
  std::vector<Index> swap_;  ///< column of (g, h) in block g -> column of (h, g) in block h; its own inverse
  Vector signs_;
  Matrix q_;
  Matrix y_;  ///< p x K C: Y^{gh} at block g
};

/// Definition 5. L_i = m_i m_i' - sigma_i diag(m_i) + d_i I, sigma_i = m_i'1. With W = L_alpha Q and v_a =
/// Q_a'W_a (row products), (F alpha)_i = m_i'W y_i - sigma_i m_i'v + d_i trace(Q'W). Where samples have
/// weights, ones are their roots and a degree is divided by its own.
class LaplacianCriterion : public Criterion {
 public:
  LaplacianCriterion(const FeatureRows& rows, const QAlphaLaplacian& method)
      : rows_(rows),
        clusters_(method.clusters),
        shift_(method.laplacian_shift),
        y_(rows.features(), clusters_) {
    inverse_roots_ = rows.roots().unaryExpr([](double r) { return r > 0.0 ? 1.0 / r : 0.0; });
    sums_.resize(rows.features());
    rows.project(rows.roots(), rows.whole(),
                 [&](Index first, const Matrix& tile) { sums_.segment(first, tile.rows()) = tile.col(0); });
  }

  void start(const FirstQ& from, Random& random) override {
    q_ = whole_start(rows_, from, clusters_, random);
    // d_i of the features alone: the largest diagonal entry of m_i m_i', or its largest row sum.
    own_shifts_.resize(rows_.features());
    constexpr Index kTile = 256;
    const Index p = rows_.features();
    parallel_for((p + kTile - 1) / kTile, rows_.threads(), [&](Index t) {
      const Index first = t * kTile, count = std::min(kTile, p - first);
      for (Index i = first; i < first + count; ++i) {
        const Vector m = rows_.tile(i, 1);
        own_shifts_[i] = shift_ == LaplacianShift::kDiagonal
                             ? m.cwiseAbs2().maxCoeff()
                             : std::max(0.0, (sums_[i] * m.cwiseProduct(inverse_roots_)).maxCoeff());
      }
    });
    shift_value_ = -1.0;
  }

  void follow() override {
    rows_.project(q_, rows_.whole(),
                  [&](Index first, const Matrix& tile) { y_.middleRows(first, tile.rows()) = tile; });
  }

  void multiply(const Vector& x, const Matrix& /*wx*/, Vector& y, Matrix* /*wy*/) const override {
    Vector degrees;
    Matrix w = affinity_part(x, degrees);
    const double shift = shift_value_ < 0.0 ? own_shifts_.dot(x) : shift_value_ * x.sum();
    w += (shift - degrees.array()).matrix().asDiagonal() * q_;
    const Vector v = inverse_roots_.cwiseProduct(q_.cwiseProduct(w).rowwise().sum());
    const double trace = q_.cwiseProduct(w).sum();
    Matrix both(rows_.samples(), clusters_ + 1);
    both << w, v;
    y.resize(rows_.features());
    rows_.project(both, rows_.whole(), [&](Index first, const Matrix& tile) {
      const Index count = tile.rows();
      for (Index i = 0; i < count; ++i) {
        y[first + i] = tile.row(i).head(clusters_).dot(y_.row(first + i)) -
                       sums_[first + i] * tile(i, clusters_) +
                       (shift_value_ < 0.0 ? own_shifts_[first + i] : shift_value_) * trace;
      }
    });
  }

  void advance(const Vector& alpha, const Matrix& /*w*/) override {
    Vector degrees;
    Matrix z = affinity_part(alpha, degrees);
    const double largest =
        std::max(0.0, shift_ == LaplacianShift::kDegree ? degrees.maxCoeff()
                                                        : rows_.affinity_diagonal(alpha).maxCoeff());
    const double sum = alpha.sum();
    shift_value_ = sum > 0.0 ? largest / sum : 0.0;
    z += (largest - degrees.array()).matrix().asDiagonal() * q_;
    orthonormalize(z);
    q_ = std::move(z);
  }

  [[nodiscard]] const Matrix& q() const override { return q_; }
  [[nodiscard]] bool null() const override { return sees_nothing(rows_, y_); }
  [[nodiscard]] Vector eigenvalues(const Vector& alpha) const override {
    Vector degrees;
    return ritz_pairs_of(q_, affinity_part(alpha, degrees)).values;
  }
  [[nodiscard]] Index directions() const override { return nonzero_columns(q_); }

 private:
  /// A Q, and the degrees D = diag(A 1), in one pass.
  Matrix affinity_part(const Vector& alpha, Vector& degrees) const {
    const Matrix both =
        rows_.combine(clusters_ + 1, rows_.whole(), [&](Index first, Index count, Matrix& tile) {
          const auto a = alpha.segment(first, count).array();
          tile.leftCols(clusters_) = y_.middleRows(first, count).array().colwise() * a;
          tile.col(clusters_) = a * sums_.segment(first, count).array();
        });
    degrees = both.col(clusters_).cwiseProduct(inverse_roots_);
    return both.leftCols(clusters_);
  }

  const FeatureRows& rows_;
  Index clusters_;
  LaplacianShift shift_;
  Matrix y_, q_;
  Vector sums_, inverse_roots_, own_shifts_;
  double shift_value_ = -1.0;  ///< d of all features; negative: every one has its own
};

/// Section 2.1: |A Q|^2 - |A Q_2|^2 = 2 |A Q|^2 - |A|^2, so (G alpha)_i = m_i'(2 A Q Q' - A) m_i.
class GapCriterion : public Criterion {
 public:
  GapCriterion(const FeatureRows& rows, const QAlphaGap& method) : rows_(rows), clusters_(method.clusters) {}
  void start(const FirstQ& from, Random& random) override {
    q_ = whole_start(rows_, from, clusters_, random);
  }
  void follow() override {}
  void multiply(const Vector& x, const Matrix& /*wx*/, Vector& y, Matrix* /*wy*/) const override {
    const Matrix a = rows_.affinity(x);
    const Matrix aq = product(Op::kNone, a, Op::kNone, q_);
    Matrix s = -a;
    linalg::gemm_tiled(2.0, Op::kNone, aq, Matrix(q_.transpose()), 1.0, s, rows_.threads());
    y = rows_.quadratic_forms(s);
  }
  void advance(const Vector& alpha, const Matrix& /*w*/) override {
    Matrix z = product(Op::kNone, rows_.affinity(alpha), Op::kNone, q_);
    orthonormalize(z);
    q_ = std::move(z);
  }
  [[nodiscard]] const Matrix& q() const override { return q_; }
  [[nodiscard]] bool null() const override { return q_.isZero(); }
  [[nodiscard]] Vector eigenvalues(const Vector& alpha) const override {
    return ritz_pairs_of(q_, product(Op::kNone, rows_.affinity(alpha), Op::kNone, q_)).values;
  }
  [[nodiscard]] Index directions() const override { return nonzero_columns(q_); }

 private:
  const FeatureRows& rows_;
  Index clusters_;
  Matrix q_;
};

/// (1 - w) of the unsupervised criterion over all samples, w of the supervised one over the labelled; the
/// latter is times (q/labelled)^2, what it would be if the classes filled the table in their proportions.
class SemiCriterion : public Criterion {
 public:
  SemiCriterion(const FeatureRows& rows, const QAlphaSemi& method)
      : whole_(rows, rows.whole(), NextQ::kPowerStep, method.clusters, 0, 0.0),
        labelled_(rows, rows.classes(), NextQ::kPowerStep, method.within_vectors, method.between_vectors,
                  method.gamma),
        weight_(method.supervision) {
    const double share =
        static_cast<double>(rows.samples()) / static_cast<double>(rows.classes().begin.back());
    labelled_factor_ = weight_ * share * share;
  }
  void start(const FirstQ& from, Random& random) override {
    // Centred rows are orthogonal to ones: these are for the classes alone.
    whole_.start({from.kind == QAlphaStart::kOnes ? QAlphaStart::kEqual : from.kind}, random);
    labelled_.start(from, random);
  }
  void follow() override {
    whole_.follow();
    labelled_.follow();
  }
  void multiply(const Vector& x, const Matrix& /*wx*/, Vector& y, Matrix* /*wy*/) const override {
    y.setZero(x.size());
    if (weight_ < 1.0) whole_.add_product(x, 1.0 - weight_, y);
    if (weight_ > 0.0) labelled_.add_product(x, labelled_factor_, y);
  }
  void advance(const Vector& alpha, const Matrix& /*w*/) override {
    whole_.advance(alpha, {});
    labelled_.advance(alpha, {});
  }
  [[nodiscard]] const Matrix& q() const override { return whole_.q(); }
  [[nodiscard]] bool null() const override { return whole_.null() && labelled_.null(); }
  [[nodiscard]] Vector eigenvalues(const Vector& alpha) const override { return whole_.eigenvalues(alpha); }
  [[nodiscard]] Index directions() const override { return whole_.directions(); }

 private:
  BlockCriterion whole_, labelled_;
  double weight_, labelled_factor_ = 0.0;
};

/// One block of all samples.
std::unique_ptr<Criterion> plain_criterion(const FeatureRows& rows, NextQ next, Index clusters) {
  return std::make_unique<BlockCriterion>(rows, rows.whole(), next, clusters, 0, 0.0);
}

}  // namespace

bool affinity_affordable(const FeatureRows& rows) {
  constexpr double kMostFlops = 2e11;
  constexpr Index kMostSamples = 4096;
  const auto q = static_cast<double>(rows.samples()), p = static_cast<double>(rows.features());
  return rows.samples() <= kMostSamples && 2.0 * p * q * q <= kMostFlops;
}

Index orthonormalize(Matrix& z) {
  constexpr double kDependent = 1e-12;
  Index found = 0;
  const double largest = z.size() > 0 ? z.colwise().norm().maxCoeff() : 0.0;
  for (Index j = 0; j < z.cols(); ++j) {
    // Once more where much cancelled: what is left must be orthogonal to rounding.
    const double before = z.col(j).norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (Index i = 0; i < j; ++i) z.col(j) -= z.col(i).dot(z.col(j)) * z.col(i);
    }
    const double norm = z.col(j).norm();
    if (norm > kDependent * before && norm > kDependent * largest) {
      z.col(j) /= norm;
      ++found;
    } else {
      z.col(j).setZero();
    }
  }
  return found;
}

std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlpha& method) {
  return plain_criterion(rows, NextQ::kPowerStep, method.clusters);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaBasic& method) {
  return plain_criterion(rows, NextQ::kEigenvectors, method.clusters);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaRitz& method) {
  return plain_criterion(rows, NextQ::kRitz, method.clusters);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaLaplacian& method) {
  return std::make_unique<LaplacianCriterion>(rows, method);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaGap& method) {
  return std::make_unique<GapCriterion>(rows, method);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaSupervised& method) {
  return std::make_unique<BlockCriterion>(rows, rows.classes(), NextQ::kPowerStep, method.within_vectors,
                                          method.between_vectors, method.gamma);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaSemi& method) {
  return std::make_unique<SemiCriterion>(rows, method);
}
std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaOfKernel& method) {
  return plain_criterion(rows, NextQ::kPowerStep, method.clusters);
}

}  // namespace subspectra::qalpha
