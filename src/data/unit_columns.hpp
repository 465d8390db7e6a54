#pragma once
/// Columns in the papers' coordinates: centred, of unit norm.
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

/// x (N x |features|) <- these columns minus their weighted mean, times sqrt(weight), of unit norm; gives the
/// norms, 0 for a constant column, which becomes zero. Values of any size a double has are taken. Dense,
/// whether the table is sparse or not.
Vector unit_columns(const Dataset& data, const std::vector<Index>& features, const Vector& root_weights,
                    int threads, Matrix& x);

/// The same columns where the table is read in blocks: made as they are read. What they are divided by comes
/// from the moments.
class UnitColumns {
 public:
  UnitColumns(const Dataset& data, const std::vector<Index>& features, const Vector& root_weights,
              int threads);
  [[nodiscard]] Index rows() const { return values_.rows(); }
  [[nodiscard]] Index columns() const { return static_cast<Index>(features_.size()); }
  [[nodiscard]] const Vector& scales() const { return scales_; }  ///< the norms
  void column(Index i, linalg::MutableVector out) const;
  /// out = X'R, |features| x L: one pass over the table.
  void transposed_times(const MatrixRef& r, linalg::MutableMatrix out, int threads) const;

 private:
  Values values_;
  std::vector<Index> features_;
  Vector root_weights_, means_, scales_;  ///< the last two of the features
};

/// sqrt(w_i) of the sample weights scaled to a mean of 1; all 1 without weights.
[[nodiscard]] Vector root_weights(const Dataset& data);

}  // namespace subspectra
