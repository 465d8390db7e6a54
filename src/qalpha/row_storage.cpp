#include "qalpha/row_storage.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "data/unit_columns.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::qalpha {
namespace {

using linalg::Op;

/// With so few columns DGEMM would spend more on packing M than on the product.
constexpr Index kFewColumns = 3;

/// C <- op(A) B + beta C, A a tile of M, which stays in the cache from column to column.
void thin_product(Op op, const MatrixRef& a, const MatrixRef& b, double beta, linalg::MutableMatrix c) {
  if (b.cols() > kFewColumns) {
    linalg::gemm(1.0, op, a, Op::kNone, b, beta, c);
    return;
  }
  for (Index j = 0; j < b.cols(); ++j) linalg::gemv(1.0, op, a, b.col(j), beta, c.col(j));
}

/// The block that holds sample a, or -1.
Index block_of(const SampleBlocks& blocks, Index a) {
  if (a >= blocks.begin.back()) return -1;
  return std::upper_bound(blocks.begin.begin(), blocks.begin.end(), a) - blocks.begin.begin() - 1;
}

/// Tiles of a dense table.
std::vector<Index> even_tiles(const RowFrame& frame) {
  constexpr Index kEntries = Index{1} << 14;  // 128 KiB of M an item
  const Index width = std::max<Index>(1, kEntries / std::max<Index>(1, frame.samples));
  std::vector<Index> begin = {0};
  while (begin.back() < frame.features) begin.push_back(std::min(frame.features, begin.back() + width));
  return begin;
}

/// What centring and scaling do to the products: m_ia = scale_i (x_ai - mean_i) roots_a.
struct MeansAndScales {
  Vector means, scales;
  void set(Index i, double mean, double squares, double unit) {
    means[i] = mean * unit;
    scales[i] = squares > 0.0 ? 1.0 / (std::sqrt(squares) * unit) : 0.0;
  }
  /// To a largest entry of about 1 first: neither 1e200 nor 1e-200 survives being squared.
  [[nodiscard]] static double unit_of(double largest) {
    return largest > 0.0 ? std::exp2(std::ilogb(largest)) : 1.0;
  }
  /// Of centred features: 1, and 0 of a constant one.
  [[nodiscard]] Vector squared_norms() const {
    return scales.unaryExpr([](double scale) { return scale > 0.0 ? 1.0 : 0.0; });
  }
};

/// q x p numbers of M itself.
class CopiedRows final : public RowStorage {
 public:
  CopiedRows(const RowFrame& frame, Matrix m) : RowStorage(frame, even_tiles(frame)), m_(std::move(m)) {}
  CopiedRows(const RowFrame& frame, const Dataset& data, const std::vector<Index>& features)
      : CopiedRows(frame, Matrix(frame.samples, frame.features)) {
    const Vector roots =
        frame.position.empty() ? frame.roots : Vector(frame.roots(frame.position));  // by row
    if (frame.centred) unit_columns(data, features, roots, frame.threads, m_);
    parallel_for(tiles(), frame.threads, [&](Index t) {
      for (Index j = first_of(t); j < first_of(t + 1); ++j) {
        if (!frame.centred)
          m_.col(j) = data.values().column(features[static_cast<std::size_t>(j)]).cwiseProduct(roots);
        if (!frame.order.empty()) m_.col(j) = Vector(m_.col(j)(frame.order));
      }
    });
  }

  [[nodiscard]] Factor factor_of(const MatrixRef& /*u*/, const SampleBlocks& /*blocks*/) const override {
    return {};
  }
  void project(Index first, Index count, const MatrixRef& u, const Factor& /*factor*/,
               const SampleBlocks& blocks, Matrix& tile) const override {
    const Index width = u.cols();
    tile.resize(count, blocks.count() * width);
    for (Index b = 0; b < blocks.count(); ++b) {
      thin_product(Op::kTranspose, m_.block(blocks.first(b), first, blocks.size(b), count),
                   u.middleRows(blocks.first(b), blocks.size(b)), 0.0, tile.middleCols(b * width, width));
    }
  }

  [[nodiscard]] Sum nothing(Index columns, const SampleBlocks& /*blocks*/) const override {
    return {.part = Matrix::Zero(frame_.samples, columns), .shifts = {}};
  }
  void add(Index first, Index count, const SampleBlocks& blocks, const Matrix& tile,
           Sum& sum) const override {
    const Index width = sum.part.cols();
    for (Index b = 0; b < blocks.count(); ++b) {
      thin_product(Op::kNone, m_.block(blocks.first(b), first, blocks.size(b), count),
                   tile.middleCols(b * width, width), 1.0,
                   sum.part.middleRows(blocks.first(b), blocks.size(b)));
    }
  }
  [[nodiscard]] Matrix finished(Sum sum, const SampleBlocks& /*blocks*/) const override {
    return std::move(sum.part);
  }

  void add_squares(Index first, Index count, const VectorRef& alpha, Eigen::Ref<Vector> sum,
                   double& /*everywhere*/) const override {
    for (Index i = first; i < first + count; ++i) sum += alpha[i] * m_.col(i).cwiseAbs2();
  }
  [[nodiscard]] double squared_norm(Index i) const override { return m_.col(i).squaredNorm(); }
  [[nodiscard]] Matrix tile(Index first, Index count) const override { return m_.middleCols(first, count); }

 private:
  Matrix m_;
};

/// A dense table that is not copied: its columns and samples in their order, all centred.
class TableInPlace final : public RowStorage {
 public:
  /// Null where a column stands so far from zero that centring the products would lose digits.
  static std::unique_ptr<const RowStorage> of(const RowFrame& frame, const Values& values) {
    auto rows = std::make_unique<TableInPlace>(frame, values);
    return rows->measure() ? std::move(rows) : nullptr;
  }
  TableInPlace(const RowFrame& frame, const Values& values)
      : RowStorage(frame, even_tiles(frame)), values_(values), table_(values_.packed()) {}

  [[nodiscard]] Factor factor_of(const MatrixRef& u, const SampleBlocks& blocks) const override {
    Factor factor;
    factor.weighted = u.array().colwise() * frame_.roots.array();
    factor.sums.resize(u.cols(), blocks.count());
    for (Index b = 0; b < blocks.count(); ++b) {
      factor.sums.col(b) =
          factor.weighted.middleRows(blocks.first(b), blocks.size(b)).colwise().sum().transpose();
    }
    return factor;
  }
  void project(Index first, Index count, const MatrixRef& u, const Factor& factor, const SampleBlocks& blocks,
               Matrix& tile) const override {
    const Index width = u.cols();
    tile.resize(count, blocks.count() * width);
    for (Index b = 0; b < blocks.count(); ++b) {
      auto part = tile.middleCols(b * width, width);
      thin_product(Op::kTranspose, table_.block(blocks.first(b), first, blocks.size(b), count),
                   factor.weighted.middleRows(blocks.first(b), blocks.size(b)), 0.0, part);
      for (Index c = 0; c < width; ++c) {
        part.col(c) = of_.scales.segment(first, count)
                          .cwiseProduct(part.col(c) - factor.sums(c, b) * of_.means.segment(first, count));
      }
    }
  }

  [[nodiscard]] Sum nothing(Index columns, const SampleBlocks& blocks) const override {
    return {.part = Matrix::Zero(frame_.samples, columns), .shifts = Matrix::Zero(columns, blocks.count())};
  }
  void add(Index first, Index count, const SampleBlocks& blocks, const Matrix& tile,
           Sum& sum) const override {
    const Index width = sum.part.cols();
    for (Index b = 0; b < blocks.count(); ++b) {
      const Matrix scaled = of_.scales.segment(first, count).asDiagonal() * tile.middleCols(b * width, width);
      thin_product(Op::kNone, table_.block(blocks.first(b), first, blocks.size(b), count), scaled, 1.0,
                   sum.part.middleRows(blocks.first(b), blocks.size(b)));
      sum.shifts.col(b) += scaled.transpose() * of_.means.segment(first, count);
    }
  }
  [[nodiscard]] Matrix finished(Sum sum, const SampleBlocks& blocks) const override {
    for (Index b = 0; b < blocks.count(); ++b)
      sum.part.middleRows(blocks.first(b), blocks.size(b)).rowwise() -= sum.shifts.col(b).transpose();
    sum.part.array().colwise() *= frame_.roots.array();
    return std::move(sum.part);
  }

  void add_squares(Index first, Index count, const VectorRef& alpha, Eigen::Ref<Vector> sum,
                   double& /*everywhere*/) const override {
    for (Index i = first; i < first + count; ++i)
      sum.array() += alpha[i] * (of_.scales[i] * (table_.col(i).array() - of_.means[i])).square();
  }
  void finish_squares(Vector& sum) const override { sum.array() *= frame_.roots.array().square(); }

  [[nodiscard]] std::optional<Vector> known_squared_norms() const override { return of_.squared_norms(); }
  [[nodiscard]] double squared_norm(Index i) const override { return of_.scales[i] > 0.0 ? 1.0 : 0.0; }
  [[nodiscard]] Matrix tile(Index first, Index count) const override {
    Matrix dense = table_.middleCols(first, count);
    for (Index i = 0; i < count; ++i) {
      dense.col(i) =
          (dense.col(i).array() - of_.means[first + i]) * (of_.scales[first + i] * frame_.roots.array());
    }
    return dense;
  }

 private:
  /// Means and scales, in one pass. False: some column stands too far from zero.
  [[nodiscard]] bool measure() {
    constexpr double kFar =
        1e3;  // a mean in standard deviations: so much of the digits centring a product costs
    of_.means.resize(frame_.features);
    of_.scales.resize(frame_.features);
    const Vector weights = frame_.roots.array().square();
    const double total = weights.sum();
    std::atomic<bool> far = false;
    parallel_for(tiles(), frame_.threads, [&](Index t) {
      Vector column(frame_.samples);
      for (Index j = first_of(t); j < first_of(t + 1) && !far; ++j) {
        column = table_.col(j);
        const double unit = MeansAndScales::unit_of(column.cwiseAbs().maxCoeff());
        column /= unit;
        double mean = 0.0;
        for (int pass = 0; pass < 2; ++pass) {
          const double rest = weights.dot(column) / total;
          column.array() -= rest;
          mean += rest;
        }
        const double squares = weights.dot(column.cwiseAbs2());
        if (!(mean * mean * total <= kFar * kFar * squares)) far = true;
        of_.set(j, mean, squares, unit);
      }
    });
    return !far;
  }

  Values values_;
  DenseMap table_;  ///< its numbers, q x p
  MeansAndScales of_;
};

/// The entries of a sparse table, N x all columns.
class StoredEntries final : public RowStorage {
 public:
  StoredEntries(const RowFrame& frame, const Values& values, const CscMap& entries,
                const std::vector<Index>& features)
      : RowStorage(frame, tiles_of(entries, features)),
        values_(values),
        entries_(entries),
        columns_(features),
        of_{.means = Vector::Zero(frame.features), .scales = Vector::Ones(frame.features)} {
    if (frame.centred) measure();
  }

  [[nodiscard]] Factor factor_of(const MatrixRef& u, const SampleBlocks& blocks) const override {
    Factor factor;  // a sample a column
    factor.weighted = (u.array().colwise() * frame_.roots.array()).matrix().transpose();
    factor.sums = Matrix::Zero(u.cols(), blocks.count());
    for (Index b = 0; b < blocks.count(); ++b)
      factor.sums.col(b) = factor.weighted.middleCols(blocks.first(b), blocks.size(b)).rowwise().sum();
    return factor;
  }
  /// scale_i (sum_a x_ai u_a - mean_i sum_a u_a) with u already times roots, block by block.
  void project(Index first, Index count, const MatrixRef& u, const Factor& factor, const SampleBlocks& blocks,
               Matrix& tile) const override {
    const Index width = u.cols();
    tile.setZero(count, blocks.count() * width);
    const bool one = is_whole(blocks);
    Vector sum(blocks.count() * width);
    for (Index i = 0; i < count; ++i) {
      sum.setZero();
      for (CscMap::InnerIterator it(entries_, column(first + i)); it; ++it) {
        const Index a = frame_.sample(it.row());
        const Index b = one ? 0 : block_of(blocks, a);
        if (b < 0) continue;
        const double* const from = factor.weighted.data() + a * width;
        double* const to = sum.data() + b * width;
        for (Index c = 0; c < width; ++c) to[c] += it.value() * from[c];
      }
      for (Index b = 0; b < blocks.count(); ++b) {
        for (Index c = 0; c < width; ++c) {
          tile(i, b * width + c) =
              of_.scales[first + i] * (sum[b * width + c] - of_.means[first + i] * factor.sums(c, b));
        }
      }
    }
  }

  /// A sample a column, so that an entry adds to numbers that stand together.
  [[nodiscard]] Sum nothing(Index columns, const SampleBlocks& blocks) const override {
    return {.part = Matrix::Zero(columns, frame_.samples), .shifts = Matrix::Zero(columns, blocks.count())};
  }
  void add(Index first, Index count, const SampleBlocks& blocks, const Matrix& tile,
           Sum& sum) const override {
    const Index width = sum.part.rows();
    const bool one = is_whole(blocks);
    Vector scaled(tile.cols());
    for (Index i = 0; i < count; ++i) {
      for (Index c = 0; c < scaled.size(); ++c) scaled[c] = of_.scales[first + i] * tile(i, c);
      for (Index b = 0; b < blocks.count(); ++b)
        sum.shifts.col(b) += of_.means[first + i] * scaled.segment(b * width, width);
      for (CscMap::InnerIterator it(entries_, column(first + i)); it; ++it) {
        const Index a = frame_.sample(it.row());
        const Index b = one ? 0 : block_of(blocks, a);
        if (b < 0) continue;
        const double* const from = scaled.data() + b * width;
        double* const to = sum.part.data() + a * width;
        for (Index c = 0; c < width; ++c) to[c] += it.value() * from[c];
      }
    }
  }
  [[nodiscard]] Matrix finished(Sum sum, const SampleBlocks& blocks) const override {
    for (Index b = 0; b < blocks.count(); ++b)
      sum.part.middleCols(blocks.first(b), blocks.size(b)).colwise() -= sum.shifts.col(b);
    return (sum.part.array().rowwise() * frame_.roots.transpose().array()).matrix().transpose();
  }

  void add_squares(Index first, Index count, const VectorRef& alpha, Eigen::Ref<Vector> sum,
                   double& everywhere) const override {
    for (Index i = first; i < first + count; ++i) {
      const double mean = of_.means[i], weight = alpha[i] * of_.scales[i] * of_.scales[i];
      everywhere += weight * mean * mean;  // what a sample has where nothing is stored
      for (CscMap::InnerIterator it(entries_, column(i)); it; ++it)
        sum[frame_.sample(it.row())] += weight * it.value() * (it.value() - 2.0 * mean);
    }
  }
  void finish_squares(Vector& sum) const override { sum.array() *= frame_.roots.array().square(); }

  [[nodiscard]] std::optional<Vector> known_squared_norms() const override {
    if (!frame_.centred) return std::nullopt;
    return of_.squared_norms();
  }
  /// Of features as given.
  [[nodiscard]] double squared_norm(Index i) const override {
    double squares = 0.0;
    for (CscMap::InnerIterator it(entries_, column(i)); it; ++it) {
      const double value = it.value() * frame_.roots[frame_.sample(it.row())];
      squares += value * value;
    }
    return squares;
  }
  [[nodiscard]] Matrix tile(Index first, Index count) const override {
    Matrix dense(frame_.samples, count);
    for (Index i = 0; i < count; ++i) {
      dense.col(i).setConstant(-of_.means[first + i]);
      for (CscMap::InnerIterator it(entries_, column(first + i)); it; ++it)
        dense(frame_.sample(it.row()), i) += it.value();
      dense.col(i).array() *= of_.scales[first + i] * frame_.roots.array();
    }
    return dense;
  }

 private:
  /// Frequent words have most of the entries, rare ones most of the columns: both are work.
  [[nodiscard]] static std::vector<Index> tiles_of(const CscMap& entries,
                                                   const std::vector<Index>& features) {
    constexpr Index kWork = Index{1} << 17, kColumn = 16;
    std::vector<Index> begin = {0};
    const auto count = static_cast<Index>(features.size());
    Index work = 0;
    for (Index j = 0; j < count; ++j) {
      const auto* const begins = entries.outerIndexPtr() + features[static_cast<std::size_t>(j)];
      work += kColumn + begins[1] - begins[0];
      if (work >= kWork || j + 1 == count) {
        begin.push_back(j + 1);
        work = 0;
      }
    }
    return begin;
  }
  [[nodiscard]] Index column(Index i) const { return columns_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] bool is_whole(const SampleBlocks& blocks) const {
    return blocks.count() == 1 && blocks.size(0) == frame_.samples;
  }
  /// Means and scales, in one pass. The zeros that are not stored enter in closed form.
  void measure() {
    Vector weights(frame_.samples);  // in the order of the table
    for (Index row = 0; row < frame_.samples; ++row) {
      const double root = frame_.roots[frame_.sample(row)];
      weights[row] = root * root;
    }
    const double total = weights.sum();
    parallel_for(tiles(), frame_.threads, [&](Index t) {
      for (Index j = first_of(t); j < first_of(t + 1); ++j) {
        double largest = 0.0, stored = 0.0, sum = 0.0;
        for (CscMap::InnerIterator it(entries_, column(j)); it; ++it)
          largest = std::max(largest, std::abs(it.value()));
        const double unit = MeansAndScales::unit_of(largest);
        for (CscMap::InnerIterator it(entries_, column(j)); it; ++it) {
          sum += weights[it.row()] * (it.value() / unit);
          stored += weights[it.row()];
        }
        const double mean = sum / total;
        double squares = std::max(0.0, total - stored) * mean * mean;
        for (CscMap::InnerIterator it(entries_, column(j)); it; ++it) {
          const double centred = it.value() / unit - mean;
          squares += weights[it.row()] * centred * centred;
        }
        of_.set(j, mean, squares, unit);
      }
    });
  }

  Values values_;  ///< whose entries these are
  const CscMap& entries_;
  std::vector<Index> columns_;
  MeansAndScales of_;
};

KeptRows keep_table(const RowFrame& frame, const Dataset& data, const std::vector<Index>& features,
                    std::uint64_t memory_limit, std::uint64_t most_copied) {
  KeptRows kept;
  const auto bytes =
      sizeof(double) * static_cast<std::uint64_t>(frame.samples) * static_cast<std::uint64_t>(frame.features);
  if (frame.centred && frame.order.empty() && frame.features == data.features() && bytes > most_copied &&
      data.values().stands_packed()) {
    kept.storage = TableInPlace::of(frame, data.values());
    kept.stays = kept.storage != nullptr;
    kept.passes = 1;
    if (kept.stays) return kept;
  }
  require_memory(8.0 * static_cast<double>(frame.samples) * static_cast<double>(frame.features),
                 "the normalized table of a Q-alpha method",
                 "leave features out (⟨exclude⟩), or give a sparse table (.npz, .svm), which is not copied",
                 memory_limit);
  kept.storage = std::make_unique<CopiedRows>(frame, data, features);
  return kept;
}

}  // namespace

KeptRows keep_rows(const RowFrame& frame, const Dataset& data, const std::vector<Index>& features,
                   std::uint64_t memory_limit, std::uint64_t most_copied) {
  const Values& values = data.values();
  return values.by_storage([&] { return keep_table(frame, data, features, memory_limit, most_copied); },
                           [&](const CscMap& entries) {
                             return KeptRows{
                                 .storage = std::make_unique<StoredEntries>(frame, values, entries, features),
                                 .passes = frame.centred ? 1 : 0};
                           });
}

KeptRows keep_rows(const RowFrame& frame, Matrix m) {
  return {.storage = std::make_unique<CopiedRows>(frame, std::move(m))};
}

}  // namespace subspectra::qalpha
