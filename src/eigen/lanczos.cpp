#include "eigen/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

using linalg::Op;

constexpr Index kChunk = 8192;  // entries of a long vector an item

Index chunks(Index n) { return (n + kChunk - 1) / kChunk; }

/// V'w, one partial sum a chunk, added in order.
Vector inner_products(const MatrixRef& v, const Vector& w, int threads) {
  Matrix part = Matrix::Zero(v.cols(), chunks(v.rows()));
  parallel_for(part.cols(), threads, [&](Index c) {
    const Index first = c * kChunk, count = std::min(kChunk, v.rows() - first);
    linalg::gemv(1.0, Op::kTranspose, v.middleRows(first, count), w.segment(first, count), 0.0, part.col(c));
  });
  return part.rowwise().sum();
}

/// w -= V h
void subtract(const MatrixRef& v, const Vector& h, Vector& w, int threads) {
  parallel_for(chunks(v.rows()), threads, [&](Index c) {
    const Index first = c * kChunk, count = std::min(kChunk, v.rows() - first);
    linalg::gemv(-1.0, Op::kNone, v.middleRows(first, count), h, 1.0, w.segment(first, count));
  });
}

double norm(const Vector& w, int threads) { return std::sqrt(inner_products(w, w, threads)[0]); }

/// The first columns of V <- V S, chunk by chunk.
void rotate(Matrix& v, Index used, const Matrix& s, int threads) {
  parallel_for(chunks(v.rows()), threads, [&](Index c) {
    const Index first = c * kChunk, count = std::min(kChunk, v.rows() - first);
    Matrix turned(count, s.cols());
    linalg::gemm(1.0, Op::kNone, v.block(first, 0, count, used), Op::kNone, s, 0.0, turned);
    v.block(first, 0, count, s.cols()) = turned;
  });
}

/// Eigenpairs of T, leading one first.
struct Ritz {
  Vector values;
  Matrix vectors;
};
Ritz ritz_pairs(const MatrixRef& t, bool magnitude) {
  const auto eigen = linalg::symmetric_eigen(t, true);
  std::vector<Index> order(static_cast<std::size_t>(t.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return magnitude ? std::abs(eigen.values[a]) > std::abs(eigen.values[b])
                     : eigen.values[a] > eigen.values[b];
  });
  return {eigen.values(order), eigen.vectors(Eigen::all, order)};
}

class Lanczos {
 public:
  Lanczos(Index n, const CarriedOperator& op, const LanczosOptions& options, Random& random)
      : n_(n),
        count_(std::min(options.count, n)),
        basis_(std::min(n, std::max(options.basis, 2 * options.count + 10))),
        op_(op),
        options_(options),
        random_(random),
        v_(n, basis_),
        t_(Matrix::Zero(basis_, basis_)),
        w_(n),
        images_(static_cast<std::size_t>(basis_)) {}

  OperatorPairs run(const Vector& start) {
    w_ = start;
    const double length = norm(w_, options_.threads);
    append(length);
    OperatorPairs result;
    bool carried = false;  // the image of the last vector comes from those of others
    Matrix next;           // that image, or the one the caller has
    if (options_.first_image != nullptr) next = *options_.first_image / length;
    while (true) {
      const Index j = used_ - 1;
      const Vector x = v_.col(j);
      auto& image = images_[static_cast<std::size_t>(j)];
      image = next.size() > 0 ? std::move(next) : op_.image(x);
      next = Matrix();
      const bool carry = image.size() > 0 && !carried;
      Matrix product_image;
      op_.multiply(x, image, w_, carry ? &product_image : nullptr);
      ++result.products;
      Vector h = orthogonalize();
      t_.col(j).head(used_) = h;
      t_.row(j).head(used_) = h.transpose();
      const double beta = norm(w_, options_.threads);
      carried = carry && beta * beta > kCancelled * kCancelled * h.squaredNorm();
      if (carried) {
        next = std::move(product_image);
        for (Index i = 0; i < used_; ++i) next -= h[i] * images_[static_cast<std::size_t>(i)];
        next /= beta;
      }
      ritz_ = ritz_pairs(t_.topLeftCorner(used_, used_), options_.magnitude);
      const double scale = ritz_.values.cwiseAbs().maxCoeff();
      const bool closed = !(beta > kRounding * scale);  // the space is invariant
      result.converged = (closed && (used_ >= count_ || scale == 0.0)) ||
                         (result.products >= options_.least_products && reached(beta, scale));
      if (result.converged || used_ == n_ || result.products >= options_.most_products ||
          (options_.stop && options_.stop())) {
        result.converged = result.converged || used_ == n_;
        break;
      }
      if (used_ == basis_) restart();
      if (closed) {  // another start, beside what is known
        carried = false;
        next = Matrix();
        for (Index i = 0; i < n_; ++i) w_[i] = random_.normal();
        orthogonalize();
        append(norm(w_, options_.threads));
      } else {
        append(beta);
      }
    }
    const Index found = std::min(count_, used_);
    result.values = ritz_.values.head(found);
    result.image = turned_image(ritz_.vectors.col(0));
    rotate(v_, used_, ritz_.vectors.leftCols(found), options_.threads);
    result.vectors = v_.leftCols(found);
    return result;
  }

 private:
  static constexpr double kRounding = 1e-14;
  /// What is left of a product after orthogonalization; below, its image has lost digits and is made anew.
  static constexpr double kCancelled = 1e-4;

  void append(double length) {
    v_.col(used_) = w_ / length;
    ++used_;
  }

  /// w -= V V'w, twice (once loses orthogonality where w lies nearly in the span); gives V'w.
  Vector orthogonalize() {
    const auto v = v_.leftCols(used_);
    Vector h = inner_products(v, w_, options_.threads);
    subtract(v, h, w_, options_.threads);
    const Vector again = inner_products(v, w_, options_.threads);
    subtract(v, again, w_, options_.threads);
    return h + again;
  }

  /// |A y - theta y| = beta |s_last| for a Ritz vector y = V s; its error is that over the distance of the
  /// values.
  [[nodiscard]] bool reached(double beta, double scale) const {
    if (used_ < count_) return false;
    double residual = 0.0;
    for (Index i = 0; i < count_; ++i)
      residual = std::max(residual, beta * std::abs(ritz_.vectors(used_ - 1, i)));
    const auto size = [&](Index i) {
      return options_.magnitude ? std::abs(ritz_.values[i]) : ritz_.values[i];
    };
    const double distance = used_ > count_ ? size(count_ - 1) - size(count_) : scale;
    return residual <= std::max(options_.tolerance * distance, kRounding * scale);
  }

  /// V <- the leading Ritz vectors, which T makes diagonal; the residual w follows them.
  void restart() {
    const Index keep = std::min(basis_ - 1, std::max(count_ + 3, basis_ / 3));
    rotate(v_, used_, ritz_.vectors.leftCols(keep), options_.threads);
    std::vector<Matrix> turned;
    turned.reserve(images_.size());
    for (Index i = 0; i < keep; ++i) turned.push_back(turned_image(ritz_.vectors.col(i)));
    turned.resize(images_.size());
    images_ = std::move(turned);
    t_.setZero();
    t_.diagonal().head(keep) = ritz_.values.head(keep);
    used_ = keep;
  }

  /// The image of V s.
  [[nodiscard]] Matrix turned_image(const VectorRef& s) const {
    if (images_.front().size() == 0) return {};
    Matrix image = s[0] * images_.front();
    for (Index i = 1; i < used_; ++i) image += s[i] * images_[static_cast<std::size_t>(i)];
    return image;
  }

  Index n_, count_, basis_;
  const CarriedOperator& op_;
  const LanczosOptions& options_;
  Random& random_;
  Matrix v_, t_;
  Vector w_;
  std::vector<Matrix> images_;  ///< of the columns of V; empty ones where the operator has none
  Ritz ritz_;
  Index used_ = 0;
};

}  // namespace

OperatorPairs leading_eigenpairs(Index n, const std::function<void(const Vector&, Vector&)>& multiply,
                                 const Vector& start, const LanczosOptions& options, Random& random) {
  const CarriedOperator plain{
      .image = [](const Vector&) { return Matrix(); },
      .multiply = [&](const Vector& x, const Matrix&, Vector& y, Matrix*) { multiply(x, y); }};
  return leading_eigenpairs(n, plain, start, options, random);
}

OperatorPairs leading_eigenpairs(Index n, const CarriedOperator& op, const Vector& start,
                                 const LanczosOptions& options, Random& random) {
  return Lanczos(n, op, options, random).run(start);
}

}  // namespace subspectra
