#include "subspectra/linalg/tiled.hpp"

#include <algorithm>
#include <utility>

#include "subspectra/core/parallel.hpp"

namespace subspectra::linalg {
namespace {

constexpr Index kTile = 256;   // 256 x 256 doubles (512 KiB) and two panels fit the second-level cache
constexpr Index kPanel = 128;  // columns of a Cholesky panel: deep enough for DGEMM, few flops in DPOTRF

Index tiles(Index n, Index width) { return (n + width - 1) / width; }

}  // namespace

void rank_update_lower(double alpha, const MatrixRef& a, MutableMatrix c, int threads) {
  const Index n = c.rows();
  const Index count = tiles(n, kTile);
  // Tile (row, column) of the lower triangle by its number, the largest rows first: level loads at the end.
  parallel_for(count * (count + 1) / 2, threads, [&](Index item) {
    Index row = count - 1;
    while (item > row) {
      item -= row + 1;
      --row;
    }
    const Index i = row * kTile, j = item * kTile;
    const Index height = std::min(kTile, n - i), width = std::min(kTile, n - j);
    if (i == j) {
      syrk_lower(alpha, a.middleRows(i, height), c.block(i, i, height, height));
    } else {
      gemm(alpha, Op::kNone, a.middleRows(i, height), Op::kTranspose, a.middleRows(j, width), 1.0,
           c.block(i, j, height, width));
    }
  });
}

void gemm_tiled(double alpha, Op op_a, const MatrixRef& a, const MatrixRef& b, double beta, MutableMatrix c,
                int threads) {
  if (op_a == Op::kTranspose) {
    parallel_for(tiles(c.rows(), kTile), threads, [&](Index item) {
      const Index i = item * kTile, height = std::min(kTile, c.rows() - i);
      gemm(alpha, op_a, a.middleCols(i, height), Op::kNone, b, beta, c.middleRows(i, height));
    });
  } else {
    parallel_for(tiles(c.cols(), kTile), threads, [&](Index item) {
      const Index j = item * kTile, width = std::min(kTile, c.cols() - j);
      gemm(alpha, op_a, a, Op::kNone, b.middleCols(j, width), beta, c.middleCols(j, width));
    });
  }
}

void gemv_transposed(const MatrixRef& a, const VectorRef& x, MutableVector y, int threads) {
  constexpr Index kEntries = Index{1} << 17;  // 1 MiB of A an item
  const Index width = std::max<Index>(1, kEntries / std::max<Index>(1, a.rows()));
  parallel_for(tiles(a.cols(), width), threads, [&](Index item) {
    const Index j = item * width, count = std::min(width, a.cols() - j);
    gemv(1.0, Op::kTranspose, a.middleCols(j, count), x, 0.0, y.segment(j, count));
  });
}

bool cholesky_tiled(MutableMatrix a, int threads) {
  const Index n = a.rows();
  for (Index k = 0; k < n; k += kPanel) {
    const Index width = std::min(kPanel, n - k), below = n - k - width;
    if (!cholesky(a.block(k, k, width, width))) return false;
    if (below == 0) break;
    // Rows below the panel: X L' = A, that is L X' = A' row tile by row tile.
    parallel_for(tiles(below, kTile), threads, [&](Index item) {
      const Index i = k + width + item * kTile, height = std::min(kTile, n - i);
      solve_lower_right(a.block(k, k, width, width), a.block(i, k, height, width));
    });
    rank_update_lower(-1.0, a.block(k + width, k, below, width), a.bottomRightCorner(below, below), threads);
  }
  for (Index j = 1; j < n; ++j) a.col(j).head(j).setZero();
  return true;
}

std::optional<Matrix> invert_positive(MutableMatrix a, MutableMatrix c, double pivot_floor, int threads) {
  const Index n = a.rows();
  const Vector diagonal = a.diagonal();
  Matrix t = Matrix::Zero(c.cols(), c.cols());
  // Sweeping panel K, with D = A_KK: A_KK <- -D^{-1}, A_IK <- A_IK D^{-1}, A_IJ -= A_IK D^{-1} A_KJ for all
  // other I, J, swept or not. What is not yet swept is the Schur complement of what is; in the end A holds
  // -A^{-1}.
  for (Index k = 0; k < n; k += kPanel) {
    const Index width = std::min(kPanel, n - k), after = n - k - width;
    Matrix l = a.block(k, k, width, width);
    if (!cholesky(l)) return std::nullopt;
    for (Index i = 0; i < width; ++i) {
      if (!(l(i, i) * l(i, i) > pivot_floor * diagonal[k + i])) return std::nullopt;
    }
    Matrix y(n, width);  // A_IK L^{-T}
    y.topRows(k) = a.block(k, 0, width, k).transpose();
    y.middleRows(k, width).setZero();
    y.bottomRows(after) = a.block(k + width, k, after, width);
    parallel_for(tiles(n, kTile), threads, [&](Index item) {
      const Index i = item * kTile;
      solve_lower_right(l, y.middleRows(i, std::min(kTile, n - i)));
    });
    Matrix z = c.middleRows(k, width);
    solve_lower(l, Op::kNone, z);
    t += z.transpose() * z;
    gemm(-1.0, Op::kNone, y, Op::kNone, z, 1.0, c);
    solve_lower(l, Op::kTranspose, z);
    c.middleRows(k, width) = z;
    rank_update_lower(-1.0, y, a, threads);
    Matrix inverse = Matrix::Identity(width, width);
    solve_lower(l, Op::kNone, inverse);  // L^{-1}
    Matrix scaled(n, width);             // A_IK D^{-1}
    parallel_for(tiles(n, kTile), threads, [&](Index item) {
      const Index i = item * kTile, height = std::min(kTile, n - i);
      gemm(1.0, Op::kNone, y.middleRows(i, height), Op::kNone, inverse, 0.0, scaled.middleRows(i, height));
    });
    a.block(k, 0, width, k) = scaled.topRows(k).transpose();
    a.block(k + width, k, after, width) = scaled.bottomRows(after);
    Matrix block(width, width);
    gemm(-1.0, Op::kTranspose, inverse, Op::kNone, inverse, 0.0, block);
    a.block(k, k, width, width) = block;
  }
  for (Index j = 0; j < n; ++j) a.col(j).tail(n - j) *= -1.0;
  return t;
}

bool invert_positive(MutableMatrix a, int threads) {
  Matrix nothing(a.rows(), 0);
  return invert_positive(std::move(a), nothing, 0.0, threads).has_value();
}

}  // namespace subspectra::linalg
