#include "qalpha/feature_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

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

}  // namespace

FeatureRows::FeatureRows(Matrix m, int threads)
    : frame_{.features = m.cols(),
             .samples = m.rows(),
             .threads = threads,
             .roots = Vector::Ones(m.rows()),
             .order = {},
             .position = {}},
      classes_(whole()) {
  keep(qalpha::keep_rows(frame_, std::move(m)));
}

FeatureRows::FeatureRows(const Dataset& data, const std::vector<Index>& features, bool normalize,
                         const std::vector<int>& codes, int threads, std::uint64_t memory_limit,
                         std::uint64_t most_copied)
    : frame_{.features = static_cast<Index>(features.size()),
             .samples = data.rows(),
             .threads = threads,
             .centred = normalize,
             .roots = root_weights(data),
             .order = {},
             .position = {}},
      classes_(whole()) {
  if (!codes.empty()) arrange(codes);
  keep(qalpha::keep_rows(frame_, data, features, memory_limit, most_copied));
}

void FeatureRows::keep(qalpha::KeptRows kept) {
  storage_ = std::move(kept.storage);
  stays_ = kept.stays;
  passes_ = kept.passes;
}

void FeatureRows::arrange(const std::vector<int>& codes) {
  const Vector given_roots = frame_.roots;
  std::vector<Index>& order = frame_.order;
  order.resize(static_cast<std::size_t>(samples()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto key = [&](Index row) {
    const int code = codes[static_cast<std::size_t>(row)];
    return code < 0 ? std::numeric_limits<int>::max() : code;
  };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
  frame_.position.resize(order.size());
  classes_.begin.assign(1, 0);
  for (Index i = 0; i < samples(); ++i) {
    const Index row = order[static_cast<std::size_t>(i)];
    frame_.position[static_cast<std::size_t>(row)] = i;
    frame_.roots[i] = given_roots[row];
    const int code = codes[static_cast<std::size_t>(row)];
    const bool last =
        i + 1 == samples() || codes[static_cast<std::size_t>(order[static_cast<std::size_t>(i) + 1])] != code;
    if (code >= 0 && last) classes_.begin.push_back(i + 1);
  }
}

void FeatureRows::project(const MatrixRef& u, const SampleBlocks& blocks, const Consume& consume) const {
  ++passes_;
  const auto factor = storage_->factor_of(u, blocks);
  parallel_for(storage_->tiles(), threads(), [&](Index t) {
    Matrix tile;
    const Index first = storage_->first_of(t);
    storage_->project(first, storage_->count_of(t), u, factor, blocks, tile);
    consume(first, tile);
  });
}

Matrix FeatureRows::combine_tiles(Index columns, const SampleBlocks& blocks, const Produce& produce) const {
  ++passes_;
  constexpr Index kLeastParts = 8;
  const Index all = storage_->tiles(), part_count = parts(all, samples() * columns, kLeastParts);
  std::vector<qalpha::RowStorage::Sum> sums(static_cast<std::size_t>(part_count));
  parallel_for(part_count, threads(), [&](Index p) {
    auto& own = sums[static_cast<std::size_t>(p)];
    own = storage_->nothing(columns, blocks);
    Matrix tile;
    for (Index t = all * p / part_count; t < all * (p + 1) / part_count; ++t) {
      const Index first = storage_->first_of(t), count = storage_->count_of(t);
      produce(first, count, tile);
      storage_->add(first, count, blocks, tile, own);
    }
  });
  for (std::size_t p = 1; p < sums.size(); ++p) {  // in order, whatever the number of threads
    sums[0].part += sums[p].part;
    sums[0].shifts += sums[p].shifts;
    sums[p].part.resize(0, 0);
  }
  return storage_->finished(std::move(sums[0]), blocks);
}

Matrix FeatureRows::combine(Index columns, const SampleBlocks& blocks, const Produce& produce) const {
  return combine_tiles(columns, blocks, [&](Index first, Index count, Matrix& tile) {
    tile.resize(count, blocks.count() * columns);
    produce(first, count, tile);
  });
}

Matrix FeatureRows::project_combine(const MatrixRef& u, const SampleBlocks& blocks,
                                    const Produce& change) const {
  const auto factor = storage_->factor_of(u, blocks);
  return combine_tiles(u.cols(), blocks, [&](Index first, Index count, Matrix& tile) {
    storage_->project(first, count, u, factor, blocks, tile);
    change(first, count, tile);
  });
}

Matrix FeatureRows::tile(Index first, Index count) const { return storage_->tile(first, count); }

double FeatureRows::affinity_bytes() const {
  const Index part_count = parts(items_of(features(), kAffinityWidth), samples() * samples(), 1);
  const auto q = static_cast<double>(samples()),
             width = static_cast<double>(std::min(kAffinityWidth, features()));
  return 8.0 * (static_cast<double>(part_count) * q * q +
                static_cast<double>(std::min<Index>(threads(), part_count)) * 2.0 * q * width);
}

Matrix FeatureRows::affinity(const VectorRef& alpha) const {
  ++passes_;
  constexpr Index kWidth = kAffinityWidth;
  const Index all = items_of(features(), kWidth), part_count = parts(all, samples() * samples(), 1);
  std::vector<Matrix> part(static_cast<std::size_t>(part_count));
  parallel_for(part_count, threads(), [&](Index p) {
    auto& own = part[static_cast<std::size_t>(p)];
    own = Matrix::Zero(samples(), samples());
    for (Index t = all * p / part_count; t < all * (p + 1) / part_count; ++t) {
      const Index first = t * kWidth, count = std::min(kWidth, features() - first);
      const Matrix m = tile(first, count);
      const Matrix weighted = (m * alpha.segment(first, count).asDiagonal()).transpose();
      linalg::gemm_tiled(1.0, Op::kNone, m, weighted, 1.0, own, threads());
    }
  });
  for (std::size_t p = 1; p < part.size(); ++p) part[0] += part[p];
  Matrix a = std::move(part[0]);
  linalg::mirror_lower(a);
  return a;
}

Vector FeatureRows::affinity_diagonal(const VectorRef& alpha) const {
  ++passes_;
  const Index all = storage_->tiles(), part_count = parts(all, samples(), 8);
  Matrix part = Matrix::Zero(samples(), part_count);
  parallel_for(part_count, threads(), [&](Index p) {
    auto own = part.col(p);
    double everywhere = 0.0;
    for (Index t = all * p / part_count; t < all * (p + 1) / part_count; ++t)
      storage_->add_squares(storage_->first_of(t), storage_->count_of(t), alpha, own, everywhere);
    own.array() += everywhere;
  });
  Vector diagonal = part.rowwise().sum();
  storage_->finish_squares(diagonal);
  return diagonal;
}

Vector FeatureRows::quadratic_forms(const MatrixRef& s) const {
  ++passes_;
  constexpr Index kWidth = 256;
  Vector forms(features());
  parallel_for(items_of(features(), kWidth), threads(), [&](Index t) {
    const Index first = t * kWidth, count = std::min(kWidth, features() - first);
    const Matrix m = tile(first, count);
    Matrix product(samples(), count);
    linalg::gemm(1.0, Op::kNone, s, Op::kNone, m, 0.0, product);
    forms.segment(first, count) = m.cwiseProduct(product).colwise().sum();
  });
  return forms;
}

Vector FeatureRows::squared_norms() const {
  if (std::optional<Vector> known = storage_->known_squared_norms()) return *std::move(known);
  ++passes_;
  Vector squares(features());
  parallel_for(storage_->tiles(), threads(), [&](Index t) {
    for (Index i = storage_->first_of(t); i < storage_->first_of(t + 1); ++i)
      squares[i] = storage_->squared_norm(i);
  });
  return squares;
}

}  // namespace subspectra
