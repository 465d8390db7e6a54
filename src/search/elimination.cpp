#include "search/elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::search {
namespace {

using linalg::Op;

class DenseElimination : public Elimination {
 public:
  DenseElimination(Matrix s, std::vector<Index> features, Index universe, Matrix c, int threads)
      : Elimination(std::move(features), universe, s.diagonal(), std::move(c), true),
        s_(std::move(s)),
        threads_(threads) {}

  [[nodiscard]] Matrix block(const std::vector<Index>& slots) const override {
    const auto size = static_cast<Index>(slots.size());
    Matrix out(size, size);
    for (Index a = 0; a < size; ++a) {
      for (Index b = 0; b <= a; ++b) {
        const Index i = std::max(slots[a], slots[b]), j = std::min(slots[a], slots[b]);
        const double value =
            s_(i, j) -
            s_.row(i).segment(block_, begin_ - block_).dot(s_.row(j).segment(block_, begin_ - block_));
        out(a, b) = out(b, a) = value;
      }
    }
    return out;
  }

 private:
  static constexpr Index kBlock = 64;

  Index bring_forward(Index slot) override {
    const Index f = begin_;
    if (slot == f) return f;
    swap_slots(f, slot);
    const Index below = end() - slot - 1;
    s_.row(f).segment(block_, f - block_).swap(s_.row(slot).segment(block_, f - block_));
    std::swap(s_(f, f), s_(slot, slot));
    for (Index i = f + 1; i < slot; ++i) std::swap(s_(i, f), s_(slot, i));
    s_.col(f).tail(below).swap(s_.col(slot).tail(below));
    return f;
  }

  void residual_column(Index f) override {
    const Index below = end() - f - 1, done = f - block_;
    auto column = s_.col(f).tail(below);
    const Vector row = s_.row(f).segment(block_, done);
    linalg::gemv(-1.0, Op::kNone, s_.block(f + 1, block_, below, done), row, 1.0, column);
    column *= 1.0 / std::sqrt(d_[f]);
    w_.tail(below) = column;
  }

  void after() override {
    if (begin_ - block_ < kBlock || begin_ == end()) return;
    const Index rest = end() - begin_;
    linalg::rank_update_lower(-1.0, s_.block(begin_, block_, rest, begin_ - block_),
                              s_.bottomRightCorner(rest, rest), threads_);
    block_ = begin_;
  }

  Matrix s_;         ///< lower triangle; column i of the current block holds w of pivot i
  Index block_ = 0;  ///< first pivot whose product has not been subtracted from the rest
  int threads_;
};

class ColumnElimination : public Elimination {
 public:
  ColumnElimination(const Pencil& pencil, const std::vector<Index>& candidates, Index most, int threads)
      : Elimination(positions(pencil.size()), pencil.size(), pencil.diagonal(), *pencil.factor(), false),
        pencil_(pencil),
        kept_(pencil.size(), most),
        threads_(threads) {
    std::fill(alive_.begin(), alive_.end(), 0);
    for (const Index j : candidates) alive_[static_cast<std::size_t>(j)] = 1;
  }

  [[nodiscard]] Matrix block(const std::vector<Index>& slots) const override {
    const Matrix w = kept_(slots, Eigen::seqN(0, done_));
    return pencil_.block(slots, threads_) - w * w.transpose();
  }

 private:
  static std::vector<Index> positions(Index p) {
    std::vector<Index> all(static_cast<std::size_t>(p));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }

  void residual_column(Index slot) override {
    pencil_.column(feature(slot), w_, threads_);
    const Vector row = kept_.row(slot).head(done_);
    const double scale = 1.0 / std::sqrt(d_[slot]);
    constexpr Index kTile = 8192;
    parallel_for((end() + kTile - 1) / kTile, threads_, [&](Index tile) {
      const Index i = tile * kTile, height = std::min(kTile, end() - i);
      linalg::gemv(-scale, Op::kNone, kept_.block(i, 0, height, done_), row, scale, w_.segment(i, height));
    });
    kept_.col(done_++) = w_;
    alive_[static_cast<std::size_t>(slot)] = 0;
  }

  const Pencil& pencil_;
  Matrix kept_;  ///< p x most: w of every pivot
  Index done_ = 0;
  int threads_;
};

class WoodburyElimination : public Elimination {
 public:
  WoodburyElimination(const Pencil& pencil, const std::vector<Index>& features, int threads)
      : Elimination(features, pencil.size(), Vector::Ones(static_cast<Index>(features.size())),
                    (*pencil.factor())(features, Eigen::all), true),
        eps_(pencil.shift()),
        z_(pencil.rows()->centred(features)),
        m_(c_),
        threads_(threads) {
    rebuild();
    start_ = d_;
  }

  [[nodiscard]] Matrix block(const std::vector<Index>& slots) const override {
    const Matrix z = z_(Eigen::all, slots);
    Matrix out = -z.transpose() * (h_ * z);
    out.diagonal().array() += 1.0;
    return out / eps_;
  }

 private:
  static constexpr Index kRebuild = 50;

  Index bring_forward(Index slot) override {
    const Index f = begin_;
    if (slot == f) return f;
    swap_slots(f, slot);
    z_.col(f).swap(z_.col(slot));
    m_.row(f).swap(m_.row(slot));
    return f;
  }

  void residual_column(Index f) override {
    const Index below = end() - f - 1;
    Vector h(z_.rows());
    linalg::gemv(1.0, Op::kNone, h_, z_.col(f), 0.0, h);
    linalg::gemv_transposed(z_.rightCols(below), h, w_.tail(below), threads_);
    w_.tail(below) *= -1.0 / (eps_ * std::sqrt(d_[f]));
    // H of the columns without f; 1 - z_f'h = eps d_f.
    const double scale = 1.0 / (eps_ * d_[f]);
    for (Index j = 0; j < h.size(); ++j) h_.col(j) += (scale * h[j]) * h;
  }

  void after() override {
    if (++since_ >= kRebuild) rebuild();
  }

  /// H = (eps I + Z Z')^{-1}, d = (1 - z_i'H z_i)/eps, U = (M - Z'H Z M)/eps over the columns still here.
  void rebuild() {
    since_ = 0;
    ++refreshed_;
    const Index n = z_.rows(), count = end() - begin_;
    if (count == 0) return;
    const auto z = z_.rightCols(count);
    Matrix gram = Matrix::Zero(n, n);
    linalg::rank_update_lower(1.0, z, gram, threads_);
    gram.diagonal().array() += eps_;
    if (!linalg::invert_positive(gram, threads_)) {
      throw Error("the within-class covariance is singular to rounding; raise ⟨ridge⟩");
    }
    linalg::mirror_lower(gram);
    h_ = std::move(gram);
    constexpr Index kPanel = 512;
    Matrix zm = Matrix::Zero(n, c_.cols());
    linalg::gemm(1.0, Op::kNone, z, Op::kNone, m_.bottomRows(count), 0.0, zm);
    parallel_for((count + kPanel - 1) / kPanel, threads_, [&](Index item) {
      const Index j = item * kPanel, width = std::min(kPanel, count - j), at = begin_ + j;
      const auto part = z_.middleCols(at, width);
      Matrix y(n, width);
      linalg::gemm(1.0, Op::kNone, h_, Op::kNone, part, 0.0, y);
      d_.segment(at, width) = (1.0 - part.cwiseProduct(y).colwise().sum().transpose().array()) / eps_;
      auto u = c_.middleRows(at, width);
      u = m_.middleRows(at, width);
      linalg::gemm(-1.0 / eps_, Op::kTranspose, y, Op::kNone, zm, 1.0 / eps_, u);
    });
  }

  double eps_;
  Matrix z_;  ///< N x n, columns in slot order
  Matrix m_;  ///< n x r, rows in slot order
  Matrix h_;
  Index since_ = 0;
  int threads_;
};

}  // namespace

Elimination::Elimination(std::vector<Index> features, Index universe, Vector d, Matrix c, bool swaps)
    : swaps_(swaps),
      feature_(std::move(features)),
      slot_(static_cast<std::size_t>(universe), -1),
      alive_(feature_.size(), 1),
      d_(std::move(d)),
      start_(d_),
      w_(Vector::Zero(d_.size())),
      c_(std::move(c)) {
  for (std::size_t s = 0; s < feature_.size(); ++s)
    slot_[static_cast<std::size_t>(feature_[s])] = static_cast<Index>(s);
}

bool Elimination::all_alive() const {
  return std::find(alive_.begin() + begin_, alive_.end(), 0) == alive_.end();
}

void Elimination::swap_slots(Index a, Index b) {
  const auto sa = static_cast<std::size_t>(a), sb = static_cast<std::size_t>(b);
  std::swap(feature_[sa], feature_[sb]);
  std::swap(alive_[sa], alive_[sb]);
  std::swap(slot_[static_cast<std::size_t>(feature_[sa])], slot_[static_cast<std::size_t>(feature_[sb])]);
  std::swap(d_[a], d_[b]);
  std::swap(start_[a], start_[b]);
  c_.row(a).swap(c_.row(b));
}

void Elimination::eliminate(Index slot) {
  const Index pivot = bring_forward(slot);
  residual_column(pivot);
  const Index first = swaps_ ? pivot + 1 : begin_;
  const Index count = end() - first;
  const auto w = w_.segment(first, count);
  const double root = std::sqrt(d_[pivot]);
  for (Index c = 0; c < c_.cols(); ++c) {
    const double factor = c_(pivot, c) / root;
    c_.col(c).segment(first, count) -= factor * w;
  }
  d_.segment(first, count).array() -= w.array().square();
  slot_[static_cast<std::size_t>(feature_[static_cast<std::size_t>(pivot)])] = -1;
  begin_ = first;
  after();
}

std::unique_ptr<Elimination> dense_elimination(Matrix s, std::vector<Index> features, Index universe,
                                               Matrix c, int threads) {
  return std::make_unique<DenseElimination>(std::move(s), std::move(features), universe, std::move(c),
                                            threads);
}

std::unique_ptr<Elimination> column_elimination(const Pencil& pencil, const std::vector<Index>& candidates,
                                                Index most, int threads) {
  return std::make_unique<ColumnElimination>(pencil, candidates, most, threads);
}

std::unique_ptr<Elimination> woodbury_elimination(const Pencil& pencil, const std::vector<Index>& features,
                                                  int threads) {
  return std::make_unique<WoodburyElimination>(pencil, features, threads);
}

}  // namespace subspectra::search
