#pragma once
/// M of JMLR05: one row m_i' a feature, over q samples, centred and of unit norm. Everything Q-alpha needs of
/// it is two thin products, M U and M'P, and each is one pass over the data. A dense table is kept normalized
/// (a copy, its samples in the order of the blocks); a sparse one stays where it is, and so does a large
/// dense one whose columns do not stand far from zero: centring and scaling are done to the products then
/// (row_storage.hpp).
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "qalpha/row_storage.hpp"

namespace subspectra {

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

  [[nodiscard]] Index features() const { return frame_.features; }  ///< p
  [[nodiscard]] Index samples() const { return frame_.samples; }    ///< q
  [[nodiscard]] int threads() const { return frame_.threads; }
  [[nodiscard]] bool centred() const { return frame_.centred; }
  [[nodiscard]] bool stays() const { return stays_; }  ///< dense, and not copied
  /// sqrt(weight) of the samples in their order here: what stands for the vector of ones.
  [[nodiscard]] const Vector& roots() const { return frame_.roots; }
  /// Row of the table; empty: as is.
  [[nodiscard]] const std::vector<Index>& order() const { return frame_.order; }
  [[nodiscard]] SampleBlocks whole() const { return {{0, frame_.samples}}; }
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
  void keep(qalpha::KeptRows kept);
  /// Orders the samples by class.
  void arrange(const std::vector<int>& codes);
  [[nodiscard]] Matrix combine_tiles(Index columns, const SampleBlocks& blocks, const Produce& produce) const;

  qalpha::RowFrame frame_;
  std::unique_ptr<const qalpha::RowStorage> storage_;  ///< of the frame
  bool stays_ = false;
  SampleBlocks classes_;
  mutable std::atomic<Index> passes_ = 0;
};

}  // namespace subspectra
