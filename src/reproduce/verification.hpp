#pragma once
/// Are two rows of the same class? Judged by a distance: how often that is right at every threshold.
#include <vector>

#include "core/types.hpp"

namespace subspectra::reproduce {

struct RocPoint {
  double false_positive = 0.0;  ///< pairs of different classes accepted, fraction
  double true_positive = 0.0;   ///< pairs of one class accepted, fraction
};

struct Roc {
  std::vector<RocPoint> points;     ///< from (0, 0) to (1, 1), one a distinct distance
  double equal_error = 0.0;         ///< where false positives and false negatives are equally frequent
  double area_under = 0.0;          ///< of the curve, by trapezoids: the chance that a genuine pair is closer
  Index genuine = 0, impostor = 0;  ///< pairs
  /// The largest fraction of genuine pairs accepted with at most this many false positives.
  [[nodiscard]] double true_positive_at(double false_positive) const;
};

struct ScoredPair {
  double distance = 0.0;
  bool genuine = false;
};
/// A pair is accepted when its distance is at most the threshold; equal distances fall together. Throws
/// BadInput when there is no genuine or no impostor pair.
[[nodiscard]] Roc verification_roc(std::vector<ScoredPair> pairs);

/// All pairs i < j of the rows of `coordinates` by Euclidean distance.
[[nodiscard]] std::vector<ScoredPair> all_pairs(const Matrix& coordinates, const std::vector<int>& codes,
                                                int threads);

/// The rows of `x` (N x k) in the coordinates of their `components` leading principal components.
[[nodiscard]] Matrix principal_coordinates(Matrix x, Index components);

}  // namespace subspectra::reproduce
