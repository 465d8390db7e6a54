#include "qalpha/feature_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "data/unit_columns.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

using linalg::Op;

Index items_of(Index n, Index width) { return (n + width - 1) / width; }

/// Into how many parts a sum over features is cut, each with a sum of its own of `entries` numbers: by size
/// alone.
Index parts(Index tile_count, Index entries, Index least) {
  constexpr Index kMost = 64, kTogether = Index{1} << 21;
  return std::min(tile_count, std::clamp<Index>(kTogether / std::max<Index>(1, entries), least, kMost));
}

/// Features of a tile of the affinity matrix.
constexpr Index kAffinityWidth = 512;

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

}  // namespace

FeatureRows::FeatureRows(Matrix m, int threads)
    : features_(m.cols()),
      samples_(m.rows()),
      threads_(threads),
      m_(std::move(m)),
      roots_(Vector::Ones(samples_)),
      classes_(whole()) {
  cut_tiles();
}

FeatureRows::FeatureRows(const Dataset& data, const std::vector<Index>& features, bool normalize,
                         const std::vector<int>& codes, int threads, std::uint64_t memory_limit,
                         std::uint64_t most_copied)
    : features_(static_cast<Index>(features.size())),
      samples_(data.rows()),
      threads_(threads),
      centred_(normalize),
      roots_(root_weights(data)) {
  const Vector given_roots = roots_;
  classes_ = whole();
  if (!codes.empty()) {
    order_.resize(static_cast<std::size_t>(samples_));
    std::iota(order_.begin(), order_.end(), Index{0});
    const auto key = [&](Index row) {
      const int code = codes[static_cast<std::size_t>(row)];
      return code < 0 ? std::numeric_limits<int>::max() : code;
    };
    std::stable_sort(order_.begin(), order_.end(), [&](Index a, Index b) { return key(a) < key(b); });
    position_.resize(order_.size());
    classes_.begin.assign(1, 0);
    for (Index i = 0; i < samples_; ++i) {
      const Index row = order_[static_cast<std::size_t>(i)];
      position_[static_cast<std::size_t>(row)] = i;
      roots_[i] = given_roots[row];
      const int code = codes[static_cast<std::size_t>(row)];
      const bool last = i + 1 == samples_ || codes[static_cast<std::size_t>(order_[i + 1])] != code;
      if (code >= 0 && last) classes_.begin.push_back(i + 1);
    }
  }
  data.values().by_storage(
      [&] {
        if (!leave_table(data, most_copied)) keep_normalized(data, features, given_roots, memory_limit);
      },
      [&](const CscMap& entries) {
        values_ = data.values();
        keep_entries(entries, features, given_roots);
      });
}

void FeatureRows::keep_normalized(const Dataset& data, const std::vector<Index>& features,
                                  const Vector& roots, std::uint64_t memory_limit) {
  require_memory(8.0 * static_cast<double>(samples_) * static_cast<double>(features_),
                 "the normalized table of a Q-alpha method",
                 "leave features out (⟨exclude⟩), or give a sparse table (.npz, .svm), which is not copied",
                 memory_limit);
  m_.resize(samples_, features_);
  if (centred_) {
    unit_columns(data, features, roots, threads_, m_);
  }
  cut_tiles();
  parallel_for(tiles(), threads_, [&](Index t) {
    for (Index j = tile_first(t); j < tile_first(t + 1); ++j) {
      if (!centred_) {
        m_.col(j) = data.values().column(features[static_cast<std::size_t>(j)]).cwiseProduct(roots);
      }
      if (!order_.empty()) m_.col(j) = Vector(m_.col(j)(order_));
    }
  });
}

bool FeatureRows::leave_table(const Dataset& data, std::uint64_t most_copied) {
  constexpr double kFar =
      1e3;  // a mean in standard deviations: so much of the digits centring a product costs
  const auto bytes =
      sizeof(double) * static_cast<std::uint64_t>(samples_) * static_cast<std::uint64_t>(features_);
  if (!centred_ || !order_.empty() || features_ != data.features() || bytes <= most_copied) return false;
  std::vector<double> scratch;
  static_cast<void>(data.values().part_of_column(0, 0, samples_, scratch));
  if (!scratch.empty()) return false;  // it does not stand as one block
  values_ = data.values();
  table_.emplace(values_.packed());
  cut_tiles();
  means_.resize(features_);
  scales_.resize(features_);
  const Vector weights = roots_.array().square();
  const double total = weights.sum();
  std::atomic<bool> far = false;
  ++passes_;
  parallel_for(tiles(), threads_, [&](Index t) {
    Vector column(samples_);
    for (Index j = tile_first(t); j < tile_first(t + 1) && !far; ++j) {
      column = table_->col(j);
      // To a largest entry of about 1 first, as in unit_columns().
      const double largest = column.cwiseAbs().maxCoeff();
      const double unit = largest > 0.0 ? std::exp2(std::ilogb(largest)) : 1.0;
      column /= unit;
      double mean = 0.0;
      for (int pass = 0; pass < 2; ++pass) {
        const double rest = weights.dot(column) / total;
        column.array() -= rest;
        mean += rest;
      }
      const double squares = weights.dot(column.cwiseAbs2());
      if (!(mean * mean * total <= kFar * kFar * squares)) far = true;
      means_[j] = mean * unit;
      scales_[j] = squares > 0.0 ? 1.0 / (std::sqrt(squares) * unit) : 0.0;
    }
  });
  if (!far) return true;
  table_.reset();
  values_ = Values();
  return false;
}

void FeatureRows::keep_entries(const CscMap& entries, const std::vector<Index>& features,
                               const Vector& roots) {
  sparse_ = &entries;
  columns_ = features;
  cut_tiles();
  means_ = Vector::Zero(features_);
  scales_ = Vector::Ones(features_);
  if (!centred_) return;
  const Vector weights = roots.array().square();
  const double total = weights.sum();
  ++passes_;
  parallel_for(tiles(), threads_, [&](Index t) {
    for (Index j = tile_first(t); j < tile_first(t + 1); ++j) {
      // To a largest entry of about 1 first: neither 1e200 nor 1e-200 survives being squared. The zeros that
      // are not stored enter in closed form.
      double largest = 0.0, stored = 0.0, sum = 0.0;
      const Index column = columns_[static_cast<std::size_t>(j)];
      for (CscMap::InnerIterator it(*sparse_, column); it; ++it)
        largest = std::max(largest, std::abs(it.value()));
      const double unit = largest > 0.0 ? std::exp2(std::ilogb(largest)) : 1.0;
      for (CscMap::InnerIterator it(*sparse_, column); it; ++it) {
        sum += weights[it.row()] * (it.value() / unit);
        stored += weights[it.row()];
      }
      const double mean = sum / total;
      double squares = std::max(0.0, total - stored) * mean * mean;
      for (CscMap::InnerIterator it(*sparse_, column); it; ++it) {
        const double centred = it.value() / unit - mean;
        squares += weights[it.row()] * centred * centred;
      }
      means_[j] = mean * unit;
      scales_[j] = squares > 0.0 ? 1.0 / (std::sqrt(squares) * unit) : 0.0;
    }
  });
}

void FeatureRows::cut_tiles() {
  tile_begin_.assign(1, 0);
  if (!is_sparse()) {
    constexpr Index kEntries = Index{1} << 14;  // 128 KiB of M an item
    const Index width = std::max<Index>(1, kEntries / std::max<Index>(1, samples_));
    while (tile_begin_.back() < features_)
      tile_begin_.push_back(std::min(features_, tile_begin_.back() + width));
    return;
  }
  // Frequent words have most of the entries, rare ones most of the columns: both are work.
  constexpr Index kWork = Index{1} << 17, kColumn = 16;
  Index work = 0;
  for (Index j = 0; j < features_; ++j) {
    const Index column = columns_[static_cast<std::size_t>(j)];
    work += kColumn + sparse_->outerIndexPtr()[column + 1] - sparse_->outerIndexPtr()[column];
    if (work >= kWork || j + 1 == features_) {
      tile_begin_.push_back(j + 1);
      work = 0;
    }
  }
}

void FeatureRows::prepare_projection(const MatrixRef& u, const SampleBlocks& blocks, Matrix& u_rows,
                                     Matrix& sums) const {
  if (stays()) {
    u_rows = u.array().colwise() * roots_.array();
    sums = u_rows.colwise().sum().transpose();
    return;
  }
  if (!is_sparse()) return;
  u_rows = (u.array().colwise() * roots_.array()).matrix().transpose();
  sums = Matrix::Zero(u.cols(), blocks.count());
  for (Index b = 0; b < blocks.count(); ++b)
    sums.col(b) = u_rows.middleCols(blocks.first(b), blocks.size(b)).rowwise().sum();
}

void FeatureRows::project_tile(Index first, Index count, const MatrixRef& u, const Matrix& u_rows,
                               const Matrix& sums, const SampleBlocks& blocks, Matrix& tile) const {
  const Index width = u.cols();
  if (stays()) {  // of one block
    tile.resize(count, width);
    thin_product(Op::kTranspose, table_->middleCols(first, count), u_rows, 0.0, tile);
    for (Index c = 0; c < width; ++c) {
      tile.col(c) =
          scales_.segment(first, count).cwiseProduct(tile.col(c) - sums(c, 0) * means_.segment(first, count));
    }
    return;
  }
  if (!is_sparse()) {
    tile.resize(count, blocks.count() * width);
    for (Index b = 0; b < blocks.count(); ++b) {
      thin_product(Op::kTranspose, m_.block(blocks.first(b), first, blocks.size(b), count),
                   u.middleRows(blocks.first(b), blocks.size(b)), 0.0, tile.middleCols(b * width, width));
    }
    return;
  }
  // scale_i (sum_a x_ai u_a - mean_i sum_a u_a) with u already times roots, block by block.
  tile.setZero(count, blocks.count() * width);
  const bool one = blocks.count() == 1 && blocks.size(0) == samples_;
  Vector sum(blocks.count() * width);
  for (Index i = 0; i < count; ++i) {
    sum.setZero();
    for (CscMap::InnerIterator it(*sparse_, columns_[static_cast<std::size_t>(first + i)]); it; ++it) {
      const Index a = sample(it.row());
      const Index b = one ? 0 : block_of(blocks, a);
      if (b < 0) continue;
      const double* const from = u_rows.data() + a * width;
      double* const to = sum.data() + b * width;
      for (Index c = 0; c < width; ++c) to[c] += it.value() * from[c];
    }
    for (Index b = 0; b < blocks.count(); ++b) {
      for (Index c = 0; c < width; ++c) {
        tile(i, b * width + c) = scales_[first + i] * (sum[b * width + c] - means_[first + i] * sums(c, b));
      }
    }
  }
}

void FeatureRows::project(const MatrixRef& u, const SampleBlocks& blocks, const Consume& consume) const {
  ++passes_;
  Matrix u_rows, sums;
  prepare_projection(u, blocks, u_rows, sums);
  parallel_for(tiles(), threads_, [&](Index t) {
    Matrix tile;
    const Index first = tile_first(t), count = tile_count(t);
    project_tile(first, count, u, u_rows, sums, blocks, tile);
    consume(first, tile);
  });
}

void FeatureRows::combine_tile(Index first, Index count, const SampleBlocks& blocks, const Matrix& tile,
                               Matrix& part, Matrix& shifts) const {
  if (stays()) {
    const Matrix scaled = scales_.segment(first, count).asDiagonal() * tile;
    thin_product(Op::kNone, table_->middleCols(first, count), scaled, 1.0, part);
    shifts.col(0) += scaled.transpose() * means_.segment(first, count);
    return;
  }
  if (!is_sparse()) {
    const Index width = part.cols();
    for (Index b = 0; b < blocks.count(); ++b) {
      thin_product(Op::kNone, m_.block(blocks.first(b), first, blocks.size(b), count),
                   tile.middleCols(b * width, width), 1.0, part.middleRows(blocks.first(b), blocks.size(b)));
    }
    return;
  }
  const Index width = part.rows();
  const bool one = blocks.count() == 1 && blocks.size(0) == samples_;
  Vector scaled(tile.cols());
  for (Index i = 0; i < count; ++i) {
    for (Index c = 0; c < scaled.size(); ++c) scaled[c] = scales_[first + i] * tile(i, c);
    for (Index b = 0; b < blocks.count(); ++b)
      shifts.col(b) += means_[first + i] * scaled.segment(b * width, width);
    for (CscMap::InnerIterator it(*sparse_, columns_[static_cast<std::size_t>(first + i)]); it; ++it) {
      const Index a = sample(it.row());
      const Index b = one ? 0 : block_of(blocks, a);
      if (b < 0) continue;
      const double* const from = scaled.data() + b * width;
      double* const to = part.data() + a * width;
      for (Index c = 0; c < width; ++c) to[c] += it.value() * from[c];
    }
  }
}

Matrix FeatureRows::combine_tiles(Index columns, const SampleBlocks& blocks,
                                  const std::function<void(Index, Index, Matrix&)>& produce) const {
  ++passes_;
  constexpr Index kLeastParts = 8;
  const Index all = tiles(), part_count = parts(all, samples_ * columns, kLeastParts);
  std::vector<Matrix> part(static_cast<std::size_t>(part_count)), shifts(part.size());
  parallel_for(part_count, threads_, [&](Index p) {
    auto& own = part[static_cast<std::size_t>(p)];
    auto& shift = shifts[static_cast<std::size_t>(p)];
    own = is_sparse() ? Matrix::Zero(columns, samples_) : Matrix::Zero(samples_, columns);
    shift = Matrix::Zero(columns, blocks.count());
    Matrix tile;
    for (Index t = all * p / part_count; t < all * (p + 1) / part_count; ++t) {
      const Index first = tile_first(t), count = tile_count(t);
      produce(first, count, tile);
      combine_tile(first, count, blocks, tile, own, shift);
    }
  });
  for (std::size_t p = 1; p < part.size(); ++p) {  // in order, whatever the number of threads
    part[0] += part[p];
    shifts[0] += shifts[p];
    part[p].resize(0, 0);
  }
  if (stays()) {
    part[0].rowwise() -= shifts[0].col(0).transpose();
    part[0].array().colwise() *= roots_.array();
  }
  if (!is_sparse()) return std::move(part[0]);
  for (Index b = 0; b < blocks.count(); ++b)
    part[0].middleCols(blocks.first(b), blocks.size(b)).colwise() -= shifts[0].col(b);
  return (part[0].array().rowwise() * roots_.transpose().array()).matrix().transpose();
}

Matrix FeatureRows::combine(Index columns, const SampleBlocks& blocks, const Produce& produce) const {
  return combine_tiles(columns, blocks, [&](Index first, Index count, Matrix& tile) {
    tile.resize(count, blocks.count() * columns);
    produce(first, count, tile);
  });
}

Matrix FeatureRows::project_combine(const MatrixRef& u, const SampleBlocks& blocks,
                                    const Produce& change) const {
  Matrix u_rows, sums;
  prepare_projection(u, blocks, u_rows, sums);
  return combine_tiles(u.cols(), blocks, [&](Index first, Index count, Matrix& tile) {
    project_tile(first, count, u, u_rows, sums, blocks, tile);
    change(first, count, tile);
  });
}

Matrix FeatureRows::tile(Index first, Index count) const {
  if (stays()) {
    Matrix dense = table_->middleCols(first, count);
    for (Index i = 0; i < count; ++i)
      dense.col(i) = (dense.col(i).array() - means_[first + i]) * (scales_[first + i] * roots_.array());
    return dense;
  }
  if (!is_sparse()) return m_.middleCols(first, count);
  Matrix dense(samples_, count);
  for (Index i = 0; i < count; ++i) {
    dense.col(i).setConstant(-means_[first + i]);
    for (CscMap::InnerIterator it(*sparse_, columns_[static_cast<std::size_t>(first + i)]); it; ++it) {
      dense(sample(it.row()), i) += it.value();
    }
    dense.col(i).array() *= scales_[first + i] * roots_.array();
  }
  return dense;
}

double FeatureRows::affinity_bytes() const {
  const Index part_count = parts(items_of(features_, kAffinityWidth), samples_ * samples_, 1);
  const auto q = static_cast<double>(samples_),
             width = static_cast<double>(std::min(kAffinityWidth, features_));
  return 8.0 * (static_cast<double>(part_count) * q * q +
                static_cast<double>(std::min<Index>(threads_, part_count)) * 2.0 * q * width);
}

Matrix FeatureRows::affinity(const VectorRef& alpha) const {
  ++passes_;
  constexpr Index kWidth = kAffinityWidth;
  const Index all = items_of(features_, kWidth), part_count = parts(all, samples_ * samples_, 1);
  std::vector<Matrix> part(static_cast<std::size_t>(part_count));
  parallel_for(part_count, threads_, [&](Index p) {
    auto& own = part[static_cast<std::size_t>(p)];
    own = Matrix::Zero(samples_, samples_);
    for (Index t = all * p / part_count; t < all * (p + 1) / part_count; ++t) {
      const Index first = t * kWidth, count = std::min(kWidth, features_ - first);
      const Matrix m = tile(first, count);
      const Matrix weighted = (m * alpha.segment(first, count).asDiagonal()).transpose();
      linalg::gemm_tiled(1.0, Op::kNone, m, weighted, 1.0, own, threads_);
    }
  });
  for (std::size_t p = 1; p < part.size(); ++p) part[0] += part[p];
  Matrix a = std::move(part[0]);
  linalg::mirror_lower(a);
  return a;
}

Vector FeatureRows::affinity_diagonal(const VectorRef& alpha) const {
  ++passes_;
  const Index all = tiles(), part_count = parts(all, samples_, 8);
  Matrix part = Matrix::Zero(samples_, part_count);
  parallel_for(part_count, threads_, [&](Index p) {
    auto own = part.col(p);
    double squares = 0.0;  // of the means: what every sample has where nothing is stored
    for (Index t = all * p / part_count; t < all * (p + 1) / part_count; ++t) {
      for (Index i = tile_first(t); i < tile_first(t + 1); ++i) {
        if (stays()) {
          own.array() += alpha[i] * (scales_[i] * (table_->col(i).array() - means_[i])).square();
          continue;
        }
        if (!is_sparse()) {
          own += alpha[i] * m_.col(i).cwiseAbs2();
          continue;
        }
        const double mean = means_[i], weight = alpha[i] * scales_[i] * scales_[i];
        squares += weight * mean * mean;
        for (CscMap::InnerIterator it(*sparse_, columns_[static_cast<std::size_t>(i)]); it; ++it) {
          const Index a = sample(it.row());
          own[a] += weight * it.value() * (it.value() - 2.0 * mean);
        }
      }
    }
    own.array() += squares;
  });
  Vector diagonal = part.rowwise().sum();
  if (is_sparse() || stays()) diagonal.array() *= roots_.array().square();
  return diagonal;
}

Vector FeatureRows::quadratic_forms(const MatrixRef& s) const {
  ++passes_;
  constexpr Index kWidth = 256;
  Vector forms(features_);
  parallel_for(items_of(features_, kWidth), threads_, [&](Index t) {
    const Index first = t * kWidth, count = std::min(kWidth, features_ - first);
    const Matrix m = tile(first, count);
    Matrix product(samples_, count);
    linalg::gemm(1.0, Op::kNone, s, Op::kNone, m, 0.0, product);
    forms.segment(first, count) = m.cwiseProduct(product).colwise().sum();
  });
  return forms;
}

Vector FeatureRows::squared_norms() const {
  Vector squares(features_);
  if ((is_sparse() && centred_) || stays()) {
    for (Index i = 0; i < features_; ++i) squares[i] = scales_[i] > 0.0 ? 1.0 : 0.0;
    return squares;
  }
  ++passes_;
  parallel_for(tiles(), threads_, [&](Index t) {
    for (Index i = tile_first(t); i < tile_first(t + 1); ++i) {
      if (!is_sparse()) {
        squares[i] = m_.col(i).squaredNorm();
        continue;
      }
      squares[i] = 0.0;
      for (CscMap::InnerIterator it(*sparse_, columns_[static_cast<std::size_t>(i)]); it; ++it) {
        const double value = it.value() * roots_[sample(it.row())];
        squares[i] += value * value;
      }
    }
  });
  return squares;
}

}  // namespace subspectra
