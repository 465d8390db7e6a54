#include "data/moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "data/moments_count.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

// Work is cut by these sizes alone, so that the result cannot depend on the number of threads.
constexpr Index kColumnsPerTask = 256;      // of the p x p sums a task updates a tile of 256 x 256 (512 KiB)
constexpr Index kEntriesPerTask = 1 << 17;  // of the table, when columns are summed one by one
constexpr Index kCentredEntries = 1 << 22;  // centred rows held at a time: 32 MiB
constexpr Index kRowsPerPartialSum = 2048;  // with one tile only, rows are shared out instead,
constexpr Index kPartialSums = 64;          // so many tasks at a time
constexpr double kDenseEnough =
    0.5;  // a sparse column fuller than this in some class is centred as a dense one

std::atomic<std::uint64_t> moments_so_far = 0;

Index blocks(Index total, Index size) { return (total + size - 1) / size; }

/// m + correction as hi + lo, hi rounded to nearest.
std::pair<double, double> split_mean(double m, double correction) {
  const double hi = m + correction;
  return {hi, std::isfinite(hi) ? correction - (hi - m) : 0.0};
}

/// The rows that count, the same for every column.
struct Rows {
  Rows(std::span<const int> given_codes, std::span<const double> weights, int class_count)
      : classes(class_count),
        weighted(!weights.empty()),
        codes(given_codes.begin(), given_codes.end()),
        class_weights(Vector::Zero(class_count)),
        begin(static_cast<std::size_t>(class_count) + 1, 0) {
    if (weighted && weights.size() != codes.size()) {
      throw InvalidArgument(fmt::format("moments: {} weights for {} rows; give one a row or none",
                                        weights.size(), codes.size()));
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] >= classes) {
        throw InvalidArgument(
            fmt::format("moments: row {} has class code {}, but there are {} classes", i, codes[i], classes));
      }
      const double w = weighted ? weights[i] : 1.0;
      if (!(w >= 0.0) || !std::isfinite(w)) {
        throw InvalidArgument(
            fmt::format("moments: row {} has weight {}; finite weights >= 0 are needed", i, w));
      }
      if (codes[i] < 0 || w == 0.0) {
        codes[i] = -1;
      } else {
        class_weights[codes[i]] += w;
        ++begin[static_cast<std::size_t>(codes[i]) + 1];
      }
    }
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    if (codes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Error(fmt::format("moments: {} rows at a time are too many; add them in blocks", codes.size()));
    }
    order.resize(static_cast<std::size_t>(begin.back()));
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] < 0) continue;
      order[static_cast<std::size_t>(next[static_cast<std::size_t>(codes[i])]++)] = static_cast<int>(i);
    }
    if (!weighted) return;
    row_weights = Eigen::Map<const Vector>(weights.data(), size());
    root_weights = row_weights.cwiseSqrt();
    sorted_weights.resize(static_cast<Index>(order.size()));
    for (std::size_t k = 0; k < order.size(); ++k)
      sorted_weights[static_cast<Index>(k)] = row_weights[order[k]];
  }

  [[nodiscard]] Index size() const { return static_cast<Index>(codes.size()); }
  [[nodiscard]] Index first(int c) const { return begin[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Index count(int c) const { return first(c + 1) - first(c); }
  [[nodiscard]] Index largest_class() const {
    Index most = 0;
    for (int c = 0; c < classes; ++c) most = std::max(most, count(c));
    return most;
  }
  [[nodiscard]] int code(Index row) const { return codes[static_cast<std::size_t>(row)]; }
  [[nodiscard]] double weight(Index row) const { return weighted ? row_weights[row] : 1.0; }
  [[nodiscard]] double root_weight(Index row) const { return weighted ? root_weights[row] : 1.0; }

  int classes;
  bool weighted;
  std::vector<int> codes;    ///< -1: the row does not count (no label or no weight)
  Vector class_weights;      ///< K
  std::vector<Index> begin;  ///< K + 1: where each class begins in `order`
  std::vector<int> order;    ///< the rows that count, class after class, ascending within each
  Vector row_weights;        ///< N, or empty: all 1; so with the next two
  Vector root_weights;       ///< N square roots
  Vector sorted_weights;     ///< in the sequence of `order`
};

/// Column sums of one shard: p x K each, as in Moments.
struct Sums {
  Sums(Index p, int classes) : means(p, classes), low(p, classes), squares(p, classes) {}
  void set(Index j, int c, double weight, double m, double r, double around_m) {
    if (weight == 0.0) {
      means(j, c) = low(j, c) = squares(j, c) = 0.0;
      return;
    }
    std::tie(means(j, c), low(j, c)) = split_mean(m, r / weight);
    squares(j, c) = around_m - r * (r / weight);
    if (squares(j, c) < 0.0) squares(j, c) = 0.0;  // this form keeps NaN
  }
  Matrix means, low, squares;
};

// A plain sum waits for one addition after the other; eight in turn keep the adders busy and are vectorised.
// The sequence of additions is fixed, so that the result is.
constexpr Index kLanes = 8;
struct Lanes {
  double at[kLanes] = {};
  [[nodiscard]] double total() const {
    return ((at[0] + at[4]) + (at[2] + at[6])) + ((at[1] + at[5]) + (at[3] + at[7]));
  }
};

/// Copies x[order[k]] to out[k] and returns their sum, or with weights w[k] their weighted sum.
double gather_and_sum(const double* x, const int* order, const double* w, Index n, double* out) {
  Lanes sum;
  Index k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (Index l = 0; l < kLanes; ++l) out[k + l] = x[order[k + l]];
    if (w == nullptr) {
      for (Index l = 0; l < kLanes; ++l) sum.at[l] += out[k + l];
    } else {
      for (Index l = 0; l < kLanes; ++l) sum.at[l] += w[k + l] * out[k + l];
    }
  }
  for (; k < n; ++k) {
    out[k] = x[order[k]];
    sum.at[0] += w == nullptr ? out[k] : w[k] * out[k];
  }
  return sum.total();
}

/// sum w (x - m) and sum w (x - m)^2.
std::pair<double, double> sums_around(const double* x, const double* w, Index n, double m) {
  Lanes r;
  Lanes squares;
  Index k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (Index l = 0; l < kLanes; ++l) {
      const double d = x[k + l] - m;
      const double wd = w == nullptr ? d : w[k + l] * d;
      r.at[l] += wd;
      squares.at[l] += wd * d;
    }
  }
  for (; k < n; ++k) {
    const double d = x[k] - m;
    const double wd = w == nullptr ? d : w[k] * d;
    r.at[0] += wd;
    squares.at[0] += wd * d;
  }
  return {r.total(), squares.total()};
}

/// One value in all rows of a class is their mean, and nothing varies: what rounding makes of the mean and
/// the squares is no variance. (A NaN is not equal to itself.)
bool all_equal(const double* x, Index n) {
  Index k = 0;
  while (k < n && x[k] == x[0]) ++k;
  return k == n;
}

/// Two passes over a column and what the first pass's rounding left over          (docs/theory/moments.md,
/// Eq. 3)
///     m = sum w x / W,   r = sum w (x - m),   mean = m + r/W,   squares = sum w (x - m)^2 - r^2/W
/// `sorted` is scratch for the largest class: each class is gathered once and is then contiguous.
void sum_dense_column(const double* x, const Rows& rows, Vector& sorted, Index j, Sums& sums) {
  for (int c = 0; c < rows.classes; ++c) {
    const double weight = rows.class_weights[c];
    const Index n = rows.count(c);
    const double* w = rows.weighted ? rows.sorted_weights.data() + rows.first(c) : nullptr;
    const double m = gather_and_sum(x, rows.order.data() + rows.first(c), w, n, sorted.data()) / weight;
    if (all_equal(sorted.data(), n)) {
      sums.set(j, c, weight, n > 0 ? sorted[0] : 0.0, 0.0, 0.0);
      continue;
    }
    const auto [r, squares] = sums_around(sorted.data(), w, n, m);
    sums.set(j, c, weight, m, r, squares);
  }
}

/// The same from the nonzeros: the zeros of a class, of weight Z together, add -Z m to r and Z m^2 to the
/// squares.
struct SparseColumnSums {
  explicit SparseColumnSums(const Rows& all_rows)
      : rows(all_rows),
        m(rows.classes),
        r(rows.classes),
        squares(rows.classes),
        zeros(rows.classes),
        value(rows.classes),
        nonzeros(rows.classes),
        same(static_cast<std::size_t>(rows.classes)) {}

  void operator()(const CscMap& x, Index column, Index j, Sums& sums) {
    m.setZero();
    std::copy(rows.class_weights.begin(), rows.class_weights.end(), zeros.begin());
    nonzeros.setZero();
    std::fill(same.begin(), same.end(), 1);
    for (CscMap::InnerIterator it(x, column); it; ++it) {
      const int c = rows.code(it.row());
      if (c < 0) continue;
      if (nonzeros[c] == 0) value[c] = it.value();
      if (it.value() != value[c]) same[static_cast<std::size_t>(c)] = 0;
      m[c] += rows.weight(it.row()) * it.value();
      zeros[c] -= rows.weight(it.row());
      ++nonzeros[c];
    }
    for (int c = 0; c < rows.classes; ++c) {
      if (rows.class_weights[c] > 0.0) m[c] /= rows.class_weights[c];
      // Exactly 0 for a class without zeros, whatever rounding left of the difference.
      zeros[c] = nonzeros[c] == rows.count(c) ? 0.0 : std::max(0.0, zeros[c]);
      if (nonzeros[c] > 0 && nonzeros[c] == rows.count(c) && same[static_cast<std::size_t>(c)] != 0)
        m[c] = value[c];  // as in all_equal()
      r[c] = -zeros[c] * m[c];
      squares[c] = zeros[c] * m[c] * m[c];
    }
    for (CscMap::InnerIterator it(x, column); it; ++it) {
      const int c = rows.code(it.row());
      if (c < 0) continue;
      const double d = it.value() - m[c];
      r[c] += rows.weight(it.row()) * d;
      squares[c] += rows.weight(it.row()) * d * d;
    }
    for (int c = 0; c < rows.classes; ++c) sums.set(j, c, rows.class_weights[c], m[c], r[c], squares[c]);
  }

  /// After a call: is the column fuller than kDenseEnough in some class?
  [[nodiscard]] bool was_full() const {
    for (int c = 0; c < rows.classes; ++c) {
      if (static_cast<double>(nonzeros[c]) > kDenseEnough * static_cast<double>(rows.count(c))) return true;
    }
    return false;
  }

  const Rows& rows;
  Vector m, r, squares, zeros, value;
  Eigen::Matrix<Index, Eigen::Dynamic, 1> nonzeros;
  std::vector<char> same;  ///< the nonzeros of the class are one value
};

/// C += Z'Z, both triangles, exactly symmetric, in tiles. Z (n x p) holds centred rows.
void add_gram(const MatrixRef& z, Matrix& c, int threads) {
  using linalg::Op;
  const Index p = c.rows();
  const Index tiles = blocks(p, kColumnsPerTask);
  if (tiles == 1) {
    const Index parts = blocks(z.rows(), kRowsPerPartialSum);
    std::vector<Matrix> partial(static_cast<std::size_t>(parts));
    parallel_for(parts, threads, [&](Index t) {
      const Index row = t * kRowsPerPartialSum;
      auto& sum = partial[static_cast<std::size_t>(t)];
      sum.resize(p, p);
      linalg::syrk(1.0, Op::kTranspose, z.middleRows(row, std::min(kRowsPerPartialSum, z.rows() - row)), 0.0,
                   sum);
    });
    for (const auto& sum : partial) c += sum;
    return;
  }
  parallel_for(tiles * (tiles + 1) / 2, threads, [&](Index task) {
    // Task -> (i, j), j <= i: the lower triangle of tiles, row by row.
    Index i = 0;
    Index j = task;
    while (j > i) j -= ++i;
    const Index at_i = i * kColumnsPerTask;
    const Index at_j = j * kColumnsPerTask;
    const Index width_i = std::min(kColumnsPerTask, p - at_i);
    const Index width_j = std::min(kColumnsPerTask, p - at_j);
    if (i == j) {
      linalg::syrk(1.0, Op::kTranspose, z.middleCols(at_i, width_i), 1.0,
                   c.block(at_i, at_i, width_i, width_i));
      return;
    }
    linalg::gemm(1.0, Op::kTranspose, z.middleCols(at_i, width_i), Op::kNone, z.middleCols(at_j, width_j),
                 1.0, c.block(at_i, at_j, width_i, width_j));
    c.block(at_j, at_i, width_j, width_i) = c.block(at_i, at_j, width_i, width_j).transpose();
  });
}

/// How many rows of `columns` centred columns are held at a time; with one tile a whole number of partial
/// sums.
Index rows_at_a_time(Index columns) {
  const Index rows = std::max<Index>(512, kCentredEntries / std::max<Index>(1, columns));
  return columns <= kColumnsPerTask ? blocks(rows, kRowsPerPartialSum) * kRowsPerPartialSum : rows;
}

/// z_i = sqrt(w_i) (x_i - mu_c(i)) for rows row..row+count of column j; 0 where the row does not count.
void centre(const double* x, const Rows& rows, Index row, Index count, Index j, const Sums& sums, double* z) {
  const double* mean = sums.means.data() + j;
  const double* low = sums.low.data() + j;
  const Index stride = sums.means.rows();
  const int* codes = rows.codes.data() + row;
  for (Index i = 0; i < count; ++i) {
    const Index c = codes[i];
    z[i] = c < 0 ? 0.0 : (x[i] - mean[c * stride]) - low[c * stride];
  }
  if (rows.weighted) Eigen::Map<Vector>(z, count).array() *= rows.root_weights.segment(row, count).array();
}

/// visit(row - first, value) for the nonzeros of a column in rows first..first+count.
template <class Visitor>
void for_rows(const CscMap& x, Index column, Index first, Index count, const Visitor& visit) {
  const auto* inner = x.innerIndexPtr();
  const auto* begin = inner + x.outerIndexPtr()[column];
  const auto* end = inner + x.outerIndexPtr()[column + 1];
  for (const auto* it = std::lower_bound(begin, end, first); it != end && *it < first + count; ++it) {
    visit(*it - first, x.valuePtr()[it - inner]);
  }
}

}  // namespace

/// Knows the inside of Moments; cuts tables into columns, tiles and blocks of rows.
class MomentsBuilder {
 public:
  explicit MomentsBuilder(Moments& moments) : moments_(moments) {}

  /// Adds the rows of a dense table; part_at(j, row, count, scratch) gives these rows of feature j one after
  /// another, from `scratch` where they do not stand so.
  template <class PartAt>
  void add_dense(const Rows& rows, const PartAt& part_at, int threads) {
    const Index p = moments_.features();
    Sums sums(p, rows.classes);
    const Index columns =
        std::clamp<Index>(kEntriesPerTask / std::max<Index>(1, rows.size()), 1, kColumnsPerTask);
    parallel_for(blocks(p, columns), threads, [&](Index task) {
      Vector sorted(rows.largest_class());
      std::vector<double> scratch;
      const Index end = std::min(p, (task + 1) * columns);
      for (Index j = task * columns; j < end; ++j)
        sum_dense_column(part_at(j, 0, rows.size(), scratch), rows, sorted, j, sums);
    });
    if (is_full() && p <= kColumnsPerTask) {
      add_narrow_scatter(rows, part_at, sums, threads);
    } else if (is_full()) {
      const Index height = std::min(rows.size(), rows_at_a_time(p));
      Matrix z(height, p);
      for (Index row = 0; row < rows.size(); row += height) {
        const Index count = std::min(height, rows.size() - row);
        parallel_for(blocks(p, columns), threads, [&](Index task) {
          std::vector<double> scratch;
          const Index end = std::min(p, (task + 1) * columns);
          for (Index j = task * columns; j < end; ++j) {
            centre(part_at(j, row, count, scratch), rows, row, count, j, sums, z.col(j).data());
          }
        });
        add_gram(z.topRows(count), moments_.within_scatter_, threads);
      }
    }
    absorb(rows.class_weights, sums.means, sums.low, sums.squares);
  }

  /// Adds the rows of a sparse table; feature j is column column_at(j) of x.
  template <class ColumnAt>
  void add_sparse(const Rows& rows, const CscMap& x, const ColumnAt& column_at, int threads) {
    const Index p = moments_.features();
    Sums sums(p, rows.classes);
    std::vector<char> dense_enough(static_cast<std::size_t>(p));
    parallel_for(blocks(p, kColumnsPerTask), threads, [&](Index task) {
      SparseColumnSums sum_column(rows);
      const Index end = std::min(p, (task + 1) * kColumnsPerTask);
      for (Index j = task * kColumnsPerTask; j < end; ++j) {
        sum_column(x, column_at(j), j, sums);
        dense_enough[static_cast<std::size_t>(j)] = sum_column.was_full() ? 1 : 0;
      }
    });
    if (is_full() && p > 0) {
      std::vector<Index> full;
      std::vector<Index> thin;
      for (Index j = 0; j < p; ++j)
        (dense_enough[static_cast<std::size_t>(j)] != 0 ? full : thin).push_back(j);
      add_thin_scatter(rows, x, column_at, thin, sums, threads);
      add_full_scatter(rows, x, column_at, full, thin, sums, threads);
    }
    absorb(rows.class_weights, sums.means, sums.low, sums.squares);
  }

  /// Adds the rows of columns of few values, from how often each stands in each class (kDiagonal, weights all
  /// 1).
  template <class ColumnAt>
  void add_counted(const Rows& rows, const ColumnTallies& tallies, const ColumnAt& column_at, int threads) {
    const Index p = moments_.features();
    Sums sums(p, rows.classes);
    parallel_for(blocks(p, kColumnsPerTask), threads, [&](Index task) {
      ColumnTally tally;
      const Index end = std::min(p, (task + 1) * kColumnsPerTask);
      for (Index j = task * kColumnsPerTask; j < end; ++j) {
        tallies.count(column_at(j), tally);
        for (int c = 0; c < rows.classes; ++c) {
          const double weight = rows.class_weights[c];
          double m = 0.0, r = 0.0, squares = 0.0;
          const auto each = [&](auto&& add) {
            for (Index v = 0; v < ColumnTally::kValues; ++v) {
              if (tally.counts(v, c) > 0)
                add(static_cast<double>(tally.counts(v, c)), tally.values[static_cast<std::size_t>(v)]);
            }
          };
          Index values = 0;
          double last = 0.0;
          each([&](double times, double value) {
            m += times * value;
            last = value;
            ++values;
          });
          m = values == 1 ? last : m / weight;  // one value is the mean, without rounding
          each([&](double times, double value) {
            r += times * (value - m);
            squares += times * (value - m) * (value - m);
          });
          sums.set(j, c, weight, m, r, squares);
        }
      }
    });
    absorb(rows.class_weights, sums.means, sums.low, sums.squares);
  }

  /// Chan, Golub & LeVeque's update of the weights, means and squares, and of the scatter by the distance of
  /// the means (the scatter within the shard itself has been added before) (docs/theory/moments.md, Eq. 4-7)
  void absorb(const Vector& weights, const Matrix& means, const Matrix& low, const Matrix& squares) {
    auto& m = moments_;
    Matrix shifts;  // columns sqrt(W_a W_b / (W_a + W_b)) (mu_b - mu_a)
    if (is_full()) shifts.setZero(m.features(), m.classes());
    bool shifted = false;
    for (int c = 0; c < m.classes(); ++c) {
      const double w_a = m.class_weights_[c];
      const double w_b = weights[c];
      if (w_b == 0.0) continue;
      m.class_weights_[c] = w_a + w_b;
      if (w_a == 0.0) {
        m.means_.col(c) = means.col(c);
        m.means_low_.col(c) = low.col(c);
        m.squares_.col(c) = squares.col(c);
        continue;
      }
      shifted = true;
      const double fraction = w_b / (w_a + w_b);
      const double scale = std::sqrt(w_a * fraction);
      for (Index j = 0; j < m.features(); ++j) {
        const double delta = (means(j, c) - m.means_(j, c)) + (low(j, c) - m.means_low_(j, c));
        std::tie(m.means_(j, c), m.means_low_(j, c)) =
            split_mean(m.means_(j, c), m.means_low_(j, c) + delta * fraction);
        const double shift = scale * delta;
        m.squares_(j, c) += squares(j, c) + shift * shift;
        if (is_full()) shifts(j, c) = shift;
      }
    }
    if (is_full() && shifted) linalg::syrk(1.0, linalg::Op::kNone, shifts, 1.0, m.within_scatter_);
  }

 private:
  [[nodiscard]] bool is_full() const { return moments_.second_order_ == Moments::SecondOrder::kFull; }

  /// Few columns: every task centres a block of rows of its own; the sums are added in the sequence of the
  /// blocks.
  template <class PartAt>
  void add_narrow_scatter(const Rows& rows, const PartAt& part_at, const Sums& sums, int threads) {
    const Index p = moments_.features();
    const Index parts = blocks(rows.size(), kRowsPerPartialSum);
    std::vector<Matrix> partial(static_cast<std::size_t>(std::min(parts, kPartialSums)));
    for (Index first = 0; first < parts; first += kPartialSums) {
      const Index now = std::min(kPartialSums, parts - first);
      parallel_for(now, threads, [&](Index task) {
        const Index row = (first + task) * kRowsPerPartialSum;
        const Index count = std::min(kRowsPerPartialSum, rows.size() - row);
        Matrix z(count, p);
        std::vector<double> scratch;
        for (Index j = 0; j < p; ++j) {
          centre(part_at(j, row, count, scratch), rows, row, count, j, sums, z.col(j).data());
        }
        auto& sum = partial[static_cast<std::size_t>(task)];
        sum.resize(p, p);
        linalg::syrk(1.0, linalg::Op::kTranspose, z, 0.0, sum);
      });
      for (Index task = 0; task < now; ++task) {
        moments_.within_scatter_ += partial[static_cast<std::size_t>(task)];
      }
    }
  }

  /// Pairs of thin columns t, over their nonzeros alone: (docs/theory/moments.md, Eq. 8)
  ///     S_tt = X_t' W X_t - sum_c W_c mu_c mu_c'
  /// No column is more than half full in any class, so at least half of its mean square there is variance:
  /// the difference loses a bit or two and no more.   Cost: sum over rows of nnz(row)^2, and 2 nnz of memory.
  template <class ColumnAt>
  void add_thin_scatter(const Rows& rows, const CscMap& x, const ColumnAt& column_at,
                        const std::vector<Index>& thin, const Sums& sums, int threads) {
    const auto width = static_cast<Index>(thin.size());
    SparseMatrix by_column(x.rows(), width);  // sqrt(w_i) x_i
    for (Index t = 0; t < width; ++t) {
      by_column.startVec(t);
      for (CscMap::InnerIterator it(x, column_at(thin[static_cast<std::size_t>(t)])); it; ++it) {
        if (rows.code(it.row()) >= 0)
          by_column.insertBack(it.row(), t) = rows.root_weight(it.row()) * it.value();
      }
    }
    by_column.finalize();
    using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
    const SparseRows by_row = by_column;
    parallel_for(blocks(width, kColumnsPerTask), threads, [&](Index task) {
      Vector products(width);
      const Index end = std::min(width, (task + 1) * kColumnsPerTask);
      for (Index t = task * kColumnsPerTask; t < end; ++t) {
        products.setZero();
        for (SparseMatrix::InnerIterator it(by_column, t); it; ++it) {
          for (SparseRows::InnerIterator other(by_row, it.row()); other; ++other) {
            products[other.col()] += it.value() * other.value();
          }
        }
        const Index j = thin[static_cast<std::size_t>(t)];
        for (Index u = 0; u < width; ++u) {
          const Index i = thin[static_cast<std::size_t>(u)];
          double outer = 0.0;
          for (int c = 0; c < rows.classes; ++c) {
            outer += rows.class_weights[c] * (sums.means(i, c) * sums.means(j, c));
          }
          moments_.within_scatter_(i, j) += products[u] - outer;
        }
      }
    });
  }

  /// Pairs with a full column f, which is centred as a dense one in blocks of rows: (docs/theory/moments.md,
  /// Eq. 9)
  ///     S_ff = Z_f' Z_f,   S_ft = Z_f' W^(1/2) X_t   (Z_f is centred, so X_t need not be)
  template <class ColumnAt>
  void add_full_scatter(const Rows& rows, const CscMap& x, const ColumnAt& column_at,
                        const std::vector<Index>& full, const std::vector<Index>& thin, const Sums& sums,
                        int threads) {
    if (full.empty()) return;
    Matrix& scatter = moments_.within_scatter_;
    const auto width = static_cast<Index>(full.size());
    const auto thin_width = static_cast<Index>(thin.size());
    const Index height = std::min(x.rows(), rows_at_a_time(width));
    Matrix z(height, width);
    Matrix gram = Matrix::Zero(width, width);
    Matrix cross = Matrix::Zero(width, thin_width);
    for (Index row = 0; row < x.rows(); row += height) {
      const Index count = std::min(height, x.rows() - row);
      parallel_for(blocks(width, kColumnsPerTask), threads, [&](Index task) {
        Vector column(count);
        const Index end = std::min(width, (task + 1) * kColumnsPerTask);
        for (Index f = task * kColumnsPerTask; f < end; ++f) {
          const Index j = full[static_cast<std::size_t>(f)];
          column.setZero();
          for_rows(x, column_at(j), row, count, [&](Index i, double value) { column[i] = value; });
          centre(column.data(), rows, row, count, j, sums, z.col(f).data());
        }
      });
      add_gram(z.topRows(count), gram, threads);
      parallel_for(blocks(thin_width, kColumnsPerTask), threads, [&](Index task) {
        std::vector<std::pair<Index, double>> entries;
        const Index end = std::min(thin_width, (task + 1) * kColumnsPerTask);
        for (Index t = task * kColumnsPerTask; t < end; ++t) {
          entries.clear();
          for_rows(x, column_at(thin[static_cast<std::size_t>(t)]), row, count, [&](Index i, double value) {
            if (rows.code(row + i) >= 0) entries.emplace_back(i, rows.root_weight(row + i) * value);
          });
          for (Index f = 0; f < width; ++f) {
            const double* z_f = z.col(f).data();
            double sum = 0.0;
            for (const auto& [i, value] : entries) sum += value * z_f[i];
            cross(f, t) += sum;
          }
        }
      });
    }
    for (Index f = 0; f < width; ++f) {
      const Index j = full[static_cast<std::size_t>(f)];
      for (Index g = 0; g < width; ++g) scatter(full[static_cast<std::size_t>(g)], j) += gram(g, f);
      for (Index t = 0; t < thin_width; ++t) {
        const Index i = thin[static_cast<std::size_t>(t)];
        scatter(i, j) += cross(f, t);
        scatter(j, i) = scatter(i, j);
      }
    }
  }

  Moments& moments_;
};

namespace {

/// Before anything is allocated.
Moments::SecondOrder affordable(Index features, Moments::SecondOrder second_order) {
  if (second_order == Moments::SecondOrder::kFull) {
    require_memory(8.0 * static_cast<double>(features) * static_cast<double>(features),
                   fmt::format("the within-class covariance of {} features", features),
                   "choose fewer features first (a filter method) or a method that does not form it");
  }
  return second_order;
}

}  // namespace

Moments::Moments(Index features, int classes, SecondOrder second_order)
    : second_order_(affordable(features, second_order)),
      class_weights_(Vector::Zero(classes)),
      means_(Matrix::Zero(features, classes)),
      squares_(Matrix::Zero(features, classes)),
      means_low_(Matrix::Zero(features, classes)) {
  if (second_order == SecondOrder::kFull) within_scatter_.setZero(features, features);
}

void Moments::add(const MatrixRef& rows, std::span<const int> codes, std::span<const double> weights) {
  if (rows.cols() != features() || rows.rows() != static_cast<Index>(codes.size())) {
    throw InvalidArgument(
        fmt::format("moments: {} x {} values with {} class codes, but {} features are expected", rows.rows(),
                    rows.cols(), codes.size(), features()));
  }
  const double* const first = rows.data();
  const Index stride = rows.outerStride();
  MomentsBuilder(*this).add_dense(
      Rows(codes, weights, classes()),
      [&](Index j, Index row, Index, std::vector<double>&) { return first + j * stride + row; }, 1);
}

void Moments::merge(const Moments& other) {
  if (other.features() != features() || other.classes() != classes() ||
      other.second_order_ != second_order_) {
    throw InvalidArgument(
        fmt::format("moments: {} features in {} classes cannot take in {} features in {} classes{}",
                    features(), classes(), other.features(), other.classes(),
                    other.second_order_ == second_order_ ? "" : " of another second order"));
  }
  if (&other == this) {
    merge(Moments(other));
    return;
  }
  if (second_order_ == SecondOrder::kFull) within_scatter_ += other.within_scatter_;
  MomentsBuilder(*this).absorb(other.class_weights_, other.means_, other.means_low_, other.squares_);
}

Matrix Moments::mean_differences() const {
  Matrix differences = Matrix::Zero(features(), classes());
  int first = 0;
  while (first < classes() && class_weights_[first] == 0.0) ++first;
  for (int c = first + 1; c < classes(); ++c) {
    if (class_weights_[c] == 0.0) continue;
    differences.col(c) = (means_.col(c) - means_.col(first)) + (means_low_.col(c) - means_low_.col(first));
  }
  return differences;
}

Vector Moments::mean() const {
  const double total = total_weight();
  if (total == 0.0) return Vector::Zero(features());
  int first = 0;
  while (class_weights_[first] == 0.0) ++first;
  return means_.col(first) + (means_low_.col(first) + mean_differences() * (class_weights_ / total));
}

Vector Moments::within_variances() const {
  const double total = total_weight();
  if (total == 0.0) return Vector::Zero(features());
  return squares_.rowwise().sum() / total;
}

Vector Moments::between_variances() const { return between_factor().rowwise().squaredNorm(); }

Matrix Moments::within_covariance() const& {
  if (second_order_ == SecondOrder::kFull && total_weight() != 0.0) {
    require_memory(8.0 * static_cast<double>(within_scatter_.size()),
                   fmt::format("a copy of the within-class covariance of {} features", features()),
                   "choose fewer features first (a filter method) or a method that does not form it");
  }
  return Moments(*this).within_covariance();
}

Matrix Moments::within_covariance() && {
  if (second_order_ != SecondOrder::kFull) {
    throw Error("moments: the within-class covariance needs second-order sums of the kind kFull");
  }
  const double total = total_weight();
  if (total == 0.0) return Matrix::Zero(features(), features());
  Matrix covariance = std::move(within_scatter_);
  covariance /= total;
  covariance.diagonal() = within_variances();  // summed class by class: the same bits in both places
  return covariance;
}

Matrix Moments::between_factor() const {
  const double total = total_weight();
  if (total == 0.0) return Matrix::Zero(features(), classes());
  Matrix factor = mean_differences();
  const Vector centre_of_means = factor * (class_weights_ / total);
  for (int c = 0; c < classes(); ++c) {
    factor.col(c) = std::sqrt(class_weights_[c] / total) * (factor.col(c) - centre_of_means);
  }
  return factor;
}

namespace {

const Labels& labels_of(const Dataset& data) {
  if (!data.labels())
    throw InvalidArgument("moments: the data have no labels; name the label column with ⟨target⟩");
  return *data.labels();
}

/// Every row in one class.
Labels one_class(const Dataset& data) {
  return {
      .name = {}, .classes = {"all"}, .codes = std::vector<int>(static_cast<std::size_t>(data.rows()), 0)};
}

/// A table that is read by rows, in blocks of them (kDiagonal): a row counts as often as it stands here.
void add_by_rows(const ColumnSource& source, const std::vector<Index>* row_numbers,
                 std::span<const int> codes, std::span<const double> weights, int threads, Moments& moments) {
  std::vector<int> of_source(static_cast<std::size_t>(source.rows()), -1);
  std::vector<double> counts(of_source.size(), 0.0);
  bool weighted = !weights.empty();
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t row = row_numbers == nullptr ? i : static_cast<std::size_t>((*row_numbers)[i]);
    weighted = weighted || counts[row] > 0.0;
    of_source[row] = codes[i];
    counts[row] += weights.empty() ? 1.0 : weights[i];
  }
  source.each_block(threads, [&](Index row, Index, const MatrixRef& block) {
    const auto first = static_cast<std::size_t>(row), count = static_cast<std::size_t>(block.rows());
    const Rows rows(
        std::span<const int>(of_source).subspan(first, count),
        weighted ? std::span<const double>(counts).subspan(first, count) : std::span<const double>(),
        moments.classes());
    MomentsBuilder(moments).add_dense(
        rows, [&](Index j, Index at, Index, std::vector<double>&) { return block.col(j).data() + at; },
        threads);
  });
}

Moments moments_of(const Dataset& data, const Labels& labels, const std::vector<Index>* features,
                   Moments::SecondOrder second_order, int threads) {
  if (static_cast<Index>(labels.codes.size()) != data.rows()) {
    throw InvalidArgument(fmt::format("moments: {} labels for {} rows", labels.codes.size(), data.rows()));
  }
  if (features != nullptr) {
    for (const Index j : *features) {
      if (j < 0 || j >= data.features()) {
        throw InvalidArgument(
            fmt::format("moments: feature {}, but 0 <= feature < {} is needed", j, data.features()));
      }
    }
  }
  const Index p = features == nullptr ? data.features() : static_cast<Index>(features->size());
  const auto column_of = [&](Index j) {
    return features == nullptr ? j : (*features)[static_cast<std::size_t>(j)];
  };
  ++moments_so_far;
  Moments moments(p, labels.class_count(), second_order);
  const Rows rows(labels.codes, data.weights(), labels.class_count());
  const Values& values = data.values();
  if (values.source() && second_order == Moments::SecondOrder::kDiagonal) {
    if (data.weights().empty()) {
      if (const auto tallies = values.tallies(rows.codes, rows.classes)) {
        MomentsBuilder(moments).add_counted(rows, *tallies, column_of, threads);
        return moments;
      }
    }
    if (values.source()->stands_by_rows() && features == nullptr) {
      add_by_rows(*values.source(), values.row_numbers(), labels.codes, data.weights(), threads, moments);
      return moments;
    }
  }
  values.by_storage(
      [&] {
        MomentsBuilder(moments).add_dense(
            rows,
            [&](Index j, Index row, Index count, std::vector<double>& scratch) {
              return values.part_of_column(column_of(j), row, count, scratch);
            },
            threads);
      },
      [&](const CscMap& entries) { MomentsBuilder(moments).add_sparse(rows, entries, column_of, threads); });
  return moments;
}

}  // namespace

std::uint64_t moments_computed() { return moments_so_far; }

Moments compute_moments(const Dataset& data, Moments::SecondOrder second_order, int threads) {
  return moments_of(data, labels_of(data), nullptr, second_order, threads);
}

Moments compute_moments(const Dataset& data, const std::vector<Index>& features,
                        Moments::SecondOrder second_order, int threads) {
  return moments_of(data, labels_of(data), &features, second_order, threads);
}

Moments compute_total_moments(const Dataset& data, Moments::SecondOrder second_order, int threads) {
  return moments_of(data, one_class(data), nullptr, second_order, threads);
}

Moments compute_total_moments(const Dataset& data, const std::vector<Index>& features,
                              Moments::SecondOrder second_order, int threads) {
  return moments_of(data, one_class(data), &features, second_order, threads);
}

}  // namespace subspectra
