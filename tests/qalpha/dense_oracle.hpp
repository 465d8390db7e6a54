#pragma once
/// Q-alpha as the paper writes it, with every matrix formed: M (p x q), G (p x p), A (q x q). Nothing here
/// calls the code under test.
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "data/dataset.hpp"

namespace subspectra::dense {

/// The features as rows, centred, of unit norm.
inline Matrix feature_rows(const DatasetParts& data) {
  Matrix m = data.is_sparse ? Matrix(data.sparse).transpose() : Matrix(data.dense.transpose());
  for (Index i = 0; i < m.rows(); ++i) {
    m.row(i).array() -= m.row(i).mean();
    if (m.row(i).norm() > 1e-12) m.row(i) /= m.row(i).norm();
  }
  return m;
}

inline Vector largest_eigenvector(const Matrix& g) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(g);
  Vector alpha = solver.eigenvectors().col(g.rows() - 1);
  if (alpha.sum() < 0.0) alpha = -alpha;
  return alpha;
}

/// k eigenvectors of the largest |value|.
inline Matrix leading(const Matrix& a, Index k) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(a);
  std::vector<Index> order(static_cast<std::size_t>(a.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) {
    return std::abs(solver.eigenvalues()[i]) > std::abs(solver.eigenvalues()[j]);
  });
  order.resize(static_cast<std::size_t>(k));
  return solver.eigenvectors()(Eigen::all, order);
}

inline Matrix orthonormal(const Matrix& z) {
  const Eigen::HouseholderQR<Matrix> qr(z);
  return qr.householderQ() * Matrix::Identity(z.rows(), z.cols());
}

inline Matrix affinity(const Matrix& m, const Vector& alpha) {
  return m.transpose() * alpha.asDiagonal() * m;
}

/// (m_i'm_j) m_i'QQ'm_j
inline Matrix g_matrix(const Matrix& m, const Matrix& q) {
  return (m * m.transpose()).cwiseProduct(m * q * q.transpose() * m.transpose());
}

inline Matrix equal_start(const Matrix& m, Index k) { return leading(m.transpose() * m, k); }

struct Steps {
  Vector alpha;
  std::vector<double> trace;
};

/// Definition 2 (or the basic scheme: Q of A itself; or the gap: G - (G_all - G)).
enum class Rule { kPower, kBasic, kGap };
inline Steps plain(const Matrix& m, Matrix q, int steps, Rule rule = Rule::kPower) {
  Steps result;
  for (int r = 0; r < steps; ++r) {
    Matrix g = g_matrix(m, q);
    if (rule == Rule::kGap) g = 2.0 * g - (m * m.transpose()).cwiseAbs2();
    result.alpha = largest_eigenvector(g);
    result.trace.push_back(result.alpha.dot(g * result.alpha));
    const Matrix a = affinity(m, result.alpha);
    q = rule == Rule::kBasic ? leading(a, q.cols()) : orthonormal(a * q);
  }
  return result;
}

/// Definition 4 with its repairs, steps 4 to 8 as written; alpha of step 1.
inline Steps ritz(const Matrix& m, Matrix q, int steps) {
  Steps result;
  for (int r = 0; r < steps; ++r) {
    result.alpha = largest_eigenvector(g_matrix(m, q));
    const Matrix bar = orthonormal(affinity(m, result.alpha) * q);
    const Vector again = largest_eigenvector(g_matrix(m, bar));
    const Matrix s = bar.transpose() * affinity(m, again) * bar;
    q = bar * leading(s, s.rows());
  }
  return result;
}

/// Definition 5: L_i formed one by one.
inline Steps laplacian(const Matrix& m, Matrix q, int steps, bool degree) {
  const Index p = m.rows(), n = m.cols();
  const auto l_of = [&](Index i, double d) -> Matrix {
    const Matrix a = m.row(i).transpose() * m.row(i);
    return a - Matrix((a * Vector::Ones(n)).asDiagonal()) + d * Matrix::Identity(n, n);
  };
  std::vector<double> d(static_cast<std::size_t>(p));
  for (Index i = 0; i < p; ++i) {
    const Matrix a = m.row(i).transpose() * m.row(i);
    d[static_cast<std::size_t>(i)] =
        degree ? std::max(0.0, (a * Vector::Ones(n)).maxCoeff()) : a.diagonal().maxCoeff();
  }
  Steps result;
  for (int r = 0; r < steps; ++r) {
    std::vector<Matrix> lq;
    for (Index i = 0; i < p; ++i) lq.push_back(l_of(i, d[static_cast<std::size_t>(i)]) * q);
    Matrix f(p, p);
    for (Index i = 0; i < p; ++i) {
      for (Index j = 0; j < p; ++j)
        f(i, j) = (lq[static_cast<std::size_t>(i)].transpose() * lq[static_cast<std::size_t>(j)]).trace();
    }
    result.alpha = largest_eigenvector(f);
    result.trace.push_back(result.alpha.dot(f * result.alpha));
    const Matrix a = affinity(m, result.alpha);
    const double largest = degree ? std::max(0.0, (a * Vector::Ones(n)).maxCoeff()) : a.diagonal().maxCoeff();
    std::fill(d.begin(), d.end(), largest / result.alpha.sum());
    Matrix l = Matrix::Zero(n, n);
    for (Index i = 0; i < p; ++i) l += result.alpha[i] * l_of(i, d[static_cast<std::size_t>(i)]);
    q = orthonormal(l * q);
  }
  return result;
}

/// Definition 6. `classes[g]` lists the samples of class g. Q^{gh}(0) = ones/sqrt(q_h), then the leading
/// right singular vectors of A^{gh} at equal weights.
class Supervised {
 public:
  Supervised(const Matrix& m, const std::vector<std::vector<Index>>& classes, Index own, Index other,
             double gamma, bool ones)
      : gamma_(gamma) {
    for (const auto& rows : classes) m_.push_back(m(Eigen::all, rows));
    const Vector equal = Vector::Ones(m.rows());
    for (std::size_t g = 0; g < m_.size(); ++g) {
      q_.emplace_back();
      for (std::size_t h = 0; h < m_.size(); ++h) {
        const Index k = g == h ? own : other;
        const Matrix a = block(g, h, equal);
        const Matrix vectors = leading(a.transpose() * a, k);
        if (!ones) {
          q_.back().push_back(vectors);
          continue;
        }
        Matrix z(vectors.rows(), k);
        z.col(0).setOnes();
        z.rightCols(k - 1) = vectors.leftCols(k - 1);
        q_.back().push_back(orthonormal(z));
      }
    }
  }
  [[nodiscard]] Matrix g_matrix() const {
    Matrix all = Matrix::Zero(m_[0].rows(), m_[0].rows());
    for (std::size_t g = 0; g < m_.size(); ++g) {
      for (std::size_t h = 0; h < m_.size(); ++h) {
        const Matrix y = m_[h] * q_[g][h];
        const Matrix one = (m_[g] * m_[g].transpose()).cwiseProduct(y * y.transpose());
        all += g == h ? one : Matrix(-gamma_ * one);
      }
    }
    return all;
  }
  void advance(const Vector& alpha) {
    for (std::size_t g = 0; g < m_.size(); ++g) {
      for (std::size_t h = 0; h < m_.size(); ++h) {
        const Matrix a = block(g, h, alpha);
        q_[g][h] = orthonormal(g == h ? Matrix(a * q_[g][h]) : Matrix(a.transpose() * (a * q_[g][h])));
      }
    }
  }

 private:
  [[nodiscard]] Matrix block(std::size_t g, std::size_t h, const Vector& alpha) const {
    return m_[g].transpose() * alpha.asDiagonal() * m_[h];
  }
  double gamma_;
  std::vector<Matrix> m_;
  std::vector<std::vector<Matrix>> q_;
};

/// Definition 14 on V itself, with the repaired step 5, E <- D V E R^{-1}; E(0) from the leading eigenvectors
/// at equal weights: V^2 E = E Lambda scaled to E'V E = I.
inline Vector kernel(const Matrix& v, Index k, int steps) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(v);
  Matrix e = solver.eigenvectors().rightCols(k).rowwise().reverse() *
             solver.eigenvalues().tail(k).reverse().cwiseSqrt().cwiseInverse().asDiagonal();
  Vector alpha;
  for (int r = 0; r < steps; ++r) {
    alpha = largest_eigenvector(v.cwiseProduct(v * e * e.transpose() * v));
    const Matrix de = alpha.asDiagonal() * v * e;
    const Matrix gram = de.transpose() * v * de;
    const Matrix upper = gram.llt().matrixU();
    e = de * upper.inverse();
  }
  return alpha;
}

}  // namespace subspectra::dense
