#pragma once
/// Directions over few features that a method fitted itself, for whoever works in their space.
#include <optional>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// Discriminants that a method fitted itself (optimal scoring), at one lambda, or components (pca).
struct FittedDiscriminants {
  double lambda = 0.0;          ///< 0 where the method has none (components)
  std::vector<Index> features;  ///< ascending columns of the data set: the rows of B that are not zero
  Matrix matrix;                ///< |features| x L, in the user's units
  Vector row_norms;             ///< of these rows in the papers' coordinates, centred columns of unit norm
  Index entries = 0;            ///< that are not zero
  double objective = 0.0;       ///< the method's own, in the papers' scale
  std::optional<double> duality_gap;  ///< relative to the objective at B = 0, where the method has one
  Index iterations = 0;
  bool converged = false;
};

/// The record with its first `count` columns alone, and of its features those that they use.
[[nodiscard]] FittedDiscriminants leading_columns(const FittedDiscriminants& record, Index count);

}  // namespace subspectra
