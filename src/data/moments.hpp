#pragma once
/// Class weights, means and second-order sums: what every discriminant method is computed from. Mergeable
/// (Chan, Golub & LeVeque's pairwise update), so rows may be streamed in blocks, come from threads or from
/// other processes.
#include <span>
#include <utility>
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

class Moments {
 public:
  /// kDiagonal keeps p numbers a class (linear in p); kFull also keeps the pooled p x p within-class sums.
  enum class SecondOrder { kDiagonal, kFull };

  /// No rows yet. Throws Error when the p x p sums of kFull do not fit into memory.
  Moments(Index features, int classes, SecondOrder second_order);

  /// Adds rows: `codes[i]` in 0..classes-1 (a negative code skips the row), `weights` empty (all 1) or one a
  /// row.
  void add(const MatrixRef& rows, std::span<const int> codes, std::span<const double> weights = {});
  /// The same moments as if the rows of `other` had been added here, in any order of merging, to rounding.
  void merge(const Moments& other);

  /// What is known of each column by itself, p x K each: means_, means_low_ and squares_.
  struct ColumnSums {
    Matrix means, low, squares;
  };
  [[nodiscard]] ColumnSums column_sums() const { return {means_, means_low_, squares_}; }
  /// kDiagonal, of columns that were summed apart.
  Moments(Vector class_weights, ColumnSums sums)
      : second_order_(SecondOrder::kDiagonal),
        class_weights_(std::move(class_weights)),
        means_(std::move(sums.means)),
        squares_(std::move(sums.squares)),
        means_low_(std::move(sums.low)) {}

  [[nodiscard]] SecondOrder second_order() const { return second_order_; }
  [[nodiscard]] Index features() const { return means_.rows(); }
  [[nodiscard]] int classes() const { return static_cast<int>(means_.cols()); }
  [[nodiscard]] const Vector& class_weights() const { return class_weights_; }  ///< K sums of weights
  [[nodiscard]] double total_weight() const { return class_weights_.sum(); }
  [[nodiscard]] const Matrix& class_means() const { return means_; }  ///< p x K; 0 for an empty class
  [[nodiscard]] const Matrix& class_sums_of_squares() const {
    return squares_;
  }                                                ///< p x K, around the class mean
  [[nodiscard]] Vector mean() const;               ///< p; 0 when there is no weight
  [[nodiscard]] Vector within_variances() const;   ///< p, diag of Sigma_w = (1/N) sum of within-class scatter
  [[nodiscard]] Vector between_variances() const;  ///< p, diag of Sigma_b
  [[nodiscard]] Matrix within_covariance() const&;  ///< p x p Sigma_w; kFull only
  [[nodiscard]] Matrix within_covariance() &&;      ///< the same in the memory of the sums
  /// p x K factor M with Sigma_b = M M': column c is sqrt(n_c/N) (mu_c - mu).
  [[nodiscard]] Matrix between_factor() const;

 private:
  friend class MomentsBuilder;  // src/data/moments.cpp
  /// mu_c - mu_first for the classes that have weight (0 for the others), free of a common offset: p x K.
  [[nodiscard]] Matrix mean_differences() const;

  SecondOrder second_order_;
  Vector class_weights_;
  Matrix means_, squares_;
  /// What rounding took from means_: the mean is means_ + means_low_. Chan's update works on differences of
  /// means, which would otherwise lose as many digits as the data have in common (an offset of 1e8: half of
  /// them).
  Matrix means_low_;
  Matrix within_scatter_;  ///< p x p, both triangles; empty for kDiagonal
};

/// The moments of a labelled data set (dense or sparse, no missing values, weights honoured), over all its
/// features or over a few of them. Rows are cut into blocks of fixed size and merged in a fixed order: the
/// result does not depend on `threads`. A sparse table is never made dense: zeros are accounted for in closed
/// form.
[[nodiscard]] Moments compute_moments(const Dataset& data, Moments::SecondOrder second_order,
                                      int threads = 0);
[[nodiscard]] Moments compute_moments(const Dataset& data, const std::vector<Index>& features,
                                      Moments::SecondOrder second_order, int threads = 0);
/// The same with every row in one class, labels or not: the covariance of the whole table.
[[nodiscard]] Moments compute_total_moments(const Dataset& data, Moments::SecondOrder second_order,
                                            int threads = 0);
[[nodiscard]] Moments compute_total_moments(const Dataset& data, const std::vector<Index>& features,
                                            Moments::SecondOrder second_order, int threads = 0);

}  // namespace subspectra
