#include "eigen/leading.hpp"

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

/// A dense symmetric matrix for Spectra, multiplied at full speed.
class DenseProduct {
 public:
  using Scalar = double;
  explicit DenseProduct(const MatrixRef& a) : a_(a) {}
  [[nodiscard]] Index rows() const { return a_.rows(); }
  [[nodiscard]] Index cols() const { return a_.cols(); }
  void perform_op(const double* x, double* y) const {
    linalg::gemv(1.0, linalg::Op::kNone, a_, Eigen::Map<const Vector>(x, a_.rows()), 0.0,
                 Eigen::Map<Vector>(y, a_.rows()));
  }

 private:
  const MatrixRef& a_;
};

}  // namespace

void make_largest_positive(Matrix& vectors) {
  for (Index j = 0; j < vectors.cols(); ++j) {
    Index largest = 0;
    vectors.col(j).cwiseAbs().maxCoeff(&largest);
    if (vectors(largest, j) < 0.0) vectors.col(j) *= -1.0;
  }
}

LeadingPairs leading_pairs(const MatrixRef& a, Index count) {
  const Index n = a.rows();
  count = std::min(count, n);
  LeadingPairs result;
  bool done = false;
  if (n > kDenseRows && 4 * count + 20 < n) {
    DenseProduct product(a);
    Spectra::SymEigsSolver<DenseProduct> solver(product, count, std::min(n, 4 * count + 20));
    const Vector start =
        a.diagonal().cwiseMax(0.0).cwiseSqrt().array() + 1e-3 * std::sqrt(a.diagonal().maxCoeff());
    solver.init(start.data());
    done = solver.compute(Spectra::SortRule::LargestAlge, 1000, 1e-13) == count;
    if (done) {
      result.values = solver.eigenvalues();
      result.vectors = solver.eigenvectors();
    }
  }
  if (!done) {
    const auto eigen = linalg::symmetric_eigen(a, true);
    result.values = eigen.values.tail(count).reverse();
    result.vectors = eigen.vectors.rightCols(count).rowwise().reverse();
  }
  make_largest_positive(result.vectors);
  return result;
}

namespace {

/// Something of every direction, in the same measure as leading_vector_near() adds it.
void add_other_directions(Vector& v) {
  constexpr double kOther = 1e-2, kGolden = 0.6180339887498949;
  const double scale = kOther / std::sqrt(static_cast<double>(v.size()));
  for (Index i = 0; i < v.size(); ++i) {
    const double turn = kGolden * static_cast<double>(i + 1);
    v[i] += scale * (turn - std::floor(turn) - 0.5);
  }
}

/// Lanczos with full orthogonalization for one block, a step at a time; the products are made by the caller.
class BlockLanczos {
 public:
  static constexpr Index kBasis = 64;

  BlockLanczos(Index size, const Vector& start) : basis_(size, std::min(size, kBasis)) {
    diagonal_.resize(basis_.cols());
    beside_.resize(basis_.cols());
    begin(start);
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] Index size() const { return basis_.rows(); }
  [[nodiscard]] auto direction() const { return basis_.col(step_); }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] Vector& vector() { return vector_; }

  /// `w` = A direction().
  void take(Vector w) {
    constexpr Index kEvery = 6;  // a look at the Ritz pairs every so many steps
    const Index used = step_ + 1;
    if (step_ > 0) w -= beside_[step_ - 1] * basis_.col(step_ - 1);
    diagonal_[step_] = basis_.col(step_).dot(w);
    w -= diagonal_[step_] * basis_.col(step_);
    Vector h(used);
    linalg::gemv(1.0, linalg::Op::kTranspose, basis_.leftCols(used), w, 0.0, h);
    linalg::gemv(-1.0, linalg::Op::kNone, basis_.leftCols(used), h, 1.0, w);
    const double length = w.norm();
    const bool closed = !(length > kRounding * diagonal_.head(used).maxCoeff());  // the space is invariant
    const bool full = used == basis_.cols();
    if ((closed || full || used % kEvery == 0) && finish(used, length, closed, full)) return;
    beside_[step_++] = length;
    basis_.col(step_) = w / length;
  }

 private:
  static constexpr double kTolerance = 1e-12, kRounding = 1e-14;
  static constexpr int kRestarts = 30;

  void begin(const Vector& start) {
    basis_.col(0) = start / start.norm();
    step_ = 0;
  }
  /// Whether this was the last step before a new beginning, or the last of all.
  bool finish(Index used, double length, bool closed, bool full) {
    const linalg::SymmetricEigen ritz =
        linalg::tridiagonal_eigen(diagonal_.head(used), beside_.head(used - 1));
    const auto s = ritz.vectors.col(used - 1);
    value_ = ritz.values[used - 1];
    const double distance = used > 1 ? value_ - ritz.values[used - 2] : value_;
    done_ = closed || length * std::abs(s[used - 1]) <= std::max(kTolerance * distance, kRounding * value_) ||
            (full && ++restarts_ > kRestarts);
    if (!done_ && !full) return false;
    vector_.resize(size());
    linalg::gemv(1.0, linalg::Op::kNone, basis_.leftCols(used), s, 0.0, vector_);
    vector_ /= vector_.norm();
    if (!done_) begin(vector_);
    return true;
  }

  Matrix basis_;
  Vector diagonal_, beside_, vector_;
  Index step_ = 0;
  int restarts_ = 0;
  double value_ = 0.0;
  bool done_ = false;
};

}  // namespace

BlockPairs leading_pairs_of_blocks(const MatrixRef& a, const std::vector<Index>& sizes, int threads) {
  constexpr Index kSmall = 48;           // rows whose pairs are all there at once
  constexpr std::size_t kTogether = 32;  // sizes
  BlockPairs found;
  found.values.resize(static_cast<Index>(sizes.size()));
  found.vectors.resize(sizes.size());
  std::size_t next = 0;
  for (; next < sizes.size() && sizes[next] <= kSmall; ++next) {
    LeadingPairs pair = leading_pairs(a.topLeftCorner(sizes[next], sizes[next]), 1);
    found.values[static_cast<Index>(next)] = pair.values[0];
    found.vectors[next] = pair.vectors.col(0);
  }
  while (next < sizes.size()) {
    const std::size_t end = std::min(sizes.size(), next + kTogether);
    const Index rows = sizes[end - 1];
    std::vector<BlockLanczos> blocks;
    blocks.reserve(end - next);
    for (std::size_t i = next; i < end; ++i) {
      Vector start = Vector::Zero(sizes[i]);
      if (next > 0) {
        start.head(found.vectors[next - 1].size()) = found.vectors[next - 1];
      } else {
        start = a.diagonal().head(sizes[i]).cwiseMax(0.0).cwiseSqrt();
        if (start.squaredNorm() > 0.0) start /= start.norm();
      }
      add_other_directions(start);
      blocks.emplace_back(sizes[i], start);
    }
    std::vector<std::size_t> open(blocks.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    Matrix x(rows, static_cast<Index>(open.size())), y(rows, static_cast<Index>(open.size()));
    while (!open.empty()) {
      const auto count = static_cast<Index>(open.size());
      for (Index c = 0; c < count; ++c) {
        const BlockLanczos& block = blocks[open[static_cast<std::size_t>(c)]];
        x.col(c).head(block.size()) = block.direction();
        x.col(c).tail(rows - block.size()).setZero();
      }
      // As A' X: A is symmetric, and its tiles of rows are shared out.
      linalg::gemm_tiled(1.0, linalg::Op::kTranspose, a.topLeftCorner(rows, rows), x.leftCols(count), 0.0,
                         y.leftCols(count), threads);
      parallel_for(count, threads, [&](Index c) {
        BlockLanczos& block = blocks[open[static_cast<std::size_t>(c)]];
        block.take(y.col(c).head(block.size()));
      });
      std::erase_if(open, [&](std::size_t i) { return blocks[i].done(); });
    }
    for (std::size_t i = next; i < end; ++i) {
      found.values[static_cast<Index>(i)] = blocks[i - next].value();
      found.vectors[i] = std::move(blocks[i - next].vector());
    }
    next = end;
  }
  return found;
}

Vector leading_vector_near(const Matrix& a, const Vector& guess) {
  constexpr Index kSmall = 10;  // all pairs cost no more
  const Index n = a.rows();
  if (n <= kSmall) return leading_pairs(a, 1).vectors.col(0);
  constexpr Index kBasis = 32, kEvery = 4;  // a look at the Ritz pairs every so many steps
  constexpr int kRestarts = 30;
  constexpr double kTolerance = 1e-11, kRounding = 1e-14;
  // The guess may be orthogonal to the vector that leads by now, in exact data exactly.
  Vector v = guess;
  add_other_directions(v);
  const Index most = std::min(n, kBasis);
  Matrix basis(n, most);
  Vector diagonal(most), beside(most), w(n), h(most);
  for (int restart = 0; restart < kRestarts; ++restart) {
    basis.col(0) = v / v.norm();
    for (Index j = 0; j < most; ++j) {
      const Index used = j + 1;
      linalg::gemv(1.0, linalg::Op::kNone, a, basis.col(j), 0.0, w);
      diagonal[j] = 0.0;
      for (int pass = 0; pass < 2; ++pass) {
        linalg::gemv(1.0, linalg::Op::kTranspose, basis.leftCols(used), w, 0.0, h.head(used));
        linalg::gemv(-1.0, linalg::Op::kNone, basis.leftCols(used), h.head(used), 1.0, w);
        diagonal[j] += h[j];
      }
      const double length = w.norm();
      const bool closed = !(length > kRounding * diagonal.head(used).maxCoeff());  // the space is invariant
      if (closed || used == most || used % kEvery == 0) {
        const linalg::SymmetricEigen ritz = linalg::tridiagonal_eigen(diagonal.head(used), beside.head(j));
        const auto s = ritz.vectors.col(j);
        const double value = ritz.values[j];
        const double distance = j > 0 ? value - ritz.values[j - 1] : value;
        const bool found =
            closed || length * std::abs(s[j]) <= std::max(kTolerance * distance, kRounding * value);
        if (found || used == most) {
          linalg::gemv(1.0, linalg::Op::kNone, basis.leftCols(used), s, 0.0, v);
          if (found) return v / v.norm();
          break;
        }
      }
      beside[j] = length;
      basis.col(used) = w / length;
    }
  }
  return leading_pairs(a, 1).vectors.col(0);  // the two largest values nearly agree
}

}  // namespace subspectra
