#pragma once
/// M of JMLR05: one row m_i' a feature, over q samples, centred and of unit norm. Everything Q-alpha needs of
/// it is two thin products, M U and M'P, and each is one pass over the data. A dense table is kept normalized
/// (a copy, its samples in the order of the blocks below); a sparse one stays where it is, and so does a
/// large dense one whose columns do not stand far from zero: centring and scaling are done to the products
/// then.
#include <atomic>
#include <cstdint>
#include <functional>
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

/// Norms between which the longest feature must lie: G holds products of four features, and the norms of its
/// vectors square them.
inline constexpr double kShortestRow = 1e-30, kLongestRow = 1e30;

class FeatureRows {
 public:
  /// The columns `features` of `data` as rows of M. `normalize`:
  /// centred, unit norm (constant ones become zero), else as given. `codes`, one a row of the table or empty,
  /// is the class of each sample: samples are then ordered by class, those without one (negative) last.
  /// Sample weights are honoured: a sample is multiplied by the square root of its own. Throws Error when the
  /// copy of a dense table does not fit into memory. `most_copied`: of a larger dense table (bytes) no copy
  /// is made where centring the products loses less than three digits.
  FeatureRows(const Dataset& data, const std::vector<Index>& features, bool normalize,
              const std::vector<int>& codes, int threads, std::uint64_t memory_limit = 0,
              std::uint64_t most_copied = std::uint64_t{1} << 28);
  /// Rows as given: column i of `m` (q x p) is feature i.
  FeatureRows(Matrix m, int threads);

  [[nodiscard]] Index features() const { return features_; }  ///< p
  [[nodiscard]] Index samples() const { return samples_; }    ///< q
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] bool centred() const { return centred_; }
  [[nodiscard]] bool is_sparse() const { return sparse_ != nullptr; }
  [[nodiscard]] bool stays() const { return table_.has_value(); }  ///< dense, and not copied
  /// sqrt(weight) of the samples in their order here: what stands for the vector of ones.
  [[nodiscard]] const Vector& roots() const { return roots_; }
  [[nodiscard]] const std::vector<Index>& order() const {
    return order_;
  }  ///< row of the table; empty: as is
  [[nodiscard]] SampleBlocks whole() const { return {{0, samples_}}; }
  /// The classes of `codes` that have samples.
  [[nodiscard]] const SampleBlocks& classes() const { return classes_; }
  [[nodiscard]] Index passes() const { return passes_; }  ///< over the data, so far

  using Consume = std::function<void(Index first, const Matrix& tile)>;
  using Produce = std::function<void(Index first, Index count, Matrix& tile)>;
  /// M U by tiles of features: `consume` receives rows first.. of (M_1 U_1 | ... | M_B U_B), B C columns,
  /// where U (q x C) is cut by the blocks. Called from several threads, never twice for one feature.
  void project(const MatrixRef& u, const SampleBlocks& blocks, const Consume& consume) const;
  /// (M_1'P_1; ...; M_B'P_B), q x C (zero beyond the blocks): `produce` fills rows first.. of P = (P_1 | ...
  /// | P_B), p x B C.
  [[nodiscard]] Matrix combine(Index columns, const SampleBlocks& blocks, const Produce& produce) const;
  /// combine() with P = change(M U), U having as many columns as the result; still one pass.
  [[nodiscard]] Matrix project_combine(const MatrixRef& u, const SampleBlocks& blocks,
                                       const Produce& change) const;
  /// sum_i alpha_i m_i m_i', q x q.   p q^2 flops, one pass.
  [[nodiscard]] Matrix affinity(const VectorRef& alpha) const;
  /// What affinity() holds at its peak: the sums of the parts, and of every thread a tile, twice.
  [[nodiscard]] double affinity_bytes() const;
  /// Its diagonal, in O(p q) and one pass.
  [[nodiscard]] Vector affinity_diagonal(const VectorRef& alpha) const;
  /// m_i'S m_i for every feature.   2 p q^2 flops, one pass.
  [[nodiscard]] Vector quadratic_forms(const MatrixRef& s) const;
  [[nodiscard]] Vector squared_norms() const;
  /// m_i of a few features as the columns of a q x count matrix.
  [[nodiscard]] Matrix tile(Index first, Index count) const;

 private:
  /// Where a row of the table stands here.
  [[nodiscard]] Index sample(Index row) const {
    return position_.empty() ? row : position_[static_cast<std::size_t>(row)];
  }
  /// The normalized copy of a dense table; `roots` are those of the rows in the order of the table.
  void keep_normalized(const Dataset& data, const std::vector<Index>& features, const Vector& roots,
                       std::uint64_t memory_limit);
  /// Of a large table no copy: what centring and scaling do to the products. False: they would lose digits.
  [[nodiscard]] bool leave_table(const Dataset& data, std::uint64_t most_copied);
  /// The entries of a sparse one, and what centring and scaling do to the products.
  void keep_entries(const CscMap& entries, const std::vector<Index>& features, const Vector& roots);
  /// Cuts the features into tiles of about equal work, by size alone.
  void cut_tiles();
  [[nodiscard]] Index tiles() const { return static_cast<Index>(tile_begin_.size()) - 1; }
  [[nodiscard]] Index tile_first(Index t) const { return tile_begin_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] Index tile_count(Index t) const { return tile_first(t + 1) - tile_first(t); }
  /// tile (count x B C) <- rows first.. of M U. `u_rows` is U with a sample a column, times roots, and `sums`
  /// its sums by block (sparse only).
  void project_tile(Index first, Index count, const MatrixRef& u, const Matrix& u_rows, const Matrix& sums,
                    const SampleBlocks& blocks, Matrix& tile) const;
  void prepare_projection(const MatrixRef& u, const SampleBlocks& blocks, Matrix& u_rows, Matrix& sums) const;
  /// part += M_tile'P_tile. Dense: q x C. Sparse: C x q, without roots and means, whose sum goes to `shifts`;
  /// so for a table that stays, q x C.
  void combine_tile(Index first, Index count, const SampleBlocks& blocks, const Matrix& tile, Matrix& part,
                    Matrix& shifts) const;
  [[nodiscard]] Matrix combine_tiles(Index columns, const SampleBlocks& blocks,
                                     const std::function<void(Index, Index, Matrix&)>& produce) const;

  Index features_ = 0, samples_ = 0;
  int threads_ = 0;
  bool centred_ = false;
  Matrix m_;                             ///< dense: q x p
  Values values_;                        ///< the table, sparse or one that stays
  std::optional<DenseMap> table_;        ///< its numbers where it stays, q x p
  const CscMap* sparse_ = nullptr;       ///< its entries, N x all columns
  std::vector<Index> columns_;           ///< sparse: its columns
  Vector means_, scales_;                ///< of these two: m_ia = scale_i (x_ai - mean_i) roots_a
  std::vector<Index> order_, position_;  ///< sample -> row of the table and back; empty: the same
  std::vector<Index> tile_begin_;
  Vector roots_;
  SampleBlocks classes_;
  mutable std::atomic<Index> passes_ = 0;
};

}  // namespace subspectra
