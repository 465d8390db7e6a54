#include "eigen/leading.hpp"

#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
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

/// What the steps so far tell of the leading pair: its value, how far the next one is, the residual.
struct RoughPair {
  double value = 0.0, distance = 0.0, residual = 0.0;
};

/// Lanczos with full orthogonalization for one block, a step at a time; the products with a positive
/// semidefinite operator are made by the caller.
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
  [[nodiscard]] const RoughPair& pair() const { return pair_; }
  [[nodiscard]] Vector& vector() { return vector_; }

  /// `w` = the operator times direction().
  void take(Vector w) {
    constexpr Index kFirst = 5, kOften = 16, kEvery = 6;  // a look at the Ritz pairs at these steps
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
    const bool look = used <= kOften ? used >= kFirst : used % kEvery == 0;
    if ((closed || full || look) && finish(used, length, closed, full)) return;
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
    pair_.value = ritz.values[used - 1];
    pair_.distance = used > 1 ? pair_.value - ritz.values[used - 2] : pair_.value;
    pair_.residual = length * std::abs(s[used - 1]);
    done_ = closed || pair_.residual <= std::max(kTolerance * pair_.distance, kRounding * pair_.value) ||
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
  RoughPair pair_;
  bool done_ = false;
};

/// L with L L' = sigma I - A, sigma a little above lambda_max(A): with its leading blocks L_k, L_k L_k' =
/// sigma I - A_k, so that one factorization inverts all leading blocks of A that are shifted by sigma.
/// Nothing where no such sigma was found.
std::optional<Matrix> shifted_factor(const MatrixRef& a, const Vector& start, int threads) {
  constexpr int kSteps = 12, kTries = 12;
  constexpr double kOfDistance = 0.05, kOfValue = 1e-5;  // sigma - lambda_max, at least
  BlockLanczos lanczos(a.rows(), start);
  Vector w(a.rows());
  for (int step = 0; step < kSteps && !lanczos.done(); ++step) {
    linalg::gemv_transposed(a, lanczos.direction(), w, threads);
    lanczos.take(w);
  }
  const RoughPair& pair = lanczos.pair();
  if (!(pair.value > 0.0) || !std::isfinite(pair.value)) return std::nullopt;
  double above = std::max({pair.residual, kOfDistance * pair.distance, kOfValue * pair.value});
  for (int attempt = 0; attempt < kTries; ++attempt, above *= 4.0) {
    Matrix l = -a;
    l.diagonal().array() += pair.value + above;
    if (linalg::cholesky_tiled(l, threads)) return l;
  }
  return std::nullopt;
}

/// The leading pairs of these blocks, from vectors near theirs, one a column with zeros below the block.
class BlocksTogether {
 public:
  BlocksTogether(const MatrixRef& a, std::span<const Index> sizes, int threads)
      : a_(a), sizes_(sizes), threads_(threads), x_(a.rows(), std::ssize(sizes)), y_(a.rows(), x_.cols()) {}

  /// Vectors of `starts` become the leading ones.
  void run(std::vector<Vector>& vectors, Vector& values) {
    std::vector<std::size_t> all(sizes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto factor = shifted_factor(a_, padded(vectors.back()), threads_);
    if (factor) lead(all, &*factor, vectors);
    if (!factor) lead(all, nullptr, vectors);
    auto wrong = values_of(vectors, values);
    if (!factor || wrong.empty()) return;
    lead(wrong, nullptr, vectors);  // rounding has spoilt the inverse
    (void)values_of(vectors, values);
  }

 private:
  static constexpr Index kColumns = 32;  // of a task

  [[nodiscard]] Vector padded(const Vector& v) const {
    Vector whole = Vector::Zero(a_.rows());
    whole.head(v.size()) = v;
    return whole;
  }
  void put(Index column, const VectorRef& v) {
    x_.col(column).head(v.size()) = v;
    x_.col(column).tail(x_.rows() - v.size()).setZero();
  }
  /// y = A x, as A' X: A is symmetric, and its tiles of rows are shared out.
  void multiply(Index count) {
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, a_, x_.leftCols(count), 0.0, y_.leftCols(count),
                       threads_);
  }
  /// y_i = (sigma I - A_k)^{-1} x_i, k the size of the i-th of `open`.
  void solve(const Matrix& l, const std::vector<std::size_t>& open) {
    const auto count = std::ssize(open);
    parallel_for((count + kColumns - 1) / kColumns, threads_, [&](Index item) {
      const Index first = item * kColumns, width = std::min<Index>(kColumns, count - first);
      const Index rows = sizes_[open[static_cast<std::size_t>(first + width - 1)]];
      auto y = y_.block(0, first, rows, width);
      y = x_.block(0, first, rows, width);
      const auto leading = l.topLeftCorner(rows, rows);
      linalg::solve_lower_panels(leading, linalg::Op::kNone, y);
      for (Index c = 0; c < width; ++c)
        y.col(c).tail(rows - sizes_[open[static_cast<std::size_t>(first + c)]]).setZero();
      linalg::solve_lower_panels(leading, linalg::Op::kTranspose, y);
    });
  }

  /// By the inverse where there is a factor, else by A itself. `open` ascending.
  void lead(std::vector<std::size_t> open, const Matrix* factor, std::vector<Vector>& vectors) {
    std::vector<std::optional<BlockLanczos>> blocks(sizes_.size());
    for (const std::size_t i : open) blocks[i].emplace(sizes_[i], vectors[i]);
    while (!open.empty()) {
      const auto count = static_cast<Index>(open.size());
      for (Index c = 0; c < count; ++c) put(c, blocks[open[static_cast<std::size_t>(c)]]->direction());
      if (factor != nullptr) {
        solve(*factor, open);
      } else {
        multiply(count);
      }
      parallel_for(count, threads_, [&](Index c) {
        BlockLanczos& block = *blocks[open[static_cast<std::size_t>(c)]];
        block.take(y_.col(c).head(block.size()));
      });
      for (const std::size_t i : open) {
        if (blocks[i]->done()) vectors[i] = std::move(blocks[i]->vector());
      }
      std::erase_if(open, [&](std::size_t i) { return blocks[i]->done(); });
    }
  }

  /// x'Ax of all of them; those whose residual says that they are no eigenvectors.
  std::vector<std::size_t> values_of(const std::vector<Vector>& vectors, Vector& values) {
    constexpr double kWrong = 1e-10;
    for (Index c = 0; c < x_.cols(); ++c) put(c, vectors[static_cast<std::size_t>(c)]);
    multiply(x_.cols());
    values.resize(x_.cols());
    std::vector<std::size_t> wrong;
    for (Index c = 0; c < x_.cols(); ++c) {
      const Index size = sizes_[static_cast<std::size_t>(c)];
      const auto x = x_.col(c).head(size), y = y_.col(c).head(size);
      values[c] = x.dot(y);
      if (!((y - values[c] * x).norm() <= kWrong * values[c])) wrong.push_back(static_cast<std::size_t>(c));
    }
    return wrong;
  }

  const MatrixRef& a_;
  std::span<const Index> sizes_;
  int threads_;
  Matrix x_, y_;
};

}  // namespace

BlockPairs leading_pairs_of_blocks(const MatrixRef& a, const std::vector<Index>& sizes, int threads) {
  constexpr Index kSmall = 48;           // rows whose pairs are all there at once
  constexpr std::size_t kTogether = 64;  // sizes
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
    std::vector<Vector> vectors;
    for (std::size_t i = next; i < end; ++i) {
      Vector start = Vector::Zero(sizes[i]);
      if (next > 0) {
        start.head(found.vectors[next - 1].size()) = found.vectors[next - 1];
      } else {
        start = a.diagonal().head(sizes[i]).cwiseMax(0.0).cwiseSqrt();
        if (start.squaredNorm() > 0.0) start /= start.norm();
      }
      add_other_directions(start);
      vectors.push_back(std::move(start));
    }
    const MatrixRef block = a.topLeftCorner(sizes[end - 1], sizes[end - 1]);
    Vector values;
    BlocksTogether(block, std::span(sizes).subspan(next, end - next), threads).run(vectors, values);
    for (std::size_t i = next; i < end; ++i) {
      found.values[static_cast<Index>(i)] = values[static_cast<Index>(i - next)];
      found.vectors[i] = std::move(vectors[i - next]);
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
