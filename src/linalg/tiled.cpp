#include "linalg/tiled.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace subspectra::linalg {
namespace {

constexpr Index kTiledTile = 256;  // width of a tile: what DGEMM packs of it stays in the second-level cache
constexpr Index kTall = 1024;      // height of a tile of a rank update: the packed width is used that often
constexpr Index kLong = 512;       // the same for products with a triangle
constexpr Index kInverted = 32;    // diagonal blocks of a triangular factor that are inverted

/// Who does the items of a product, and who may call it off.
struct Crew {
  int threads;
  const RunControl* control = nullptr;

  void run(Index items, const std::function<void(Index)>& body) const {
    parallel_for(items, threads, [&](Index item) {
      if (control != nullptr && control->should_stop()) throw Stopped();
      body(item);
    });
  }
};

Index tiles(Index n, Index width) { return (n + width - 1) / width; }

/// Columns of a panel: the rank updates want it wide, the work inside the panel (n width^2) narrow.
Index panel_width(Index n) { return n <= 1536 ? 64 : 128; }

/// Where a triangular matrix of n > kInverted rows is cut in two.
Index half(Index n) { return tiles(n, 2 * kInverted) * kInverted; }

/// Side of the tiles of a product with a triangular half of n/2 rows: what they hold of the other triangle is
/// multiplied by zeros.
Index triangle_tile(Index n) { return std::clamp<Index>(n / 256 * 32, 64, kTiledTile); }

/// Calls product(i, height, j, width) for all tiles of a rows x cols matrix.
void for_tiles(Index rows, Index height, Index cols, Index width, const Crew& crew,
               const std::function<void(Index, Index, Index, Index)>& product) {
  const Index down = tiles(rows, height);
  crew.run(down * tiles(cols, width), [&](Index item) {
    const Index i = item % down * height, j = item / down * width;
    product(i, std::min(height, rows - i), j, std::min(width, cols - j));
  });
}

/// The same for the lower triangle of an n x n matrix: tiles of kTiledTile columns and up to kTall rows, the
/// first of each column starting at the diagonal.
void for_lower_tiles(Index n, const Crew& crew,
                     const std::function<void(Index, Index, Index, Index)>& product) {
  std::vector<std::pair<Index, Index>> corners;
  for (Index j = 0; j < n; j += kTiledTile) {
    for (Index i = j; i < n; i += kTall) corners.emplace_back(i, j);
  }
  crew.run(static_cast<Index>(corners.size()), [&](Index item) {
    const auto [i, j] = corners[static_cast<std::size_t>(item)];
    product(i, std::min(kTall, n - i), j, std::min(kTiledTile, n - j));
  });
}

/// L <- L^{-1} by halves, the entries above the diagonal zero before and after. `work` holds half of L's rows
/// and columns.   n^3/3 flops.
void invert_lower(MutableMatrix l, MutableMatrix work, const Crew& crew) {
  const Index n = l.rows();
  if (n <= kInverted) {
    Matrix x = Matrix::Identity(n, n);
    l.triangularView<Eigen::Lower>().solveInPlace(x);
    l = x;
    return;
  }
  const Index top = half(n), rest = n - top, side = triangle_tile(n);
  auto first = l.topLeftCorner(top, top), second = l.bottomRightCorner(rest, rest);
  auto below = l.bottomLeftCorner(rest, top), product = work.topLeftCorner(rest, top);
  invert_lower(first, work, crew);
  invert_lower(second, work, crew);
  for_tiles(rest, kLong, top, side, crew, [&](Index i, Index height, Index j, Index width) {
    gemm(1.0, Op::kNone, below.block(i, j, height, top - j), Op::kNone, first.block(j, j, top - j, width),
         0.0, product.block(i, j, height, width));
  });
  for_tiles(rest, side, top, kLong, crew, [&](Index i, Index height, Index j, Index width) {
    gemm(-1.0, Op::kNone, second.block(i, 0, height, i + height), Op::kNone,
         product.block(0, j, i + height, width), 0.0, below.block(i, j, height, width));
  });
}

/// W <- W'W in the lower triangle, by halves; W is lower triangular, with zeros above the diagonal.   n^3/3
/// flops.
void square_lower(MutableMatrix w, MutableMatrix work, const Crew& crew) {
  const Index n = w.rows();
  constexpr Index kWhole = 2 * kInverted;
  if (n <= kWhole) {
    const Matrix copy = w;
    gemm(1.0, Op::kTranspose, copy, Op::kNone, copy, 0.0, w);
    return;
  }
  const Index top = half(n), rest = n - top, side = triangle_tile(n);
  auto first = w.topLeftCorner(top, top), second = w.bottomRightCorner(rest, rest);
  auto below = w.bottomLeftCorner(rest, top), product = work.topLeftCorner(rest, top);
  square_lower(first, work, crew);
  for_lower_tiles(top, crew, [&](Index i, Index height, Index j, Index width) {
    gemm(1.0, Op::kTranspose, below.middleCols(i, height), Op::kNone, below.middleCols(j, width), 1.0,
         first.block(i, j, height, width));
  });
  for_tiles(rest, side, top, kLong, crew, [&](Index i, Index height, Index j, Index width) {
    gemm(1.0, Op::kTranspose, second.block(i, i, rest - i, height), Op::kNone,
         below.block(i, j, rest - i, width), 0.0, product.block(i, j, height, width));
  });
  below = product;
  square_lower(second, work, crew);
}

/// Half of L's rows and columns, and a few rows more: columns a power of two apart share their cache lines.
Matrix half_matrix(Index n) {
  constexpr Index kPadding = 8;
  Matrix scratch(half(n) + kPadding, half(n));
  return scratch;
}

/// B <- B L^{-T} for a tile of rows B, by halves. (OpenBLAS's DTRSM runs at a quarter of DGEMM's speed for a
/// panel. With the inverse of L it would be a product, but on strongly correlated columns that loses two
/// digits of the Schur complement.)
void solve_right(const MatrixRef& l, MutableMatrix b) {
  constexpr Index kFew = 16;  // columns of a tile that stay in the first-level cache
  const Index n = l.rows();
  if (n <= kFew) {
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < j; ++k) b.col(j) -= l(j, k) * b.col(k);
      b.col(j) /= l(j, j);
    }
    return;
  }
  const Index first = tiles(n, 2 * kFew) * kFew, rest = n - first;
  solve_right(l.topLeftCorner(first, first), b.leftCols(first));
  gemm(-1.0, Op::kNone, b.leftCols(first), Op::kTranspose, l.bottomLeftCorner(rest, first), 1.0,
       b.rightCols(rest));
  solve_right(l.bottomRightCorner(rest, rest), b.rightCols(rest));
}

/// rank_update_lower(), which a crew may be called off from.
void rank_update(double alpha, const MatrixRef& a, MutableMatrix c, const Crew& crew) {
  for_lower_tiles(c.rows(), crew, [&](Index i, Index height, Index j, Index width) {
    if (i == j) {  // the width x width square on the diagonal apart
      syrk_lower(alpha, a.middleRows(j, width), c.block(j, j, width, width));
      i += width;
      height -= width;
    }
    gemm(alpha, Op::kNone, a.middleRows(i, height), Op::kTranspose, a.middleRows(j, width), 1.0,
         c.block(i, j, height, width));
  });
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): a view that is written through
void rank_update_lower(double alpha, const MatrixRef& a, MutableMatrix c, int threads) {
  rank_update(alpha, a, c, {threads});
}

void gemm_tiled(double alpha, Op op_a, const MatrixRef& a, const MatrixRef& b, double beta, MutableMatrix c,
                int threads) {
  if (op_a == Op::kTranspose) {
    parallel_for(tiles(c.rows(), kTiledTile), threads, [&](Index item) {
      const Index i = item * kTiledTile, height = std::min(kTiledTile, c.rows() - i);
      gemm(alpha, op_a, a.middleCols(i, height), Op::kNone, b, beta, c.middleRows(i, height));
    });
  } else {
    parallel_for(tiles(c.cols(), kTiledTile), threads, [&](Index item) {
      const Index j = item * kTiledTile, width = std::min(kTiledTile, c.cols() - j);
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

bool cholesky_tiled(MutableMatrix a, int threads, const RunControl* control) {
  const Crew crew{threads, control};
  const Index n = a.rows(), panel = panel_width(n);
  for (Index k = 0; k < n; k += panel) {
    const Index width = std::min(panel, n - k), below = n - k - width;
    const auto l = a.block(k, k, width, width);
    if (!cholesky(l)) return false;
    if (below == 0) break;
    // Rows below the panel: X L' = A row tile by row tile.
    crew.run(tiles(below, kTiledTile), [&](Index item) {
      const Index i = k + width + item * kTiledTile, height = std::min(kTiledTile, n - i);
      solve_right(l, a.block(i, k, height, width));
    });
    rank_update(-1.0, a.block(k + width, k, below, width), a.bottomRightCorner(below, below), crew);
  }
  for (Index j = 1; j < n; ++j) a.col(j).head(j).setZero();
  return true;
}

// Views that are written through: by value, as everywhere here.
// NOLINTBEGIN(performance-unnecessary-value-param)
void solve_lower_panels(const MatrixRef& l, Op op, MutableMatrix c) {
  const Index n = l.rows(), panel = panel_width(n);
  for (Index item = 0; item < tiles(n, panel); ++item) {
    const Index k = (op == Op::kNone ? item : tiles(n, panel) - 1 - item) * panel;
    const Index width = std::min(panel, n - k), below = n - k - width;
    const auto rest = l.block(k + width, k, below, width);
    if (op == Op::kTranspose)
      gemm(-1.0, op, rest, Op::kNone, c.bottomRows(below), 1.0, c.middleRows(k, width));
    solve_lower(l.block(k, k, width, width), op, c.middleRows(k, width));
    if (op == Op::kNone) gemm(-1.0, op, rest, Op::kNone, c.middleRows(k, width), 1.0, c.bottomRows(below));
  }
}

std::optional<Matrix> invert_positive(MutableMatrix a, MutableMatrix c, double pivot_floor, int threads,
                                      const RunControl* control) {
  const Index n = a.rows();
  const Vector diagonal = a.diagonal();
  if (!cholesky_tiled(a, threads, control)) return std::nullopt;
  for (Index i = 0; i < n; ++i) {
    if (!(a(i, i) * a(i, i) > pivot_floor * diagonal[i])) return std::nullopt;
  }
  solve_lower_panels(a, Op::kNone, c);
  Matrix t(c.cols(), c.cols());
  syrk(1.0, Op::kTranspose, c, 0.0, t);
  solve_lower_panels(a, Op::kTranspose, c);
  Matrix work = half_matrix(n);
  invert_lower(a, work, {threads, control});
  square_lower(a, work, {threads, control});
  return t;
}

bool invert_positive(MutableMatrix a, int threads, const RunControl* control) {
  Matrix nothing(a.rows(), 0);
  return invert_positive(a, nothing, 0.0, threads, control).has_value();
}
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace subspectra::linalg
