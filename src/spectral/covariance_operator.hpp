#pragma once
/// The covariance of a table, class by class or as a whole, that is never formed: Sigma = Z'Z with Z the rows
/// minus their (class) mean, times sqrt(weight / total weight).
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "data/moments.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

class CovarianceOperator {
 public:
  enum class Centring { kByClass, kWhole };

  /// A dense table is used where it stands unless some column's mean is more
  /// than 1e4 of its standard deviations: then Z is kept as a copy, since X'z with sum(z) = 0 would lose
  /// those digits.
  CovarianceOperator(const Dataset& data, Centring centring, int threads);
  /// The same from moments that are there already (diagonal; by class, or of the whole, as `centring` says).
  CovarianceOperator(const Dataset& data, Centring centring, std::shared_ptr<const Moments> moments);

  /// The same of the columns divided by `scale` (p positive numbers): D^{-1} Sigma D^{-1}. Moments stay those
  /// of the table.
  [[nodiscard]] CovarianceOperator in_units_of(const Vector& scale) const;

  [[nodiscard]] Index size() const { return data_.features(); }  ///< p
  [[nodiscard]] Index rows() const { return data_.rows(); }      ///< N
  /// The table is read in blocks, and its numbers are more than memory holds: no gram() of many columns.
  [[nodiscard]] bool outgrows_memory() const { return data_.values().outgrow_memory(); }
  [[nodiscard]] const Moments& moments() const { return *moments_; }
  [[nodiscard]] const Vector& diagonal() const { return diagonal_; }
  /// What column() sums, for who does it elsewhere: entries of X, the class of every row (negative: no part),
  /// its share w_i/W, and what a column is multiplied by (empty: nothing).
  [[nodiscard]] const Values& values() const { return data_.values(); }
  [[nodiscard]] const std::vector<int>& codes() const { return codes_; }
  [[nodiscard]] Vector row_shares() const { return root_weight_.cwiseAbs2(); }
  [[nodiscard]] const Vector& per_unit() const { return per_unit_; }
  /// Columns stand so far from zero that they are kept less their means.
  [[nodiscard]] bool keeps_centred_copy() const { return copy_ != nullptr; }
  /// out = Z'z_j = X'v/W, v = weight (x_j - its class mean): sums to zero in every class, so that X need not
  /// be centred. One pass over X (dense) or over the stored entries (sparse).
  void column(Index j, linalg::MutableVector out, int threads) const;
  /// Z'Z over these features: |S| x |S|, from moments (no digits lost to a common offset). The largest one of
  /// some hundreds to some thousands of features is kept: the ridge, both passes, the paths and the bounds of
  /// a search ask for the same, or for a part of it, and each time it would be N |S|^2 flops.
  [[nodiscard]] Matrix block(const std::vector<Index>& features, int threads) const;
  /// Z over these features: N x |S|, dense.
  [[nodiscard]] Matrix centred(const std::vector<Index>& features) const;
  /// Z Z' over these features: N x N, in column panels of fixed size. The last one of up to 2,000 rows is
  /// kept: the ridge of a wide table has asked for it when the bounds of a search do.
  [[nodiscard]] Matrix gram(const std::vector<Index>& features, int threads) const;
  /// Z Y over these features, ascending (Y has a row for each): N x q, one pass over them. As in column() the
  /// offsets of the columns are taken off afterwards.
  [[nodiscard]] Matrix times(const std::vector<Index>& features, const MatrixRef& y) const;
  /// Z'U for U (N x q) whose columns need not be centred: p x q.
  [[nodiscard]] Matrix transposed_times(const MatrixRef& u, int threads) const;

 private:
  /// A block in the units of the table; shared by copies in other units.
  struct Kept {
    std::mutex mutex;
    std::shared_ptr<const std::vector<Index>> place;  ///< p: where in `block`, or -1
    std::shared_ptr<const Matrix> block;
    std::vector<Index> gram_features;
    Vector gram_per_unit;
    std::shared_ptr<const Matrix> gram;
  };
  [[nodiscard]] std::optional<Matrix> part_of_kept(const std::vector<Index>& features) const;
  void keep(const std::vector<Index>& features, const Matrix& block) const;
  [[nodiscard]] std::shared_ptr<const Matrix> kept_gram(const std::vector<Index>& features) const;

  /// out = Z'U with Z made of some columns at a time; in the units of the table.
  void by_centred_blocks(const MatrixRef& u, linalg::MutableMatrix out, int threads) const;
  /// v with column j of Z'Z = X'v.
  [[nodiscard]] Vector direction(Index j) const;

  Dataset data_;
  Centring centring_;
  std::vector<int> codes_;  ///< class of each row, 0 everywhere for kWhole; negative: no part
  std::shared_ptr<const Moments> moments_;
  Vector diagonal_;
  Vector root_weight_;           ///< N: sqrt(w_i / W), 0 for rows without a class
  bool centres_blocks_ = false;  ///< the same where the table is read in blocks: Z is made block by block
  std::shared_ptr<const Matrix> copy_;  ///< Z, when the table's offsets ask for it; in units of the table
  Vector per_unit_;                     ///< p: 1/scale; empty where the units are those of the table
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace subspectra
