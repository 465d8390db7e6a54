#pragma once
/// How the numbers of M (feature_rows.hpp) are kept: as a normalized copy, in a dense table that stays where
/// it is, or as the entries of a sparse one. keep_rows() chooses once; what is done with M asks no more.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// Samples cut into B consecutive blocks: block b is begin[b]..begin[b + 1]-1. Samples after the last one
/// take no part. One block is the unsupervised case, the classes are the supervised one.
struct SampleBlocks {
  std::vector<Index> begin;
  [[nodiscard]] Index count() const { return static_cast<Index>(begin.size()) - 1; }
  [[nodiscard]] Index size(Index b) const { return end(b) - first(b); }
  [[nodiscard]] Index first(Index b) const { return begin[static_cast<std::size_t>(b)]; }
  [[nodiscard]] Index end(Index b) const { return begin[static_cast<std::size_t>(b) + 1]; }
};

namespace qalpha {

/// What M is, however its numbers are kept.
struct RowFrame {
  Index features = 0, samples = 0;  ///< p, q
  int threads = 0;
  bool centred = false;                ///< and of unit norm; else as given
  Vector roots;                        ///< sqrt(weight) by sample
  std::vector<Index> order, position;  ///< sample -> row of the table and back; empty: the same
  /// Where a row of the table stands here.
  [[nodiscard]] Index sample(Index row) const {
    return position.empty() ? row : position[static_cast<std::size_t>(row)];
  }
};

/// Products with tiles of M: rows first..first + count - 1, for one thread. The frame outlives it.
class RowStorage {
 public:
  RowStorage(const RowStorage&) = delete;
  RowStorage& operator=(const RowStorage&) = delete;
  virtual ~RowStorage() = default;

  /// Tiles of about equal work, cut by size alone.
  [[nodiscard]] Index tiles() const { return static_cast<Index>(tile_begin_.size()) - 1; }
  [[nodiscard]] Index first_of(Index t) const { return tile_begin_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Index count_of(Index t) const { return first_of(t + 1) - first_of(t); }

  /// What the tiles of one M U share.
  struct Factor {
    Matrix weighted;  ///< U times roots, as the storage reads it; empty where it needs U alone
    Matrix sums;      ///< of its columns, by block: what means are multiplied by
  };
  [[nodiscard]] virtual Factor factor_of(const MatrixRef& u, const SampleBlocks& blocks) const = 0;
  /// tile (count x B C) <- rows of (M_1 U_1 | ... | M_B U_B)
  virtual void project(Index first, Index count, const MatrixRef& u, const Factor& factor,
                       const SampleBlocks& blocks, Matrix& tile) const = 0;

  /// A sum of M_tile'P_tile on its way: sums of several parts are added before finished().
  struct Sum {
    Matrix part;    ///< q x C or C x q, as the storage writes it
    Matrix shifts;  ///< what means take away, C x B; empty where there is no such thing
  };
  [[nodiscard]] virtual Sum nothing(Index columns, const SampleBlocks& blocks) const = 0;
  virtual void add(Index first, Index count, const SampleBlocks& blocks, const Matrix& tile,
                   Sum& sum) const = 0;
  [[nodiscard]] virtual Matrix finished(Sum sum, const SampleBlocks& blocks) const = 0;  ///< q x C

  /// sum += alpha_i m_i o m_i, but for `everywhere`, which every sample gets in the end, and
  /// finish_squares().
  virtual void add_squares(Index first, Index count, const VectorRef& alpha, Eigen::Ref<Vector> sum,
                           double& everywhere) const = 0;
  virtual void finish_squares(Vector& /*sum*/) const {}

  /// |m_i|^2 of all features where the means and scales tell them, without a look at the numbers.
  [[nodiscard]] virtual std::optional<Vector> known_squared_norms() const { return std::nullopt; }
  [[nodiscard]] virtual double squared_norm(Index i) const = 0;
  /// m_i as columns, q x count.
  [[nodiscard]] virtual Matrix tile(Index first, Index count) const = 0;

 protected:
  RowStorage(const RowFrame& frame, std::vector<Index> tile_begin)
      : frame_(frame), tile_begin_(std::move(tile_begin)) {}

  const RowFrame& frame_;
  std::vector<Index> tile_begin_;
};

struct KeptRows {
  std::unique_ptr<const RowStorage> storage;
  bool stays = false;  ///< a dense table was not copied
  Index passes = 0;    ///< over the data
};

/// The columns `features` of `data`. Throws Error when the copy of a dense table does not fit into memory.
/// `most_copied`: of a larger dense table (bytes) no copy is made where centring the products loses less than
/// three digits.
[[nodiscard]] KeptRows keep_rows(const RowFrame& frame, const Dataset& data,
                                 const std::vector<Index>& features, std::uint64_t memory_limit,
                                 std::uint64_t most_copied);
/// Rows as given: column i of `m` (q x p) is feature i.
[[nodiscard]] KeptRows keep_rows(const RowFrame& frame, Matrix m);

}  // namespace qalpha
}  // namespace subspectra
